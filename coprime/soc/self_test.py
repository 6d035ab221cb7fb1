"""A self-test on a board: the engine computes a stored operation, and LEDs show how it ended.

No computer is needed beside the board: operands and result lie in the bitstream. The key among them
is made from a seed that anyone can read here. It is a TEST KEY and protects nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from amaranth.hdl import ClockDomain, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.catalog import Choice
from coprime.cells.target import Target
from coprime.engine.contract import OPERAND_BITS, RESULT_LATENCY, Command, Error, Length, Operand
from coprime.engine.design import Design
from coprime.engine.precomputation import Radix, private_operation
from coprime.flow.board import Board, BoardResult, write_bitstream
from coprime.flow.verilog import to_verilog
from coprime.rsa import keys

__all__ = ["BoardTest", "KnownAnswer", "SelfTest", "build_board", "known_answer"]

_BLINK_BITS = 24  # a period of 0.7 s at 25 MHz


@dataclass(frozen=True)
class KnownAnswer:
    """An operation and its result.

    Parameters
    ----------
    command : Command
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
    design : Design
    bits : int
        Length of the modulus, 64 to the engine's maximum; 512, or that maximum if it is less, if
        not given. An engine with a fixed modulus has that one's length.
    seed : int
        Of the test key and of the ciphertext.

    Raises TypeError or ValueError for another length, ValueError for an engine that cannot
    exponentiate.
    """
    own = design.capabilities
    if own.fixed_modulus is not None:
        bits = own.fixed_modulus.bit_length()
        return _exponentiation(design, own.fixed_modulus, own.fixed_modulus // 3, 2)
    if bits is None:
        bits = min(512, own.max_length)
    if not isinstance(bits, int):
        raise TypeError(f"bits must be an int, not {bits!r}")
    if bits not in range(keys.MIN_BITS, own.max_length + 1):
        raise ValueError(f"bits must be in {keys.MIN_BITS}..{own.max_length}, not {bits}")
    key = keys.generate(bits, seed=seed)
    plain = pow(3, bits, key.n)  # a number of the modulus's length that is the same every time
    cipher = pow(plain, key.e, key.n)
    if Command.RSA_PRIVATE not in own.required:
        return _exponentiation(design, key.n, key.d, cipher)
    operands, lengths = private_operation(own, key)
    return _complete(design, Command.RSA_PRIVATE, {**operands, Operand.X: cipher}, lengths, plain)


def _exponentiation(design: Design, m: int, e: int, x: int) -> KnownAnswer:
    own = design.capabilities
    if Command.MODEXP not in own.required:
        raise ValueError(f"{own.family} has neither RSA_PRIVATE nor MODEXP to test it with")
    operands = {**Radix.of(own).modulus_operands(m, m.bit_length()), Operand.X: x, Operand.E: e}
    lengths = {Length.MODULUS: m.bit_length(), Length.EXPONENT: e.bit_length()}
    return _complete(design, Command.MODEXP, operands, lengths, pow(x, e, m))


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
    """An engine that starts with a stored operation after reset, and what judges its result.

    Each operand goes from a read-only memory into the engine, digit by digit; the command starts;
    the result is compared with the stored one, digit by digit. The test fails at the first digit
    that differs, and if the engine ends with an error or is still busy after the cycles that the
    operation may take. It ends in any case, and stays as it ended until the next reset.

    Parameters
    ----------
    design : Design
    answer : KnownAnswer
    target : Target

    Members
    -------
    running, passed, failed : 1 bit each, out
        One of them is 1.
    """

    def __init__(self, design: Design, answer: KnownAnswer, *, target: Target = Target.GENERIC):
        self.design = design
        self.answer = answer
        self.target = Target(target)
        super().__init__({"running": Out(1), "passed": Out(1), "failed": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Connect engine and memory by a state machine that does one thing in each state."""
        m = Module()
        own, answer = self.design.capabilities, self.answer
        m.submodules.engine = engine = self.design.hardware(self.target)
        words = self._words()
        layout = data.StructLayout(
            {"digit": own.digit_width, "index": own.count_bits, "operand": OPERAND_BITS, "last": 1}
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
            engine.operand.eq(word.operand),
            engine.index.eq(word.index),
            engine.digit.eq(word.digit),
            engine.command.eq(answer.command),
            self.running.eq(~self.passed & ~self.failed),
        ]
        with m.FSM():
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
                    m.next = "FAILED"
            with m.State("LOOK"):
                m.d.sync += waited.eq(waited + 1)
                with m.If(waited == RESULT_LATENCY - 1):
                    m.next = "COMPARE"
            with m.State("COMPARE"):
                m.d.sync += [address.eq(address + 1), waited.eq(0)]
                with m.If(engine.result_digit != word.digit):
                    m.next = "FAILED"
                with m.Elif(word.last):
                    m.next = "PASSED"
                with m.Else():
                    m.next = "FETCH"
            with m.State("PASSED"):
                m.d.comb += self.passed.eq(1)
            with m.State("FAILED"):
                m.d.comb += self.failed.eq(1)
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


