"""The numbers that a testbench works on: those of a key from a fixed seed."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from coprime.engine.contract import Capabilities, Command, Error, Length, Operand
from coprime.engine.design import Design
from coprime.engine.outcome import Prediction
from coprime.operations.encodings.radix import Radix
from coprime.operations.encodings.rsa_key import key_numbers
from coprime.operations.operation import Numbers
from coprime.rsa import keys
from coprime.rsa.primes import next_prime

from ..description import Description

SIZES = (512, 384, 256, 192, 128, 96, 64)
"""Bits of the keys, of which the testbench takes the longest that is quick enough."""
LONGEST_TITLE = 72
"""Characters of what a check prints."""
MOST_CYCLES = 40_000  # of one private operation: five to ten seconds in Icarus


@dataclass(frozen=True)
class Vector:
    """A command with its operands, and what it gives.

    Parameters
    ----------
    command : the operation
    lengths : in bits, of the length classes that it has
    operands : but for X, with bits and values, as the engine takes them: several numbers may be one
    x : the input
    result : as it is read; None: it cannot be known, as it is drawn
    error : with which the command ends
    """

    command: Command
    lengths: Mapping[Length, int]
    operands: Sequence[tuple[Operand, int, int]]
    x: int
    result: int | None = None
    error: Error = Error.NONE

    @property
    def bits(self) -> int:
        """Length of input and result."""
        return self.lengths[Length.MODULUS]

    @property
    def title(self) -> str:
        """What its check prints, in ASCII."""
        if self.error is not Error.NONE:
            return f"{self.error.name}: {self.command.name} with a wrong number"
        name = self.command.name
        text = f"{name}: {_ascii(self.command.operation.formula)}"
        return text if len(text) <= LONGEST_TITLE else name

    @property
    def is_known(self) -> bool:
        """Whether there is a result or an error that can be known."""
        return self.result is not None or self.error is not Error.NONE

    @classmethod
    def of(
        cls,
        capabilities: Capabilities,
        command: Command,
        numbers: Numbers,
        error: Error = Error.NONE,
        *,
        exponent_length: int | None = None,
    ) -> Self:
        """An operation on these numbers, the inputs by their names, with what the engine reads."""
        operation = command.operation
        encoded = operation.encoding.encode(numbers, capabilities, exponent_length=exponent_length)
        bits = {**encoded.lengths, Length.DIGIT: capabilities.digit_width}
        needed = capabilities.required[command]
        loaded = [
            (operand, bits[operand.length], v)
            for operand, v in encoded.operands.items()
            if operand in needed
        ]
        result = None
        if operation.result is not None and error is Error.NONE:
            result = operation.expected(numbers, capabilities.half_bits)
        return cls(command, encoded.lengths, loaded, encoded.x, result, error)

    def predicted(self, design: Design) -> Prediction:
        """By the design's model."""
        operands = {operand: value for operand, _, value in self.operands}
        return design.predict(self.command, {**operands, Operand.X: self.x}, self.lengths)


