"""What tiles have in common: ports, ranges, the pipeline around digits and tree, the twin.

A tile multiplies the difference of two words by that of two others. It cuts the differences into
digits that fit a DSP slice; how, and of which digits there are products, differs. Recombination is
linear, so it may come before the sum or after it:

* on XC7 each DSP slice adds up its own products, and a tree of adders recombines these sums;
* on ECP5, where an accumulator is fabric logic, the tree recombines the products, and there is one
  accumulator behind it, not one in each slice.

What is ready in each cycle after the words, in registers; a tree has `TREE` of these:

    cycle    1           2             3          4          5 to 4 + TREE
    XC7      digits      factors       products   sums P     tree: sum
    ECP5     digits      factors       products   tree ...   sum
"""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Mux, Signal, Value, ValueLike, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.facts import TileFacts
from coprime.cells.product import Product
from coprime.cells.target import Target

from .accumulator import Accumulator, SkewedAccumulator
from .tile_slice import TileSlice


def later(m: Module, value: ValueLike, cycles: int = 1) -> Value:
    """The value of so many cycles ago, from registers without reset."""
    value = Value.cast(value)
    for _ in range(cycles):
        register = Signal(value.shape(), reset_less=True, name="later")
        m.d.sync += register.eq(value)
        value = register
    return value


