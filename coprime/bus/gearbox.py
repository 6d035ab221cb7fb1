"""Words to digits and back."""

from math import gcd

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.bus.port import WORD_BITS

__all__ = ["LENGTH_BITS", "Gearbox"]

LENGTH_BITS = 16


class Gearbox(wiring.Component):
    """Turn a number of `length` bits from 32-bit words into W-bit digits, or the other way.

    A word and a digit register form a ring that moves by u = gcd(32, W) bits a cycle: slow when W
    is odd, but as fast as software feeds it, and without the barrel shifter of a faster one.
    Nothing of the number remains in the registers after the end. With `alignable`, u is 1.

    To digits, ceil(length / 32) words are taken, and ceil(length / W) digits are written, or
    ceil((length + headroom) / W) if `padded`; the bits that the words do not have are 0. To words,
    ceil(length / W) digits are read and ceil(length / 32) words are written; bits of the digits
    that are not below `length` are ignored.

    If `aligned`, the number stands at the upper end of its d = ceil(length / W) digits: below it
    are s = d*W - length bits, 0 to W - 1, that are 0 in the digits made and ignored in those read.
    It takes d + 1 cycles to find s, by subtracting W from the length until nothing is left, and
    s + 1 cycles to move the digit register by s bits.

    Parameters
    ----------
    digit_width: W, 1 to 255
    headroom: bits of a padded number beyond its length, 0 to 255
    max_length: longest number in bits, 1 to 65535
    alignable: whether there is the input `aligned`; the headroom must be 0 then

    Members
    -------
    start: begins a conversion; ignored while busy
    length: bits of the number, 1 to max_length; sampled with `start`, as are the next three; of an
        aligned number it must stay while busy
    padded: whether to write the digits of the headroom, too
    to_words: 0 is to digits
    aligned: whether the number stands at the upper end of its digits; only if `alignable`
    busy: 1 from the cycle after `start` to the last, in which `done` is 1
    excess: valid with `done` to digits: the words had a bit that is 1 and not below `length`
    word_in, word_valid, word_ready: the words to convert; one is taken where both are 1
    digit, digit_write: the digits that are made; `digit_index` tells which
    digit_in: digit `digit_index`, three cycles after that is set
    word, word_write: the words that are made; `word_index` tells which
    digit_index: the digit that is read or written next; to digits with `done`, the last one
    word_index: the word that is taken or written next
    """

    def __init__(
        self, digit_width: int, headroom: int, max_length: int, *, alignable: bool = False
    ):
        for name, value, low, high in (
            ("digit_width", digit_width, 1, 255),
            ("headroom", headroom, 0, 255),
            ("max_length", max_length, 1, (1 << LENGTH_BITS) - 1),
        ):
            if not isinstance(value, int):
                raise TypeError(f"{name} must be an integer, not {value!r}")
            if not low <= value <= high:
                raise ValueError(f"{name} must be {low} to {high}, not {value}")
        if alignable and headroom:
            raise ValueError(f"headroom must be 0 where numbers are aligned, not {headroom}")
        self.digit_width = digit_width
        self.headroom = headroom
        self.alignable = alignable
        self.unit = 1 if alignable else gcd(WORD_BITS, digit_width)
        digits = -(-(max_length + headroom) // digit_width)
        words = -(-max_length // WORD_BITS)
        length_bits = bits_for(max_length)
        self.place_bits = 1 + bits_for(max_length + headroom + max(WORD_BITS, digit_width))
        super().__init__(
            {
                "start": In(1),
                "length": In(length_bits),
                "padded": In(1),
                "to_words": In(1),
                **({"aligned": In(1)} if alignable else {}),
                "busy": Out(1),
                "done": Out(1),
                "excess": Out(1),
                "word_in": In(WORD_BITS),
                "word_valid": In(1),
                "word_ready": Out(1),
                "digit": Out(digit_width),
                "digit_write": Out(1),
                "digit_in": In(digit_width),
                "digit_index": Out(bits_for(digits + 1)),
                "word": Out(WORD_BITS),
                "word_write": Out(1),
                "word_index": Out(bits_for(words)),
            }
        )

    def cycles(
        self, length: int, *, padded: bool = False, to_words: bool = False, aligned: bool = False
    ) -> int:
        """Cycles in which `busy` is 1, if each word that is taken is there at once."""
        words, digits = -(-length // WORD_BITS), -(-length // self.digit_width)
        below = digits * self.digit_width - length
        if to_words:
            plain = 1 + 3 * digits + words * WORD_BITS // self.unit + 1
            # The first digit is fetched a cycle sooner.
            return plain + (digits + 1) + (below + 1) - 1 if aligned else plain
        if aligned:
            return (digits + 1) + (below + 1) + 1 + words + length + 1
        written = -(-(length + (self.headroom if padded else 0)) // self.digit_width)
        return 1 + words + written * self.digit_width // self.unit + 1

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        unit = self.unit
        word_units = WORD_BITS // unit
        digit_units = self.digit_width // unit

        to_words = Signal()
        padded = Signal()
        aligned = Signal()  # and the bits below the number have not moved yet
        # Minus the bits of the number still to come; below 0 as long as there are any. Before that,
        # of an aligned number: the bits below it, less 1.
        place = Signal(signed(self.place_bits))
        step = Signal.like(place, init=unit)
        place_next = Signal.like(place)
        # Units that have passed through each register since it was loaded, or while it is filled.
        word_place = Signal(range(max(word_units, 2)))
        digit_place = Signal(range(max(digit_units, 2)))
        word_last = word_place == word_units - 1
        digit_last = digit_place == digit_units - 1
        empty = Signal()  # the register that is emptied is empty
        full = Signal()  # the register that is filled is full
        excess = Signal()

        # Of the unit that leaves the source, only the bits below the length count.
        low_bits = unit.bit_length() - 1
        many = ~place[low_bits:].all()
        mask = Cat(place[-1] & (many | (place[:low_bits] < unit - i)) for i in range(unit))
        taken = Mux(to_words, self.digit[:unit], self.word[:unit])
        moved = taken & mask
        refilled = moved & Mux(to_words, (1 << unit) - 1, 0)
        m.d.comb += [
            place_next.eq(place + step),
            self.digit_write.eq(full & ~to_words),
            self.word_write.eq(full & to_words),
            self.excess.eq(excess | self.word.any()),
        ]
        m.d.sync += full.eq(0)
        begins, takes = Signal(), Signal()
        with m.If(begins):
            m.d.sync += [self.word_index.eq(0), self.digit_index.eq(0)]
        with m.Else():
            with m.If(self.word_write | (takes & ~to_words)):
                m.d.sync += self.word_index.eq(self.word_index + 1)
            with m.If(self.digit_write | (takes & to_words)):
                m.d.sync += self.digit_index.eq(self.digit_index + 1)

        move = [
            self.word.eq(Cat(self.word[unit:], refilled)),
            self.digit.eq(Cat(self.digit[unit:], moved)),
            digit_place.eq(Mux(digit_last, 0, digit_place + 1)),
        ]

        m.d.comb += self.busy.eq(1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                m.d.sync += [
                    to_words.eq(self.to_words),
                    padded.eq(self.padded & ~self.to_words),
                    place.eq(~Cat(self.length, 0).as_signed()),
                    word_place.eq(0),
                    digit_place.eq(0),
                    empty.eq(1),
                    excess.eq(0),
                ]
                with m.If(self.start):
                    m.d.comb += begins.eq(1)
                    m.next = "PREPARE"
                if self.alignable:
                    m.d.sync += aligned.eq(self.aligned)
                    with m.If(self.start & self.aligned):
                        m.next = "DIVIDE"
            with m.State("PREPARE"):
                m.d.comb += step.eq(1)
                m.d.sync += place.eq(place_next)
                m.next = "MOVE"
            with m.State("AWAIT"):
                m.next = "TAKE"
            with m.State("TAKE"):
                m.d.comb += takes.eq(1)
                m.d.sync += [self.digit.eq(self.digit_in), empty.eq(0)]
                m.next = "MOVE"
                if self.alignable:
                    with m.If(aligned):
                        m.next = "ALIGN"
            if self.alignable:
                with m.State("DIVIDE"):
                    m.d.comb += step.eq(self.digit_width)
                    with m.If(place[-1] & ~place.all()):
                        m.d.sync += place.eq(place_next)
                    with m.Elif(to_words):
                        m.next = "AWAIT"
                    with m.Else():
                        m.next = "ALIGN"
                with m.State("ALIGN"):
                    # Zeros enter the digit, or its lowest bits leave it. The word, which has not
                    # begun to count, is 0, or its bits have left it when it is full.
                    m.d.comb += step.eq(-1)
                    with m.If(place[-1]):
                        m.d.sync += [place.eq(~Cat(self.length, 0).as_signed()), aligned.eq(0)]
                        m.next = "PREPARE"
                    with m.Else():
                        m.d.sync += [*move, place.eq(place_next)]
            with m.State("MOVE"):
                with m.If(empty & place[-1]):
                    with m.If(to_words):
                        m.next = "AWAIT"
                    with m.Else():
                        m.d.comb += self.word_ready.eq(1)
                        with m.If(self.word_valid):
                            m.d.comb += takes.eq(1)
                            m.d.sync += [self.word.eq(self.word_in), empty.eq(0)]
                with m.Else():
                    m.d.sync += [
                        *move,
                        place.eq(place_next),
                        word_place.eq(Mux(word_last, 0, word_place + 1)),
                        empty.eq(empty | Mux(to_words, digit_last, word_last)),
                        full.eq(Mux(to_words, word_last, digit_last)),
                        excess.eq(excess | (taken & ~mask).any()),
                    ]
                    ended = Mux(padded, place_next >= self.headroom, place_next >= 0)
                    with m.If(ended & Mux(to_words, word_last, digit_last)):
                        m.next = "END"
            with m.State("END"):
                m.d.comb += self.done.eq(1)
                m.next = "IDLE"
        with m.If(self.done):
            m.d.sync += [self.word.eq(0), self.digit.eq(0)]
        return m
