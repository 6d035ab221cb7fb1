"""A UART's transmitter: bytes become 8N1 frames, a start bit, 8 bits from the least, a stop bit."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Transmitter"]

_FRAME = 10


class Transmitter(wiring.Component):
    """Send bytes over one wire. A frame takes 10 * divisor cycles, and the next one may follow.

    Parameters
    ----------
    divisor : int
        Clock cycles of a bit: at least 2.

    Members
    -------
    data : 8 bits, in
    send : 1 bit, in
        Takes `data` in a cycle in which `busy` is 0; without effect in others.
    busy : 1 bit, out
    tx : 1 bit, out
        The wire, 1 at rest. From a register.

    Raises TypeError or ValueError for another divisor.
    """

    def __init__(self, divisor: int):
        if not isinstance(divisor, int):
            raise TypeError(f"divisor must be an int, not {divisor!r}")
        if divisor < 2:
            raise ValueError(f"divisor must be at least 2, not {divisor}")
        self.divisor = divisor
        super().__init__({"data": In(8), "send": In(1), "busy": Out(1), "tx": Out(1, init=1)})

    def elaborate(self, platform: object) -> Module:
        """Shift a frame out, one bit every `divisor` cycles."""
        m = Module()
        rest = Signal(_FRAME - 1, init=-1)  # what follows the bit on the wire
        left = Signal(range(_FRAME + 1))
        count = Signal(range(self.divisor))
        m.d.comb += self.busy.eq(left != 0)
        with m.If(self.busy):
            m.d.sync += count.eq(count - 1)
            with m.If(count == 0):
                m.d.sync += [
                    count.eq(self.divisor - 1),
                    left.eq(left - 1),
                    Cat(self.tx, rest).eq(Cat(rest, Const(1, 1))),
                ]
        with m.Elif(self.send):
            m.d.sync += [
                Cat(self.tx, rest).eq(Cat(Const(0, 1), self.data, Const(1, 1))),
                left.eq(_FRAME),
                count.eq(self.divisor - 1),
            ]
        return m
