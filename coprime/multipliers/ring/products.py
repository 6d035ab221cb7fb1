"""The products under way in `ring`: what holds for the new one, and for the old one."""

from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Products"]


class Products(wiring.Component):
    """Keeps what was asked for with the new product, and what the old one still needs of it.

    A product that follows another one without a break has the same D and words of its result.

    Members
    -------
    begins : what is asked for begins, while nothing is under way
    turns : the new product becomes the old one, too
    joining, closes : what is asked for will follow the new product; it is the new one, if so
    joins : it follows
    leaves : the new product's rounds modulo M are next
    asked_count, asked_shift, asked_inner, prepares, squares, descale, multiplier_is_one
        Of what is asked for.
    count, inner, preparing : D, words of the result; a preparation is under way
    shift, squaring, is_one, descales : of the new product
    old_descales : of the old one
    new_exists, old_exists : there is one
    """

    def __init__(self, place_bits: int, count_bits: int):
        asked = ("prepares", "squares", "descale", "multiplier_is_one")
        flags = ("preparing", "squaring", "is_one", "descales", "old_descales")
        super().__init__(
            {
                **dict.fromkeys(("begins", "turns", "joining", "closes", "leaves", *asked), In(1)),
                **dict.fromkeys(("asked_count", "asked_shift"), In(place_bits)),
                "asked_inner": In(count_bits),
                **dict.fromkeys(("count", "inner", "shift"), Out(place_bits)),
                **dict.fromkeys((*flags, "joins", "new_exists", "old_exists"), Out(1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The registers, and when they change."""
        m = Module()
        with m.If(self.begins):
            m.d.sync += [
                self.count.eq(self.asked_count),
                self.inner.eq(self.asked_inner),
                self.preparing.eq(self.prepares),
                self.old_exists.eq(0),
                self.new_exists.eq(~self.prepares),
                self.joins.eq(0),
            ]
        with m.If(self.turns):
            m.d.sync += [self.old_exists.eq(self.new_exists), self.old_descales.eq(self.descales)]
        with m.If(self.closes):
            m.d.sync += [self.new_exists.eq(self.joins), self.joins.eq(0)]
        with m.If(self.joining):
            m.d.sync += self.joins.eq(1)
        # The next square's words go to Y's ring from the next column on.
        with m.If(self.begins | self.joining):
            m.d.sync += self.squaring.eq(self.squares)
        with m.If(self.leaves):  # M and c stay in Y's ring
            m.d.sync += self.squaring.eq(0)
        with m.If(self.begins | self.closes & self.joins):
            m.d.sync += [
                self.descales.eq(self.descale & ~self.prepares),
                self.is_one.eq(self.multiplier_is_one),
                self.shift.eq(Mux(self.prepares, 0, self.asked_shift)),
            ]
        return m
