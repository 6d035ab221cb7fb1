"""The engine for one modulus: all operands in registers, around an exponentiator.

Source: COMPRESSION (Vassoler 2023), section 4.2.1, figures 16 and 17. A product takes one cycle, so
that to read operands from a memory would cost several times as much.
"""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.wires import same_named
from coprime.engine.contract import (
    ERROR_BITS,
    RESULT_LATENCY,
    Capabilities,
    EngineSignature,
    Error,
    Operand,
)
from coprime.multipliers.delays import past_value
from coprime.operations.operation import among
from coprime.program.steps import COUNTER_BITS

from .exponentiators import register_exponentiator
from .register_exponentiation import RegisterExponentiation


class FixedOperands(wiring.Component):
    """Y and E; and whether the digits of M that were written are those of the modulus.

    Parameters
    ----------
    modulus, digit_width, digits, operand_bits : int
        The modulus; bits of a digit; digits of each operand; bits of an operand's number.

    Members
    -------
    write : `operand`'s digit `index` becomes `digit`
    wipe : clears all
    exponent_digits : digits of E; those above are of an exponent before
    y, exponent, modulus_matches
    """

    def __init__(self, modulus: int, digit_width: int, digits: int, operand_bits: int):
        self.modulus, self.digit_width, self.digits = modulus, digit_width, digits
        held, count_bits = digits * digit_width, bits_for(digits + 1)
        self.e = Signal(held, reset_less=True)
        self.matches = Signal(digits)
        ports = {
            "write": In(1),
            "operand": In(operand_bits),
            "index": In(count_bits),
            "digit": In(digit_width),
            "wipe": In(1),
            "exponent_digits": In(count_bits),
            **dict.fromkeys(("y", "exponent"), Out(held)),
            "modulus_matches": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """A register for each; of M a bit for each digit."""
        m = Module()
        width = self.digit_width
        y = Signal(len(self.y), reset_less=True)
        for k in range(self.digits):
            place = slice(width * k, width * (k + 1))
            right = self.modulus >> width * k & (1 << width) - 1
            with m.If(self.write & (self.index == k)), m.Switch(self.operand):
                with m.Case(Operand.Y):
                    m.d.sync += y[place].eq(self.digit)
                with m.Case(Operand.E):
                    m.d.sync += self.e[place].eq(self.digit)
                with m.Case(Operand.M):
                    m.d.sync += self.matches[k].eq(self.digit == right)
            counts = (self.exponent_digits > k).replicate(width)
            m.d.comb += self.exponent[place].eq(self.e[place] & counts)
        with m.If(self.wipe):
            m.d.sync += [y.eq(0), self.e.eq(0), self.matches.eq(0)]
        m.d.comb += [self.y.eq(y), self.modulus_matches.eq(self.matches.all())]
        return m


class FixedModulusEngine(wiring.Component):
    """The engine of `engine/contract.py` for one modulus.

    X and the result are the exponentiator's registers. A command uses X up.

    ====== ===== =================================================================================
    cycles state what happens
    ====== ===== =================================================================================
    1      CHECK the lengths, the modulus, X < M, and Y < M for MODMUL
    ...    POWER the exponentiator works
    1      END   `done`
    ====== ===== =================================================================================
    """

    def __init__(self, capabilities: Capabilities, exponentiation: RegisterExponentiation):
        self.capabilities = capabilities
        self.exponentiation = exponentiation
        self.modulus = exponentiation.arithmetic.modulus
        self.operands = FixedOperands(
            self.modulus,
            capabilities.digit_width,
            capabilities.max_digits,
            capabilities.operand_bits,
        )
        self.exponentiator = register_exponentiator(
            exponentiation, capabilities.max_digits, capabilities.digit_width
        )
        super().__init__(EngineSignature(capabilities))

    def elaborate(self, platform: object) -> Module:
        """Operands in, result out, and the states."""
        m = Module()
        m.submodules.operands = operands = self.operands
        m.submodules.exponentiator = power = self.exponentiator
        width = self.capabilities.digit_width
        writes = self.write & ~self.busy
        m.d.comb += [
            operands.write.eq(writes),
            *same_named(operands, self, "operand", "index", "digit"),
            operands.exponent_digits.eq(self.counts.exponent),
            power.write.eq(writes & (self.operand == Operand.X)),
            power.index.eq(self.index),
            power.digit.eq(self.digit),
            power.single.eq(among(self.command, self.capabilities.products)),
            power.y.eq(operands.y),
            power.exponent.eq(operands.exponent),
            power.length.eq(self.lengths.exponent),
            self.multiplying.eq(power.multiplying),
        ]
        result = Cat(power.c[: self.modulus.bit_length()], Const(0, width))
        read = Signal(width)
        m.d.comb += read.eq(result.word_select(self.index, width))
        m.d.comb += self.result_digit.eq(past_value(m, "result", read, RESULT_LATENCY))
        self._add_states(m, self._error(m))
        return m

    def _error(self, m: Module) -> Signal:
        """Why a command is refused; valid in the state CHECK."""
        capabilities, operands, power = self.capabilities, self.operands, self.exponentiator
        error = Signal(ERROR_BITS)
        single = power.single
        with m.If(self.counts.modulus < capabilities.max_digits):
            m.d.comb += error.eq(Error.LENGTH_ZERO)
        with m.Elif(self.counts.modulus > capabilities.max_digits):
            m.d.comb += error.eq(Error.LENGTH_OVER)
        with m.Elif(~single & (self.counts.exponent == 0)):
            m.d.comb += error.eq(Error.EXPONENT_LENGTH)
        with m.Elif(~single & (self.counts.exponent > capabilities.max_digits)):
            m.d.comb += error.eq(Error.LENGTH_OVER)
        if self.exponentiation.counts_exponent:
            with m.Elif(~single & power.exponent[COUNTER_BITS:].any()):
                m.d.comb += error.eq(Error.EXPONENT_LENGTH)
        with m.Elif(~operands.modulus_matches):
            m.d.comb += error.eq(Error.MODULUS_FIXED)
        with m.Elif((power.x >= self.modulus) | (single & (operands.y >= self.modulus))):
            m.d.comb += error.eq(Error.OPERAND_RANGE)
        return error

    def _add_states(self, m: Module, error: Signal) -> None:
        """The table's states, and IDLE and WIPE."""
        operands, power = self.operands, self.exponentiator
        wipe_cycles = self.exponentiation.wipe_cycles
        wiped = Signal(range(wipe_cycles))
        m.d.comb += self.busy.eq(1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                with m.If(self.start):
                    m.d.sync += self.error.eq(Error.NONE)
                    with m.Switch(self.command):
                        with m.Case(*self.capabilities.required):
                            m.next = "CHECK"
                        with m.Case(*self.capabilities.wipes):
                            m.next = "WIPE"
                        with m.Default():
                            m.d.sync += self.error.eq(Error.UNSUPPORTED)
                            m.next = "END"
            with m.State("CHECK"):
                m.d.sync += self.error.eq(error)
                m.next = "END"
                with m.If(error == Error.NONE):
                    m.d.comb += power.start.eq(1)
                    m.next = "POWER"
            with m.State("POWER"), m.If(power.done):
                m.next = "END"
            with m.State("WIPE"):
                m.d.comb += [power.wipe.eq(1), operands.wipe.eq(1)]
                m.d.sync += wiped.eq(wiped + 1)
                with m.If(wiped == wipe_cycles - 1):
                    m.d.sync += wiped.eq(0)
                    m.next = "END"
            with m.State("END"):
                m.d.comb += self.done.eq(1)
                m.next = "IDLE"
