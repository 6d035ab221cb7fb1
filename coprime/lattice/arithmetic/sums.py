"""The sum and the difference of two numbers in [-q, q), corrected by their signs."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.chains import add_table, place_sum
from coprime.cells.target import Target
from coprime.model.lattice.arithmetic import LANE_BITS, Q


class LaneSums(wiring.Component):
    """Two cycles later `sum` is x + y and `difference` x - y modulo q, in [-q, q).

    y is `before` or, where `later` is 1, `reduced` or `expanded`, of which one is 0: selecting it
    takes no LUT on xc7.

    Members
    -------
    x, before, reduced, expanded (signed 13 bits, in): in [-q, q)
    later (1 bit, in)
    sum, difference (signed 13 bits, out)
    """

    LATENCY = 2

    def __init__(self, target: Target = Target.GENERIC) -> None:
        self.target = target
        inputs = dict.fromkeys(("x", "before", "reduced", "expanded"), In(signed(LANE_BITS)))
        outputs = dict.fromkeys(("sum", "difference"), Out(signed(LANE_BITS)))
        super().__init__({**inputs, "later": In(1), **outputs})

    def elaborate(self, platform: object) -> Module:
        """An adder and an adder of q or -q, for each."""
        m = Module()
        for found, subtracts in ((self.sum, False), (self.difference, True)):
            raw = Signal(signed(LANE_BITS + 1), name="raw")
            m.d.sync += [
                raw.eq(self._raw(m, subtracts=subtracts)),
                found.eq(add_table(m, raw[:LANE_BITS], [-Q, Q], raw[-1:], self.target)),
            ]
        return m

    def _raw(self, m: Module, *, subtracts: bool) -> Value:
        """x + y or x - y."""
        sources = (self.before, self.reduced, self.expanded)
        if self.target is not Target.XC7:
            y = Signal(signed(LANE_BITS))
            m.d.comb += y.eq(Mux(self.later, self.reduced | self.expanded, self.before))
            return self.x - y if subtracts else self.x + y

        def term(_: int, before: int, reduced: int, expanded: int, later: int) -> bool:
            return bool((reduced | expanded) if later else before) != subtracts

        x, *words = (Cat(word, word[-1]) for word in (self.x, *sources))
        later = [self.later] * len(x)
        return place_sum(m, x, term, *words, later, carry=int(subtracts))
