"""The operands of an engine's commands, with the constants that the host precomputes for a key."""

from dataclasses import dataclass

from coprime.model import montgomery

from .contract import Operand

__all__ = ["Radix"]


@dataclass(frozen=True)
class Radix:
    """An engine's digits: an operand of n bits has ceil((n + headroom) / width) digits.

    Parameters
    ----------
    width : bits of a digit, at least 1
    headroom : bits of an operand beyond its length, at least 0
    """

    width: int
    headroom: int

    def digits(self, length: int) -> int:
        """Digits of an operand of `length` bits; 0 for length 0."""
        return montgomery.digits(length, self.width, self.headroom)

    def modulus_operands(self, m: int, length: int) -> dict[Operand, int]:
        """The modulus with its constants. `length` in bits is what the engine is told."""
        return {
            Operand.M: m,
            Operand.M_INVERSE: montgomery.inverse(m, self.width),
            Operand.M_POWER: montgomery.modulus_power(m, self.width, self.digits(length)),
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
        count, p_count, q_count = map(self.digits, (length, *prime_lengths))
        return {
            **self.modulus_operands(n, length),
            Operand.P: p,
            Operand.Q: q,
            Operand.DP: dp,
            Operand.DQ: dq,
            Operand.P_INVERSE: montgomery.inverse(p, width),
            Operand.Q_INVERSE: montgomery.inverse(q, width),
            Operand.P_POWER: montgomery.prime_power(p, width, count, p_count),
            Operand.Q_POWER: montgomery.prime_power(q, width, count, q_count),
            Operand.CRT_P: montgomery.crt_factor(p, q, n, width, p_count),
            Operand.CRT_Q: montgomery.crt_factor(q, p, n, width, q_count),
        }
