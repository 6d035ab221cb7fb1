"""Blinding of scalars: k + r n in place of k, with a random r, on points of the order n.

Source: Coron, Resistance against differential power analysis for elliptic curve cryptosystems
(1999), section 5.1. What differs: the length of the result is the same for every r, and so are the
cycles of a multiple.
"""

from dataclasses import dataclass
from typing import Any

SCALAR_BLINDINGS = ("0", "64", "128", "half")
"""The choices, by the numbers that they have in DIGITS.SCALAR_BLINDING."""


@dataclass(frozen=True)
class ScalarBlinding:
    """How many random bits a scalar is blinded with.

    Parameters
    ----------
    fixed : so many, 0 or more
    half : half as many as the length of the order instead
    """

    fixed: int = 0
    half: bool = False

    @staticmethod
    def named(name: str) -> "ScalarBlinding":
        """The choice of that name; ValueError for another name."""
        if name not in SCALAR_BLINDINGS:
            raise ValueError(
                f"scalar_blinding must be one of {', '.join(SCALAR_BLINDINGS)}, not {name!r}"
            )
        return (
            ScalarBlinding(half=True) if name == SCALAR_BLINDINGS[-1] else ScalarBlinding(int(name))
        )

    @property
    def name(self) -> str:
        """That of the choice."""
        return SCALAR_BLINDINGS[-1] if self.half else str(self.fixed)

    @property
    def number(self) -> int:
        """That of the choice, in DIGITS.SCALAR_BLINDING."""
        return SCALAR_BLINDINGS.index(self.name)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return self.half or self.fixed > 0

    def bits(self, length: Any) -> Any:
        """The random bits of r, for hardware and integers alike; the order is given to the engine
        with `length` bits."""
        return length + 1 >> 1 if self.half else self.fixed

    def ladder_bits(self, length: int) -> int:
        """Bits that a ladder's scalar has beyond those of the order: of k + (1 + 4 r) n, and once
        or twice 2^(bits + 2) n, whichever has one bit more; without blinding k + n or k + 2 n.

        So no number that the ladder comes by, above its last two bits, is 0 or -1 modulo an order
        that has four bits more than r: the factor of n is 1 modulo 4.
        """
        return int(self.bits(length)) + 2 if self else 0

    def comb_bits(self, length: int) -> int:
        """The same of a comb's scalar, to which a multiple of n is added twice, once for each of
        two multiples that are compared."""
        return int(self.bits(length)) + 1 if self else 0


NO_SCALAR_BLINDING = ScalarBlinding()
