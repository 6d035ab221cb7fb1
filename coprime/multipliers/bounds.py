"""How large a number can be, in multiples of its modulus."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

_STEPS = 4
_FAR_BELOW = Fraction(-(1 << 30))


@dataclass(frozen=True)
class Bound:
    """A number is at most `plain` * M + `scaled` * c * M, and at least `least` * M.

    M is the modulus and c what a multiplier that works modulo c * M scales it by, 1 or more. A
    number with a `least` below 0 may be negative, and is in the memory modulo R then.
    """

    plain: Fraction
    scaled: Fraction = Fraction(0)
    least: Fraction = Fraction(0)

    @classmethod
    def times(cls, plain: Fraction | int, scaled: int = 0, least: int = 0) -> Self:
        """Of whole multiples."""
        return cls(Fraction(plain), Fraction(scaled), Fraction(least))

    @property
    def is_negative(self) -> bool:
        """Whether the number may be below 0."""
        return self.least < 0

    def rounded(self) -> "Bound":
        """Upwards to quarters, so that a loop has few bounds until none grows any more."""
        plain, scaled = _up(self.plain), _up(self.scaled)
        if plain is self.plain and scaled is self.scaled:
            return self
        return Bound(plain, scaled, self.least)

    def within(self, other: "Bound") -> bool:
        """Whether every number of this bound is of the other one: its c may be 1 or greater."""
        return (
            self.scaled <= other.scaled
            and self.plain + self.scaled <= other.plain + other.scaled
            and self.least >= min(other.least, Fraction(0))
        )

    def either(self, other: "Bound") -> "Bound":
        """Of a number that is of this bound or of the other; this one itself where it is that."""
        if (
            (self.plain is other.plain or self.plain >= other.plain)
            and (self.scaled is other.scaled or self.scaled >= other.scaled)
            and (self.least is other.least or self.least <= other.least)
        ):
            return self
        return Bound(
            max(self.plain, other.plain),
            max(self.scaled, other.scaled),
            min(self.least, other.least),
        )

    def __add__(self, other: "Bound") -> "Bound":
        return Bound(self.plain + other.plain, self.scaled + other.scaled, self.least + other.least)

    def __sub__(self, other: "Bound") -> "Bound":
        """Of the difference, of which nothing bounds it from below where c may be any number."""
        least = _FAR_BELOW if other.scaled else self.least - other.plain
        return Bound(self.plain - other.least, self.scaled, least)

    def __str__(self) -> str:
        parts = [f"{float(self.plain):g} M"] if self.plain or not self.scaled else []
        parts += [f"{float(self.scaled):g} c M"] if self.scaled else []
        return " + ".join(parts)


def _up(value: Fraction) -> Fraction:
    if _STEPS % value.denominator == 0:
        return value
    return Fraction(-(-value * _STEPS // 1), _STEPS)
