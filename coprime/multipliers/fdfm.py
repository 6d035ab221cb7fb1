"""FDFM's Montgomery multiplier: digit-serial on one DSP slice (Algorithm 3, figure 5).

Source: Ito, Nakano, Song, "The Parallel FDFM Processor Core Approach for CRT-based RSA Decryption"
(2011), Algorithm 3 and section 5.1. What differs:

* The accumulator's right shift by 17 bits carries C_alpha and C_beta in one value, so lines 6 to 8
  are two operations of the DSP slice, and the adder in logic does line 9 alone.
* An iteration of the outer loop takes 2d+6 cycles, the paper's 2d+8: the j = d round is one cycle,
  and the quotient digit goes from the accumulator straight into the multiplier.
* 17d >= R+2 is enough (the paper asks for R+3): 2^(17d) > 4M makes the result of operands below 2M
  lie below 2M.
"""

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal

from coprime.cells.dsp_slice import Accumulate, DspSlice
from coprime.cells.target import Target
from coprime.model.fdfm import RADIX_BITS
from coprime.model.montgomery import reduced

from .contract import (
    READ_LATENCY,
    ModularMultiplier,
    Multiplication,
    MultiplierSignature,
    Role,
)
from .delays import delays

__all__ = ["FdfmMultiplication", "FdfmMultiplier"]


@dataclass(frozen=True)
class FdfmMultiplication(Multiplication):
    """X * Y * 2^(-17*outer) mod M, not fully reduced.

    X, the multiplicand, and M have `inner` digits, at least 2; Y, the multiplier, has `outer`. The
    result is below X*Y / 2^(17*outer) + M, so below 2M where X < 2M, Y < 2M and 2^(17*outer) > 4M;
    it must fit in `inner` digits. M is odd.
    """

    digit_width = RADIX_BITS
    headroom = 2
    """2^(17d) > 4M."""
    min_digits = 2
    """Of X and M: S_0 is the sum of j = 1."""
    canonical = False
    prepares = False

    def cycles(self, inner: int, rounds: int) -> int:
        """Cycles of one multiplication; 2d^2 + 6d + 7 for equal lengths."""
        # One cycle asks for Y_0 before the iterations; S_(d-1) is finished after them.
        return 1 + rounds * (2 * inner + 6) + READ_LATENCY + DspSlice.LATENCY

    def products(self, inner: int, rounds: int) -> int:
        """Products that Algorithm 3 needs (equation 7): X_j * Y_i, q * M_j and one for q."""
        return rounds * (2 * inner + 1)

    def product(self, multiplicand: int, multiplier: int, modulus: int, rounds: int) -> int:
        """(X * Y + q * M) / R with the q below R = 2^(17*rounds) that makes it an integer."""
        return reduced(multiplicand * multiplier, modulus, RADIX_BITS * rounds)


