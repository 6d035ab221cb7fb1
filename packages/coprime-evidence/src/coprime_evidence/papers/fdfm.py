"""FDFM: the parallel FDFM processor core approach.

Yasuaki Ito, Koji Nakano, Bo Song, "The Parallel FDFM Processor Core Approach for CRT-based RSA
Decryption", International Journal of Networking and Computing, accepted December 2011.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coprime.catalog import NODES, family_named
from coprime.multipliers.fdfm_multiplication import FdfmMultiplication

from .published import Computed, Measured, Source, Sources, at_clock, read_publication
from .views import Panel, Place, View, number_in

_PRINTED = read_publication("fdfm")

CRT_CYCLES: Mapping[int, int] = _PRINTED.column("Table 2", "Clock cycles")
"""Table 2: cycles of a CRT decryption in the worst case, by modulus length in bits."""

CRT_MILLISECONDS: Mapping[int, float] = _PRINTED.column("Table 2", "Time with CRT")
"""Table 2: the same as a time, at 336.7 MHz."""

ONE_CORE: Mapping[str, float]
"""Table 1: one core on a Virtex-6 XC6VLX240T-1; a slice has four six-input LUTs."""
CORES_320: Mapping[str, float]  # Table 1: 320 cores on the same device
ONE_CORE, CORES_320 = (
    dict(zip(("slices", "bram36", "dsp48e1", "megahertz"), figures, strict=True))
    for _, *figures in _PRINTED.lines("Table 1")
)

EARLIER_MEGAHERTZ = 447.027  # Table 3: clock of the authors' earlier circuit, without CRT


def products(d: int) -> int:
    """Equation 7: digit products of a multiplication of d digits."""
    return 2 * d**2 + d


def multiplication_cycles(d: int) -> int:
    """Equation 8: cycles of a multiplication of d digits."""
    return 2 * d**2 + 8 * d + 4


def utilization(d: int) -> float:
    """Figure 6: equation 7 over equation 8."""
    return products(d) / multiplication_cycles(d)


# --- What the figures are compared with ---------------------------------------------------------

_ONE = {"multipliers": 1}
_EVERY_SIZE = {"max_bits": 2176, **_ONE}
_ROUTED: Any = {"target": "ecp5", "device": "LFE5U-25F-6 CABGA381", "parameters": _EVERY_SIZE}


def _measured(column: str, bits: int = 1024, **settings: Any) -> Measured:
    return Measured(column=column, family="fdfm", bits=bits, **settings)


_CLOCK = (_measured("fmax_mhz", **_ROUTED),)


def _area(columns: Sequence[str], cores: int = 0) -> dict[str, Sequence[Source]]:
    """Area of the circuit for every size up to 2176 bits, mapped to the nearest device family.

    Of one engine, or of a cluster of so many `cores`, with lean nodes and with full ones; by a
    table's columns of slices, block RAMs and DSP slices.
    """
    settings: Any = {"target": "xc7", "parameters": _EVERY_SIZE}
    places: list[Any] = [{}]
    if cores:
        cluster = {"part": "cluster", "cores": cores}
        places = [
            {**cluster, "node": node, "where": f"xc7, mapped: {node} nodes"}
            for node in reversed(NODES)
        ]
    measured = ("slices_estimate", "bram", "dsp")
    return {
        name: tuple(_measured(column, **settings, **place) for place in places)
        for name, column in zip(columns, measured, strict=True)
    }


def _cycles(bits: int, operation: str = "RSA_PRIVATE") -> Measured:
    """In the worst case."""
    return _measured("cycles", bits, operation=operation, exponents="worst", parameters=_ONE)


def _time(
    bits: int, megahertz: float, operation: str, convert: Callable[[float], float] = float
) -> tuple[Source, ...]:
    """Time in ms, or `convert` of it: cycles at the paper's clock, and time at our own."""
    ours = {"operation": operation, "exponents": "worst", **_ROUTED}
    return (
        at_clock(_cycles(bits, operation), megahertz, then=convert),
        _measured("milliseconds", bits, convert=convert, **ours),
    )


# --- Tables 1 to 3 ------------------------------------------------------------------------------

_AREA_OF_TABLE_1 = ("Slices", "36k-bit block RAMs", "DSP48E1s")
_TABLE_1 = _PRINTED.table(
    "Table 1",
    {
        "1 core": _area(_AREA_OF_TABLE_1) | {"Maximum frequency": _CLOCK},
        "320 cores": _area(_AREA_OF_TABLE_1, 320),
    },
)


def _digits(bits: int) -> tuple[Source, ...]:
    return (
        Computed(
            value=lambda: family_named("fdfm").choose({}).design.capabilities.digits(bits),
            how="digits of 17 bits that the engine takes for this length",
        ),
    )


