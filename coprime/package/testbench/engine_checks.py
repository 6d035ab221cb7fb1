"""What a testbench checks of an engine: its cycles, its lengths, its operands, each by itself."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import gcd

from coprime.bus.command_control import front_end_cycles
from coprime.bus.front_end import NOT_WHILE_BUSY, PADDING_REGISTERS
from coprime.bus.port import WORD_BITS
from coprime.bus.register_classes import Register
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.model.widths import residue_modulus
from coprime.operations.encodings.rsa_key import key_numbers
from coprime.rsa import keys
from coprime.rsa.primes import next_prime

from ..description import Description
from .bit_flips import BitFlip, bit_flips
from .vectors import MOST_CYCLES, SampleNumbers, Vector

_CODES = 64  # of commands and of operands
_REFUSAL_CYCLES = 24  # of a write that is refused, and of reading and clearing why
_MOST_CYCLES = 10_000
"""Of one multiplication with another length, or one exponentiation."""
_LONGEST_E = 40  # bits of another key's public exponent


@dataclass(frozen=True)
class CommandOutcome:
    """What registers show after a command.

    Parameters
    ----------
    cycles, products : CYCLES and PRODUCTS, as the design's model predicts them
    whole : cycles from the write of COMMAND to the interrupt; 0 if they are not known
    residue : RESIDUE modulo `residue_modulus`; None where it is 0
    """

    cycles: int
    products: int
    whole: int = 0
    residue: int | None = None


class EngineChecks:
    """What is checked of an accelerator's engine.

    Parameters
    ----------
    own : the design
    numbers : its sample
    """

    def __init__(self, description: Description, numbers: SampleNumbers):
        self.own, self.numbers = description, numbers
        self.design = description.core.design
        self.engine = self.design.capabilities
        self.words = -(-self.engine.max_length // WORD_BITS)
        self.buffer_words = (1 << (self.words - 1).bit_length()) + self.words
        """Words of the buffer, all of which a reset clears."""
        self.most_cycles = 0
        """Of the commands whose outcome was asked for."""
        self.all_cycles = 0
        """The sum of these."""

    def outcome(
        self,
        command: Command,
        x: int,
        operands: Sequence[tuple[Operand, int, int]] | None = None,
        lengths: Mapping[Length, int] | None = None,
    ) -> CommandOutcome:
        """What is predicted of a command: by default with the sample's operands and lengths."""
        given = self.numbers.loaded if operands is None else operands
        bits = self.numbers.lengths if lengths is None else lengths
        values = {operand: value for operand, _, value in given}
        done = self.design.predict(command, {**values, Operand.X: x}, bits)
        self.most_cycles = max(self.most_cycles, done.cycles)
        self.all_cycles += done.cycles
        front = front_end_cycles(self.engine, bits[Length.MODULUS], padding=bool(self.own.paddings))
        reads_x = Operand.X in self.engine.required.get(command, ())
        residue = None
        if done.result is not None and command in self.engine.with_check:
            encoding, width = command.operation.encoding, self.engine.digit_width
            residue = encoding.residue(values, done.result, x, width)
        whole = done.cycles + front if reads_x else 0
        return CommandOutcome(done.cycles, done.products, whole, residue)

    @property
    def residue_modulus(self) -> int | None:
        """Modulo which RESIDUE is known; None if the engine checks nothing."""
        return residue_modulus(self.engine.digit_width) if self.engine.checked else None

    @property
    def of_sample(self) -> list[Command]:
        """The commands that work on the sample."""
        numbers = self.numbers
        return list(dict.fromkeys([numbers.product, numbers.power, numbers.public]))

    def outcome_of(self, vector: Vector) -> CommandOutcome:
        """The same of a vector."""
        return self.outcome(vector.command, vector.x, vector.operands, vector.lengths)

    @property
    def choices(self) -> list[tuple[int, Error]]:
        """Each number of an operand, with why it cannot be loaded while no length is set."""
        return [(number, self._refusal(number)) for number in range(_CODES)]

    def _refusal(self, number: int) -> Error:
        if number not in self.engine.operands - {Operand.X}:
            return Error.ADDRESS
        return Error.NONE if Operand(number).length is Length.DIGIT else Error.LENGTH_ZERO

    @property
    def unknown(self) -> list[int]:
        """Codes that are no commands of the engine: those that differ from one in a bit."""
        near = {command ^ 1 << bit for command in self.engine.commands for bit in range(6)}
        return sorted(near - {*self.engine.commands})

    @property
    def limits(self) -> list[tuple[Length, int, Operand]]:
        """Each operand that is loaded with a length, with the class and its longest length."""
        found: list[tuple[Length, int, Operand]] = []
        for operand in sorted(self.engine.operands - {Operand.X}):
            if operand.length is not Length.DIGIT:
                of_prime = operand.length in (Length.P, Length.Q)
                most = self.engine.max_prime_length if of_prime else self.engine.max_length
                found.append((operand.length, most, operand))
        return found

    def needed(self, command: Command) -> list[Operand]:
        """The operands without which a command is refused."""
        return sorted(self.engine.required[command] - {Operand.X})

    def writes_in(self, command: Command) -> int:
        """Refused writes that a command is long enough for."""
        return max(1, self.outcome(command, self.numbers.x).cycles // _REFUSAL_CYCLES)

    @property
    def closed(self) -> list[Register]:
        """Registers that cannot be written while a command runs."""
        return [
            register
            for register in self.own.registers
            if register in (*NOT_WHILE_BUSY, *PADDING_REGISTERS) or register.name == "KEY_WINDOW"
        ]

    @property
    def short_inputs(self) -> list[int]:
        """Bytes of inputs that are shorter than the modulus."""
        size = (self.numbers.bits + 7) // 8
        return sorted({1, 2, size // 2, size - 1} & {*range(1, size)})

    @property
    def vectors(self) -> list[Vector]:
        """Commands with other numbers than the sample's, and with lengths that it refuses."""
        parts = (self.patterns(), self.exponents(), self.other_keys(), self.unfit_lengths())
        return [vector for part in parts for vector in part]

    def quick(self, others: Sequence[Vector]) -> list[Vector]:
        """An operation of each kind: a product, a short power, a private operation, and of the
        `others`, such as those on curves, the quickest without an error of each form of curves."""
        engine, numbers = self.engine, self.numbers
        found: list[Vector] = []
        if not engine.bare:
            found.append(self._product(numbers.n, numbers.x, numbers.y))
            found += [self._power(2, 3, exponent) for exponent in (numbers.power, numbers.public)]
        if numbers.key:
            found.append(numbers.private_vector(pow(numbers.x, numbers.e, numbers.n)))
        forms: dict[str, list[Vector]] = {}
        for vector in others:
            if vector.error is Error.NONE:
                form = vector.command.operation.encoding.form or vector.command.name
                forms.setdefault(form, []).append(vector)
        return found + [
            min(each, key=lambda vector: vector.predicted(self.design).cycles)
            for each in forms.values()
        ]

    def _product(self, n: int, x: int, y: int) -> Vector:
        return Vector.of(self.engine, self.numbers.product, {"x": x, "y": y, "m": n})

    def other_lengths(self) -> Iterator[Vector]:
        """A multiplication for moduli of other lengths, as far as it is quick: about digits' ends,
        one bit longer than 32-bit words, and the shortest and the longest; of all ones and of the
        highest bit."""
        engine, digit = self.engine, self.engine.digit_width
        if engine.fixed_modulus is not None:
            return
        bits = self.numbers.bits
        end = bits // digit * digit - engine.headroom
        words = (bits - 1) // WORD_BITS * WORD_BITS
        lengths = {engine.min_length, end, end + 1, words + 1, bits - 1, bits, engine.max_length}
        least = max(engine.min_length, 3)
        for k, length in enumerate(sorted(lengths & {*range(least, engine.max_length + 1)})):
            top = 1 << length
            n = top - 1 if k % 2 else top // 2 + 1
            x = n - 1 - random.Random(length).randrange(n // 4 + 1)
            vector = self._product(n, x, n - 1)
            if self.outcome_of(vector).cycles <= _MOST_CYCLES:
                yield vector

    def patterns(self) -> Iterator[Vector]:
        """Multiplications of the least and the greatest numbers, and of those whose digits are all
        zeros and all ones by turns, modulo the sample's modulus and modulo such numbers."""
        engine, bits = self.engine, self.numbers.bits
        top, generator = 1 << bits, random.Random(4)
        ones = (1 << engine.digit_width) - 1
        even, odd = (
            sum(ones << k for k in range(first, bits, 2 * engine.digit_width)) % top
            for first in (0, engine.digit_width)
        )
        moduli = [self.numbers.n]
        if engine.fixed_modulus is None:
            moduli += [top - 1, top // 2 | even | 1, top // 2 | odd | 1]
        for n in moduli:
            factors = [n - 1, 0, 1, even % n, odd % n, generator.randrange(n), n - 1]
            for x, y in pairwise(factors):
                yield self._product(n, x, y)

    def exponents(self) -> Iterator[Vector]:
        """Exponentiations with other exponents, as far as they are quick: long and short ones, of
        zeros and ones, in runs and at random."""
        numbers, width, generator = self.numbers, self.engine.digit_width, random.Random(5)
        longest = numbers.bits
        while longest > 1 and self.outcome_of(self._power(longest, -1)).cycles > _MOST_CYCLES:
            longest = longest * 3 // 4
        runs = sum(0xFF << k for k in range(0, longest, 20))
        values = (-1, 0, 1, runs, ~runs, *(generator.getrandbits(longest) for _ in range(2)))
        found = [(longest, value) for value in values]
        found += [(bits, value) for bits in (1, width, width + 1) for value in (-1, 1 << bits - 1)]
        for k, (bits, value) in enumerate(found):
            if bits <= longest:
                yield self._power(bits, value, numbers.power if k % 2 else numbers.public)

    def _power(self, bits: int, value: int, command: Command | None = None) -> Vector:
        """A power with so many bits of a number."""
        numbers = self.numbers
        given = {"x": numbers.y, "e": value % (1 << bits), "m": numbers.n}
        return Vector.of(self.engine, command or numbers.power, given, exponent_length=bits)

    def other_keys(self) -> Iterator[Vector]:
        """Private operations with other keys, as far as they are quick: primes of which one is
        longer, where the engine holds that, and a short and a long public exponent; of a message
        that is a multiple of a prime, and of another."""
        engine, bits = self.engine, self.numbers.bits
        if self.numbers.key is None:
            return
        half = bits // 2
        more = min(engine.max_prime_length, half + half // 3) - half
        for k, (p_bits, q_bits) in enumerate(
            ((half + more - 1, half - more), (half - more - 2, half - 1))
        ):
            long_e = (1 << min(half - more - 8, _LONGEST_E)) - 1
            for e in (3,) if k else (long_e, long_e >> 7, 65537):
                p, q = (_prime_for(e, 3 << length - 2) for length in (p_bits, q_bits))
                key = keys.RsaPrivateKey.from_primes(p, q, e)
                x = random.Random(k).randrange(key.q) * key.p if k else key.n - 3
                vector = Vector.of(engine, engine.private[0], {"x": x, **key_numbers(key)})
                done = vector.predicted(self.design)
                if done.error is Error.NONE and done.cycles <= MOST_CYCLES:
                    yield vector
                    break

    def unfit_lengths(self) -> Iterator[Vector]:
        """Commands that the engine refuses for a length that can be loaded."""
        yield from self._too_short()
        if self.numbers.key and self.engine.checked:
            yield from self._too_long_exponent()

    def _too_short(self) -> Iterator[Vector]:
        """With a modulus, and with primes, of a digit less than the engine has."""
        engine = self.engine
        least = engine.digits(engine.min_length)
        bits = max(
            (length for length in range(2, engine.min_length) if engine.digits(length) < least),
            default=0,
        )
        if not bits or engine.fixed_modulus is not None:
            return
        n = (1 << bits) - 1
        product = [*SampleNumbers(engine, n, None).modulus_operands(), (Operand.Y, bits, n - 1)]
        yield self._refused(self.numbers.product, {Length.MODULUS: bits}, product, n - 1)
        if self.numbers.key:
            operands, lengths = self.numbers.private_operands()
            for prime in (Length.P, Length.Q):
                changed = [
                    (operand, bits, value & n)
                    if operand.length is prime
                    else (operand, length, value)
                    for operand, length, value in operands
                ]
                (command,) = engine.private
                yield self._refused(command, {**lengths, prime: bits}, changed, self.numbers.x)

    def _too_long_exponent(self) -> Iterator[Vector]:
        """With the shortest exponent that is too long for a check modulo a prime."""
        operands, lengths = self.numbers.private_operands()
        (command,) = self.engine.private
        for bits in range(lengths[Length.EXPONENT], self.engine.max_length + 1):
            longer = [
                (operand, bits if operand.length is Length.EXPONENT else length, value)
                for operand, length, value in operands
            ]
            changed = {**lengths, Length.EXPONENT: bits}
            vector = self._refused(command, changed, longer, self.numbers.x)
            if vector.error is Error.EXPONENT_LENGTH:
                yield vector
                return

    def _refused(
        self,
        command: Command,
        lengths: Mapping[Length, int],
        operands: Sequence[tuple[Operand, int, int]],
        x: int,
    ) -> Vector:
        """A command, with the error that is predicted."""
        vector = Vector(command, lengths, operands, x)
        return replace(vector, error=vector.predicted(self.design).error)

    @property
    def resets(self) -> list[tuple[Command, int]]:
        """A command, and cycles from its write to a reset: in the input, the first and the second
        half of the engine's work, the output; and in parts of a private operation."""
        numbers = self.numbers
        done = self.outcome(numbers.product, numbers.x)
        front = done.whole - done.cycles
        second = front // 2 + done.cycles * 3 // 4
        places = (front // 3, front, second, done.whole - front // 4)
        found = list(zip([numbers.power, numbers.product] * 2, places, strict=True))
        if numbers.key:
            (private,) = self.engine.private
            cycles = self.outcome(private, numbers.x, *numbers.private_operands()).cycles
            found += [(private, cycles // 3), (private, cycles * 4 // 5)]
        return found

    @property
    def bit_flips(self) -> list[BitFlip]:
        """Those of a private operation; none if the design notices no faults by itself."""
        if self.numbers.key is None or not self.engine.checked:
            return []
        (private,) = self.engine.private
        done = self.outcome(private, self.numbers.x, *self.numbers.private_operands())
        return bit_flips(self.engine.count_bits, done.whole, done.whole - done.cycles)

    def classes_of(self, command: Command) -> list[Length]:
        """The lengths that a command reads."""
        found = {operand.length for operand in self.engine.required[command]}
        return sorted(found - {Length.DIGIT})

    @staticmethod
    def of_class(
        operands: Sequence[tuple[Operand, int, int]], length: Length
    ) -> list[tuple[Operand, int, int]]:
        """Those of a length class."""
        return [operand for operand in operands if operand[0].length is length]

    def wrong_keys(
        self, operands: Sequence[tuple[Operand, int, int]], lengths: Mapping[Length, int], x: int
    ) -> Iterator[tuple[list[tuple[Operand, int, int]], Mapping[Length, int], Error]]:
        """Keys of which one number is wrong, as far as the engine finds that by itself: with
        operands, lengths, and the error."""
        (command,) = self.engine.private
        for prime in (Operand.M, Operand.P, Operand.Q):
            for wrong in (0, 1):
                changed = [
                    (operand, bits, (value ^ 1 if wrong else 0) if operand is prime else value)
                    for operand, bits, value in operands
                ]
                done = Vector(command, lengths, changed, x).predicted(self.design)
                if done.error not in (Error.NONE, Error.FAULT):
                    yield changed, lengths, done.error

    @staticmethod
    def title_of(
        changed: Sequence[tuple[Operand, int, int]], operands: Sequence[tuple[Operand, int, int]]
    ) -> str:
        """Which operand is wrong."""
        (change,) = {*changed} - {*operands}
        return f"{change[0].name} is {'even' if change[2] else '0'}"


def _prime_for(e: int, least: int) -> int:
    """The first prime from `least` on to which the public exponent fits."""
    prime = next_prime(least)
    while gcd(e, prime - 1) > 1:
        prime = next_prime(prime + 2)
    return prime
