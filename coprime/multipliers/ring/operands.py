"""The operands of `ring`: four rings of words, and what of them enters the tiles."""

from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from .memory import WordRing
from .slots import ProductSignature

__all__ = ["FactorSignature", "Operands"]


class FactorSignature(wiring.Signature):
    """The words of a product, and whether a sum begins with it: inputs of a tile."""

    def __init__(self, width: int):
        super().__init__(
            {**{name: Out(width) for name in ("x_0", "x_1", "y_0", "y_1")}, "first": Out(1)}
        )


class Operands(wiring.Component):
    """X, Y, q and M' in rings of more than D + 1 places; their words for each tile, in registers.

    Parameters
    ----------
    width, places : bits of a word; places of a ring
    tiles : 1, of all products; or 2, of those of X and Y, and of q and M'

    Members
    -------
    products : ProductSignature for each tile, in
    write_x, write_y, write_q, write_m : a word goes to that ring
    place_x, place_y, place_q : where; `place_x` for M', too
    word_x, word_y, word : the words; `word` for q and M'
    factors : x_0, x_1, y_0, y_1, first for each tile, out: as of `Tile`, a cycle after the slot
    """

    def __init__(self, width: int, places: int, tiles: int):
        self.width = width
        self.places = places
        self.tiles = tiles
        place = bits_for(places - 1)
        super().__init__(
            {
                "products": In(ProductSignature(place)).array(tiles),
                **dict.fromkeys(("write_x", "write_y", "write_q", "write_m"), In(1)),
                **dict.fromkeys(("place_x", "place_y", "place_q"), In(place)),
                **dict.fromkeys(("word_x", "word_y", "word"), In(width)),
                "factors": Out(FactorSignature(width)).array(tiles),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Place the rings, and the registers after them."""
        m = Module()
        rings = {name: WordRing(self.width, self.places) for name in "xyqm"}
        for name, ring in rings.items():
            product = self.products[name in "qm" and self.tiles > 1]
            m.submodules[name] = ring
            m.d.comb += [
                ring.i.eq(product.i),
                ring.j.eq(product.j),
                ring.write.eq(getattr(self, f"write_{name}")),
                ring.place.eq(getattr(self, f"place_{name}" if name != "m" else "place_x")),
                ring.word.eq(getattr(self, f"word_{name}" if name in "xy" else "word")),
            ]
        x, y, q, modulus = rings.values()
        pairs = ((x, y), (q, modulus))
        for tile, (left, right) in enumerate(pairs[: self.tiles]):
            product, factors = self.products[tile], self.factors[tile]
            any_product = product.pair | product.diagonal | product.crossed
            # (x_j - x_i) * (y_i - y_j), or (0 - x_i) * (0 - y_j): a diagonal product has i = j.
            for name, ring, other, place, enters in (
                ("x_0", left, q, "at_j", product.pair),
                ("x_1", left, q, "at_i", any_product),
                ("y_0", right, modulus, "at_i", product.pair),
                ("y_1", right, modulus, "at_j", any_product),
            ):
                word = getattr(ring, place)
                if self.tiles == 1:
                    word = Mux(product.of_q, getattr(other, place), word)
                register = getattr(factors, name)
                m.d.sync += register.eq(word)
                with m.If(~enters):
                    m.d.sync += register.eq(0)
            m.d.sync += factors.first.eq(product.first)
        return m