class FdfmMultiplier(ModularMultiplier):
    """The hardware of an `FdfmMultiplication`.

    Schedule of one iteration of the outer loop, d = inner digits. c is the cycle in which port A is
    asked; the operand enters the DSP slice in c+3 and its sum stands in P in c+6.

    ======== ============ =============================================================
    c        port A reads DSP slice
    ======== ============ =============================================================
    0        X_0          P = X_0 * Y_i                     (line 3)
    3        -M^-1        P = (X_0 * Y_i + S_0) * -M^-1     (line 3; its low digit is q)
    5 + 2j   X_j          P = (P >> 17) + X_j * Y_i         (line 6; j = 0: P = X_0 * Y_i)
    6 + 2j   M_j          P = P + q * M_j                   (line 7)
    2d + 5   Y_(i+1)      P = P >> 17                       (j = d; port A is free)
    ======== ============ =============================================================

    The adder takes the sum of c = 6 + 2j in cycle 12 + 2j: {C_S : S_(i+1,j-1)} = P + S_(i,j) + C_S
    (lines 8, 9), and port B writes it. S_(i+1,0) is also kept in a register for line 3 of the
    next iteration: with d = 2 it comes too late to be read back in time.

    Parameters
    ----------
    count_bits : int
        Bits of a digit count.
    target : Target
    """

    multiplication = FdfmMultiplication()

    def __init__(self, count_bits: int, target: Target = Target.GENERIC):
        self.count_bits = count_bits
        self.target = Target(target)
        super().__init__(MultiplierSignature(RADIX_BITS, count_bits, count_bits))

    def elaborate(self, platform: object) -> Module:
        """Build the schedule above."""
        m = Module()
        m.submodules.dsp = dsp = DspSlice(accumulator_width=37, target=self.target)

        # --- Loops ---------------------------------------------------------------------------
        i = Signal(self.count_bits)  # 0..outer: index of the Y digit to be read next
        j = Signal(self.count_bits)  # 0..inner-1
        first = Signal()  # i = 0: S_0 is zero
        wait = Signal(3)  # 0..4: c within QUOTIENT
        last_j = Signal()
        m.d.comb += last_j.eq(j + 1 == self.inner_digits)

        s_0 = Signal(RADIX_BITS)
        read_y = Signal()
        quotient = Signal()
        x_j = Signal()
        m_j = Signal()
        flush = Signal()
        draining = Signal()
        finished = Signal()

        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [i.eq(0), first.eq(1), draining.eq(0), s_0.eq(0)]
                with m.If(self.start):
                    m.next = "READ_Y0"
            with m.State("READ_Y0"):
                m.d.comb += read_y.eq(1)
                m.next = "QUOTIENT"
            with m.State("QUOTIENT"):  # line 3
                m.d.comb += quotient.eq(wait == 3)
                m.d.sync += wait.eq(wait + 1)
                with m.If(quotient):
                    m.d.sync += i.eq(i + 1)
                with m.If(wait == 4):
                    m.d.sync += wait.eq(0)
                    m.next = "X_J"
            with m.State("X_J"):  # line 6
                m.d.comb += x_j.eq(1)
                m.next = "M_J"
            with m.State("M_J"):  # lines 7 to 9
                m.d.comb += m_j.eq(1)
                m.d.sync += j.eq(j + 1)
                m.next = "X_J"
                with m.If(last_j):
                    m.d.sync += j.eq(0)
                    m.next = "FLUSH"
            with m.State("FLUSH"):  # j = d
                m.d.comb += [read_y.eq(1), flush.eq(1)]
                m.next = "QUOTIENT"
                with m.If(i == self.outer_digits):
                    m.d.sync += draining.eq(1)
                    m.next = "DRAIN"
            with m.State("DRAIN"), m.If(finished):
                m.next = "IDLE"

        # --- Port A --------------------------------------------------------------------------
        with m.If(read_y):
            m.d.comb += self.a_role.eq(Role.MULTIPLIER)
        with m.Elif(m_j):
            m.d.comb += self.a_role.eq(Role.MODULUS)
        with m.Elif(quotient):
            m.d.comb += self.a_role.eq(Role.INVERSE)
        m.d.comb += self.a_index.eq(Mux(read_y, i, j))

        # What is asked for in cycle c enters the slice in c + arrival and stands in P in c + ready.
        arrival = READ_LATENCY
        ready = arrival + DspSlice.LATENCY
        pairs = delays(m, m_j, ready)
        flushes = delays(m, flush, ready)
        index = delays(m, j, ready + 2)

        # --- The DSP slice -------------------------------------------------------------------
        y = Signal(RADIX_BITS, reset_less=True)
        q = Signal(RADIX_BITS, reset_less=True)
        s = Signal(RADIX_BITS, reset_less=True)
        p = dsp.p[:RADIX_BITS]
        carry = Signal()
        total = Signal(RADIX_BITS + 1)
        select_sum, select_p, select_q = Signal(), Signal(), Signal()
        m.d.comb += total.eq(
            # The lowest position makes the carry an input of one carry chain.
            (Cat(Const(1, 1), p) + Cat(carry, Mux(select_sum, s_0, s)))[1:]
        )

        with m.If(delays(m, read_y, arrival)[-1]):
            m.d.sync += y.eq(Mux(self.multiplier_is_one, i == 0, self.a_data))
        operation = Signal(Accumulate)
        with m.If(m_j):
            m.d.comb += operation.eq(Accumulate.ADD)
        with m.Elif(flush | (x_j & (j != 0))):
            m.d.comb += operation.eq(Accumulate.SHIFT_ADD)
        m.d.comb += [
            select_sum.eq(delays(m, quotient, arrival)[-1]),
            select_q.eq(pairs[arrival]),
            select_p.eq(select_q & (index[arrival] == 0)),
        ]
        with m.If(select_p):
            m.d.sync += q.eq(p)
        b = Signal(RADIX_BITS)
        m.d.comb += [
            b.eq(
                Mux(
                    select_sum,
                    total[:RADIX_BITS],
                    Mux(select_p, p, Mux(select_q, q, y)),
                )
            ),
            dsp.a.eq(self.a_data),
            dsp.b.eq(b),
            dsp.accumulate.eq(delays(m, operation, arrival)[-1]),
            dsp.product.eq(~flushes[arrival]),
        ]
        # X_0 * Y_i at c = 0 is done again at c = 5: it counts once.
        m.d.comb += self.multiplying.eq(x_j | m_j | quotient)

        # --- Lines 8 and 9, and port B -------------------------------------------------------
        # Port B is asked for S_j one cycle after M_j, in odd cycles, and writes in even ones; two
        # registers make S_j meet its sum.
        sum_pair, sum_flush, sum_index = pairs[ready], flushes[ready], index[ready]
        s_early = Signal.like(s, reset_less=True)
        m.d.sync += [s_early.eq(self.b_data), s.eq(s_early)]
        with m.If(first | flushes[ready - 1]):
            # S is zero in the first iteration, and beyond its last digit.
            m.d.sync += s.eq(0)
        with m.If(flushes[ready - 2]):
            m.d.sync += first.eq(0)
        with m.If(sum_pair & (sum_index == 1)):
            m.d.sync += s_0.eq(total[:RADIX_BITS])
        with m.If(sum_pair):
            m.d.sync += carry.eq(total[RADIX_BITS])
        with m.If(sum_flush):
            m.d.sync += carry.eq(0)
        m.d.comb += [
            # The digit of j = 0 is zero by the choice of q and is dropped: the shift by one digit.
            self.b_write.eq((sum_pair & (sum_index != 0)) | sum_flush),
            self.b_write_data.eq(total[:RADIX_BITS]),
            # The sum's j less one: j was that two cycles before it was the sum's.
            self.b_index.eq(Mux(self.b_write, index[ready + 2], index[1])),
            finished.eq(sum_flush & draining),
            self.done.eq(finished),
        ]
        return m
