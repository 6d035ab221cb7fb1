"""The `ring` engine: products of differences of wide words on a tile of DSP slices."""

from coprime.cells.target import Target
from coprime.cells.tiles import TILES
from coprime.exponentiators.exponentiation import Exponentiation
from coprime.exponentiators.names import BLINDINGS, Blinding
from coprime.model.montgomery import digits
from coprime.multipliers.ring.multiplication import RingMultiplication
from coprime.multipliers.ring.multiplier import RingMultiplier

from .compact import BLINDED_WINDOW, LEAST_BLINDED, WHOLE_WINDOW, WINDOW, banked_operands
from .design import EngineDesign, check_ranges, lane_capabilities
from .layout import BankedLayout

__all__ = ["ring"]


def ring(max_bits: int = 1024, tile: str = "bal50", blinding: str = "none") -> EngineDesign:
    """Design an engine for moduli of up to `max_bits` bits, 64 to 8192, on one tile.

    Windows, blinding and its limits are those of `compact`.

    Raises ValueError where a parameter is out of its range.
    """
    if tile not in TILES:
        raise ValueError(f"tile must be one of {', '.join(TILES)}, not {tile!r}")
    if blinding not in BLINDINGS:
        raise ValueError(f"blinding must be one of {', '.join(BLINDINGS)}, not {blinding!r}")
    chosen = Blinding[blinding.upper()]
    cell = TILES[tile]
    multiplication = RingMultiplication(cell.WORD, cell.LATENCY)
    width, headroom = multiplication.digit_width, multiplication.headroom
    min_length = (multiplication.min_digits - 1) * width - headroom + 1
    least = LEAST_BLINDED if Blinding.EXPONENT in chosen else 64
    check_ranges(max_bits=(max_bits, range(max(least, 2 * min_length), 8193)))
    whole = digits(max_bits, width, headroom)
    layout = BankedLayout.of(whole, digits((max_bits + 1) // 2, width, headroom))
    capabilities = lane_capabilities(
        multiplication,
        max_bits,
        layout.longest_prime_digits,
        family="ring",
        family_number=9,
        min_length=min_length,
        required=banked_operands(),
        constant_time=True,
        checked=True,
        draws=bool(chosen),
    )
    window = BLINDED_WINDOW if chosen else WINDOW
    exponentiation = Exponentiation("fixed-window", window, WHOLE_WINDOW, chosen)

    def make(target: Target = Target.GENERIC) -> RingMultiplier:
        return RingMultiplier(cell(whole + 1, target), whole, capabilities.count_bits, target)

    return EngineDesign(capabilities, layout, multiplication, make, exponentiation)
