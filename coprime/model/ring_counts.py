"""How many multiplications a private operation takes on a ring, with the check of its result.

Counted modulo one prime, and in multiplications as long as the prime. It is what the algorithms
need, before there is hardware: an engine may add its own steps between them.
"""

from dataclasses import dataclass

WINDOWS = range(1, 6)  # bits of a window that are worth their table


def window_products(bits: int, window: int) -> int:
    """Squarings and products of a power with an exponent of `bits` bits and a fixed window.

    The table has the powers from 0 to 2^window - 1, of which 0 and 1 take no product. The highest
    window is an entry of the table; each other one takes `window` squarings and one product.
    """
    return (1 << window) - 2 + (-(-bits // window) - 1) * (window + 1)


def public_products(exponent: int) -> int:
    """Squarings and products of a power with a public exponent, from its highest bit on."""
    return exponent.bit_length() - 1 + exponent.bit_count() - 1


@dataclass(frozen=True)
class PrivateCount:
    """Multiplications for one of the two primes of a private operation.

    A number as long as the modulus takes two where it is reduced modulo a prime, or multiplied.

    Attributes
    ----------
    bits : of the prime, and of its exponent
    window : bits of a window
    public_exponent : for the check
    """

    bits: int
    window: int
    public_exponent: int = 65537

    @property
    def power(self) -> int:
        """X ^ D_p in Montgomery form."""
        return window_products(self.bits, self.window)

    @property
    def conversion(self) -> int:
        """1 and X into Montgomery form, the power out of it, and half of Garner's formula.

        The formula takes 5 for both primes: 2 and 1 for S_q modulo P, out of Montgomery form, and 2
        for the product with the weight, modulo M.
        """
        return 1 + 2 + 1 + 3

    @property
    def check(self) -> int:
        """S and X modulo the prime, S ^ E, and both out of Montgomery form."""
        return 2 + 2 + public_products(self.public_exponent) + 1 + 1

    @property
    def breaks(self) -> int:
        """Multiplications whose second half nothing fills, as the next one waits for the result.

        After X is in Montgomery form, after the table, before the power is out of that form, after
        that, and after S ^ E.
        """
        return 5

    @property
    def total(self) -> int:
        """All of them; a break takes as long as a multiplication."""
        return self.power + self.conversion + self.check + self.breaks


def best_count(bits: int) -> PrivateCount:
    """With the window that takes the fewest products."""
    return min((PrivateCount(bits, k) for k in WINDOWS), key=lambda count: count.total)
