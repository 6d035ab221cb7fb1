"""What an operation works on: operands as given or from a seed, and the result by Python.

Data and arithmetic only; `execution` simulates and predicts.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

from coprime.ec.samples import AnyCurve, curve_numbers, curve_of_length
from coprime.ec.weierstrass import curve_lengths
from coprime.engine.contract import Command
from coprime.engine.lengths import Lengths
from coprime.operations.operation import Key
from coprime.rsa import keys
from coprime.rsa.primes import next_prime

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
    def of_key(cls, key: keys.RsaPrivateKey) -> Self:
        """With the primes of a key."""
        dp, dq = ((1 << prime.bit_length()) - 1 for prime in (key.p, key.q))
        return cls(key.n, (1 << key.bits) - 1, key.p, key.q, dp, dq)

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
    """What an operation works on: numbers by the names of its inputs, or a key and x.

    The repr shows no secret. With a public key there may be numbers, too, in whose place it comes.
    """

    numbers: Mapping[str, int] = field(repr=False)
    key: PrivateKey | keys.RsaPublicKey | None = None

    @classmethod
    def of(cls, **numbers: int) -> Self:
        """Numbers, without a key."""
        return cls(numbers)

    @property
    def x(self) -> int:
        """The number that each operation has."""
        return self.numbers["x"]

    @property
    def modulus(self) -> int:
        """The whole modulus: the key's, if there is one."""
        return self.numbers["m"] if self.key is None else self.key.n

    def with_(self, **numbers: int) -> Self:
        """The same with other numbers in the place of some."""
        return replace(self, numbers={**self.numbers, **numbers})

    def lengths(self, command: Command) -> Lengths:
        """Of all of them, as the operands of a command."""
        if self.key is not None:
            lengths = self.key.lengths
            return replace(lengths, modulus=max(lengths.modulus, self.x.bit_length()))
        if command.operation.on_curve:
            return curve_lengths(max(self.numbers["p"], self.numbers["n"]).bit_length())
        inputs = [(one, self.numbers[one.name].bit_length()) for one in command.operation.inputs]
        return Lengths(
            max(bits for one, bits in inputs if not one.is_exponent),
            exponent=max((one.stride * bits for one, bits in inputs if one.is_exponent), default=0),
        )

    def given_to(
        self,
        command: Command,
        *,
        private: Callable[[PrivateKey, int], Answer],
        public: Callable[[int, int, int], Answer],
        numbers: Callable[[Command, Mapping[str, int]], Answer],
    ) -> Answer:
        """Call the command's function: private(key, x), public(n, e, x), or numbers(command, them).

        A key comes before e and m. ValueError for a private operation without a private key.
        """
        if command.operation.is_private:
            if not isinstance(self.key, PrivateKey):
                raise ValueError(f"{command.name} needs a private key")
            return private(self.key, self.x)
        own = dict(self.numbers)
        if self.key is not None:
            own |= {"e": self.key.e, "m": self.key.n}
        if command.operation.key is Key.PUBLIC:
            return public(own["m"], own["e"], own["x"])
        return numbers(command, {one.name: own[one.name] for one in command.operation.inputs})


_PUBLIC_EXPONENT = 65537


def _exponent_length(command: Command, bits: int) -> int:
    """Bits of each random exponent: as many as the modulus has, if none shares its operand."""
    stride = max((one.stride for one in command.operation.exponents), default=1)
    public = all(one.public for one in command.operation.exponents)
    return _PUBLIC_EXPONENT.bit_length() if public else bits // stride


def random_key_lengths(bits: int) -> Lengths:
    """Of a key that `random_operands` makes. ValueError as `random_lengths`."""
    return random_lengths(Command.RSA_PRIVATE, bits)


def random_lengths(command: Command, bits: int) -> Lengths:
    """Of the operands that `random_operands` makes, without making them.

    Raises ValueError for a length outside 2..65535 bits, under 64 for a key.
    """
    operation = command.operation
    least = keys.MIN_BITS if operation.is_private else 2
    if not least <= bits <= keys.MAX_BITS:
        raise ValueError(f"bits must be in {least}..{keys.MAX_BITS}, not {bits}")
    if operation.on_curve:
        return curve_of_length(command, bits).lengths
    prime = (bits + 1) // 2 if operation.is_private else 0
    if operation.is_product:
        return Lengths(bits, prime, 0)
    stride = max((one.stride for one in operation.exponents), default=1)
    return Lengths(bits, prime, stride * _exponent_length(command, bits))


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
    command : one that has a result
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
    generator, operation = random.Random(seed), command.operation
    if operation.is_private:
        key = keys.generate(bits, seed=seed)
        x = generator.randrange(key.n)
        worst = exponents == "worst" and not checked
        return Operands({"x": x}, WorstCaseNumbers.of_key(key) if worst else key)
    if operation.on_curve:
        return operands_on(command, curve_of_length(command, bits), seed)
    m = modulus or generator.getrandbits(bits) | 1 << (bits - 1) | 1
    if operation.prime and modulus is None:
        m = next_prime(m)
    numbers = {}
    length = _exponent_length(command, bits)
    for one in operation.exponents:
        drawn = _PUBLIC_EXPONENT if one.public else generator.getrandbits(length)
        worst = exponents == "worst" and not one.public
        numbers[one.name] = (1 << length) - 1 if worst else drawn | 1 << (length - 1)
    if operation.is_product:
        generator.getrandbits(bits)  # so that a seed has the same factors as a base
    for one in operation.inputs:
        if not one.is_exponent:
            numbers[one.name] = m if one.is_modulus else generator.randrange(m)
    return Operands(numbers)


def operands_on(command: Command, curve: AnyCurve, seed: int) -> Operands:
    """Operands of an operation on a curve from a seed, for measurements only."""
    return Operands(curve_numbers(command, curve, random.Random(seed)))


def expected_result(command: Command, operands: Operands, *, half_bits: int = 0) -> tuple[int, int]:
    """The result by Python's integers, and the modulus's length in bits; 0 for the modulus 0.

    `half_bits` is the engine's, where a result is two numbers.
    """

    def private(key: PrivateKey, x: int) -> tuple[int, int]:
        value = key.private(x) if isinstance(key, WorstCaseNumbers) else pow(x, key.d, key.n)
        return value, key.n.bit_length()

    def numbers(command: Command, given: Mapping[str, int]) -> tuple[int, int]:
        m = given["p" if command.operation.on_curve else "m"]
        return command.operation.expected(given, half_bits) if m else 0, m.bit_length()

    return operands.given_to(
        command,
        private=private,
        public=lambda n, e, x: numbers(command, {"x": x, "e": e, "m": n}),
        numbers=numbers,
    )