@dataclass(frozen=True)
class SampleNumbers:
    """The numbers that the operations of an engine work on.

    Parameters
    ----------
    own : the engine's
    n : the modulus
    key : whose modulus it is; None if the engine has no RSA_PRIVATE, or no key is that short
    """

    own: Capabilities
    n: int
    key: keys.RsaPrivateKey | None

    @property
    def bits(self) -> int:
        """Length of the modulus."""
        return self.n.bit_length()

    @property
    def e(self) -> int:
        """A short exponent, shorter than the modulus: the key's public one, if there is one."""
        return self.key.e if self.key else min(65537, self.n - 1)

    @property
    def e_bits(self) -> int:
        """Length of that exponent, at least 1."""
        return max(1, self.e.bit_length())

    @cached_property
    def x(self) -> int:
        """A message, below the modulus and of its length where that is possible."""
        return self.n - 2 if self.n > 2 else 0

    @cached_property
    def y(self) -> int:
        """A second factor, near the modulus."""
        return self.n - 1 - random.Random(2).randrange(max(1, self.n >> 8))

    @property
    def lengths(self) -> Mapping[Length, int]:
        """Of the modulus and of the short exponent."""
        return {Length.MODULUS: self.bits, Length.EXPONENT: self.e_bits}

    @cached_property
    def loaded(self) -> list[tuple[Operand, int, int]]:
        """What all commands but those of RSA_PRIVATE need, but for X: with bits and values."""
        e, y = (Operand.E, self.e_bits, self.e), (Operand.Y, self.bits, self.y)
        return [*self.modulus_operands(), e, y]

    @property
    def product(self) -> Command:
        """A command without an exponent, for what is the same with every command."""
        return self.own.products[0]

    @property
    def power(self) -> Command:
        """A command with an exponent."""
        return self.own.powers[0]

    @property
    def public(self) -> Command:
        """The command that STATUS starts, which takes a public key."""
        return self.own.public[0]

    @cached_property
    def others(self) -> list["Vector"]:
        """Of all other commands that are given numbers modulo M."""
        if self.own.bare:
            return []
        known = {self.product, self.power, self.public}
        vectors = map(self._vector, sorted(self.own.required.keys() - known))
        return [vector for vector in vectors if vector is not None]

    def _vector(self, command: Command) -> "Vector | None":
        """X and the first exponent are `x` and `e`."""
        encoding = command.operation.encoding
        m = next_prime(self.n) if encoding.prime else self.n
        given = {"x": self.x, "y": self.y, "e": self.e, "m": m}
        numbers = encoding.sample(given, random.Random(3))
        return None if numbers is None else Vector.of(self.own, command, numbers)

    def modulus_operands(self) -> list[tuple[Operand, int, int]]:
        """What belongs to the modulus: with bits and values."""
        found = Radix.of(self.own).modulus_operands(self.n, self.bits)
        return [
            (operand, self.length(operand), value)
            for operand, value in found.items()
            if operand in self.own.operands
        ]

    def private_vector(self, x: int) -> "Vector":
        """RSA_PRIVATE of x with the key."""
        assert self.key
        (command,) = self.own.private
        return Vector.of(self.own, command, {"x": x, **key_numbers(self.key)})

    def private_operands(self) -> tuple[Sequence[tuple[Operand, int, int]], Mapping[Length, int]]:
        """What RSA_PRIVATE reads, but for X, with bits and values; and the lengths."""
        vector = self.private_vector(self.x)
        return vector.operands, vector.lengths

    def wrong_moduli(self) -> Iterator[tuple[int, Error, str]]:
        """Moduli that a command refuses, with its error and what is wrong."""
        n, bits = self.n, self.bits
        if self.own.fixed_modulus is not None:
            yield n ^ 1, Error.MODULUS_FIXED, "another modulus"
            return
        yield 0, Error.MODULUS_ZERO, "the modulus is 0"
        if self.own.montgomery:
            yield n ^ 1, Error.MODULUS_EVEN, "the modulus is even"
        if self.own.aligned and bits > 1:
            yield n & ~(1 << (bits - 1)) | 1, Error.MODULUS_SHORT, "its highest bit is 0"

    def length(self, operand: Operand) -> int:
        """Bits of an operand of the modulus, or of one digit."""
        return self.own.digit_width if operand.length is Length.DIGIT else self.bits


def numbers_of(description: Description) -> SampleNumbers:
    """The longest key of SIZES that the engine holds and that takes no more than MOST_CYCLES, else
    the shortest that it holds."""
    design = description.core.design
    engine = design.capabilities
    if engine.fixed_modulus is not None:
        return SampleNumbers(engine, engine.fixed_modulus, None)
    found: SampleNumbers | None = None
    for bits in SIZES:
        if not engine.private or bits > engine.max_length:
            continue
        key = keys.generate(bits, seed=1)
        numbers = SampleNumbers(engine, key.n, key)
        done = numbers.private_vector(2).predicted(design)
        if done.error is Error.NONE:
            found = numbers
            if done.cycles <= MOST_CYCLES:
                break
    if found is not None:
        return found
    bits = min(engine.max_length, 64)
    return SampleNumbers(engine, random.Random(1).getrandbits(bits) | 1 << (bits - 1) | 1, None)


def _ascii(formula: str) -> str:
    """An operation's formula as a simulator can print it."""
    for sign, text in {"·": "*", "²": "^2", "³": "^3"}.items():
        formula = formula.replace(sign, text)
    return formula
