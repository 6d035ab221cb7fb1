"""A ring's words: a memory of LUTs that is read at two places in every cycle."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

__all__ = ["WordRing"]


class WordRing(wiring.Component):
    """Two words of a ring, in the cycle of their places; a third one is written.

    A word can be read in the cycle after its write.

    Parameters
    ----------
    width, depth : bits of a word; places

    Members
    -------
    i, j : places that are read
    at_i, at_j : their words
    write, place, word : `word` goes to `place`
    """

    def __init__(self, width: int, depth: int):
        self.width = width
        self.depth = depth
        place = bits_for(depth - 1)
        super().__init__(
            {
                "i": In(place),
                "j": In(place),
                "at_i": Out(width),
                "at_j": Out(width),
                "write": In(1),
                "place": In(place),
                "word": In(width),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Infer the memory; synthesis maps it to memories of LUTs."""
        m = Module()
        attributes = {"ram_style": "distributed", "no_rw_check": 1}
        m.submodules.memory = memory = Memory(
            shape=self.width, depth=self.depth, init=[], attrs=attributes
        )
        for place, data in ((self.i, self.at_i), (self.j, self.at_j)):
            port = memory.read_port(domain="comb")
            m.d.comb += [port.addr.eq(place), data.eq(port.data)]
        write = memory.write_port()
        m.d.comb += [
            write.en.eq(self.write),
            write.addr.eq(self.place),
            write.data.eq(self.word),
        ]
        return m
