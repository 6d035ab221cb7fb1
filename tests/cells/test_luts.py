"""Explicit LUTs do what the plain expressions do: proved by a solver, for all inputs."""

import tempfile
from pathlib import Path

import pytest
from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.luts import at_least, same, select_bit, select_word
from coprime.cells.target import Target
from coprime.flow.tools import run_yosys
from coprime.flow.verilog import to_verilog


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
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "design.v").write_text(plain + explicit, encoding="utf-8")
        log = run_yosys(
            [
                "read_verilog design.v",
                "read_verilog +/xilinx/cells_sim.v",
                "hierarchy",
                "proc",
                "flatten",
                "miter -equiv -flatten coprime_plain coprime_explicit both",
                "sat -prove trigger 0 both",
            ],
            folder,
        )
    proved, refuted = "proof finished - no model found" in log, "model found: FAIL!" in log
    assert proved != refuted, log
    return proved, explicit.count("LUT")


@pytest.mark.parametrize("width", [3, 6, 7, 17])
def test_explicit_luts_are_the_plain_expressions(width):
    proved, luts = agree(width)
    assert proved
    assert luts


def test_the_proof_can_fail():
    assert not agree(6, wrong=True)[0]
