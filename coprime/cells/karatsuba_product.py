"""Karatsuba's product of two words, pipelined: three products of half the width each.

Source: KARATSUBA (San, At 2014), Algorithm 3 and equation 2, the subtractive form:
X * Y = M_b * 2^2h + (M_a + M_b + M_c) * 2^h + M_a, with h the width of the lower halves and
M_a = X_0 * Y_0, M_b = X_1 * Y_1, M_c = (X_0 - X_1) * (Y_1 - Y_0).
"""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .facts import SIGNED_LEVELS, WIDTHS, KaratsubaFacts, register_places
from .product import Product
from .target import Target

FACTOR_BITS = 18
"""Signed, of a DSP slice. Differences of 16-bit halves have 17, and differences of these 18."""


class KaratsubaProduct(KaratsubaFacts, wiring.Component):
    """`product` is x * y, `latency` cycles later. A new pair may come in every cycle.

    Factors are halved until they have 16 bits: 1, 3, 9 or 27 DSP slices. The lower half of a
    number is unsigned, the upper half has the number's sign, and differences are signed; in the end
    everything fits a DSP slice's signed factors.

    Differences of differences of 64-bit halves would have 19 bits: their magnitudes are multiplied,
    and the product is negated where the signs differ.

    There may be registers, from the factors to the product, after each difference and each
    magnitude, in three places of the DSP slice, and before and after each sum. The first `latency`
    of these are used, in the order of `register_places`.

    Raises ValueError for another width or latency than listed below.

    Parameters
    ----------
    width (int): bits of a factor: 16, 32, 64 or 128
    latency (int): 0 to `most(width)`

    Members
    -------
    x, y (unsigned `width` bits, in)
    product (unsigned 2 * `width` bits, out)
    """

    def __init__(self, width: int, latency: int, *, target: Target = Target.GENERIC):
        if width not in WIDTHS:
            raise ValueError(f"width must be one of {', '.join(map(str, WIDTHS))}, not {width}")
        if latency not in range(self.most(width) + 1):
            raise ValueError(f"latency must be in 0..{self.most(width)}, not {latency}")
        self.width, self.latency = width, latency
        self.target = Target(target)
        levels = self.levels(width)
        self.registers = frozenset(register_places(levels)[:latency])
        super().__init__({"x": In(width), "y": In(width), "product": Out(2 * width)})

    def elaborate(self, platform: object) -> Module:
        """Split the factors, multiply, combine the products."""
        m = Module()
        self._slices = 0
        x, y = (Cat(factor, 0).as_signed() for factor in (self.x, self.y))
        product = self._multiply(m, x, y, self.levels(self.width), negative=False)
        m.d.comb += self.product.eq(product)
        return m

    def _multiply(self, m: Module, x: Value, y: Value, level: int, *, negative: bool) -> Value:
        """Return the signed product of two signed values, `negative` if these may be negative."""
        if level == 0:
            product = Product(
                inputs="inputs" in self.registers,
                middle="middle" in self.registers,
                output="output" in self.registers,
                target=self.target,
            )
            assert max(len(x), len(y)) <= FACTOR_BITS
            m.submodules[f"product_{self._slices}"] = product
            self._slices += 1
            m.d.comb += [product.a.eq(x), product.b.eq(y)]
            return product.p
        half = 16 << (level - 1)
        x_0, y_0 = (Cat(value[:half], 0).as_signed() for value in (x, y))
        x_1, y_1 = (value[half:].as_signed() for value in (x, y))
        # The difference of two unsigned halves has one bit more; if one is signed, two.
        bits = half + (2 if negative else 1)
        x_c, y_c = (value[:bits].as_signed() for value in (x_0 - x_1, y_1 - y_0))
        before = self._register(m, f"before_{level}", (x_0, y_0, x_1, y_1, x_c, y_c))
        x_0, y_0, x_1, y_1, x_c, y_c = before
        if level > SIGNED_LEVELS:
            x_0, y_0, x_1, y_1 = self._register(m, f"magnitude_{level}", (x_0, y_0, x_1, y_1))
        m_a = self._multiply(m, x_0, y_0, level - 1, negative=False)
        m_b = self._multiply(m, x_1, y_1, level - 1, negative=negative)
        if level > SIGNED_LEVELS:
            m_c = self._multiply_magnitudes(m, x_c, y_c, level - 1)
        else:
            m_c = self._multiply(m, x_c, y_c, level - 1, negative=True)
        m_a, m_b, m_c = self._register(m, f"sum_{level}", (m_a, m_b, m_a + m_b + m_c))
        # M_a is not negative, so the outer terms are concatenated.
        beside = Cat(m_a[: 2 * half], m_b).as_signed()
        (total,) = self._register(m, f"total_{level}", (beside + (m_c << half),))
        # As many bits as the product of these factors can have.
        return total[: len(x) + len(y)].as_signed()

    def _multiply_magnitudes(self, m: Module, x: Value, y: Value, level: int) -> Value:
        """Return the signed product of two signed values, from that of their magnitudes."""
        magnitudes = [
            Mux(factor < 0, -factor, factor)[: len(factor)].as_signed() for factor in (x, y)
        ]
        signs_differ = (x[-1] ^ y[-1]).as_signed()
        x, y, negative = self._register(m, f"magnitude_{level + 1}", [*magnitudes, signs_differ])
        product = self._multiply(m, x, y, level, negative=False)
        for _ in range(self._latency_below(level + 1)):
            later = Signal.like(negative)
            m.d.sync += later.eq(negative)
            negative = later
        return Mux(negative[0], -product, product)[: len(product)].as_signed()

    def _latency_below(self, level: int) -> int:
        """Pipeline registers of a product at the level below."""
        return len(self.registers.intersection(register_places(level - 1)))

    def _register(self, m: Module, place: str, values: Sequence[Value]) -> list[Value]:
        """The values, a cycle later if this place has a register."""
        kept: list[Value] = []
        for value in values:
            shape = value.shape()
            signal = Signal(signed(shape.width), name=place)
            if place in self.registers:
                m.d.sync += signal.eq(value)
            else:
                m.d.comb += signal.eq(value)
            kept.append(signal)
        return kept
