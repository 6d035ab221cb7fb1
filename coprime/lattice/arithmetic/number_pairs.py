"""Two numbers at once from the words of the byte memory, and to them.

Source: FIPS 203, algorithms 5 and 6, and FIPS 204, algorithms 16 to 19. As `number_unpacker` and
`number_packer`, where a word is read or written in every other cycle; two numbers may end in two
words. ML-KEM's words are of 64 bits, so that its numbers never wait for one.
"""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up

from .number_packer import WORD_BITS

_QUEUE = {32: 3, 64: 1}
"""Words that wait to be written, by their bits: of 64 bits two numbers complete one at most in
every other cycle."""


def _reached(word_bits: int, number_bits: int) -> int:
    """From the beginning of a word to the end of two numbers that begin in it, in bits at most."""
    return word_bits - 1 + 2 * number_bits


def _second(number_bits: int, widths: Sequence[int], width: Value, pair: Value) -> Value:
    """The second number of a pair."""
    found: Value = pair[widths[0] :][:number_bits]
    for place, bits in enumerate(widths):
        found = Mux(width == place, pair[bits:][:number_bits], found)
    return found


class PairUnpacker(wiring.Component):
    """Gives the 256 numbers of a polynomial, one or two at once.

    READY cycles after `start` numbers may be taken, from then on at most BITS_A_CYCLE bits a cycle
    and what `debts` allows. Words of 64 bits give them READY_LONG cycles after `start`, in every
    cycle.

    Parameters
    ----------
    widths : bits of a number, each at most 20, or 12 with words of 64 bits
    word_bits (int): 32 or 64

    Members
    -------
    width (in): place of the number's bits in `widths`; stable from `start` on
    pairs (1 bit, in): two numbers are taken at once; stable as well
    start (1 bit, in): forget what is left; fetch the words of 256 numbers
    turn (1 bit, in): 1 in every other cycle
    read (1 bit, out): a word is read in this cycle; only with `turn`
    word (in): it, a cycle later
    number, second (out), take (1 bit, in): the current number, the one after it, and the next ones
        are needed
    wipe (1 bit, in): clear the words
    """

    READY, READY_LONG = 8, 4

    def __init__(self, widths: Sequence[int], word_bits: int = WORD_BITS):
        self.widths, self.word_bits = tuple(widths), word_bits
        self.number_bits = max(widths)
        super().__init__(
            {
                "width": In(range(len(widths))),
                **dict.fromkeys(("pairs", "start", "turn"), In(1)),
                "read": Out(1),
                "word": In(word_bits),
                **dict.fromkeys(("number", "second"), Out(self.number_bits)),
                **dict.fromkeys(("take", "wipe"), In(1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The window, and what is fetched for it."""
        m = Module()
        reached = _reached(self.word_bits, self.number_bits)
        window = -(-reached // self.word_bits)  # words in which two numbers begin and end
        count_of_words = window + 1  # and one that waits
        words = [Signal(self.word_bits, name=f"word_{k}") for k in range(count_of_words)]
        held = Signal(range(count_of_words + 1))  # words in the window and after it
        promised = Signal(range(count_of_words + 1))  # the same, with one that is being read
        lengths = [256 * width // self.word_bits for width in self.widths]
        left = Signal(range(max(lengths) + 1))  # words to read
        offset = Signal(range(self.word_bits))
        position = Signal(range(reached + 1))
        most_drops = window - 1
        arrives, drops, kept = Signal(), Signal(range(window)), Signal.like(held)
        bits = look_up(self.widths, self.width, self.number_bits.bit_length())
        m.d.comb += [
            position.eq(offset + Mux(self.pairs, bits << 1, bits)),
            drops.eq(Mux(self.take, position[len(offset) :], 0)),
            self.read.eq(self.turn & (left != 0) & (promised != count_of_words)),
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
            for count in range(1, most_drops + 1):
                if k + count < count_of_words:
                    with m.If(drops == count):
                        m.d.sync += word.eq(words[k + count])
            with m.If(arrives & (kept == k)):
                m.d.sync += word.eq(self.word)
        with m.If(self.start):
            m.d.sync += [
                left.eq(look_up(lengths, self.width, len(left))),
                *(register.eq(0) for register in (held, promised, offset, arrives)),
            ]
        with m.If(self.wipe):
            m.d.sync += [word.eq(0) for word in words]
        self._select(m, Cat(words[:window]), offset)
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
    """Takes numbers, one or two at once, as many as `debts` allows; a word is written at most five
    cycles after its last number. Words of 64 bits take them in every cycle, and are written at
    most three cycles after that.

    Parameters
    ----------
    widths : bits of a number, each at most 20, or 12 with words of 64 bits
    word_bits (int): 32 or 64

    Members
    -------
    width (in): place of the number's bits in `widths`; stable from `start` on
    pairs (1 bit, in): two numbers are put at once; stable as well
    start (1 bit, in): forget what is left
    turn (1 bit, in): 1 in every other cycle: words may be written
    number, second (in), put (1 bit, in): numbers; bits above their width are ignored
    write (1 bit, out), word (out): a word is written in this cycle; only with `turn`
    wipe (1 bit, in): clear the words
    """

    def __init__(self, widths: Sequence[int], word_bits: int = WORD_BITS):
        self.widths, self.word_bits = tuple(widths), word_bits
        self.number_bits = max(widths)
        super().__init__(
            {
                "width": In(range(len(widths))),
                **dict.fromkeys(("pairs", "start", "turn"), In(1)),
                **dict.fromkeys(("number", "second"), In(self.number_bits)),
                "put": In(1),
                "write": Out(1),
                "word": Out(word_bits),
                "wipe": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Both numbers are shifted to their place by three levels of multiplexers: the last one
        joins them to those before, a cycle after the others."""
        m = Module()
        bits = 2 * self.number_bits
        reached = _reached(self.word_bits, self.number_bits)
        offset = Signal(range(self.word_bits))
        begun = Signal(self.word_bits)  # numbers of the word that is not complete
        position = Signal(range(reached + 1))
        step = look_up(self.widths, self.width, self.number_bits.bit_length())
        fine, middle = Signal(bits + 1), Signal(bits + 7)
        # What `middle` was, and its place in bytes.
        moved, octets = Signal(bits + 7), Signal(len(offset) - 3)
        total = Signal(reached)
        most = reached // self.word_bits  # words that two numbers may complete
        joins, completes = Signal(), Signal(range(most + 1))
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
            completes.eq(position[len(offset) :]),
        ]
        with m.If(self.put):
            m.d.sync += offset.eq(position)
        with m.If(joins):
            m.d.sync += begun.eq(total)
            for count in range(1, most + 1):
                with m.If(completes == count):
                    m.d.sync += begun.eq(total[count * self.word_bits :])
        self._queue(m, total, most, Mux(joins, completes, 0))
        with m.If(self.start):
            m.d.sync += [offset.eq(0), joins.eq(0), begun.eq(0)]
        with m.If(self.wipe):
            m.d.sync += [moved.eq(0), begun.eq(0)]
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

    def _queue(self, m: Module, total: Value, most: int, count: Value) -> None:
        """Words wait until it is their turn; `count` new ones come, the lowest bits first."""
        places = _QUEUE[self.word_bits]
        queue = [Signal(self.word_bits, name=f"queued_{k}") for k in range(places)]
        held, kept = Signal(range(places + 1)), Signal(range(places + 1))
        m.d.comb += [
            self.write.eq(self.turn & (held != 0)),
            self.word.eq(queue[0]),
            kept.eq(held - self.write),
        ]
        m.d.sync += held.eq(kept + count)
        for k, word in enumerate(queue):
            if k + 1 < places:
                with m.If(self.write):
                    m.d.sync += word.eq(queue[k + 1])
            for new in range(most):
                if k >= new:
                    with m.If((kept == k - new) & (count > new)):
                        m.d.sync += word.eq(total[new * self.word_bits :][: self.word_bits])
        with m.If(self.start):
            m.d.sync += held.eq(0)
        with m.If(self.wipe):
            m.d.sync += [word.eq(0) for word in queue]
