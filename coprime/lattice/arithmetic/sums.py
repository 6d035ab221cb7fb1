"""The sum and the difference of two numbers in [-q, q), corrected by their signs."""

from amaranth.hdl import Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.lattice.arithmetic import LANE_BITS, Q


class LaneSums(wiring.Component):
    """Two cycles later `sum` is x + y and `difference` x - y modulo q, in [-q, q).

    Members
    -------
    x, y (signed 13 bits, in): in [-q, q)
    sum, difference (signed 13 bits, out)
    """

    LATENCY = 2

    def __init__(self) -> None:
        lane = signed(LANE_BITS)
        super().__init__({"x": In(lane), "y": In(lane), "sum": Out(lane), "difference": Out(lane)})

    def elaborate(self, platform: object) -> Module:
        """An adder and an adder of q or -q, for each."""
        m = Module()
        for found, value in (
            (self.sum, self.x + self.y),
            (self.difference, self.x - self.y),
        ):
            raw = Signal(signed(LANE_BITS + 1), name="raw")
            bits = LANE_BITS + 1
            m.d.sync += [
                raw.eq(value),
                found.eq(raw + Mux(raw[-1], Const(Q, signed(bits)), Const(-Q, signed(bits)))),
            ]
        return m
