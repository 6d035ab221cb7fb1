"""What BITSERIAL's two Montgomery multipliers share: all but the row of carry-save adders."""

from abc import abstractmethod
from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal, Value

from .bit_serial import BitSerialControl, spread, turned
from .carry_save import CarrySaveMultiplication, CarrySaveMultiplier, word_sum

__all__ = ["MontgomeryCarrySave", "MontgomeryCarrySaveMultiplication"]


@dataclass(frozen=True)
class MontgomeryCarrySaveMultiplication(CarrySaveMultiplication):
    """X * Y * 2^-rounds mod M, with M odd, Y < M < 2^N, X < 2^rounds."""

    @property
    def unloading_cycles(self) -> int:
        """MOVE, SUM and WRITE."""
        return self.words + 2 * self.pass_cycles

    def product(self, multiplicand: int, multiplier: int, modulus: int, rounds: int) -> int:
        """X * Y * 2^-rounds mod M."""
        return multiplicand * multiplier * pow(2, -rounds, modulus) % modulus


class MontgomeryCarrySave(CarrySaveMultiplier):
    """X * Y * 2^-rounds mod M.

    M is odd, Y < M < 2^N, X < 2^rounds. After each round S + C < Y + M < 2M, and S and C are below
    2^N each (docs/bitserial.md), so one conditional subtraction makes the result canonical.

    ========== ================ =================================================================
    cycles     state            what happens
    ========== ================ =================================================================
    D + 5      LOADING          Y is asked for, word by word, then X's first word
    1          STARTING         q of the first round
    rounds     RUNNING
    D          FINISHED_MOVE    S goes into Y's register
    1          FINISHED_TRANSFER  C goes into S
    D + 2      FINISHED_SUM     S + Y goes into S, and is compared with M
    D + 2      FINISHED_WRITE   S, less M if it was not below M, is written
    ========== ================ =================================================================

    Only S can be turned word by word: a multiplexer before each bit of C would make the adder row a
    third larger on devices with four-input LUTs. A round with nothing to add brings C into S
    instead, halved as by every round; the words are taken one bit further down to make up for that.
    """

    computes = MontgomeryCarrySaveMultiplication

    @abstractmethod
    def add_row(
        self, m: Module, control: BitSerialControl, y: Value, modulus: Value
    ) -> tuple[Value, Value]:
        """What S and C become in a round, N bits each. M is taken to be odd."""

    def elaborate(self, platform: object) -> Module:
        """Registers, adder row, word adders."""
        m = Module()
        control = BitSerialControl(self)
        control.connect(m, self)
        width, n = self.digit_width, self.width
        s, c = self.s, self.c
        y = Signal(n, reset_less=True)
        modulus = Signal(n, reset_less=True)

        # --- A round ----------------------------------------------------------------------------
        row_s, row_c = self.add_row(m, control, y, modulus)
        c_moves = Signal()
        m.d.sync += c_moves.eq(control.adding_next)
        adding = spread(m, control.adding_next, n, name="adding", clear=0)
        with m.If(c_moves):
            m.d.sync += c.eq(row_c)
        with m.If(control.clear_c):
            m.d.sync += c.eq(0)

        # --- Word by word -----------------------------------------------------------------------
        s_moves, y_moves, modulus_moves = Signal(), Signal(), Signal()
        passing, moving, totalling, comparing = Signal(), Signal(), Signal(), Signal()
        turning = control.moving_next | control.passing_next
        m.d.sync += [
            s_moves.eq(control.adding_next | turning | passing | totalling),
            y_moves.eq(control.entering_next | turning),
            modulus_moves.eq(control.entering_next | control.passing_next),
            moving.eq(control.moving_next),
            passing.eq(control.passing_next),
            totalling.eq(passing),
            comparing.eq(totalling),
        ]
        lost = Signal()  # the bit below those of C that are in S
        exceeds = Signal()  # the sum is not below M
        left = Signal(width, reset_less=True)
        right = Signal(width, reset_less=True)
        carry = Signal()
        total = Signal(width + 1)
        entering = Signal(width, reset_less=True)  # S takes the total one cycle later
        m.d.sync += [
            left.eq(Mux(control.summing, Cat(lost, s[: width - 1]), s[:width])),
            right.eq(
                Mux(control.summing, y[:width], ~(modulus[:width] & exceeds.replicate(width)))
            ),
            entering.eq(total[:width]),
            carry.eq(Mux(totalling, total[width], ~control.summing)),
        ]
        m.d.comb += total.eq(word_sum(left, right, carry))
        with m.If(s_moves):
            m.d.sync += s.eq((row_s & adding) | (turned(s, entering) & ~adding))
        with m.If(control.clear_s):
            m.d.sync += s.eq(0)
        with m.If(y_moves):
            m.d.sync += y.eq(turned(y, Mux(moving, s[:width], control.word)))
        with m.If(modulus_moves):
            m.d.sync += modulus.eq(
                turned(modulus, Mux(control.preparing, control.word, modulus[:width]))
            )
        m.d.sync += lost.eq(Mux(control.transferring, c[0], s[width - 1]))
        # The total less M's word, which has just gone to the high end.
        compared = Signal(width, reset_less=True)
        less = Signal(width + 1)
        no_borrow = Signal()
        m.d.comb += less.eq(word_sum(entering, ~compared, no_borrow))
        m.d.sync += [
            compared.eq(modulus[n - width :]),
            no_borrow.eq(~comparing | less[width]),
        ]
        with m.If(control.closing):
            m.d.sync += exceeds.eq(carry | less[width])
        m.d.comb += self.b_write_data.eq(entering)

        # What is on its way through the adders is gone two cycles after these.
        with m.If(control.forget):
            m.d.sync += [y.eq(0), modulus.eq(0)]
        self.secrets += [y, modulus, left, entering, compared]
        return m
