"""An output of any number of bytes, from the words of a sponge."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .sponge import SpongeSignature
from .sponge_padding import BUS_BITS, BUS_BYTES, BUS_WORD, FUNCTION, rate_of

SQUEEZING = ("squeezed", "valid", "take", "drained", "discard", "wanted", "more")
"""Members of SpongeSignature that OutputWords is connected to."""


class OutputWords(wiring.Component):
    """The first `length` bytes that a sponge squeezes, as words of 32 bits.

    A bus word waits in a register; the next one is gathered as it is taken, without a cycle lost.

    Parameters
    ----------
    width (int): bits of the sponge's words
    length_bits (int): the longest output has 2**length_bits - 1 bytes

    Members
    -------
    load, function, length (in): begin an output of a function, by its place in FUNCTIONS, of
        `length` bytes, at least 1; only while `idle`
    idle (1 bit, out): no byte is missing from the sponge
    squeezed, valid, take, drained, discard, wanted, more : of a sponge
    words (out): the output; with `last` its last 1 to 4 bytes, and zeros
    wipe (1 bit, in): forget it
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
        """Count bytes, and place them in the register."""
        m = Module()
        chunk_bits = min(self.width, BUS_BITS)
        step = max(1, chunk_bits // 8)  # bytes that end with a chunk
        slots = BUS_BITS // chunk_bits
        function, left = Signal(FUNCTION), Signal(self.length_bits)
        # The bytes that are left, inverted: counting up takes fewer LUTs than counting down.
        inverted = Signal(self.length_bits)
        slot, half = Signal(range(slots)), Signal()
        active, full = Signal(), Signal()
        chunk = (
            self.squeezed.word_select(half, BUS_BITS) if self.width > BUS_BITS else self.squeezed
        )
        # With words of 4 bits the first half of a byte is no byte.
        whole = slot[0] if self.width < 8 else Const(1)
        rate = rate_of(function)
        per_lane = len(self.drained) - len(rate)
        # (In Verilog `all` of no bits would be 0.)
        lane_ends = self.drained[:per_lane].all() if per_lane else Const(1)
        lane = self.drained[per_lane:]
        ends, moves, consumes = Signal(), Signal(), Signal()
        m.d.comb += [
            left.eq(~inverted),
            ends.eq(whole & (left <= step)),
            consumes.eq(ends | half if self.width > BUS_BITS else 1),
            self.take.eq((~full | self.words.ready) & consumes),
            moves.eq(self.valid & (~full | self.words.ready)),
            self.discard.eq(ends | ((lane == rate) & lane_ends)),
            self.idle.eq(~active),
            self.wanted.eq(active),
            self.more.eq(left > Cat(Const(0, 3), rate + 1)),
            self.words.valid.eq(full & ~self.wipe),
        ]
        bus = self.words.payload
        with m.If(full & self.words.ready):
            m.d.sync += full.eq(0)
        with m.If(moves):
            if self.width > BUS_BITS:
                m.d.sync += half.eq(~consumes)
            with m.If(whole):
                m.d.sync += inverted.eq(inverted + step)
            gathered = chunk
            if step > 1:
                kept = [(left > k) | ~ends for k in range(step)]
                gathered = chunk & Cat(bit.replicate(8) for bit in kept)
            # The first chunk of a word leaves zeros in the places of the others.
            for k in range(slots):
                place = bus.data[chunk_bits * k :][:chunk_bits]
                with m.If(slot == k):
                    m.d.sync += place.eq(gathered)
                if k:
                    with m.If(slot == 0):
                        m.d.sync += place.eq(0)
            final = slot == slots - 1
            m.d.sync += slot.eq(Mux(ends | final, 0, slot + 1))
            with m.If(ends | final):
                done = slot[1:] if self.width < 8 else Cat(Const(0, step.bit_length() - 1), slot)
                m.d.sync += [
                    full.eq(1),
                    bus.last.eq(ends),
                    bus.bytes.eq(Mux(ends, done + left[: len(bus.bytes)], BUS_BYTES)),
                ]
            with m.If(ends):
                m.d.sync += active.eq(0)
        with m.If(self.load):
            m.d.sync += [active.eq(1), function.eq(self.function), inverted.eq(~self.length)]
        with m.If(self.wipe):
            m.d.sync += [active.eq(0), full.eq(0), bus.eq(0), slot.eq(0), half.eq(0)]
        return m
