"""An accumulator in fabric logic, a LUT a bit on ECP5."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.adders import chain_of_two
from coprime.cells.target import Target


class Accumulator(wiring.Component):
    """Adds a number, or its negative, in every cycle: `total` is, a cycle later,

        base + number   or, with `subtract`,   base - number,

    where base is 0 with `first`, else `total`; modulo 2^width.

    Parameters
    ----------
    number_bits, width (int): bits of `number`, and of `total`, which are as many or more
    target (Target): ECP5 places CCU2C

    Members
    -------
    number (signed `number_bits` bits, in)
    subtract, first (1 bit, in)
    total (signed `width` bits, out)
    """

    def __init__(self, number_bits: int, width: int, target: Target = Target.GENERIC):
        self.width = width
        self.target = Target(target)
        ports = {"number": In(signed(number_bits)), "subtract": In(1), "first": In(1)}
        super().__init__({**ports, "total": Out(signed(width))})

    def elaborate(self, platform: object) -> Module:
        """Place the carry chain, or describe it."""
        m = Module()
        total, addend = Signal(signed(self.width), reset_less=True), Signal(signed(self.width))
        m.d.comb += [
            addend.eq(self.number ^ self.subtract.replicate(self.width).as_signed()),
            self.total.eq(total),
        ]
        if self.target is Target.ECP5:
            chain = chain_of_two(m, addend, total, self.subtract, leave_out=self.first)
            m.d.sync += total.eq(chain)
        else:
            m.d.sync += total.eq(Mux(self.first, 0, total) + addend + self.subtract)
        return m


class SkewedAccumulator(wiring.Component):
    """The same for ECP5 in two parts, so that no carry goes through all bits in a cycle.

    The bits of `number` from `lower` on come a cycle after the lower ones, `subtract` and `first`;
    those of `total` do, too.

    Parameters
    ----------
    number_bits, width (int): as of `Accumulator`; both are greater than `lower`
    lower (int): bits of the lower part

    Members
    -------
    number, subtract, first, total: as of `Accumulator`
    """

    def __init__(self, number_bits: int, width: int, lower: int):
        self.width, self.lower = width, lower
        ports = {"number": In(signed(number_bits)), "subtract": In(1), "first": In(1)}
        super().__init__({**ports, "total": Out(signed(width))})

    def elaborate(self, platform: object) -> Module:
        """A carry chain for each part, and a register for the carry between them."""
        m = Module()
        lower, none = self.lower, Const(0, 1)
        addend = self.number[:lower] ^ self.subtract.replicate(lower)
        total, carry = Signal(lower, reset_less=True), Signal(reset_less=True)
        chain = chain_of_two(
            m, Cat(addend, none), Cat(total, none), self.subtract, leave_out=self.first
        )
        m.d.sync += [total.eq(chain), carry.eq(chain[lower])]
        subtract, first = Signal(reset_less=True), Signal(reset_less=True)
        m.d.sync += [subtract.eq(self.subtract), first.eq(self.first)]
        number = self.number[lower:].as_signed()
        upper, addend = (
            Signal(signed(self.width - lower), name=name, reset_less=True)
            for name in ("upper", "upper_addend")
        )
        m.d.comb += addend.eq(number ^ subtract.replicate(len(addend)).as_signed())
        m.d.sync += upper.eq(chain_of_two(m, addend, upper, carry, leave_out=first))
        m.d.comb += self.total.eq(Cat(total, upper))
        return m
