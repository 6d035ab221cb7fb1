"""Numbers of up to 12 bits from the words of the byte memory.

Two words are a window in which a number begins; two more wait. Each moves on to the next place as
soon as that is free, so that no place has a multiplexer. A number is selected by three levels of
four-way and two-way multiplexers.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.luts import select_word
from coprime.cells.tables import look_up
from coprime.cells.target import Target

from .number_offset import OFFSET_BITS, WORD_BITS
from .steps import BYTE_WIDTHS

NUMBER_BITS = BYTE_WIDTHS[-1]
_COUNT_BITS = 7
_EIGHTH = 3
"""256 numbers take 8 words for each bit."""
_WORDS = 4


def words_of(width: int) -> int:
    """Words of the byte memory that 256 numbers take."""
    return width << _EIGHTH


WIDTH_MASKS = [(1 << width) - 1 for width in BYTE_WIDTHS]
"""The bits of a number, by the number of its width."""


class Unpacker(wiring.Component):
    """Gives the 256 numbers of a polynomial, at most one a cycle, without gaps.

    A number may be taken from the 7th cycle after `start` on. Words are read in cycles with `turn`,
    which is 1 in every other cycle.

    Members
    -------
    width (in): place of the number's bits in BYTE_WIDTHS; stable from `start` on
    offset (5 bits, in), completes (1 bit, in): of NumberOffset, for the current number
    start (1 bit, in): forget what is left; fetch the words of 256 numbers
    turn (1 bit, in)
    read (1 bit, out): a word is read in this cycle; only with `turn`
    word (32 bits, in): it, a cycle later
    number (12 bits, out), take (1 bit, in): the current number, and the next one is needed
    wipe (1 bit, in): clear the words
    """

    READY = 7

    def __init__(self, target: Target = Target.GENERIC) -> None:
        self.target = target
        super().__init__(
            {
                "width": In(range(len(BYTE_WIDTHS))),
                "offset": In(OFFSET_BITS),
                **dict.fromkeys(("completes", "start", "turn"), In(1)),
                "read": Out(1),
                "word": In(WORD_BITS),
                "number": Out(NUMBER_BITS),
                **dict.fromkeys(("take", "wipe"), In(1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The window, and what is fetched for it."""
        m = Module()
        words = [Signal(WORD_BITS, name=f"word_{k}") for k in range(_WORDS)]
        held = [Signal(name=f"holds_{k}") for k in range(_WORDS)]
        room = Signal(range(_WORDS + 1), init=_WORDS)  # for words that are not being read yet
        left = Signal(_COUNT_BITS)  # words that are to be read
        arrives, drops, offset = Signal(), Signal(), self.offset
        m.d.comb += [
            drops.eq(self.take & self.completes),
            self.read.eq(self.turn & left.any() & (room != 0)),
        ]
        m.d.sync += arrives.eq(self.read)
        rooms = [row + drop - read for read in range(2) for drop in range(2) for row in range(8)]
        m.d.sync += room.eq(look_up(rooms, Cat(room, drops, self.read), len(room)))
        # A difference of bits: a carry chain would take more LUTs.
        with m.If(self.read):
            m.d.sync += left.eq(Cat(left[k] ^ ~left[:k].any() for k in range(_COUNT_BITS)))
        # A word moves where the one before it moves, or where there is none.
        moves = drops
        sources = [*zip(words[1:], held[1:], strict=True), (self.word, arrives)]
        for word, holds, (source, is_there) in zip(words, held, sources, strict=True):
            takes = moves | ~holds
            with m.If(takes):
                m.d.sync += [word.eq(source), holds.eq(is_there)]
            moves = takes
        with m.If(self.start):
            total = look_up(BYTE_WIDTHS, self.width, _COUNT_BITS - _EIGHTH)
            m.d.sync += [left.eq(Cat(Const(0, _EIGHTH), total)), room.eq(_WORDS)]
            m.d.sync += [holds.eq(0) for holds in held]
        with m.If(self.wipe):
            m.d.sync += [*(word.eq(0) for word in words), left.eq(0)]

        window = Cat(words[0], words[1])
        coarse = _four_way(m, window, 8, offset[3:5], NUMBER_BITS + 7, self.target)
        middle = _four_way(m, coarse, 2, offset[1:3], NUMBER_BITS + 1, self.target)
        mask = look_up(WIDTH_MASKS, self.width, NUMBER_BITS)
        m.d.comb += self.number.eq(Mux(offset[0], middle[1:], middle[:NUMBER_BITS]) & mask)
        return m


def _four_way(
    m: Module, word: Value, distance: int, choice: Value, width: int, target: Target
) -> Signal:
    """`width` bits of a word from one of four places on."""
    found = Signal(width, name=f"from_{distance}")
    places = [word[k * distance : k * distance + width] for k in range(4)]
    m.d.comb += found.eq(select_word(m, places, choice, target))
    return found
