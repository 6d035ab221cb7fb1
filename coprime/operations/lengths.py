"""How long the numbers are that an engine is to work on, and whether it holds them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


class Limits(Protocol):
    """What bounds the lengths: an engine's capabilities, or what a driver has read of them."""

    @property
    def max_length(self) -> int:
        """Bits of the longest modulus."""

    @property
    def max_prime_length(self) -> int:
        """Bits of the longest prime; 0: private operations need no primes."""

    @property
    def checked(self) -> bool:
        """Whether a private operation has the public exponent in a prime's place."""


@dataclass(frozen=True)
class Lengths:
    """Bits of the longest numbers of an operation.

    Parameters
    ----------
    modulus : modulus, and what is below it; 0 or more
    prime : the longer prime of a private key; 0: the operation is not private
    exponent : exponent of an operation that is not private, public exponent of one that is
    """

    modulus: int
    prime: int = 0
    exponent: int = 0

    def fit(self, limits: Limits) -> bool:
        """Whether an engine holds such numbers."""
        return not any(self._excess(limits))

    def excess(self, limits: Limits) -> str:
        """What an engine takes, and these are not: the end of a sentence; empty if they fit."""
        return " and ".join(self._excess(limits))

    def _excess(self, limits: Limits) -> Iterator[str]:
        checks = bool(self.prime) and limits.checked
        for name, bits, longest in (
            ("moduli", self.modulus, limits.max_length),
            ("primes", self.prime, limits.max_prime_length or self.prime),
            ("exponents", self.exponent, limits.max_prime_length if checks else limits.max_length),
        ):
            if bits > longest:
                yield f"{name} of up to {longest} bits (not {bits})"
