"""A UART: bytes as 8N1 frames, a start bit, 8 bits from the least significant, a stop bit.

A bit lasts `divisor` clock cycles, in steps of an eighth: bits of 8 and of 9 cycles alternate as
that requires.
"""

from fractions import Fraction

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

_FRAME = 10
_BREAK = 16
_PARTS = 8  # of a clock cycle, in which times are counted
_TOLERANCE = Fraction(1, 100)


def divisor_of(clock: int, baud: int) -> Fraction:
    """Clock cycles of a bit, rounded to eighths.

    Parameters
    ----------
    clock, baud (int): frequency of the clock in Hz; bits per second

    Raises ValueError if a bit has fewer than 4 cycles, or is rounded by more than 1%.
    """
    exact = Fraction(clock, baud)
    divisor = Fraction(round(exact * _PARTS), _PARTS)
    if divisor < Receiver.SHORTEST:
        raise ValueError(
            f"baud must be at most {clock // Receiver.SHORTEST} with a clock of {clock} Hz,"
            f" not {baud}"
        )
    if abs(divisor - exact) > _TOLERANCE * exact:
        raise ValueError(f"{baud} baud cannot be made from a clock of {clock} Hz")
    return divisor


def _parts(divisor: int | Fraction, least: int) -> int:
    """Return the divisor in eighths of a cycle."""
    if not isinstance(divisor, (int, Fraction)):
        raise TypeError(f"divisor must be an int or a Fraction, not {divisor!r}")
    if divisor < least:
        raise ValueError(f"divisor must be at least {least}, not {divisor}")
    if (divisor * _PARTS).denominator != 1:
        raise ValueError(f"divisor must be a multiple of 1/{_PARTS}, not {divisor}")
    return int(divisor * _PARTS)


class Transmitter(wiring.Component):
    """Send bytes over one wire. A frame takes 10 * divisor cycles, and the next one may follow.

    Parameters
    ----------
    divisor (int or Fraction): clock cycles of a bit: at least 2, a multiple of 1/8

    Members
    -------
    data (8 bits, in)
    send (1 bit, in): takes `data` in a cycle in which `busy` is 0; without effect in others
    busy (1 bit, out)
    tx (1 bit, out): the wire, 1 at rest. From a register.

    Raises TypeError or ValueError for another divisor.
    """

    def __init__(self, divisor: int | Fraction):
        self.divisor = divisor
        self._bit = _parts(divisor, 2)
        super().__init__({"data": In(8), "send": In(1), "busy": Out(1), "tx": Out(1, init=1)})

    def elaborate(self, platform: object) -> Module:
        """Shift a frame out, one bit every `divisor` cycles."""
        m = Module()
        rest = Signal(_FRAME - 1, init=-1)  # what follows the bit on the wire
        left = Signal(range(_FRAME + 1))
        count = Signal(range(self._bit))
        m.d.comb += self.busy.eq(left != 0)
        with m.If(self.busy):
            m.d.sync += count.eq(_next_count(count, self._bit))
            with m.If(count < _PARTS):
                m.d.sync += [left.eq(left - 1), Cat(self.tx, rest).eq(Cat(rest, Const(1, 1)))]
        with m.Elif(self.send):
            m.d.sync += [
                Cat(self.tx, rest).eq(Cat(Const(0, 1), self.data, Const(1, 1))),
                left.eq(_FRAME),
                count.eq(self._bit - _PARTS),
            ]
        return m


class Receiver(wiring.Component):
    """Receive bytes from one wire. Each bit is sampled once, in its middle.

    A start bit that is over before its middle is ignored. After a frame whose stop bit is 0, the
    wire must be 1 once before another one begins.

    Parameters
    ----------
    divisor (int or Fraction): clock cycles of a bit: at least 4, a multiple of 1/8

    Members
    -------
    rx (1 bit, in): the wire, 1 at rest; from any clock
    data (8 bits, out): with `valid`
    valid (1 bit, out): for one cycle: a byte has been received
    broken (1 bit, out): for one cycle: a stop bit was 0
    pause (1 bit, out): for one cycle: the wire has been 0 for 16 bits more. The sender holds it, a
        break: with fewer, a stop bit that was disturbed before a byte of zeros would be one.

    Raises TypeError or ValueError for another divisor.
    """

    SHORTEST = 4  # the least divisor

    def __init__(self, divisor: int | Fraction):
        self.divisor = divisor
        self._bit = _parts(divisor, self.SHORTEST)
        super().__init__(
            {"rx": In(1), "data": Out(8), "valid": Out(1), "broken": Out(1), "pause": Out(1)}
        )

    def elaborate(self, platform: object) -> Module:
        """Sample the wire half a bit after the edge, and then every `divisor` cycles."""
        m = Module()
        wire = Signal(init=1)
        m.submodules.synchronizer = FFSynchronizer(self.rx, wire, init=1)
        count = Signal(range(self._bit))
        left = Signal(range(_BREAK))  # bits that follow the one under way
        with m.FSM():
            with m.State("REST"):
                m.d.sync += [count.eq(self._bit // 2 - _PARTS), left.eq(_FRAME - 1)]
                with m.If(~wire):
                    m.next = "FRAME"
            with m.State("FRAME"):
                m.d.sync += count.eq(_next_count(count, self._bit))
                with m.If(count < _PARTS):
                    m.d.sync += left.eq(left - 1)
                    with m.If((left == _FRAME - 1) & wire):
                        m.next = "REST"
                    with m.Elif(left == 0):
                        m.d.comb += [self.valid.eq(wire), self.broken.eq(~wire)]
                        m.d.sync += left.eq(_BREAK - 1)
                        with m.If(wire):
                            m.next = "REST"
                        with m.Else():
                            m.next = "RECOVER"
                    with m.Else():
                        m.d.sync += self.data.eq(Cat(self.data[1:], wire))
            with m.State("RECOVER"):
                m.d.sync += count.eq(_next_count(count, self._bit))
                with m.If(wire):
                    m.next = "REST"
                with m.Elif(count < _PARTS):
                    m.d.sync += left.eq(left - 1)
                    with m.If(left == 0):
                        m.d.comb += self.pause.eq(1)
                        m.next = "BREAK"
            with m.State("BREAK"), m.If(wire):
                m.next = "REST"
        return m


def _next_count(count: Value, bit: int) -> Value:
    """Return what is left of a bit after a cycle, and of the next one if it ends: in eighths."""
    return count + Mux(count < _PARTS, bit - _PARTS, -_PARTS)
