"""Two small numbers that share one: the first is its low part, the second its high part.

Two secret polynomials s and s' share s + 2^9 s', so that one product with c, whose coefficients are
below q / 2, gives c s + 2^9 c s', and both with it: all are in [-196, 196].
"""

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.lattice.large_arithmetic import NUMBER_BITS
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS, Q

from .large_steps import PAIR_SHIFT, Part

NUMBER = signed(NUMBER_BITS)
_BITS = 2 * PAIR_SHIFT
assert max(parameter_set.beta for parameter_set in ML_DSA_SETS) < 1 << PAIR_SHIFT - 1


class SharedPart(wiring.Component):
    """A part of a number, centred, in the same cycle.

    Members
    -------
    number (signed 24 bits, in): in [-q, q); but for WHOLE, x + 2^9 y modulo q, of x and y in
        [-255, 255]
    part (in)
    found (signed 24 bits, out): the number, x or y
    """

    def __init__(self) -> None:
        super().__init__({"number": In(NUMBER), "part": In(Part), "found": Out(NUMBER)})

    def elaborate(self, platform: object) -> Module:
        """Its lowest bits and those of -q, 0 or q: of a number above q / 2 two bits differ."""
        m = Module()
        sign, below = self.number[-1], self.number[-2]
        multiple = Mux(sign ^ below, Mux(sign, Q, -Q), 0)
        shared, high = Signal(_BITS), Signal(signed(PAIR_SHIFT))
        m.d.comb += [
            shared.eq(self.number + multiple),
            high.eq(shared[PAIR_SHIFT:] + shared[PAIR_SHIFT - 1]),
            self.found.eq(self.number),
        ]
        with m.If(self.part == Part.LOW):
            m.d.comb += self.found.eq(shared[:PAIR_SHIFT].as_signed())
        with m.If(self.part == Part.HIGH):
            m.d.comb += self.found.eq(high)
        return m
