"""Words of the byte memory from numbers of one of several widths.

Source: FIPS 204, algorithms 16 and 17: the lowest bits first.
"""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up

WORD_BITS = 32
BITS_A_CYCLE = WORD_BITS // 2
"""As a word is read or written in every other cycle at most."""
ML_DSA_WIDTHS = (3, 4, 6, 8, 10, 13, 18, 20)
"""s of eta 2, s of eta 4 and w1, w1 of ML-DSA-44, places of hints, t1, t0, z."""
HINT_BITS = 8
"""Of a hint's place."""


def interval(width: int) -> int:
    """Cycles from one number to the next one at least."""
    return -(-width // BITS_A_CYCLE)


class NumberPacker(wiring.Component):
    """Takes numbers, at most one in `interval` cycles; a word is written at most three cycles
    after its last one.

    Parameters
    ----------
    widths : bits of a number, each at most 20

    Members
    -------
    width (in): place of the number's bits in `widths`; stable from `start` on
    start (1 bit, in): forget what is left
    turn (1 bit, in): 1 in every other cycle: words may be written
    number (in), put (1 bit, in): a number; bits above its width are ignored
    write (1 bit, out), word (32 bits, out): a word is written in this cycle; only with `turn`
    wipe (1 bit, in): clear the words
    """

    def __init__(self, widths: Sequence[int]):
        self.widths = tuple(widths)
        self.number_bits = max(widths)
        super().__init__(
            {
                "width": In(range(len(widths))),
                **dict.fromkeys(("start", "turn"), In(1)),
                "number": In(self.number_bits),
                "put": In(1),
                "write": Out(1),
                "word": Out(WORD_BITS),
                "wipe": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The number is shifted to its place by three levels of multiplexers: the last one joins it
        to those before, a cycle after the others."""
        m = Module()
        bits = self.number_bits
        offset = Signal(WORD_BITS.bit_length())
        begun = Signal(WORD_BITS)  # numbers of the word that is not complete
        full = Signal()
        step = look_up(self.widths, self.width, bits.bit_length())
        mask = look_up([(1 << width) - 1 for width in self.widths], self.width, bits)
        position = Signal(WORD_BITS.bit_length())
        fine, middle = Signal(bits + 1), Signal(bits + 7)
        total = Signal(bits + WORD_BITS - 1)
        masked = Signal(bits)
        moved, octets = Signal(bits + 7), Signal(2)  # what `middle` was, and its place in bytes
        joins, completes = Signal(), Signal()
        m.d.comb += [
            position.eq(offset[:-1] + step),
            masked.eq(self.number & mask),
            fine.eq(Mux(offset[0], Cat(0, masked), masked)),
            middle.eq(fine << (offset[1:3] << 1)),
            total.eq(begun | (moved << (octets << 3))),
            self.write.eq(full & self.turn),
        ]
        with m.If(self.write):
            m.d.sync += full.eq(0)
        m.d.sync += [
            moved.eq(middle),
            octets.eq(offset[3:5]),
            joins.eq(self.put),
            completes.eq(position[-1]),
        ]
        with m.If(self.put):
            m.d.sync += offset.eq(position[:-1])
        with m.If(joins):
            m.d.sync += begun.eq(total)
        with m.If(joins & completes):
            m.d.sync += [full.eq(1), self.word.eq(total), begun.eq(total[WORD_BITS:])]
        with m.If(self.start):
            m.d.sync += [offset.eq(0), joins.eq(0), begun.eq(0), full.eq(0)]
        with m.If(self.wipe):
            m.d.sync += [moved.eq(0), begun.eq(0), self.word.eq(0)]
        return m
