"""Adders of explicit cells do what plain sums do: proved by a solver, for all numbers."""

import pytest
from amaranth.hdl import Module, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.adders import add_selected, add_three, add_two
from coprime.cells.target import Target
from coprime.flow.verilog import to_verilog
from tests.netlists import proved_equal

WIDTH = 13


class Sums(wiring.Component):
    """Sums of three numbers with shifts, and of two with a carry; `wrong` ones must differ."""

    def __init__(self, target, *, wrong=False):
        self.target = target
        self.wrong = wrong
        numbers = {"a": In(signed(7)), "b": In(6), "c": In(signed(5)), "carry": In(1)}
        super().__init__({**numbers, **dict.fromkeys("opqrstuv", Out(signed(WIDTH)))})

    def elaborate(self, platform):
        m = Module()
        a, b, c, target = self.a, self.b, self.c, self.target
        width = 8 if self.wrong else WIDTH
        m.d.comb += [
            self.o.eq(add_three(m, ((a, 0), (b, 0), (c, 0)), width, target)),
            self.p.eq(add_three(m, ((a, 3), (b, 5), (c, 1)), WIDTH, target)),
            self.q.eq(add_three(m, ((a, 2), (b, 0), (c, 4)), WIDTH, target, subtract_last=True)),
            self.r.eq(add_two(m, a, b, width, target)),
            self.s.eq(add_two(m, a, c, WIDTH, target, subtract=True)),
            self.t.eq(add_two(m, b, a, WIDTH, target, subtract=True, carry=self.carry)),
            self.u.eq(add_selected(m, self.carry, (a, b), (c, a), WIDTH, target)),
            self.v.eq(add_selected(m, self.carry, (a, b), (b, c), 9, target, subtract=True)),
        ]
        return m


def agree(target, **settings):
    """Whether explicit cells and plain sums give the same for all numbers."""
    plain = to_verilog(Sums(Target.GENERIC), "coprime_plain")
    explicit = to_verilog(Sums(target, **settings), "coprime_explicit")
    return proved_equal(plain, explicit, target)


@pytest.mark.route(quick=1)
@pytest.mark.parametrize("target", [Target.XC7, Target.ECP5])
def test_explicit_cells_agree_with_plain_sums(target):
    assert agree(target)


def test_a_difference_is_found():
    assert not agree(Target.XC7, wrong=True)
