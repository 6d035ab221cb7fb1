"""The counter of loops, of which there is one: no loop is within another one."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for


class LoopCounter(wiring.Component):
    """Counts how often a loop's steps have been executed.

    Parameters
    ----------
    longest : times that a loop executes its steps, at most; 2 or more

    Members
    -------
    busy : else it is 0
    times : of the loop that ends with the step under way
    advance : its steps have been executed once more
    count : how often they have been, before this time: 0 to times - 1
    last : this was the last time, and the count becomes 0
    """

    def __init__(self, longest: int):
        super().__init__(
            {
                "busy": In(1),
                "times": In(bits_for(longest)),
                "advance": In(1),
                "count": Out(range(longest)),
                "last": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """One register."""
        m = Module()
        count = Signal.like(self.count)
        m.d.comb += [self.count.eq(count), self.last.eq(count == self.times - 1)]
        with m.If(self.advance):
            m.d.sync += count.eq(Mux(self.last, 0, count + 1))
        with m.If(~self.busy):
            m.d.sync += count.eq(0)
        return m
