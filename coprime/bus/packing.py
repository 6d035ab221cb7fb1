"""Fast conversion of software's 32-bit words to an engine's digits, and back.

The gearbox of an accelerator shifts by a few bits per cycle, which takes little area. A cluster
feeds many engines through one bus, so here shifters put a word or a digit in its place in two
cycles.

Words and digits are streams, and can wait for their receiver. Each stream keeps its payload until
it is taken, unless the component is reset.
"""

from abc import abstractmethod
from collections.abc import Mapping

from amaranth.hdl import Const, Elaboratable, Module, Mux, Signal, Value, signed
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Member, Out
from amaranth.utils import bits_for

from coprime.bus.port import WORD_BITS

WORD_PLACES = 5
WORD_MASK = (1 << WORD_BITS) - 1
FINE_BITS = 3
"""The first of two cycles shifts by the lowest FINE_BITS bits of a place, the other by the rest."""


def shifted_up(m: Module, value: Value, place: Signal) -> Value:
    """Return `value` of a cycle ago, shifted up by `place`, which must not change in between."""
    finely = Signal(len(value) + (1 << FINE_BITS) - 1)
    m.d.sync += finely.eq(value << place[:FINE_BITS])
    coarsely = place[FINE_BITS:]
    return Mux(coarsely.any(), finely << (coarsely << FINE_BITS), finely)


