"""BITSERIAL's Montgomery multiplier with two carry-save adders.

Source: Amanor, Paar, Pelzl, Bunimov, Schimmler (2005), section 2.2 and figure 1.
"""

from amaranth.hdl import Cat, Const, Module, Signal, Value

from .bit_serial import spread
from .carry_save import CarrySaveControl, carry_save
from .montgomery_csa import MontgomeryCarrySave


class MontgomeryTwoCsa(MontgomeryCarrySave):
    """X * Y * 2^-rounds mod M: a round adds x_i * Y, then q * M, and halves.

    q is bit 0 of the first sum. It is computed one round ahead, from the bits that become s_0 and
    c_0: so it selects from flip-flops, and takes no cycle.
    """

    def add_row(
        self, m: Module, control: CarrySaveControl, y: Value, modulus: Value
    ) -> tuple[Value, Value]:
        """(S, C) = CSA(S, C, x_i * Y); (S, C) = CSA(S, C, q * M); halve both."""
        zero = Const(0, 1)
        q_next = Signal()
        x = spread(m, control.x_next, self.width, name="x", clear=~control.selecting)
        q = spread(m, q_next, self.width, name="q", clear=~control.selecting)
        # Where the rows meet is kept: synthesis would merge them, and take more cells for it.
        first_s = Signal(self.width, attrs={"keep": 1})
        first_c = Signal(self.width, attrs={"keep": 1})
        sums, carries = carry_save(self.s, self.c, x & y)
        m.d.comb += [first_s.eq(sums), first_c.eq(carries)]
        sums, carries = carry_save(Cat(first_s, zero), Cat(zero, first_c), Cat(q & modulus, zero))
        # The carry out of bit 0, where q was added to q, is c_0.
        m.d.comb += q_next.eq(sums[1] ^ q[0] ^ (control.x_next & y[0]))
        return sums[1:], carries[: self.width]
