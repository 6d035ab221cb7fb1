"""KARATSUBA: very high radix Montgomery on pipelined Karatsuba multipliers.

Ismail San, Nuray At, "Improving the computational efficiency of modular operations for embedded
systems", Journal of Systems Architecture, 2014.
"""

from collections.abc import Callable, Mapping
from typing import Any

from coprime.bus.accelerator import Bus

from .published import Column, Combined, Figure, Measured, Paper, Row, Source, Table

__all__ = [
    "EXPONENTIATIONS",
    "MULTIPLICATIONS",
    "SYSTEMS",
    "SYSTEM_MEGAHERTZ",
    "SYSTEM_WORDS",
    "TABLES",
    "multiplication_cycles",
    "transfer_cycles",
]

PAPER = Paper(
    name="KARATSUBA",
    authors="Ismail San, Nuray At",
    title="Improving the computational efficiency of modular operations for embedded systems",
    venue="Journal of Systems Architecture, 2014",
)
DEVICE = "Virtex-7 7vx330t-3"

Size = tuple[int, int]
"""Bits of the modulus, and of a word."""
Figures = tuple[int, int, float, float]
"""Slices, DSP48E1, MHz, and the time."""

MULTIPLICATIONS: Mapping[Size, Figures] = {
    (512, 16): (128, 7, 478, 2.29),
    (512, 32): (382, 13, 288, 1.02),
    (1024, 16): (170, 7, 479, 8.83),
    (1024, 32): (536, 13, 490, 2.24),
    (1024, 64): (1257, 27, 211, 1.39),
    (2048, 16): (235, 7, 479, 34.75),
    (2048, 32): (567, 13, 490, 8.64),
    (2048, 64): (1785, 27, 403, 2.73),
}
"""Table 1: one modular multiplication, times in microseconds."""

EXPONENTIATIONS: Mapping[Size, Figures] = {
    (512, 16): (343, 14, 458, 1.23),
    (512, 32): (801, 26, 283, 0.54),
    (1024, 16): (385, 14, 468, 9.28),
    (1024, 32): (1060, 26, 485, 2.33),
    (1024, 64): (3046, 54, 201, 1.52),
    (2048, 16): (553, 14, 370, 92.25),
    (2048, 32): (1092, 26, 413, 21.03),
    (2048, 64): (3558, 54, 399, 5.68),
}
"""Table 2: one exponentiation on two multipliers, times in milliseconds."""

SYSTEM_WORDS: Mapping[int, int] = {512: 32, 1024: 64, 2048: 64}
"""Tables 3 and 4 name no words; these have the DSP slices that stand there, by bits."""

SYSTEM_MEGAHERTZ = 100
"""Table 4: the coprocessor's clock."""

SOFTWARE: Mapping[int, float] = {512: 116, 1024: 373, 2048: 1265}
"""Table 4: milliseconds of an exponentiation by software alone, by bits."""

SYSTEMS: Mapping[Bus, Mapping[int, tuple[int, int, float]]] = {
    Bus.AXI4_LITE: {512: (1363, 26, 1.54), 1024: (5876, 54, 3.06), 2048: (5945, 54, 22.67)},
    Bus.AXI4: {512: (1576, 26, 1.52), 1024: (6152, 62, 3.04), 2048: (6224, 62, 22.65)},
}
"""Table 4: slices, DSP48E1 and milliseconds of an exponentiation, by bus and bits."""


