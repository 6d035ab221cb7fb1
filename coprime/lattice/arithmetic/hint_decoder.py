"""Hints from the bytes of a signature, as coefficients pass.

Source: FIPS 204, algorithm 21. What differs: places are not unpacked into polynomials. The next
place waits until its coefficient passes; so places that do not rise are never met, and a row in
which they do not all pass is refused. That is the check of lines 8 and 9.
"""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

OMEGAS = tuple(parameter_set.omega for parameter_set in ML_DSA_SETS)
COUNT_BITS = 8
PLACES = 256


class HintDecoder(wiring.Component):
    """Reports for each coefficient of k rows whether it has a hint, and checks every rule.

    A cycle with `row` begins a row and has its count; then 256 cycles with `step`, or 128 of pairs;
    after all rows cycles with `rest`, as many as `resting` is 1 for: omega less the hints.

    Parameters
    ----------
    pairs (bool): a step is of two coefficients

    Members
    -------
    parameter_set (2 bits, in): the number of a set, stable
    begin (1 bit, in): a signature: no hint was used, nothing is refused
    row (1 bit, in), count (8 bits, in): the hints up to this row's end
    step (1 bit, in): the next coefficient
    rest (1 bit, in): a byte after the last place
    bytes (in): bytes of the places, the next one there whenever `step` or `rest` is 1
    hint (1 bit, out): of the coefficient, a cycle after its `step`; of a pair 2 bits, the low one
        of the first
    resting (1 bit, out): a byte of the omega ones is left
    refuses (1 bit, out): a rule was broken since `begin`, two cycles ago or before: a count that
        falls or is more than omega, places of a row that do not rise, a byte after the last place
        that is not 0

    With `pairs` only:

    following (8 bits, in): the byte after that
    takes_both (1 bit, out): the next byte, and the one after it, are taken
    """

    def __init__(self, *, pairs: bool = False) -> None:
        self.pairs = pairs
        super().__init__(
            {
                "parameter_set": In(2),
                "begin": In(1),
                "row": In(1),
                "count": In(COUNT_BITS),
                **dict.fromkeys(("step", "rest"), In(1)),
                "bytes": In(stream.Signature(8)),
                "hint": Out(1 + pairs),
                **dict.fromkeys(("resting", "refuses"), Out(1)),
                **({"following": In(8), "takes_both": Out(1)} if pairs else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The number of hints used, and the place that passes."""
        m = Module()
        used, end, place = Signal(COUNT_BITS), Signal(COUNT_BITS), Signal(range(PLACES))
        omega = look_up(OMEGAS, self.parameter_set, COUNT_BITS)
        byte, has_hint, row_ended, wrong = self.bytes.payload, Signal(), Signal(), Signal()
        hints, step_size, taken = has_hint, 1, self.bytes.ready
        if self.pairs:
            hints, step_size, taken = self._pair(m, has_hint, used, end, place), 2, Signal(2)
            m.d.comb += taken.eq(self.bytes.ready + self.takes_both)
        m.d.comb += [
            has_hint.eq(self.step & ~self.refuses & (used != end) & (byte == place)),
            self.resting.eq(used != omega),
            self.bytes.ready.eq(
                (hints.any() if self.pairs else has_hint) | (self.rest & self.resting)
            ),
            wrong.eq(
                (self.row & ((self.count < used) | (self.count > omega)))
                | (row_ended & (used != end))
                | (self.rest & self.resting & (byte != 0))
            ),
        ]
        m.d.sync += [
            self.hint.eq(hints),
            row_ended.eq(self.step & (place[step_size - 1 :].all())),
            used.eq(used + taken),
            self.refuses.eq(self.refuses | wrong),
        ]
        with m.If(self.row):
            m.d.sync += end.eq(self.count)
        with m.If(self.step):
            m.d.sync += place.eq(place + step_size)
        with m.If(self.begin):
            m.d.sync += [register.eq(0) for register in (used, end, place, row_ended, self.refuses)]
        return m

    def _pair(
        self, m: Module, has_hint: Signal, used: Signal, end: Signal, place: Signal
    ) -> Signal:
        """Hints of an even place and of the odd one after it."""
        hints, other, left = Signal(2), Signal(8), Signal()
        m.d.comb += [
            other.eq(Mux(has_hint, self.following, self.bytes.payload)),
            left.eq(Mux(has_hint, (used + 1)[:COUNT_BITS] != end, used != end)),
            hints[0].eq(has_hint),
            hints[1].eq(self.step & ~self.refuses & left & (other == (place | 1))),
            self.takes_both.eq(hints.all()),
        ]
        return hints