class Tile(TileFacts, wiring.Component):
    """(x_0 - x_1) * (y_0 - y_1) of two pairs of words, added up.

    Words enter in every cycle. `sum` in cycle t + LATENCY includes the product of the words of
    cycle t: it is

        base + (x_0 - x_1) * (y_0 - y_1)   or, with `subtract`,   base - (x_0 - x_1) * (y_0 - y_1),

    where base is 0 with `first`, else `sum` of the cycle before. Nothing stops a tile: its user
    takes the sum in the cycle that it wants, or, with `holds`, makes it stay a cycle longer, while
    products go on being added; LATENCY is `latency(holds=True)` then. Before the first `first` the
    sum is undefined.
    LATENCY cycles of zeros with `first` leave no trace of earlier words.

    Parameters
    ----------
    products (int): most products in a sum, 1 to `most_products()`. Raises TypeError or ValueError.
    target (Target): XC7 places DSP48E1, ECP5 MULT18X18D
    skewed (bool): the bits of `sum` from WORD on come a cycle later, but on XC7. Raises ValueError
        if the tile cannot do that.
    holds (bool): for one of two tiles side by side: there are `keep` and `clear`. Raises ValueError
        with `skewed`.

    Members
    -------
    x_0, x_1, y_0, y_1 (unsigned WORD bits, in)
    subtract, first (1 bit, in)
    keep, clear (1 bit, in): in the next cycle `sum` is what it is now, or 0
    sum (signed `sum_bits` bits, out)
    """

    def __init__(
        self,
        products: int,
        target: Target = Target.GENERIC,
        *,
        skewed: bool = False,
        holds: bool = False,
    ):
        if not isinstance(products, int):
            raise TypeError(f"products must be an int, not {products!r}")
        if not 1 <= products <= self.most_products():
            raise ValueError(
                f"products must be in 1..{self.most_products()} for the accumulators of"
                f" {self.NAME}, not {products}"
            )
        if skewed and not self.SKEWS:
            raise ValueError(f"{self.NAME} cannot be skewed")
        if skewed and holds:
            raise ValueError("a sum in two parts cannot be held")
        self.products, self.skewed, self.holds = products, skewed, holds
        self.target = Target(target)
        self.sum_bits = 2 * self.WORD + (products - 1).bit_length() + 1
        words = dict.fromkeys(("x_0", "x_1", "y_0", "y_1"), In(self.WORD))
        operation = {"subtract": In(1), "first": In(1)}
        if holds:
            operation |= {"keep": In(1), "clear": In(1)}
        super().__init__({**words, **operation, "sum": Out(signed(self.sum_bits))})

    def bits(self, magnitude: int) -> int:
        """Bits of a signed sum of numbers that are not larger than `magnitude`."""
        return (self.products * magnitude).bit_length() + 1

    def differences(self, m: Module) -> list[tuple[ValueLike, ValueLike]]:
        """Minuend and subtrahend of each slice's first factor, for a pre-adder."""
        raise NotImplementedError

    def factors(self, m: Module, word_0: Value, word_1: Value) -> list[Value]:
        """A factor of each slice, of at most 18 bits, a cycle after the words."""
        raise NotImplementedError

    def add_sums(self, m: Module, sums: Sequence[Value]) -> Value:
        """The tile's sum from that of each slice, TREE cycles later: the tree of XC7.

        Its last register is of `ends_tree`.
        """
        raise NotImplementedError

    def add_products(self, m: Module, products: Sequence[Value]) -> Value:
        """The tile's product from that of each slice, TREE cycles later: the tree of ECP5.

        With `skewed`, the bits from WORD on come a cycle later.
        """
        raise NotImplementedError

    def elaborate(self, platform: object) -> Module:
        """Place the slices and the tree, or describe what they compute."""
        m = Module()
        if self.target is Target.XC7:
            total = self.add_sums(m, self._sums(m))
            m.d.comb += self.sum.eq(total if self.TREE else self._held(m, total))
        elif self.target is Target.ECP5:
            product = self.add_products(m, self._products(m))
            total = self._accumulate(m, product, self.LATENCY - 1)
            m.d.comb += self.sum.eq(self._held(m, total))
        else:
            x, y = later(m, self.x_0 - self.x_1), later(m, self.y_0 - self.y_1)
            total = self._accumulate(m, later(m, x * y), 2)
            total = self.ends_tree(m, later(m, total, self.latency(holds=self.holds) - 4))
            upper = later(m, total[self.WORD :], int(self.skewed))
            m.d.comb += self.sum.eq(Cat(total[: self.WORD], upper))
        return m

    def ends_tree(self, m: Module, value: Value) -> Value:
        """The value a cycle later, in the register before `sum`, which `keep` and `clear` hold."""
        if not self.holds:
            return later(m, value)
        register = Signal(value.shape(), reset_less=True, name="tree")
        with m.If(self.clear):
            m.d.sync += register.eq(0)
        with m.Elif(~self.keep):
            m.d.sync += register.eq(value)
        return register

    def _held(self, m: Module, total: Value) -> Value:
        """What an accumulator has; as that goes on, what is held is in another register."""
        if not self.holds:
            return total
        if not self.TREE:
            return self.ends_tree(m, total)
        keep, clear, before = later(m, self.keep), later(m, self.clear), later(m, self.sum)
        return Mux(keep, before.as_signed(), total) & ~clear.replicate(len(total))

    def _sums(self, m: Module) -> list[Value]:
        """The sum of each DSP48E1, TileSlice.LATENCY cycles after the words."""
        factors = self.factors(m, self.y_0, self.y_1)
        subtract, first = later(m, self.subtract, 2), later(m, self.first, 2)
        sums: list[Value] = []
        for (minuend, subtrahend), factor, product in zip(
            self.differences(m), factors, self.PRODUCTS, strict=True
        ):
            m.submodules += (placed := TileSlice(self.target))
            m.d.comb += [
                placed.minuend.eq(minuend),
                placed.subtrahend.eq(subtrahend),
                placed.factor.eq(factor),
                placed.subtract.eq(subtract),
                placed.first.eq(first),
            ]
            sums.append(placed.p[: self.bits(product)].as_signed())
        return sums

    def _products(self, m: Module) -> list[Value]:
        """The product of each MULT18X18D, three cycles after the words."""
        x, y = self.factors(m, self.x_0, self.x_1), self.factors(m, self.y_0, self.y_1)
        products: list[Value] = []
        for a, b in zip(x, y, strict=True):
            m.submodules += (placed := Product(target=self.target))
            m.d.comb += [placed.a.eq(a), placed.b.eq(b)]
            products.append(placed.p)
        return products

    def _accumulate(self, m: Module, product: Value, age: int) -> Value:
        """Add or subtract a product whose words came so many cycles ago."""
        accumulator: Accumulator | SkewedAccumulator
        if self.skewed and self.target is Target.ECP5:
            accumulator = SkewedAccumulator(len(product), self.sum_bits, self.WORD)
        else:
            accumulator = Accumulator(len(product), self.sum_bits, target=self.target)
        m.submodules.accumulator = accumulator
        m.d.comb += [
            accumulator.number.eq(product),
            accumulator.subtract.eq(later(m, self.subtract, age)),
            accumulator.first.eq(later(m, self.first, age)),
        ]
        return accumulator.total
