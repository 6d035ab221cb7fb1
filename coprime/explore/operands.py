"""What an operation works on: operands as given or from a seed, and the result by Python.

Data and arithmetic only; `runs` simulates and predicts.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

from coprime.engine.contract import Command
from coprime.engine.lengths import Lengths
from coprime.rsa import keys

__all__ = [
    "EXPONENTS",
    "Operands",
    "WorstCaseNumbers",
    "expected_result",
    "has_exponent",
    "random_lengths",
    "random_operands",
]

EXPONENTS = ("worst", "random")
"""Kinds of secret exponents: every bit is 1, or the exponent (or the key) comes from the seed."""

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class WorstCaseNumbers:
    """Two primes with all-ones exponents, as the papers count their worst case.

    No public exponent belongs to them, so `e` is 0, and hardware that checks a private operation
    refuses them. The result is known from its two residues.
    """

    n: int
    d: int = field(repr=False)
    p: int = field(repr=False)
    q: int = field(repr=False)
    dp: int = field(repr=False)
    dq: int = field(repr=False)
    e: int = 0

    @classmethod
    def of_length(cls, bits: int, seed: int = 1) -> Self:
        """For a modulus of `bits` bits, 64 or more."""
        key = keys.generate(bits, seed=seed)
        dp, dq = ((1 << prime.bit_length()) - 1 for prime in (key.p, key.q))
        return cls(key.n, (1 << bits) - 1, key.p, key.q, dp, dq)

    @property
    def lengths(self) -> Lengths:
        """Of the numbers in a private operation."""
        return Lengths(self.n.bit_length(), max(self.p, self.q).bit_length())

    def private(self, x: int) -> int:
        """x^dp mod p and x^dq mod q, recombined modulo n."""
        p_part, q_part = pow(x, self.dp, self.p), pow(x, self.dq, self.q)
        coefficient = pow(self.q, -1, self.p)
        return (q_part + self.q * ((p_part - q_part) * coefficient % self.p)) % self.n


PrivateKey = keys.RsaPrivateKey | WorstCaseNumbers


@dataclass(frozen=True)
class Operands:
    """What an operation works on: raw integers, or a key and an input; the repr shows no secret."""

    x: int = field(repr=False)
    y: int = field(default=0, repr=False)
    e: int = field(default=0, repr=False)
    m: int = 0
    key: PrivateKey | keys.RsaPublicKey | None = None

    @property
    def lengths(self) -> Lengths:
        """Of all of them."""
        if self.key is None:
            return Lengths(max(self.x, self.y, self.m).bit_length(), exponent=self.e.bit_length())
        lengths = self.key.lengths
        return replace(lengths, modulus=max(lengths.modulus, self.x.bit_length()))

    def given_to(
        self,
        command: Command,
        *,
        private: Callable[[PrivateKey, int], Answer],
        public: Callable[[int, int, int], Answer],
        modexp: Callable[[int, int, int], Answer],
        modmul: Callable[[int, int, int], Answer],
    ) -> Answer:
        """Call the command's function: private(key, x), public(n, e, x), modexp(x, e, m) or
        modmul(x, y, m).

        A key comes before e and m. ValueError for RSA_PRIVATE without a private key.
        """
        if command is Command.RSA_PRIVATE:
            if not isinstance(self.key, PrivateKey):
                raise ValueError("RSA_PRIVATE needs a private key")
            return private(self.key, self.x)
        e, m = (self.e, self.m) if self.key is None else (self.key.e, self.key.n)
        if command is Command.RSA_PUBLIC:
            return public(m, e, self.x)
        if command is Command.MODEXP:
            return modexp(self.x, e, m)
        return modmul(self.x, self.y, m)


def has_exponent(command: Command) -> bool:
    """Whether the operation's cycles may depend on a secret exponent."""
    return command in (Command.MODEXP, Command.RSA_PRIVATE)


_PUBLIC_EXPONENT = 65537


def random_lengths(command: Command, bits: int) -> Lengths:
    """Of the operands that `random_operands` makes, without making them.

    Raises ValueError for a length outside 2..65535 bits, under 64 for a key.
    """
    private = command is Command.RSA_PRIVATE
    least = keys.MIN_BITS if private else 2
    if not least <= bits <= keys.MAX_BITS:
        raise ValueError(f"bits must be in {least}..{keys.MAX_BITS}, not {bits}")
    e = bits if command is Command.MODEXP else _PUBLIC_EXPONENT.bit_length()
    return Lengths(bits, (bits + 1) // 2 if private else 0, 0 if command is Command.MODMUL else e)


def random_operands(
    command: Command,
    bits: int,
    seed: int,
    *,
    exponents: str = "random",
    modulus: int | None = None,
    checked: bool = False,
) -> Operands:
    """Operands of a length from a seed: a modulus with its top bit set, or a key.

    The key of a seed is no secret: for measurements only.

    Parameters
    ----------
    command : MODMUL, MODEXP, RSA_PUBLIC or RSA_PRIVATE
    bits : length of the modulus
    seed : what everything is drawn from
    exponents : one of EXPONENTS; "worst" makes a secret exponent all ones
    modulus : the modulus to use, of `bits` bits; None draws one
    checked : the engine checks private operations, in constant time: a valid key is its worst case

    Raises ValueError as `random_lengths`, and for a length that is not the modulus's.
    """
    random_lengths(command, bits)  # checks them
    if modulus is not None and modulus.bit_length() != bits:
        raise ValueError(f"the modulus has {modulus.bit_length()} bits, and not {bits}")
    generator = random.Random(seed)
    if command is Command.RSA_PRIVATE:
        key = keys.generate(bits, seed=seed)
        x = generator.randrange(key.n)
        if exponents == "random" or checked:
            return Operands(x, key=key)
        return Operands(x, key=WorstCaseNumbers.of_length(bits, seed))
    m = modulus or generator.getrandbits(bits) | 1 << (bits - 1) | 1
    public = command is Command.RSA_PUBLIC
    e = _PUBLIC_EXPONENT if public else generator.getrandbits(bits) | 1 << (bits - 1)
    x, y = generator.randrange(m), generator.randrange(m)
    if exponents == "worst" and has_exponent(command):
        e = (1 << bits) - 1
    return Operands(x, y, e, m)


def expected_result(command: Command, operands: Operands) -> tuple[int, int]:
    """The result by Python's integers, and the modulus's length in bits; 0 for the modulus 0."""

    def private(key: PrivateKey, x: int) -> tuple[int, int]:
        value = key.private(x) if isinstance(key, WorstCaseNumbers) else pow(x, key.d, key.n)
        return value, key.n.bit_length()

    return operands.given_to(
        command,
        private=private,
        public=lambda n, e, x: _power(x, e, n),
        modexp=_power,
        modmul=lambda x, y, m: (x * y % m if m else 0, m.bit_length()),
    )


def _power(x: int, e: int, m: int) -> tuple[int, int]:
    return pow(x, e, m) if m else 0, m.bit_length()
