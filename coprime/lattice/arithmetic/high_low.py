"""High and low parts of numbers modulo 8380417, with one product of the slice.

Source: FIPS 204, algorithms 35, 36 and 40; the model is `../../model/lattice/rounding.py`. What
differs: r1 is a quotient of r + gamma2 - 1 by a constant's product, and the multiple of 2 gamma2
that is subtracted for r0 is that of a table, whose last entry is q: so the exception of algorithm
36, line 3, takes no step of its own. Both parts of algorithm 35 are bits of one sum.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.facts import DSP_LATENCY
from coprime.cells.tables import look_up
from coprime.model.lattice.ml_dsa_sets import DROPPED_BITS, ML_DSA_SETS, MlDsaSet, Q
from coprime.model.lattice.rounding import division_of

RESIDUE_BITS = 23
HIGH_BITS = 6
LOW_BITS = 20
WIDE, NARROW = ML_DSA_SETS[0], ML_DSA_SETS[1]
"""A set with each of the two gamma2: (q - 1) / 88 and (q - 1) / 32."""
_BY_PARTS = (WIDE, NARROW)


def _factor_bits(parameters: MlDsaSet) -> int:
    found = division_of(parameters)
    return (found.limit - 1 >> found.shift_before).bit_length()


FACTOR_BITS = max(map(_factor_bits, _BY_PARTS))
CONSTANT_BITS = max(division_of(parameter_set).factor.bit_length() for parameter_set in _BY_PARTS)
PRODUCT_BITS = FACTOR_BITS + CONSTANT_BITS


class HighLow(wiring.Component):
    """Splits a number a cycle; the slice multiplies `factor` by `constant`.

    LATENCY cycles after `r`, `high` and `low` are its parts.

    Members
    -------
    few_parts (1 bit, in): gamma2 is (q - 1) / 32, else (q - 1) / 88; stable
    r (23 bits, in): below q
    factor (15 bits, out), constant (15 bits, out): a cycle after r
    product (30 bits, in): of these, as many cycles later as the slice takes
    high (6 bits, out): r1, 0 to 15 or 0 to 43
    low (signed 20 bits, out): r0, in [-gamma2, gamma2]
    """

    LATENCY = 3 + DSP_LATENCY

    def __init__(self) -> None:
        super().__init__(
            {
                "few_parts": In(1),
                "r": In(RESIDUE_BITS),
                "factor": Out(FACTOR_BITS),
                "constant": Out(CONSTANT_BITS),
                "product": In(PRODUCT_BITS),
                "high": Out(HIGH_BITS),
                "low": Out(signed(LOW_BITS)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """A sum, the product of the slice, the quotient, and a difference."""
        m = Module()
        few = self.few_parts
        offsets = [Const(parameter_set.gamma2 - 1, RESIDUE_BITS) for parameter_set in _BY_PARTS]
        x = Signal(RESIDUE_BITS + 1)
        m.d.sync += x.eq(self.r + Mux(few, offsets[1], offsets[0]))
        before, after, factors = zip(
            *((d.shift_before, d.shift_after, d.factor) for d in map(division_of, _BY_PARTS)),
            strict=True,
        )
        m.d.comb += [
            self.factor.eq(Mux(few, x[before[1] :], x[before[0] :])),
            self.constant.eq(Mux(few, factors[1], factors[0])),
        ]
        r = self.r
        for k in range(2 + DSP_LATENCY):
            later = Signal(RESIDUE_BITS, name=f"r_{k}", reset_less=True)
            m.d.sync += later.eq(r)
            r = later

        quotient = Signal(HIGH_BITS)
        m.d.sync += quotient.eq(Mux(few, self.product[after[1] :], self.product[after[0] :]))
        last = Mux(few, quotient[4], quotient == WIDE.parts // 2)
        multiples = [
            Q if 2 * k == parameter_set.parts else 2 * parameter_set.gamma2 * k
            for parameter_set in _BY_PARTS
            for k in range(1 << HIGH_BITS)
        ]
        multiple = look_up(
            [value & (1 << RESIDUE_BITS) - 1 for value in multiples],
            Cat(quotient, few),
            RESIDUE_BITS,
        )
        m.d.sync += [self.high.eq(Mux(last, 0, quotient)), self.low.eq(r - multiple)]
        return m


def power_of_two_parts(r: Value) -> tuple[Value, Value]:
    """Algorithm 35 of a number below q, by one adder: t1 of 10 bits, and 2^12 - t0 of 13 bits, as
    it is packed."""
    total = r + ((1 << DROPPED_BITS - 1) - 1)
    return total[DROPPED_BITS:RESIDUE_BITS], ~total[:DROPPED_BITS]


def hinted(high: Value, low: Value, hint: Value, few_parts: Value) -> Value:
    """Algorithm 40: the high part that a hint restores, of 6 bits."""
    last = Mux(few_parts, NARROW.parts // 2 - 1, WIDE.parts // 2 - 1)
    rises = low > 0
    up = Mux(high == last, 0, high + 1)
    down = Mux(high == 0, last, high - 1)
    return Mux(hint, Mux(rises, up, down), high)[:HIGH_BITS]
