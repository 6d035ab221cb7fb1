"""The schedule of `compact`: which slot of which column is requested in a cycle, and which pair.

The rows of the table in `CompactMultiplier` are the slots here.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.luts import same
from coprime.cells.target import Target

from ..delays import history
from ..one_hot import OneHot
from .multiplication import NEWEST_AFTER

SLOTS = ("ahead", "xy", "drop", "qm", "pad", "diagonal", "newest")
"""Of a column, in their order; the rows of the table in `CompactMultiplier`."""


class CompactSlotSignature(wiring.Signature):
    """The slot of a cycle, seen from the control; all but `begins` and `ends` are flip-flops.

    Members
    -------
    idle, ahead, xy, drop, qm, pad, diagonal, newest: exactly one is 1: the slot of the schedule, or
        `idle` between products
    first, second: one slot, two slots after AHEAD
    linear: the columns are those of a preparation or a last round: single digits, not pairs
    preparing, descaling: which of these
    begins: the next slot is AHEAD of column -1, or the multiplier is idle
    ends: the last slot of a column
    """

    def __init__(self) -> None:
        flags = ("first", "second", "linear", "preparing", "descaling", "begins", "ends")
        super().__init__({"idle": Out(1, init=1), **{name: Out(1) for name in (*SLOTS, *flags)}})


class ColumnSignature(wiring.Signature):
    """Column k, seen from the counter; every member is a register.

    Members
    -------
    k, before : -1 to inner + outer, modulo 2^(count_bits + 1); k - 1
    inner, outer : digits of X and c * M; of Y and q
    reached : bit c is 1 where k >= c
    second_half : k >= L
    late : k > L, where no newest digit of q is awaited
    ahead_index : k + 1, or k - L in the second half
    newest_is_result, written_is_result
        Column k - 1, k - 2 has given a digit of the result, not of q.
    written : index of the digit of column k - 2
    finished : that is the last digit of the result
    """

    def __init__(self, count_bits: int):
        flags = ("second_half", "late", "newest_is_result", "written_is_result", "finished")
        limit = 2 << count_bits
        ports = {
            "k": Out(count_bits + 1, init=limit - 1),
            "before": Out(count_bits + 1, init=limit - 2),
            **{name: Out(count_bits) for name in ("inner", "outer", "ahead_index", "written")},
            "reached": Out(5),
            **{name: Out(1) for name in flags},
        }
        super().__init__(ports)


class PairSignature(wiring.Signature):
    """The pair of a slot, seen from the indices.

    Members
    -------
    i, j : indices, below L: k - i = j in XY, k - 1 - i = j in the others
    innermost, outermost : the last pair of XY, of QM
    empty : XY has no pair
    spent : no column from this one on has pairs of X and Y
    """

    def __init__(self, count_bits: int):
        flags = ("innermost", "outermost", "empty", "spent")
        super().__init__(
            {"i": Out(count_bits), "j": Out(count_bits), **{name: Out(1) for name in flags}}
        )


class SlotControl(wiring.Component):
    """Steps from slot to slot, a cycle each.

    Members
    -------
    start, prepare, descale, done : as in `BankedMultiplierSignature`
    column, pair: what determines the next slot
    slot (CompactSlotSignature, out)
    fault : more than one slot is under way, or none
    """

    def __init__(self, count_bits: int):
        ports = {
            **{name: In(1) for name in ("start", "prepare", "descale")},
            "column": In(ColumnSignature(count_bits)),
            "pair": In(PairSignature(count_bits)),
            "slot": Out(CompactSlotSignature()),
            **dict.fromkeys(("done", "fault"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Build the state machine, a flip-flop for each slot."""
        m = Module()
        slot, column, pair = self.slot, self.column, self.pair
        state = OneHot(("idle", *SLOTS), "idle")
        for name, now in state.now.items():
            m.d.comb += getattr(slot, name).eq(now)
        past = history(m, "past", slot.ahead, NEWEST_AFTER - 2, reset=True)
        waited = Signal()  # for the newest q
        xy_ends = pair.innermost | pair.empty
        is_short = ~column.reached[1] & ~slot.linear  # columns -1 and 0, which have only AHEAD, XY
        has_newest = pair.outermost & ~column.late
        descales = self.descale & ~slot.linear
        state.change("idle", "ahead", self.start | self.prepare)
        state.change("ahead", "xy")
        state.change("xy", "ahead", xy_ends & is_short)
        state.change("xy", "drop", xy_ends & column.second_half)
        state.change("xy", "qm", xy_ends & ~column.second_half & ~is_short)
        state.change("drop", "qm", ~column.finished)
        state.change("drop", "ahead", column.finished & descales)
        state.change("drop", "idle", column.finished & ~descales)
        state.change("qm", "ahead", pair.outermost & column.late)
        state.change("qm", "pad", has_newest & ~waited)
        state.change("qm", "diagonal", has_newest & waited)
        state.change("pad", "diagonal", waited)
        state.change("diagonal", "newest")
        state.change("newest", "ahead")
        state.build(m)
        finishes = slot.drop & column.finished
        m.d.sync += waited.eq(~slot.ahead & (waited | past[-1]))
        m.d.comb += [
            slot.first.eq(past[1]),
            slot.second.eq(past[2]),
            slot.ends.eq(
                slot.newest | slot.qm & pair.outermost & column.late | slot.xy & xy_ends & is_short
            ),
            slot.begins.eq(slot.idle | finishes),
            self.done.eq(finishes & ~descales),
            self.fault.eq(~state.valid),
        ]
        with m.If(slot.idle):
            m.d.sync += [
                slot.preparing.eq(self.prepare),
                slot.descaling.eq(0),
                slot.linear.eq(self.prepare),
            ]
        with m.If(finishes & descales):
            m.d.sync += [slot.descaling.eq(1), slot.linear.eq(1)]
        return m


