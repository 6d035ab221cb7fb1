"""Products modulo q = 3329 by two signed K-RED steps: shifts and adders.

Source: Longa, Naehrig (2016), algorithm 1. What differs: a step computes high - 13 low, so that two
steps give the sign back. 13 low is subtracted in halves of four bits, each a table of four inputs;
the sign of a low part is what it carries into the high one.
"""

from amaranth.hdl import Cat, Module, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.chains import add_table
from coprime.cells.target import Target
from coprime.model.lattice.arithmetic import LANE_BITS, PRODUCT_BITS, K, M

_HALF = 4
_FIRST_BITS = 19
"""Of the first step's result: at most 2^17 + 13 * 128."""
_LOWER = [-K * half for half in range(1 << _HALF)]
_UPPER = [-K * (half - (half >> _HALF - 1 << _HALF) << _HALF) for half in range(1 << _HALF)]
"""What the two halves of the low part add; the upper one is signed."""


class Reduction(wiring.Component):
    """`reduced` is 169 t modulo 3329, in [-2183, 2183], two cycles later.

    Members
    -------
    t (signed 26 bits, in): every value is allowed
    clear (1 bit, in): `reduced` is 0 in the next cycle
    reduced (signed 13 bits, out)
    """

    LATENCY = 2

    def __init__(self, target: Target = Target.GENERIC) -> None:
        self.target = target
        super().__init__(
            {
                "t": In(signed(PRODUCT_BITS)),
                "clear": In(1),
                "reduced": Out(signed(LANE_BITS)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Two steps, a register after each."""
        m = Module()
        first = self._step(m, self.t, _FIRST_BITS, "first")
        second = self._step(m, first, LANE_BITS, "second")
        with m.If(self.clear):
            m.d.sync += second.eq(0)
        m.d.comb += self.reduced.eq(second)
        return m

    def _step(self, m: Module, t: Value, bits: int, name: str) -> Signal:
        low, high, rest = t[:_HALF], t[_HALF:M], t[M:]
        rest = Cat(rest, rest[-1].replicate(bits))[:bits]
        found = Signal(signed(bits), name=name)
        lower = add_table(m, rest, _LOWER, low, self.target, carry=high[-1])
        m.d.sync += found.eq(add_table(m, lower, _UPPER, high, self.target))
        return found
