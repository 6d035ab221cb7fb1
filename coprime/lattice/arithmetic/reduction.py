"""Products modulo q = 3329 by two signed K-RED steps: shifts and adders.

Source: Longa, Naehrig (2016), algorithm 1. What differs: a step computes high - 13 low, so that two
steps give the sign back. 13 low is subtracted in halves of four bits, each a table of four inputs;
the upper one also has what a signed low part carries into the high one.
"""

from amaranth.hdl import Module, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.model.lattice.arithmetic import LANE_BITS, PRODUCT_BITS, K, M

_HALF = 4
_FIRST_BITS = 19
"""Of the first step's result: at most 2^17 + 13 * 128."""
_TABLE_BITS = 13


def _upper(half: int) -> int:
    """What is added for the low part's upper half: -13 * 16 times it, signed, and its carry."""
    carry = half >> _HALF - 1
    return -K * (half - (carry << _HALF) << _HALF) + carry


def _step(m: Module, t: Value, bits: int, name: str) -> Signal:
    low, high = t[:_HALF], t[_HALF:M]
    table = look_up([_upper(half) for half in range(1 << _HALF)], high, _TABLE_BITS)
    small = look_up([K * half for half in range(1 << _HALF)], low, 8)
    found = Signal(signed(bits), name=name)
    m.d.sync += found.eq((t[M:].as_signed() - small) + table.as_signed())
    return found


class Reduction(wiring.Component):
    """`reduced` is 169 t modulo 3329, in [-2183, 2183], two cycles later.

    Members
    -------
    t (signed 26 bits, in): every value is allowed
    reduced (signed 13 bits, out)
    """

    LATENCY = 2

    def __init__(self) -> None:
        super().__init__({"t": In(signed(PRODUCT_BITS)), "reduced": Out(signed(LANE_BITS))})

    def elaborate(self, platform: object) -> Module:
        """Two steps, a register after each."""
        m = Module()
        first = _step(m, self.t, _FIRST_BITS, "first")
        m.d.comb += self.reduced.eq(_step(m, first, LANE_BITS, "second"))
        return m
