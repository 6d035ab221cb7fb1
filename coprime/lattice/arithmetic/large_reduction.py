"""Products modulo q = 8380417 by two signed K-RED steps: adders, no multiplier.

Source: Longa, Naehrig (2016), algorithm 1; the model is `reduced` of
`../../model/lattice/large_arithmetic.py`. What differs: a step computes high - 1023 low as
(high + low) - 1024 low, so that two steps give the sign back; the carry of a signed low part enters
the first of its two adders.
"""

from amaranth.hdl import Cat, Const, Module, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.chains import place_sum
from coprime.cells.target import Target
from coprime.model.lattice.large_arithmetic import ACCUMULATOR_BITS, LOW_BITS, NUMBER_BITS, M

_SHIFT = 10
"""k = 2^10 - 1."""
_FIRST_BITS = 35
"""Of the first step's result: at most 2^33 + 1023 * 2^12."""


def _step(m: Module, t: Value, bits: int, name: str, target: Target) -> Signal:
    low, carry = t[:M].as_signed(), t[M - 1]
    total = Signal(signed(bits), name=f"{name}_sum")
    later = Signal(signed(M), name=f"{name}_low")
    found = Signal(signed(bits), name=name)
    high = t[M:].as_signed()
    upper = bits - _SHIFT  # of the difference; the lowest bits are those of the sum
    if target is Target.XC7:
        m.d.sync += [
            total.eq(place_sum(m, _wide(high, bits), _own, _wide(low, bits), carry=carry)),
            found.eq(
                Cat(
                    total[:_SHIFT],
                    place_sum(m, total[_SHIFT:], _other, _wide(later, upper), carry=Const(1, 1)),
                )
            ),
        ]
    else:
        m.d.sync += [total.eq(high + low + carry), found.eq(total - (later << _SHIFT))]
    m.d.sync += later.eq(low)
    return found


def _wide(number: Value, bits: int) -> Value:
    """A signed number of so many bits."""
    return Cat(number, number[-1].replicate(bits))[:bits]


def _own(_: int, bit: int) -> bool:
    return bool(bit)


def _other(_: int, bit: int) -> bool:
    return not bit


class LargeReduction(wiring.Component):
    """`reduced` is 1023^2 times a product modulo q, LATENCY cycles after its second pass.

    Parameters
    ----------
    target (Target): on XC7 each of the four adders takes a LUT a bit

    Members
    -------
    p (signed 48 bits, in): the slice's sum after the first pass, and in the next cycle after the
        second one
    reduced (signed 24 bits, out): less than 5 q / 8 in magnitude for products of numbers in [-q, q)
    """

    LATENCY = 4

    def __init__(self, target: Target = Target.GENERIC) -> None:
        self.target = target
        super().__init__({"p": In(signed(ACCUMULATOR_BITS)), "reduced": Out(signed(NUMBER_BITS))})

    def elaborate(self, platform: object) -> Module:
        """Two steps of two adders."""
        m = Module()
        before = Signal(LOW_BITS)
        m.d.sync += before.eq(self.p)
        t = Cat(before, self.p[: _FIRST_BITS + M - LOW_BITS])
        first = _step(m, t, _FIRST_BITS, "first", self.target)
        second = _step(m, first, NUMBER_BITS, "second", self.target)
        m.d.comb += self.reduced.eq(second)
        return m
