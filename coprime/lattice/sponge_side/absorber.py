"""Messages: words of the byte memory, and last bytes that are not in it."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.keccak.sponge_padding import BUS_BYTES, BUS_WORD
from coprime.cells.luts import choose_word
from coprime.cells.target import Target
from coprime.lattice.memory.byte_memory import WORD_BITS

from .instructions import LARGE, Format

TAIL_BYTES = 2
TAIL = data.StructLayout({"data": 8 * TAIL_BYTES, "bytes": range(TAIL_BYTES + 1)})


def range_layout(widths: Format, address_bits: int) -> data.StructLayout:
    """A range of the byte memory, its address and its length less 1 in units; `last`: the message
    ends with it. In large programs, `continues`: it begins where the one before ended; `streams`:
    the message goes on with the stream, and ends with it."""
    fields = {"base": address_bits - widths.group_bits, "units": widths.units, "last": 1}
    if widths is LARGE:
        fields |= {"continues": 1, "streams": 1}
    return data.StructLayout(fields)


class Absorber(wiring.Component):
    """Reads ranges; a word at most every other cycle.

    The word that the message continues with waits in a register. From the cycle in which a range is
    taken to the one in which the next range or tail can be: 1 + 2 n for n words, or with
    `every_cycle` 2 + n, and more where the message waits; words of the stream take 1.

    Parameters
    ----------
    widths (Format): of the program; LARGE has the stream
    address_bits (int): of the byte memory
    target (Target): LUTs are placed on xc7
    every_cycle (bool): a word in every cycle: the next one is addressed as one is moved into the
        register

    Members
    -------
    ranges (in): of `range_layout`
    tails (in): the message's last bytes, 1 or 2, of TAIL; taken only where no range can be
    address, word (out, in): of the byte memory
    stream (in): the rest of a message, its last word marked
    message (out): of a hash unit
    forget (1 bit, in): the range and the word
    wipe (1 bit, in): the same, and clear the word
    """

    def __init__(
        self,
        widths: Format,
        address_bits: int,
        target: Target = Target.GENERIC,
        *,
        every_cycle: bool = False,
    ):
        self.widths, self.target, self.every_cycle = widths, Target(target), every_cycle
        streams = {"stream": In(stream.Signature(BUS_WORD))}
        super().__init__(
            {
                "ranges": In(stream.Signature(range_layout(widths, address_bits))),
                "tails": In(stream.Signature(TAIL)),
                "address": Out(address_bits),
                "word": In(WORD_BITS),
                **(streams if widths is LARGE else {}),
                "message": Out(stream.Signature(BUS_WORD)),
                "forget": In(1),
                "wipe": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Fetch a word, and put it into the register once that is free."""
        m = Module()
        message, payload, widths = self.message, self.message.payload, self.widths
        reading, fetched, streaming = Signal(), Signal(), Signal()
        word, units = Signal(widths.group_bits), Signal(widths.units)
        base = Signal(len(self.address) - widths.group_bits)  # both count to the range's end
        last, streams = Signal(), Signal()
        free, moves, ends = Signal(), Signal(), Signal()
        tail, is_tail = self.tails.payload, self.tails.valid & self.tails.ready
        m.d.comb += [
            free.eq(~message.valid | message.ready),
            moves.eq(reading & fetched & free),
            ends.eq(word.all() & (units == 0)),
            self.address.eq(Cat(word, base)),
            self.ranges.ready.eq(~reading & ~streaming),
            self.tails.ready.eq(~reading & free),
        ]
        if self.every_cycle:
            m.d.comb += self.address.eq(Cat(word, base) + moves)
        with m.If(message.ready):
            m.d.sync += message.valid.eq(0)
        with m.If(reading):
            m.d.sync += fetched.eq(1)
        with m.Else():
            m.d.sync += word.eq(0)
        with m.If(moves):
            m.d.sync += [
                *(fetched.eq(~ends if self.every_cycle else 0), word.eq(word + 1)),
                *(payload.bytes.eq(BUS_BYTES), payload.last.eq(last & ends)),
                *(reading.eq(~ends), streaming.eq(streams & ends)),
            ]
            with m.If(word.all()):
                m.d.sync += [base.eq(base + 1), units.eq(units - 1)]
        with m.If(self.ranges.valid & self.ranges.ready):
            taken = self.ranges.payload
            m.d.sync += [reading.eq(1), units.eq(taken.units), last.eq(taken.last)]
            continues = Const(0)
            if widths is LARGE:
                m.d.sync += streams.eq(taken.streams)
                continues = taken.continues
            with m.If(~continues):
                m.d.sync += base.eq(taken.base)
        with m.If(is_tail):  # the other bytes do not count
            m.d.sync += [payload.last.eq(1), payload.bytes.eq(tail.bytes)]
        low = len(tail.data)
        found = choose_word(m, is_tail, tail.data, self.word[:low], self.target)
        with m.If(moves | is_tail):
            m.d.sync += [message.valid.eq(1), payload.data.eq(Cat(found, self.word[low:]))]
        if widths is LARGE:
            m.d.comb += self.stream.ready.eq(streaming & free)
            with m.If(self.stream.valid & self.stream.ready):
                m.d.sync += [
                    *(message.valid.eq(1), payload.eq(self.stream.payload)),
                    streaming.eq(~self.stream.payload.last),
                ]
        with m.If(self.forget | self.wipe):
            m.d.sync += [
                register.eq(0) for register in (message.valid, reading, fetched, streaming)
            ]
        with m.If(self.wipe):
            m.d.sync += payload.data.eq(0)
        return m
