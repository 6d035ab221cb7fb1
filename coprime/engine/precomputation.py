"""The operands of an engine's commands, with the constants that the host precomputes for a key."""

from dataclasses import dataclass
from typing import Self

from coprime.model import montgomery

from .contract import Capabilities, Operand

__all__ = ["Radix"]


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
    def of(cls, capabilities: Capabilities) -> Self:
        """The digits and the R of an engine."""
        return cls(capabilities.digit_width, capabilities.headroom, capabilities.radix_bits)

    def exponent(self, length: int) -> int:
        """That of R, which is 2^exponent, for a modulus of `length` bits; 0 for length 0."""
        if not self.radix_bits:
            return 0
        return self.radix_bits * montgomery.digits(length, self.radix_bits, self.headroom)

    def modulus_operands(self, m: int, length: int) -> dict[Operand, int]:
        """The modulus with its constants. `length` in bits is what the engine is told."""
        return {
            Operand.M: m,
            Operand.M_INVERSE: montgomery.inverse(m, self.width),
            Operand.M_POWER: montgomery.modulus_power(m, self.exponent(length)),
        }

    def private_operands(
        self,
        n: int,
        primes: tuple[int, int],
        exponents: tuple[int, int],
        length: int,
        prime_lengths: tuple[int, int],
    ) -> dict[Operand, int]:
        """The modulus n, its primes p and q, the exponents modulo p - 1 and q - 1, the constants.

        The lengths, in bits, are what the engine is told: of the modulus, and of p and q.
        """
        (p, q), (dp, dq), width = primes, exponents, self.width
        own, own_p, own_q = map(self.exponent, (length, *prime_lengths))
        return {
            **self.modulus_operands(n, length),
            Operand.P: p,
            Operand.Q: q,
            Operand.DP: dp,
            Operand.DQ: dq,
            Operand.P_INVERSE: montgomery.inverse(p, width),
            Operand.Q_INVERSE: montgomery.inverse(q, width),
            Operand.P_POWER: montgomery.prime_power(p, own, own_p),
            Operand.Q_POWER: montgomery.prime_power(q, own, own_q),
            Operand.CRT_P: montgomery.crt_factor(p, q, n, own_p),
            Operand.CRT_Q: montgomery.crt_factor(q, p, n, own_q),
        }
