"""FDFM: the parallel FDFM processor core approach.

Yasuaki Ito, Koji Nakano, Bo Song, "The Parallel FDFM Processor Core Approach for CRT-based RSA
Decryption", International Journal of Networking and Computing, accepted December 2011.
"""

from collections.abc import Callable, Mapping

from coprime.catalog import family_named
from coprime.multipliers.fdfm import FdfmMultiplication

from .published import Column, Computed, Figure, Measured, Paper, Row, Source, Table

__all__ = [
    "CRT_CYCLES",
    "CRT_MILLISECONDS",
    "DIRECT_MILLISECONDS",
    "ONE_CORE",
    "TABLES",
    "crt_cycles",
    "multiplication_cycles",
    "products",
    "utilization",
]

PAPER = Paper(
    name="FDFM",
    authors="Yasuaki Ito, Koji Nakano, Bo Song",
    title="The Parallel FDFM Processor Core Approach for CRT-based RSA Decryption",
    venue="International Journal of Networking and Computing, accepted December 2011",
)
DEVICE = "Virtex-6 XC6VLX240T-1"

CRT_CYCLES: Mapping[int, int] = {
    64: 4_312,
    128: 19_768,
    256: 110_392,
    512: 713_048,
    1024: 4_625_348,
    2048: 33_067_148,
}
"""Table 2: cycles of a CRT decryption in the worst case, by modulus length in bits."""

CRT_MILLISECONDS: Mapping[int, float] = {
    64: 0.013,
    128: 0.059,
    256: 0.328,
    512: 2.118,
    1024: 13.737,
    2048: 98.210,
}
"""Table 2: the same as a time, at 336.7 MHz."""

DIRECT_MILLISECONDS: Mapping[int, float] = {
    64: 0.020,
    128: 0.113,
    256: 0.742,
    512: 4.995,
    1024: 36.402,
    2048: 277.413,
}
"""Table 2: time without CRT, of the authors' earlier circuit at 447.027 MHz."""

CRT_DIGITS: Mapping[int, tuple[int, int]] = {
    64: (4, 2),
    128: (8, 4),
    256: (16, 8),
    512: (31, 16),
    1024: (61, 31),
    2048: (121, 61),
}
"""Table 2: digits of the modulus and of a prime."""

ONE_CORE: Mapping[str, float] = {
    "slices": 140,
    "bram36": 1,
    "dsp48e1": 1,
    "megahertz": 336.7,
}
"""Table 1: one core on a Virtex-6 XC6VLX240T-1; a slice has four six-input LUTs."""

CORES_320: Mapping[str, float] = {
    "slices": 34_635,
    "bram36": 320,
    "dsp48e1": 320,
    "megahertz": 325.098,
}
"""Table 1: 320 cores on the same device."""

EARLIER_MEGAHERTZ = 447.027
"""Table 3: clock of the authors' earlier circuit, without CRT."""


def products(d: int) -> int:
    """Equation 7: digit products of a multiplication of d digits."""
    return 2 * d**2 + d


def multiplication_cycles(d: int) -> int:
    """Equation 8: cycles of a multiplication of d digits."""
    return 2 * d**2 + 8 * d + 4


def utilization(d: int) -> float:
    """Figure 6: equation 7 over equation 8."""
    return products(d) / multiplication_cycles(d)


def crt_cycles(d1: int, d2: int) -> int:
    """Equation 10: cycles of a CRT decryption, d1 digits the modulus and d2 each prime."""
    return 4 * (34 * d2**3 + 140 * d2**2 + 3 * d1 * d2 + 8 * d1 + 88 * d2 + 14)


# --- What stands beside the figures -------------------------------------------------------------


def _area(column: str, cores: int = 0) -> tuple[Source, ...]:
    """Area of the circuit for every size up to 2176 bits, mapped to the nearest family.

    Of one engine by itself, or of a cluster of so many `cores`.
    """
    return (
        Measured(
            column=column,
            family="fdfm",
            bits=1024,
            target="xc7",
            parameters=_EVERY_SIZE,
            part="cluster" if cores else "engine",
            cores=cores,
        ),
    )


_ONE = {"multipliers": 1}
_EVERY_SIZE = {"max_bits": 2176, **_ONE}
_CLOCK: tuple[Source, ...] = (
    Measured(
        column="fmax_mhz",
        family="fdfm",
        bits=1024,
        target="ecp5",
        device="LFE5U-25F-6 CABGA381",
        parameters=_EVERY_SIZE,
    ),
)


def _worst_case(bits: int) -> tuple[Source, ...]:
    return (
        Measured(column="cycles", family="fdfm", bits=bits, exponents="worst", parameters=_ONE),
    )


