"""Numbers that change places where the exponent's bit is 1: those of `SWAPPED_BY_BIT`."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Const, Module, Signal
from amaranth.lib.wiring import Out

from coprime.program.assembler import Program

from .feature import Feature
from .step_control import StepControl


class SwapsByBit(Feature):
    """Whether the numbers of the step under way change places; on integers it is `Step.swapped`.

    Parameters
    ----------
    late : the exponent's bit comes a cycle later, in the one after FETCH
    shares : sums are beside products

    Ports
    -----
    swaps : they change places
    by_bit : the step is one that does that, whatever the bit; only if sums are beside products
    """

    def __init__(self, *, late: bool, shares: bool):
        self.late, self.shares = late, shares
        self._swaps = Signal(name="swaps")
        """Of the step under way; of a bit that comes late, if that is 1."""

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
        m.d.comb += control.ports.swaps.eq(swaps & control.scanner.bit if self.late else swaps)
        if self.shares:
            m.d.comb += control.ports.by_bit.eq(swaps)

    def at_fetch(self, m: Module, control: StepControl) -> None:
        """Keep it for the step that is taken."""
        bit_there = Const(1) if self.late else control.scanner.bit
        m.d.sync += self._swaps.eq(control.fetched.by_bit & bit_there)
