"""The operands of `ring`: four rings of words, and what of them enters the tile."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from .memory import WordRing

__all__ = ["Operands", "ProductSignature"]


class ProductSignature(wiring.Signature):
    """The product of a slot: which words enter the tile in the next cycle.

    Members
    -------
    i, j : places
    of_q, of_m : the words are q's and M''s, in place of X's and Y's
    pair : (x_i - x_j) * (y_i - y_j), subtracted: the tile adds (x_j - x_i) * (y_i - y_j)
    diagonal : x_i * y_j with i = j, added
    crossed : x_i * y_j, added; if none of the three is 1, there is no product
    first : the sum begins with it
    """

    def __init__(self, count_bits: int):
        flags = ("of_q", "of_m", "pair", "diagonal", "crossed", "first")
        super().__init__(
            {"i": Out(count_bits), "j": Out(count_bits), **dict.fromkeys(flags, Out(1))}
        )


class Operands(wiring.Component):
    """X, Y, q and M' in rings of more than D + 1 places; their words for the tile, in registers.

    Parameters
    ----------
    width, places : bits of a word; places of a ring

    Members
    -------
    product : ProductSignature, in
    write_x, write_y, write_q, write_m : a word goes to that ring
    place_x, place_y, place_q : where; `place_x` for M', too
    word_x, word_y, word : the words; `word` for q and M'
    x_0, x_1, y_0, y_1, first : out, as of `Tile`, a cycle after the slot
    """

    def __init__(self, width: int, places: int):
        self.width = width
        self.places = places
        place = bits_for(places - 1)
        super().__init__(
            {
                "product": In(ProductSignature(place)),
                **dict.fromkeys(("write_x", "write_y", "write_q", "write_m"), In(1)),
                **dict.fromkeys(("place_x", "place_y", "place_q"), In(place)),
                **dict.fromkeys(("word_x", "word_y", "word"), In(width)),
                **{name: Out(width) for name in ("x_0", "x_1", "y_0", "y_1")},
                "first": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Place the rings, and the registers after them."""
        m = Module()
        product = self.product
        rings = {name: WordRing(self.width, self.places) for name in "xyqm"}
        for name, ring in rings.items():
            m.submodules[name] = ring
            m.d.comb += [
                ring.i.eq(product.i),
                ring.j.eq(product.j),
                ring.write.eq(getattr(self, f"write_{name}")),
                ring.place.eq(getattr(self, f"place_{name}" if name != "m" else "place_x")),
                ring.word.eq(getattr(self, f"word_{name}" if name in "xy" else "word")),
            ]

        def enter(register: Signal, word: Value, enters: Value) -> None:
            m.d.sync += register.eq(word)
            with m.If(~enters):
                m.d.sync += register.eq(0)

        x, y, q, modulus = rings.values()
        # (x_j - x_i) * (y_i - y_j), or (0 - x_i) * (0 - y_j), where a diagonal product has i = j.
        any_product = product.pair | product.diagonal | product.crossed
        enter(self.x_0, Mux(product.of_q, q.at_j, x.at_j), product.pair)
        enter(self.x_1, Mux(product.of_q, q.at_i, x.at_i), any_product)
        enter(self.y_0, Mux(product.of_m, modulus.at_i, y.at_i), product.pair)
        enter(self.y_1, Mux(product.of_m, modulus.at_j, y.at_j), any_product)
        m.d.sync += self.first.eq(product.first)
        return m
