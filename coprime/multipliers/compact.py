"""Montgomery multiplication by products of differences on one DSP slice, column by column.

What is computed, and why it is right: `model/compact.py`. Nobody seems to have put its parts into
hardware together: Karatsuba's identity for any number of digits in product scanning, for X * Y and
for q * M' alike; Orup's scaled modulus, whose quotient digit is the column's lowest digit; and the
diagonal products in a running sum beside the accumulator, so that no column waits for it.
"""

from collections.abc import Iterator
from functools import cache

from amaranth.hdl import Cat, Const, Module, Mux, Signal, ValueLike, signed
from amaranth.lib.memory import Memory
from amaranth.utils import bits_for

from coprime.cells.difference_slice import Base, DifferenceSlice
from coprime.cells.target import Target
from coprime.model.compact import RADIX_BITS, accumulator_bits, scaling

from .contract import READ_LATENCY, BankedMultiplierSignature, ModularMultiplier, Pair
from .delays import history

__all__ = ["CompactMultiplier"]

_ENTERED = READ_LATENCY + 1
"""From asking for digits to the slice, with a register right behind the memory, which is slow."""
_SUMMED = _ENTERED + DifferenceSlice.LATENCY
"""From asking for digits to their product in P."""


class CompactMultiplier(ModularMultiplier):
    """X * Y * 2^(-17*rounds) modulo c * M, not fully reduced; c = -M^-1 mod 2^17.

    X, the multiplicand, and c * M have D = `inner` digits, at least 3; Y, the multiplier, and the
    quotient q have K = `rounds`, at least 2. The result is below X*Y / 2^(17*K) + c*M, so below
    2 * c * M where X and Y are and 2^(17*K) > 4 * c * M; it must fit in D digits. M is odd. n is
    the smaller one of D and K, L the larger one. Where `leaves` is 1, K is one less, and a last
    round, modulo M itself, divides by the other 2^17.

    Operands lie in two banks of memory with two ports each, so that a cycle brings four digits: two
    of X and two of Y, or two of M' and two of q. That is what a pair needs,
    (x_i - x_j) * (y_i - y_j), which is taken from a column's sum; a square needs one bank.

    The slots of column k, a cycle each:

    ======== ===== ============================================================================
    slot     count
    ======== ===== ============================================================================
    AHEAD    1     for the next column: x_(k+1) * y_(k+1) joins the running sum; in the second
                   half, k >= L, q_(k-L) * M'_(k-L) leaves it. Port B, which no diagonal product
                   needs, writes the digit of column k - 2
    XY       pairs of X and Y, i + j = k. The first one adds to C: the carry out of the column
                   before, with the running sum
    QM       pairs of q and M', i + j = k - 1, but for the pair (0, k-1) while k <= K
    DIAGONAL 1     q_(k-1) * M'_(k-1), where k <= K: the newest q is there 4 slots after AHEAD
    NEWEST   1     pair (0, k-1), where k <= K
    ======== ===== ============================================================================

    What is asked of the memory in cycle c enters the slice in c + 4, and its sum stands in P in
    c + 8. For the last slot of a column that is when C is made of P / 2^17 and the running sum, and
    P's lowest digit becomes q_k, or a digit of the result; c + 1 is the next column's AHEAD, whose
    product reaches P while C enters the slice, and c + 2 adds to C.

    The running sum takes AHEAD's product from P in c + 8; DIAGONAL's is the difference of P before
    and after it, c + 7 and c + 8. The products x_i * y_i wait in a small memory of LUTs for the
    second half, when AHEAD takes them away in c + 10.

    Column 0 is x_0 * y_0 alone: three slots. No column may have less than 6, so that each digit is
    written before the next one; columns after the last two write the last two digits.

    Cycles of a multiplication of D by D digits: D^2 + D products are needed, and beside these

    ============================================================ ===
    AHEAD in the second half: q_i * M'_i once more               D
    AHEAD with nothing to do, k = D - 1                          1
    column 0: x_0 * y_0 once more                                1
    XY without a pair, to add to C, in the last two columns      2
    NEWEST in column 1, which has no such pair                   1
    the newest q is waited for: 2, 2, 1 in columns 1 to 3        5
    columns that are filled up to 6 slots: 1, 2, 3, 3, 4 at last 13
    columns after the last                                       7
    ============================================================ ===

    so D^2 + 2D + 30 cycles. AHEAD of the second half cannot be saved: it is while P's last sum goes
    through C that no product can be added to P.

    Parameters
    ----------
    max_digits : int
        Of the longest modulus, scaled.
    count_bits : int
        Bits of a digit count.
    target : Target
    """

    DIGIT_WIDTH = RADIX_BITS
    MIN_DIGITS = 3
    """Of X and c * M: with fewer, AHEAD would read q_(k-L) while it is written."""
    LEAST_SLOTS = 6
    """Of a column: the digit of one is written before the next column's takes its place."""
    NEWEST_AFTER = 4
    """Slots of a column before the newest q is there."""
    canonical = False
    prepares = True
    scaled = True
    banked = True

    def __init__(self, max_digits: int, count_bits: int, target: Target = Target.GENERIC):
        self.max_digits = max_digits
        self.count_bits = count_bits
        self.target = Target(target)
        super().__init__(BankedMultiplierSignature(self.DIGIT_WIDTH, count_bits))

    # --- Cycles ---------------------------------------------------------------------------------

    @classmethod
    def cycles(cls, inner: int, rounds: int, *, leaves: bool = False) -> int:
        """Cycles of one multiplication; D^2 + 2D + 30 for D digits of both."""
        outer = rounds - leaves
        # Column 0; the columns; two that write the last digits.
        total = 3 + sum(cls._columns(inner, outer)) + cls.LEAST_SLOTS + 1
        return total + (2 + cls._line(inner) if leaves else 0)

    @classmethod
    def prepare_cycles(cls, inner: int) -> int:
        """Cycles of making M' of a modulus of `inner` digits."""
        return cls._line(inner)

    @classmethod
    def _line(cls, inner: int) -> int:
        # A slot that clears P; a column for each digit, and one for the last carry; as above.
        return 1 + cls.LEAST_SLOTS * (inner + 2) + 1

    @classmethod
    @cache
    def _columns(cls, inner: int, outer: int) -> tuple[int, ...]:
        """Slots of the columns from column 1."""
        short, long = min(inner, outer), max(inner, outer)

        def pairs(column: int) -> int:
            first = max(0, column - long + 1)
            return max(0, min(short, (column + 1) // 2) - first)

        def slots() -> Iterator[int]:
            for k in range(1, inner + outer):
                newest = k <= outer
                # The pair (0, 0) of column 1 is none.
                old = pairs(k - 1) - (newest and k > 1)
                before = 1 + max(1, pairs(k)) + old
                yield max(before, cls.NEWEST_AFTER) + 2 if newest else max(before, cls.LEAST_SLOTS)

        return tuple(slots())

    @staticmethod
    def products(inner: int, rounds: int, *, leaves: bool = False) -> int:
        """Digit products that the algorithm needs, each once: D^2 + D for D of both."""
        outer = rounds - leaves
        short, long = min(inner, outer), max(inner, outer)
        pairs = short * (short - 1) // 2 + short * (long - short)
        return 2 * (short + pairs) + (1 + inner if leaves else 0)

    @classmethod
    def product(
        cls,
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
        s = _divided(product, whole, RADIX_BITS * (rounds - leaves))
        return _divided(s, modulus, RADIX_BITS) if leaves else s

    # --- Hardware -------------------------------------------------------------------------------

    @property
    def _depth(self) -> int:
        """Words of the memory of x_i * y_i."""
        return 1 << int(bits_for(self.max_digits - 1))

    def elaborate(self, platform: object) -> Module:
        """Build the schedule above."""
        m = Module()
        width, count = self.DIGIT_WIDTH, self.count_bits
        wide = Signal(accumulator_bits(self.max_digits)).shape()
        m.submodules.slice = dsp = DifferenceSlice(wide.width + 1, self.target)

        # --- Lengths, less one -------------------------------------------------------------------
        line = Signal()  # digit by digit: a modulus is prepared, or a scaled one left
        preparing, leaving = Signal(), Signal()
        inner = Signal(count)
        outer = Signal(count)
        short = Signal(count)
        long = Signal(count, init=~0)
        inner_is_short = Signal()
        # In two stages, the second of which is there in the third cycle.
        m.d.sync += [
            inner.eq(self.inner_digits - 1),
            outer.eq(self.rounds - Mux(self.leaves, 2, 1)),
            inner_is_short.eq(inner <= outer),
            short.eq(Mux(inner <= outer, inner, outer)),
            long.eq(Mux(inner <= outer, outer, inner)),
        ]

        # --- The pair ----------------------------------------------------------------------------
        # XY goes from the outermost pair to the innermost one, QM from there outwards, to where XY
        # of the next column begins but for two steps: no pair is ever loaded. What is asked of a
        # pair is found out one move ahead, so that no comparison delays the next move.
        i = Signal(count)
        j = Signal(count)
        gap = Signal(signed(count + 1))  # j - i
        i_up = Signal()
        i_down = Signal()
        j_up = Signal()
        j_down = Signal()
        resets = Signal()
        i_is_last = Signal()  # n - 1
        j_is_last = Signal()  # L - 1
        is_over = Signal()  # i is n, or has been: the last column
        below_3 = Signal()  # the gap, in XY
        below_2 = Signal()
        below_0 = Signal()
        with m.If(resets):
            m.d.sync += [i.eq(0), j.eq(0), gap.eq(0)]
            m.d.sync += [i_is_last.eq(0), j_is_last.eq(0), is_over.eq(0)]
        with m.Else():
            with m.If(i_up | i_down):
                m.d.sync += [i.eq(i + Mux(i_down, -1, 1)), i_is_last.eq(i_up & (i + 1 == short))]
            with m.If(j_up | j_down):
                m.d.sync += [j.eq(j + Mux(j_down, -1, 1)), j_is_last.eq(j_up & (j + 1 == long))]
            with m.If(i_up & i_is_last):
                m.d.sync += is_over.eq(1)
            with m.Switch(Cat(i_up, i_down, j_up, j_down)):
                with m.Case(0b1001):
                    m.d.sync += gap.eq(gap - 2)
                with m.Case(0b0110):
                    m.d.sync += gap.eq(gap + 2)
                with m.Case(0b0001, 0b1000):
                    m.d.sync += gap.eq(gap - 1)
                with m.Case(0b0010, 0b0100):
                    m.d.sync += gap.eq(gap + 1)
            m.d.sync += [
                below_3.eq(Mux(j_down, gap < 5, Mux(j_up, gap < 2, gap < 4))),
                below_2.eq(Mux(j_down, gap < 4, Mux(j_up, gap < 1, gap < 3))),
                below_0.eq(~j_down & ~j_up & (gap < 1)),
            ]

        # --- The diagonal product ahead ----------------------------------------------------------
        # `ahead` is k + 1 in column k, and from column L - 1 on -1, 0, 1 and so on.
        ahead = Signal(count)
        has_diagonal = Signal(init=1)
        will_have_diagonal = Signal()
        second_half = Signal()  # from column L - 1 on
        begins_half = Signal()  # column L - 1, where `ahead` is -1
        goes_ahead = Signal()
        begins = Signal()  # column 0
        m.d.comb += [
            will_have_diagonal.eq(begins_half | (has_diagonal & (ahead != short))),
        ]
        with m.If(resets):
            m.d.sync += [ahead.eq(0), has_diagonal.eq(1), second_half.eq(0), begins_half.eq(0)]
        with m.Elif(goes_ahead):
            m.d.sync += [
                ahead.eq(ahead + 1),
                has_diagonal.eq(will_have_diagonal | begins),
                begins_half.eq(0),
            ]
            with m.If(~second_half & (ahead == long)):
                m.d.sync += [ahead.eq(~0), second_half.eq(1), begins_half.eq(1)]

        # --- Digits of q and of the result -------------------------------------------------------
        # The column before gave the newest digit, and the one before that the one that is written.
        newest = Signal(count)
        written = Signal(count)
        newest_exists = Signal()
        written_exists = Signal()
        newest_is_result = Signal()
        written_is_result = Signal()
        ended = Signal()  # the last digit is written
        ends = Signal()  # the last slot of a column
        newest_is_last = Signal()
        newest_alone = Signal()  # 0, 1 or 2: no pair of q and M' but the newest one
        m.d.sync += newest_is_last.eq(newest == Mux(newest_is_result, inner, outer))
        with m.If(resets):
            m.d.sync += [
                newest.eq(~0),
                newest_exists.eq(0),
                written_exists.eq(0),
                newest_is_result.eq(0),
                written_is_result.eq(0),
                ended.eq(0),
            ]
        with m.Elif(ends):
            m.d.sync += [
                newest.eq(newest + 1),
                newest_alone.eq(~newest_exists | (newest < 2)),
                newest_exists.eq(1),
                written.eq(newest),
                written_exists.eq(newest_exists),
                written_is_result.eq(newest_is_result),
                ended.eq(newest_is_result & newest_is_last),
            ]
            with m.If(newest_exists & ~newest_is_result & (line | newest_is_last)):
                m.d.sync += [newest.eq(0), newest_is_result.eq(1)]

        # --- Slots -------------------------------------------------------------------------------
        slot = Signal(3)  # of the column: from 0; the last number is any that follows, too
        with m.If(slot != self.LEAST_SLOTS - 1):
            m.d.sync += slot.eq(slot + 1)
        base = Signal(Base, init=Base.P)
        role = self.a_role
        is_pair = Signal()
        nothing = Signal()
        a_is_newest = Signal()
        b_is_newest = Signal()
        unit = Signal()
        takes_x = Signal()
        leaves_x = Signal()
        leaves_q = Signal()
        takes_q = Signal()
        takes_quotient = Signal()
        carries = Signal()
        clears = Signal()
        cleared = Signal()
        needed = Signal()  # the product is one that the algorithm needs
        line_is_over = Signal()
        m.d.comb += [
            base.eq(Base.P),
            self.a_index.eq(i),
            self.b_index.eq(j),
            needed.eq(is_pair),
            goes_ahead.eq(takes_x),
        ]

        def step_on() -> None:
            """Half of the way from the outermost pair of column k to that of column k + 2."""
            m.d.comb += [j_up.eq(~j_is_last), i_up.eq(j_is_last)]

        def go_on_with_newest() -> None:
            m.next = "WAIT"
            with m.If(slot >= self.NEWEST_AFTER - 1):
                m.next = "DIAGONAL"

        def end() -> None:
            m.next = "PAD"
            with m.If(slot >= self.LEAST_SLOTS - 1):
                m.d.comb += ends.eq(1)
                m.next = "AHEAD"

        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += [base.eq(Base.ZERO), nothing.eq(1), resets.eq(1)]
                m.d.sync += [
                    line.eq(self.prepare),
                    preparing.eq(self.prepare),
                    leaving.eq(0),
                    slot.eq(0),
                ]
                with m.If(self.start):
                    m.next = "COLUMN_0"
                with m.Elif(self.prepare):
                    m.next = "LINE"
                with m.Elif(self.wipe):
                    m.next = "CLEAR"
            with m.State("COLUMN_0"):
                # x_0 * y_0; x_1 * y_1, ahead for column 1; x_0 * y_0 again, column 0's sum.
                m.d.comb += [role.eq(Pair.FACTORS), base.eq(Base.ZERO), begins.eq(1)]
                with m.If(slot[1]):
                    m.d.comb += ends.eq(1)
                    m.d.sync += has_diagonal.eq(short != 1)  # x_2 * y_2
                    m.next = "AHEAD"
                with m.Else():
                    m.d.comb += [self.a_index.eq(ahead), takes_x.eq(1), needed.eq(1)]
            with m.State("AHEAD"):
                has_product = ~line & has_diagonal
                m.d.comb += [
                    role.eq(Mux(second_half, Pair.QUOTIENT, Pair.FACTORS)),
                    self.a_index.eq(ahead),
                    base.eq(Base.ZERO),
                    nothing.eq(~has_product),
                    takes_x.eq(has_product & ~second_half),
                    leaves_q.eq(has_product & second_half),
                    leaves_x.eq(~line & second_half & will_have_diagonal),
                    goes_ahead.eq(1),
                    needed.eq(takes_x),
                    self.b_index.eq(written),
                    self.b_write.eq(written_exists),
                ]
                m.d.sync += slot.eq(1)
                with m.If(ended):
                    m.d.comb += resets.eq(1)
                    m.next = "IDLE"
                    with m.If(self.leaves & ~line):
                        m.next = "LEAVE"
                    with m.Else():
                        m.d.comb += self.done.eq(1)
                with m.Elif(line):
                    m.next = "ITEM"
                with m.Else():
                    step_on()
                    m.next = "XY"
            with m.State("XY"):
                m.d.comb += [
                    role.eq(Pair.FACTORS),
                    is_pair.eq(~is_over & (gap != 0)),
                    nothing.eq(~is_pair),
                    base.eq(Mux(slot == 1, Base.C, Base.P)),
                ]
                with m.If(~below_3 & ~i_is_last & ~is_over):
                    m.d.comb += [i_up.eq(1), j_down.eq(1)]
                with m.Else():
                    # To the innermost pair of q and M', of the column before.
                    turns_i = (below_2 & written_exists) | is_over  # in column 1, i is 0
                    m.d.comb += [i_down.eq(turns_i), j_down.eq(~turns_i)]
                    m.next = "QM"
                    with m.If(~newest_is_result & newest_alone):
                        go_on_with_newest()
                    with m.If(below_0 | (newest_is_result & newest_is_last)):
                        end()  # there is none
            with m.State("QM"):
                m.d.comb += [role.eq(Pair.QUOTIENT), is_pair.eq(1)]
                with m.If(newest_is_result & (j_is_last | (i == 0))):
                    step_on()
                    end()
                with m.Else():
                    m.d.comb += [i_down.eq(1), j_up.eq(1)]
                    with m.If(~newest_is_result & (i == 1)):
                        go_on_with_newest()
            with m.State("WAIT"):
                m.d.comb += nothing.eq(1)
                go_on_with_newest()
            with m.State("DIAGONAL"):
                m.d.comb += [
                    role.eq(Pair.QUOTIENT),
                    self.a_index.eq(newest),
                    a_is_newest.eq(1),
                    nothing.eq(newest > short),
                    takes_q.eq(1),
                    needed.eq(~nothing),
                ]
                m.next = "NEWEST"
            with m.State("NEWEST"):
                m.d.comb += [
                    role.eq(Pair.QUOTIENT),
                    b_is_newest.eq(1),
                    is_pair.eq(j != 0),
                    nothing.eq(j == 0),
                    ends.eq(1),
                ]
                step_on()
                m.next = "AHEAD"
            with m.State("PAD"):
                m.d.comb += nothing.eq(1)
                end()
            with m.State("LEAVE"):  # q = S_0 * c
                m.d.comb += [
                    role.eq(Pair.RESULT),
                    base.eq(Base.ZERO),
                    takes_quotient.eq(~leaving),
                    needed.eq(~leaving),
                    resets.eq(1),
                ]
                m.d.sync += [leaving.eq(1), line.eq(1)]
                with m.If(leaving):
                    m.next = "LINE"
            with m.State("LINE"):
                m.d.comb += [base.eq(Base.ZERO), nothing.eq(1), carries.eq(preparing)]
                m.d.sync += line_is_over.eq(0)
                m.next = "AHEAD"
            with m.State("ITEM"):  # M_k * c, or S_k
                m.d.comb += [
                    role.eq(Mux(preparing, Pair.MODULUS, Pair.RESULT)),
                    base.eq(Base.C),
                    unit.eq(leaving),
                    nothing.eq(line_is_over),
                ]
                m.next = "QUOTIENT"
            with m.State("QUOTIENT"):  # q * M_k
                m.d.comb += [
                    role.eq(Pair.MODULUS),
                    a_is_newest.eq(1),
                    nothing.eq(preparing | line_is_over),
                    needed.eq(~nothing),
                    i_up.eq(1),
                ]
                with m.If(i == inner):
                    m.d.sync += line_is_over.eq(1)
                m.next = "PAD"
            with m.State("CLEAR"):
                # Of every word of the small memory: soon done, beside an operand memory's wipe.
                m.d.comb += [base.eq(Base.ZERO), nothing.eq(1), clears.eq(1)]
                with m.If(cleared):
                    m.next = "IDLE"
        m.d.comb += [
            self.b_quotient.eq(~written_is_result),
            self.multiplying.eq(needed),
        ]

        # --- Digits enter the slice --------------------------------------------------------------
        # What is asked for, a cycle later; beyond an operand's last digit there are zeros.
        def asked(name: str, value: ValueLike) -> Signal:
            return history(m, f"asked_{name}", value, 1)[-1]

        pair_asked = asked("pair", is_pair)
        factors = asked("factors", role == Pair.FACTORS)
        beyond = asked("b_index", self.b_index) > short
        swapped = factors & self.swapped
        left_ends = beyond & (inner_is_short ^ swapped)
        right_ends = beyond & ~(inner_is_short ^ swapped)
        is_one = factors & self.multiplier_is_one
        nothing_asked, unit_asked = asked("nothing", nothing), asked("unit", unit)
        # Where the right factor's digits come from: from the right bank, of a square from the left
        # one, or from the newest quotient digit; from nowhere it is 0.
        from_left, a_newest, b_newest = (
            factors & self.squares,
            asked("a_is_newest", a_is_newest),
            asked("b_is_newest", b_is_newest),
        )
        a_is_zero = nothing_asked | unit_asked | is_one
        b_is_zero = ~pair_asked | right_ends | is_one
        a_is_first = asked("first", self.a_index == 0)

        def at_entry(name: str, value: ValueLike, cycles: int = _ENTERED) -> Signal:
            return history(m, name, value, cycles)[-1]

        rest = _ENTERED - 1
        a_left, a_right, b_left, b_right = (
            history(m, f"{name}_taken", getattr(self, name), 1)[-1]
            for name in ("a_left", "a_right", "b_left", "b_right")
        )
        one_enters = at_entry("is_one", ~nothing_asked & (unit_asked | (is_one & a_is_first)), rest)

        quotient, digit, running = Signal(width), Signal(width), Signal(wide)
        waiting = Signal(2 * width)  # the x_i * y_i in turn to leave
        self.secrets = [quotient, digit, running, waiting, dsp.p]  # 0 after a wipe
        for port, is_zero, is_newest, digits, into in (
            ("a", a_is_zero, a_newest, (a_left, a_right), dsp.x),
            ("b", b_is_zero, b_newest, (b_left, b_right), dsp.y),
        ):
            chosen = [
                digit & at_entry(f"{port}_of_{name}", ~is_zero & when, rest).replicate(width)
                for name, when, digit in (
                    ("left", from_left & ~is_newest, digits[0]),
                    ("right", ~from_left & ~is_newest, digits[1]),
                    ("newest", is_newest, quotient),
                )
            ]
            m.d.comb += into.eq(chosen[0] | chosen[1] | chosen[2])
            if port == "a":
                m.d.comb += into[0].eq((chosen[0] | chosen[1] | chosen[2])[0] | one_enters)
        m.d.comb += [
            dsp.a.eq(a_left),
            dsp.b.eq(b_left),
            dsp.b_is_zero.eq(at_entry("b_is_zero", ~pair_asked | left_ends, rest)),
            dsp.subtract.eq(at_entry("subtract", is_pair)),
            dsp.base.eq(at_entry("base", base)),
        ]

        # --- Sums --------------------------------------------------------------------------------
        p = dsp.p[:-1]  # it is never below 0
        summed = history(m, "ends", ends, _SUMMED)[-1]
        carried = history(m, "carries", carries, _SUMMED)[-1]
        # When nothing is on its way any more, the latest being what leaves the running sum.
        clears_now = history(m, "clears", clears, _SUMMED + 2)[-1]
        with m.If(summed | clears_now):
            m.d.sync += digit.eq(p)
        with m.If(
            history(m, "of_quotient", (ends & ~line) | takes_quotient, _SUMMED)[-1] | clears_now
        ):
            m.d.sync += quotient.eq(p)
        m.d.comb += [
            # The lowest position makes the carry an input of one carry chain.
            dsp.c.eq((Cat(carried, p[width:]) + Cat(carried, running))[1:]),
            self.b_write_data.eq(digit),
        ]

        # x_i * y_i wait in turn, and leave in turn.
        m.submodules.diagonals = diagonals = Memory(
            shape=2 * width, depth=self._depth, init=[], attrs={"ram_style": "distributed"}
        )
        write, read = diagonals.write_port(), diagonals.read_port(domain="comb")
        place = Signal(range(self._depth))
        x_taken = history(m, "takes_x", takes_x, _SUMMED)[-1]
        q_taken = history(m, "takes_q", takes_q, _SUMMED)
        q_left = history(m, "leaves_q", leaves_q, _SUMMED)[-1]
        x_left = history(m, "leaves_x", leaves_x, _SUMMED + 2)[-1]
        m.d.comb += [
            write.addr.eq(place),
            read.addr.eq(place),
            write.data.eq(p),
            write.en.eq(x_taken | clears_now),
            cleared.eq(clears_now & place.all()),
        ]
        m.d.sync += waiting.eq(read.data)
        begins_wipe = clears & ~clears_now
        with m.If(self.start | self.prepare | begins_wipe):
            # After a reset in the middle, products that were on their way have been added since.
            m.d.sync += [place.eq(0), running.eq(0)]
        with m.Else():
            with m.If(x_taken | x_left | clears_now):
                m.d.sync += place.eq(place + 1)
            with m.If(history(m, "begins_half", leaves_x & begins_half, _SUMMED)[-1]):
                m.d.sync += place.eq(0)  # they leave from the first one on
            # DIAGONAL's product is P after it less P before.
            adds, subtracts = Signal(), Signal()
            m.d.comb += [
                adds.eq(x_taken | q_taken[-1]),
                subtracts.eq(q_left | x_left | q_taken[-2]),
            ]
            with m.If(adds | subtracts):
                # A sum as a difference, so that the carry chain passes `running` on, and synthesis
                # finds one LUT a bit. The lowest position makes the borrow an input.
                term = Mux(x_left, waiting, p) ^ adds.replicate(len(p))
                m.d.sync += running.eq((Cat(Const(0, 1), running) - Cat(adds, term))[1:])
        return m


def _divided(product: int, modulus: int, bits: int) -> int:
    q: int = -product * pow(modulus, -1, 1 << bits) % (1 << bits)
    return (product + q * modulus) >> bits
