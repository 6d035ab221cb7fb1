"""The pairs of one of two tiles of `ring`: first of the old product, then of the new one."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class TilePairs(wiring.Component):
    """The places of a step's pairs, whose sum is u, one slot each, in this order:

    * pairs of the old product, i + j = u + P: inwards from j = D - 1;
    * pairs of the new one: outwards, except the last one, which has the newest word;
    * the last pair, which stays until the diagonal product;
    * the diagonal product, i = j = u.

    Parameters
    ----------
    place_bits : bits of a place
    ahead : 1 + d

    Members
    -------
    count, stop : as in `RingSchedule`
    sum, next_sum : u of this step and of the next one; below 0 there are no new pairs
    begins : the next slot is the first one of the next step
    has_old : with `begins`, the next step has pairs of the old product
    first_place, pairs : their first i, and their number, or 1 if there is none: the pair of place
        D - 1 with itself, which is 0
    many, next_many : the step, or the next one, has two new pairs or more
    lowest : the smallest i of a new pair
    diagonal : the next slot is that of the diagonal product
    i, j : places
    old, new : the slot has a pair of the old product; one of the new product before the last one
    old_ends : it is the last one of the old product
    ready : the next slot can be that of the last pair
    first : the slot is the first one of a step, or after the old product's last one
    """

    def __init__(self, place_bits: int, ahead: int):
        self.place_bits = place_bits
        sums = ("count", "sum", "next_sum", "first_place", "pairs")
        inputs = ("stop", "begins", "has_old", "many", "next_many", "diagonal")
        ports = {
            **dict.fromkeys(sums, In(place_bits)),
            **dict.fromkeys(inputs, In(1)),
            "lowest": In(range(ahead + 1)),
            **dict.fromkeys(("i", "j"), Out(place_bits)),
            **dict.fromkeys(("old", "new", "old_ends", "ready", "first"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Build the places and the count of remaining pairs of the old product."""
        m = Module()
        i, j, old, new = self.i, self.j, self.old, self.new
        left = Signal(self.place_bits)  # remaining pairs of the old product, including the slot's
        is_last, next_is_last = Signal(), Signal()  # of the new pairs but one
        u = Signal(self.place_bits)
        m.d.comb += [
            self.old_ends.eq(old & (left[1:] == 0)),
            next_is_last.eq(i == self.lowest + 1),
            self.ready.eq(Mux(old, self.old_ends & ~self.many, ~new | next_is_last)),
            u.eq(Mux(self.begins, self.next_sum, self.sum)),
            is_last.eq(new & next_is_last),
        ]
        m.d.sync += self.first.eq(self.begins | self.old_ends)
        with m.If(self.diagonal):
            m.d.sync += [i.eq(self.sum), j.eq(self.sum), old.eq(0), new.eq(0)]
        with m.Elif(self.begins | self.old_ends):
            # The innermost pair of the new product.
            m.d.sync += [i.eq((u - 1)[1 : self.place_bits]), j.eq(u[1:] + 1)]
            m.d.sync += [
                old.eq(0),
                new.eq(Mux(self.begins, self.next_many, self.many) & ~self.stop),
            ]
        with m.Elif(old):
            m.d.sync += [i.eq(i + 1), j.eq(j - 1)]
        with m.Elif(new):
            m.d.sync += [i.eq(i - 1), j.eq(j + 1), new.eq(~is_last)]
        with m.If(self.begins & self.has_old):
            m.d.sync += [old.eq(1), new.eq(0), left.eq(self.pairs)]
            m.d.sync += [i.eq(self.first_place), j.eq(self.count - 1)]
        with m.Elif(old):
            m.d.sync += left.eq(left - 1)
        return m
