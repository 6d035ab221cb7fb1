"""The status of commands and refusals for software."""

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.bus.port import WORD_BITS
from coprime.engine.contract import ERROR_BITS, Error


class Refusal(wiring.Component):
    """ERROR.REFUSAL: the first reason for a refusal since it was cleared.

    Parameters
    ----------
    highest: of the codes that there may be

    Members
    -------
    refused: the reason of a refusal in this cycle, or NONE
    clear: clears an earlier refusal, not one in this cycle, so that none is lost
    code: the first reason
    """

    def __init__(self, highest: Error = Error.ADDRESS) -> None:
        bits = highest.bit_length()
        super().__init__({"refused": In(bits), "clear": In(1), "code": Out(bits)})

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        with m.If(self.clear):
            m.d.sync += self.code.eq(Error.NONE)
        with m.If((self.refused != Error.NONE) & (self.clear | (self.code == Error.NONE))):
            m.d.sync += self.code.eq(self.refused)
        return m


class CommandStatus(wiring.Component):
    """The status of a command: whether it is running, how it ended, and its cycles.

    Parameters
    ----------
    byte_bits: width of the length of a result
    multipliers: of the engine

    Members
    -------
    start: a command begins
    end, end_error: a command ends, with this error
    running, multiplying: the engine works, with this number of multipliers busy
    succeed, result_bytes: there is a result of this many bytes
    clear_error, clear_interrupt: software clears these
    busy: from the cycle after `start` to that of `end`
    error, interrupt: of the last command, until they are cleared
    cycles, products: cycles in which the engine worked, and the sum of `multiplying`
    output_length: bytes of the result, 0 if there is none
    """

    def __init__(self, byte_bits: int, multipliers: int):
        ports = {
            **dict.fromkeys(("start", "end"), In(1)),
            "end_error": In(ERROR_BITS),
            "running": In(1),
            "multiplying": In(bits_for(multipliers)),
            "succeed": In(1),
            "result_bytes": In(byte_bits),
            **dict.fromkeys(("clear_error", "clear_interrupt"), In(1)),
            "busy": Out(1),
            "error": Out(ERROR_BITS),
            "interrupt": Out(1),
            **dict.fromkeys(("cycles", "products"), Out(WORD_BITS)),
            "output_length": Out(byte_bits),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        with m.If(self.clear_error):
            m.d.sync += self.error.eq(Error.NONE)
        with m.If(self.clear_interrupt):
            m.d.sync += self.interrupt.eq(0)
        with m.If(self.running):
            m.d.sync += [
                self.cycles.eq(self.cycles + 1),
                self.products.eq(self.products + self.multiplying),
            ]
        with m.If(self.succeed):
            m.d.sync += self.output_length.eq(self.result_bytes)
        with m.If(self.start):
            m.d.sync += [
                self.busy.eq(1),
                self.cycles.eq(0),
                self.products.eq(0),
                self.output_length.eq(0),
            ]
        with m.If(self.end):
            m.d.sync += [self.error.eq(self.end_error), self.interrupt.eq(1), self.busy.eq(0)]
        return m
