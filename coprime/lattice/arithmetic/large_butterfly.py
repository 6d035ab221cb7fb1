"""Butterflies modulo q = 8380417 with one slice: a product of 24 bits takes two of its cycles.

Source: FIPS 204, algorithms 41 and 42; the model is `../../model/lattice/large_arithmetic.py`.

Cycles after `start`, in which a value enters a part or is complete:

| | FORWARD | INVERSE | LAST |
|---|--:|--:|--:|
| sum, and difference enter | 8, 9 | 0, 1 | 0, 2 |
| a constant is taken | 0 | 3 | 2 and 4 |
| factors enter the slice: 17 bits, then 7 | 0, 1 | 3, 4 | 2, 3 and 4, 5 |
| the product is reduced | 8 | 11 | 10 and 12 |
| sum, and difference | 10, 11 | 2, 3 | 2, 4 |

Both operands of a second pass, or of a difference, are held from the first pass, or the sum.
"""

import enum

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.chains import add_table, place_sum
from coprime.cells.luts import choose_word
from coprime.cells.shared_slice import WIDE_USER
from coprime.cells.target import Target
from coprime.cells.wide_slice import WideSlice
from coprime.model.lattice.large_arithmetic import ACCUMULATOR_BITS, LOW_BITS, NUMBER_BITS
from coprime.model.lattice.ml_dsa_sets import Q

from .large_reduction import LargeReduction

NUMBER = signed(NUMBER_BITS)


class Butterfly(enum.Enum):
    """What is computed of a and b."""

    FORWARD = 0  # a + b c and a - b c; also acc + x y, and acc - x y
    INVERSE = 1  # a + b, and (a - b) c
    LAST = 2  # (a + b) c, and (a - b) c'


REDUCED = {Butterfly.FORWARD: (8,), Butterfly.INVERSE: (11,), Butterfly.LAST: (10, 12)}
"""Cycles after `start` in which `reduced` is a product, times 1023^2."""
TOTAL = {Butterfly.FORWARD: (10, 11), Butterfly.INVERSE: (2, 3), Butterfly.LAST: (2, 4)}
"""Cycles after `start` in which `total` is the sum, and the difference."""
CONSTANT = {Butterfly.FORWARD: (0,), Butterfly.INVERSE: (3,), Butterfly.LAST: (2, 4)}
"""Cycles after `start` in which a constant is taken."""
INTERVAL = {Butterfly.FORWARD: 2, Butterfly.INVERSE: 2, Butterfly.LAST: 4}
"""Cycles from one start to the next one."""
_STAGES = 10


class LargeButterfly(wiring.Component):
    """A butterfly every second cycle, of the last layer every fourth one.

    Parameters
    ----------
    target (Target): XC7 places one DSP48E1
    shares_slice (bool): the slice is not inside: `slice` leads to it

    Members
    -------
    kind (in): of Butterfly; stable for as long as a butterfly takes
    start (1 bit, in): a butterfly; a multiple of the kind's INTERVAL after the one before
    a, b (signed 24 bits, in): in [-q, q), with `start`
    constant (signed 24 bits, in): in [-q, q), in the cycles of CONSTANT
    total (signed 24 bits, out): the sum, then the difference, in [-q, q)
    reduced (signed 24 bits, out): a product
    p (signed 48 bits, out): the slice's sum; of FORWARD without a butterfly, b times the constant's
        lowest 17 bits, three cycles after these
    slice (out): with `shares_slice` only: of SharedSlice, its wide user
    """

    def __init__(self, target: Target = Target.GENERIC, *, shares_slice: bool = False):
        self.target, self.shares_slice = Target(target), shares_slice
        super().__init__(
            {
                "kind": In(Butterfly),
                "start": In(1),
                "a": In(NUMBER),
                "b": In(NUMBER),
                "constant": In(NUMBER),
                "total": Out(NUMBER),
                "reduced": Out(NUMBER),
                "p": Out(signed(ACCUMULATOR_BITS)),
                **({"slice": Out(WIDE_USER)} if shares_slice else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The slice, the reduction, and one unit of sums."""
        m = Module()
        if self.shares_slice:
            slice_: WideSlice = self.slice
        else:
            m.submodules.slice = slice_ = WideSlice(self.target)
        m.submodules.reduction = reduction = LargeReduction(self.target)
        forward, inverse = self.kind == Butterfly.FORWARD, self.kind == Butterfly.INVERSE
        started = _delayed(m, self.start, _STAGES, reset_less=False)
        a = _delayed(m, self.a, REDUCED[Butterfly.FORWARD][0])

        # Passes of the slice.
        second = Mux(forward, started[1], Mux(inverse, started[4], started[3] | started[5]))
        factor, upper = Signal(NUMBER), Signal(signed(NUMBER_BITS - LOW_BITS))
        m.d.sync += [factor.eq(slice_.a), upper.eq(self.constant[LOW_BITS:])]
        m.d.comb += [
            slice_.a.eq(Mux(second, factor, Mux(forward, self.b, self.total))),
            slice_.b.eq(Mux(second, upper, self.constant[:LOW_BITS])),
            slice_.shift_add.eq(second),
            self.p.eq(slice_.p),
            reduction.p.eq(slice_.p),
            self.reduced.eq(reduction.reduced),
        ]

        # Sums.
        sums = Mux(forward, started[8], started[0])
        subtracts = Mux(forward, started[9], Mux(inverse, started[1], started[2]))
        held_x, held_y, raw = Signal(NUMBER), Signal(NUMBER), Signal(signed(NUMBER_BITS + 1))
        x, new_y = Signal(NUMBER), Signal(NUMBER)
        m.d.comb += [
            x.eq(Mux(subtracts, held_x, Mux(forward, a[-1], a[0]))),
            new_y.eq(choose_word(m, forward, reduction.reduced, self.b, self.target)),
        ]
        with m.If(sums):
            m.d.sync += [held_x.eq(x), held_y.eq(new_y)]
        if self.target is Target.XC7:
            words = (_wide(number) for number in (held_y, reduction.reduced, self.b))
            choices = ([choice] * (NUMBER_BITS + 1) for choice in (forward, subtracts))
            m.d.sync += raw.eq(place_sum(m, _wide(x), _term, *words, *choices, carry=subtracts))
        else:
            y = Mux(subtracts, held_y, new_y)
            m.d.sync += raw.eq(Mux(subtracts, x - y, x + y))
        corrected = add_table(m, raw[:NUMBER_BITS], [-Q, Q], raw[-1:], self.target)
        m.d.sync += self.total.eq(corrected)
        return m


def _wide(number: Value) -> Value:
    """A bit more, of the sign."""
    return Cat(number, number[-1])


def _term(_: int, held: int, reduced: int, b: int, forward: int, subtracts: int) -> bool:
    """A bit of what is added to x."""
    return not held if subtracts else bool(reduced if forward else b)


def _delayed(m: Module, value: Value, cycles: int, *, reset_less: bool = True) -> list[Value]:
    """A value, and what it was in the cycles before."""
    found = [value]
    for _ in range(cycles):
        later = Signal(value.shape(), name="delayed", reset_less=reset_less)
        m.d.sync += later.eq(found[-1])
        found.append(later)
    return found
