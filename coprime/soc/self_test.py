"""A self-test: an engine computes stored operations, whose results are compared with stored ones.

Nothing is needed beside the design: operands and results lie in its memory. The keys among them
are made from a seed that anyone can read here. They are TEST KEYS and protect nothing.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from amaranth.hdl import Array, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.ec.samples import SHORT_CURVES, curve_numbers
from coprime.engine.contract import RESULT_LATENCY, Command, EngineSignature, Error, Length, Operand
from coprime.engine.design import Design
from coprime.operations.encodings.rsa_key import key_numbers
from coprime.operations.operation import Numbers
from coprime.parameters import check_ranges
from coprime.rsa import keys
from coprime.rsa.primes import next_prime

_CURVE_BITS = 64


@dataclass(frozen=True)
class KnownAnswer:
    """An operation and its result.

    Parameters
    ----------
    operands : every operand that the command reads
    lengths : in bits, of each length class that these belong to
    result : what the engine must compute
    cycles : clock cycles that it may take, at least 1
    """

    command: Command
    operands: Mapping[Operand, int]
    lengths: Mapping[Length, int]
    result: int
    cycles: int


def known_answer(design: Design, bits: int | None = None, *, seed: int = 1) -> KnownAnswer:
    """Make an RSA decryption for an engine, or a plain exponentiation if it knows no more.

    Parameters
    ----------
    bits (int): length of the modulus, 64 to the engine's maximum; 512, or that maximum if it is
        less, if not given. An engine with a fixed modulus has that one's length.
    seed (int): of the test key and of the ciphertext

    Raises TypeError or ValueError for another length, ValueError for an engine without powers.
    """
    capabilities = design.capabilities
    if capabilities.fixed_modulus is not None:
        bits = capabilities.fixed_modulus.bit_length()
        return _exponentiation(
            design, capabilities.fixed_modulus, capabilities.fixed_modulus // 3, 2
        )
    if bits is None:
        longest = (
            min(capabilities.max_length, 2 * capabilities.max_prime_length)
            if capabilities.private
            else capabilities.max_length
        )
        bits = min(512, longest)
    check_ranges(bits=(bits, range(keys.MIN_BITS, capabilities.max_length + 1)))
    key = keys.generate(bits, seed=seed)
    plain = pow(3, bits, key.n)  # a number of the modulus's length that is the same every time
    cipher = pow(plain, key.e, key.n)
    if not capabilities.private:
        return _exponentiation(design, key.n, key.d, cipher)
    return _answer(design, capabilities.private[0], {"x": cipher, **key_numbers(key)})


def known_answers(design: Design, bits: int | None = None) -> list[KnownAnswer]:
    """That one, and of each kind of curves that the engine has a multiple of a point.

    These are of 64 bits, or of 7 where the engine holds no more. Raises as `known_answer`.
    """
    multiples = {
        command.operation.encoding.form: command
        for command in design.capabilities.supported(
            lambda operation: operation.encoding.gives_point
        )
    }
    of_curves = [
        _answer(design, command, _point_numbers(design, command)) for command in multiples.values()
    ]
    return [known_answer(design, bits), *of_curves]


def _point_numbers(design: Design, command: Command) -> Numbers:
    """Of a short curve; of Montgomery form, of any prime, and a point of the curve or its twist:
    what is added is the same on both."""
    capabilities, generator = design.capabilities, random.Random(1)
    for curve in SHORT_CURVES.get(command.operation.encoding.form, ()):
        if curve.p.bit_length() <= capabilities.max_prime_length:
            return curve_numbers(command, curve, generator)
    length = max(capabilities.min_length, min(_CURVE_BITS, capabilities.max_length))
    m = next_prime(1 << (length - 1))
    x, y = generator.randrange(m), generator.randrange(m)
    e = generator.getrandbits(length) | 1 << (length - 1)
    return {"x": x, "y": y, "e": e, "m": m}


def _exponentiation(design: Design, m: int, e: int, x: int) -> KnownAnswer:
    capabilities = design.capabilities
    if not capabilities.powers:
        raise ValueError(
            f"{capabilities.family} has neither RSA_PRIVATE nor MODEXP to test it with"
        )
    return _answer(design, capabilities.powers[0], {"x": x, "e": e, "m": m})


def _answer(design: Design, command: Command, numbers: Numbers) -> KnownAnswer:
    """With the operands that the command reads, and the cycles that the design predicts."""
    capabilities, operation = design.capabilities, command.operation
    encoded = operation.encoding.encode(numbers, capabilities)
    operands = encoded.among(capabilities.required[command])
    prediction = design.predict(command, operands, encoded.lengths)
    if prediction.error:
        raise ValueError(f"the engine refuses the test: {prediction.error.name}")
    result = operation.expected(numbers, capabilities.half_bits)
    return KnownAnswer(command, operands, encoded.lengths, result, prediction.cycles)


class SelfTest(wiring.Component):
    """Let an engine compute stored operations, one after the other, and judge their results.

    Each operand goes from a read-only memory into the engine, digit by digit; the command starts;
    the result is compared with the stored one, digit by digit. The test fails at the first digit
    that differs, and if the engine ends with an error or is still busy after the cycles that an
    operation may take. It ends in any case, and stays as it ended until the next start or reset.

    Members
    -------
    start (1 bit, in): starts the test, which must not be running; the engine must be idle
    engine (EngineSignature): to be connected to the engine while `running` is 1
    running, passed, failed (1 bit each, out): at most one of them is 1
    """

    def __init__(self, design: Design, *answers: KnownAnswer):
        self.design, self.answers = design, answers
        ports = {
            "start": In(1),
            "engine": In(EngineSignature(design.capabilities)),
            **dict.fromkeys(("running", "passed", "failed"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Connect engine and memory by a state machine that does one thing in each state."""
        m = Module()
        capabilities, answers, engine = self.design.capabilities, self.answers, self.engine
        m.submodules.stored = stored = self._memory()
        read = stored.read_port()
        word = read.data
        address = Signal(range(stored.depth + 1))
        checking = Signal()
        waited = Signal(range(RESULT_LATENCY))
        cycles = Signal(range(max(answer.cycles for answer in answers) + 1))
        place, several = Signal(range(len(answers))), len(answers) > 1

        def of_answer(values: Sequence[int]) -> Value | int:
            return Array(map(Const, values))[place] if several else values[0]

        for length in dict.fromkeys(length for answer in answers for length in answer.lengths):
            lengths = [answer.lengths.get(length, 0) for answer in answers]
            m.d.comb += [
                engine.counts[length.field].eq(
                    of_answer([capabilities.digits(each) for each in lengths])
                ),
                engine.lengths[length.field].eq(of_answer(lengths)),
            ]
        m.d.comb += [
            read.addr.eq(address),
            *same_named(engine, word, "operand", "index", "digit"),
            engine.command.eq(of_answer([answer.command for answer in answers])),
        ]
        with m.FSM() as states:
            with m.State("IDLE"), m.If(self.start):
                m.d.sync += [address.eq(0), checking.eq(0), cycles.eq(0)]
                if several:
                    m.d.sync += place.eq(0)
                m.d.sync += [self.passed.eq(0), self.failed.eq(0)]
                m.next = "FETCH"
            with m.State("FETCH"):  # the memory gives the word at `address` from the next state
                with m.If(checking):
                    m.next = "LOOK"
                with m.Else():
                    m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += engine.write.eq(1)
                m.d.sync += address.eq(address + 1)
                with m.If(word.last):
                    m.next = "START"
                with m.Else():
                    m.next = "FETCH"
            with m.State("START"):
                m.d.comb += engine.start.eq(1)
                m.next = "RUN"
            with m.State("RUN"):
                m.d.sync += [cycles.eq(cycles + 1), checking.eq(1)]
                with m.If(engine.done & (engine.error == Error.NONE)):
                    m.next = "FETCH"
                with m.Elif(
                    engine.done | (cycles == of_answer([answer.cycles - 1 for answer in answers]))
                ):
                    m.d.sync += self.failed.eq(1)
                    m.next = "IDLE"
            with m.State("LOOK"):
                m.d.sync += waited.eq(waited + 1)
                with m.If(waited == RESULT_LATENCY - 1):
                    m.next = "COMPARE"
            with m.State("COMPARE"):
                m.d.sync += [address.eq(address + 1), waited.eq(0)]
                with m.If(engine.result_digit != word.digit):
                    m.d.sync += self.failed.eq(1)
                    m.next = "IDLE"
                with m.Elif(word.last & (place == len(answers) - 1) if several else word.last):
                    m.d.sync += self.passed.eq(1)
                    m.next = "IDLE"
                with m.Else():
                    m.next = "FETCH"
                    if several:
                        with m.If(word.last):
                            m.d.sync += [place.eq(place + 1), checking.eq(0), cycles.eq(0)]
        m.d.comb += self.running.eq(~states.ongoing("IDLE"))
        return m

    def _memory(self) -> Memory:
        """A memory of all digits, with the number and the operand of each."""
        capabilities, words = self.design.capabilities, self._words()
        layout = data.StructLayout(
            {
                "digit": capabilities.digit_width,
                "index": capabilities.count_bits,
                "operand": capabilities.operand_bits,
                "last": 1,
            }
        )
        return Memory(shape=layout, depth=len(words), init=words)

    def _words(self) -> list[dict[str, int]]:
        """List the digits of each operation's operands, and then those of its result."""
        return [word for answer in self.answers for word in self._words_of(answer)]

    def _words_of(self, answer: KnownAnswer) -> Iterator[dict[str, int]]:
        capabilities = self.design.capabilities

        def digits(operand: Operand, value: int) -> list[int]:
            return capabilities.to_digits(operand, value, answer.lengths.get(operand.length, 0))

        words = [
            {"operand": operand, "index": index, "digit": digit, "last": 0}
            for operand, value in sorted(answer.operands.items())
            for index, digit in enumerate(digits(operand, value))
        ]
        words[-1]["last"] = 1
        yield from words
        words = [
            {"operand": 0, "index": index, "digit": digit, "last": 0}
            for index, digit in enumerate(digits(Operand.M, answer.result))
        ]
        words[-1]["last"] = 1
        yield from words


