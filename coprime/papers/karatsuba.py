"""KARATSUBA: very high radix Montgomery on pipelined Karatsuba multipliers.

Ismail San, Nuray At, "Improving the computational efficiency of modular operations for embedded
systems", Journal of Systems Architecture, 2014.
"""

from collections.abc import Mapping

from coprime.cells.karatsuba import KaratsubaProduct
from coprime.engine.karatsuba import karatsuba

from .published import Column, Computed, Paper, Row, Source, Table

__all__ = ["EXPONENTIATIONS", "MULTIPLICATIONS", "TABLES", "multiplication_cycles"]

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


def multiplication_cycles(bits: int, word: int) -> int:
    """Cycles of one multiplication of ours, loading included."""
    design = karatsuba(bits, word=word)
    digits = design.capabilities.digits(bits)
    return design.multiplier.cycles(digits, digits)


def _row(size: Size, figures: Figures, multipliers: int) -> Row:
    bits, word = size
    slices, dsp, megahertz, time = figures
    here: dict[str, tuple[Source, ...]] = {
        "DSP48E1": (
            Computed(
                value=lambda: 3 * multipliers * KaratsubaProduct.dsp_slices(word),
                how="three products for each multiplier, as tests count after mapping to 7 series",
            ),
        )
    }
    if multipliers == 1:
        here["Time"] = (
            Computed(
                value=lambda: multiplication_cycles(bits, word) / megahertz,
                how=f"our cycles, which every run compares with simulation, at {megahertz:g} MHz",
                where="At the paper's clock",
            ),
        )
    published = {"Slices": slices, "DSP48E1": dsp, "Frequency": megahertz, "Time": time}
    return Row(f"{bits:,} bits, words of {word}", published, here)


def _table(number: str, title: str, unit: str, of: Mapping[Size, Figures], count: int) -> Table:
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
        rows=tuple(_row(size, figures, count) for size, figures in of.items()),
        remarks=(
            "Time by frequency is (d+1)² cycles plus 4 to 25, d = n/w, in every row of Table 1. "
            "Ours counts the loading of the first words too, in which the first quotient digit is "
            "made.",
            "Area and clock of ours are not swept for these sizes yet.",
        ),
    )


TABLES = (
    _table("Table 1", "Modular multiplication", "μs", MULTIPLICATIONS, 1),
    _table("Table 2", "Modular exponentiation", "ms", EXPONENTIATIONS, 2),
)
