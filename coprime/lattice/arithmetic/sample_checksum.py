"""Whether samples are the same when they are sampled, and read, a second time."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.chains import place_sum
from coprime.cells.target import Target
from coprime.model.lattice.large_arithmetic import NUMBER_BITS


class SampleChecksum(wiring.Component):
    """A sum modulo 2^24 of what is added less what is subtracted, in any order.

    Parameters
    ----------
    target (Target): on XC7 the adder takes a LUT a bit

    Members
    -------
    clear (1 bit, in): the sum becomes 0
    number (24 bits, in), counts (1 bit, in), subtract (1 bit, in)
    cancels (1 bit, out): the sum is 0
    """

    def __init__(self, target: Target = Target.GENERIC) -> None:
        self.target = target
        super().__init__(
            {
                **dict.fromkeys(("clear", "counts", "subtract"), In(1)),
                "number": In(NUMBER_BITS),
                "cancels": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """One adder."""
        m = Module()
        total = Signal(NUMBER_BITS)
        m.d.comb += self.cancels.eq(total == 0)
        with m.If(self.counts):
            m.d.sync += total.eq(self._sum(m, total))
        with m.If(self.clear):
            m.d.sync += total.eq(0)
        return m

    def _sum(self, m: Module, total: Signal) -> Value:
        subtract, number = self.subtract, self.number
        if self.target is not Target.XC7:
            return total + Mux(subtract, ~number, number) + subtract

        def term(_: int, bit: int, subtract: int) -> bool:
            return bit != subtract

        return place_sum(m, total, term, number, [subtract] * NUMBER_BITS, carry=subtract)
