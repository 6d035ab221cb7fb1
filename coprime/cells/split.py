"""Product modulo 2^n - 1 by its two factors: (2^h - 1)(2^h + 1) with h = n/2.

Source: COMPRESSION (Vassoler 2023), section 6, which names it as future work. A number is split
into its residues modulo the two factors, each of which has half of its bits; products are taken of
these, so that two matrices have a quarter of the AND terms each; the Chinese Remainder Theorem
gives the number back. As 2^h + 1 is 2 modulo 2^h - 1, and half of a number there is a rotation by a
bit, that takes two additions and no product:

    half = (low - high) / 2 mod 2^h - 1
    x = half * (2^h + 1) + high

where `low` is x mod 2^h - 1 and `high` is x mod 2^h + 1. There is no carry beyond n bits and no
subtraction: x is at most 2^n - 2.

Products need no recombination between them: an exponentiation can split its operand once, work on
residues (`ResidueProduct`), and join them once at the end.
"""

from amaranth.hdl import Cat, Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .compression import ModularProduct, ModularReduction, ModularSum


class _Halves(wiring.Component):
    """What the parts share: n, and the two factors of 2^n - 1.

    Parameters
    ----------
    n (int): bits of a number, even, 4 or more
    ports : dict of str to wiring.Member
    """

    latency = 0

    def __init__(self, n: int, ports: dict[str, wiring.Member]):
        self.n = n
        self.modulus = (1 << n) - 1
        self.factors = (1 << n // 2) - 1, (1 << n // 2) + 1
        super().__init__(ports)


def _half(n: int) -> int:
    """Bits of half a number; raises TypeError or ValueError for what cannot be halved."""
    if not isinstance(n, int):
        raise TypeError(f"n must be an int, not {n!r}")
    if n < 4 or n % 2:
        raise ValueError(f"n must be even, 4 or more, not {n}")
    return n // 2


class Split(_Halves):
    """`low` is x mod 2^h - 1, `high` is x mod 2^h + 1; h = n/2.

    Members
    -------
    x (unsigned n bits, in)
    low (unsigned h bits, out)
    high (unsigned h + 1 bits, out)
    """

    def __init__(self, n: int):
        h = _half(n)
        super().__init__(n, {"x": In(n), "low": Out(h), "high": Out(h + 1)})

    def elaborate(self, platform: object) -> Module:
        """Reduce by either factor."""
        m = Module()
        for factor, result in zip(self.factors, (self.low, self.high), strict=True):
            m.submodules += (reduction := ModularReduction(factor, self.n))
            m.d.comb += [reduction.x.eq(self.x), result.eq(reduction.result)]
        return m


class ResidueProduct(_Halves):
    """Both residues of x * y from those of x and of y.

    Members
    -------
    x_low, y_low (unsigned h = n/2 bits, in)
    x_high, y_high (unsigned h + 1 bits, in)
    low (out): x_low * y_low mod 2^h - 1
    high (out): x_high * y_high mod 2^h + 1
    """

    def __init__(self, n: int):
        h = _half(n)
        low, high = ({"x_low": In(h), "y_low": In(h)}, {"x_high": In(h + 1), "y_high": In(h + 1)})
        super().__init__(n, {**low, **high, "low": Out(h), "high": Out(h + 1)})

    def elaborate(self, platform: object) -> Module:
        """Multiply modulo either factor."""
        m = Module()
        for factor, x, y, result in zip(
            self.factors,
            (self.x_low, self.x_high),
            (self.y_low, self.y_high),
            (self.low, self.high),
            strict=True,
        ):
            m.submodules += (product := ModularProduct(factor))
            m.d.comb += [product.x.eq(x), product.y.eq(y), result.eq(product.result)]
        return m


class Join(_Halves):
    """`result`, below 2^n - 1, has the residues `low` and `high`.

    Members
    -------
    low (unsigned h = n/2 bits, in): any: all ones are 0
    high (unsigned h + 1 bits, in): 0 to 2^h
    result (unsigned n bits, out)
    """

    def __init__(self, n: int):
        h = _half(n)
        super().__init__(n, {"low": In(h), "high": In(h + 1), "result": Out(n)})

    def elaborate(self, platform: object) -> Module:
        """Subtract and halve modulo 2^h - 1, and add `high`."""
        m = Module()
        h = self.n // 2
        top = self.high[h]
        m.submodules.difference = difference = ModularSum(self.factors[0], 2, bits=h)
        m.d.comb += [
            difference.x0.eq(self.low),
            # Modulo 2^h - 1 the inverse of h bits is their negative. 2^h is 1 there, and alone.
            difference.x1.eq(~(self.high[:h] | top)),
        ]
        half = difference.result.rotate_right(1)
        # `half` occurs twice; bit 2^h of `high` counts in its upper copy.
        m.d.comb += self.result.eq(Cat(half, half) + Cat(self.high, Const(0, h - 1)))
        return m


class SplitProduct(_Halves):
    """`result` is x * y mod 2^n - 1, by residues.

    Members
    -------
    x, y (unsigned n bits, in)
    result (unsigned n bits, out): below 2^n - 1
    """

    def __init__(self, n: int):
        _half(n)
        super().__init__(n, {"x": In(n), "y": In(n), "result": Out(n)})

    def elaborate(self, platform: object) -> Module:
        """Split both, multiply, join."""
        m = Module()
        m.submodules.product = product = ResidueProduct(self.n)
        m.submodules.split_x = split_x = Split(self.n)
        m.submodules.split_y = split_y = Split(self.n)
        m.d.comb += [
            split_x.x.eq(self.x),
            product.x_low.eq(split_x.low),
            product.x_high.eq(split_x.high),
            split_y.x.eq(self.y),
            product.y_low.eq(split_y.low),
            product.y_high.eq(split_y.high),
        ]
        m.submodules.join = join = Join(self.n)
        m.d.comb += [
            join.low.eq(product.low),
            join.high.eq(product.high),
            self.result.eq(join.result),
        ]
        return m
