"""Numbers that change places where the exponent's bit is 1: those of `SWAPPED_BY_BIT`."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import Out

from coprime.program.assembler import Program

from .feature import Feature
from .step_control import StepControl


class SwapsByBit(Feature):
    """Whether the numbers of the step under way change places; on integers it is `Step.swapped`.

    Parameters
    ----------
    shares : sums are beside products

    Ports
    -----
    swaps : they change places
    by_bit : the step is one that does that, whatever the bit; only if sums are beside products
    """

    def __init__(self, *, shares: bool):
        self.shares = shares
        self._swaps = Signal(name="swaps")
        """Those of the step under way do, if the bit is 1."""

    @staticmethod
    def fields(program: Program) -> Mapping[str, int]:
        """Whether the step is one that does that."""
        return {"by_bit": 1} if program.swaps else {}

    def ports(self) -> Mapping[str, Any]:
        """Those above."""
        return {"swaps": Out(1), **({"by_bit": Out(1)} if self.shares else {})}

    def connect(self, m: Module, control: StepControl) -> None:
        """Show it."""
        swaps = self._swaps
        m.d.comb += control.ports.swaps.eq(swaps & control.scanner.bit)
        if self.shares:
            m.d.comb += control.ports.by_bit.eq(swaps)

    def at_fetch(self, m: Module, control: StepControl) -> None:
        """Keep it for the step that is taken."""
        m.d.sync += self._swaps.eq(control.fetched.by_bit)
