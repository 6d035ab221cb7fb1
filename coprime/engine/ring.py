"""The `ring` engine: products of differences of wide words on one or two tiles of DSP slices."""

from typing import TYPE_CHECKING

from coprime.cells.facts import TILE_FACTS
from coprime.cells.target import Target
from coprime.exponentiators.exponentiation import Exponentiation
from coprime.model.montgomery import digits
from coprime.multipliers.ring.multiplication import RingMultiplication
from coprime.parameters import check_ranges

from .compact import BLINDED_WINDOW, MASKED_BLOCK_BITS, WHOLE_WINDOW, WINDOW
from .curve_settings import CurveSettings
from .design import EngineDesign, lane_capabilities
from .families import DELAYS, RING_TILES
from .family import BLINDING
from .layout import Banks

if TYPE_CHECKING:
    from coprime.multipliers.ring.multiplier import RingMultiplier

_SMALLEST_RAM = 1024
"""Words of a block RAM with two ports that has no fewer of them for a bank's width."""

WHOLE_WINDOW_OF_X = 3
"""Bits of a window modulo the whole modulus with X_MULTIPLY, which inverts modulo that one: 38
products less than with 2 for 255 bits. Columns of a comb go without windows from the top."""

_LEAST_LENGTH = 16  # bits of a modulus: shorter ones take the time of five words all the same


def _multiplications(tile: str, tiles: int, delay: str, slack: int) -> list[RingMultiplication]:
    """Those of a delay; with auto, of all that may be the fastest one."""
    cell = TILE_FACTS[tile]
    skew = int(cell.SKEWS and tiles == 1)
    if delay not in DELAYS:
        raise ValueError(f"delay must be one of {', '.join(DELAYS)}, not {delay!r}")
    delays = range(tiles) if delay == DELAYS[0] else (int(delay),)
    latency = cell.latency(holds=tiles == 2)
    return [RingMultiplication(cell.WORD, latency, tiles, words, skew, slack) for words in delays]


