"""Blocks of 21 lanes in LUT RAM, which move as a whole."""

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.cells.target import Target
from coprime.model.keccak import LANE_BITS, LARGEST_RATE

from .round_logic import select_words


class BlockMemory(wiring.Component):
    """One or two blocks, of which a word of each lane is read in a cycle, and may be replaced.

    It moves by one word as lane l + 1's goes to lane l at the same address: so words enter at the
    last lane and leave at the first one, and one address serves all lanes.

    Parameters
    ----------
    width (int): bits of a word: 4, 8, 16 or 32
    blocks (int): 1 or 2
    shares (int): of a word, one after the other in a word of as many times the bits

    Members
    -------
    address (in): the word in its lane; with two blocks the most significant bit is the block
    move (1 bit, in): replace each lane's word with the next lane's, the last one's with `entering`
    capture (1 bit, in): replace them with `captured` instead
    entering (in), captured (21 words, in)
    read (21 words, out): the words at the address, before they are replaced
    """

    def __init__(self, width: int, blocks: int, target: Target, shares: int = 1):
        self.width, self.depth, self.target = shares * width, blocks * LANE_BITS // width, target
        super().__init__(
            {
                "address": In(range(self.depth)),
                **dict.fromkeys(("move", "capture"), In(1)),
                "entering": In(self.width),
                "captured": In(self.width).array(LARGEST_RATE),
                "read": Out(self.width).array(LARGEST_RATE),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """A memory with one port."""
        m = Module()
        m.submodules.memory = memory = Memory(
            shape=self.width * LARGEST_RATE,
            depth=self.depth,
            init=[],
            attrs={"ram_style": "distributed"},
        )
        read, write = memory.read_port(domain="comb"), memory.write_port()
        lanes = list(self.read)
        written = select_words(
            m, self.capture, list(self.captured), [*lanes[1:], self.entering], self.target
        )
        m.d.comb += [
            read.addr.eq(self.address),
            Cat(lanes).eq(read.data),
            write.addr.eq(self.address),
            write.en.eq(self.move | self.capture),
            write.data.eq(Cat(written)),
        ]
        return m
