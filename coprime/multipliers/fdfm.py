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

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.dsp_slice import Accumulate, DspSlice
from coprime.cells.luts import select_word
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.model.fdfm import RADIX_BITS

from .contract import ModularMultiplier, MultiplierSignature, Role
from .delays import delays, past
from .fdfm_multiplication import FdfmMultiplication
from .multiplication import READ_LATENCY


class FdfmMultiplier(ModularMultiplier):
    """X * Y * 2^(-17*outer) mod M by Algorithm 3, with the ranges of `FdfmMultiplication`.

    Schedule of one iteration of the outer loop, d = inner digits. c is the cycle in which port A is
    asked; the operand enters the DSP slice in c+3 and its sum is in P in c+6.

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
    count_bits (int): bits of a digit count
    dense (bool): the same in fewer LUTs and more flip-flops: counters are `dense`, delays are not
        shift registers of LUTs, and on XC7 a LUT selects each bit that enters the DSP slice
    """

    multiplication = FdfmMultiplication()

    def __init__(self, count_bits: int, target: Target = Target.GENERIC, *, dense: bool = False):
        self.count_bits, self.dense = count_bits, dense
        self.target = Target(target)
        super().__init__(MultiplierSignature(RADIX_BITS, count_bits, count_bits))

    def elaborate(self, platform: object) -> Module:
        """Build the schedule above."""
        m = Module()
        m.submodules.dsp = dsp = DspSlice(accumulator_width=37, target=self.target)
        m.submodules.schedule = asked = FdfmSchedule(self.count_bits, dense=self.dense)
        m.submodules.sums = sums = FdfmSum(self.count_bits, dense=self.dense)
        m.d.comb += [
            *same_named(asked, self, "start", "inner_digits", "outer_digits"),
            asked.flushed.eq(sums.flushed),
            self.done.eq(asked.done),
            # X_0 * Y_i at c = 0 is repeated at c = 5: it counts once.
            self.multiplying.eq(asked.x_j | asked.m_j | asked.inverse),
        ]

        # --- Port A --------------------------------------------------------------------------
        with m.If(asked.y):
            m.d.comb += self.a_role.eq(Role.MULTIPLIER)
        with m.Elif(asked.m_j):
            m.d.comb += self.a_role.eq(Role.MODULUS)
        with m.Elif(asked.inverse):
            m.d.comb += self.a_role.eq(Role.INVERSE)
        m.d.comb += self.a_index.eq(Mux(asked.y, asked.i, asked.j))

        # --- The DSP slice: a digit that was asked for in cycle c enters it in c + 3 ----------
        operation = Signal(Accumulate)
        with m.If(asked.m_j):
            m.d.comb += operation.eq(Accumulate.ADD)
        with m.Elif(asked.flush | (asked.x_j & (asked.j != 0))):
            m.d.comb += operation.eq(Accumulate.SHIFT_ADD)
        enters_y, enters_inverse, enters_m_j, flushes, index, enters_operation = (
            delays(m, signal, READ_LATENCY, reset=self.dense)
            for signal in (asked.y, asked.inverse, asked.m_j, asked.flush, asked.j, operation)
        )
        y = Signal(RADIX_BITS, reset_less=True)
        q = Signal(RADIX_BITS, reset_less=True)
        p = dsp.p[:RADIX_BITS]
        q_is_made = Signal()
        m.d.comb += q_is_made.eq(enters_m_j[-1] & (index[-1] == 0))
        with m.If(enters_y[-1]):
            m.d.sync += y.eq(Mux(self.multiplier_is_one, asked.i == 0, self.a_data))
        with m.If(q_is_made):
            m.d.sync += q.eq(p)
        total = sums.total[:RADIX_BITS]
        if self.dense:
            choice = Cat(enters_m_j[-1], enters_inverse[-1] | q_is_made)
            m.d.comb += dsp.b.eq(select_word(m, (y, q, total, p), choice, self.target))
        else:
            either = Mux(q_is_made, p, Mux(enters_m_j[-1], q, y))
            m.d.comb += dsp.b.eq(Mux(enters_inverse[-1], total, either))
        m.d.comb += [
            dsp.a.eq(self.a_data),
            dsp.accumulate.eq(enters_operation[-1]),
            dsp.product.eq(~flushes[-1]),
        ]

        # --- The adder, and port B -----------------------------------------------------------
        m.d.comb += [
            sums.clear.eq(asked.idle),
            sums.inverse.eq(enters_inverse[-1]),
            sums.m_j.eq(enters_m_j[-1]),
            sums.flush.eq(flushes[-1]),
            sums.j.eq(index[-1]),
            sums.p.eq(p),
            sums.b_data.eq(self.b_data),
            self.b_write.eq(sums.write),
            self.b_write_data.eq(sums.total[:RADIX_BITS]),
            # S_j is asked for one cycle after M_j, in odd cycles; sums are written in even ones.
            self.b_index.eq(Mux(sums.write, sums.write_index, index[1])),
        ]
        return m