def _banks(
    multiplication: RingMultiplication,
    max_bits: int,
    window: int,
    settings: CurveSettings,
    *,
    blinded: bool,
) -> Banks:
    """Banks for windows of so many bits, and for what curves or blinding have."""
    width, headroom = multiplication.digit_width, multiplication.headroom
    whole = digits(max_bits, width, headroom)
    prime = digits((max_bits + 1) // 2, width, headroom)
    banks = Banks(whole, prime, entry_bits=5, inverses_left=True)
    if window == 4 or (window == 0 and banks.depth > _SMALLEST_RAM):
        banks = Banks(whole, prime, inverses_left=True)
    if blinded:
        bits = MASKED_BLOCK_BITS
        banks = Banks(whole, prime, entry_bits=bits, block_bits=bits, inverses_left=True)
    if settings.any:
        bits = max(settings.block_bits, MASKED_BLOCK_BITS if blinded else 0)
        banks = Banks(whole, prime, entry_bits=bits, block_bits=bits)
    return banks


def _check_together(
    window: int, multipliers: int, settings: CurveSettings, *, blinded: bool
) -> None:
    """Refuse a window that is out of range, and parameters that do not go together (ValueError)."""
    if window not in (0, 4, 5):
        raise ValueError(f"window must be 0, 4 or 5, not {window}")
    if blinded and window:
        raise ValueError("with blinding=all windows have 3 bits: leave window out")
    if settings.any and (multipliers == 2 or window):
        raise ValueError("with curves there are one multiplier, and windows of 4 bits")


def _exponentiation(banks: Banks, settings: CurveSettings, *, blinded: bool) -> Exponentiation:
    """Fixed windows, modulo a prime and modulo the whole modulus."""
    window = BLINDED_WINDOW if blinded else WINDOW if settings.any else banks.entry_bits
    whole_window = WHOLE_WINDOW_OF_X if settings.kinds == ("montgomery",) else WHOLE_WINDOW
    return Exponentiation("fixed-window", window, whole_window, blinded)


def ring(
    max_bits: int = 1024,
    tile: str = "bal50",
    tiles: int = 1,
    multipliers: int = 1,
    window: int = 0,
    delay: str = "auto",
    blinding: str = "none",
    curves: str = "none",
    ecdsa: str = "host",
) -> EngineDesign:
    """Design an engine for moduli of up to `max_bits` bits on `tiles` tiles, 8192 at the most.

    With a `delay` of 1, q is delayed by a word, which is faster where the steps of a short prime
    would be shorter than the loop from a column to its word. With auto q is delayed where there are
    two tiles, and that makes products modulo a prime of half of `max_bits` shorter.

    A modulus or a prime has 16 bits or more. `window` is how many bits of an exponent modulo a
    prime are one window: 4, 5, or with 0 as many as need the least block RAM, and rather 5. Modulo
    the whole modulus it is 2. With two `multipliers` each has its tiles and its memory, and
    RSA_PRIVATE works modulo both primes side by side.

    `blinding` is none or all, as of `compact`, but moduli have no masks. Windows modulo a prime
    have 3 bits then. Blinded exponents need primes that are shorter than the modulus by 64 bits in
    whole words.

    `curves` and `ecdsa` are those of `compact`. Curves need one multiplier; windows modulo a prime
    have 4 bits then.

    Raises ValueError where a parameter is out of its range or does not go with another one, or
    where the tile's accumulators do not hold the sums of so long a modulus, which for curves may
    be longer than `max_bits`.
    """
    if tile not in RING_TILES:
        raise ValueError(f"tile must be one of {', '.join(RING_TILES)}, not {tile!r}")
    blinded = BLINDING.parse(blinding) == "all"
    settings = CurveSettings(curves, ecdsa, blinds=blinded)
    check_ranges(tiles=(tiles, range(1, 3)))
    cell = TILE_FACTS[tile]
    skew = int(cell.SKEWS and tiles == 1)
    possible = _multiplications(tile, tiles, delay, settings.slack)
    most = min(8192, *(each.most_bits(cell.most_products()) for each in possible))
    check_ranges(max_bits=(max_bits, range(64, most + 1)), multipliers=(multipliers, range(1, 3)))
    _check_together(window, multipliers, settings, blinded=blinded)
    multiplication = min(possible, key=lambda each: each.period_of(max_bits + 1 >> 1))
    banks = _banks(multiplication, max_bits, window, settings, blinded=blinded)
    banks, longest, half_bits = settings.lengthened(banks, multiplication, max_bits)
    if longest > most:
        raise ValueError(f"{tile} holds {most} bits, and with curves max_bits={max_bits} {longest}")
    whole = banks.whole
    capabilities = lane_capabilities(
        multiplication,
        longest,
        banks.longest_prime_digits,
        family="ring",
        family_number=10,
        min_length=_LEAST_LENGTH,
        multipliers=multipliers,
        constant_time=True,
        checked=True,
        draws=blinded or settings.draws,
        half_bits=half_bits,
        blinds_scalars=settings.hardened,
    )

    def make(target: Target) -> "RingMultiplier":
        from coprime.cells.tiles import TILES
        from coprime.multipliers.ring.multiplier import RingMultiplier

        products = multiplication.sum_products(multiplication.words(whole))
        made = TILES[tile]
        cells = [made(products, target, skewed=bool(skew), holds=tiles == 2) for _ in range(tiles)]
        delay_and_slack = (multiplication.delay, multiplication.slack)
        sizes = (whole, capabilities.count_bits)
        return RingMultiplier(cells, *sizes, target, *delay_and_slack, beside_sums=settings.any)

    exponentiation = _exponentiation(banks, settings, blinded=blinded)
    design = EngineDesign(capabilities, banks, multiplication, make, exponentiation)
    return settings.added_to(design)
