"""Two numbers at once from and to the byte memory, of which two words are read or written."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .byte_streams import COUNT_BITS, count_compared
from .number_pairs import PAIR_WORD_BITS, PairPacker, PairUnpacker
from .slot_counter import FLAGS
from .steps import BYTE_WIDTHS
from .unpacker import NUMBER_BITS


class BytePairs(wiring.Component):
    """As ByteStreams, for lanes: a word's two coefficients come or go in each cycle.

    Members
    -------
    flags (in): the kind
    sample, compare (1 bit, in), width (in): of the step
    start (1 bit, in): of the step
    number, second (12 bits, out), take (1 bit, in): for UNPACK and MULTIPLY; from the 4th cycle
        after `start` on
    packed, second_packed (12 bits, in), put (1 bit, in): for PACK; bits above their width are 0
    use, write, write_data, read_data : of ParallelDatapath
    clear, differs, agrees, compared : of Datapath; a comparison counts two cycles later
    wipe (1 bit, in): clear all words
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "flags": In(FLAGS),
                **dict.fromkeys(("sample", "compare", "start", "take", "put"), In(1)),
                **dict.fromkeys(("clear", "wipe"), In(1)),
                "width": In(range(len(BYTE_WIDTHS))),
                **dict.fromkeys(("number", "second"), Out(NUMBER_BITS)),
                **dict.fromkeys(("packed", "second_packed"), In(NUMBER_BITS)),
                **dict.fromkeys(("use", "write", "differs"), Out(1)),
                "agrees": Out(1, init=1),  # so that the two are never equal
                "compared": Out(COUNT_BITS),
                "write_data": Out(PAIR_WORD_BITS),
                "read_data": In(PAIR_WORD_BITS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Both take turns of two cycles at the byte memory."""
        m = Module()
        m.submodules.unpacker = unpacker = PairUnpacker(BYTE_WIDTHS)
        m.submodules.packer = packer = PairPacker(BYTE_WIDTHS)
        flags, turn = self.flags, Signal()
        m.d.sync += turn.eq(~turn)
        m.d.comb += [
            *(part.width.eq(self.width) for part in (unpacker, packer)),
            *(part.pairs.eq(1) for part in (unpacker, packer)),
            *(part.turn.eq(turn) for part in (unpacker, packer)),
            *(part.wipe.eq(self.wipe) for part in (unpacker, packer)),
            # What is fetched by a step that needs no bytes would move the address.
            unpacker.start.eq(
                self.start
                & (flags.unpack | (flags.multiply & ~self.sample) | (flags.pack & self.compare))
            ),
            packer.start.eq(self.start),
            unpacker.word.eq(self.read_data),
            unpacker.take.eq(self.take | (self.put & self.compare)),
            self.number.eq(unpacker.number),
            self.second.eq(unpacker.second),
            packer.number.eq(self.packed),
            packer.second.eq(self.second_packed),
            packer.put.eq(self.put & ~self.compare),
            self.use.eq(unpacker.read | packer.write),
            self.write.eq(packer.write),
            self.write_data.eq(packer.word),
        ]
        are_equal = (self.packed == unpacker.number) & (self.second_packed == unpacker.second)
        count_compared(m, self, self.put & self.compare & ~self.wipe, are_equal, 2)
        return m
