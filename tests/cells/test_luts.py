"""Explicit LUTs do what the plain expressions do: proved by a solver, for all inputs."""

import pytest
from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.luts import at_least, same, select_bit, select_word
from coprime.cells.target import Target
from coprime.flow.verilog import to_verilog
from tests.netlists import proved_equal


class Comparisons(wiring.Component):
    """Each function of two numbers of `width` bits; `wrong` is one that must not be the same."""

    def __init__(self, width, target, *, wrong=False):
        self.width = width
        self.target = target
        self.wrong = wrong
        super().__init__(
            {
                "a": In(width),
                "b": In(width),
                **dict.fromkeys(("o", "p", "q"), Out(1)),
                "r": Out(width),
            }
        )

    def elaborate(self, platform):
        m = Module()
        last = self.width - 1
        index = self.b[: bits_for(last)]
        words = (self.a, self.b, self.a ^ self.b, ~self.a)
        m.d.comb += [
            self.o.eq(at_least(m, self.a, self.b, self.target) ^ self.wrong),
            self.p.eq(same(m, self.a, self.b, self.target)),
            self.q.eq(select_bit(m, self.a, Mux(index > last, 0, index), self.target)),
            self.r.eq(select_word(m, words, self.a[-2:], self.target)),
        ]
        return m


def agree(width, **settings):
    """Whether explicit LUTs and plain expressions give the same for all numbers; and the LUTs."""
    plain, explicit = (
        to_verilog(design, name)
        for name, design in {
            "coprime_plain": Comparisons(width, Target.GENERIC),
            "coprime_explicit": Comparisons(width, Target.XC7, **settings),
        }.items()
    )
    return proved_equal(plain, explicit), explicit.count("LUT")


@pytest.mark.parametrize("width", [3, 6, 7, 17])
def test_explicit_luts_are_the_plain_expressions(width):
    proved, luts = agree(width)
    assert proved
    assert luts


def test_the_proof_can_fail():
    assert not agree(6, wrong=True)[0]
