"""A self-test: an engine computes a stored operation, whose result is compared with a stored one.

Nothing is needed beside the design: operands and result lie in its memory. The key among them
is made from a seed that anyone can read here. It is a TEST KEY and protects nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.engine.contract import RESULT_LATENCY, Command, EngineSignature, Error, Length, Operand
from coprime.engine.design import Design
from coprime.engine.precomputation import Radix, private_operation
from coprime.parameters import check_ranges
from coprime.rsa import keys


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
    own = design.capabilities
    if own.fixed_modulus is not None:
        bits = own.fixed_modulus.bit_length()
        return _exponentiation(design, own.fixed_modulus, own.fixed_modulus // 3, 2)
    if bits is None:
        bits = min(512, own.max_length)
    check_ranges(bits=(bits, range(keys.MIN_BITS, own.max_length + 1)))
    key = keys.generate(bits, seed=seed)
    plain = pow(3, bits, key.n)  # a number of the modulus's length that is the same every time
    cipher = pow(plain, key.e, key.n)
    if not own.private:
        return _exponentiation(design, key.n, key.d, cipher)
    operands, lengths = private_operation(own, key)
    return _complete(design, own.private[0], {**operands, Operand.X: cipher}, lengths, plain)


def _exponentiation(design: Design, m: int, e: int, x: int) -> KnownAnswer:
    own = design.capabilities
    if not own.powers:
        raise ValueError(f"{own.family} has neither RSA_PRIVATE nor MODEXP to test it with")
    operands = {**Radix.of(own).modulus_operands(m, m.bit_length()), Operand.X: x, Operand.E: e}
    lengths = {Length.MODULUS: m.bit_length(), Length.EXPONENT: e.bit_length()}
    return _complete(design, own.powers[0], operands, lengths, pow(x, e, m))


def _complete(
    design: Design,
    command: Command,
    operands: Mapping[Operand, int],
    lengths: Mapping[Length, int],
    result: int,
) -> KnownAnswer:
    """Keep the operands that the command reads; give it the cycles that the design predicts."""
    needed = {operand: operands[operand] for operand in design.capabilities.required[command]}
    prediction = design.predict(command, needed, lengths)
    if prediction.error:
        raise ValueError(f"the engine refuses the test: {prediction.error.name}")
    return KnownAnswer(command, needed, lengths, result, prediction.cycles)


class SelfTest(wiring.Component):
    """Let an engine compute a stored operation, and judge its result.

    Each operand goes from a read-only memory into the engine, digit by digit; the command starts;
    the result is compared with the stored one, digit by digit. The test fails at the first digit
    that differs, and if the engine ends with an error or is still busy after the cycles that the
    operation may take. It ends in any case, and stays as it ended until the next start or reset.

    Members
    -------
    start (1 bit, in): starts the test, which must not be running; the engine must be idle
    engine (EngineSignature): to be connected to the engine while `running` is 1
    running, passed, failed (1 bit each, out): at most one of them is 1
    """

    def __init__(self, design: Design, answer: KnownAnswer):
        self.design, self.answer = design, answer
        ports = {
            "start": In(1),
            "engine": In(EngineSignature(design.capabilities)),
            **dict.fromkeys(("running", "passed", "failed"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Connect engine and memory by a state machine that does one thing in each state."""
        m = Module()
        own, answer, engine = self.design.capabilities, self.answer, self.engine
        words = self._words()
        layout = data.StructLayout(
            {
                "digit": own.digit_width,
                "index": own.count_bits,
                "operand": own.operand_bits,
                "last": 1,
            }
        )
        m.submodules.stored = stored = Memory(shape=layout, depth=len(words), init=words)
        read = stored.read_port()
        word = read.data
        address = Signal(range(len(words) + 1))
        checking = Signal()
        waited = Signal(range(RESULT_LATENCY))
        cycles = Signal(range(answer.cycles + 1))

        for one, length in answer.lengths.items():
            m.d.comb += [
                engine.counts[one.field].eq(own.digits(length)),
                engine.lengths[one.field].eq(length),
            ]
        m.d.comb += [
            read.addr.eq(address),
            *same_named(engine, word, "operand", "index", "digit"),
            engine.command.eq(answer.command),
        ]
        with m.FSM() as states:
            with m.State("IDLE"), m.If(self.start):
                m.d.sync += [address.eq(0), checking.eq(0), cycles.eq(0)]
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
                with m.Elif(engine.done | (cycles == answer.cycles - 1)):
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
                with m.Elif(word.last):
                    m.d.sync += self.passed.eq(1)
                    m.next = "IDLE"
                with m.Else():
                    m.next = "FETCH"
        m.d.comb += self.running.eq(~states.ongoing("IDLE"))
        return m

    def _words(self) -> list[dict[str, int]]:
        """List the digits of the operands, then those of the result."""
        answer = self.answer
        own = self.design.capabilities

        def digits(operand: Operand, value: int) -> list[int]:
            return own.to_digits(operand, value, answer.lengths.get(operand.length, 0))

        words = [
            {"operand": operand, "index": index, "digit": digit, "last": 0}
            for operand, value in sorted(answer.operands.items())
            for index, digit in enumerate(digits(operand, value))
        ]
        words[-1]["last"] = 1
        words += [
            {"operand": 0, "index": index, "digit": digit, "last": 0}
            for index, digit in enumerate(digits(Operand.M, answer.result))
        ]
        words[-1]["last"] = 1
        return words


class SelfTestingEngine(wiring.Component):
    """An engine whose ports belong to a self-test while that one runs.

    Parameters
    ----------
    design (Design): not one that takes random bytes (ValueError)

    Attributes
    ----------
    test (SelfTest): whoever has this component starts it, while nothing else uses the engine

    The ports are those of EngineSignature. While the test runs, inputs are without effect, and
    `busy` and `done` are 0.
    """

    def __init__(self, design: Design, answer: KnownAnswer, *, target: Target = Target.GENERIC):
        if design.capabilities.draws:
            raise ValueError("the self-test has no source of random bytes for blinding")
        self.capabilities = design.capabilities
        self.test = SelfTest(design, answer)
        self._engine = design.hardware(Target(target))
        super().__init__(EngineSignature(design.capabilities))

    def elaborate(self, platform: object) -> Module:
        """Choose whose the inputs are."""
        m = Module()
        m.submodules.engine = engine = self._engine
        m.submodules.test = test = self.test
        ports = EngineSignature(self.capabilities).members
        for name, member in ports.items():
            port, outer, inner = (getattr(one, name) for one in (engine, self, test.engine))
            if member.flow is Out:
                m.d.comb += [outer.eq(port), inner.eq(port)]
                continue
            m.d.comb += port.eq(outer)
            with m.If(test.running):
                m.d.comb += port.eq(inner)
        with m.If(test.running):
            m.d.comb += [self.busy.eq(0), self.done.eq(0)]
        return m
