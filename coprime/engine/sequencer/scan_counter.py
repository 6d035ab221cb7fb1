"""The counter that a short exponent is loaded into; on integers it is `LaneModel.count`."""

from collections.abc import Mapping

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.program.steps import COUNTER_BITS

from .feature import Feature
from .next_rules import Effect
from .step_control import StepControl


class ScanCounter(wiring.Component, Feature):
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

    def conditions(self) -> Mapping[str, Value]:
        """The end of a COUNT_DOWN."""
        return {"last_count": self.last}

    def connect(self, m: Module, control: StepControl) -> None:
        """It takes the scanner's bits, and a rule COUNT_DOWN decrements it."""
        m.submodules.counter = self
        m.d.comb += [
            self.busy.eq(control.ports.busy),
            self.begin.eq(control.scanner.begin),
            self.bit.eq(control.scanner.bit),
            self.count.eq(control.effects[Effect.COUNT]),
        ]

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
