"""BITSERIAL: three bit-serial modular multipliers with carry-save adders.

David Narh Amanor, Christof Paar, Jan Pelzl, Viktor Bunimov, Manfred Schimmler, "Efficient Hardware
Architectures for Modular Multiplication on FPGAs", International Conference on Field Programmable
Logic and Applications (FPL), 2005.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .published import (
    Computed,
    Derived,
    Measured,
    Row,
    Source,
    Sources,
    at_clock,
    over_clock,
    read_publication,
)
from .views import Panel, View, number_in

SLICES = 19_200  # of the paper's device, each with two LUTs of four inputs and two flip-flops
LUTS = 2 * SLICES

TWO_CSA, ONE_CSA, INTERLEAVED = "montgomery-2csa", "montgomery-1csa", "interleaved-csa"
NAMES: Mapping[str, str] = {
    TWO_CSA: "Montgomery with two CSAs",
    ONE_CSA: "Montgomery with one CSA",
    INTERLEAVED: "Redundant interleaved",
}
"""The columns of Tables 1 and 2, by family."""

_PRINTED = read_publication("bitserial")


def _by_family(number: str, column: str = "{}") -> Mapping[str, Mapping[int, float]]:
    """Columns of a table, named after the families, by family and bits."""
    return {family: _PRINTED.column(number, column.format(NAMES[family])) for family in NAMES}


AREA_PERCENT = _by_family("Table 1")  # Table 1: slices occupied, in % of 19,200, by family and bits

PERIOD_NS = _by_family("Table 2", "{}: period")
"""Table 2: shortest clock period in ns, by family and bits."""

MEGAHERTZ = _by_family("Table 2", "{}: frequency")  # Table 2: the same as a frequency

_ROWS_OF_TABLE_3 = {
    "Redundant interleaved mult.": INTERLEAVED,
    "Montgomery mult. with 1 CSA": ONE_CSA,
    "Montgomery mult. with 2 CSAs": TWO_CSA,
}
_TABLE_3_BY_FAMILY = {_ROWS_OF_TABLE_3[row]: figures for row, *figures in _PRINTED.lines("Table 3")}

RUNNING_TIMES: Mapping[str, tuple[float, float, float]] = {
    family: (megahertz, time, time_crt)
    for family, (megahertz, _, time, _, time_crt) in _TABLE_3_BY_FAMILY.items()
}
"""Table 3 as printed: MHz, T_res in ms, T_res,crt in ms, by family. The first two figures of the
Montgomery multipliers are in each other's row."""

CORRECTED: Mapping[str, tuple[float, float, float]] = {
    family: (megahertz, time, time_crt)
    for family, (_, megahertz, _, time, time_crt) in _TABLE_3_BY_FAMILY.items()
}
"""Table 3 with those exchanged."""

EXTRA_CYCLES = 3
"""Cycles of a multiplication beyond its n rounds: the paper does not print them. With these Table
3's six times follow from Table 2's periods."""


def area_time(family: str, bits: int) -> float:
    """Figure 3 before it is normalized: % of the slices x ms of one multiplication in n cycles."""
    return AREA_PERCENT[family][bits] * PERIOD_NS[family][bits] * bits / 1e6


def running_time(family: str) -> float:
    """T_res in ms by section 3.3 and Table 2: 1.5n multiplications of n = 1024 bits."""
    return _multiplications(1024, 1024 + 512) * PERIOD_NS[family][1024] / 1e6


def running_time_crt(family: str) -> float:
    """T_res,crt in ms: 1.5n multiplications of n = 512 bits, the halves side by side."""
    return _multiplications(512, 512 + 256) * PERIOD_NS[family][512] / 1e6


def _multiplications(bits: int, count: int) -> int:
    """Cycles of so many multiplications."""
    return count * (bits + EXTRA_CYCLES)


# --- What the figures are compared with ---------------------------------------------------------

_ECP5 = "LFE5U-85F-6 CABGA381"  # the one device for all lengths
_OWN_CLOCK = "At the multiplier's clock on LFE5U-85F"


def _measured(column: str, family: str, bits: int, multipliers: int, **settings: Any) -> Measured:
    """Measure a design made for this length."""
    parameters = {"max_bits": bits, "word": 32, "multipliers": multipliers}
    return Measured(column=column, family=family, bits=bits, parameters=parameters, **settings)


def _multiplier(
    column: str, family: str, bits: int, target: str = "ecp5", **settings: Any
) -> Measured:
    """Measure one multiplier alone."""
    return _measured(
        *(column, family, bits, 1),
        operation="MULTIPLICATION",
        part="multiplier",
        target=target,
        device=_ECP5 if target == "ecp5" else None,
        **settings,
    )


def _area(family: str, bits: int) -> tuple[Measured, ...]:
    def percent(column: str, of: int, target: str, words: str) -> Measured:
        return _multiplier(
            *(column, family, bits, target),
            convert=lambda count: 100 * count / of,
            where=f"{target}, mapped: {words}",
            note=f"in % of {of:,}",
        )

    return (
        percent("slices_estimate", SLICES, "ecp5", "slices of 2 LUTs and 2 flip-flops"),
        percent("lut", LUTS, "ecp5", "LUTs of 4 inputs"),
        percent("slices_estimate", SLICES, "xc7", "slices of 4 LUTs and 8 flip-flops"),
        percent("lut", LUTS, "xc7", "LUTs of 6 inputs"),
    )