class BoardTest(wiring.Component):
    """A self-test with a board's clock, button and LEDs.

    It starts when the bitstream is loaded, and again when the button is released. Clock domain
    `sync` is its own, from the pin `clk`.

    Parameters
    ----------
    test : SelfTest

    Members
    -------
    clk : 1 bit, in
    button : 1 bit, in
        1 while it is pressed; from any clock.
    led : 8 bits, out
        led[0] running, led[1] passed, led[2] failed, led[7] blinks while there is a clock.
    """

    def __init__(self, test: SelfTest):
        self.test = test
        super().__init__({"clk": In(1), "button": In(1), "led": Out(8)})

    def elaborate(self, platform: object) -> Module:
        """Hold the reset for some cycles after configuration, and while the button is pressed."""
        m = Module()
        m.domains.sync = sync = ClockDomain()
        m.submodules.test = test = self.test
        pressed = Signal()
        m.submodules.synchronizer = FFSynchronizer(self.button, pressed)
        # Registers start in step only once the clock has run for a while.
        configured = Signal(4, reset_less=True)
        reset = Signal(init=1, reset_less=True)
        blink = Signal(_BLINK_BITS, reset_less=True)
        m.d.sync += [
            configured.eq(configured + ~configured.all()),
            reset.eq(~configured.all() | pressed),
            blink.eq(blink + 1),
        ]
        m.d.comb += [
            sync.clk.eq(self.clk),
            sync.rst.eq(reset),
            self.led[0].eq(test.running),
            self.led[1].eq(test.passed),
            self.led[2].eq(test.failed),
            self.led[7].eq(blink[-1]),
        ]
        return m


def build_board(
    choice: Choice, board: Board, folder: Path, *, bits: int | None = None
) -> BoardResult:
    """Write the bitstream of a self-test of an engine on a board into `folder`.

    `folder` is made if need be, and gets the bitstream, its Verilog and its constraints; `bits` is
    the length of the modulus, as `known_answer` takes it.

    Raises ValueError for a length out of range or a choice that takes random bytes, ToolError if a
    tool fails, the design does not fit or is too slow for the board's clock, OSError if the files
    cannot be written.
    """
    design = choice.design
    if design.capabilities.draws:
        raise ValueError("the self-test has no source of random bytes for blinding")
    answer = known_answer(design, bits)
    name = f"{choice.module_name}_self_test"
    test = BoardTest(SelfTest(design, answer, target=Target.ECP5))
    header = (
        f"{name}: {choice.family.name} computes a stored {answer.command.name} on {board.title}\n"
        "The key in here is a TEST KEY, made from a seed that is public.\n"
        "led[0] running, led[1] passed, led[2] failed, led[7] blinks; the button starts anew."
    )
    return write_bitstream(to_verilog(test, name, header=header), name, board, folder)
