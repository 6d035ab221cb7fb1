"""An engine's digits, and the constants that the host computes for a modulus."""

from dataclasses import dataclass
from typing import Protocol, Self

from coprime.model import montgomery
from coprime.program.operands import Operand


class NumberEngine(Protocol):
    """What encodings ask of an engine: its capabilities, or what a driver has read of them."""

    @property
    def digit_width(self) -> int:
        """Bits of a digit."""

    @property
    def headroom(self) -> int:
        """Bits of an operand beyond its length."""

    @property
    def radix_bits(self) -> int:
        """Bits of an operand that a round of the multiplication takes; 0: R is 1."""

    @property
    def min_length(self) -> int:
        """Bits of the shortest modulus."""

    @property
    def half_bits(self) -> int:
        """Bits of an operand below the second one of two numbers; 0: no operand has two."""

    @property
    def equal_primes(self) -> bool:
        """Whether both primes of a key have the length of the longer one."""

    @property
    def checked(self) -> bool:
        """Whether private results are checked with the public exponent."""

    @property
    def blinds_scalars(self) -> bool:
        """Whether secret scalars of points are longer."""


@dataclass(frozen=True)
class Radix:
    """An engine's digits and its R: an operand of n bits has ceil((n + headroom) / width) digits.

    A multiplication takes `radix_bits` of such an operand in each round and divides by 2^radix_bits
    there, so R is 2^(radix_bits * ceil((n + headroom) / radix_bits)).

    Parameters
    ----------
    width : bits of a digit, at least 1
    headroom : bits of an operand beyond its length, at least 0
    radix_bits : bits of a round, at least 1; 0: the multiplication does not divide, and R is 1
    """

    width: int
    headroom: int
    radix_bits: int

    @classmethod
    def of(cls, engine: NumberEngine) -> Self:
        """The digits and the R of an engine."""
        return cls(engine.digit_width, engine.headroom, engine.radix_bits)

    @property
    def scale_digits(self) -> int:
        """Digits of c where the multiplier works modulo c * M, in the headroom; else 0."""
        return self.headroom // self.width

    def exponent(self, length: int) -> int:
        """That of R, which is 2^exponent, for a modulus of `length` bits; 0 for length 0."""
        if not self.radix_bits:
            return 0
        return self.radix_bits * montgomery.digits(length, self.radix_bits, self.headroom)

    def exponent_of_field(self, p: int, length: int) -> int:
        """The same for the prime of a curve's field."""
        return self.exponent(length) - self.width * self.scale_digits * self.is_short(p)

    def is_short(self, p: int) -> bool:
        """Whether numbers modulo the prime of a field have fewer digits than their length says.

        They have where the multiplier works modulo a multiple of the modulus, for which the
        headroom has `scale_digits`, and this multiple is the modulus itself.
        """
        bits = self.width * self.scale_digits
        return bits > 0 and montgomery.inverse(p, bits) == 1

    def modulus_operands(self, m: int, length: int) -> dict[Operand, int]:
        """The modulus with its constants. `length` in bits is the one given to the engine."""
        return {
            Operand.M: m,
            Operand.M_INVERSE: montgomery.inverse(m, self.width),
            Operand.M_POWER: montgomery.modulus_power(m, self.exponent(length)),
        }
