"""The tile `one17`: words of 17 bits on one DSP slice, as `compact` has them."""

from collections.abc import Sequence

from amaranth.hdl import Module, Value, ValueLike

from coprime.cells.facts import One17Facts

from .tile import Tile, later


class One17(One17Facts, Tile):
    """Differences of 17-bit words have 18 bits, which is what a slice multiplies."""

    def differences(self, m: Module) -> list[tuple[ValueLike, ValueLike]]:
        """Of the words themselves."""
        return [(self.x_0, self.x_1)]

    def factors(self, m: Module, word_0: Value, word_1: Value) -> list[Value]:
        """The difference of the words."""
        return [later(m, word_0 - word_1)]

    def add_sums(self, m: Module, sums: Sequence[Value]) -> Value:
        """There is only one."""
        return sums[0]

    def add_products(self, m: Module, products: Sequence[Value]) -> Value:
        """There is only one."""
        return products[0]