class FdfmSchedule(wiring.Component):
    """Requests a digit from port A in each cycle, in the order of `FdfmMultiplier`'s table.

    Parameters
    ----------
    count_bits : bits of a digit count
    dense : of the counters

    Members
    -------
    start, inner_digits, outer_digits (in): as in MultiplierSignature
    idle (out): no multiplication is in progress
    y, inverse, x_j, m_j (out): port A reads Y_i, -M^-1, X_j or M_j; else X_0
    flush (out): in the round of j = d, together with `y`
    i (out, 0 to outer): index of the digit of Y that is read next
    j (out, 0 to inner - 1)
    flushed (in): the sum of a `flush` is being written
    done (out): it is that of the last iteration
    """

    def __init__(self, count_bits: int, *, dense: bool = False):
        self.dense = dense
        ports = {
            "start": In(1),
            **dict.fromkeys(("inner_digits", "outer_digits"), In(count_bits)),
            **dict.fromkeys(("idle", "y", "inverse", "x_j", "m_j", "flush"), Out(1)),
            **dict.fromkeys(("i", "j"), Out(count_bits)),
            "flushed": In(1),
            "done": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Count through both loops."""
        m = Module()
        i, j = (IndexRegister(index, dense=self.dense) for index in (self.i, self.j))
        wait = Signal(3)  # 0..4: c within QUOTIENT
        draining = Signal()
        m.d.comb += self.done.eq(self.flushed & draining)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.idle.eq(1)
                i.restart(m)
                m.d.sync += draining.eq(0)
                with m.If(self.start):
                    m.next = "READ_Y0"
            with m.State("READ_Y0"):
                m.d.comb += self.y.eq(1)
                m.next = "QUOTIENT"
            with m.State("QUOTIENT"):  # line 3
                m.d.comb += self.inverse.eq(wait == 3)
                m.d.sync += wait.eq(wait + 1)
                with m.If(self.inverse):
                    i.step(m)
                with m.If(wait == 4):
                    m.d.sync += wait.eq(0)
                    m.next = "X_J"
            with m.State("X_J"):  # line 6
                m.d.comb += self.x_j.eq(1)
                m.next = "M_J"
            with m.State("M_J"):  # lines 7 to 9
                m.d.comb += self.m_j.eq(1)
                j.step(m)
                m.next = "X_J"
                with m.If(self.j + 1 == self.inner_digits):
                    j.restart(m)
                    m.next = "FLUSH"
            with m.State("FLUSH"):  # j = d
                m.d.comb += [self.y.eq(1), self.flush.eq(1)]
                m.next = "QUOTIENT"
                with m.If(self.i == self.outer_digits):
                    m.d.sync += draining.eq(1)
                    m.next = "DRAIN"
            with m.State("DRAIN"), m.If(self.done):
                m.next = "IDLE"
        for counter in (i, j):
            counter.place(m)
        return m


class IndexRegister:
    """A register that a state machine restarts at 0, or steps; of both it restarts.

    If it is `dense`, both reach the register through its reset and its enable, which takes no LUT
    for each bit; else through its input, which may be faster.
    """

    def __init__(self, value: Signal, *, dense: bool):
        self.value, self.dense = value, dense
        self.restarts, self.steps = (
            Signal(name=f"{value.name}_{flag}") for flag in ("restarts", "steps")
        )

    def restart(self, m: Module) -> None:
        """Restart in the present state."""
        if self.dense:
            m.d.comb += self.restarts.eq(1)
        else:
            m.d.sync += self.value.eq(0)

    def step(self, m: Module) -> None:
        """Step in the present state."""
        if self.dense:
            m.d.comb += self.steps.eq(1)
        else:
            m.d.sync += self.value.eq(self.value + 1)

    def place(self, m: Module) -> None:
        """Add the register, after all states."""
        if self.dense:
            with m.If(self.restarts):
                m.d.sync += self.value.eq(0)
            with m.Elif(self.steps):
                m.d.sync += self.value.eq(self.value + 1)


class FdfmSum(wiring.Component):
    """The adder of lines 8 and 9, and of line 3: P + S_(i,j) + C_S.

    What enters the DSP slice has its sum in P, and so in `total`, DspSlice.LATENCY cycles later.

    Parameters
    ----------
    count_bits : bits of a digit count
    dense : delays are flip-flops

    Members
    -------
    clear (in): S and C_S are 0 in the iteration that follows
    inverse, m_j, flush (in): -M^-1 enters the DSP slice, or M_j, or the shift of j = d
    j (in, 0 to inner - 1): index of the M_j that enters
    p (in, 17 bits): the lowest digit of P
    b_data (in, 17 bits): S_(i,j), a cycle after M_j enters
    total (out, 18 bits): P + S_0 while -M^-1 enters, else {C_S : S_(i+1,j-1)}
    write, write_index (out): the sum's digit is S_(i+1,write_index)
    flushed (out): it is the last one of its iteration
    """

    def __init__(self, count_bits: int, *, dense: bool = False):
        self.dense = dense
        ports = {
            **dict.fromkeys(("clear", "inverse", "m_j", "flush"), In(1)),
            "j": In(count_bits),
            **dict.fromkeys(("p", "b_data"), In(RADIX_BITS)),
            "total": Out(RADIX_BITS + 1),
            "write": Out(1),
            "write_index": Out(count_bits),
            "flushed": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """One carry chain, with a digit of S and a carry waiting for each sum."""
        m = Module()
        digit = self.total[:RADIX_BITS]
        pair = past(m, self.m_j, DspSlice.LATENCY, reset=self.dense)
        flushes = delays(m, self.flush, DspSlice.LATENCY, reset=self.dense)
        # The digit is S_(i+1,j-1): j - 1 is what j was two cycles before.
        *_, index, _, before = delays(m, self.j, DspSlice.LATENCY + 2, reset=self.dense)

        s_0 = Signal(RADIX_BITS)
        s = Signal(RADIX_BITS, reset_less=True)
        s_early = Signal.like(s)
        carry = Signal()
        first = Signal()  # i = 0: S is 0
        m.d.comb += self.total.eq(
            # The lowest position makes the carry an input of one carry chain.
            (Cat(Const(1, 1), self.p) + Cat(carry, Mux(self.inverse, s_0, s)))[1:]
        )
        m.d.sync += [s_early.eq(self.b_data), s.eq(s_early)]
        with m.If(first | flushes[-2]):
            # S is 0 in the first iteration, and beyond its last digit.
            m.d.sync += s.eq(0)
        with m.If(flushes[-3]):
            m.d.sync += first.eq(0)
        with m.If(pair & (index == 1)):
            m.d.sync += s_0.eq(digit)
        with m.If(pair):
            m.d.sync += carry.eq(self.total[RADIX_BITS])
        with m.If(self.flushed):
            m.d.sync += carry.eq(0)
        with m.If(self.clear):
            m.d.sync += [first.eq(1), s_0.eq(0)]
        m.d.comb += [
            self.flushed.eq(flushes[-1]),
            # The digit of j = 0 is zero by the choice of q and is dropped: the shift by one digit.
            self.write.eq((pair & (index != 0)) | self.flushed),
            self.write_index.eq(before),
        ]
        return m
