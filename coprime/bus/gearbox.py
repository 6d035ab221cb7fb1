"""Conversion of words to digits and back."""

from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value, signed
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.bus.port import WORD_BITS
from coprime.parameters import check_ranges

LENGTH_BITS = 16


class GearboxRing(wiring.Component):
    """A word register and a digit register that form a ring and shift by a few bits per cycle.

    To digits, the lowest unit of the word enters the top of the digit, and the word fills with
    zeros. To words, the lowest unit of the digit enters the top of the word.

    Parameters
    ----------
    digit_width: W, a multiple of `unit`
    unit: bits by which the ring moves, a divisor of 32

    Members
    -------
    to_words: the direction
    move: both registers shift by a unit
    aligning: with `move`, the unit is not counted as part of the word
    mask: the valid bits of the unit; the others enter as 0
    load_word, load_digit: take `word_in` or `digit_in`
    restart: count the units of both registers from the start
    clear: both registers become 0
    word, digit: the registers
    word_last, digit_last: the next unit is the last one of the word, or of the digit
    excess: the next unit has a 1 outside the mask
    """

    def __init__(self, digit_width: int, unit: int):
        self.unit = unit
        self.word_units = WORD_BITS // unit
        self.digit_units = digit_width // unit
        ports = {
            **dict.fromkeys(("to_words", "move", "aligning"), In(1)),
            "mask": In(unit),
            "load_word": In(1),
            "word_in": In(WORD_BITS),
            "load_digit": In(1),
            "digit_in": In(digit_width),
            **dict.fromkeys(("restart", "clear"), In(1)),
            "word": Out(WORD_BITS),
            "digit": Out(digit_width),
            **dict.fromkeys(("word_last", "digit_last", "excess"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        unit = self.unit
        word_place = Signal(range(max(self.word_units, 2)))
        digit_place = Signal(range(max(self.digit_units, 2)))
        taken = Mux(self.to_words, self.digit[:unit], self.word[:unit])
        moved = taken & self.mask
        refilled = moved & Mux(self.to_words, (1 << unit) - 1, 0)
        m.d.comb += [
            self.word_last.eq(word_place == self.word_units - 1),
            self.digit_last.eq(digit_place == self.digit_units - 1),
            self.excess.eq((taken & ~self.mask).any()),
        ]
        with m.If(self.restart):
            m.d.sync += [word_place.eq(0), digit_place.eq(0)]
        with m.If(self.move):
            m.d.sync += [
                self.word.eq(Cat(self.word[unit:], refilled)),
                self.digit.eq(Cat(self.digit[unit:], moved)),
                digit_place.eq(Mux(self.digit_last, 0, digit_place + 1)),
            ]
            with m.If(~self.aligning):
                m.d.sync += word_place.eq(Mux(self.word_last, 0, word_place + 1))
        with m.If(self.load_word):
            m.d.sync += self.word.eq(self.word_in)
        with m.If(self.load_digit):
            m.d.sync += self.digit.eq(self.digit_in)
        with m.If(self.clear):
            m.d.sync += [self.word.eq(0), self.digit.eq(0)]
        return m


@dataclass(frozen=True)
class Conversion:
    """Cycles of a gearbox; the parameters are those of Gearbox."""

    digit_width: int
    headroom: int
    alignable: bool = False

    @property
    def unit(self) -> int:
        """u, bits by which the ring shifts in a cycle."""
        return 1 if self.alignable else gcd(WORD_BITS, self.digit_width)

    def cycles(
        self, length: int, *, padded: bool = False, to_words: bool = False, aligned: bool = False
    ) -> int:
        """Cycles in which the gearbox is busy, if each input word is available at once."""
        words, digits = -(-length // WORD_BITS), -(-length // self.digit_width)
        below = digits * self.digit_width - length
        if to_words:
            plain = 1 + 3 * digits + words * WORD_BITS // self.unit + 1
            # The first digit is fetched a cycle earlier.
            return plain + (digits + 1) + (below + 1) - 1 if aligned else plain
        if aligned:
            return (digits + 1) + (below + 1) + 1 + words + length + 1
        written = -(-(length + (self.headroom if padded else 0)) // self.digit_width)
        return 1 + words + written * self.digit_width // self.unit + 1


class _PlaceCount(NamedTuple):
    """The count of bits: its register, what follows with a step, and the number's length."""

    place: Signal
    following: Signal
    step: Signal
    length: Value


class _Transfer(NamedTuple):
    """What a conversion does, and how full the registers of the ring are."""

    to_words: Signal
    padded: Signal
    aligned: Signal  # and the bits below the number have not been shifted yet
    empty: Signal  # the source register
    full: Signal  # the destination register
    takes: Signal  # the source register is filled in this cycle
    excess: Signal


class Gearbox(wiring.Component):
    """Turn a number of `length` bits from 32-bit words into W-bit digits, or back.

    A word and a digit register form a ring that shifts by u = gcd(32, W) bits per cycle. This is
    slow if W is odd, but fast enough for software, and needs no barrel shifter. No bit of the
    number remains in the registers after the end. With `alignable`, u is 1.

    To digits, ceil(length / 32) words are taken, and ceil(length / W) digits are written, or
    ceil((length + headroom) / W) if `padded`; bits beyond the words are 0. To words,
    ceil(length / W) digits are read and ceil(length / 32) words are written; bits of the digits
    that are not below `length` are ignored.

    If `aligned`, the number is at the upper end of its d = ceil(length / W) digits: below it are s
    = d*W - length bits, 0 to W - 1, which are 0 in the digits written and ignored in those read. It
    takes d + 1 cycles to find s, by repeatedly subtracting W from the length, and s + 1 cycles to
    shift the digit register by s bits.

    Raises ValueError for a headroom other than 0 with `alignable`.

    Parameters
    ----------
    digit_width: W, 1 to 255
    headroom: bits of a padded number beyond its length, 0 to 255
    max_length: longest number in bits, 1 to 65535
    alignable: whether it has the input `aligned`; the headroom must then be 0

    Members
    -------
    start: begins a conversion; ignored while busy
    length: bits of the number, 1 to max_length; sampled with `start`, like the next three; for an
        aligned number it must not change while busy
    padded: whether to write the digits of the headroom, too
    to_words: direction; 0 is to digits
    aligned: whether the number is at the upper end of its digits; only if `alignable`
    busy: 1 from the cycle after `start` to the last, in which `done` is 1
    excess: valid with `done`, to digits: the words had a 1 at or above bit `length`
    words_in: stream of the words to convert
    digits_out: stream of the digits made, always ready; `digit_index` is the number of each
    digit_in: digit `digit_index`, three cycles after the index: not a stream, but a read port of a
        memory with a fixed latency, which cannot wait
    words_out: stream of the words made, always ready; `word_index` is the number of each
    digit_index: the digit that is read or written next; to digits with `done`, the last one
    word_index: the word that is taken or written next
    """

    def __init__(
        self, digit_width: int, headroom: int, max_length: int, *, alignable: bool = False
    ):
        check_ranges(
            digit_width=(digit_width, range(1, 256)),
            headroom=(headroom, range(256)),
            max_length=(max_length, range(1, 1 << LENGTH_BITS)),
        )
        if alignable and headroom:
            raise ValueError(f"headroom must be 0 where numbers are aligned, not {headroom}")
        self.digit_width, self.headroom, self.alignable = digit_width, headroom, alignable
        self.conversion = Conversion(digit_width, headroom, alignable)
        self.unit = self.conversion.unit
        digits = -(-(max_length + headroom) // digit_width)
        words = -(-max_length // WORD_BITS)
        length_bits = bits_for(max_length)
        self.place_bits = 1 + bits_for(max_length + headroom + max(WORD_BITS, digit_width))
        ports = {
            "start": In(1),
            "length": In(length_bits),
            **dict.fromkeys(("padded", "to_words"), In(1)),
            **({"aligned": In(1)} if alignable else {}),
            **dict.fromkeys(("busy", "done", "excess"), Out(1)),
            "words_in": In(stream.Signature(WORD_BITS)),
            "digits_out": Out(stream.Signature(digit_width, always_ready=True)),
            "digit_in": In(digit_width),
            "digit_index": Out(bits_for(digits + 1)),
            "words_out": Out(stream.Signature(WORD_BITS, always_ready=True)),
            "word_index": Out(bits_for(words)),
        }
        super().__init__(ports)

    def cycles(
        self, length: int, *, padded: bool = False, to_words: bool = False, aligned: bool = False
    ) -> int:
        """Cycles in which `busy` is 1, as `Conversion.cycles`."""
        return self.conversion.cycles(length, padded=padded, to_words=to_words, aligned=aligned)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.ring = ring = GearboxRing(self.digit_width, self.unit)

        to_words, padded = Signal(), Signal()
        aligned = Signal()
        # Minus the number of remaining bits; below 0 while there are any. Before that, for an
        # aligned number: the number of bits below it, minus 1.
        place = Signal(signed(self.place_bits))
        step = Signal.like(place, init=self.unit)
        place_next = Signal.like(place)
        minus_length = ~Cat(self.length, 0).as_signed()
        count = _PlaceCount(place, place_next, step, minus_length)
        empty, full = Signal(), Signal()
        excess = Signal()
        begins, takes = Signal(), Signal()
        transfer = _Transfer(to_words, padded, aligned, empty, full, takes, excess)

        m.d.comb += [
            place_next.eq(place + step),
            ring.to_words.eq(to_words),
            ring.mask.eq(self._mask(place)),
            ring.word_in.eq(self.words_in.payload),
            ring.digit_in.eq(self.digit_in),
            ring.clear.eq(self.done),
            self.digits_out.payload.eq(ring.digit),
            self.digits_out.valid.eq(full & ~to_words),
            self.words_out.payload.eq(ring.word),
            self.words_out.valid.eq(full & to_words),
            self.excess.eq(excess | ring.word.any()),
            self.busy.eq(1),
        ]
        m.d.sync += full.eq(0)
        self._count(m, begins, to_words, takes)

        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += [self.busy.eq(0), ring.restart.eq(1)]
                m.d.sync += [
                    to_words.eq(self.to_words),
                    padded.eq(self.padded & ~self.to_words),
                    place.eq(minus_length),
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
                m.d.comb += [takes.eq(1), ring.load_digit.eq(1)]
                m.d.sync += empty.eq(0)
                m.next = "MOVE"
                if self.alignable:
                    with m.If(aligned):
                        m.next = "ALIGN"
            if self.alignable:
                self._align(m, ring, count, transfer)
            self._move(m, ring, count, transfer)
            with m.State("END"):
                m.d.comb += self.done.eq(1)
                m.next = "IDLE"
        return m

    def _align(self, m: Module, ring: GearboxRing, count: _PlaceCount, transfer: _Transfer) -> None:
        """The states that find the bits below an aligned number, and shift by so many."""
        with m.State("DIVIDE"):
            m.d.comb += count.step.eq(self.digit_width)
            with m.If(count.place[-1] & ~count.place.all()):
                m.d.sync += count.place.eq(count.following)
            with m.Else():
                m.next = "ALIGN"
                with m.If(transfer.to_words):
                    m.next = "AWAIT"
        with m.State("ALIGN"):
            # Zeros enter the digit, or its lowest bits leave it. The word, whose units are
            # not counted yet, is 0, or its bits have left it when it is full.
            m.d.comb += [count.step.eq(-1), ring.aligning.eq(1)]
            with m.If(count.place[-1]):
                m.d.sync += [count.place.eq(count.length), transfer.aligned.eq(0)]
                m.next = "PREPARE"
            with m.Else():
                m.d.comb += ring.move.eq(1)
                m.d.sync += count.place.eq(count.following)

    def _move(self, m: Module, ring: GearboxRing, count: _PlaceCount, transfer: _Transfer) -> None:
        """The state that shifts the ring, takes words, and sends what is full to its stream."""
        to_words, empty, excess = transfer.to_words, transfer.empty, transfer.excess
        last = Mux(to_words, ring.word_last, ring.digit_last)
        with m.State("MOVE"):
            with m.If(empty & count.place[-1]):
                with m.If(to_words):
                    m.next = "AWAIT"
                with m.Else():
                    m.d.comb += self.words_in.ready.eq(1)
                    with m.If(self.words_in.valid):
                        m.d.comb += [transfer.takes.eq(1), ring.load_word.eq(1)]
                        m.d.sync += empty.eq(0)
            with m.Else():
                m.d.comb += ring.move.eq(1)
                m.d.sync += [
                    count.place.eq(count.following),
                    empty.eq(empty | Mux(to_words, ring.digit_last, ring.word_last)),
                    transfer.full.eq(last),
                    excess.eq(excess | ring.excess),
                ]
                # With this unit the count is at 0, or at the end of the headroom. The register is
                # compared, not its sum: one carry chain in a cycle, not two.
                place, unit = count.place, self.unit
                ended = Mux(transfer.padded, place >= self.headroom - unit, place >= -unit)
                with m.If(ended & last):
                    m.next = "END"

    def _count(self, m: Module, begins: Value, to_words: Value, takes: Value) -> None:
        """Number the words and the digits, both input and output."""
        with m.If(begins):
            m.d.sync += [self.word_index.eq(0), self.digit_index.eq(0)]
        with m.Else():
            with m.If(self.words_out.valid | (takes & ~to_words)):
                m.d.sync += self.word_index.eq(self.word_index + 1)
            with m.If(self.digits_out.valid | (takes & to_words)):
                m.d.sync += self.digit_index.eq(self.digit_index + 1)

    def _mask(self, place: Signal) -> Value:
        """Mask the unit that leaves the source: only bits below the length are valid."""
        low_bits = self.unit.bit_length() - 1
        many = ~place[low_bits:].all()
        return Cat(
            place[-1] & (many | (place[:low_bits] < self.unit - i)) for i in range(self.unit)
        )
