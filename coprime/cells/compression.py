"""Arithmetic modulo a fixed number by compression: product, square, reduction, sum of many.

Source: COMPRESSION (Vassoler 2023), section 2.2.1. Its steps: *precomputation* makes the bits of a
matrix, all partial products; the *compressor tree* brings them to two vectors; the *modular adder*
adds those. What differs: a square has a matrix of its own, which the thesis names as future work:
x_i * x_j and x_j * x_i are one bit of twice the weight, and x_i * x_i is x_i, which halves the
number of bits to compress.

Each result is canonical, in 0..m - 1. Inputs are normally below m, but need not be: the
result is right for any numbers that fit the ports.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Unpack, cast

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.model.compression import modulus_form
from coprime.parameters import check_least

from .compressor_tree import CompressorTree, Plan, TreeOptions, plan_tree
from .modular_adder import ModularAdder
from .prefix_adder import Network


def _residue_bits(m: int) -> int:
    """Bits of m - 1; raises TypeError or ValueError for an invalid modulus."""
    modulus_form(m)
    return int(bits_for(m - 1))


def _product_matrix(x: Value, y: Value) -> Iterator[tuple[Value, int]]:
    for i, bit in enumerate(y):
        yield x & bit.replicate(len(x)), i


def _square_matrix(x: Value) -> Iterator[tuple[Value, int]]:
    for i, bit in enumerate(x):
        yield bit, 2 * i
        above = x[i + 1 :]
        if len(above):
            # x_i * x_(i+1) has weight 2i + 1, twice.
            yield above & bit.replicate(len(above)), 2 * i + 2


def _plan(m: int, matrix: Iterable[tuple[Value, int]], options: TreeOptions) -> Plan:
    return plan_tree(
        m, [weight + place for bits, weight in matrix for place in range(len(bits))], **options
    )


@cache
def product_plan(m: int, *, square: bool = False) -> Plan:
    """The tree of a ModularProduct, or of a ModularSquare, with the default options.

    TypeError or ValueError for a modulus that is not an integer of at least 3.
    """
    x, y = (Signal(_residue_bits(m)) for _ in range(2))
    return _plan(m, _square_matrix(x) if square else _product_matrix(x, y), TreeOptions())


class Options(TreeOptions, total=False):
    """Choices for each of them."""

    stages: int
    """Pipeline registers: 0, the default, is combinational. They are spaced evenly, see
    Plan.spaced."""
    network: Network
    """Of the prefix adders; BRENT_KUNG by default."""


class _Compression(wiring.Component):
    """Matrix, tree and adder. A subclass defines the bits of the matrix.

    All ports are unsigned; `result` has the bits of m - 1.

    Parameters
    ----------
    m (int): modulus, at least 3
    inputs (dict of str to int): the bits of each input port

    Attributes
    ----------
    plan (Plan): of the tree; with estimates of area and delay
    latency (int): cycles from inputs to result; new inputs may come in every cycle
    """

    def __init__(self, m: int, inputs: dict[str, int], **options: Unpack[Options]):
        for name, bits in inputs.items():
            if not isinstance(bits, int):
                raise TypeError(f"the bits of {name} must be an int, not {bits!r}")
            if bits < 1:
                raise ValueError(f"the bits of {name} must be at least 1, not {bits}")
        self.modulus = m
        stages = options.pop("stages", 0)
        self.network = Network(options.pop("network", Network.BRENT_KUNG))
        super().__init__(
            {name: In(bits) for name, bits in inputs.items()} | {"result": Out(_residue_bits(m))}
        )
        self.plan = _plan(m, self._matrix(), cast(TreeOptions, options))
        self.registers = self.plan.spaced(stages)
        self.latency = stages

    @abstractmethod
    def _matrix(self) -> Iterator[tuple[Value, int]]:
        """Yield vectors, each with the weight of its lowest bit; their sum is reduced."""

    def elaborate(self, platform: object) -> Module:
        """Form the bits, compress them, add the two vectors."""
        m = Module()
        vectors = [vector for vector, _ in self._matrix()]
        count = sum(map(len, vectors))
        m.submodules.tree = tree = CompressorTree(self.plan, count, registers=self.registers)
        place = 0
        for vector in vectors:
            m.d.comb += tree.inputs[place : place + len(vector)].eq(vector)
            place += len(vector)
        addition = self.plan.addition
        m.submodules.adder = adder = ModularAdder(
            addition.modulus,
            addition.width,
            least=addition.least,
            most=addition.most,
            constant=addition.constant,
            network=self.network,
        )
        m.d.comb += [adder.a.eq(tree.a), adder.b.eq(tree.b), self.result.eq(adder.result)]
        return m


class ModularProduct(_Compression):
    """`result` is x * y mod m, for x and y of the bits of m - 1. Range: m >= 3."""

    def __init__(self, m: int, **options: Unpack[Options]):
        bits = _residue_bits(m)
        super().__init__(m, {"x": bits, "y": bits}, **options)

    def _matrix(self) -> Iterator[tuple[Value, int]]:
        return _product_matrix(self.x, self.y)


class ModularSquare(_Compression):
    """`result` is x * x mod m, for x of the bits of m - 1. Range: m >= 3."""

    def __init__(self, m: int, **options: Unpack[Options]):
        super().__init__(m, {"x": _residue_bits(m)}, **options)

    def _matrix(self) -> Iterator[tuple[Value, int]]:
        return _square_matrix(self.x)


class ModularReduction(_Compression):
    """`result` is x mod m, for x of `bits` bits. Range: m >= 3, bits >= 1."""

    def __init__(self, m: int, bits: int, **options: Unpack[Options]):
        super().__init__(m, {"x": bits}, **options)

    def _matrix(self) -> Iterator[tuple[Value, int]]:
        yield self.x, 0


class ModularSum(_Compression):
    """`result` is the sum of many numbers mod m.

    Parameters
    ----------
    m (int): modulus, at least 3
    count (int): how many numbers, at least 1
    bits (int or None): of each of them; None for those of m - 1

    Members
    -------
    x0, x1, ... : unsigned `bits` bits, in
    result (unsigned bits of m - 1, out)
    """

    def __init__(self, m: int, count: int, *, bits: int | None = None, **options: Unpack[Options]):
        check_least(1, count=count)
        self.count = count
        bits = _residue_bits(m) if bits is None else bits
        super().__init__(m, {f"x{k}": bits for k in range(count)}, **options)

    def _matrix(self) -> Iterator[tuple[Value, int]]:
        for k in range(self.count):
            yield getattr(self, f"x{k}"), 0
