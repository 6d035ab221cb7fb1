"""Montgomery multiplication by products of differences on one DSP slice, column by column.

What is computed, and why it is right: `model/compact.py`. Nobody seems to have put its parts into
hardware together: Karatsuba's identity for any number of digits in product scanning, for X * Y and
for q * M' alike; Orup's scaled modulus, whose quotient digit is the column's lowest digit; and the
diagonal products in a running sum beside the accumulator, so that no column waits for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from amaranth.hdl import Cat, Const, Module, Mux, Signal, ValueLike

from coprime.cells.difference_slice import Base, DifferenceSlice
from coprime.cells.luts import at_least, same
from coprime.cells.target import Target
from coprime.model.compact import RADIX_BITS, accumulator_bits, scaling
from coprime.model.montgomery import reduced

from .contract import (
    READ_LATENCY,
    BankedMultiplierSignature,
    ModularMultiplier,
    Multiplication,
    Pair,
)
from .delays import history

__all__ = ["CompactMultiplication", "CompactMultiplier"]

_ENTERED = READ_LATENCY + 1
"""From asking for digits to the slice, with a register right behind the memory, which is slow."""
_SUMMED = _ENTERED + DifferenceSlice.LATENCY
"""From asking for digits to their product in P."""


@dataclass(frozen=True)
class CompactMultiplication(Multiplication):
    """X * Y * 2^(-17*rounds) mod c * M, not fully reduced; where it `leaves`, mod M."""

    digit_width = RADIX_BITS
    headroom = 2 + RADIX_BITS
    """2^(17*D) > 4cM with c < 2^17."""
    min_digits = 3
    """Of X and c * M: with fewer, AHEAD would read q_(k-L) while it is written."""
    newest_after = 4
    """Slots of a column before the newest q is there."""
    canonical = False
    prepares = True
    scaled = True
    banked = True

    def cycles(self, inner: int, rounds: int, *, leaves: bool = False) -> int:
        """Cycles of one multiplication; D^2 + 3D + 19 for D digits of both, 6 and more."""
        outer = rounds - leaves
        total = (
            sum(self._columns(inner, outer)) + 2 + self._pairs_xy(inner, outer, inner + outer + 1)
        )
        return total + (self._line(inner) if leaves else 0)

    def prepare_cycles(self, inner: int) -> int:
        """Cycles of making M' of a modulus of `inner` digits."""
        return self._line(inner)

    def _line(self, inner: int) -> int:
        # Columns -1 and 0, which have DIAGONAL and NEWEST, up to one for the last carry and one
        # more; as above.
        return 2 * 6 + 4 * (inner + 1) + 3

    @classmethod
    @cache
    def _columns(cls, inner: int, outer: int) -> tuple[int, ...]:
        """Slots of the columns from column -1."""
        long = max(inner, outer)

        def slots() -> Iterator[int]:
            yield from (2, 2)
            for k in range(1, inner + outer + 1):
                xy = cls._pairs_xy(inner, outer, k)
                # Of the column before, but for the pair (0, k - 1) where k <= L.
                qm = max(1, k // 2 - max(1, k - long))
                pairs = 1 + xy + (k >= long) + qm
                yield max(pairs, cls.newest_after) + 2 if k <= long else pairs

        return tuple(slots())

    @staticmethod
    def _pairs_xy(inner: int, outer: int, k: int) -> int:
        """Slots of XY in column k: from the outermost pair (i, k - i) to the innermost one."""
        return max(1, (k + 1) // 2 - max(0, k - max(inner, outer) + 1))

    def products(self, inner: int, rounds: int, *, leaves: bool = False) -> int:
        """Digit products that the algorithm needs, each once: D^2 + D for D of both."""
        outer = rounds - leaves
        short, long = min(inner, outer), max(inner, outer)
        pairs = short * (short - 1) // 2 + short * (long - short)
        return 2 * (short + pairs) + (1 + inner if leaves else 0)

    def product(
        self,
        multiplicand: int,
        multiplier: int,
        modulus: int,
        rounds: int,
        *,
        leaves: bool = False,
    ) -> int:
        """(X * Y + q * c * M) / R with the q below R = 2^(17*rounds) that makes it an integer.

        Where it `leaves`, the last round is M's.
        """
        whole = scaling(modulus) * modulus
        product = multiplicand * multiplier
        s = reduced(product, whole, RADIX_BITS * (rounds - leaves))
        return reduced(s, modulus, RADIX_BITS) if leaves else s


class CompactMultiplier(ModularMultiplier):
    """X * Y * 2^(-17*rounds) modulo c * M, not fully reduced; c = -M^-1 mod 2^17.

    X, the multiplicand, and c * M have D = `inner` digits, at least 3; Y, the multiplier, and the
    quotient q have K = `rounds`, at least 2. The result is below X*Y / 2^(17*K) + c*M, so below
    2 * c * M where X and Y are and 2^(17*K) > 4 * c * M; it must fit in D digits. M is odd. n is
    the smaller one of D and K, L the larger one. Where `leaves` is 1, K is one less, and a last
    round, modulo M itself, divides by the other 2^17.

    Operands lie in two banks of memory with two ports each, so that a cycle brings four digits: two
    of X and two of Y, or two of M' and two of q. That is what a pair needs,
    (x_i - x_j) * (y_i - y_j), which is taken from a column's sum; a square needs one bank. Digits
    beyond n or L are 0.

    The slots of column k, a cycle each, from column -1 on:

    ======== ===== ============================================================================
    slot     count
    ======== ===== ============================================================================
    AHEAD    1     for the next column: x_(k+1) * y_(k+1) joins the running sum; in the second
                   half, k >= L, q_(k-L) * M'_(k-L) leaves it. Port B, which no product of two
                   digits needs, writes the digit of column k - 2
    XY       pairs of X and Y, i + j = k, with i from max(0, k-L+1) up. The first one adds to C: the
                   carry out of the column before, with the running sum
    LEAVE    1     where k >= L: x_(k-L) * y_(k-L), which is in both sums still, leaves them. Behind
                   a single XY, port B writes the digit of column k - 2 (again)
    QM       pairs of q and M', i + j = k - 1, with i down to 1, or to k - L where k > L
    PAD            nothing, until the newest q is there, 4 slots after AHEAD, where k <= L
    DIAGONAL 1     q_(k-1) * M'_(k-1), where k <= L
    NEWEST   1     pair (0, k-1), where k <= L
    ======== ===== ============================================================================

    XY and QM have one slot even where they have no pair. Columns -1 and 0 end with XY: nothing but
    x_0 * y_0 is due in them. Up to column L the last two slots are DIAGONAL and NEWEST, also where
    q has ended; both of them read index 0 and index k - 1, of which DIAGONAL takes the second one
    only.

    What is asked of the memory in cycle c enters the slice in c + 4, and its sum stands in P in
    c + 8. For the last slot of a column that is when C is made of P / 2^17 and the running sum, and
    P's lowest digit becomes q_k, or a digit of the result; c + 1 is the next column's AHEAD, whose
    product reaches P while C enters the slice, and c + 2 adds to C.

    The running sum takes AHEAD's product from P in c + 8; DIAGONAL's and LEAVE's is the difference
    of P before and after it, c + 7 and c + 8, so neither is a column's last slot.

    A column's digit is in its register in c + 9, where c is the column's last slot, and is written
    two cycles after it is asked for: in the AHEAD behind the next column if that has 6 slots or
    more. At the end columns have 4 and 5, and a single slot of XY, so LEAVE writes what AHEAD was
    too early for. Column 2D behind the last one, and AHEAD, XY and LEAVE behind that, write the
    last two digits.

    A preparation, of M' = (c*M + 1) / 2^17, and a last round modulo M, S' = (S + q*M) / 2^17 with
    q = S_0 * c, are columns, too, the first two of 6 slots and the others of 4: XY is M_k * c or
    S_k * 1, QM is q * M_k, LEAVE nothing, and XY of column -1 is S_0 * c.

    Cycles of a multiplication of D by D digits: D^2 + D products are needed, and beside these

    ============================================================= ===
    AHEAD in the second half: q_i * M'_i once more                D
    LEAVE: x_i * y_i once more                                    D
    AHEAD with nothing to do, k = D - 1                           1
    columns -1 and 0 but for their two products                   2
    XY without a pair, to add to C, in the last two columns       2
    QM without a pair in columns 1 to 3, and in the last column   4
    NEWEST in column 1, which has no such pair                    1
    PAD in columns 1 to 3: 1, 1, 0                                2
    column 2D, and three slots behind it, in which all is written 7
    ============================================================= ===

    so D^2 + 3D + 19 cycles. AHEAD of the second half cannot be saved: it is while P's last sum goes
    through C that no product can be added to P. LEAVE could be: x_i * y_i would wait in a memory,
    of a LUT a bit for 64 digits and two for 128.

    Parameters
    ----------
    max_digits : int
        Of the longest modulus, scaled.
    count_bits : int
        Bits of a digit count.
    target : Target
    """

    multiplication = CompactMultiplication()

    def __init__(self, max_digits: int, count_bits: int, target: Target = Target.GENERIC):
        self.max_digits = max_digits
        self.count_bits = count_bits
        self.target = Target(target)
        super().__init__(BankedMultiplierSignature(RADIX_BITS, count_bits))

    def elaborate(self, platform: object) -> Module:
        """Build the schedule above."""
        m = Module()
        width, count = RADIX_BITS, self.count_bits
        wide = Signal(accumulator_bits(self.max_digits)).shape()
        m.submodules.slice = dsp = DifferenceSlice(wide.width + 1, self.target)

        # --- States, a flip-flop each: the slots of a column, and what lies between products -----
        idle = Signal(init=1)
        ahead = Signal()
        xy = Signal()
        leave = Signal()
        qm = Signal()
        pad = Signal()
        diagonal = Signal()
        newest = Signal()
        # By how many slots a column has gone past AHEAD: 1, 2 and so on.
        past = history(m, "past", ahead, self.multiplication.newest_after - 2, reset=True)
        first = past[1]
        waited = Signal()  # for the newest q
        m.d.sync += waited.eq(~ahead & (waited | past[-1]))

        # --- Columns -----------------------------------------------------------------------------
        preparing, leaving = Signal(), Signal()
        line = Signal()  # digit by digit: a modulus is prepared, or a scaled one left
        begins = Signal()  # a multiplication, a preparation, or a leaving: column -1 is next
        ends = Signal()  # the last slot of a column
        k = Signal(count + 1, init=-1)
        before = Signal(count + 1, init=(2 << count) - 2)  # k - 1
        since = [Signal(name=f"since_{column}") for column in range(5)]  # k >= 0, 1, ...
        inner = Signal(count)
        outer = Signal(count)
        # The carry chain takes the sum's first term beside the sum of both: a single bit's first.
        minus_leaves = self.leaves.replicate(count)
        m.d.sync += [inner.eq(self.inner_digits), outer.eq(minus_leaves + self.rounds)]

        # What the digit x_(k+1), for which AHEAD asks, tells: k + 1 is n, or L, or has been.
        inner_passed, outer_passed = Signal(), Signal()
        passed = Signal()  # from AHEAD of column L - 1 on
        second_half = Signal()  # k >= L
        is_late = Signal()  # k > L: no newest digit is waited for
        is_result = Signal()  # column k gives a digit of the result
        newest_is_result, written_is_result = Signal(), Signal()  # column k - 1; k - 2
        ahead_index = Signal(count)  # k + 1, or k - L in the second half
        written = Signal(count)  # index of the digit of column k - 2
        next_written = Signal(count, init=1)
        finished = Signal()  # it was the last one
        m.d.comb += passed.eq(line | (inner_passed & outer_passed))
        m.d.sync += finished.eq(written_is_result & same(m, next_written, inner, self.target))
        with m.If(begins):
            m.d.sync += [k.eq(-1), before.eq(-2)]
            m.d.sync += [flag.eq(0) for flag in since]
            m.d.sync += [second_half.eq(0), is_late.eq(0)]
            m.d.sync += [is_result.eq(0), newest_is_result.eq(0), written_is_result.eq(0)]
        with m.Elif(ends):
            m.d.sync += [k.eq(k + 1), before.eq(k)]
            m.d.sync += [flag.eq(was) for flag, was in zip(since, [1, *since], strict=False)]
            m.d.sync += [
                second_half.eq(passed),
                is_late.eq(second_half),
                is_result.eq(outer_passed | (line & since[0])),
                newest_is_result.eq(is_result),
                written_is_result.eq(newest_is_result),
            ]
        with m.If(begins | ends & passed & ~second_half):
            m.d.sync += ahead_index.eq(0)
        with m.Elif(ends):
            m.d.sync += ahead_index.eq(ahead_index + 1)
        with m.If(~since[2] | (ends & newest_is_result & ~written_is_result)):
            m.d.sync += [written.eq(0), next_written.eq(1)]
        with m.Elif(ends):
            m.d.sync += [written.eq(next_written), next_written.eq(next_written + 1)]

        # --- The pair ----------------------------------------------------------------------------
        # XY goes from the outermost pair to the innermost one, QM from there outwards, to where XY
        # of the next column begins but for two steps: no pair is ever loaded.
        i = Signal(count)
        j = Signal(count)
        i_up = Signal()
        i_down = Signal()
        innermost = Signal()  # of XY
        outermost = Signal()  # of QM
        spent = Signal()  # no pairs of X and Y are left: the last columns
        empty = Signal()
        m.d.comb += [
            # k - i, and one less in the others; the lowest position makes the carry an input.
            j.eq((Cat(Const(1, 1), k[:count]) + Cat(xy, ~i))[1:]),
            innermost.eq(same(m, i, before[1:], self.target)),
            outermost.eq(Mux(is_late, same(m, i, ahead_index, self.target), ~i[1:].any())),
            empty.eq(spent | line | ~since[1]),
            i_up.eq((ahead & second_half | xy) & ~innermost & ~empty | ends & second_half),
            i_down.eq(
                xy & innermost & ~empty & since[2] & ~before[0]
                | qm & Mux(is_late, ~outermost, i != 0)
            ),
        ]
        with m.If(begins):
            m.d.sync += [i.eq(0), spent.eq(0)]
        with m.Else():
            with m.If(i_up | i_down):
                m.d.sync += i.eq(i + Mux(i_down, -1, 1))
            with m.If(ahead & second_half & innermost):
                m.d.sync += spent.eq(1)

        # --- Slots -------------------------------------------------------------------------------
        turns = Signal()
        is_short = Signal()  # columns -1 and 0, which have nothing behind XY
        goes_on = Signal()  # behind the pairs of q and M', where the newest q is waited for
        leaves_column = Signal()  # LEAVE of a column, and not the last slot of all
        finishes, leaves = Signal(), Signal()
        m.d.comb += [
            leaves_column.eq(leave & ~finished),
            finishes.eq(leave & finished),
            leaves.eq(self.leaves & ~line),
            turns.eq(xy & (innermost | empty)),
            is_short.eq(~since[1] & ~line),
            goes_on.eq(qm & outermost & ~is_late | pad),
            ends.eq(newest | qm & outermost & is_late | turns & is_short),
            begins.eq(idle | finishes),
            self.done.eq(finishes & ~leaves),
        ]
        m.d.sync += [
            idle.eq(idle & ~(self.start | self.prepare) | self.done),
            ahead.eq(idle & (self.start | self.prepare) | finishes & leaves | ends),
            xy.eq(ahead | xy & ~turns),
            leave.eq(turns & second_half),
            qm.eq(turns & ~second_half & ~is_short | leaves_column | qm & ~outermost),
            pad.eq(goes_on & ~waited),
            diagonal.eq(goes_on & waited),
            newest.eq(diagonal),
        ]
        with m.If(idle):
            m.d.sync += [preparing.eq(self.prepare), leaving.eq(0), line.eq(self.prepare)]
        with m.If(finishes & leaves):
            m.d.sync += [leaving.eq(1), line.eq(1)]

        # --- What is asked of the memory ---------------------------------------------------------
        base = Signal(Base, init=Base.P)
        has_carry = since[1] | (since[0] & ~line)
        m.d.comb += [
            self.a_role.eq(
                Mux(
                    line,
                    Mux(xy & ~preparing, Pair.RESULT, Pair.MODULUS),
                    Mux(xy | leave | ahead & ~second_half, Pair.FACTORS, Pair.QUOTIENT),
                )
            ),
            self.a_index.eq(Mux(ahead | leave, ahead_index, i)),
            self.b_index.eq(Mux(ahead | leave, written, j)),
            self.b_write.eq((ahead | leave & past[2]) & since[2]),
            self.b_quotient.eq(~written_is_result),
            base.eq(Base.P),
        ]
        with m.If(first & has_carry):
            m.d.comb += base.eq(Base.C)
        with m.Elif(first | ahead | idle):
            m.d.comb += base.eq(Base.ZERO)

        # --- Digits enter the slice --------------------------------------------------------------
        # What is asked for, a cycle later; beyond an operand's last digit there are zeros.
        def asked(name: str, value: ValueLike) -> Signal:
            return history(m, f"asked_{name}", value, 1)[-1]

        pairs_q = qm & ~line & since[4]
        multiplies_q = qm & leaving & since[0]
        asked_a, asked_b = asked("a", self.a_index), asked("b", self.b_index)
        factors = asked("factors", ahead & ~second_half | xy & ~line | leave)
        single = asked("single", ahead | leave | line)
        of_x = asked(
            "x", ahead | leave & ~line | xy & (line | ~empty) | pairs_q | newest & since[1]
        )
        of_y = asked("y", xy & ~empty | pairs_q)
        of_newest = asked(
            "newest", (diagonal | newest) & since[1] & ~newest_is_result | multiplies_q
        )
        unit = asked("unit", xy & leaving & since[0])
        of_diagonal = asked("diagonal", diagonal)
        is_needed = asked(
            "needed",
            ahead & ~second_half & ~line
            | xy & ~empty
            | pairs_q & ~(spent & ~before[0])
            | diagonal & since[1] & ~newest_is_result
            | newest & since[2]
            | multiplies_q
            | xy & leaving & ~since[0],
        )
        (a_beyond_inner, a_beyond_outer), (b_beyond_inner, b_beyond_outer) = (
            [at_least(m, index, digits, self.target) for digits in (inner, outer)]
            for index in (asked_a, asked_b)
        )
        a_beyond = a_beyond_inner | (a_beyond_outer & ~asked("line", line))
        is_one = factors & self.multiplier_is_one
        squares = factors & self.squares
        x_exists = of_x & ~a_beyond
        x_digit = x_exists & ~is_one & ~unit
        y_digit = of_y & ~a_beyond & ~b_beyond_outer & ~is_one
        with m.If(begins):
            m.d.sync += [inner_passed.eq(0), outer_passed.eq(0)]
        with m.Elif(first):
            m.d.sync += [
                inner_passed.eq(inner_passed | a_beyond_inner),
                outer_passed.eq(outer_passed | a_beyond_outer),
            ]
        m.d.comb += self.multiplying.eq(is_needed & ~a_beyond & ~(of_diagonal & b_beyond_inner))

        def at(cycles: int, name: str, value: ValueLike) -> Signal:
            """What is `asked`, as many cycles after it was asked of the memory."""
            return history(m, name, value, cycles - 1, reset=True)[-1]

        def enters(name: str, value: ValueLike) -> Signal:
            return history(m, name, value, _ENTERED, reset=True)[-1]

        # Registers behind the memory, and where x and y are put together, which enter later.
        taken: dict[str, Signal] = {}
        for name, is_zero in (
            ("a_left", of_diagonal),
            ("b_left", single | b_beyond_inner),
            ("a_right", ~(x_digit & ~squares)),
            ("b_right", ~(y_digit & ~squares)),
        ):
            taken[name] = Signal(width, name=f"{name}_taken", reset_less=True)
            m.d.sync += taken[name].eq(getattr(self, name))
            with m.If(at(READ_LATENCY, f"{name}_is_zero", is_zero)):
                m.d.sync += taken[name].eq(0)
        quotient, digit, running = Signal(width), Signal(width), Signal(wide)
        x = Signal(width)
        left_x = at(_ENTERED, "left_x", x_digit & squares)
        one = at(_ENTERED, "one", x_exists & (unit | is_one & (asked_a == 0)))
        m.d.sync += x.eq(taken["a_right"] | (taken["a_left"] & left_x.replicate(width)) | one)
        sources: list[Signal] = []
        for name, value, is_zero in (
            ("y_left", taken["b_left"], ~(y_digit & squares)),
            ("y_right", taken["b_right"], Const(0)),
            ("y_newest", quotient, ~of_newest | a_beyond),
        ):
            sources.append(Signal(width, name=name, reset_less=True))
            m.d.sync += sources[-1].eq(value)
            if name != "y_right":
                with m.If(at(_ENTERED, f"{name}_is_zero", is_zero)):
                    m.d.sync += sources[-1].eq(0)
        m.d.comb += [
            dsp.a.eq(taken["a_left"]),
            dsp.b.eq(taken["b_left"]),
            dsp.x.eq(x),
            dsp.y.eq(sources[0] | sources[1] | sources[2]),
            dsp.subtract.eq(enters("subtract", xy & ~line | leave | qm | newest)),
            dsp.base.eq(enters("base", base)),
        ]

        # --- Sums --------------------------------------------------------------------------------
        def summed(name: str, value: ValueLike) -> list[Signal]:
            """A flag of a slot, up to when its sum is in P."""
            return history(m, name, value, _SUMMED, reset=True)

        p = dsp.p[:-1]  # it is never below 0
        # P is 0 when a wipe gets there, as nothing is asked for while idle.
        with m.If(summed("ends", ends | self.wipe)[-1]):
            m.d.sync += digit.eq(p)
        # Digit by digit, it is S_0 * c of column -1.
        takes_quotient = Mux(line, first & ~since[0], ends)
        with m.If(summed("takes_quotient", takes_quotient | self.wipe)[-1]):
            m.d.sync += quotient.eq(p)
        # The lowest digit of c * M, and 1, are 2^17. Column 1's carry is taken in column 2.
        carried = preparing & since[2] & ~since[3]
        m.d.comb += [
            # The lowest position makes the carry an input of one carry chain.
            dsp.c.eq((Cat(carried, p[width:]) + Cat(carried, running))[1:]),
            self.b_write_data.eq(digit),
        ]

        self.secrets = [quotient, digit, running, dsp.p]  # 0 after a wipe
        # DIAGONAL's and LEAVE's product is P after it less P before.
        joins = summed("joins", ahead & ~second_half)[-1]
        # Not what a line's last column asks for, which ends when the next multiplication has begun.
        parts = summed("parts", ahead & second_half & ~line)[-1]
        lone = summed("lone", diagonal | leaves_column)
        adds, subtracts = Signal(), Signal()
        m.d.comb += [adds.eq(joins | lone[-1]), subtracts.eq(parts | lone[-2])]
        # Until nothing of the column before column -1 is on its way any more: a product of what is
        # no multiplier leaves a carry.
        with m.If(~since[1] | line):
            m.d.sync += running.eq(0)
        with m.Elif(adds | subtracts):
            # A sum as a difference, so that the carry chain passes `running` on, and synthesis
            # finds one LUT a bit. The lowest position makes the borrow an input.
            term = p ^ adds.replicate(len(p))
            m.d.sync += running.eq((Cat(Const(0, 1), running) - Cat(adds, term))[1:])
        return m
