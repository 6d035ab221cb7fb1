"""RESIDUE: a sum of digits, which software compares with the numbers that it has sent and read."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.widths import residue_width

from .linear_pipeline import LinearPipeline


class Residue(wiring.Component):
    """Sums digits, and so the number that they represent, modulo 2^V - 1.

    One bit that is another makes a difference of a power of two, and so another residue, wherever
    the number has been in between. V is `residue_width` of a digit, whose parts of V bits are added
    one after the other, or as many at a time as have to be if there are more than `CYCLES`.

    Members
    -------
    clear : the sum becomes 0
    add, digit : a digit is added, in up to `CYCLES` cycles; then another one may follow
    residue : V + 1 bits; the residue of that number, 0 to 2^(V+1) - 1, is the sum's
    """

    CYCLES = LinearPipeline.cycles(2) - LinearPipeline.cycles(1)
    """Cycles from a digit to the next one."""

    def __init__(self, digit_width: int):
        self.width = residue_width(digit_width)
        parts = digit_width // self.width
        self.at_once = -(-parts // self.CYCLES)
        self.steps = -(-parts // self.at_once)
        super().__init__(
            {"clear": In(1), "add": In(1), "digit": In(digit_width), "residue": Out(self.width + 1)}
        )

    def elaborate(self, platform: object) -> Module:
        """The carry, which is worth 1, is added with the next part."""
        m = Module()
        width = self.width
        total, carry = Signal(width), Signal()
        m.d.comb += self.residue.eq(Cat(total, carry))
        added, adds = self.digit, self.add
        if self.steps > 1:
            taken = width * self.at_once
            rest = Signal(len(self.digit) - taken)
            more = Signal(self.steps - 1)
            added = Signal(taken)
            m.d.sync += [more.eq(more[1:]), rest.eq(rest[taken:])]
            with m.If(self.add):
                m.d.sync += [more.eq(-1), rest.eq(self.digit[taken:])]
            m.d.comb += added.eq(Mux(self.add, self.digit[:taken], rest))
            adds = self.add | more[0]
        numbers = [total, *(added[k : k + width] for k in range(0, len(added), width))]
        while len(numbers) > 2:
            # Of three numbers to two; modulo 2^V - 1 a carry out of the highest bit is worth 1.
            a, b, c, *others = numbers
            carries = a & b | a & c | b & c
            numbers = [*others, a ^ b ^ c, Cat(carries[-1], carries[:-1])]
        with m.If(adds):
            # The lowest position of a sum makes the carry an input of one carry chain.
            both = Cat(carry, numbers[0]) + Cat(carry, numbers[1])
            m.d.sync += Cat(total, carry).eq(both[1:])
        with m.If(self.clear):
            m.d.sync += [total.eq(0), carry.eq(0)]
        return m
