"""The counter of loops, of which there is one: no loop is within another one."""

from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.model.scalar_blinding import random_bits
from coprime.program.assembler import Program
from coprime.program.steps import Step

from ..contract import Capabilities
from .feature import Feature
from .next_rules import Effect
from .step_control import StepControl


class LoopCounter(wiring.Component, Feature):
    """Counts how often a loop's steps have been executed.

    Members
    -------
    busy : else it is 0
    fetches : a step begins; `last` is valid from the next cycle on
    times : of the loop that ends with the step under way
    advance : its steps have been executed once more
    count : how often they have been, before this time: 0 to times - 1
    last : this is the last time; with `advance` the count becomes 0
    """

    def __init__(self, program: Program, capabilities: Capabilities):
        self.blinds_scalars = program.blinds_scalars
        longest = program.longest_loop
        if self.blinds_scalars:
            longest = max(longest, random_bits(capabilities.max_prime_length))
        super().__init__(
            {
                "busy": In(1),
                "fetches": In(1),
                "times": In(bits_for(longest)),
                "advance": In(1),
                "count": Out(range(longest)),
                "last": Out(1),
            }
        )

    def at_fetch(self, m: Module, control: StepControl) -> None:
        """Look whether it is the loop's last time."""
        m.d.comb += self.fetches.eq(1)

    @staticmethod
    def fields(program: Program) -> Mapping[str, int]:
        """How often the loop that ends with a step is executed."""
        return {"times": bits_for(program.longest_loop)} if program.longest_loop else {}

    def conditions(self) -> Mapping[str, Value]:
        """The end of a loop."""
        return {"last_loop": self.last}

    def connect(self, m: Module, control: StepControl) -> None:
        """A rule LOOP advances it; 0 times are as many as a scalar is blinded with random bits."""
        m.submodules.loop_counter = self
        ports = control.ports
        m.d.comb += [
            self.busy.eq(ports.busy),
            self.times.eq(control.fetched.times),
            self.advance.eq(control.effects[Effect.LOOP]),
        ]
        if self.blinds_scalars:
            bits = random_bits(ports.lengths.q)
            times = control.fetched.times
            m.d.comb += self.times.eq(Mux(times == 0, bits, times))

    def elaborate(self, platform: object) -> Module:
        """One register."""
        m = Module()
        count = Signal.like(self.count)
        m.d.comb += self.count.eq(count)
        with m.If(self.fetches):
            m.d.sync += self.last.eq(count == self.times - 1)
        with m.If(self.advance):
            m.d.sync += count.eq(Mux(self.last, 0, count + 1))
        with m.If(~self.busy):
            m.d.sync += count.eq(0)
        return m


@dataclass
class LoopModel:
    """The same on integers.

    Parameters
    ----------
    order_length : bits of Q
    """

    order_length: int
    count: int = 0

    def times(self, step: Step) -> int:
        """How often a LOOP executes its steps."""
        return step.times or int(random_bits(self.order_length))

    def advance(self, step: Step) -> None:
        """Its steps have been executed once more."""
        self.count = (self.count + 1) % self.times(step)

    def is_last(self, step: Step) -> int:
        """Whether this was the last time."""
        return int(self.count == self.times(step) - 1)
