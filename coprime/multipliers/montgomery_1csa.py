"""BITSERIAL's Montgomery multiplier with one carry-save adder.

Source: Amanor, Paar, Pelzl, Bunimov, Schimmler (2005), section 2.2 and figure 2.
"""

from amaranth.hdl import Cat, Const, Module, Signal, Value

from .bit_serial import spread, turned
from .carry_save import CarrySaveControl, carry_save, word_sum
from .montgomery_csa import MontgomeryCarrySave


class MontgomeryOneCsa(MontgomeryCarrySave):
    """X * Y * 2^-rounds mod M: a round adds one of 0, Y, M and R = Y + M, and halves.

    R is made while Y is loaded, word by word. x_i and q = s_0 xor c_0 xor (x_i and y_0) select what
    is added. q is computed one round ahead, from the bits that become s_0 and c_0: so it selects
    from flip-flops, and takes no cycle.
    """

    def add_row(
        self, m: Module, control: CarrySaveControl, y: Value, modulus: Value
    ) -> tuple[Value, Value]:
        """(S, C) = CSA(S, C, I) with I selected; halve both."""
        width, n = self.digit_width, self.width
        s, c = self.s, self.c
        r = Signal(n, reset_less=True)
        r_carry = Signal()  # into the next word; in the end R's bit N
        r_word = Signal(width + 1)
        entering = Signal()
        m.d.sync += entering.eq(control.entering_next)
        m.d.comb += r_word.eq(word_sum(control.word, modulus[:width], r_carry))
        with m.If(entering):
            m.d.sync += [r.eq(turned(r, r_word[:width])), r_carry.eq(r_word[width])]
        with m.If(control.clear_c):
            m.d.sync += r_carry.eq(0)
        with m.If(control.forget):
            m.d.sync += r.eq(0)
        self.secrets.append(r)

        zero = Const(0, 1)
        q_next = Signal()
        x = spread(m, control.x_next, n, name="x", clear=~control.selecting)
        q = spread(m, q_next, n, name="q", clear=~control.selecting)
        added = Cat((x & ~q & y) | (~x & q & modulus) | (x & q & r), x[-1] & q[-1] & r_carry)
        sums, carries = carry_save(Cat(s, zero), Cat(c, zero), added)
        # The carry out of bit 0 is c_0. There the sum is 0, so it is 1 where s_0 or c_0 was.
        m.d.comb += q_next.eq(sums[1] ^ (s[0] | c[0]) ^ (control.x_next & y[0]))
        return sums[1:], carries[:n]
