"""Messages: words of the byte memory, and last bytes that are not in it."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.keccak.sponge_padding import BUS_BYTES, BUS_WORD
from coprime.cells.luts import same
from coprime.cells.target import Target
from coprime.lattice.memory.byte_memory import WORD_BITS
from coprime.lattice.memory.places import SEED_WORDS

GROUP_BITS = (SEED_WORDS - 1).bit_length()
"""Width of a word's number in a seed."""
SEEDS_BITS = 6
"""Width of a number of seeds: the longest range has 50, that of z and a ciphertext."""
TAIL_BYTES = 2
TAIL = data.StructLayout({"data": 8 * TAIL_BYTES, "bytes": range(TAIL_BYTES + 1)})


def range_layout(address_bits: int) -> data.StructLayout:
    """A range of the byte memory, its address and its length less 1 in seeds; `last`: the message
    ends with it."""
    return data.StructLayout({"base": address_bits - GROUP_BITS, "seeds": SEEDS_BITS, "last": 1})


class Absorber(wiring.Component):
    """Reads ranges; a word at most every other cycle.

    The word that the message continues with waits in a register. From the cycle in which a range is
    taken to the one in which the next range or tail can be: 1, then 2 for each word, and more where
    the message waits.

    Members
    -------
    ranges (in): of `range_layout`
    tails (in): the message's last bytes, 1 or 2, of TAIL; taken only where no range can be
    address, word (out, in): of the byte memory
    message (out): of a hash unit
    forget (1 bit, in): the range and the word
    wipe (1 bit, in): the same, and clear the word
    """

    def __init__(self, address_bits: int, target: Target = Target.GENERIC):
        self.target = Target(target)
        super().__init__(
            {
                "ranges": In(stream.Signature(range_layout(address_bits))),
                "tails": In(stream.Signature(TAIL)),
                "address": Out(address_bits),
                "word": In(WORD_BITS),
                "message": Out(stream.Signature(BUS_WORD)),
                "forget": In(1),
                "wipe": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Fetch a word, and put it into the register once that is free."""
        m = Module()
        message = self.message
        reading, fetched = Signal(), Signal()
        taken = Signal.like(self.ranges.payload)
        word, seed = Signal(GROUP_BITS), Signal(SEEDS_BITS)  # the place in the range
        free, moves, ends = Signal(), Signal(), Signal()
        m.d.comb += [
            free.eq(~message.valid | message.ready),
            moves.eq(reading & fetched & free),
            ends.eq(word.all() & same(m, seed, taken.seeds, self.target)),
            self.address.eq(Cat(word, (taken.base + seed)[: len(taken.base)])),
            self.ranges.ready.eq(~reading),
            self.tails.ready.eq(~reading & free),
        ]
        with m.If(message.ready):
            m.d.sync += message.valid.eq(0)
        with m.If(self.ranges.valid & self.ranges.ready):
            m.d.sync += [reading.eq(1), taken.eq(self.ranges.payload)]
        with m.If(~reading):
            m.d.sync += Cat(word, seed).eq(0)
        with m.If(reading):
            m.d.sync += fetched.eq(1)
        with m.If(moves):
            m.d.sync += [
                Cat(word, seed).eq(Cat(word, seed) + 1),
                fetched.eq(0),
                reading.eq(~ends),
            ]
        is_tail = self.tails.valid & self.tails.ready
        tail = self.tails.payload
        payload = message.payload
        with m.If(moves):
            m.d.sync += [
                message.valid.eq(1),
                payload.eq(Cat(self.word, Const(BUS_BYTES, len(payload.bytes)), taken.last & ends)),
            ]
        with m.If(is_tail):  # the other bytes do not count
            m.d.sync += [
                message.valid.eq(1),
                payload.data[: len(tail.data)].eq(tail.data),
                payload.bytes.eq(tail.bytes),
                payload.last.eq(1),
            ]
        with m.If(self.forget | self.wipe):
            m.d.sync += [message.valid.eq(0), reading.eq(0), fetched.eq(0)]
        with m.If(self.wipe):
            m.d.sync += message.payload.data.eq(0)
        return m
