"""High and low parts of numbers modulo q = 8380417, hints, and norms.

Source: FIPS 204, algorithms 35 to 40. What differs: a division by 2 gamma2 is a shift by the
divisor's even part and one product by a constant; `division` finds the constants, and checks them
for every number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from .ml_dsa_sets import DROPPED_BITS, MlDsaSet, Q

_HALF = 1 << DROPPED_BITS - 1
FACTOR_BITS = 17
"""Bits of a multiplier's constant, without a sign."""


def power2round(r: int) -> tuple[int, int]:
    """FIPS 204, algorithm 35: r1 and r0 with r = r1 2^13 + r0, and r0 in (-2^12, 2^12]."""
    assert 0 <= r < Q
    r1 = r + _HALF - 1 >> DROPPED_BITS
    return r1, r - (r1 << DROPPED_BITS)


@dataclass(frozen=True)
class ConstantDivision:
    """floor(x / divisor) = (x >> shift_before) factor >> shift_after for 0 <= x < limit."""

    divisor: int
    limit: int
    shift_before: int
    factor: int
    shift_after: int

    def __call__(self, x: int) -> int:
        """The quotient."""
        assert 0 <= x < self.limit
        return (x >> self.shift_before) * self.factor >> self.shift_after


@cache
def division(divisor: int, limit: int) -> ConstantDivision:
    """The smallest constant that divides every number below the limit. Raises ValueError if there
    is none of 17 bits."""
    even = (divisor & -divisor).bit_length() - 1
    odd, last = divisor >> even, (limit - 1) >> even
    for shift in range(odd.bit_length(), 36):
        factor = -(-(1 << shift) // odd)
        # The quotient steps at multiples of `odd`, and between two of them the product only grows.
        ends = [x for step in range(0, last + 1, odd) for x in (step, min(step + odd - 1, last))]
        if factor < 1 << FACTOR_BITS and all(x * factor >> shift == x // odd for x in ends):
            return ConstantDivision(divisor, limit, even, factor, shift)
    raise ValueError(f"no factor below 2^{FACTOR_BITS} divides all numbers below {limit}")


def division_of(parameters: MlDsaSet) -> ConstantDivision:
    """By 2 gamma2, of r + gamma2 - 1."""
    return division(2 * parameters.gamma2, Q + parameters.gamma2)


def decompose(parameters: MlDsaSet, r: int) -> tuple[int, int]:
    """FIPS 204, algorithm 36: r1 and r0 with r = r1 2 gamma2 + r0 modulo q."""
    assert 0 <= r < Q
    gamma2 = parameters.gamma2
    r1 = division_of(parameters)(r + gamma2 - 1)
    r0 = r - 2 * gamma2 * r1
    if 2 * r1 == parameters.parts:
        r1, r0 = 0, r0 - 1
    assert 0 <= r1 < parameters.parts // 2 and -gamma2 <= r0 <= gamma2
    return r1, r0


def use_hint(parameters: MlDsaSet, hint: int, r: int) -> int:
    """FIPS 204, algorithm 40."""
    r1, r0 = decompose(parameters, r)
    if not hint:
        return r1
    step = 1 if r0 > 0 else -1
    last = parameters.parts // 2 - 1
    if r1 == last and step == 1:
        return 0
    return last if r1 == 0 and step == -1 else r1 + step


def exceeds(f: Sequence[int], bound: int) -> bool:
    """Whether a centred coefficient has at least this magnitude: every one is looked at."""
    found = False
    for x in f:
        found |= x >= bound or -x >= bound
    return found


# --- Hints of a signature -------------------------------------------------------------------------


def pack_hints(parameters: MlDsaSet, hints: Sequence[Sequence[int]]) -> bytes:
    """FIPS 204, algorithm 20: places of hints of k polynomials, then how many there are so far."""
    places: list[int] = []
    counts = []
    for polynomial in hints:
        places += [place for place, hint in enumerate(polynomial) if hint]
        counts.append(len(places))
    assert len(places) <= parameters.omega
    return bytes(places) + bytes(parameters.omega - len(places)) + bytes(counts)


def unpack_hints(parameters: MlDsaSet, data: bytes) -> list[list[int]] | None:
    """FIPS 204, algorithm 21, byte by byte; None if an encoding is refused.

    A count must not be less than the one before, nor more than omega; places of a polynomial rise;
    all bytes after the last place are 0.
    """
    omega, k = parameters.omega, parameters.k
    assert len(data) == omega + k
    good, first, hints = True, 0, []
    for end in data[omega:]:
        good &= first <= end <= omega
        polynomial, before = [0] * 256, -1
        for place in data[first:end]:
            good &= place > before
            polynomial[place], before = 1, place
        hints.append(polynomial)
        first = end
    good &= not any(data[first:omega])
    return hints if good else None
