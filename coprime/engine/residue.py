"""What software compares with the numbers that it has sent and read."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Residue", "expected_residue"]


class Residue(wiring.Component):
    """The sum of digits, and so the number that they are of, modulo 2^W - 1.

    One bit that is another makes a difference of a power of two, and so another residue, wherever
    the number has been in between. W is the width of a digit.

    Members
    -------
    clear : the sum becomes 0
    add, digit : a digit is added; two of `add` may follow each other
    residue : W + 1 bits; the residue of that number, 0 to 2^(W+1) - 1, is the sum's
    """

    def __init__(self, digit_width: int):
        super().__init__(
            {
                "clear": In(1),
                "add": In(1),
                "digit": In(digit_width),
                "residue": Out(digit_width + 1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The carry, which is worth 1, is added with the next digit."""
        m = Module()
        width = len(self.digit)
        total, carry = Signal(width), Signal()
        m.d.comb += self.residue.eq(Cat(total, carry))
        with m.If(self.add):
            # The lowest position of a sum makes the carry an input of one carry chain.
            both = Cat(carry, total) + Cat(carry, self.digit)
            m.d.sync += Cat(total, carry).eq(both[1:])
        with m.If(self.clear):
            m.d.sync += [total.eq(0), carry.eq(0)]
        return m


def expected_residue(s: int, x: int, modulus: int, digit_width: int) -> int:
    """3 S - M + X modulo 2^W - 1, where S - M, below 0, is kept as if there was a borrow.

    A borrow is worth 2^(W*D), which is 1. S counts three times since software cuts off what S has
    above the modulus's length: with S - M, a bit there that M gets could be that of S + M, which
    would go unseen. Three times a power of two is no power of two modulo 2^W - 1, for W over 2.
    """
    return (3 * s - modulus + 1 + x) % ((1 << digit_width) - 1)
