"""The operands of `ring`: four rings of words, and the words that enter the tiles."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import bits_for

from ..delays import past_value
from .multiplication import RingMultiplication
from .rings import Rings, WriteSignature
from .slot_signatures import ProductSignature


class FactorSignature(wiring.Signature):
    """The words of a product, and whether a sum begins with it: inputs of a tile."""

    def __init__(self, width: int):
        super().__init__(
            {**{name: Out(width) for name in ("x_0", "x_1", "y_0", "y_1")}, "first": Out(1)}
        )


class OperandRings(wiring.Component):
    """X, Y, q and M' in rings of more than D + 1 places; their words for each tile, in registers.

    Parameters
    ----------
    places : of a ring
    in_block_ram (str): names of the rings that are in block RAM and not in LUTs. With one tile, X
        and q are always in the same kind of memory, and so are Y and M'.

    Members
    -------
    products (ProductSignature for each tile, in)
    x, y, q, m : WriteSignature, in: words for the rings
        With one tile, where both X and q, or both Y and M', are written, they are for two cycles.
    factors : x_0, x_1, y_0, y_1, first for each tile, out: as of `Tile`, `reading` cycles later
    """

    def __init__(self, multiplication: RingMultiplication, places: int, in_block_ram: str):
        self.multiplication, self.places = multiplication, places
        self.in_block_ram = in_block_ram
        place, width, tiles = bits_for(places - 1), multiplication.digit_width, multiplication.tiles
        ports = {
            "products": In(ProductSignature(place)).array(tiles),
            **dict.fromkeys("xyqm", In(WriteSignature(width, place))),
            "factors": Out(FactorSignature(width)).array(tiles),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Instantiate the rings; their registers are those before the tiles."""
        m = Module()
        tiles, reading = self.multiplication.tiles, self.multiplication.reading
        words = {"x": self.x, "y": self.y, "q": self.q, "m": self.m}
        for tile, names in enumerate((("xq", "ym"),) if tiles == 1 else (("x", "y"), ("q", "m"))):
            product, factors = self.products[tile], self.factors[tile]
            any_product = product.pair | product.diagonal | product.crossed
            # (x_j - x_i) * (y_i - y_j), or (0 - x_i) * (0 - y_j): a diagonal product has i = j.
            for name, (enters_i, enters_j), (at_i, at_j) in zip(
                names,
                ((any_product, product.pair), (product.pair, any_product)),
                ((factors.x_1, factors.x_0), (factors.y_0, factors.y_1)),
                strict=True,
            ):
                in_block_ram = name in self.in_block_ram
                m.submodules[name] = rings = Rings(
                    len(at_i), self.places, len(name), in_block_ram=in_block_ram
                )
                m.d.comb += [
                    rings.i.eq(product.i),
                    rings.j.eq(product.j),
                    rings.ring.eq(product.of_q),
                    rings.enters_i.eq(enters_i),
                    rings.enters_j.eq(enters_j),
                    at_i.eq(rings.at_i),
                    at_j.eq(rings.at_j),
                ]
                for write, ring in zip(rings.writes, name, strict=True):
                    connect(m, flipped(words[ring]), write)
            m.d.comb += factors.first.eq(past_value(m, "first", product.first, reading))
        return m
