"""A digit of random bytes, for an engine that blinds."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out


class RandomDigit(wiring.Component):
    """Collects a digit from as many bytes as it takes, and keeps it until it has been used.

    A byte is taken only for a digit that is wanted, and each one is used once.

    Parameters
    ----------
    digit_width : bits of a digit

    Members
    -------
    wanted : bytes are taken, one a cycle, until the digit is there
    there, digit : the digit, from the cycle after its last byte on
    used : the digit is not needed any more
    clear : forget what there is
    random : stream of random bytes
    """

    def __init__(self, digit_width: int):
        ports = {
            "wanted": In(1),
            "there": Out(1),
            "digit": Out(digit_width),
            **dict.fromkeys(("used", "clear"), In(1)),
            "random": In(stream.Signature(8)),
        }
        super().__init__(ports)
        self.bytes = self.bytes_of(digit_width)

    @staticmethod
    def bytes_of(digit_width: int) -> int:
        """Bytes of a digit; so many cycles it takes, if they are there."""
        return -(-digit_width // 8)

    def elaborate(self, platform: object) -> Module:
        """Shift bytes in, and count them."""
        m = Module()
        count = Signal(range(self.bytes + 1))
        m.d.comb += [
            self.there.eq(count == self.bytes),
            self.random.ready.eq(self.wanted & ~self.there),
        ]
        with m.If(self.random.ready & self.random.valid):
            m.d.sync += [self.digit.eq(Cat(self.random.payload, self.digit)), count.eq(count + 1)]
        with m.If(self.used | self.clear):
            m.d.sync += count.eq(0)
        with m.If(self.clear):
            m.d.sync += self.digit.eq(0)
        return m
