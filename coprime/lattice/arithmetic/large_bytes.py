"""Numbers modulo 8380417 to bytes and back: rounded, subtracted from a constant, checked.

Source: FIPS 204, algorithms 16 to 19, 28, 35 to 37; the model is `../../model/lattice/ml_dsa.py`.
"""

import enum
from collections.abc import Sequence

from amaranth.hdl import Const, Module, Mux, Signal, Value, signed
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.cells.wires import same_named
from coprime.model.lattice.large_arithmetic import NUMBER_BITS
from coprime.model.lattice.ml_dsa_sets import DROPPED_BITS, T1_BITS, Q

from .high_low import (
    CONSTANT_BITS,
    FACTOR_BITS,
    HIGH_BITS,
    NARROW,
    PRODUCT_BITS,
    RESIDUE_BITS,
    WIDE,
    HighLow,
    hinted,
)
from .high_low import power_of_two_parts as parts_of
from .norm_check import NormBound, NormCheck
from .number_packer import HINT_BITS, ML_DSA_WIDTHS, WORD_BITS, NumberPacker
from .number_pairs import PAIR_WORD_BITS, PairPacker, PairUnpacker
from .number_unpacker import NumberUnpacker
from .slot_counter import delayed

NUMBER = signed(NUMBER_BITS)


class PackedForm(enum.Enum):
    """What is made of a number."""

    HIGH = 0  # its high part, perhaps moved by a hint
    BELOW = 1  # most less the number, which is also checked
    TOP = 2  # t1 of algorithm 35
    REST = 3  # 2^12 - t0 of algorithm 35
    LOW = 4  # its low part is checked, no byte is written
    CHECK = 5  # it is checked, no byte is written


BOUND_OF = {
    PackedForm.LOW: NormBound.LOW,
    PackedForm.BELOW: NormBound.MASKED,
    PackedForm.CHECK: NormBound.CORRECTION,
}
MOST = {3: 2, 4: 4, HINT_BITS: 255, 13: 1 << 12, 18: 1 << 17, 20: 1 << 19}
"""What a value of so many bits is subtracted from: eta, 2^12 or gamma1."""
PACKED_TO_VERIFY, UNPACKED_TO_VERIFY = (4, 6), (HINT_BITS, 10, 18, 20)
SHORT_WIDTHS = 2
"""The first widths are those of s."""
SPLITS = 1 + HighLow.LATENCY
"""Cycles from a number to its parts."""
SHORT_WAY = 3
"""Cycles from a number to what is packed of it without a product."""
COMPARED = SPLITS + 2
"""Cycles from a number to whether it has a hint."""


