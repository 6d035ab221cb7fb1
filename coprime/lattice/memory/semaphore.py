"""How often one side has done what the other one waits for."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

HIGHEST = 3


class Semaphore(wiring.Component):
    """A count from 0 to 3.

    Members
    -------
    post (1 bit, in): counts up; not at 3
    take (1 bit, in): counts down; only while `available` is 1
    available (1 bit, out): the count is not 0: from the cycle after `post`
    clear (1 bit, in): the count becomes 0
    """

    def __init__(self) -> None:
        super().__init__({**dict.fromkeys(("post", "take", "clear"), In(1)), "available": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Count."""
        m = Module()
        count = Signal(range(HIGHEST + 1))
        m.d.comb += self.available.eq(count != 0)
        with m.If(self.post & ~self.take):
            m.d.sync += count.eq(count + 1)
        with m.If(self.take & ~self.post):
            m.d.sync += count.eq(count - 1)
        with m.If(self.clear):
            m.d.sync += count.eq(0)
        return m
