"""An output of whole words of 32 bits, which takes less logic than one of bytes."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .output_words import SQUEEZING
from .sponge import SpongeSignature
from .sponge_padding import BUS_BITS, BUS_BYTES, BUS_WORD, FUNCTION, rate_of


class WholeOutputWords(wiring.Component):
    """The first words that a sponge squeezes.

    Parameters
    ----------
    width (int): bits of the sponge's words
    length_bits (int): the longest output has 2**length_bits - 1 words of 32 bits

    Members
    -------
    as of OutputWords, but that `length` counts words; `bytes` of words is constant
    """

    def __init__(self, width: int, length_bits: int):
        self.width, self.length_bits = width, length_bits
        members = SpongeSignature(width).members
        super().__init__(
            {
                **dict.fromkeys(("load", "wipe"), In(1)),
                "function": In(FUNCTION),
                "length": In(length_bits),
                "idle": Out(1),
                **{name: members[name].flip() for name in SQUEEZING},
                "words": Out(stream.Signature(BUS_WORD)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Count words; parts of one move into the register from its upper end."""
        m = Module()
        chunk_bits = min(self.width, BUS_BITS)
        slots = BUS_BITS // chunk_bits
        function, left = Signal(FUNCTION), Signal(self.length_bits)
        slot, half, active, full = Signal(range(slots)), Signal(), Signal(), Signal()
        rate = rate_of(function)
        per_lane = len(self.drained) - len(rate)
        lane = self.drained[per_lane:]
        # (In Verilog `all` of no bits would be 0.)
        lane_ends = self.drained[:per_lane].all() if per_lane else Const(1)
        word_ends, ends, free, moves, consumes = (Signal() for _ in range(5))
        wide = self.width > BUS_BITS
        m.d.comb += [
            word_ends.eq(slot == slots - 1),
            ends.eq(word_ends & (left == 1)),
            consumes.eq(ends | half if wide else 1),
            free.eq(~full | self.words.ready),
            self.take.eq(free & consumes),
            moves.eq(self.valid & free),
            self.discard.eq(ends | ((lane == rate) & lane_ends)),
            self.idle.eq(~active),
            self.wanted.eq(active),
            self.more.eq(left > Cat(Const(0, 1), rate + 1)),
            self.words.valid.eq(full & ~self.wipe),
        ]
        bus = self.words.payload
        m.d.comb += bus.bytes.eq(BUS_BYTES)
        chunk = self.squeezed.word_select(half, BUS_BITS) if wide else self.squeezed
        with m.If(full & self.words.ready):
            m.d.sync += full.eq(0)
        with m.If(moves):
            m.d.sync += [bus.data.eq(Cat(bus.data, chunk)[chunk_bits:]), slot.eq(slot + 1)]
            if wide:
                m.d.sync += half.eq(~consumes)
            with m.If(word_ends):
                # A difference of bits: a carry chain would take more LUTs.
                lower = Cat(left[k] ^ ~left[:k].any() for k in range(self.length_bits))
                m.d.sync += [full.eq(1), bus.last.eq(ends), left.eq(lower)]
            with m.If(ends):
                m.d.sync += active.eq(0)
        with m.If(self.load):
            m.d.sync += [active.eq(1), function.eq(self.function), left.eq(self.length)]
        with m.If(self.wipe):
            m.d.sync += [
                register.eq(0) for register in (active, full, bus.data, bus.last, slot, half)
            ]
        return m
