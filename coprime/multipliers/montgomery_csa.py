"""What BITSERIAL's two Montgomery multipliers share: all except the row of adders."""

from abc import abstractmethod

from amaranth.hdl import Cat, Module, Mux, Signal, Value

from .bit_serial import turned
from .bit_serial_multiplication import MontgomeryCarrySaveMultiplication
from .carry_save import CarrySaveControl, CarrySaveMultiplier


class MontgomeryCarrySave(CarrySaveMultiplier):
    """X * Y * 2^-rounds mod M.

    M is odd, Y < M < 2^N, X < 2^rounds. After each round S + C < Y + M < 2M, and S and C are below
    2^N each (docs/bitserial.md), so one conditional subtraction makes the result canonical.

    ====== ============ =====================================================
    cycles state        what happens
    ====== ============ =====================================================
    D + 5  LOADING      Y is asked for, word by word, then X's first word
    1      STARTING     q of the first round
    rounds RUNNING
    D      MOVING       S goes into Y's register
    1      TRANSFERRING C goes into S
    D + 2  SUMMING      S + Y goes into S, and is compared with M
    D + 2  WRITING      S, less M if it was not below M, is written
    ====== ============ =====================================================

    TRANSFERRING halves C as every round does: the words are taken one bit further down to make up
    for that. The registers turn word by word as `CarrySaveMultiplier` says.
    """

    computes = MontgomeryCarrySaveMultiplication

    @abstractmethod
    def add_row(
        self, m: Module, control: CarrySaveControl, y: Value, modulus: Value
    ) -> tuple[Value, Value]:
        """What S and C become in a round, N bits each. M is taken to be odd."""

    def elaborate(self, platform: object) -> Module:
        """Build the registers around the adder row and the adder of words."""
        m = Module()
        control = CarrySaveControl(self)
        control.connect(m, self)
        width, n, s = self.digit_width, self.width, self.s
        y = Signal(n, reset_less=True)
        modulus = Signal(n, reset_less=True)
        row_s, row_c = self.add_row(m, control, y, modulus)
        adder = self.add_passes(m, control)
        self.add_registers(m, control, adder, row_s, row_c)

        # --- Words that are added and compared --------------------------------------------------
        lost = Signal()  # the bit below those of C that are in S
        exceeds = Signal()  # the sum is not below M
        subtracted = modulus[:width] & exceeds.replicate(width)
        m.d.sync += lost.eq(Mux(control.transferring, self.c[0], s[width - 1]))
        m.d.comb += [
            adder.left.eq(Mux(control.summing, Cat(lost, s[: width - 1]), s[:width])),
            adder.right.eq(Mux(control.summing, y[:width], ~subtracted)),
            # M's word that is subtracted from the total has just gone to the high end.
            adder.compared.eq(modulus[n - width :]),
        ]
        with m.If(control.closing):
            m.d.sync += exceeds.eq(adder.carry | adder.reaches)

        # --- Registers that turn ----------------------------------------------------------------
        y_moves, modulus_moves, moving = Signal(), Signal(), Signal()
        m.d.sync += [
            y_moves.eq(control.entering_next | control.moving_next | control.passing_next),
            modulus_moves.eq(control.entering_next | control.passing_next),
            moving.eq(control.moving_next),
        ]
        with m.If(y_moves):
            m.d.sync += y.eq(turned(y, Mux(moving, s[:width], control.word)))
        with m.If(modulus_moves):
            m.d.sync += modulus.eq(
                turned(modulus, Mux(control.preparing, control.word, modulus[:width]))
            )
        # The adders hold nothing of the operands two cycles after this.
        with m.If(control.forget):
            m.d.sync += [y.eq(0), modulus.eq(0)]
        self.secrets += [y, modulus]
        return m