class LargeBytes(wiring.Component):
    """Two ways: bytes to numbers, and numbers to bytes. One of them is used at a time.

    A number is unpacked in the cycle of `take`, and `unpacked` a cycle later. What is made of a
    number that enters with `put` is packed SPLITS + 1 cycles later, with HIGH, or SHORT_WAY cycles.

    Parameters
    ----------
    verify_only (bool): only what a verification needs: z and t1 are unpacked, high parts are packed
    takes_pairs (bool): two numbers at once, but where they are compared, or are places of hints

    Members
    -------
    parameter_set (2 bits, in), few_parts (1 bit, in): of the bounds, and of gamma2, as of HighLow
    width (3 bits, in): a place of ML_DSA_WIDTHS; form (in): of PackedForm, and BELOW for unpacking
        with a check. Both are stable from `start` on
    start (1 bit, in): bytes begin with a new word
    unpacks (1 bit, in): with `start`: the words of 256 numbers are fetched
    take (1 bit, in): the next number, from the 7th cycle after `start` on, or with `takes_pairs`
        the 5th
    number (8 bits, out): the lowest bits of the number, in the cycle of `take`
    unpacked (signed 24 bits, out): most less its value; of t1 its value times 2^13
    r (signed 24 bits, in), put (1 bit, in): a number in [-q, q)
    factor, constant (out), product (in): as of HighLow
    hint_step (1 bit, out), hint (1 bit, in): a high part is there in the next cycle; whether it has
        a hint, in that cycle
    compares (1 bit, in): each number that enters is followed, a cycle later, by another one, which
        is checked
    found (out): a stream of hints: whether the sum of both has another high part than the first
    use, write (1 bit, out): a word of bytes is read or written; never in two consecutive cycles
    write_data, read_data (32 bits, or with `takes_pairs` 64 bits, out, in): it; what was read a
        cycle later
    clear (1 bit, in), exceeds (1 bit, out): as of NormCheck
    wipe (1 bit, in): clear the words

    With `takes_pairs` only:

    pairs (1 bit, in): `take`, or `put`, is of two numbers; stable from `start` on
    second_unpacked (out), second_r (in), second_factor (out), second_product (in) : as `unpacked`,
        `r`, `factor` and `product`, of the second one of two; `hint` has a bit for each
    """

    def __init__(self, *, verify_only: bool = False, takes_pairs: bool = False):
        self.verify_only, self.takes_pairs = verify_only, takes_pairs
        word_bits = PAIR_WORD_BITS if takes_pairs else WORD_BITS
        of_pairs = {
            "pairs": In(1),
            "second_unpacked": Out(NUMBER),
            "second_r": In(NUMBER),
            "second_factor": Out(FACTOR_BITS),
            "second_product": In(PRODUCT_BITS),
        }
        super().__init__(
            {
                "parameter_set": In(2),
                "few_parts": In(1),
                "width": In(range(len(ML_DSA_WIDTHS))),
                "form": In(PackedForm),
                **dict.fromkeys(("start", "unpacks", "take"), In(1)),
                "number": Out(HINT_BITS),
                "unpacked": Out(NUMBER),
                "r": In(NUMBER),
                "put": In(1),
                "factor": Out(FACTOR_BITS),
                "constant": Out(CONSTANT_BITS),
                "product": In(PRODUCT_BITS),
                "hint_step": Out(1),
                "hint": In(1 + takes_pairs),
                "compares": In(1),
                "found": Out(stream.Signature(1, always_ready=True)),
                **dict.fromkeys(("use", "write"), Out(1)),
                "write_data": Out(word_bits),
                "read_data": In(word_bits),
                "clear": In(1),
                "exceeds": Out(1),
                "wipe": In(1),
                **(of_pairs if takes_pairs else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The way in, the way out, and one check for both."""
        m = Module()
        unpacked = UNPACKED_TO_VERIFY if self.verify_only else ML_DSA_WIDTHS
        packed = PACKED_TO_VERIFY if self.verify_only else ML_DSA_WIDTHS
        of_in, of_out = (
            (PairUnpacker, PairPacker) if self.takes_pairs else (NumberUnpacker, NumberPacker)
        )
        m.submodules.unpacker = unpacker = of_in(_only(unpacked))
        m.submodules.packer = packer = of_out(_only(packed))
        m.submodules.split = split = HighLow()
        m.submodules.check = check = NormCheck()
        form, turn, is_out = self.form, Signal(), Signal()
        m.d.sync += turn.eq(~turn)
        most = look_up([MOST.get(width, 0) for width in _only(unpacked)], self.width, RESIDUE_BITS)
        with m.If(self.start):
            m.d.sync += is_out.eq(~self.unpacks)
        m.d.comb += [
            *(part.width.eq(self.width) for part in (unpacker, packer)),
            *(part.turn.eq(turn) for part in (unpacker, packer)),
            *(part.wipe.eq(self.wipe) for part in (unpacker, packer)),
            unpacker.start.eq(self.start & self.unpacks),
            packer.start.eq(self.start),
            unpacker.word.eq(self.read_data),
            unpacker.take.eq(self.take),
            self.number.eq(unpacker.number),
            self.use.eq(unpacker.read | packer.write),
            self.write.eq(packer.write),
            self.write_data.eq(packer.word),
        ]

        taken = self._enter(m, self.unpacked, unpacker.number, most)

        # Out: a canonical number, then what is made of it.
        r, put = Signal(RESIDUE_BITS), delayed(m, self.put, COMPARED, "put")
        is_high, is_low = form == PackedForm.HIGH, form == PackedForm.LOW
        high = Signal(HIGH_BITS)
        m.d.sync += high.eq(hinted(split.high, split.low, self.hint[0], self.few_parts))
        m.d.sync += r.eq(self.r + Mux(self.r < 0, Q, 0))
        m.d.comb += [
            split.few_parts.eq(self.few_parts),
            split.r.eq(r),
            split.product.eq(self.product),
            self.factor.eq(split.factor),
            self.constant.eq(split.constant),
            self.hint_step.eq(is_high & put[SPLITS - 1]),
            check.parameter_set.eq(self.parameter_set),
            check.clear.eq(self.clear),
        ]
        m.d.comb += self.exceeds.eq(check.exceeds)
        if self.takes_pairs:
            self._take_second(m, most, is_out)
        checked = taken & (form == PackedForm.BELOW)
        if self.verify_only:
            m.d.comb += [
                packer.number.eq(high),
                packer.put.eq(put[SPLITS + 1]),
                check.bound.eq(NormBound.MASKED),
                check.x.eq(self.unpacked),
                check.check.eq(checked),
            ]
            return m

        value, centred = self._short_way(m, r, most)
        self._compare(m, split, centred, put)
        writes = ~is_low & (form != PackedForm.CHECK) & ~self.compares
        m.d.comb += [
            packer.number.eq(Mux(is_high, high, value)),
            packer.put.eq(writes & Mux(is_high, put[SPLITS + 1], put[SHORT_WAY])),
        ]
        self._check(m, split, centred, is_out, checked, put)
        return m

    def _enter(self, m: Module, unpacked: Signal, number: Value, most: Value) -> Value:
        """Register a number that was unpacked, and whether it is one that may be checked."""
        is_t1 = self.width == ML_DSA_WIDTHS.index(T1_BITS)
        with m.If(is_t1):
            m.d.sync += unpacked.eq(number << DROPPED_BITS)
        with m.Else():
            m.d.sync += unpacked.eq(most - number)
        return delayed(m, self.take & ~is_t1, 1, "taken")[1]

    def _take_second(self, m: Module, most: Value, is_out: Value) -> None:
        """The second one of two numbers, beside the first one: the same way in and out, and a check
        of the same bounds in the same cycles."""
        unpacker, packer, check = m.submodules.unpacker, m.submodules.packer, m.submodules.check
        m.submodules.second_check = second = NormCheck()
        self._enter(m, self.second_unpacked, unpacker.second, most)
        m.d.comb += [
            *(part.pairs.eq(self.pairs) for part in (unpacker, packer)),
            *same_named(second, check, "parameter_set", "clear", "bound"),
            second.check.eq(check.check & self.pairs),
            second.x.eq(self.second_unpacked),
            self.exceeds.eq(check.exceeds | second.exceeds),
        ]
        m.submodules.second_split = split = HighLow()
        r, high = Signal(RESIDUE_BITS), Signal(HIGH_BITS)
        m.d.sync += [
            r.eq(self.second_r + Mux(self.second_r < 0, Q, 0)),
            high.eq(hinted(split.high, split.low, self.hint[1], self.few_parts)),
        ]
        m.d.comb += [
            split.few_parts.eq(self.few_parts),
            split.r.eq(r),
            split.product.eq(self.second_product),
            self.second_factor.eq(split.factor),
            packer.second.eq(high),
        ]
        if self.verify_only:
            return
        value, centred = self._short_way(m, r, most)
        with m.If(self.form != PackedForm.HIGH):
            m.d.comb += packer.second.eq(value)
        with m.If(is_out):
            m.d.comb += second.x.eq(Mux(self.form == PackedForm.LOW, split.low, centred))

    def _check(
        self,
        m: Module,
        split: HighLow,
        centred: Value,
        is_out: Value,
        checked: Value,
        put: Sequence[Value],
    ) -> None:
        """What is checked, and when."""
        check, form, is_low = m.submodules.check, self.form, self.form == PackedForm.LOW
        self._set_bound(m, check)
        with m.If(~is_out):
            m.d.comb += [check.x.eq(self.unpacked), check.check.eq(checked)]
        with m.Elif(self.compares):
            m.d.comb += [
                check.bound.eq(NormBound.CORRECTION),
                check.x.eq(centred),
                check.check.eq(put[SHORT_WAY]),
            ]
        with m.Elif(is_low):
            m.d.comb += [check.x.eq(split.low), check.check.eq(put[SPLITS])]
        with m.Else():
            checks_short = (form == PackedForm.BELOW) | (form == PackedForm.CHECK)
            m.d.comb += [check.x.eq(centred), check.check.eq(checks_short & put[SHORT_WAY - 1])]

    def _set_bound(self, m: Module, check: NormCheck) -> None:
        """The bound of s, of masks and y + c s1 on the way in or out, of low parts, of c t0."""
        bounds = [BOUND_OF.get(packed_form, NormBound.LOW).value for packed_form in PackedForm]
        with m.If((self.form == PackedForm.BELOW) & (self.width < SHORT_WIDTHS)):
            m.d.comb += check.bound.eq(NormBound.SHORT)
        with m.Else():
            m.d.comb += check.bound.eq(look_up(bounds, self.form, 2))

    def _compare(self, m: Module, split: HighLow, centred: Value, put: Sequence[Value]) -> None:
        """The centred second number waits for the low part of the first one."""
        second = delayed(m, centred, SPLITS - SHORT_WAY, "second")[-1]
        bounds = [Const(parameter_set.gamma2, NUMBER) for parameter_set in (WIDE, NARROW)]
        gamma2 = Mux(self.few_parts, bounds[1], bounds[0])
        total, has_high = Signal(NUMBER), Signal()
        m.d.sync += [
            total.eq(split.low + second),
            has_high.eq(split.high != 0),
            self.found.payload.eq(
                (total > gamma2) | (total < -gamma2) | ((total == -gamma2) & has_high)
            ),
        ]
        m.d.comb += self.found.valid.eq(self.compares & put[COMPARED])

    def _short_way(self, m: Module, r: Signal, most: Value) -> tuple[Signal, Signal]:
        """What is packed of a number without a product, and the number itself, centred."""
        raw, value, centred = Signal(NUMBER), Signal(RESIDUE_BITS), Signal(NUMBER)
        t1, t0 = parts_of(r)
        m.d.sync += [
            raw.eq(most - r),
            value.eq(raw + Mux(raw < 0, Q, 0)),
            centred.eq(r - Mux(r > Q >> 1, Const(Q, RESIDUE_BITS), 0)),
        ]
        with m.If(self.form == PackedForm.TOP):
            m.d.sync += raw.eq(t1)
        with m.If(self.form == PackedForm.REST):
            m.d.sync += raw.eq(t0)
        return value, centred


def _only(widths: Sequence[int]) -> list[int]:
    """These widths in their places of ML_DSA_WIDTHS, and one of them in all others."""
    return [width if width in widths else widths[0] for width in ML_DSA_WIDTHS]