class ColumnCounter(wiring.Component):
    """Counts columns, the digits for AHEAD and those that are written.

    Members
    -------
    inner_digits, rounds, descale : as in `BankedMultiplierSignature`
    slot (CompactSlotSignature, in)
    beyond_inner, beyond_outer (in)
        Of the index that was asked for a cycle ago: it is beyond the digits of X, of Y.
    column (ColumnSignature, out)
    """

    def __init__(self, count_bits: int, target: Target):
        self.count_bits, self.target = count_bits, target
        flags = ("descale", "beyond_inner", "beyond_outer")
        ports = {
            **{name: In(count_bits) for name in ("inner_digits", "rounds")},
            **{name: In(1) for name in flags},
            "slot": In(CompactSlotSignature()),
            "column": Out(ColumnSignature(count_bits)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Build the counters; `ahead_index` and `written` begin the critical paths."""
        m = Module()
        slot, column = self.slot, self.column
        begins, ends = slot.begins, slot.ends
        # The carry chain takes the sum's first term beside the sum of both: a single bit's first.
        minus_descale = self.descale.replicate(self.count_bits)
        m.d.sync += [
            column.inner.eq(self.inner_digits),
            column.outer.eq(minus_descale + self.rounds),
        ]
        # From the index of x_(k+1), for which AHEAD asks: k + 1 is D or more, K or more.
        inner_passed, outer_passed = Signal(), Signal()
        with m.If(begins):
            m.d.sync += [inner_passed.eq(0), outer_passed.eq(0)]
        with m.Elif(slot.first):
            m.d.sync += [
                inner_passed.eq(inner_passed | self.beyond_inner),
                outer_passed.eq(outer_passed | self.beyond_outer),
            ]
        passed = Signal()  # from AHEAD of column L - 1 on
        is_result = Signal()  # column k gives a digit of the result
        next_written = Signal(self.count_bits, init=1)
        m.d.comb += passed.eq(slot.linear | (inner_passed & outer_passed))
        m.d.sync += column.finished.eq(
            column.written_is_result & same(m, next_written, column.inner, self.target)
        )
        with m.If(begins):
            m.d.sync += [column.k.eq(-1), column.before.eq(-2), column.reached.eq(0)]
            m.d.sync += [column.second_half.eq(0), column.late.eq(0), is_result.eq(0)]
            m.d.sync += [column.newest_is_result.eq(0), column.written_is_result.eq(0)]
        with m.Elif(ends):
            m.d.sync += [
                column.k.eq(column.k + 1),
                column.before.eq(column.k),
                column.reached.eq(Cat(Const(1, 1), column.reached)),
                column.second_half.eq(passed),
                column.late.eq(column.second_half),
                is_result.eq(outer_passed | (slot.linear & column.reached[0])),
                column.newest_is_result.eq(is_result),
                column.written_is_result.eq(column.newest_is_result),
            ]
        with m.If(begins | ends & passed & ~column.second_half):
            m.d.sync += column.ahead_index.eq(0)
        with m.Elif(ends):
            m.d.sync += column.ahead_index.eq(column.ahead_index + 1)
        first_of_result = ends & column.newest_is_result & ~column.written_is_result
        with m.If(~column.reached[2] | first_of_result):
            m.d.sync += [column.written.eq(0), next_written.eq(1)]
        with m.Elif(ends):
            m.d.sync += [column.written.eq(next_written), next_written.eq(next_written + 1)]
        return m


class PairIndices(wiring.Component):
    """Steps through the pairs of a column.

    XY goes from the outermost pair to the innermost one, QM from there outwards, to where XY of the
    next column begins but for two steps: no pair is ever loaded.

    Members
    -------
    slot, column (in)
    pair (PairSignature, out)
    """

    def __init__(self, count_bits: int, target: Target):
        self.count_bits, self.target = count_bits, target
        ports = {
            "slot": In(CompactSlotSignature()),
            "column": In(ColumnSignature(count_bits)),
            "pair": Out(PairSignature(count_bits)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Build the counter of i, and what follows from i and the column."""
        m = Module()
        slot, column, pair, ends = self.slot, self.column, self.pair, self.slot.ends
        i, k, late, second_half = pair.i, column.k, column.late, column.second_half
        up, down = Signal(), Signal()
        at_ahead = same(m, i, column.ahead_index, self.target)
        m.d.comb += [
            # k - i, and one less in the others; the lowest position makes the carry an input.
            pair.j.eq((Cat(Const(1, 1), k[: self.count_bits]) + Cat(slot.xy, ~i))[1:]),
            pair.innermost.eq(same(m, i, column.before[1:], self.target)),
            pair.outermost.eq(Mux(late, at_ahead, ~i[1:].any())),
            pair.empty.eq(pair.spent | slot.linear | ~column.reached[1]),
            up.eq(
                (slot.ahead & second_half | slot.xy) & ~pair.innermost & ~pair.empty
                | ends & second_half
            ),
            down.eq(
                slot.xy & pair.innermost & ~pair.empty & column.reached[2] & ~column.before[0]
                | slot.qm & Mux(late, ~pair.outermost, i != 0)
            ),
        ]
        with m.If(slot.begins):
            m.d.sync += [i.eq(0), pair.spent.eq(0)]
        with m.Else():
            with m.If(up | down):
                m.d.sync += i.eq(i + Mux(down, -1, 1))
            with m.If(slot.ahead & second_half & pair.innermost):
                m.d.sync += pair.spent.eq(1)
        return m
