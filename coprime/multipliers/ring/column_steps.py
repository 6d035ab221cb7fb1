"""The steps of `ring`: the columns of both products in each step."""

from amaranth.hdl import Cat, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class Steps(wiring.Component):
    """Counts the steps of a product, s = 0 to D + d.

    Step s has column s of the new product, and also column s + D + 1 + d of the old one, while
    there is one. From step D on, the new product's columns are alone, its first old ones.

    Parameters
    ----------
    count_bits : bits of D
    ahead : 1 + d, steps from D on
    reached : number of the first steps that are distinguished

    Members
    -------
    count : D, constant while not idle
    idle : there is no step
    ends : the next cycle is the first one of the next step
    s, left : the step; columns of the old product that remain after it
    next_s, next_left : the same for the next step, from the second cycle of a step on
    has_old, goes_on : the step, or the next one, has a column of the old product
    last_old : this column is the old product's last one, 2D - 1
    reached : bit k is 1 from step k + 1 on
    is_last, is_turn : the step is D - 1, D
    closing, is_end : the step is D or a later one; it is D + d
    restarts : the next step is 0
    """

    def __init__(self, count_bits: int, ahead: int, reached: int):
        self.ahead = ahead
        flags = ("has_old", "goes_on", "last_old", "is_last", "is_turn", "closing", "is_end")
        ports = {
            "count": In(count_bits),
            **dict.fromkeys(("idle", "ends"), In(1)),
            **dict.fromkeys(("s", "left", "next_s", "next_left"), Out(count_bits)),
            **dict.fromkeys((*flags, "restarts"), Out(1)),
            "reached": Out(reached),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Build the counters, and the flags that are known when a step begins."""
        m = Module()
        count, next_s, next_left = self.count, self.next_s, self.next_left
        # Known a cycle later than s and `left`: no step has one.
        starts_over = self.idle | self.is_end
        m.d.sync += [
            next_s.eq(Mux(starts_over, 0, self.s + 1)),
            next_left.eq(Mux(starts_over, count - 1 - self.ahead, self.left - 1)),
        ]
        m.d.comb += [
            self.is_end.eq(self.is_turn if self.ahead == 1 else self.closing & ~self.is_turn),
            self.restarts.eq(self.idle | self.ends & self.is_end),
            self.goes_on.eq(self.restarts | self.has_old & (self.left != 0)),
        ]
        with m.If(self.idle | self.ends):
            m.d.sync += [
                self.s.eq(next_s),
                self.left.eq(next_left),
                self.has_old.eq(self.goes_on),
                self.last_old.eq(self.goes_on & (next_left == 0)),
                self.is_last.eq(next_s + 1 == count),
                self.is_turn.eq(self.is_last),
                self.closing.eq(self.is_last | self.closing & ~self.restarts),
                self.reached.eq(Mux(self.restarts, 0, Cat(1, self.reached))),
            ]
        return m
