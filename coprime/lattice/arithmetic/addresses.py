"""Words of a polynomial in the order in which a step uses them."""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.lattice.arithmetic import LAYERS


class Addresses(wiring.Component):
    """Addresses of a slot's words in a polynomial, and the layer's progress.

    Of a butterfly's words `upper` has a bit that is 1, in the place that the layer's span gives,
    and `lower` has it 0; of other steps both are the same word.

    Parameters
    ----------
    bits (int): of an address: 7 of a whole polynomial's

    Members
    -------
    word (7 bits, in): number of the word, or of the butterfly in its layer
    butterflies (1 bit, in): words are those of butterflies
    inverse (1 bit, in): the layers' spans grow from 1 on, else they fall from 64 on
    begin (1 bit, in): load the first layer's span, in some cycle before the first word
    next_layer (1 bit, in): the layer ends with this cycle
    lower, upper (7 bits, out)
    block_ends (1 bit, out): the butterfly is the last one of a block, which has one constant
    """

    def __init__(self, bits: int = LAYERS) -> None:
        self.bits = bits
        super().__init__(
            {
                "word": In(bits),
                **dict.fromkeys(("butterflies", "inverse", "begin", "next_layer"), In(1)),
                **dict.fromkeys(("lower", "upper"), Out(bits)),
                "block_ends": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The span is a row of ones below its bit; without butterflies it has no bit."""
        m = Module()
        below = Signal(self.bits)
        with m.If(self.begin):
            low = (~self.inverse).replicate(self.bits - 1)
            m.d.sync += below.eq(Cat(low, ~self.butterflies))
        with m.Elif(self.next_layer & self.inverse):
            m.d.sync += below.eq(Cat(1, below[:-1]))
        with m.Elif(self.next_layer):
            m.d.sync += below.eq(below[1:])
        word = self.word
        lower: list[Value] = []
        upper: list[Value] = []
        for bit in range(self.bits):
            covered = below[bit - 1] if bit else 1  # the span's bit, or one below it
            shifted = word[bit - 1] if bit else 0
            spans = covered & ~below[bit]
            found = (below[bit] & word[bit]) | (~below[bit] & ~spans & shifted)
            lower.append(found)
            upper.append(found | spans)
        m.d.comb += [
            self.lower.eq(Cat(lower)),
            self.upper.eq(Cat(upper)),
            self.block_ends.eq((word[:-1] | ~below[:-1]).all()),
        ]
        return m
