"""Numbers from and to the byte memory: unpacked, packed, or compared with each other."""

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.luts import same
from coprime.cells.target import Target

from .number_offset import NumberOffset
from .packer import Packer
from .slot_counter import FLAGS, SLOT
from .steps import BYTE_WIDTHS
from .unpacker import NUMBER_BITS, WORD_BITS, Unpacker

COUNT_BITS = 11
"""Of a count of compared numbers: up to 5 polynomials."""


class ByteStreams(wiring.Component):
    """The unpacker and the packer, each for the slots that need it.

    Members
    -------
    flags (in), slot, next_slot, packed_slot (in): the kind; this slot, that of the cycle
        before, and that of 10 cycles before
    sample, compare (1 bit, in), width (in): of the step
    start (1 bit, in): of the step
    number (12 bits, out): for UNPACK and MULTIPLY
    packed (12 bits, in): for PACK; bits above its width are 0
    use, write, write_data, read_data : of Datapath
    clear, differs, agrees, compared : of Datapath; a comparison counts two cycles later
    wipe (1 bit, in): clear all words
    """

    def __init__(self, target: Target):
        self.target = target
        super().__init__(
            {
                "flags": In(FLAGS),
                **dict.fromkeys(("slot", "next_slot", "packed_slot"), In(SLOT)),
                **dict.fromkeys(("sample", "compare", "start", "clear", "wipe"), In(1)),
                "width": In(range(len(BYTE_WIDTHS))),
                "number": Out(NUMBER_BITS),
                "packed": In(NUMBER_BITS),
                **dict.fromkeys(("use", "write", "differs"), Out(1)),
                "agrees": Out(1, init=1),  # so that the two are never equal
                "compared": Out(COUNT_BITS),
                "write_data": Out(WORD_BITS),
                "read_data": In(WORD_BITS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Both take turns of two cycles at the byte memory."""
        m = Module()
        m.submodules.unpacker = unpacker = Unpacker(self.target)
        m.submodules.packer = packer = Packer(self.target)
        m.submodules.place = place = NumberOffset(self.target)
        flags = self.flags
        turn = Signal()
        m.d.sync += turn.eq(~turn)
        puts = Signal()
        m.d.comb += [
            puts.eq(flags.pack & self.packed_slot.valid),
            *(part.width.eq(self.width) for part in (unpacker, place)),
            # A step takes numbers or gives them.
            *(part.offset.eq(place.offset) for part in (unpacker, packer)),
            *(part.completes.eq(place.completes) for part in (unpacker, packer)),
            place.next.eq(unpacker.take | packer.put),
            place.restart.eq(self.start | self.wipe),
            *(part.turn.eq(turn) for part in (unpacker, packer)),
            *(part.wipe.eq(self.wipe) for part in (unpacker, packer)),
            # What is fetched by a step that needs no bytes would move the address.
            unpacker.start.eq(
                self.start
                & (flags.unpack | (flags.multiply & ~self.sample) | (flags.pack & self.compare))
            ),
            unpacker.word.eq(self.read_data),
            unpacker.take.eq(
                (flags.unpack & self.next_slot.valid)
                | (flags.multiply & ~self.sample & self.slot.valid & ~self.slot.phase[1])
                | (puts & self.compare)
            ),
            self.number.eq(unpacker.number),
            packer.number.eq(self.packed),
            packer.put.eq(puts & ~self.compare),
            self.use.eq(unpacker.read | packer.write),
            self.write.eq(packer.write),
            self.write_data.eq(packer.word),
        ]
        are_equal = same(m, self.packed, unpacker.number, self.target)
        count_compared(m, self, puts & self.compare & ~self.wipe, are_equal, 1)
        return m


def count_compared(
    m: Module, streams: wiring.Component, now: Value, are_equal: Value, numbers: int
) -> None:
    """Count a comparison of so many numbers that is made `now`. What it finds is in two
    complementary registers, one for each accumulator."""
    compares, equal, unequal, found = Signal(), Signal(), Signal(), Signal()
    m.d.comb += found.eq(are_equal)
    m.d.sync += [
        compares.eq(now),
        equal.eq(found),
        unequal.eq(~found),
    ]
    with m.If(streams.clear):
        m.d.sync += [streams.differs.eq(0), streams.agrees.eq(1), streams.compared.eq(0)]
    with m.Elif(compares):
        m.d.sync += [
            streams.differs.eq(streams.differs | unequal),
            streams.agrees.eq(streams.agrees & equal),
            streams.compared.eq(streams.compared + numbers),
        ]
