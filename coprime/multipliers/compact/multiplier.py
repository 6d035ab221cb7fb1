"""Montgomery multiplication by products of differences on one DSP slice, column by column.

`model/compact.py` defines the result and shows why it is right. To our knowledge this combination
is unpublished in hardware: Karatsuba's identity for any number of digits in product scanning, for
X * Y and for q * M' alike; Orup's scaled modulus, whose quotient digit is the column's lowest
digit; and the diagonal products in a running sum next to the accumulator, so that no column waits
for it.
"""

from amaranth.hdl import Module
from amaranth.lib.wiring import connect

from coprime.cells.difference_slice import DifferenceSlice
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.model.compact import RADIX_BITS

from ..contract import BankedMultiplierSignature, ModularMultiplier
from .digits import DigitFetch, DigitRegisters
from .multiplication import CompactMultiplication
from .schedule import ColumnCounter, PairIndices, SlotControl
from .sums import CompactColumnSums


class CompactMultiplier(ModularMultiplier):
    """X * Y * 2^(-17*rounds) modulo c * M, not fully reduced; c = -M^-1 mod 2^17.

    X, the multiplicand, and c * M have D = `inner` digits, at least 3; Y, the multiplier, and the
    quotient q have K = `rounds`, at least 2. The result is below X*Y / 2^(17*K) + c*M, so below
    2 * c * M where X and Y are and 2^(17*K) > 4 * c * M; it must fit in D digits. M is odd. n is
    the lesser of D and K, L the greater. Where `descale` is 1, K is one less, and a last round,
    modulo M itself, divides by the remaining 2^17.

    Operands are in two banks of memory with two ports each, which read four digits per cycle: two
    of X and two of Y, or two of M' and two of q. A pair needs these four, (x_i - x_j) * (y_i -
    y_j), and is subtracted from the column's sum; a square needs one bank. Digits beyond n or L
    are 0.

    `SlotControl` steps through the slots of column k, a cycle each, from column -1 on:

    ======== ===== =============================================================================
    slot     count
    ======== ===== =============================================================================
    AHEAD    1     for the next column: x_(k+1) * y_(k+1) is added to the running sum; in the
                   second half, k >= L, q_(k-L) * M'_(k-L) is subtracted from it. Port B, free in
                   products of two digits, writes the digit of column k - 2
    XY       pairs of X and Y, i + j = k, with i from max(0, k-L+1) up. The first is added to C: the
                   carry out of the column before, with the running sum
    DROP     1     where k >= L: x_(k-L) * y_(k-L), which both sums still hold, is subtracted from
                   both. After a single XY, port B writes the digit of column k - 2 (again)
    QM       pairs of q and M', i + j = k - 1, with i down to 1, or to k - L where k > L
    PAD            nothing, until the newest q is in memory, 4 slots after AHEAD, where k <= L
    DIAGONAL 1     q_(k-1) * M'_(k-1), where k <= L
    NEWEST   1     pair (0, k-1), where k <= L
    ======== ===== =============================================================================

    XY and QM have one slot even where they have no pair. Columns -1 and 0 end after XY: x_0 * y_0
    is all that is due in them. Up to column L the last two slots are DIAGONAL and NEWEST, also
    where q has ended; both read index 0 and index k - 1, of which DIAGONAL uses the second only.

    `ColumnCounter` counts k, and `PairIndices` i and j. `DigitFetch` asks the memory for digits in
    cycle c; they enter the slice from `DigitRegisters` in c + 4, and their sum is in P in c + 8
    (`CompactColumnSums`). For the last slot of a column that is when C is made of P / 2^17 and the
    running sum, and P's lowest digit becomes q_k, or a digit of the result; c + 1 is the next
    column's AHEAD, whose product reaches P while C enters the slice, and c + 2 adds to C.

    A column's digit is in its register in c + 9, where c is the column's last slot, and is written
    two cycles after it is asked for: in the AHEAD after the next column if that has 6 slots or
    more. At the end columns have 4 and 5, and a single slot of XY, so DROP writes what AHEAD was
    too early for. Column 2D after the last one, and AHEAD, XY and DROP after that, write the last
    two digits.

    A preparation, of M' = (c*M + 1) / 2^17, and a last round modulo M, S' = (S + q*M) / 2^17 with
    q = S_0 * c, are columns, too, the first two of 6 slots and the others of 4, without PAD,
    DIAGONAL and NEWEST: XY is M_k * c or S_k * 1, QM is q * M_k, DROP nothing, and XY of column -1
    is S_0 * c.

    Cycles of a multiplication of D by D digits: D^2 + D products are needed, and in addition

    ============================================================ ===
    AHEAD in the second half: q_i * M'_i once more               D
    DROP: x_i * y_i once more                                    D
    AHEAD with nothing to do, k = D - 1                          1
    columns -1 and 0 except for their two products               2
    XY without a pair, to add to C, in the last two columns      2
    QM without a pair in columns 1 to 3, and in the last column  4
    NEWEST in column 1, which has no such pair                   1
    PAD in columns 1 to 3: 1, 1, 0                               2
    column 2D, and three slots after it, in which all is written 7
    ============================================================ ===

    so D^2 + 3D + 19 cycles. AHEAD of the second half cannot be saved: no product can be added to P
    while its last sum goes through C. DROP could be: x_i * y_i would wait in a memory, of a LUT a
    bit for 64 digits and two for 128.

    Parameters
    ----------
    max_digits (int): digits of the longest modulus, scaled
    count_bits (int): bits of a digit count
    """

    multiplication = CompactMultiplication()

    def __init__(self, max_digits: int, count_bits: int, target: Target = Target.GENERIC):
        self.max_digits, self.count_bits = max_digits, count_bits
        self.target = Target(target)
        super().__init__(BankedMultiplierSignature(RADIX_BITS, count_bits))

    def elaborate(self, platform: object) -> Module:
        """Connect the parts of the schedule, the digits, and the sums in the slice."""
        m = Module()
        count, target = self.count_bits, self.target
        m.submodules.control = control = SlotControl(count)
        m.submodules.columns = columns = ColumnCounter(count, target)
        m.submodules.pairs = pairs = PairIndices(count, target)
        m.submodules.fetch = fetch = DigitFetch(count, target)
        m.submodules.digits = digits = DigitRegisters()
        m.submodules.sums = sums = CompactColumnSums(self.max_digits, count)
        m.submodules.slice = dsp = DifferenceSlice(sums.sum_bits + 1, target)
        connect(m, control.slot, columns.slot, pairs.slot, fetch.slot, sums.slot)
        connect(m, columns.column, control.column, pairs.column, fetch.column, sums.column)
        connect(m, pairs.pair, control.pair, fetch.pair)
        connect(m, fetch.entering, digits.entering)
        m.d.comb += [
            *same_named(control, self, "start", "prepare", "descale"),
            *same_named(columns, self, "inner_digits", "rounds", "descale"),
            *same_named(columns, fetch, "beyond_inner", "beyond_outer"),
            *same_named(fetch, self, "multiplier_is_one", "squares"),
            *same_named(digits, self, "a_left", "a_right", "b_left", "b_right"),
            *same_named(digits, sums, "quotient"),
            *same_named(dsp, digits, "a", "b", "x", "y"),
            *same_named(dsp, sums, "base", "subtract", "c"),
            *same_named(sums, dsp, "p"),  # it is never below 0
            *same_named(sums, self, "wipe"),
            *same_named(self, control, "done"),
            *same_named(
                self, fetch, "a_role", "a_index", "b_index", "b_write", "b_quotient", "multiplying"
            ),
            self.b_write_data.eq(sums.digit),
            self.fault.eq(control.fault | digits.fault),
        ]
        self.secrets = [sums.quotient, sums.digit, sums.running, dsp.p]  # 0 after a wipe
        return m