_TABLE_1 = _PRINTED.table(
    "Table 1", lambda bits: {name: _area(family, bits) for family, name in NAMES.items()}
)


def _clocks(bits: int) -> Sources:
    here: dict[str, tuple[Measured]] = {}
    for family, name in NAMES.items():
        clock = _multiplier("fmax_mhz", family, bits, where="LFE5U-85F, routed")
        here[f"{name}: frequency"] = (clock,)
        here[f"{name}: period"] = (replace(clock, convert=lambda megahertz: 1000 / megahertz),)
    return here


_TABLE_2 = _PRINTED.table("Table 2", _clocks)

# --- Figure 3 -----------------------------------------------------------------------------------


def _product(family: str, bits: int, columns: tuple[str, ...], where: str, how: str) -> Computed:
    """Area / clock, times cycles if `columns` has a third one, over that of two CSAs."""

    def ratio(*figures: float) -> float:
        def product(area: float, clock: float, cycles: float = 1) -> float:
            return area * cycles / clock

        own, other = figures[: len(columns)], figures[len(columns) :]
        return product(*own) / product(*other)

    return Computed(
        of=tuple(
            _multiplier(column, compared, bits)
            for compared in (family, TWO_CSA)
            for column in columns
        ),
        value=ratio,
        where=f"LFE5U-85F: {where}",
        how=f"{how}, over the same of montgomery-2csa",
    )


def _products(family: str, bits: int) -> tuple[Computed, ...]:
    return (
        _product(
            *(family, bits, ("lut", "fmax_mhz"), "LUTs"),
            how="LUTs x period; cycles are the n rounds, which are the same for all three",
        ),
        _product(
            *(family, bits, ("lut", "fmax_mhz", "cycles"), "LUTs, with loading"),
            how="LUTs x period x cycles of a multiplication from start to done, loading and "
            "unloading of its words included",
        ),
    )


def _row_of_figure_3(bits: int) -> Row:
    families = (ONE_CSA, INTERLEAVED)
    reference = area_time(TWO_CSA, bits)
    return Row(
        f"{bits:,} bits",
        {NAMES[family]: area_time(family, bits) / reference for family in families},
        {NAMES[family]: _products(family, bits) for family in families},
        x=bits,
    )


_FIGURE_3 = _PRINTED.table("Figure 3", rows=[_row_of_figure_3(bits) for bits in PERIOD_NS[TWO_CSA]])

# --- Table 3 ------------------------------------------------------------------------------------


def _corrected(family: str, place: int) -> Derived:
    moved = family != INTERLEAVED and place < 2
    return Derived(
        value=lambda: CORRECTED[family][place],
        how="printed in the row of the other Montgomery multiplier" if moved else "as printed",
        where="Corrected",
    )


def _operation_time(
    operation: str, family: str, multipliers: int, megahertz: float
) -> tuple[Source, ...]:
    """Time of a whole operation at 1024 bits: at the paper's clock and at ours."""
    of: Any = {"operation": operation, "exponents": "random"}
    cycles = _measured("cycles", family, 1024, multipliers, **of)
    routed = {"target": "ecp5", "device": _ECP5, "where": "LFE5U-85F, the whole engine routed"}
    return (
        at_clock(cycles, megahertz),
        over_clock(cycles, _multiplier("fmax_mhz", family, 1024), _OWN_CLOCK),
        _measured("milliseconds", family, 1024, multipliers, **of, **routed),
    )


def _running_times(row: str) -> Sources:
    family = _ROWS_OF_TABLE_3[row]

    def from_table_2(value: Callable[[], float], how: str) -> Derived:
        return Derived(value=value, how=how, where="From Table 2")

    return {
        "Frequency, as printed": (_corrected(family, 0),),
        "Frequency": (
            from_table_2(lambda: MEGAHERTZ[family][1024], "Table 2 at 1,024 bits"),
            _multiplier("fmax_mhz", family, 1024, where=_OWN_CLOCK),
        ),
        "T_res, as printed": (_corrected(family, 1),),
        "T_res": (
            from_table_2(
                lambda: running_time(family),
                "1,536 multiplications of 1,027 cycles of Table 2's period at 1,024 bits",
            ),
            *_operation_time("MODEXP", family, 1, MEGAHERTZ[family][1024]),
        ),
        "T_res,crt": (
            from_table_2(
                lambda: running_time_crt(family),
                "768 multiplications of 515 cycles of Table 2's period at 512 bits",
            ),
            *_operation_time("RSA_PRIVATE", family, 2, MEGAHERTZ[family][512]),
        ),
    }


_TABLE_3 = _PRINTED.table("Table 3", _running_times)

TABLES = _PRINTED.complete((_TABLE_1, _TABLE_2, _FIGURE_3, _TABLE_3))

# --- Its view -----------------------------------------------------------------------------------

VIEW = View(
    paper=_PRINTED.paper,
    title="Bits and period, bits and area of the three multipliers",
    panels=(
        Panel(
            name="period",
            title="Shortest period of the clock",
            table="Table 2",
            at=lambda row, column: (
                (number_in(row), column.removesuffix(": period"))
                if column.endswith(": period")
                else None
            ),
            x_title="Length of the operands in bits",
            y_title="Period in ns",
        ),
        Panel(
            name="area",
            title="Area, in % of what the paper's device has",
            table="Table 1",
            at=lambda row, column: (number_in(row), column),
            x_title="Length of the operands in bits",
            y_title="% of 19,200 slices or 38,400 LUTs",
            logarithmic=True,
        ),
    ),
)
