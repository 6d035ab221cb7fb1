"""One or two numbers at once from the words of the byte memory, two words at a time, and to them.

Source: FIPS 203, algorithms 5 and 6, and FIPS 204, algorithms 16 to 19. As `number_unpacker` and
`number_packer`, where the two banks of the byte memory are read or written in every other cycle.
"""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up

from .number_packer import WORD_BITS

PAIR_WORD_BITS = 2 * WORD_BITS
PAIR_BITS_A_CYCLE = PAIR_WORD_BITS // 2
_MOST_BITS = 20
"""Of a number: two numbers begin and end in two words of PAIR_WORD_BITS."""
_WORDS = 3
"""These two, and one that waits."""


def _second(number_bits: int, widths: Sequence[int], width: Value, pair: Value) -> Value:
    """The second number of a pair."""
    found: Value = pair[widths[0] :][:number_bits]
    for place, bits in enumerate(widths):
        found = Mux(width == place, pair[bits:][:number_bits], found)
    return found


class PairUnpacker(wiring.Component):
    """Gives the 256 numbers of a polynomial, one or two at once.

    READY cycles after `start` numbers may be taken, or READY_SHORT cycles after it if two of them
    have at most PAIR_BITS_A_CYCLE bits; from then on as `debts` allows.

    Parameters
    ----------
    widths : bits of a number, each at most 20

    Members
    -------
    width (in): place of the number's bits in `widths`; stable from `start` on
    pairs (1 bit, in): two numbers are taken at once; stable as well
    start (1 bit, in): forget what is left; fetch the words of 256 numbers
    turn (1 bit, in): 1 in every other cycle
    read (1 bit, out): a word is read in this cycle; only with `turn`
    word (64 bits, in): it, a cycle later
    number, second (out), take (1 bit, in): the current number, the one after it, and the next ones
        are needed
    wipe (1 bit, in): clear the words
    """

    READY, READY_SHORT = 5, 4

    def __init__(self, widths: Sequence[int]):
        self.widths = tuple(widths)
        self.number_bits = max(widths)
        assert self.number_bits <= _MOST_BITS
        super().__init__(
            {
                "width": In(range(len(widths))),
                **dict.fromkeys(("pairs", "start", "turn"), In(1)),
                "read": Out(1),
                "word": In(PAIR_WORD_BITS),
                **dict.fromkeys(("number", "second"), Out(self.number_bits)),
                **dict.fromkeys(("take", "wipe"), In(1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The window, and what is fetched for it."""
        m = Module()
        words = [Signal(PAIR_WORD_BITS, name=f"word_{k}") for k in range(_WORDS)]
        held = Signal(range(_WORDS + 1))  # words in the window and after it
        promised = Signal(range(_WORDS + 1))  # the same, with one that is being read
        lengths = [256 * width // PAIR_WORD_BITS for width in self.widths]
        left = Signal(range(max(lengths) + 1))  # words to read
        arrives, drops, kept = Signal(), Signal(), Signal.like(held)
        offset = Signal(range(PAIR_WORD_BITS))
        position = Signal(len(offset) + 1)
        bits = look_up(self.widths, self.width, self.number_bits.bit_length())
        m.d.comb += [
            position.eq(offset + Mux(self.pairs, bits << 1, bits)),
            drops.eq(self.take & position[-1]),
            self.read.eq(self.turn & (left != 0) & (promised != _WORDS)),
            kept.eq(held - drops),
        ]
        with m.If(self.take):
            m.d.sync += offset.eq(position)
        m.d.sync += [
            arrives.eq(self.read),
            held.eq(kept + arrives),
            promised.eq(promised + self.read - drops),
            left.eq(left - self.read),
        ]
        for k, word in enumerate(words):
            if k + 1 < _WORDS:
                with m.If(drops):
                    m.d.sync += word.eq(words[k + 1])
            with m.If(arrives & (kept == k)):
                m.d.sync += word.eq(self.word)
        with m.If(self.start):
            m.d.sync += [
                left.eq(look_up(lengths, self.width, len(left))),
                *(register.eq(0) for register in (held, promised, offset, arrives)),
            ]
        with m.If(self.wipe):
            m.d.sync += [word.eq(0) for word in words]
        self._select(m, Cat(words[:-1]), offset)
        return m

    def _select(self, m: Module, window: Value, offset: Value) -> None:
        """Both numbers, by three levels of multiplexers and one more for the second one."""
        bits = self.number_bits
        mask = look_up([(1 << width) - 1 for width in self.widths], self.width, bits)
        coarse, middle, fine = (Signal(2 * bits + more, name=f"level_{more}") for more in (7, 1, 0))
        m.d.comb += [
            coarse.eq((window >> (offset[3:] << 3))[: len(coarse)]),
            middle.eq((coarse >> (offset[1:3] << 1))[: len(middle)]),
            fine.eq(Mux(offset[0], middle[1:], middle)),
            self.number.eq(fine[:bits] & mask),
            self.second.eq(_second(bits, self.widths, self.width, fine) & mask),
        ]


class PairPacker(wiring.Component):
    """Takes numbers, one or two at once, as many as `debts` allows; a word is written at most four
    cycles after its last number, or three if two numbers have at most PAIR_BITS_A_CYCLE bits.

    Parameters
    ----------
    widths : bits of a number, each at most 20

    Members
    -------
    width (in): place of the number's bits in `widths`; stable from `start` on
    pairs (1 bit, in): two numbers are put at once; stable as well
    start (1 bit, in): forget what is left
    turn (1 bit, in): 1 in every other cycle: words may be written
    number, second (in), put (1 bit, in): numbers; bits above their width are ignored
    write (1 bit, out), word (64 bits, out): a word is written in this cycle; only with `turn`
    wipe (1 bit, in): clear the words
    """

    def __init__(self, widths: Sequence[int]):
        self.widths = tuple(widths)
        self.number_bits = max(widths)
        assert self.number_bits <= _MOST_BITS
        super().__init__(
            {
                "width": In(range(len(widths))),
                **dict.fromkeys(("pairs", "start", "turn"), In(1)),
                **dict.fromkeys(("number", "second"), In(self.number_bits)),
                "put": In(1),
                "write": Out(1),
                "word": Out(PAIR_WORD_BITS),
                "wipe": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Both numbers are shifted to their place by three levels of multiplexers: the last one
        joins them to those before, a cycle after the others."""
        m = Module()
        bits = 2 * self.number_bits
        offset = Signal(range(PAIR_WORD_BITS))
        begun = Signal(PAIR_WORD_BITS)  # numbers of the word that is not complete
        position = Signal(len(offset) + 1)
        step = look_up(self.widths, self.width, self.number_bits.bit_length())
        fine, middle = Signal(bits + 1), Signal(bits + 7)
        # What `middle` was, and its place in bytes.
        moved, octets = Signal(bits + 7), Signal(len(offset) - 3)
        total = Signal(bits + PAIR_WORD_BITS - 1)
        joins, completes = Signal(), Signal()
        pair = self._pair(m)
        m.d.comb += [
            position.eq(offset + Mux(self.pairs, step << 1, step)),
            fine.eq(Mux(offset[0], Cat(0, pair), pair)),
            middle.eq(fine << (offset[1:3] << 1)),
            total.eq(begun | (moved << (octets << 3))),
        ]
        m.d.sync += [
            moved.eq(middle),
            octets.eq(offset[3:]),
            joins.eq(self.put),
            completes.eq(position[-1]),
        ]
        with m.If(self.put):
            m.d.sync += offset.eq(position)
        with m.If(joins):
            m.d.sync += begun.eq(total)
            with m.If(completes):
                m.d.sync += begun.eq(total[PAIR_WORD_BITS:])
        self._queue(m, total[:PAIR_WORD_BITS], joins & completes)
        with m.If(self.start):
            m.d.sync += [register.eq(0) for register in (offset, joins, begun)]
        with m.If(self.wipe):
            m.d.sync += [register.eq(0) for register in (moved, begun)]
        return m

    def _pair(self, m: Module) -> Value:
        """One number, or two, without gaps."""
        bits = self.number_bits
        mask = look_up([(1 << width) - 1 for width in self.widths], self.width, bits)
        pair = Signal(2 * bits)
        second = Mux(self.pairs, self.second & mask, 0)
        found: Value = second << self.widths[0]
        for place, width in enumerate(self.widths):
            found = Mux(self.width == place, second << width, found)
        m.d.comb += pair.eq(found | (self.number & mask))
        return pair

    def _queue(self, m: Module, total: Value, comes: Value) -> None:
        """Two words may wait until it is their turn: one may be complete a cycle after another."""
        waiting, held, kept = Signal(PAIR_WORD_BITS), Signal(2), Signal(2)
        m.d.comb += [
            self.write.eq(self.turn & (held != 0)),
            kept.eq(held - self.write),
        ]
        m.d.sync += held.eq(kept + comes)
        with m.If(self.write):
            m.d.sync += self.word.eq(waiting)
        with m.If(comes & (kept == 0)):
            m.d.sync += self.word.eq(total)
        with m.If(comes & (kept != 0)):
            m.d.sync += waiting.eq(total)
        with m.If(self.start):
            m.d.sync += held.eq(0)
        with m.If(self.wipe):
            m.d.sync += [self.word.eq(0), waiting.eq(0)]
