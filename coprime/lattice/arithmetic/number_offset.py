"""Where a number begins in its word of the byte memory."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.chains import add_table
from coprime.cells.target import Target

from .steps import BYTE_WIDTHS

WORD_BITS = 32
OFFSET_BITS = (WORD_BITS - 1).bit_length()


class NumberOffset(wiring.Component):
    """The first bit of the current number; after 256 numbers it is 0 again.

    Members
    -------
    width (in): place of the number's bits in BYTE_WIDTHS
    next (1 bit, in): the number is done
    restart (1 bit, in): a word begins
    offset (5 bits, out): its first bit
    completes (1 bit, out): with this number a word is complete
    """

    def __init__(self, target: Target = Target.GENERIC) -> None:
        self.target = target
        super().__init__(
            {
                "width": In(range(len(BYTE_WIDTHS))),
                **dict.fromkeys(("next", "restart"), In(1)),
                "offset": Out(OFFSET_BITS),
                "completes": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Add the width."""
        m = Module()
        offset = Signal(OFFSET_BITS + 1)
        m.d.comb += offset.eq(self.offset)
        position = add_table(m, offset, BYTE_WIDTHS, self.width, self.target)
        m.d.comb += self.completes.eq(position[-1])
        with m.If(self.next):
            m.d.sync += self.offset.eq(position[:-1])
        with m.If(self.restart):
            m.d.sync += self.offset.eq(0)
        return m
