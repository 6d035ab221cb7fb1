"""Sampled polynomials between the sponge side, which fills them, and the arithmetic side.

Of ML-KEM a word is two coefficients, of ML-DSA one, or two where several lanes read. A ring:
polynomials are filled, and read, in the order of both sides' programs. The arithmetic side reads
the oldest one that is complete, in any order of words, as often as it likes, and releases it.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.block_ram import BlockRam
from coprime.cells.target import Target
from coprime.model.lattice.large_arithmetic import NUMBER_BITS

LANE_BITS = 18
PAIR = data.StructLayout({"even": LANE_BITS, "odd": LANE_BITS})
"""Two consecutive coefficients, signed: the even one in the low bits."""
NUMBER = signed(NUMBER_BITS)
"""A coefficient of ML-DSA."""
NUMBER_PAIR = data.StructLayout({"even": NUMBER, "odd": NUMBER})
"""Two consecutive coefficients of ML-DSA: the even one in the low bits."""
BUFFER_WORDS = 1024
PAIRS, NUMBERS = 128, 256
"""Words of a polynomial."""
JOINED_WORDS = 512
"""Words of NUMBER_PAIR in a memory, as many as a block RAM of these has."""


def joined_polynomials(lanes: int) -> int:
    """Polynomials that are buffered for several lanes of numbers: 16 for 8, 8 for 4."""
    return lanes // 2 * JOINED_WORDS // PAIRS


class SampleBuffer(wiring.Component):
    """1,024 words: 8 polynomials of 128 pairs of coefficients, or 4 of 256 numbers.

    For several lanes of numbers there are `joined_polynomials` of 128 pairs, with JOINED_WORDS in
    the memory of each two lanes.

    Parameters
    ----------
    numbers, pairs (bool): words of both are stored, in turn, or with several lanes of one of them
    lanes (int): so many consecutive pairs, or numbers, are read at once: `word` is then an array,
        and `address` has fewer bits. Each pair is read from a memory of its own

    Members
    -------
    samples (in): words of PAIR, in order, or of NUMBER_PAIR for several lanes of numbers; not ready
        while no polynomial is free. The payload must be 0 from two cycles after `wipe`, or a reset,
        on, until a word is offered
    restart (1 bit, in): forget the words of the polynomial that is being filled, also one that is
        taken in this cycle; not with its last word
    full (out): polynomials that are complete and not released: a polynomial counts from the cycle
        after its last word was taken, and no longer from the cycle after `release`
    room (1 bit, out): a polynomial is free, or being filled
    at_last (1 bit, out): the next word is the last one of its polynomial
    address (in), word (out): of the oldest complete polynomial; the word, of PAIR, a cycle after
        its address. With several lanes an array: of PAIR, pairs lanes * address and so on; or of
        signed 24 bits, numbers lanes * address and so on
    release (1 bit, in): the oldest one is no longer needed; only while `full` is not 0. Words whose
        addresses were given before are still valid. The next address is of the next polynomial
    holds_pairs (1 bit, in): with `numbers` and `pairs` only: words are pairs from the next `begin`
        on, and stable until the one after it
    begin (1 bit, in): with both only: forget everything
    wipe (1 bit, in): forget everything, and write the payload everywhere, which is 0: two cycles
        more than there are words
    wiping (1 bit, out): this is under way, as it is after a reset; no word is taken
    """

    def __init__(
        self,
        *,
        numbers: bool = False,
        pairs: bool = True,
        lanes: int = 1,
        target: Target = Target.GENERIC,
    ):
        self.holds_both = numbers and pairs
        assert lanes == 1 or not self.holds_both
        joins = numbers and lanes > 1
        self.word_layout = NUMBER_PAIR if joins else PAIR
        """Of a word that is written."""
        memories = lanes // 2 if joins else lanes
        self.memory_bits = memories.bit_length() - 1
        self.memories = [
            BlockRam(
                self.word_layout.size,
                JOINED_WORDS if joins else BUFFER_WORDS // lanes,
                target=target,
            )
            for _ in range(memories)
        ]
        self.polynomials = (
            joined_polynomials(lanes) if joins else BUFFER_WORDS // (PAIRS if pairs else NUMBERS)
        )
        self.word_bits = bits_for((NUMBERS if numbers and not joins else PAIRS) - 1)
        read = data.ArrayLayout(NUMBER if joins else PAIR, lanes)
        both = dict.fromkeys(("holds_pairs", "begin"), In(1)) if self.holds_both else {}
        super().__init__(
            {
                "samples": In(stream.Signature(self.word_layout)),
                "restart": In(1),
                "full": Out(range(self.polynomials + 1)),
                "room": Out(1),
                "at_last": Out(1),
                "address": In(self.word_bits - self.memory_bits),
                "word": Out(PAIR if lanes == 1 else read),
                "release": In(1),
                "wipe": In(1),
                "wiping": Out(1),
                **both,
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Two numbers of polynomials, and the number of those between them."""
        m = Module()
        oldest, newest = (Signal(range(self.polynomials)) for _ in range(2))
        filled = Signal(PAIRS.bit_length() - 1 if self.holds_both else self.word_bits)
        # With both, the next bit is a polynomial's number, or its second half.
        is_last_half: Value = Const(1)
        address, most, step = self.address, Const(self.polynomials), Const(1)
        if self.holds_both:
            is_pair = self.holds_pairs
            is_last_half = is_pair | newest[0]
            most = Mux(is_pair, self.polynomials, self.polynomials // 2)
            step = Mux(is_pair, 1, 2)
            half = Mux(is_pair, oldest[0], address[-1])
            address = Cat(address[:-1], half)
        ends = Signal()  # `filled` is the last one: a register, as `at_last` decides much else
        wiping, begins = Signal(init=1), Signal(2, init=3)
        taken, completes = Signal(), Signal()
        m.d.comb += [
            self.room.eq(self.full != most),
            self.samples.ready.eq(self.room & ~wiping),
            taken.eq(self.samples.valid & self.samples.ready),
            self.at_last.eq(ends & is_last_half),
            completes.eq(taken & self.at_last),
            self.wiping.eq(wiping),
        ]
        read = Cat(address, oldest[1:] if self.holds_both else oldest)
        self._connect(m, read, Cat(filled, newest), taken, wiping)
        with m.If(taken | wiping):
            m.d.sync += Cat(filled, newest).eq(Cat(filled, newest) + 1)
            m.d.sync += ends.eq(filled[1:].all() & ~filled[0])
        with m.If(self.restart):
            m.d.sync += [filled.eq(0), ends.eq(0)]
            if self.holds_both:
                m.d.sync += newest[0].eq(newest[0] & self.holds_pairs)
        with m.If(self.release):
            m.d.sync += oldest.eq(oldest + step)
        with m.If(completes & ~self.release):
            m.d.sync += self.full.eq(self.full + 1)
        with m.If(~completes & self.release):
            m.d.sync += self.full.eq(self.full - 1)
        with m.If(wiping & Cat(filled, newest).all()):
            m.d.sync += wiping.eq(0)
        m.d.sync += begins.eq(begins >> 1)
        with m.If(self.wipe):
            m.d.sync += [wiping.eq(1), begins.eq(3)]
        with m.If(self.wipe | begins.any() | (self.begin if self.holds_both else 0)):
            m.d.sync += [register.eq(0) for register in (filled, ends, newest, oldest, self.full)]
        return m

    def _connect(self, m: Module, read: Value, written: Value, taken: Value, wiping: Value) -> None:
        """The memory, or several: a word is in that of its number's lowest bits."""
        below, word = self.memory_bits, self.word.as_value()
        for number, memory in enumerate(self.memories):
            m.submodules[f"memory_{number}" if below else "memory"] = memory
            takes = taken & (written[:below] == number) if below else taken
            m.d.comb += [
                memory.b_address.eq(written[below:]),
                memory.b_write.eq(takes | wiping),
                memory.b_write_data.eq(self.samples.payload),
                memory.a_address.eq(read),
                word.word_select(number, memory.width).eq(memory.a_data),
            ]
