"""Modular adder: a + b modulo a fixed m, with up to three subtractions in parallel.

Source: COMPRESSION (Vassoler 2023), section 2.2.2, equation 5 and Figure 6: a + b, a + b - m,
a + b - 2m and a + b - 3m are computed in parallel, and the last non-negative one is taken.
What differs: there are only as many as the range of a + b needs; a constant may be added, which
costs nothing where one is subtracted anyway; and 2^n - 1 and 2^n + 1 use a single adder with an
end-around carry.
"""

from dataclasses import dataclass
from functools import cached_property

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.model.compression import Form, modulus_form

from .counters import full_adder
from .prefix_adder import EndAround, EndAroundAdder, Network, PrefixAdder

SUBTRACTIONS = 3  # maximum number in parallel


@dataclass(frozen=True, kw_only=True)
class Addition:
    """What a modular adder computes, and how: (a + b + constant) mod m, for a + b in least..most.

    `width` is the bits of a and of b, `constant` 0 to m - 1. Raises ValueError where more than
    `SUBTRACTIONS` would be needed.
    """

    modulus: int
    width: int
    least: int
    most: int
    constant: int
    network: Network = Network.BRENT_KUNG

    def __post_init__(self) -> None:
        if self.constant not in range(self.modulus):
            raise ValueError(f"constant must be in 0..{self.modulus - 1}, not {self.constant}")
        if not 0 <= self.least <= self.most:
            raise ValueError(f"the range must be from 0 on, not {self.least}..{self.most}")
        if self.width < 1:
            raise ValueError(f"width must be at least 1, not {self.width}")
        if self.subtractions > SUBTRACTIONS:
            raise ValueError(
                f"a + b in {self.least}..{self.most} with the constant {self.constant} takes"
                f" {self.subtractions} subtractions of {self.modulus}; there can be {SUBTRACTIONS}"
            )

    @cached_property
    def around(self) -> EndAround | None:
        """The kind of end-around carry, where such an adder suffices."""
        form = modulus_form(self.modulus)
        if self.width <= form.columns:
            if form.kind is Form.MINUS_ONE and self.constant == 0:
                return EndAround.CARRY
            if form.kind is Form.PLUS_ONE and self.constant == 1:
                return EndAround.INVERTED
        return None

    @cached_property
    def truncates(self) -> bool:
        """Whether m is a power of two."""
        return modulus_form(self.modulus).kind is Form.POWER

    @property
    def subtractions(self) -> int:
        """Subtractions in parallel with the plain sum."""
        if self.truncates or self.around:
            return 0
        return (self._start + self.most - self.least) // self.modulus

    @property
    def addends(self) -> tuple[int, ...]:
        """What the parallel adders add to a + b: each m less than the adder before it."""
        if self.truncates:
            return (self.constant,)
        first = self._start - self.least
        return tuple(first - k * self.modulus for k in range(self.subtractions + 1))

    @property
    def result_width(self) -> int:
        """Bits of the result."""
        return int(bits_for(self.modulus - 1))

    @property
    def sum_width(self) -> int:
        """Bits of the parallel adders: those of the result; with several adders, also a sign."""
        if not self.subtractions:
            return self.result_width
        largest = self._start + self.most - self.least
        lowest = self._start - self.subtractions * self.modulus
        return int(bits_for(max(largest, -lowest))) + 1

    @property
    def _start(self) -> int:
        """The result for a + b = least, and so the smallest sum."""
        return (self.least + self.constant) % self.modulus

    @property
    def area(self) -> int:
        """Unit gates: an estimate."""
        if self.around:
            return EndAroundAdder.estimate(self.width, self.network)[0]
        adder, _ = PrefixAdder.estimate(self.sum_width, self.network)
        # A full adder with a constant input is two gates, one of them an XOR or XNOR.
        rows = sum(3 * self.sum_width for addend in self.addends if addend)
        return len(self.addends) * adder + rows + 3 * self.result_width * self.subtractions

    @property
    def delay(self) -> int:
        """Unit gates on the longest path: an estimate."""
        if self.around:
            return EndAroundAdder.estimate(self.width, self.network)[1]
        row = 2 if any(self.addends) else 0
        _, adder = PrefixAdder.estimate(self.sum_width, self.network)
        return row + adder + 2 * self.subtractions


class ModularAdder(wiring.Component):
    """`result` is (a + b + constant) mod m, in 0..m - 1, combinational.

    Parameters
    ----------
    m (int): modulus, at least 3
    width (int or None): bits of a and b; None for those of m - 1
    least, most (int, int or None): range of a + b; outside of it the result may be anything. None
        is 2(m - 1) where `width` is None, too: both are below m. Else it is what two numbers of
        `width` bits come to.
    constant (int): 0 to m - 1
    network (Network): of the prefix adders

    Raises ValueError where a + b + constant can be 4m or more.

    Members
    -------
    a, b (unsigned `width` bits, in)
    result (unsigned bits of m - 1, out)
    """

    def __init__(
        self,
        m: int,
        width: int | None = None,
        *,
        least: int = 0,
        most: int | None = None,
        constant: int = 0,
        network: Network = Network.BRENT_KUNG,
    ):
        modulus_form(m)  # raises an exception for an invalid modulus
        if most is None:
            most = 2 * (m - 1) if width is None else 2 * ((1 << width) - 1)
        self.addition = Addition(
            modulus=m,
            width=bits_for(m - 1) if width is None else width,
            least=least,
            most=most,
            constant=constant,
            network=Network(network),
        )
        width = self.addition.width
        super().__init__({"a": In(width), "b": In(width), "result": Out(bits_for(m - 1))})

    def elaborate(self, platform: object) -> Module:
        """Add with an end-around carry, or in parallel adders, and select."""
        m = Module()
        if self.addition.around:
            self._add_around(m, self.addition.around)
            return m
        sums = [self._add(m, k, addend) for k, addend in enumerate(self.addition.addends)]
        result = sums[0]
        for total in sums[1:]:
            result = Mux(total[-1], result, total)  # the last one that is not negative
        m.d.comb += self.result.eq(result)
        return m

    def _add_around(self, m: Module, kind: EndAround) -> None:
        modulus, network = self.addition.modulus, self.addition.network
        columns = modulus_form(modulus).columns
        m.submodules.adder = adder = EndAroundAdder(columns, kind, network=network)
        m.d.comb += [adder.a.eq(self.a), adder.b.eq(self.b), self.result.eq(adder.sum)]
        if kind is EndAround.CARRY and self.addition.most >= 2 * modulus:
            with m.If(self.a.all() & self.b.all()):
                m.d.comb += self.result.eq(0)

    def _add(self, m: Module, number: int, addend: int) -> Value:
        """Add a + b + addend in two's complement."""
        width = self.addition.sum_width
        m.submodules[f"adder_{number}"] = adder = PrefixAdder(width, network=self.addition.network)
        a, b = Signal(width, name=f"a_{number}"), Signal(width, name=f"b_{number}")
        m.d.comb += [a.eq(self.a), b.eq(self.b)]
        if addend:
            row, carries = full_adder(a, b, C(addend & ((1 << width) - 1), width))
            m.d.comb += [adder.a.eq(row), adder.b.eq(Cat(C(0, 1), carries))]
        else:
            m.d.comb += [adder.a.eq(a), adder.b.eq(b)]
        return adder.sum