class AnySelfTest(Protocol):
    """A self-test of either kind of engine."""

    start: Signal
    engine: Any
    running: Signal
    passed: Signal
    failed: Signal


class SelfTestingEngine(wiring.Component):
    """An engine whose ports belong to a self-test while that one runs.

    Parameters
    ----------
    engine : of numbers or of byte strings
    test : its `engine` connects to the engine

    Attributes
    ----------
    test : whoever has this component starts it, while nothing else uses the engine
    capabilities or interface : the engine's

    The ports are the engine's. While the test runs, inputs are without effect, and `busy` and
    `done` are 0.
    """

    def __init__(self, engine: wiring.Component, test: AnySelfTest):
        for name in ("capabilities", "interface"):
            if hasattr(engine, name):
                setattr(self, name, getattr(engine, name))
        self.test = test
        self._engine = engine
        super().__init__(wiring.Signature(engine.signature.members))

    def elaborate(self, platform: object) -> Module:
        """Choose whose the inputs are."""
        m = Module()
        m.submodules.engine = engine = self._engine
        m.submodules.test = test = self.test
        ports = (self.signature.flatten(part) for part in (engine, self, test.engine))
        for (_, member, port), (_, _, outer), (_, _, inner) in zip(*ports, strict=True):
            if member.flow is Out:
                m.d.comb += [outer.eq(port), inner.eq(port)]
                continue
            m.d.comb += port.eq(outer)
            with m.If(test.running):
                m.d.comb += port.eq(inner)
        with m.If(test.running):
            m.d.comb += [self.busy.eq(0), self.done.eq(0)]
        return m


def self_testing(
    design: Design, *answers: KnownAnswer, target: Target = Target.GENERIC
) -> SelfTestingEngine:
    """An engine of numbers with its self-test. ValueError for one that takes random bytes."""
    if design.capabilities.draws:
        raise ValueError(
            "the self-test of a board has no random bytes for blinding: take parameters with which"
            " the engine draws none"
        )
    return SelfTestingEngine(design.hardware(Target(target)), SelfTest(design, *answers))
