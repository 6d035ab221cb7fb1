"""Radix-2 Montgomery multiplier without a last subtraction, with adders that propagate carries.

Source: COMPRESSION, Algorithm 2 and figure 7, the multiplier that it calls MM. What differs:

* The operands come word by word from a memory, and the result goes back there, as described in
  `bit_serial.py`.
* q of a round is computed in the round before, from the lowest bits, to select from a flip-flop.
"""

from amaranth.hdl import Const, Module, Mux, Signal

from .bit_serial import BitSerialMultiplier, spread, turned
from .bit_serial_control import BitSerialControl
from .bit_serial_multiplication import MontgomeryRadix2Multiplication


class PropagatingControl(BitSerialControl):
    """The control of a multiplier without C: WRITING is all of FINISHED, and word j is written in
    cycle j.
    """

    def load(self, m: Module, entering: list[Signal], loads_x: Signal) -> None:
        """Start after Y's last word.

        WRITING is short: a word of X that the last multiplication asked for may still come.
        """
        y_ends = Signal()
        m.d.sync += y_ends.eq(entering[-1] & ~entering[-2])
        super().load(m, entering, y_ends)

    def finish(self, m: Module, entering: list[Signal]) -> None:
        """Write."""
        state = self.state
        state.change("running", "writing", self.rounds_left.last)
        state.change("writing", "idle", self.passes.final)
        m.d.comb += [
            self.adding_next.eq(state.next["running"]),
            self.reader.written.eq(state.now["writing"]),
        ]
        m.d.sync += self.clear_s.eq(state.next["idle"])


class MontgomeryRadix2(BitSerialMultiplier):
    """(X * Y + q * M) / 2^rounds, with the q below 2^rounds that makes it an integer.

    S = (S + x_i * Y + q_i * M) / 2 in each round, with q_i = (S + x_i * Y) mod 2: two additions of
    N bits, one after the other, in a cycle. M is odd, M < 2^(N-2), Y < 2M, X < 2^rounds. After
    each round S < Y + M < 3M, so N bits hold it; in the end it is below X * Y / 2^rounds + M, and
    so below 2M where X < 2M < 2^(rounds-1).

    The D + 5 cycles of LOADING ask for Y, word by word, and then for X's first word; STARTING makes
    q of the first round, RUNNING takes a cycle a round, and WRITING D.
    """

    computes = MontgomeryRadix2Multiplication

    def elaborate(self, platform: object) -> Module:
        """Registers and the two adders."""
        m = Module()
        control = PropagatingControl(self)
        control.connect(m, self)
        width, n = self.digit_width, self.width
        s = self.s
        y = Signal(n, reset_less=True)
        modulus = Signal(n, reset_less=True)

        # --- A round ----------------------------------------------------------------------------
        q_next = Signal()
        x = spread(m, control.x_next, n, name="x", clear=~control.selecting)
        q = spread(m, q_next, n, name="q", clear=~control.selecting)
        with_y = Signal(n + 1)
        with_modulus = Signal(n + 1)  # below 6M, so there is no more
        # Synthesis may take both sums together: a row of full adders, and one carry chain. Kept
        # apart they were slower (128 bits on ecp5: 82 MHz, not 89), and larger on xc7.
        m.d.comb += [
            with_y.eq(s + (x & y)),
            with_modulus.eq(with_y + (q & modulus)),
            # Bit 1 becomes bit 0 of S. In STARTING S is 0, and nothing is added to it.
            q_next.eq(with_modulus[1] ^ (control.x_next & y[0])),
        ]

        # --- Word by word -----------------------------------------------------------------------
        entering, adding, writing = Signal(), Signal(), Signal()
        m.d.sync += [
            entering.eq(control.entering_next),
            adding.eq(control.adding_next),
            writing.eq(control.passing_next),
        ]
        with m.If(adding | writing):
            m.d.sync += s.eq(Mux(adding, with_modulus[1:], turned(s, Const(0, width))))
        with m.If(control.clear_s):
            m.d.sync += s.eq(0)
        with m.If(entering & ~control.preparing):
            m.d.sync += y.eq(turned(y, control.word))
        with m.If(entering & control.preparing):
            m.d.sync += modulus.eq(turned(modulus, control.word))
        m.d.comb += self.b_write_data.eq(s[:width])

        with m.If(control.forget):
            m.d.sync += [y.eq(0), modulus.eq(0)]
        self.secrets += [y, modulus]
        return m
