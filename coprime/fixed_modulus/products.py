"""Multipliers for one modulus, and for a multiple of it: products, squares, the last reduction.

Source: COMPRESSION (Vassoler 2023), sections 4.1 and 4.2.1, as `arithmetic.py` says: compressor
trees (CM), or the expression `x * y % m` (DM).
"""

from math import prod

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.compression import ModularProduct, ModularReduction, ModularSquare
from coprime.cells.direct import DirectProduct, DirectReduction, DirectSquare

from .arithmetic import FixedModulus, Method


def make_product(arithmetic: FixedModulus) -> wiring.Component:
    """Component with x and y in, and `result` = x * y mod c * m, `stages` cycles later."""
    if arithmetic.method is Method.DIRECT:
        return DirectProduct(arithmetic.multiple)
    return ModularProduct(arithmetic.multiple, stages=arithmetic.stages)


def make_square(arithmetic: FixedModulus) -> wiring.Component:
    """Component with x in, and `result` = x * x mod c * m, `stages` cycles later."""
    if arithmetic.method is Method.DIRECT:
        return DirectSquare(arithmetic.multiple)
    return ModularSquare(arithmetic.multiple, stages=arithmetic.stages)


def make_reduction(arithmetic: FixedModulus) -> wiring.Component:
    """Component with x below c * m in, and `result` = x mod m, in the same cycle."""
    return _reduction(arithmetic.method, arithmetic.modulus, arithmetic.bits)


def make_long_reduction(arithmetic: FixedModulus, bits: int) -> wiring.Component:
    """Component with x of `bits` bits in, and `result` = x mod c * m, in the same cycle."""
    return _reduction(arithmetic.method, arithmetic.multiple, bits)


def _reduction(method: Method, m: int, bits: int) -> wiring.Component:
    if method is Method.DIRECT:
        return DirectReduction(m, bits)
    return ModularReduction(m, bits)


class RegisteredProduct(wiring.Component):
    """A product between registers: what is measured of a multiplier alone.

    Attributes
    ----------
    latency (int): cycles from x and y to the result: 2, and those of the product's own registers

    Members
    -------
    x, y (unsigned, below c * m, in)
    result (out): x * y mod c * m
    """

    def __init__(self, arithmetic: FixedModulus):
        self.arithmetic = arithmetic
        self.latency = 2 + arithmetic.stages
        bits = arithmetic.bits
        super().__init__({"x": In(bits), "y": In(bits), "result": Out(bits)})

    def elaborate(self, platform: object) -> Elaboratable:
        """Put registers before the product and behind it."""
        m = Module()
        m.submodules.product = product = make_product(self.arithmetic)
        for name, port, factor in (("x", self.x, product.x), ("y", self.y, product.y)):
            held = Signal(self.arithmetic.bits, name=name, reset_less=True)
            m.d.sync += held.eq(port)
            m.d.comb += factor.eq(held)
        m.d.sync += self.result.eq(product.result)
        return m


class RegisteredReduction(wiring.Component):
    """A word, or the product of two, modulo c * m, between registers: operands not reduced before.

    The thesis reduces an operand of its processor's 32 bits so, and compares with a multiplication
    of such operands (section 5.2, figures 24 to 27).

    Raises ValueError unless `words` is 1 or 2.

    Parameters
    ----------
    word (int): bits of a word, 1 or more
    words (int): 1, or 2 for their product

    Attributes
    ----------
    latency (int): cycles from the words to the result: 2

    Members
    -------
    x, and y if there are two (unsigned, of `word` bits, in)
    result (out): x, or x * y, mod c * m
    """

    latency = 2

    def __init__(self, arithmetic: FixedModulus, word: int, words: int):
        if words not in (1, 2):
            raise ValueError(f"words must be 1 or 2, not {words}")
        self.reduction = make_long_reduction(arithmetic, word * words)
        self.names = ("x", "y")[:words]
        ports = {name: In(word) for name in self.names}
        super().__init__(ports | {"result": Out(arithmetic.bits)})

    def elaborate(self, platform: object) -> Elaboratable:
        """Put registers before the reduction and behind it."""
        m = Module()
        m.submodules.reduction = self.reduction
        held = []
        for name in self.names:
            port = getattr(self, name)
            held.append(Signal.like(port, name=f"{name}_held", reset_less=True))
            m.d.sync += held[-1].eq(port)
        m.d.comb += self.reduction.x.eq(prod(held[1:], start=held[0]))
        m.d.sync += self.result.eq(self.reduction.result)
        return m
