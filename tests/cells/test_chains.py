"""Sums and selections of placed LUTs are the plain expressions: proved by a solver."""

import pytest
from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.chains import add_table, place_sum, select_and_count
from coprime.cells.luts import choose_word
from coprime.cells.target import Target
from coprime.flow.verilog import to_verilog
from tests.netlists import proved_equal

WIDTH = 6
TABLES = {"signed": [-9, 0, 17, 31], "multiples": [8, 24, -16], "one": [5]}


class Sums(wiring.Component):
    """`wrong` must not be the same."""

    def __init__(self, target, *, wrong=False):
        self.target, self.wrong = target, wrong
        words = {name: In(WIDTH) for name in "abcd"}
        results = (*TABLES, "carried", "counted", "chosen", "difference")
        super().__init__(
            {
                **words,
                "choice": In(2),
                "carry": In(1),
                **dict.fromkeys(results, Out(WIDTH)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        a, target = self.a, self.target
        for name, table in TABLES.items():
            m.d.comb += getattr(self, name).eq(add_table(m, a, table, self.choice, target))
        table = [*TABLES["multiples"], int(self.wrong)]
        words = [a, self.b, self.c, self.d]
        m.d.comb += [
            self.carried.eq(add_table(m, a, table, self.choice, target, carry=self.carry)),
            self.counted.eq(select_and_count(m, words, self.choice, self.carry, target)),
            self.chosen.eq(choose_word(m, self.carry, a, self.b, target)),
            self.difference.eq(self._difference(m)),
        ]
        return m

    def _difference(self, m):
        """a - b or a - c."""
        if self.target is Target.GENERIC:
            other = Signal(WIDTH)
            with m.If(self.carry):
                m.d.comb += other.eq(self.b)
            with m.Else():
                m.d.comb += other.eq(self.c)
            return self.a - other
        carry = Cat(self.carry).replicate(WIDTH)
        return place_sum(
            *(m, self.a, lambda _, b, c, which: not (b if which else c), self.b, self.c, carry),
            carry=1,
        )


def verilog(target, name, **settings):
    return to_verilog(Sums(target, **settings), name)


@pytest.mark.parametrize("wrong", [False, True])
def test_placed_sums_are_the_plain_expressions(wrong):
    explicit = verilog(Target.XC7, "coprime_explicit", wrong=wrong)
    assert proved_equal(verilog(Target.GENERIC, "coprime_plain"), explicit) != wrong
    assert "CARRY4 #" in explicit or "CARRY4 " in explicit