class Packing(wiring.Component):
    """A conversion between the words of numbers and their digits.

    Raises ValueError for a headroom other than 0 with `alignable`.

    Parameters
    ----------
    digit_width : W, 1 to 255
    headroom : bits of a padded number beyond its length
    max_length : longest number in bits
    alignable : whether numbers may be at the upper end of their digits; the headroom must then be 0
    """

    def __init__(
        self, digit_width: int, headroom: int, max_length: int, *, alignable: bool = False
    ):
        if alignable and headroom:
            raise ValueError(f"headroom must be 0 where numbers are aligned, not {headroom}")
        self.digit_width, self.headroom = digit_width, headroom
        self.max_length, self.alignable = max_length, alignable
        super().__init__(self.ports(-(-(max_length + headroom) // digit_width)))

    @abstractmethod
    def ports(self, digits: int) -> Mapping[str, Member]:
        """Return a conversion for numbers of up to `digits` digits."""


class WordsToDigits(Packing):
    """Turn a number's words into its digits, the lowest first.

    ceil(length / 32) words are taken, and ceil(length / W) digits are made, or
    ceil((length + headroom) / W) if `padded`; bits beyond the words are 0. If `aligned`, the number
    is at the upper end of its ceil(length / W) digits, above zeros; counting these takes a cycle
    for each digit. No bit of the number remains in the registers after the end.

    Otherwise a word takes 2 cycles and a digit 1, with one additional cycle before and after.

    Parameters are those of `Packing`.

    Members
    -------
    start : begins a number; ignored while busy
    length : bits of the number, 1 to max_length; sampled with `start`, like the next two; for an
        aligned number it must not change while busy
    padded : whether to make the digits of the headroom, too
    aligned : whether the number is at the upper end; only if `alignable`
    busy : 1 from the cycle after `start` to the last, in which `done` is 1
    words : stream of the words taken
    digits : stream of the digits made
    digit_index : number of the next digit; with `done`, the count of digits
    excess : valid with `done`: the words had a 1 at or above bit `length`
    """

    def ports(self, digits: int) -> Mapping[str, Member]:
        """As above."""
        return {
            "start": In(1),
            "length": In(bits_for(self.max_length)),
            "padded": In(1),
            **({"aligned": In(1)} if self.alignable else {}),
            "busy": Out(1),
            "words": In(stream.Signature(WORD_BITS)),
            "digits": Out(stream.Signature(self.digit_width)),
            "digit_index": Out(bits_for(digits + 1)),
            **dict.fromkeys(("done", "excess"), Out(1)),
        }

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        width = self.digit_width
        # Bits that wait to become digits, and how many: fewer than W where a word is taken.
        waiting = Signal(width - 1 + WORD_BITS)
        fill = Signal(range(width + WORD_BITS))
        taken = shifted_up(m, Mux(self.words.ready & self.words.valid, self.words.payload, 0), fill)
        # Bits of the number still missing from the words, and still to be converted to digits; the
        # last word and the last digit may have more, so both end at 0 or below.
        to_come = Signal(signed(bits_for(max(self.max_length, WORD_BITS)) + 1))
        longest = self.max_length + self.headroom + width
        left = Signal(signed(bits_for(longest) + 1))
        beyond = Signal(WORD_BITS)  # bits of the next word that must be 0
        known = Signal()  # whether `beyond` is of the present `to_come`
        m.d.sync += beyond.eq(
            Mux(to_come[WORD_PLACES:].any(), 0, WORD_MASK << to_come[:WORD_PLACES])
        )
        m.d.comb += [self.digits.payload.eq(waiting), self.busy.eq(1)]

        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                m.d.sync += [
                    to_come.eq(self.length),
                    left.eq(self.length + Mux(self.padded, self.headroom, 0)),
                    fill.eq(0),
                    self.digit_index.eq(0),
                    self.excess.eq(0),
                    known.eq(0),
                ]
                with m.If(self.start):
                    m.next = "TAKE"
                    if self.alignable:
                        with m.If(self.aligned):
                            m.next = "DIVIDE"
            if self.alignable:
                with m.State("DIVIDE"):
                    with m.If(left > 0):
                        m.d.sync += left.eq(left - width)
                    with m.Else():  # the zeros below the number
                        m.d.sync += [fill.eq(-left), left.eq(self.length - left)]
                        m.next = "TAKE"
            with m.State("TAKE"):
                m.d.sync += known.eq(1)
                m.d.comb += self.words.ready.eq(known)
                with m.If(self.words.valid & known):
                    m.d.sync += [
                        known.eq(0),
                        self.excess.eq(self.excess | (self.words.payload & beyond).any()),
                    ]
                    m.next = "PUT"
            with m.State("PUT"):
                m.d.sync += [
                    waiting.eq(waiting | taken),
                    fill.eq(fill + WORD_BITS),
                    to_come.eq(to_come - WORD_BITS),
                ]
                m.next = "MAKE"
                with m.If(_lacks(fill, width) & (to_come > WORD_BITS)):
                    m.next = "TAKE"
            with m.State("MAKE"):
                m.d.comb += self.digits.valid.eq(1)
                m.d.sync += known.eq(1)
                with m.If(self.digits.ready):
                    m.d.sync += [
                        waiting.eq(waiting >> width),
                        fill.eq(Mux(fill >= width, fill - width, 0)),
                        left.eq(left - width),
                        self.digit_index.eq(self.digit_index + 1),
                    ]
                    with m.If(left <= width):
                        m.next = "END"
                    with m.Elif((fill < 2 * width) & (to_come > 0)):
                        m.next = "TAKE"
            with m.State("END"):
                m.d.comb += self.done.eq(1)
                m.d.sync += waiting.eq(0)
                m.next = "IDLE"
        return m


class DigitsToWords(Packing):
    """Turn a number's digits into its words, the lowest first.

    ceil(length / 32) words are made, in the format that `WordsToDigits` takes. A digit takes 3
    cycles, a word 2, and each bit below an aligned number 1.

    Parameters are those of `Packing`.

    Members
    -------
    start : begins a number; ignored while busy
    digits : count of digits, at least 1, with those of the headroom or not; constant while busy
    length : bits of the number, at least 1; sampled with `start`
    busy : 1 from the cycle after `start` until the last word is taken
    digit_index : the digit that is requested
    digit : this digit, at most two cycles later: not a stream, but a read port of a memory
    words : stream of the words made
    """

    def ports(self, digits: int) -> Mapping[str, Member]:
        """As above."""
        count = bits_for(digits)
        return {
            "start": In(1),
            "digits": In(count),
            "length": In(bits_for(self.max_length)),
            "busy": Out(1),
            "digit_index": Out(count),
            "digit": In(self.digit_width),
            "words": Out(stream.Signature(WORD_BITS)),
        }

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        width = self.digit_width
        # Bits that wait to become words, and how many: fewer than 32 where a digit is taken.
        waiting = Signal(WORD_BITS - 1 + width)
        fill = Signal(range(WORD_BITS + width))
        takes = Signal()
        taken = shifted_up(m, Mux(takes, self.digit, 0), fill)
        left = Signal(signed(bits_for(max(self.max_length, WORD_BITS)) + 1))  # bits not yet made
        below = Signal(range(max(width, 2)))  # zeros below an aligned number
        m.d.comb += [self.words.payload.eq(waiting), self.busy.eq(1)]
        exhausted = self.digit_index == self.digits

        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                m.d.sync += [
                    left.eq(self.length),
                    fill.eq(0),
                    waiting.eq(0),
                    self.digit_index.eq(0),
                ]
                if self.alignable:
                    m.d.sync += below.eq(self.digits * width - self.length)
                with m.If(self.start):
                    m.next = "REQUEST"
            with m.State("REQUEST"):
                m.next = "TAKE"
                with m.If((fill >= WORD_BITS) | exhausted):
                    m.next = "MAKE"
            with m.State("TAKE"):
                m.d.comb += takes.eq(1)
                m.d.sync += self.digit_index.eq(self.digit_index + 1)
                m.next = "PUT"
            with m.State("PUT"):
                m.d.sync += [waiting.eq(waiting | taken), fill.eq(fill + width)]
                m.next = "REQUEST"
                if self.alignable:
                    with m.If(below != 0):
                        m.next = "DROP"
            if self.alignable:
                with m.State("DROP"):
                    m.d.sync += [waiting.eq(waiting >> 1), fill.eq(fill - 1), below.eq(below - 1)]
                    with m.If(below == 1):
                        m.next = "REQUEST"
            with m.State("MAKE"):
                m.d.comb += self.words.valid.eq(1)
                with m.If(self.words.ready):
                    m.d.sync += [
                        waiting.eq(waiting >> WORD_BITS),
                        fill.eq(Mux(fill >= WORD_BITS, fill - WORD_BITS, 0)),
                        left.eq(left - WORD_BITS),
                    ]
                    m.next = "REQUEST"
                    with m.If(left <= WORD_BITS):
                        m.next = "IDLE"
        return m


def _lacks(fill: Value, width: int) -> Value:
    """Whether with one more word there is less than a digit. A digit of one word never lacks one:
    linters refuse a comparison with 0."""
    return Const(0) if width == WORD_BITS else fill < width - WORD_BITS