def _at_the_papers_clock(
    bits: int,
    megahertz: float,
    operation: str,
    convert: Callable[[float], float] = float,
    note: str = "",
) -> Source:
    """Time in ms, or `convert` of it: one engine's cycles at a published clock."""
    return Measured(
        column="cycles",
        family="fdfm",
        bits=bits,
        operation=operation,
        exponents="worst",
        parameters=_ONE,
        convert=lambda cycles: convert(cycles / megahertz / 1000),
        where="Simulation, at the paper's clock",
        note=f"at {megahertz:g} MHz{note}",
    )


def _time(
    bits: int, megahertz: float, operation: str, convert: Callable[[float], float] = float
) -> tuple[Source, ...]:
    """Time in ms, or `convert` of it: cycles at the paper's clock, and time at our own."""
    return (
        _at_the_papers_clock(bits, megahertz, operation, convert),
        Measured(
            column="milliseconds",
            family="fdfm",
            bits=bits,
            operation=operation,
            exponents="worst",
            target="ecp5",
            device="LFE5U-25F-6 CABGA381",
            parameters=_EVERY_SIZE,
            convert=convert,
        ),
    )


def _kilobits_a_second(milliseconds: float) -> float:
    return 1024 / milliseconds


def _kilobits_a_second_of_320(milliseconds: float) -> float:
    return 320 * 1024 / milliseconds


def _digits(bits: int) -> tuple[Source, ...]:
    return (
        Computed(
            value=lambda: family_named("fdfm").choose({}).design.capabilities.digits(bits),
            how="digits of 17 bits that the engine takes for this length",
        ),
    )


# --- Table 1 ------------------------------------------------------------------------------------

_TABLE_1 = Table(
    paper=PAPER,
    number="Table 1",
    title="Synthesis result",
    row_title="System",
    device=DEVICE,
    columns=(
        Column(name="Slices"),
        Column(name="36k-bit block RAMs"),
        Column(name="DSP48E1s"),
        Column(name="Maximum frequency", unit="MHz"),
    ),
    rows=(
        Row(
            "1 core",
            {
                "Slices": ONE_CORE["slices"],
                "36k-bit block RAMs": ONE_CORE["bram36"],
                "DSP48E1s": ONE_CORE["dsp48e1"],
                "Maximum frequency": ONE_CORE["megahertz"],
            },
            {
                "Slices": _area("slices_estimate"),
                "36k-bit block RAMs": _area("bram"),
                "DSP48E1s": _area("dsp"),
                "Maximum frequency": _CLOCK,
            },
        ),
        Row(
            "320 cores",
            {
                "Slices": CORES_320["slices"],
                "36k-bit block RAMs": CORES_320["bram36"],
                "DSP48E1s": CORES_320["dsp48e1"],
                "Maximum frequency": CORES_320["megahertz"],
            },
            {
                "Slices": _area("slices_estimate", 320),
                "36k-bit block RAMs": _area("bram", 320),
                "DSP48E1s": _area("dsp", 320),
            },
        ),
    ),
    remarks=(
        "The device has 37,680 slices, 416 block RAMs and 768 DSP48E1s.",
        "The 320 cores fill 92 % of the slices with 108 a core, shift registers included. At the "
        "140 of one core alone they would need 44,800, more than there are; the paper does not say "
        "where a core saves them. Perhaps a placer that is short of slices fills them better.",
        "Section 6 says that the clock is not decreased by the number of cores; by this table it "
        "is 3.4 % lower.",
        "Section 5.3 counts 320 · d1 cycles to store all input data. That is one operand of the "
        "modulus's length for each core, without a key.",
        "7 series is mapped here and not placed, and no ECP5 holds 320 cores: nothing stands "
        "beside their clock.",
        "A slice has four six-input LUTs on Virtex-6 and on 7 series alike. Ours is the number of "
        "slices if all were filled, before placement: a lower bound.",
        "The paper's clock is of another device than ours: the ratio compares the two devices as "
        "much as the two circuits.",
    ),
)

# --- Table 2 ------------------------------------------------------------------------------------


