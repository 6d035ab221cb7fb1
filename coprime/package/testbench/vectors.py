"""The numbers that a testbench works on: those of a key from a fixed seed."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from coprime.engine.contract import Capabilities, Command, Error, Length, Operand
from coprime.engine.precomputation import Radix, private_operation
from coprime.rsa import keys
from coprime.rsa.primes import next_prime

from ..description import Description

SIZES = (512, 384, 256, 192, 128, 96, 64)
"""Bits of the keys, of which the testbench takes the longest that is quick enough."""
MOST_CYCLES = 40_000  # of one private operation: five to ten seconds in Icarus


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
        """A second factor."""
        return random.Random(2).randrange(self.n)

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

    @property
    def others(self) -> list[Command]:
        """All other commands that are given numbers modulo M."""
        known = {self.product, self.power, self.public, *self.own.private}
        others = self.own.required.keys() - known
        return sorted(one for one in others if not one.operation.on_curve)

    def operation(self, command: Command) -> tuple[list[tuple[Operand, int, int]], int]:
        """Operands of a command that is given numbers, but for X, with bits and values; its result.

        X and the first exponent are `x` and `e`. What belongs to the modulus is left out.
        """
        operation, generator = command.operation, random.Random(3)
        given: dict[str, int] = {}
        packed: dict[Operand, tuple[int, int]] = {}
        for one in operation.inputs:
            if one.is_modulus:
                value = self.modulus_of(command)
            elif one.operand is Operand.X:
                value = self.x
            elif one.is_exponent:
                value = self.e if not one.offset else generator.randrange(self.e + 1)
            else:
                value = self.y
            given[one.name] = value
            if not one.is_modulus and one.operand is not Operand.X:
                bits = one.stride * self.e_bits if one.is_exponent else self.bits
                if one.is_scalar:
                    bits = max(bits, self.bits)
                before = packed.get(one.operand, (bits, 0))[1]
                packed[one.operand] = bits, before | one.spread(value)
        operands = [(operand, *bits_and_value) for operand, bits_and_value in packed.items()]
        return operands, operation.expected(given, self.own.half_bits)

    def modulus_of(self, command: Command) -> int:
        """The modulus, or the next prime, if the command has a result modulo a prime only."""
        return next_prime(self.n) if command.operation.prime else self.n

    def modulus_operands(self, n: int | None = None) -> list[tuple[Operand, int, int]]:
        """What belongs to the modulus, or to another one of its length: with bits and values."""
        found = Radix.of(self.own).modulus_operands(n or self.n, self.bits)
        return [
            (one, self.length(one), value)
            for one, value in found.items()
            if one in self.own.operands
        ]

    def private_operands(self) -> tuple[list[tuple[Operand, int, int]], Mapping[Length, int]]:
        """What RSA_PRIVATE reads, but for X, with bits and values; and the lengths."""
        assert self.key
        operands, lengths = private_operation(self.own, self.key)
        of_digit = {**lengths, Length.DIGIT: self.own.digit_width}
        return [(one, of_digit[one.length], value) for one, value in operands.items()], lengths

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


def numbers_of(own: Description) -> SampleNumbers:
    """The longest key of SIZES that the engine holds and that takes no more than MOST_CYCLES."""
    design = own.core.design
    engine = design.capabilities
    if engine.fixed_modulus is not None:
        return SampleNumbers(engine, engine.fixed_modulus, None)
    for bits in SIZES:
        if not engine.private or bits > engine.max_length:
            continue
        key = keys.generate(bits, seed=1)
        operands, lengths = private_operation(engine, key)
        if max(lengths[Length.P], lengths[Length.Q]) > engine.max_prime_length:
            continue
        done = design.predict(engine.private[0], {**operands, Operand.X: 2}, lengths)
        if done.error is Error.NONE and (done.cycles <= MOST_CYCLES or bits == SIZES[-1]):
            return SampleNumbers(engine, key.n, key)
    bits = min(engine.max_length, 64)
    return SampleNumbers(engine, random.Random(1).getrandbits(bits) | 1 << (bits - 1) | 1, None)


def title_of(command: Command) -> str:
    """What a check of the command's result prints, in ASCII."""
    return f"{command.name}: {command.operation.formula.replace('·', '*')}"
