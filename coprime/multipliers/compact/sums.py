"""The sums of `compact`: what a slot's product joins, and what goes from column to column."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.difference_slice import Addend, DifferenceSlice
from coprime.model.compact import RADIX_BITS, accumulator_bits

from ..delays import history, past_value
from .digits import ENTERED
from .schedule import ColumnSignature, CompactSlotSignature

_SUMMED = ENTERED + DifferenceSlice.LATENCY  # cycles from asking for digits to their product in P


class CompactColumnSums(wiring.Component):
    """Selects the operation of the slice; keeps the running sum of diagonal products and the carry.

    A slot of cycle c has its product in P in c + 8. The running sum takes AHEAD's from P in c + 8;
    DIAGONAL's and DROP's is the difference of P before and after it, c + 7 and c + 8, so neither is
    a column's last slot.

    Parameters
    ----------
    max_digits (int): of the longest modulus, scaled

    Members
    -------
    slot, column (in)
    wipe (in)
    p (in): the slice's sum, 0 to 2^`accumulator_bits(max_digits)` - 1
    base (Addend, out), subtract (out): what the digits' product is added to, or taken from, as they
        enter the slice
    c (out): P / 2^17 and the running sum
    quotient, digit (17 bits, out): the newest digit of q; the digit of the column that has ended,
        of q or of the result
    """

    def __init__(self, max_digits: int, count_bits: int):
        self.sum_bits = accumulator_bits(max_digits)
        self.running = Signal(self.sum_bits)
        ports = {
            "slot": In(CompactSlotSignature()),
            "column": In(ColumnSignature(count_bits)),
            "wipe": In(1),
            "p": In(self.sum_bits),
            "base": Out(Addend),
            "subtract": Out(1),
            "c": Out(self.sum_bits + 1),
            **dict.fromkeys(("quotient", "digit"), Out(RADIX_BITS)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Build the sums and the registers of their digits."""
        m = Module()
        slot, column, p, running = self.slot, self.column, self.p, self.running
        reached = column.reached

        def enters(name: str, value: ValueLike) -> Signal:
            """A flag of a slot, as its digits enter."""
            return past_value(m, name, value, ENTERED, reset=True)

        def summed(name: str, value: ValueLike) -> list[Signal]:
            """A flag of a slot, up to when its sum is in P."""
            return history(m, name, value, _SUMMED, reset=True)

        # --- The slice's operation ---------------------------------------------------------------
        base = Signal(Addend, init=Addend.P)
        has_carry = reached[1] | (reached[0] & ~slot.linear)
        m.d.comb += base.eq(Addend.P)
        with m.If(slot.first & has_carry):
            m.d.comb += base.eq(Addend.C)
        with m.Elif(slot.first | slot.ahead | slot.idle):
            m.d.comb += base.eq(Addend.ZERO)
        subtract = slot.xy & ~slot.linear | slot.drop | slot.qm | slot.newest
        m.d.comb += [
            self.subtract.eq(enters("subtract", subtract)),
            self.base.eq(enters("base", base)),
        ]

        # --- Digits and carry --------------------------------------------------------------------
        # P is 0 when a wipe gets there, as nothing is asked for while idle.
        with m.If(summed("ends", slot.ends | self.wipe)[-1]):
            m.d.sync += self.digit.eq(p)
        # In a last round it is S_0 * c of column -1.
        takes_quotient = Mux(slot.linear, slot.first & ~reached[0], slot.ends)
        with m.If(summed("takes_quotient", takes_quotient | self.wipe)[-1]):
            m.d.sync += self.quotient.eq(p)
        # The lowest digit of c * M, and 1, are 2^17. Column 1's carry is taken in column 2.
        carried = slot.preparing & reached[2] & ~reached[3]
        # The lowest position makes the carry an input of one carry chain.
        m.d.comb += self.c.eq((Cat(carried, p[RADIX_BITS:]) + Cat(carried, running))[1:])

        # --- The running sum ---------------------------------------------------------------------
        joins = summed("joins", slot.ahead & ~column.second_half)[-1]
        # Not in linear columns: digits of the last one arrive during the next multiplication.
        parts = summed("parts", slot.ahead & column.second_half & ~slot.linear)[-1]
        lone = summed("lone", slot.diagonal | (slot.drop & ~column.finished))
        adds, subtracts = Signal(), Signal()
        m.d.comb += [adds.eq(joins | lone[-1]), subtracts.eq(parts | lone[-2])]
        # Cleared until nothing of the last multiplication is in the pipeline: with a window of 0,
        # whose result is not kept, its multiplier was no number, and its last column has a carry.
        with m.If(~reached[1] | slot.linear):
            m.d.sync += running.eq(0)
        with m.Elif(adds | subtracts):
            # A sum as a difference, so that the carry chain passes `running` on, and synthesis
            # finds one LUT a bit. The lowest position makes the borrow an input.
            term = p ^ adds.replicate(self.sum_bits)
            m.d.sync += running.eq((Cat(Const(0, 1), running) - Cat(adds, term))[1:])
        return m
