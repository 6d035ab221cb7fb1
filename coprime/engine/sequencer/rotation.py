"""Locations that change places, so that a product never overwrites its own factor."""

from collections.abc import Mapping

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.program.operands import Core, Mode, Reference

from .feature import Feature
from .step_control import StepControl

TRIO = (Core.ACCUMULATOR, Core.SPARE, Core.BASE)
WRITES: Mapping[Reference, Core] = {Mode.NEXT: Core.ACCUMULATOR, Mode.NEXT_BASE: Core.BASE}
"""What a step that writes SPARE by such a mode has written: SPARE becomes that after the step."""


class Rotation(wiring.Component, Feature):
    """Which of two or three locations is ACCUMULATOR, SPARE and BASE.

    On integers it is `WRITES`: nothing is moved in either.

    Parameters
    ----------
    numbers : mapping of Reference to int
    three : bool
        BASE changes places with SPARE, too.

    Members
    -------
    written, destination : a product has been written there
    parity : ACCUMULATOR and SPARE have changed places; only of two locations
    """

    def __init__(self, numbers: Mapping[Reference, int], *, three: bool):
        self.numbers = numbers
        self.places = (
            {
                location: Signal(
                    2,
                    init=numbers[location] - numbers[Core.ACCUMULATOR],
                    name=location.name.lower(),
                )
                for location in TRIO
            }
            if three
            else None
        )
        """Which location each of three is; None if only two of them change places."""
        number = bits_for(max(numbers.values()))
        super().__init__({"written": In(1), "destination": In(number), "parity": Out(1)})

    def connect(self, m: Module, control: StepControl) -> None:
        """It follows the multiplier; the lane sees `parity`."""
        m.submodules.rotation = self
        m.d.comb += [
            self.written.eq(control.written),
            self.destination.eq(control.step.destination),
            control.ports.parity.eq(self.parity),
        ]

    def elaborate(self, platform: object) -> Module:
        """A bit for two, two bits for each of three."""
        m = Module()
        if self.places is None:
            with m.If(self.written & (self.destination == self.numbers[Mode.NEXT])):
                m.d.sync += self.parity.eq(~self.parity)
            return m
        spare = self.places[Core.SPARE]
        for mode, location in WRITES.items():
            with m.If(self.written & (self.destination == self.numbers[mode])):
                m.d.sync += [self.places[location].eq(spare), spare.eq(self.places[location])]
        return m
