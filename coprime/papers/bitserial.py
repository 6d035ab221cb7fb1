"""BITSERIAL: three bit-serial modular multipliers with carry-save adders.

David Narh Amanor, Christof Paar, Jan Pelzl, Viktor Bunimov, Manfred Schimmler, "Efficient Hardware
Architectures for Modular Multiplication on FPGAs", International Conference on Field Programmable
Logic and Applications (FPL), 2005.
"""

from collections.abc import Callable, Mapping

from .published import Column, Combined, Computed, Figure, Measured, Paper, Row, Source, Table

__all__ = [
    "AREA_PERCENT",
    "EXTRA_CYCLES",
    "MEGAHERTZ",
    "PERIOD_NS",
    "RUNNING_TIMES",
    "TABLES",
    "area_time",
    "running_time",
    "running_time_crt",
]

PAPER = Paper(
    name="BITSERIAL",
    authors="David Narh Amanor, Christof Paar, Jan Pelzl, Viktor Bunimov, Manfred Schimmler",
    title="Efficient Hardware Architectures for Modular Multiplication on FPGAs",
    venue="International Conference on Field Programmable Logic and Applications (FPL), 2005",
)
DEVICE = "Virtex-E XCV2000E-6 (XVC2000E-6 in the paper)"
SLICES = 19_200
"""Of the paper's device, each with two LUTs of four inputs and two flip-flops."""
LUTS = 2 * SLICES

TWO_CSA, ONE_CSA, INTERLEAVED = "montgomery-2csa", "montgomery-1csa", "interleaved-csa"
NAMES: Mapping[str, str] = {
    TWO_CSA: "Montgomery with two CSAs",
    ONE_CSA: "Montgomery with one CSA",
    INTERLEAVED: "Redundant interleaved",
}
"""The columns of Tables 1 and 2, by family."""


def _by_family(*lines: tuple[int, float, float, float]) -> Mapping[str, Mapping[int, float]]:
    """A table's lines, as bits and one figure a column, turned into family and bits."""
    return {
        family: {line[0]: line[1 + place] for line in lines} for place, family in enumerate(NAMES)
    }


AREA_PERCENT = _by_family(
    (32, 1.2, 0.7, 0.7),
    (64, 2.4, 1.4, 1.4),
    (128, 4.7, 2.7, 2.7),
    (256, 9.4, 5.4, 5.4),
    (512, 16.1, 8.0, 8.0),
    (1024, 45.0, 21.0, 24.0),
)
"""Table 1: slices occupied, in % of 19,200, by family and bits."""

PERIOD_NS = _by_family(
    (32, 17.7, 16.4, 14.2),
    (64, 20.3, 16.0, 17.3),
    (128, 18.7, 19.5, 20.7),
    (256, 21.3, 21.8, 21.4),
    (512, 24.5, 23.1, 15.4),
    (1024, 23.8, 20.4, 14.4),
)
"""Table 2: shortest clock period in ns, by family and bits."""

MEGAHERTZ = _by_family(
    (32, 56.5, 61.1, 70.2),
    (64, 49.2, 62.5, 57.7),
    (128, 53.4, 51.3, 48.4),
    (256, 47.0, 46.0, 46.8),
    (512, 40.8, 43.3, 64.8),
    (1024, 42.1, 49.0, 69.4),
)
"""Table 2: the same as a frequency."""

RUNNING_TIMES: Mapping[str, tuple[float, float, float]] = {
    INTERLEAVED: (69.4, 22.7, 6.1),
    ONE_CSA: (42.1, 37.5, 9.1),
    TWO_CSA: (49.0, 32.2, 9.7),
}
"""Table 3 as printed: MHz, T_res in ms, T_res,crt in ms, by family. The first two figures of the
Montgomery multipliers stand in each other's row."""

