"""The families with lanes: name, source, summary and parameters of each, without hardware.

A family's builder is in the file of its name; the bit-serial ones share `bit_serial.py`.
"""

from coprime.cells.facts import TILE_FACTS
from coprime.model.widths import residue_width
from coprime.parameters import BudgetParameter, ChoiceParameter, Parameter

from .budget import SliceBudget
from .curve_settings import CURVE_PARAMETERS
from .family import BLINDING, Family, exponentiation, longest_modulus, multipliers_each

FDFM = Family(
    name="fdfm",
    paper="FDFM",
    summary="digit-serial Montgomery on one DSP slice and one block RAM, with CRT",
    parameters=(
        longest_modulus(64, 8192, 2176),
        multipliers_each(1),
        *exponentiation("left-to-right"),
    ),
    builder="coprime.engine.fdfm:fdfm",
    bare_builder="coprime.engine.fdfm:bare_fdfm",
)


BIT_SERIAL_LONGEST = 8192
RADIX_2_LONGEST = 4096
"""Its adders propagate carries over the whole modulus: the clock slows down with its length."""


def _bit_serial(
    name: str, summary: str, *, paper: str = "BITSERIAL", longest: int = BIT_SERIAL_LONGEST
) -> Family:
    """The record of a family whose multiplier scans one bit a round."""
    return Family(
        name=name,
        paper=paper,
        summary=f"{summary}, with CRT",
        parameters=(
            longest_modulus(2, longest, 2048),
            Parameter("word", 8, 64, 32, "bits that memory and multiplier exchange"),
            multipliers_each(2),
            *exponentiation("left-to-right"),
        ),
        builder=f"coprime.engine.bit_serial:{name.replace('-', '_')}",
    )


MONTGOMERY_2CSA = _bit_serial("montgomery-2csa", "bit-serial Montgomery with two carry-save adders")
MONTGOMERY_1CSA = _bit_serial("montgomery-1csa", "bit-serial Montgomery with one carry-save adder")
INTERLEAVED_CSA = _bit_serial("interleaved-csa", "bit-serial interleaved with a carry-save adder")
MONTGOMERY_R2 = _bit_serial(
    "montgomery-r2",
    "radix-2 Montgomery without a last subtraction, adders that propagate carries",
    paper="COMPRESSION",
    longest=RADIX_2_LONGEST,
)

KARATSUBA = Family(
    name="karatsuba",
    paper="KARATSUBA",
    summary="very-high-radix Montgomery on pipelined Karatsuba multipliers, with CRT",
    parameters=(
        longest_modulus(64, 8192, 2048),
        Parameter("word", 16, 128, 32, "bits of a word, the radix: 16, 32, 64 or 128"),
        Parameter("latency", 1, 13, 6, "maximum pipeline stages in a product"),
        multipliers_each(2),
        *exponentiation("fixed-window"),
        Parameter("scaled", 0, 1, 0, "1: scaled moduli, whose quotient digits need no product"),
        Parameter("interleaved", 0, 1, 0, "1: both halves of RSA_PRIVATE on one multiplier"),
    ),
    builder="coprime.engine.karatsuba:karatsuba",
)

COMPACT = Family(
    name="compact",
    paper="",
    summary="products of differences on one DSP slice and one block RAM, with CRT",
    parameters=(longest_modulus(64, 8192, 1024), BLINDING, *CURVE_PARAMETERS),
    builder="coprime.engine.compact:compact",
)

_LEAST_RESIDUE = 12
"""Bits of a residue that sees nearly all changes of whole words; and it is added up in time."""

DELAYS = ("auto", "0", "1")
"""Words by which q is delayed; auto: 0, or with two tiles the faster value."""

RING_TILES = tuple(
    name for name, tile in TILE_FACTS.items() if residue_width(tile.WORD) >= _LEAST_RESIDUE
)
"""The tiles whose words can be summed up in a residue."""


def _slices(tile: str, tiles: int, multipliers: int, **others: object) -> int:
    return TILE_FACTS[tile].SLICES * tiles * multipliers


_PICKED: dict[str, tuple[int | str, ...]] = {
    "tile": RING_TILES,
    "tiles": (1, 2),
    "multipliers": (1, 2),
}
RING = Family(
    name="ring",
    paper="",
    summary="products of differences of wide words, with products back to back",
    parameters=(
        longest_modulus(64, 8192, 1024),
        ChoiceParameter("tile", RING_TILES, "bal50", "the multiplier of words"),
        Parameter("tiles", 1, 2, 1, "tiles; of two, one computes X * Y and the other q * M'"),
        multipliers_each(1),
        Parameter(
            *("window", 0, 5, 0),
            "bits of a window modulo a prime: 4 or 5; 0: 5 if it takes no more block RAM",
        ),
        ChoiceParameter(
            *("delay", DELAYS, DELAYS[0]),
            "words by which q is delayed; auto: 0, or with two tiles the faster one",
            sparse=True,
        ),
        BLINDING,
        *CURVE_PARAMETERS,
    ),
    builder="coprime.engine.ring:ring",
    budget=SliceBudget(
        BudgetParameter(
            *(
                "dsp",
                1,
                2 * 2 * max(TILE_FACTS[name].SLICES for name in RING_TILES),
                tuple(_PICKED),
            ),
            "maximum number of DSP slices: selects the fastest design that has what is set",
        ),
        _PICKED,
        _slices,
    ),
)
