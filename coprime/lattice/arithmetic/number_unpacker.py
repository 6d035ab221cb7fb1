"""Numbers of one of several widths from the words of the byte memory.

Source: FIPS 204, algorithms 18 and 19. Two words are a window in which a number begins; a third one
waits. A number is selected by three levels of multiplexers.
"""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up

from .number_packer import WORD_BITS

_WORDS = 3


class NumberUnpacker(wiring.Component):
    """Gives the 256 numbers of a polynomial, at most one in `interval` cycles, without gaps.

    A number may be taken from the 7th cycle after `start` on. Words are read in cycles with `turn`,
    which is 1 in every other cycle.

    Parameters
    ----------
    widths : bits of a number, each at most 20

    Members
    -------
    width (in): place of the number's bits in `widths`; stable from `start` on
    start (1 bit, in): forget what is left; fetch the words of 256 numbers
    turn (1 bit, in)
    read (1 bit, out): a word is read in this cycle; only with `turn`
    word (32 bits, in): it, a cycle later
    number (out), take (1 bit, in): the current number, and the next one is needed
    wipe (1 bit, in): clear the words
    """

    READY = 7

    def __init__(self, widths: Sequence[int]):
        self.widths = tuple(widths)
        self.number_bits = max(widths)
        super().__init__(
            {
                "width": In(range(len(widths))),
                **dict.fromkeys(("start", "turn"), In(1)),
                "read": Out(1),
                "word": In(WORD_BITS),
                "number": Out(self.number_bits),
                **dict.fromkeys(("take", "wipe"), In(1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The window, and what is fetched for it."""
        m = Module()
        words = [Signal(WORD_BITS, name=f"word_{k}") for k in range(_WORDS)]
        held = Signal(range(_WORDS + 1))  # words in the window and after it
        promised = Signal(range(_WORDS + 1))  # the same, with one that is being read
        lengths = [8 * width for width in self.widths]
        left = Signal(range(max(lengths) + 1))  # words to read
        arrives, drops = Signal(), Signal()
        offset = Signal(WORD_BITS.bit_length())
        position = Signal(WORD_BITS.bit_length())
        kept = Signal.like(held)
        m.d.comb += [
            position.eq(offset[:-1] + look_up(self.widths, self.width, len(offset) - 1)),
            drops.eq(self.take & position[-1]),
            self.read.eq(self.turn & (left != 0) & (promised != _WORDS)),
            kept.eq(held - drops),
        ]
        with m.If(self.take):
            m.d.sync += offset.eq(position[:-1])
        m.d.sync += [
            arrives.eq(self.read),
            held.eq(kept + arrives),
            promised.eq(promised + self.read - drops),
            left.eq(left - self.read),
        ]
        for k, word in enumerate(words):
            with m.If(arrives & (kept == k)):
                m.d.sync += word.eq(self.word)
            if k + 1 < _WORDS:
                with m.Elif(drops):
                    m.d.sync += word.eq(words[k + 1])
        with m.If(self.start):
            m.d.sync += [
                left.eq(look_up(lengths, self.width, len(left))),
                *(register.eq(0) for register in (held, promised, offset, arrives)),
            ]
        with m.If(self.wipe):
            m.d.sync += [word.eq(0) for word in words]

        window = Cat(words[0], words[1])
        bits = self.number_bits
        mask = look_up([(1 << width) - 1 for width in self.widths], self.width, bits)
        coarse, middle, fine = (Signal(bits + more, name=f"level_{more}") for more in (7, 1, 0))
        m.d.comb += [
            coarse.eq((window >> (offset[3:5] << 3))[: len(coarse)]),
            middle.eq((coarse >> (offset[1:3] << 1))[: len(middle)]),
            fine.eq(Mux(offset[0], middle[1:], middle)),
            self.number.eq(fine & mask),
        ]
        return m
