"""The bytes of a sponge's output, one a cycle."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.keccak.sponge_padding import BUS_BYTES, BUS_WORD


class SampledBytes(wiring.Component):
    """A word waits in a register while its bytes are used.

    Members
    -------
    enable (1 bit, in): there is an output; 0 for a cycle at least before the next one
    words (in): words of a hash unit, all of 4 bytes
    bytes (out): a stream of bytes
    drop (1 bit, in): what is left is not needed: it is discarded, a word a cycle
    used_up (1 bit, out): all bytes are taken, or discarded
    wipe (1 bit, in): clear the word; `enable` is 0 in the next cycle
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "enable": In(1),
                "words": In(stream.Signature(BUS_WORD)),
                "bytes": Out(stream.Signature(8)),
                "drop": In(1),
                "used_up": Out(1),
                "wipe": In(1),
            }
        )

    @staticmethod
    def cycles(taken: int, words: int) -> int:
        """From the first word's cycle to the first one with `used_up`, if words and takers are
        always ready, and `drop` is 1 from the cycle on in which byte number `taken` would be."""
        dropped = -(-(BUS_BYTES * words - taken) // BUS_BYTES)
        return 1 + taken + dropped

    def elaborate(self, platform: object) -> Module:
        """A word is replaced as it is used up, but the last one."""
        m = Module()
        held, full, index = Signal(BUS_WORD), Signal(), Signal(range(BUS_BYTES))
        moves, empties = Signal(), Signal()
        m.d.comb += [
            self.bytes.valid.eq(full & ~self.drop),
            self.bytes.payload.eq(held.data.word_select(index, 8)),
            moves.eq(full & (self.drop | self.bytes.ready)),
            empties.eq(moves & (self.drop | index.all())),
            # The word after the last one is another message's.
            self.words.ready.eq(self.enable & ~self.used_up & (~full | (empties & ~held.last))),
        ]
        with m.If(moves):
            m.d.sync += index.eq(index + 1)
        with m.If(empties):
            m.d.sync += [full.eq(0), self.used_up.eq(held.last)]
        with m.If(self.words.valid & self.words.ready):
            m.d.sync += [full.eq(1), held.eq(self.words.payload)]
        with m.If(~self.enable):
            m.d.sync += [full.eq(0), self.used_up.eq(0), index.eq(0)]
        with m.If(self.wipe):
            m.d.sync += held.eq(0)
        return m