CORRECTED: Mapping[str, tuple[float, float, float]] = {
    INTERLEAVED: RUNNING_TIMES[INTERLEAVED],
    ONE_CSA: (*RUNNING_TIMES[TWO_CSA][:2], RUNNING_TIMES[ONE_CSA][2]),
    TWO_CSA: (*RUNNING_TIMES[ONE_CSA][:2], RUNNING_TIMES[TWO_CSA][2]),
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


# --- What stands beside the figures -------------------------------------------------------------

_ECP5 = "LFE5U-85F-6 CABGA381"
"""The one device for all lengths."""


def _multiplier(
    column: str,
    family: str,
    bits: int,
    target: str = "ecp5",
    convert: Callable[[float], float] | None = None,
    where: str = "",
    note: str = "",
) -> Measured:
    """Measure the multiplier by itself, made for this length."""
    return Measured(
        column=column,
        family=family,
        bits=bits,
        operation="MULTIPLICATION",
        part="multiplier",
        target=target,
        device=_ECP5 if target == "ecp5" else None,
        parameters={"max_bits": bits, "word": 32, "multipliers": 1},
        convert=convert,
        where=where,
        note=note,
    )


def _area(family: str, bits: int) -> tuple[Source, ...]:
    def percent(column: str, of: int, target: str, words: str) -> Measured:
        return _multiplier(
            column,
            family,
            bits,
            target,
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


def _clock(family: str, bits: int, convert: Callable[[float], float] | None) -> Measured:
    return _multiplier("fmax_mhz", family, bits, convert=convert, where="LFE5U-85F, routed")


# --- Tables 1 and 2 -----------------------------------------------------------------------------

_TABLE_1 = Table(
    paper=PAPER,
    number="Table 1",
    title="Slices occupied, depending on the bit length",
    row_title="Length of the operands",
    device=DEVICE,
    columns=tuple(Column(name=name, unit="%") for name in NAMES.values()),
    rows=tuple(
        Row(
            f"{bits:,} bits",
            {name: AREA_PERCENT[family][bits] for family, name in NAMES.items()},
            {name: _area(family, bits) for family, name in NAMES.items()},
            x=bits,
        )
        for bits in AREA_PERCENT[TWO_CSA]
    ),
    remarks=(
        "All in % of what the paper's device has: 19,200 slices, 38,400 LUTs. A slice of ECP5 holds"
        " what one of Virtex-E does; one of 7 series holds twice the LUTs, with six inputs instead "
        "of four, and four times the flip-flops.",
        "Our slices are those that would do if each were filled, before placement: a lower bound. "
        "The paper's are counted after place and route.",
        "The paper's circuits hold both operands and the result in registers. In ours "
        "the scanned operand and the result pass by word by word; with one CSA it holds R = Y + M "
        "beside Y and M, and the interleaved one holds ten multiples in place of Y.",
        "The published areas double with the length up to 256 bits. They grow by a factor of 1.5 "
        "to 1.7 from there to 512 bits, and of 2.6 to 3.0 from 512 to 1,024 bits.",
    ),
)


def _period(megahertz: float) -> float:
    return 1000 / megahertz


def _table_2_row(bits: int) -> Row:
    published: dict[str, Figure] = {}
    here: dict[str, tuple[Source, ...]] = {}
    for family, name in NAMES.items():
        published[f"{name}: period"] = PERIOD_NS[family][bits]
        published[f"{name}: frequency"] = MEGAHERTZ[family][bits]
        here[f"{name}: period"] = (_clock(family, bits, _period),)
        here[f"{name}: frequency"] = (_clock(family, bits, None),)
    return Row(f"{bits:,} bits", published, here, x=bits)


_TABLE_2 = Table(
    paper=PAPER,
    number="Table 2",
    title="Minimum period and maximum frequency, depending on the bit length",
    row_title="Length of the operands",
    device=DEVICE,
    columns=tuple(
        Column(name=f"{name}: {quantity}", unit=unit)
        for name in NAMES.values()
        for quantity, unit in (("period", "ns"), ("frequency", "MHz"))
    ),
    rows=tuple(_table_2_row(bits) for bits in PERIOD_NS[TWO_CSA]),
    remarks=(
        "The clocks are of two devices, generations apart: the ratio compares them as much as the "
        "circuits.",
        "The published clock of the interleaved multiplier rises from 46.8 MHz at 256 bits to 69.4 "
        "MHz at 1,024 bits; those of the Montgomery multipliers do not. The paper gives no reason.",
    ),
)

# --- Figure 3 -----------------------------------------------------------------------------------


def _product(family: str, bits: int, columns: tuple[str, ...], where: str, how: str) -> Combined:
    """Area / clock, times cycles if `columns` has a third one, over that of two CSAs."""

    def ratio(*figures: float) -> float:
        def product(area: float, clock: float, cycles: float = 1) -> float:
            return area * cycles / clock

        own, other = figures[: len(columns)], figures[len(columns) :]
        return product(*own) / product(*other)

    return Combined(
        of=tuple(_multiplier(column, one, bits) for one in (family, TWO_CSA) for column in columns),
        value=ratio,
        where=f"LFE5U-85F: {where}",
        how=f"{how}, over the same of montgomery-2csa",
    )


def _products(family: str, bits: int) -> tuple[Source, ...]:
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


_COMPARED = (ONE_CSA, INTERLEAVED)
_FIGURE_3 = Table(
    paper=PAPER,
    number="Figure 3",
    title="Area-time products, Montgomery with two CSAs = 1",
    row_title="Length of the operands",
    device=DEVICE,
    columns=tuple(Column(name=NAMES[family]) for family in _COMPARED),
    rows=tuple(
        Row(
            f"{bits:,} bits",
            {
                NAMES[family]: area_time(family, bits) / area_time(TWO_CSA, bits)
                for family in _COMPARED
            },
            {NAMES[family]: _products(family, bits) for family in _COMPARED},
            x=bits,
        )
        for bits in PERIOD_NS[TWO_CSA]
    ),
    chart=tuple(NAMES[family] for family in _COMPARED),
    remarks=(
        "The figure's own values are lost in the scan, and so is what it normalizes to. These are "
        "computed from Tables 1 and 2: % of the slices x minimum period x n cycles, and over the "
        "same of the multiplier with two CSAs at each length.",
        "The paper concludes that the interleaved multiplier has the least product for all "
        "implementations. By its own tables the Montgomery multiplier with one CSA has a smaller "
        "one at 64 and at 128 bits, however its figures were rounded; at 256 bits the two are "
        "closer than the rounding.",
        "Ours are of LUTs with four inputs, as the paper's are. With six inputs the areas stand "
        "otherwise (Table 1, xc7), and no clock is known there.",
        "Of the published advantage at 512 and 1,024 bits, all comes from the clock: its area is "
        "that of one CSA, or larger.",
    ),
)

# --- Table 3 ------------------------------------------------------------------------------------

_OWN_CLOCK = "At the multiplier's clock on LFE5U-85F"


def _corrected(family: str, place: int) -> Computed:
    moved = family != INTERLEAVED and place < 2
    return Computed(
        value=lambda: CORRECTED[family][place],
        how="printed in the row of the other Montgomery multiplier" if moved else "as printed",
        where="Corrected",
    )


def _operation_time(
    operation: str, family: str, multipliers: int, paper_megahertz: float
) -> tuple[Source, ...]:
    """Time of a whole operation at 1024 bits: at the paper's clock and at ours."""

    def measured(
        column: str,
        device: str | None = None,
        convert: Callable[[float], float] | None = None,
        where: str = "",
        note: str = "",
    ) -> Measured:
        return Measured(
            column=column,
            family=family,
            bits=1024,
            operation=operation,
            exponents="random",
            device=device,
            parameters={"max_bits": 1024, "word": 32, "multipliers": multipliers},
            convert=convert,
            where=where,
            note=note,
        )

    return (
        measured(
            "cycles",
            convert=lambda cycles: cycles / paper_megahertz / 1000,
            where="Simulation, at the paper's clock",
            note=f"at {paper_megahertz:g} MHz",
        ),
        Combined(
            of=(measured("cycles"), _multiplier("fmax_mhz", family, 1024)),
            value=lambda cycles, megahertz: cycles / megahertz / 1000,
            where=_OWN_CLOCK,
            how="cycles of the whole operation over the clock of the multiplier by itself",
        ),
        measured("milliseconds", device=_ECP5, where="LFE5U-85F, the whole engine routed"),
    )


def _running_times(family: str) -> Row:
    megahertz, time, _ = RUNNING_TIMES[family]
    corrected_megahertz, corrected_time, time_crt = CORRECTED[family]
    return Row(
        {
            INTERLEAVED: "Redundant interleaved mult.",
            ONE_CSA: "Montgomery mult. with 1 CSA",
            TWO_CSA: "Montgomery mult. with 2 CSAs",
        }[family],
        {
            "Frequency, as printed": megahertz,
            "Frequency": corrected_megahertz,
            "T_res, as printed": time,
            "T_res": corrected_time,
            "T_res,crt": time_crt,
        },
        {
            "Frequency, as printed": (_corrected(family, 0),),
            "Frequency": (
                Computed(
                    value=lambda: MEGAHERTZ[family][1024],
                    how="Table 2 at 1,024 bits",
                    where="From Table 2",
                ),
                _multiplier("fmax_mhz", family, 1024, where=_OWN_CLOCK),
            ),
            "T_res, as printed": (_corrected(family, 1),),
            "T_res": (
                Computed(
                    value=lambda: running_time(family),
                    how="1,536 multiplications of 1,027 cycles of Table 2's period at 1,024 bits",
                    where="From Table 2",
                ),
                *_operation_time("MODEXP", family, 1, MEGAHERTZ[family][1024]),
            ),
            "T_res,crt": (
                Computed(
                    value=lambda: running_time_crt(family),
                    how="768 multiplications of 515 cycles of Table 2's period at 512 bits",
                    where="From Table 2",
                ),
                *_operation_time("RSA_PRIVATE", family, 2, MEGAHERTZ[family][512]),
            ),
        },
    )


_TABLE_3 = Table(
    paper=PAPER,
    number="Table 3",
    title="Running time estimates of 1024-bit RSA, without and with CRT",
    row_title="Architecture",
    device=DEVICE,
    columns=(
        Column(name="Frequency, as printed", unit="MHz"),
        Column(name="Frequency", unit="MHz"),
        Column(name="T_res, as printed", unit="ms"),
        Column(name="T_res", unit="ms"),
        Column(name="T_res,crt", unit="ms"),
    ),
    rows=tuple(_running_times(family) for family in RUNNING_TIMES),
    remarks=(
        "Table 3 contradicts Table 2: 49.0 MHz is the clock of the Montgomery multiplier with one "
        "CSA and 42.1 MHz of that with two, and T_res follows the clock. Frequency and T_res of "
        "these two rows are exchanged; T_res,crt is not. Ours stand beside the corrected figures.",
        "T_res is 1.5n multiplications of n = 1,024 bits. T_res,crt is 1.5n multiplications of n = "
        "512 bits at the clock of 512 bits: the two halves run side by side, on two multipliers, "
        "whose area no table gives.",
        "The cycles of a multiplication are not printed. With n + 3 all six times follow from the "
        "periods of Table 2; with n + 1 all but 32.2 ms, which the rounding of the period allows.",
        "The abstract's 6.1 ms at 69 MHz joins two circuits: 69.4 MHz is the clock at 1,024 bits, "
        "and the 6.1 ms are those of 512 bits at 64.8 MHz.",
        "The abstract and the conclusion call it encryption and a public key operation; with CRT "
        "it needs the primes, so it is the private one.",
        "The paper leaves out preprocessing (Montgomery form, the operands modulo each prime, "
        "recombination) and the final conversion from carry-save form. Our cycles hold all of it, "
        "loading and unloading for each multiplication, and the checks of the operands.",
        "Our exponents are random, so that half of their bits are 1, as the paper counts. T_res "
        "stands beside MODEXP with one multiplier, T_res,crt beside RSA_PRIVATE with two, each "
        "made for 1,024 bits: it recombines modulo the whole modulus.",
    ),
)

TABLES = (_TABLE_1, _TABLE_2, _FIGURE_3, _TABLE_3)