_TABLE_2 = _PRINTED.table(
    "Table 2",
    lambda bits: {
        "Digits of the modulus": _digits(bits),
        "Digits of a prime": _digits(bits // 2),
        "Clock cycles": (_cycles(bits),),
        "Time with CRT": _time(bits, ONE_CORE["megahertz"], "RSA_PRIVATE"),
        "Time without CRT in [4]": _time(bits, EARLIER_MEGAHERTZ, "MODEXP"),
    },
)


def _kilobits_a_second(milliseconds: float) -> float:
    return 1024 / milliseconds


def _times_of_table_3(megahertz: float, operation: str) -> Sources:
    return {
        "Execution time": _time(1024, megahertz, operation),
        "Throughput": _time(1024, megahertz, operation, _kilobits_a_second),
    }


_AREA_OF_TABLE_3 = ("Logic blocks", "Memory blocks", "DSP blocks")
_TABLE_3 = _PRINTED.table(
    "Table 3",
    {
        "This work, 1 core": {
            **_area(_AREA_OF_TABLE_3),
            "Frequency": _CLOCK,
            **_times_of_table_3(ONE_CORE["megahertz"], "RSA_PRIVATE"),
        },
        "This work, 320 cores": {
            **_area(_AREA_OF_TABLE_3, 320),
            "Execution time": (at_clock(_cycles(1024), CORES_320["megahertz"]),),
            "Throughput": (
                at_clock(
                    *(_cycles(1024), CORES_320["megahertz"]),
                    then=lambda milliseconds: 320 * 1024 / milliseconds,
                    note=", times 320 cores that are busy all the time",
                ),
            ),
        },
        "Our previous work [4]": _times_of_table_3(EARLIER_MEGAHERTZ, "MODEXP"),
    },
)

# --- Figure 6 -----------------------------------------------------------------------------------


def _utilization(bits: int) -> Sources:
    d, own = -(-bits // 17), FdfmMultiplication()

    def simulated(bits: int, operation: str, what: str) -> Measured:
        return _measured(
            *("utilization", bits),
            operation=operation,
            exponents="worst",
            parameters=_ONE,
            convert=lambda part: 100 * part,
            where=f"Simulation, {operation} of {what}",
        )

    computed = Computed(
        value=lambda: 100 * own.products(d, d) / own.cycles(d, d),
        how="equation 7's products over the cycles of our multiplier, both exact: tests count "
        "them in simulation",
    )
    here: list[Source] = [computed, simulated(bits, "MODEXP", "this length")]
    if 2 * bits in CRT_CYCLES:
        here.append(simulated(2 * bits, "RSA_PRIVATE", "twice this length"))
    return {"Utilization": here}


_FIGURE_6 = _PRINTED.table(
    "Figure 6",
    _utilization,
    computed=lambda bits: {"Utilization": 100 * utilization(-(-bits // 17))},
)

TABLES = _PRINTED.complete((_TABLE_1, _TABLE_2, _TABLE_3, _FIGURE_6))

# --- Its view -----------------------------------------------------------------------------------


def _by_cores(table: str, quantity: str) -> Callable[[str, str], Place | None]:
    """The authors' own rows of one quantity."""
    prefix = "This work, " if table == "Table 3" else ""

    def at(row: str, column: str) -> Place | None:
        own = re.fullmatch(rf"{prefix}(\d+) cores?", row)
        return (int(own[1]), "") if own and column == quantity else None

    return at


def _by_bits(quantity: str) -> Callable[[str, str], Place | None]:
    return lambda row, column: (number_in(row), "") if column == quantity else None


VIEW = View(
    paper=_PRINTED.paper,
    title="Slices and period of one core and of 320",
    panels=(
        Panel(
            name="slices",
            title="Slices of four LUTs with six inputs",
            table="Table 1",
            at=_by_cores("Table 1", "Slices"),
            x_title="Cores",
            y_title="Slices",
            logarithmic=True,
        ),
        Panel(
            name="period",
            title="Shortest period of the clock",
            table="Table 1",
            at=_by_cores("Table 1", "Maximum frequency"),
            value=lambda megahertz, row: 1000 / megahertz,
            x_title="Cores",
            y_title="Period in ns",
        ),
        Panel(
            name="throughput",
            title="Decryptions of 1024 bits, worst case",
            table="Table 3",
            at=_by_cores("Table 3", "Throughput"),
            value=lambda kilobits, row: kilobits / 1000,
            x_title="Cores",
            y_title="Throughput in Mbit/s",
            logarithmic=True,
        ),
        Panel(
            name="cycles",
            title="Cycles of a decryption, worst case",
            table="Table 2",
            at=_by_bits("Clock cycles"),
            x_title="Length of the modulus in bits",
            y_title="Clock cycles",
            logarithmic=True,
        ),
    ),
)
