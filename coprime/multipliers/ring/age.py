"""A counter of cycles since an event, in `ring`."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class Age(wiring.Component):
    """Counts the cycles since `restart`, up to a limit.

    Members
    -------
    restart : the next cycle is cycle 0
    reached : the cycle is `limit`, or a later one
    """

    def __init__(self, limit: int):
        self.limit = limit
        super().__init__({"restart": In(1), "reached": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Build a counter that stops at the limit."""
        m = Module()
        age = Signal(range(self.limit + 1))
        m.d.comb += self.reached.eq(age == self.limit)
        with m.If(self.restart):
            m.d.sync += age.eq(0)
        with m.Elif(~self.reached):
            m.d.sync += age.eq(age + 1)
        return m