def multiplication_cycles(bits: int, word: int, latency: int) -> int:
    """Section 6.3: cycles of a multiplication; `latency` is that of a product of two words."""
    d = -(-bits // word)
    return (d + 1) * (d + 1) + (latency + 1)


def transfer_cycles(bus: Bus, written: int, read: int) -> int:
    """Cycles to write and to read so many words, a block of each, over a bus of ours.

    The master is always ready. A burst has an address and an answer of its own.
    """
    if bus is Bus.AXI4_LITE:
        return 4 * written + 5 * read
    return (2 * written + 2) + (3 * read + 2)


# --- What stands beside the figures -------------------------------------------------------------

_ECP5 = "LFE5U-85F-6 CABGA381"
"""The one device for all sizes."""
_OWN_CLOCK = "At the multiplier's clock on LFE5U-85F"


def _multiplier(
    column: str,
    size: Size,
    target: str | None = None,
    convert: Callable[[float], float] | None = None,
    where: str = "",
    note: str = "",
) -> Measured:
    """Measure the multiplier by itself, made for this size."""
    bits, word = size
    return Measured(
        column=column,
        family="karatsuba",
        bits=bits,
        operation="MULTIPLICATION",
        part="multiplier",
        target=target,
        device=_ECP5 if target == "ecp5" else None,
        parameters={
            "max_bits": bits,
            "word": word,
            "multipliers": 1,
            "scaled": 0,
            "interleaved": 0,
        },
        convert=convert,
        where=where,
        note=note,
    )


def _exponentiation(
    column: str,
    size: Size,
    part: str = "engine",
    target: str | None = "xc7",
    convert: Callable[[float], float] | None = None,
    where: str = "",
    note: str = "",
) -> Measured:
    """Measure two multipliers that exponentiate bit by bit, every bit of the exponent a 1."""
    bits, word = size
    return Measured(
        column=column,
        family="karatsuba",
        bits=bits,
        operation="MODEXP",
        exponents="worst",
        part=part,
        target=target,
        parameters={
            "max_bits": bits,
            "word": word,
            "multipliers": 2,
            "exponentiator": "left-to-right",
            "scaled": 0,
            "interleaved": 0,
        },
        convert=convert,
        where=where,
        note=note,
    )


def _clock(size: Size) -> Measured:
    return _multiplier("fmax_mhz", size, "ecp5", where=_OWN_CLOCK)


def _times(
    of: Callable[..., Measured], size: Size, megahertz: float, scale: float
) -> tuple[Source, ...]:
    """Times at the paper's clock and at ours; `scale` is cycles of 1 MHz in the time's unit."""
    return (
        of(
            *("cycles", size),
            target=None,
            convert=lambda cycles: cycles / megahertz / scale,
            where="Simulation, at the paper's clock",
            note=f"at {megahertz:g} MHz",
        ),
        Combined(
            of=(of("cycles", size, target=None), _clock(size)),
            value=lambda cycles, clock: cycles / clock / scale,
            where=_OWN_CLOCK,
            how="cycles of the whole operation over the clock of the multiplier by itself",
        ),
    )


# --- Tables 1 and 2 -----------------------------------------------------------------------------


def _row(size: Size, figures: Figures, of: Callable[..., Measured], scale: float) -> Row:
    bits, word = size
    slices, dsp, megahertz, time = figures
    return Row(
        f"{bits:,} bits, words of {word}",
        {"Slices": slices, "DSP48E1": dsp, "Frequency": megahertz, "Time": time},
        {
            "Slices": (of("slices_estimate", size, target="xc7"),),
            "DSP48E1": (of("dsp", size, target="xc7"),),
            "Frequency": (_clock(size),),
            "Time": _times(of, size, megahertz, scale),
        },
    )


def _table(
    number: str,
    title: str,
    unit: str,
    rows: tuple[Row, ...],
    remarks: tuple[str, ...],
) -> Table:
    return Table(
        paper=PAPER,
        number=number,
        title=title,
        row_title="Size",
        device=DEVICE,
        columns=(
            Column(name="Slices"),
            Column(name="DSP48E1"),
            Column(name="Frequency", unit="MHz"),
            Column(name="Time", unit=unit),
        ),
        rows=rows,
        remarks=remarks,
    )


_LOWER_BOUND = (
    "A slice has four six-input LUTs on Virtex-7 and in ours. Ours is the number of slices if all "
    "were filled, before placement: a lower bound. 7 series is mapped here and not placed."
)
_OTHER_DEVICE = (
    "The paper's clock is of another device than ours: the ratio compares the two devices as much "
    "as the two circuits."
)

_TABLE_1 = _table(
    "Table 1",
    "Modular multiplication",
    "μs",
    tuple(_row(size, figures, _multiplier, 1) for size, figures in MULTIPLICATIONS.items()),
    (
        "Time by frequency is (d+1)² cycles plus 4 to 25, d = n/w, in every row: section 6.3's "
        "(d+1)(d+1) + (l+1), with l of the product not printed. Ours is counted from start to done,"
        " the loading of the first words and the first quotient digit included, which the paper "
        "makes while its operands are loaded (section 4.3).",
        "A Karatsuba product takes 1, 3 or 9 DSP slices of 17 bits for words of 16, 32 or 64. Four "
        "products, two of them for the quotient digit, would be 4, 12 or 36, and three 3, 9 or 27. "
        "What makes up the paper's 7, 13 and 27 is not told; Figure 1 is lost in the scan.",
        "The paper holds its operands in shift registers. Ours come out of the engine's memory, "
        "which the multiplier by itself does not have.",
        "Section 6.3 fits 36 multiplications, or 18 exponentiations, into a device with 1,120 DSP "
        "slices. With 27 and 54 for each, as in Tables 1 and 2, 41 and 20 would fit; 36 and 18 are "
        "for 31 and 62, which Table 4 prints with AXI4.",
        "512 bits in words of 64 are not in the paper: section 4.6 allows no latency for them.",
        _LOWER_BOUND,
        _OTHER_DEVICE,
    ),
)

_TABLE_2 = _table(
    "Table 2",
    "Modular exponentiation",
    "ms",
    tuple(_row(size, figures, _exponentiation, 1000) for size, figures in EXPONENTIATIONS.items()),
    (
        "Base, exponent and modulus have n bits, and the exponent is all ones; on two multipliers "
        "that makes no difference: n multiplication times, whatever the exponent's bits are.",
        "Ours is a whole engine: it checks its operands, converts to Montgomery form and back, does"
        " RSA with the Chinese Remainder Theorem too, and holds keys and tables in block RAM.",
        "The clock beside the paper's is that of our multiplier by itself, the engine's may be "
        "lower.",
        _LOWER_BOUND,
        _OTHER_DEVICE,
    ),
)

# --- Table 3 ------------------------------------------------------------------------------------

_WORK_COLUMNS = (
    *(Column(name=name) for name in ("Device", "Area", "18k-bit RAM", "DSP blocks")),
    Column(name="Frequency", unit="MHz"),
    Column(name="Time", unit="ms"),
    Column(name="Exponent"),
)
_OTHERS: tuple[tuple[str, str, str | None, tuple[tuple[Any, ...], ...]], ...] = (
    (
        "Nakano et al. [26], redundant",
        *("XC2VP30-6", None),
        (
            (512, 5868, 15, "32 multipliers, 18 bits", 52.57, 0.645),
            (1024, 11589, 29, "64 multipliers, 18 bits", 52.9, 2.521),
        ),
    ),
    (
        "Nakano et al. [26], non-redundant",
        *("XC2VP30-6", None),
        (
            (512, 3911, 15, "31 multipliers, 18 bits", 30.40, 1.113),
            (1024, 7708, 29, "61 multipliers, 18 bits", 18.46, 7.218),
        ),
    ),
    (
        "Tang et al. [27]",
        *("XC2V3000-6", "average"),
        (
            (512, 8235, None, "32 multipliers, 18 bits", 99.26, 0.59),
            (1024, 14334, None, "62 multipliers, 18 bits", 90.11, 2.33),
        ),
    ),
    (
        "Blum and Paar [7]",
        *("XC40250XV-9", None),
        (
            (512, "3,413 CLBs", None, None, None, 2.93),
            (1024, "6,633 CLBs", None, None, None, 11.95),
        ),
    ),
    (
        "Suzuki [19]",
        *("XC4VFX12-10", None),
        (
            (512, 4190, 7, "17 DSP48", "200-400", 0.261),
            (1024, 4190, 7, "17 DSP48", "200-400", 1.71),
        ),
    ),
)
"""Table 3, the work of others: whose, device, exponent; and for each length its figures."""


def _work(
    label: str,
    figures: tuple[Figure | None, ...],
    here: Mapping[str, tuple[Source, ...]] | None = None,
) -> Row:
    named = zip(_WORK_COLUMNS, figures, strict=True)
    published = {column.name: figure for column, figure in named if figure is not None}
    return Row(label, published, here or {})


def _own_work(bits: int) -> Row:
    size = bits, SYSTEM_WORDS[bits]
    slices, dsp, megahertz, time = EXPONENTIATIONS[size]
    return _work(
        f"This work, {bits:,} bits",
        ("7VX330T-3", slices, None, dsp, megahertz, time, "full length"),
        {
            "Area": (_exponentiation("slices_estimate", size),),
            "DSP blocks": (_exponentiation("dsp", size),),
            "Frequency": (_clock(size),),
            "Time": _times(_exponentiation, size, megahertz, 1000),
        },
    )


def _fdfm(bits: int, megahertz: float, operation: str) -> tuple[Source, ...]:
    """Our `fdfm` engine beside the authors of FDFM: at the printed clock, and at ours."""

    def measured(
        column: str,
        target: str | None = None,
        convert: Callable[[float], float] | None = None,
        where: str = "",
        note: str = "",
    ) -> Measured:
        return Measured(
            column=column,
            family="fdfm",
            bits=bits,
            operation=operation,
            exponents="worst",
            target=target,
            device="LFE5U-25F-6 CABGA381" if target else None,
            parameters={"max_bits": 2176, "multipliers": 1},
            convert=convert,
            where=where,
            note=note,
        )

    return (
        measured(
            "cycles",
            convert=lambda cycles: cycles / megahertz / 1000,
            where="Simulation, at the paper's clock",
            note=f"at {megahertz:g} MHz",
        ),
        measured("milliseconds", "ecp5"),
    )


_TABLE_3 = Table(
    paper=PAPER,
    number="Table 3",
    title="Hardware architectures for modular exponentiation on FPGAs",
    row_title="Work",
    columns=_WORK_COLUMNS,
    rows=(
        *(_own_work(bits) for bits in SYSTEM_WORDS),
        *(
            _work(f"{who}, {bits:,} bits", (device, *figures, exponent))
            for who, device, exponent, of in _OTHERS
            for bits, *figures in of
        ),
        *(
            _work(
                f"Bo et al. [6], {bits:,} bits",
                ("XC6VLX240T-1", 180, "1 of 36k", "1 DSP48E1", 447, time, None),
                {"Time": _fdfm(bits, 447, "MODEXP")},
            )
            for bits, time in ((512, 4.99), (1024, 36.37), (2048, 277.26))
        ),
        _work(
            "Bo et al. [22], 1,024 bits, with CRT",
            (
                *("XC6VLX240T-1", "201 registers, 374 LUTs", "1 of 36k", "1 DSP48E1"),
                *(410, 11.263, None),
            ),
            {"Time": _fdfm(1024, 410, "RSA_PRIVATE")},
        ),
    ),
    remarks=(
        "Its own rows repeat Table 2: the fastest one of each length. Numbers alone in the column "
        "of areas are slices, of two LUTs with four inputs up to Virtex-4, and four with six "
        "inputs from Virtex-6 on.",
        "Devices differ from row to row. Tang's times are of an average exponent; those of Nakano "
        "(redundant), Blum and Suzuki are of the worst case by FDFM's Table 3.",
        "Suzuki's circuit takes 0.261 ms for 512 bits, less than half of the 0.54 ms of this work, "
        "on 17 DSP slices in place of 26.",
        "Beside [6] and [22], which are FDFM's authors' earlier circuits, stands our `fdfm`. The "
        "11.263 ms of [22] are what FDFM's text still says, where its tables have 13.737 ms.",
    ),
)

# --- Table 4 ------------------------------------------------------------------------------------

_BUS_NAMES = {Bus.AXI4_LITE: "AXI4-Lite", Bus.AXI4: "AXI4"}


def _system(bus: Bus, bits: int) -> Row:
    size = bits, SYSTEM_WORDS[bits]
    slices, dsp, time = SYSTEMS[bus][bits]
    words = -(-bits // 32)
    moving = transfer_cycles(bus, words, words)
    software = SOFTWARE[bits]

    def milliseconds(cycles: float) -> float:
        return (cycles + moving) / SYSTEM_MEGAHERTZ / 1000

    def measured(convert: Callable[[float], float], where: str, note: str) -> Measured:
        return _exponentiation("cycles", size, target=None, convert=convert, where=where, note=note)

    here: dict[str, tuple[Source, ...]] = {
        "Time": (
            measured(
                milliseconds,
                f"Simulation, at {SYSTEM_MEGAHERTZ} MHz",
                f"and {moving:,} to move base and result over {_BUS_NAMES[bus]}, at "
                f"{SYSTEM_MEGAHERTZ} MHz",
            ),
        ),
        "Speed-up": (
            measured(
                lambda cycles: software / milliseconds(cycles),
                f"Simulation, at {SYSTEM_MEGAHERTZ} MHz",
                "over the paper's software",
            ),
        ),
    }
    # Only this bus is swept.
    if bus is Bus.AXI4_LITE:
        here["Slices"] = (_exponentiation("slices_estimate", size, part="accelerator"),)
        here["DSP48E1"] = (_exponentiation("dsp", size, part="accelerator"),)
    return Row(
        f"{_BUS_NAMES[bus]}, {bits:,} bits",
        {
            "Slices": slices,
            "DSP48E1": dsp,
            "Frequency": SYSTEM_MEGAHERTZ,
            "Time": time,
            "Speed-up": software / time,
        },
        here,
    )


_TABLE_4 = Table(
    paper=PAPER,
    number="Table 4",
    title="Systems on chip, and software alone",
    row_title="System",
    device="Zynq-7000",
    columns=(
        Column(name="Slices"),
        Column(name="DSP48E1"),
        Column(name="Frequency", unit="MHz"),
        Column(name="Time", unit="ms"),
        Column(name="Speed-up"),
    ),
    rows=(
        *(Row(f"Software, {bits:,} bits", {"Time": time}) for bits, time in SOFTWARE.items()),
        *(_system(bus, bits) for bus, of in SYSTEMS.items() for bits in of),
    ),
    remarks=(
        "The speed-up is computed from the printed times; the text tells about 121 for 1,024 bits.",
        "Its times are what a timer in the ARM's software tells, of moving and of computing. AXI4 "
        "saves 0.02 ms at every length, 2,000 cycles of the coprocessor, although a number has 16 "
        "words at 512 bits and 64 at 2,048.",
        "The coprocessor's time alone, Table 2's by the two clocks, is 1.53, 3.06 and 22.66 ms: "
        "all that moving adds is within the rounding.",
        "With AXI4 the two larger systems have 62 DSP slices in place of 54, the smallest one has "
        "26 with either bus. The paper gives no reason.",
        "Software takes 3.2 and 3.4 times as long for twice the bits; schoolbook multiplication "
        "would take 8 times.",
        "Ours is an accelerator with its registers: its cycles by simulation, and those that a bus "
        "master takes which is always ready. A key stays in the accelerator: what loading one "
        "takes stands in docs/results.md, and what a processor and its driver add in docs/soc.md.",
        "Only AXI4-Lite is mapped here; docs/bus.md has what AXI4 adds.",
    ),
)

TABLES = (_TABLE_1, _TABLE_2, _TABLE_3, _TABLE_4)
