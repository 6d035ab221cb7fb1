"""How often one side has done what the other one waits for."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

HIGHEST = 3


class Semaphore(wiring.Component):
    """A count from 0 to `highest`, which is 3 unless given.

    Members
    -------
    post (1 bit, in): counts up; not at the highest
    take (1 bit, in): counts down; only while `available` is 1
    available (1 bit, out): the count is not 0: from the cycle after `post`
    clear (1 bit, in): the count becomes 0
    """

    def __init__(self, highest: int = HIGHEST):
        self.highest = highest
        super().__init__({**dict.fromkeys(("post", "take", "clear"), In(1)), "available": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Count."""
        m = Module()
        count = Signal(range(self.highest + 1))
        m.d.comb += self.available.eq(count != 0)
        with m.If(self.post & ~self.take):
            m.d.sync += count.eq(count + 1)
        with m.If(self.take & ~self.post):
            m.d.sync += count.eq(count - 1)
        with m.If(self.clear):
            m.d.sync += count.eq(0)
        return m
