"""Where outputs go: to the byte memory, through the sampler, or random bytes to the byte memory."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.cells.keccak.sponge_padding import BUS_WORD
from coprime.cells.target import Target
from coprime.lattice.memory.byte_memory import WORD_BITS, sponge_word
from coprime.lattice.memory.sample_buffer import PAIR

from .instructions import DRAWN_WORDS, REPEATS, SMALL, Destination, Format
from .sampler import Sampler

REPEATS_BITS = (REPEATS - 1).bit_length()
"""Width of how often a polynomial is repeated with one more block."""


def destination_layout(
    widths: Format, address_bits: int, resume: data.StructLayout
) -> data.StructLayout:
    """A destination: the address of bytes, in units; for a polynomial that may need more bytes,
    what its program needs to sample it again, and how many more blocks than at first it is squeezed
    from."""
    return data.StructLayout(
        {
            "destination": widths.destination,
            "base": address_bits - widths.group_bits,
            "repeats": REPEATS_BITS,
            "resume": resume,
        }
    )


class OutputRouter(wiring.Component):
    """A queue of two destinations, of which the first one takes its output.

    A word for the byte memory takes two cycles: it is written in the first one in which the memory
    takes it, which is one of these two as long as nobody uses the memory's port in two consecutive
    cycles. A random word takes a cycle for each byte and these two.

    Parameters
    ----------
    address_bits (int): of the byte memory
    resume : layout of what a program needs to go on from an instruction

    Members
    -------
    next (in): a stream of destinations; ready while there is none but the first one
    words (in): outputs of a hash unit, all of whole words of 4 bytes
    random (in): bytes
    writes (out): of ByteMemory
    samples, restart, at_last (out, out, in): of SampleBuffer
    idle (1 bit, out): there is no destination
    waits (1 bit, out): a random byte is missing
    fails (1 bit, out): a uniform polynomial's bytes did not suffice; both destinations are
        forgotten, and the words of the polynomial with `restart`
    first (out): the first destination, valid with `fails`
    wipe (1 bit, in): forget all destinations, and clear what has held a secret
    """

    def __init__(
        self, address_bits: int, resume: data.StructLayout, target: Target = Target.GENERIC
    ):
        self.sampler = Sampler(target)
        layout = destination_layout(SMALL, address_bits, resume)
        super().__init__(
            {
                "next": In(stream.Signature(layout)),
                "words": In(stream.Signature(BUS_WORD)),
                "random": In(stream.Signature(8)),
                "writes": Out(stream.Signature(sponge_word(address_bits))),
                "samples": Out(stream.Signature(PAIR)),
                "restart": Out(1),
                "at_last": In(1),
                **dict.fromkeys(("idle", "waits", "fails"), Out(1)),
                "first": Out(layout),
                "wipe": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The first destination, and the one after it."""
        m = Module()
        m.submodules.sampler = sampler = self.sampler
        connect(m, sampler.samples, flipped(self.samples))
        first = self.first
        second = Signal.like(self.next.payload)
        active, waiting, ends = Signal(), Signal(), Signal()
        m.d.comb += [
            self.idle.eq(~active & ~waiting),
            self.next.ready.eq(~waiting),
            self.fails.eq(sampler.ends & ~sampler.suffices),
            self.restart.eq(self.fails | self.wipe),
            sampler.wipe.eq(self.wipe),
            sampler.at_last.eq(self.at_last),
            sampler.destination.eq(first.destination),
            sampler.words.payload.eq(self.words.payload),
        ]

        is_bytes, is_drawn = Signal(), Signal()
        drawn, gathered = Signal(WORD_BITS), Signal(3)  # 4: there is a word
        is_second, is_written, moves = Signal(), Signal(), Signal()
        count = Signal(SMALL.group_bits + 1)  # of words: two seeds begin at a multiple of two
        writes = self.writes
        offers = Mux(is_drawn, gathered[2], is_bytes & self.words.valid)
        m.d.comb += [
            is_bytes.eq(active & (first.destination == Destination.BYTES.value)),
            is_drawn.eq(active & (first.destination == Destination.DRAWN.value)),
            self.random.ready.eq(is_drawn & ~gathered[2]),
            self.waits.eq(self.random.ready & ~self.random.valid),
            writes.valid.eq(offers & ~is_written),
            writes.payload.address.eq(Cat(count[:-1], first.base[0] | count[-1], first.base[1:])),
            writes.payload.draws.eq(is_drawn),
            writes.payload.hashed.eq(self.words.payload.data),
            writes.payload.drawn.eq(drawn),
            moves.eq(offers & is_second & (is_written | writes.ready)),
            sampler.enable.eq(active & ~is_bytes & ~is_drawn),
            sampler.words.valid.eq(self.words.valid),
            self.words.ready.eq((is_bytes & moves) | sampler.words.ready),
            ends.eq(
                sampler.ends
                | (moves & Mux(is_drawn, count == DRAWN_WORDS - 1, self.words.payload.last))
            ),
        ]
        with m.If(offers):
            m.d.sync += [is_second.eq(1), is_written.eq(is_written | writes.ready)]
        with m.If(moves):
            m.d.sync += [is_second.eq(0), is_written.eq(0), count.eq(count + 1)]
            with m.If(is_drawn):
                m.d.sync += gathered.eq(0)
        with m.If(self.random.ready & self.random.valid):
            m.d.sync += [
                drawn.eq(drawn >> 8 | self.random.payload << WORD_BITS - 8),
                gathered.eq(gathered + 1),
            ]

        with m.If(~active):
            m.d.sync += count.eq(0)
        with m.If(ends):
            m.d.sync += active.eq(0)
        with m.If(~active & waiting):
            m.d.sync += [active.eq(1), waiting.eq(0), first.eq(second)]
        with m.If(self.next.valid & self.next.ready):
            m.d.sync += [waiting.eq(1), second.eq(self.next.payload)]
        with m.If(self.fails | self.wipe):
            m.d.sync += [active.eq(0), waiting.eq(0)]
        with m.If(self.wipe):
            m.d.sync += [
                drawn.eq(0),
                gathered.eq(0),
                is_second.eq(0),
                is_written.eq(0),
            ]
        return m
