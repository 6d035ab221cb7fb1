"""Words of a polynomial of 256 in the order in which butterflies use them."""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.lattice.large_arithmetic import LAYERS


class LargeAddresses(wiring.Component):
    """Addresses of a butterfly's words. Of two words `upper` has the bit of the layer's span.

    Parameters
    ----------
    bits (int): of an address: 8, or with several lanes that of a row of words

    Members
    -------
    begin (1 bit, in): load the span of the first layer: 2^(bits - 1), with `ascends` 1
    ascends (1 bit, in): spans grow from layer to layer, else they shrink, to 1 at least
    next_layer (1 bit, in): the next span, from the next cycle on
    butterfly (bits - 1, in): of the layer
    lower, upper (bits, out)
    block_ends (1 bit, out): the butterfly is the last one of its block, which has one constant
    """

    def __init__(self, bits: int = LAYERS) -> None:
        self.bits = bits
        super().__init__(
            {
                **dict.fromkeys(("begin", "ascends", "next_layer"), In(1)),
                "butterfly": In(bits - 1),
                **dict.fromkeys(("lower", "upper"), Out(bits)),
                "block_ends": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The span is a row of ones below its bit."""
        m = Module()
        bits = self.bits
        below = Signal(bits - 1)
        with m.If(self.begin):
            m.d.sync += below.eq(~self.ascends.replicate(bits - 1))
        with m.Elif(self.next_layer):
            m.d.sync += below.eq(below >> 1)
            with m.If(self.ascends):
                m.d.sync += below.eq(Cat(1, below))
        butterfly = self.butterfly
        lower: list[Value] = []
        upper: list[Value] = []
        for bit in range(bits):
            # Bits below the span's are the butterfly's, those above are shifted by one.
            is_below = below[bit] if bit < bits - 1 else 0
            was_below = below[bit - 1] if bit else 1
            kept = is_below & (butterfly[bit] if bit < bits - 1 else 0)
            shifted = ~was_below & (butterfly[bit - 1] if bit else 0)
            lower.append(kept | shifted)
            upper.append(kept | shifted | (was_below & ~is_below))
        m.d.comb += [
            self.lower.eq(Cat(*(address_bit[0] for address_bit in lower))),
            self.upper.eq(Cat(*(address_bit[0] for address_bit in upper))),
            self.block_ends.eq((butterfly | ~below).all()),
        ]
        return m
