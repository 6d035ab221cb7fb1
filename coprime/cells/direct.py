"""Arithmetic modulo a fixed number as an expression: what synthesis makes of `x * y % m`.

Source: COMPRESSION (Vassoler 2023), section 4.2.1, equation 26: the multiplier that it calls DM, to
compare compressor trees with. Yosys turns `%` into a restoring division: a chain of one
subtraction for each bit of the product. What differs: the thesis's tool stops at 32 bits; this one
does not.
"""

from amaranth.hdl import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.model.compression import modulus_form
from coprime.parameters import check_least


class _Direct(wiring.Component):
    """`result`, of the bits of m - 1, is the value of `expression` mod m; nothing is registered."""

    latency = 0

    def __init__(self, m: int, inputs: dict[str, int]):
        modulus_form(m)  # raises an exception for an invalid modulus
        self.modulus = m
        super().__init__(
            {name: In(bits) for name, bits in inputs.items()} | {"result": Out(bits_for(m - 1))}
        )

    @property
    def expression(self) -> Value:
        """The value to be reduced modulo m."""
        raise NotImplementedError

    def elaborate(self, platform: object) -> Module:
        """Write the expression down."""
        m = Module()
        m.d.comb += self.result.eq(self.expression % self.modulus)
        return m


class DirectProduct(_Direct):
    """`result` is x * y mod m, for x and y of the bits of m - 1. Range: m >= 3."""

    def __init__(self, m: int):
        modulus_form(m)
        super().__init__(m, {"x": bits_for(m - 1), "y": bits_for(m - 1)})

    @property
    def expression(self) -> Value:
        """The product."""
        return self.x * self.y


class DirectSquare(_Direct):
    """`result` is x * x mod m, for x of the bits of m - 1. Range: m >= 3."""

    def __init__(self, m: int):
        modulus_form(m)
        super().__init__(m, {"x": bits_for(m - 1)})

    @property
    def expression(self) -> Value:
        """The square."""
        return self.x * self.x


class DirectReduction(_Direct):
    """`result` is x mod m, for x of `bits` bits. Range: m >= 3, bits >= 1."""

    def __init__(self, m: int, bits: int):
        check_least(1, bits=bits)
        super().__init__(m, {"x": bits})

    @property
    def expression(self) -> Value:
        """The number itself."""
        return self.x
