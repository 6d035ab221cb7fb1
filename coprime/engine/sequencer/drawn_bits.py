"""Bits of a random digit that decide sums; of integers see `linear_steps`."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Module
from amaranth.lib.wiring import In, Out

from coprime.program.steps import drawn_bits

from .feature import Feature
from .loop_counter import LoopCounter
from .step_control import StepControl


class DrawnBits(Feature):
    """The bit of a random digit that decides about an ADD_IF_DRAWN: the loop's count selects it.

    Ports
    -----
    draws, drawn : request for a random digit before an ADD_IF_DRAWN; it is available
    drawn_bit : which of the digit's bits decides
    spends : the last bit of the digit is used
    """

    def __init__(self, loop: LoopCounter, digit_width: int):
        self.loop, self.bits = loop, drawn_bits(digit_width)

    def ports(self) -> Mapping[str, Any]:
        """Those above."""
        return {
            "draws": Out(1),
            "drawn": In(1),
            "drawn_bit": Out(range(self.bits)),
            "spends": Out(1),
        }

    def connect(self, m: Module, control: StepControl) -> None:
        """The steps of a loop use the digit's bits up."""
        ports, loop = control.ports, self.loop
        m.d.comb += [
            ports.drawn_bit.eq(loop.count),
            ports.spends.eq(loop.advance & (ports.drawn_bit.all() | loop.last)),
        ]
