"""Words of the byte memory from numbers of up to 12 bits."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.luts import choose_word, place_lut
from coprime.cells.target import Target

from .number_offset import OFFSET_BITS, WORD_BITS
from .unpacker import NUMBER_BITS


class Packer(wiring.Component):
    """Takes numbers, at most one a cycle; a word is written at most two cycles after its last one.

    Members
    -------
    offset (5 bits, in), completes (1 bit, in): of NumberOffset, for `number`
    turn (1 bit, in): 1 in every other cycle: words may be written
    number (12 bits, in), put (1 bit, in): a number; bits above its width are 0
    write (1 bit, out), word (32 bits, out): a word is written in this cycle; only with `turn`
    wipe (1 bit, in): clear the words
    """

    def __init__(self, target: Target = Target.GENERIC) -> None:
        self.target = target
        super().__init__(
            {
                "offset": In(OFFSET_BITS),
                **dict.fromkeys(("completes", "turn"), In(1)),
                "number": In(NUMBER_BITS),
                "put": In(1),
                "write": Out(1),
                "word": Out(WORD_BITS),
                "wipe": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The number is shifted to its place by three levels of multiplexers."""
        m = Module()
        offset, number = self.offset, self.number
        begun = Signal(WORD_BITS)  # numbers of the word that is not complete
        full, over = Signal(), NUMBER_BITS - 1
        fine = choose_word(m, offset[0], Cat(0, number), Cat(number, 0), self.target)
        middle = _shifted(m, fine, 2, offset[1:3], Const(0, 0), NUMBER_BITS + 7, self.target)
        total = _shifted(m, middle, 8, offset[3:5], begun, WORD_BITS, self.target)
        completes = Signal()
        m.d.comb += [
            self.write.eq(full & self.turn),
            completes.eq(self.put & self.completes),
        ]
        with m.If(self.write):
            m.d.sync += full.eq(0)
        with m.If(completes):
            m.d.sync += [full.eq(1), self.word.eq(total)]
        with m.If(self.put):
            m.d.sync += [
                begun[:over].eq(self._begins(m, middle, total)),
                begun[over:].eq(total[over:]),
            ]
        with m.If(completes | self.wipe):
            m.d.sync += begun[over:].eq(0)
        with m.If(self.wipe):
            m.d.sync += [begun[:over].eq(0), self.word.eq(0), full.eq(0)]
        return m

    def _begins(self, m: Module, middle: Value, total: Value) -> Value:
        """The lowest bits of a word: of the next one after a number that completes a word, and then
        is shifted by 16 or 24. One LUT a bit."""
        found: list[Value] = []
        for place in range(NUMBER_BITS - 1):
            by_24, by_16 = middle[place + 8], middle[place + 16 : place + 17]
            if self.target is not Target.XC7:
                later = Mux(self.offset[3], by_24, by_16)
                found.append(Mux(self.completes, later, total[place]))
                continue

            def bit(completes: int, high: int, total: int, by_24: int, by_16: int = 0) -> bool:
                return bool((by_24 if high else by_16) if completes else total)

            found.append(
                place_lut(m, bit, self.completes, self.offset[3], total[place], by_24, *by_16)
            )
        return Cat(found)


def _shifted(
    m: Module, word: Value, distance: int, choice: Value, old: Value, width: int, target: Target
) -> Signal:
    """A word, shifted by 0 to 3 times a distance, next to bits of an old one, which are 0 where the
    shifted ones may be 1. Each bit is one LUT, of at most four sources, or three and an old one.
    """
    found = Signal(width, name=f"shifted_{distance}")
    if target is not Target.XC7:
        m.d.comb += found.eq(old | (word << (choice << distance.bit_length() - 1)))
        return found
    for place in range(width):
        sources = [k for k in range(4) if 0 <= place - k * distance < len(word)]
        kept = [old[place]] if place < len(old) else []

        def shifts(low: int, high: int, *bits: int, sources: list[int] = sources) -> bool:
            chosen = low + 2 * high
            return any(bits[len(sources) :]) or (
                chosen in sources and bool(bits[sources.index(chosen)])
            )

        bits = [word[place - k * distance] for k in sources]
        m.d.comb += found[place].eq(place_lut(m, shifts, *choice, *bits, *kept))
    return found
