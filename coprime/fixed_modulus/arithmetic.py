"""Multipliers for one modulus, and for a multiple of it: products, squares, the last reduction.

Source: COMPRESSION (Vassoler 2023), sections 4.1 and 4.2.1: all products of an exponentiation are
taken modulo the pseudo-modulus c * m, and its result is reduced modulo m once, at the end. The
multiplier is a compressor tree (CM) or the expression `x * y % m` (DM).
"""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import prod

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.compression import ModularProduct, ModularReduction, ModularSquare, product_plan
from coprime.cells.direct import DirectProduct, DirectReduction, DirectSquare
from coprime.model.pseudo_moduli import Search, search

ANY_FACTOR = 0  # in place of c: the one of the cheapest multiple found
EXTRA_BITS = 2  # by how many bits such a multiple may be longer, if nothing else is asked for


class Method(Enum):
    """How a product is reduced."""

    COMPRESSION = "compression"
    DIRECT = "direct"


@dataclass(frozen=True)
class FixedModulus:
    """Arithmetic for a modulus that is known when the circuit is generated.

    Parameters
    ----------
    modulus (int): m, 3 or more
    factor (int): c, so that products are taken modulo c * m: 1 or more, or ANY_FACTOR for the c of
        the least estimated cost
    stages (int): registers on the way of a product: 0 or more; 0 for DIRECT
    extra_bits (int): bits by which the multiple of ANY_FACTOR may exceed the modulus: 0 to 16
    """

    modulus: int
    method: Method
    factor: int = 1
    stages: int = 0
    extra_bits: int = EXTRA_BITS

    def __post_init__(self) -> None:
        """Refuse a factor or stages out of range (ValueError)."""
        if self.factor < 0:
            raise ValueError(f"factor must be 0 or more, not {self.factor}")
        if self.stages < 0 or (self.stages and self.method is Method.DIRECT):
            raise ValueError(f"stages must be 0 or more, and 0 without a tree, not {self.stages}")

    @cached_property
    def search(self) -> Search:
        """Multiples of the modulus, with what they cost."""
        return search(self.modulus, self.extra_bits)

    @cached_property
    def multiple(self) -> int:
        """c * m, which products are taken modulo."""
        return (self.factor or self.search.best.factor) * self.modulus

    @property
    def corrects(self) -> bool:
        """Whether what is modulo c * m differs from what is modulo m."""
        return self.multiple != self.modulus

    @property
    def bits(self) -> int:
        """Of a number below c * m."""
        return (self.multiple - 1).bit_length()

    def check_stages(self, *, squares: bool) -> None:
        """Raise ValueError where a product, or a square if there are `squares`, has fewer places
        for registers than `stages`. Trees are planned for that, if there are any registers.
        """
        if self.stages:
            kinds = (False, True) if squares else (False,)
            most = 1 + min(product_plan(self.multiple, square=kind).depth for kind in kinds)
            if self.stages > most:
                raise ValueError(
                    f"stages must be in 0..{most} for this modulus, not {self.stages}: there is a"
                    " place behind each level of the tree, and one before the first"
                )

    def product(self) -> wiring.Component:
        """Component with x and y in, and `result` = x * y mod c * m, `stages` cycles later."""
        if self.method is Method.DIRECT:
            return DirectProduct(self.multiple)
        return ModularProduct(self.multiple, stages=self.stages)

    def square(self) -> wiring.Component:
        """Component with x in, and `result` = x * x mod c * m, `stages` cycles later."""
        if self.method is Method.DIRECT:
            return DirectSquare(self.multiple)
        return ModularSquare(self.multiple, stages=self.stages)

    def reduction(self) -> wiring.Component:
        """Component with x below c * m in, and `result` = x mod m, in the same cycle."""
        return self._reduction(self.modulus, self.bits)

    def long_reduction(self, bits: int) -> wiring.Component:
        """Component with x of `bits` bits in, and `result` = x mod c * m, in the same cycle."""
        return self._reduction(self.multiple, bits)

    def _reduction(self, m: int, bits: int) -> wiring.Component:
        if self.method is Method.DIRECT:
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
        m.submodules.product = product = self.arithmetic.product()
        for name in ("x", "y"):
            held = Signal(self.arithmetic.bits, name=name, reset_less=True)
            m.d.sync += held.eq(getattr(self, name))
            m.d.comb += getattr(product, name).eq(held)
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
        self.reduction = arithmetic.long_reduction(word * words)
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
