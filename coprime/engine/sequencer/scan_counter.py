"""The counter that a short exponent is loaded into."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.program.steps import COUNTER_BITS


class ScanCounter(wiring.Component):
    """An exponent that is counted down.

    Members
    -------
    busy : else it is 0: the exponent may be secret
    begin : becomes 0
    shift, bit : the exponent's next lower bit enters
    over, zero : with that bit it has more than COUNTER_BITS bits; it is zero
    count : decrements
    last : it is 1
    """

    def __init__(self) -> None:
        ports = ("busy", "begin", "shift", "bit", "count")
        super().__init__(
            {**dict.fromkeys(ports, In(1)), **dict.fromkeys(("over", "zero", "last"), Out(1))}
        )

    def elaborate(self, platform: object) -> Module:
        """One register."""
        m = Module()
        counter = Signal(COUNTER_BITS, reset_less=True)
        shifted = Cat(self.bit, counter)
        m.d.comb += [
            self.over.eq(shifted[-1]),
            self.zero.eq(~shifted.any()),
            self.last.eq(counter == 1),
        ]
        with m.If(~self.busy):
            m.d.sync += counter.eq(0)
        with m.If(self.count):
            m.d.sync += counter.eq(counter - 1)
        with m.If(self.begin):
            m.d.sync += counter.eq(0)
        with m.If(self.shift):
            m.d.sync += counter.eq(shifted)
        return m