def _execution_time(bits: int) -> Row:
    d1, d2 = CRT_DIGITS[bits]
    return Row(
        f"{bits:,} bits",
        {
            "Digits of the modulus": d1,
            "Digits of a prime": d2,
            "Clock cycles": CRT_CYCLES[bits],
            "Time with CRT": CRT_MILLISECONDS[bits],
            "Time without CRT in [4]": DIRECT_MILLISECONDS[bits],
        },
        {
            "Digits of the modulus": _digits(bits),
            "Digits of a prime": _digits(bits // 2),
            "Clock cycles": _worst_case(bits),
            "Time with CRT": _time(bits, ONE_CORE["megahertz"], "RSA_PRIVATE"),
            "Time without CRT in [4]": _time(bits, EARLIER_MEGAHERTZ, "MODEXP"),
        },
    )


_TABLE_2 = Table(
    paper=PAPER,
    number="Table 2",
    title="Execution time of the CRT-based decryption in the worst case",
    row_title="Length of the modulus",
    device=DEVICE,
    columns=(
        Column(name="Digits of the modulus"),
        Column(name="Digits of a prime"),
        Column(name="Clock cycles"),
        Column(name="Time with CRT", unit="ms"),
        Column(name="Time without CRT in [4]", unit="ms"),
    ),
    rows=tuple(_execution_time(bits) for bits in CRT_CYCLES),
    remarks=(
        "In the worst case every bit of both exponents is 1. Equation 10 gives the published "
        "cycles exactly; it counts 17 exponent bits a digit, so up to 16 more than the prime has.",
        "Section 6 gives 11.263 ms for 1024 bits. Tables 2 and 3 and section 1 say 13.737 ms, and "
        "so does equation 10 at 336.7 MHz: 11.263 ms belongs to an earlier version.",
        "Section 5.2.1 describes three multiplications modulo M for each half in step 3, the last "
        "one by 1; equation 10 counts two.",
        "The time without CRT is of the authors' earlier circuit [4], which runs at 447.027 MHz; "
        "beside it stands this circuit's MODEXP of that length. For 1024 bits it is 36.402 ms "
        "here, 36.401 ms in Table 3 and 36.37 ms in section 2.",
        "Section 1 claims a speed-up of about 3 over [4], section 6 of nearly 2.6; by this table "
        "it is 2.65 at 1024 bits.",
    ),
)

# --- Table 3 ------------------------------------------------------------------------------------

_WORK_COLUMNS = (
    *(Column(name=name) for name in ("Device", "Logic blocks", "Memory blocks", "DSP blocks")),
    Column(name="Frequency", unit="MHz"),
    Column(name="Execution time", unit="ms"),
    Column(name="Operation"),
    Column(name="Throughput", unit="kbit/s"),
    Column(name="Any length"),
    Column(name="CRT"),
)


def _work(
    label: str,
    figures: tuple[Figure | None, ...],
    here: Mapping[str, tuple[Source, ...]] | None = None,
) -> Row:
    named = zip(_WORK_COLUMNS, figures, strict=True)
    published = {column.name: figure for column, figure in named if figure is not None}
    return Row(label, published, here or {})


_WORST = "worst case"
_TABLE_3 = Table(
    paper=PAPER,
    number="Table 3",
    title="Comparison with related works for 1024-bit decryption",
    row_title="Work",
    columns=_WORK_COLUMNS,
    rows=(
        _work(
            "This work, 1 core",
            (
                *("XC6VLX240T-1", 140, 1, 1, 336.7, 13.737, _WORST, 74.542),
                *("yes", "yes"),
            ),
            {
                "Logic blocks": _area("slices_estimate"),
                "Memory blocks": _area("bram"),
                "DSP blocks": _area("dsp"),
                "Frequency": _CLOCK,
                "Execution time": _time(1024, ONE_CORE["megahertz"], "RSA_PRIVATE"),
                "Throughput": _time(1024, ONE_CORE["megahertz"], "RSA_PRIVATE", _kilobits_a_second),
            },
        ),
        _work(
            "This work, 320 cores",
            (
                *("XC6VLX240T-1", 34_635, 320, 320, 325.098, 14.228, _WORST, 23_031.370),
                *("yes", "yes"),
            ),
            {
                "Logic blocks": _area("slices_estimate", 320),
                "Memory blocks": _area("bram", 320),
                "DSP blocks": _area("dsp", 320),
                "Execution time": (
                    _at_the_papers_clock(1024, CORES_320["megahertz"], "RSA_PRIVATE"),
                ),
                "Throughput": (
                    _at_the_papers_clock(
                        1024,
                        CORES_320["megahertz"],
                        "RSA_PRIVATE",
                        _kilobits_a_second_of_320,
                        ", times 320 cores that are busy all the time",
                    ),
                ),
            },
        ),
        _work(
            "Our previous work [4]",
            (
                *("XC6VLX240T-1", "180 slices", "1 BRAM", "1 DSP48E1", 447.027),
                *(36.401, _WORST, 28.130, "yes", "no"),
            ),
            {
                "Execution time": _time(1024, EARLIER_MEGAHERTZ, "MODEXP"),
                "Throughput": _time(1024, EARLIER_MEGAHERTZ, "MODEXP", _kilobits_a_second),
            },
        ),
        _work(
            "Blum [3]",
            (
                *("XC40250XV", "6,633 CLBs", None, None, 45.6, 11.95, _WORST, 85.690),
                *("no", "no"),
            ),
        ),
        _work(
            "Nakano [16]",
            (
                *("XC2VP30-6", "11,589 slices", "29 BRAMs", "64 multipliers, 18 × 18 bits", 52.9),
                *(2.52, _WORST, 406.349, "no", "no"),
            ),
        ),
        _work(
            "Suzuki [18]",
            (
                *("XC4VFX12-10", "3,937 slices", "7 BRAMs", "17 DSP48s", "400, 200", 1.71),
                *(_WORST, 598.830, "yes", "no"),
            ),
        ),
        _work(
            "Mazzeo [12]",
            (
                *("Virtex-E 2000-8", "1,188 slices", None, None, 86.2, 3.86, "E = 2^17 + 1"),
                *(265.285, "no", "no"),
            ),
        ),
        _work(
            "Alho [1]",
            (
                *("Stratix EP1S40", "341 LEs", "13,604 bits", "1 DSP", 198, 28, "average case"),
                *(36.571, "yes", "no"),
            ),
        ),
        _work(
            "Itoh [11]",
            (
                *("TI TMS320C6201", None, None, "2 multipliers, 6 ALUs", 200, 11.7, _WORST),
                *(87.521, "yes", "yes"),
            ),
        ),
    ),
    remarks=(
        "Logic blocks of the first two rows are slices, memory blocks 36k-bit block RAMs, DSP "
        "blocks DSP48E1s.",
        "Devices differ from row to row, and so does what is computed: Mazzeo's time is of a public"
        " exponent of 18 bits, Alho's of an average one.",
        "The throughput is 1024 bits over the time; [4]'s follows from 36.402 ms (Table 2), not "
        "from the 36.401 ms printed here.",
        "The 23,031.370 kbit/s of 320 cores follow from equation 10 at 325.098 MHz; over the "
        "14.228 ms printed here, 320 · 1,024 bits would be 23,030.644. Neither counts the cycles "
        "in which a core waits for the chain: it is 320 times one core, and so is ours at the "
        "paper's clock.",
        "Beside [4], which does without CRT, stands this circuit's MODEXP; at the paper's clock "
        "that is [4]'s own, 447.027 MHz.",
        "Section 6 calls Mazzeo's circuit about 6 times larger. By this table it has 8.5 times the "
        "slices; 6.6 times those of [4].",
        "Section 6 claims to be 33 times faster than Mazzeo with the same exponent. The 23 "
        "multiplications that Algorithm 2 does for it take 0.542 ms by equation 8 at 336.7 MHz, "
        "which is 7.1 times faster.",
    ),
)

# --- Figure 6 -----------------------------------------------------------------------------------


def _multiplier_utilization(bits: int, in_the_text: str | None = None) -> Row:
    d = -(-bits // 17)

    def percent(part: float) -> float:
        return 100 * part

    here: list[Source] = [
        Computed(
            value=lambda: (
                100 * FdfmMultiplication().products(d, d) / FdfmMultiplication().cycles(d, d)
            ),
            how="equation 7's products over the cycles of our multiplier, both exact: tests count "
            "them in simulation",
        ),
        Measured(
            column="utilization",
            family="fdfm",
            bits=bits,
            operation="MODEXP",
            exponents="worst",
            parameters=_ONE,
            convert=percent,
            where="Simulation, MODEXP of this length",
        ),
    ]
    if 2 * bits in CRT_CYCLES:
        here.append(
            Measured(
                column="utilization",
                family="fdfm",
                bits=2 * bits,
                exponents="worst",
                parameters=_ONE,
                convert=percent,
                where="Simulation, RSA_PRIVATE of twice this length",
            )
        )
    published: dict[str, Figure] = {"Utilization": 100 * utilization(d)}
    if in_the_text:
        published["In the text"] = in_the_text
    return Row(f"{bits:,} bits", published, {"Utilization": tuple(here)}, x=bits)


_FIGURE_6 = Table(
    paper=PAPER,
    number="Figure 6",
    title="Utilization of the multiplier",
    row_title="Length of the operands",
    columns=(Column(name="Utilization", unit="%"), Column(name="In the text")),
    rows=(
        *(_multiplier_utilization(bits) for bits in (64, 128, 256)),
        _multiplier_utilization(512, "more than 90 %"),
        _multiplier_utilization(1024, "more than 95 %"),
        _multiplier_utilization(2048, "more than 97 %"),
    ),
    chart="Utilization",
    remarks=(
        "The published figures are equations 7 and 8, (2d²+d) / (2d²+8d+4), which the figure "
        "plots.",
        "The text claims more than 95 % for 1024-bit operands; its own equations give 94.6 %. A "
        "1024-bit CRT decryption works on 512-bit operands, for which they give 89.8 %.",
        "A whole operation also converts, reduces, compares and recombines, which one "
        "multiplication does not.",
    ),
)

TABLES = (_TABLE_1, _TABLE_2, _TABLE_3, _FIGURE_6)
