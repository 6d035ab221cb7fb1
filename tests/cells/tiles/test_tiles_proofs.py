"""Factors fit the ports of a DSP slice, and digits are the words' difference: for all words."""

import tempfile
from pathlib import Path

import pytest
from amaranth.hdl import Cat, Module, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.target import Target
from coprime.cells.tiles import TILES, bal50, kara95
from coprime.cells.tiles.tile_slice import DIFFERENCE_BITS, FACTOR_BITS
from coprime.flow.tools import run_yosys
from coprime.flow.verilog import to_verilog

LIBRARY = {Target.XC7: "+/xilinx/cells_sim.v", Target.ECP5: "+/ecp5/cells_sim.v"}


def at_once(m, value, cycles=1):
    """In place of registers: the value itself."""
    return value


class Factors(wiring.Component):
    """Whether all factors of a tile fit, in so many bits of each port."""

    def __init__(self, tile, factor_bits=FACTOR_BITS):
        self.tile = tile
        self.factor_bits = factor_bits
        words = dict.fromkeys(("x_0", "x_1", "y_0", "y_1"), In(tile.WORD))
        super().__init__({**words, "fit": Out(1)})

    def elaborate(self, platform):
        m = Module()
        tile = self.tile
        found = []
        if tile.target is Target.XC7:
            for name in ("x_0", "x_1"):
                m.d.comb += getattr(tile, name).eq(getattr(self, name))
            for minuend, subtrahend in tile.differences(m):
                terms = Value.cast(minuend), Value.cast(subtrahend)
                found += [(term, DIFFERENCE_BITS) for term in (*terms, terms[0] - terms[1])]
        else:
            factors = tile.factors(m, self.x_0, self.x_1)
            found += [(factor, self.factor_bits) for factor in factors]
        factors = tile.factors(m, self.y_0, self.y_1)
        found += [(factor, self.factor_bits) for factor in factors]
        fits = []
        for value, bits in found:
            m.d.comb += (port := Signal(signed(bits))).eq(value)
            fits.append(port == value)

        def number(first, digit):
            return sum(factors[first + k] << digit * k for k in range(3))

        if isinstance(tile, bal50.Bal50):
            fits.append(number(0, bal50.DIGIT) == self.y_0 - self.y_1)
        if isinstance(tile, kara95.Kara95):
            low, high, middle = (number(first, kara95.DIGIT) for first in (0, 6, 12))
            fits.append(low + (high << kara95.HALF) == self.y_0 - self.y_1)
            fits.append(low - high == middle)
        m.d.comb += self.fit.eq(Cat(fits).all())
        return m


def proved(design):
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "design.v").write_text(to_verilog(design, "coprime_factors"), encoding="utf-8")
        log = run_yosys(
            [
                "read_verilog design.v",
                f"read_verilog -overwrite {LIBRARY[design.tile.target]}",
                "hierarchy -top coprime_factors",
                "proc",
                "flatten",
                "opt -full",
                "sat -prove fit 1 coprime_factors",
            ],
            folder,
        )
    found, refuted = "proof finished - no model found" in log, "model found: FAIL!" in log
    assert found != refuted, log
    return found


@pytest.fixture(autouse=True)
def without_registers(monkeypatch):
    for tile in TILES.values():
        monkeypatch.setattr(f"{tile.__module__}.later", at_once)


@pytest.mark.proof(quick=2)
@pytest.mark.parametrize(
    ("target", "name"),
    [
        pytest.param(target, name, marks=[pytest.mark.proof] * (name == "kara95"))
        for k, target in enumerate((Target.XC7, Target.ECP5))
        for name in TILES
    ],
)
def test_factors_fit(name, target):
    assert proved(Factors(TILES[name](1, target)))


@pytest.mark.parametrize("name", ["one17", "adk2x16", "bal50"])
def test_a_bit_less_is_too_few(name):
    assert not proved(Factors(TILES[name](1, Target.XC7), FACTOR_BITS - 1))
