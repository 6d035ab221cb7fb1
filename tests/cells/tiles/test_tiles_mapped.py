"""What the tiles become on a target, against their behavioural twins."""

import itertools

import pytest

from coprime.cells.target import Target
from coprime.cells.tiles import TILES
from coprime.flow.mapping import map_design
from coprime.flow.verilog import to_verilog
from tests.netlists import ecp5_library, first_difference, our_cells, xc7_library

PRODUCTS = 127
"""Most in a sum; all tiles hold so many."""
# Words are random, zeros or ones; one of four products is the first of a sum.
GUARD = """
module coprime_{name} (input clk, rst, input [{top}:0] x_0, x_1, y_0, y_1, input [7:0] kinds,
                       input subtract, input [1:0] first, output [{sum_top}:0] sum);
  {inner} inner (.clk(clk), .rst(rst), .subtract(subtract), .first(&first), .sum(sum),
    .x_0(kinds[0] ? {{{word}{{kinds[1]}}}} : x_0), .x_1(kinds[2] ? {{{word}{{kinds[3]}}}} : x_1),
    .y_0(kinds[4] ? {{{word}{{kinds[5]}}}} : y_0), .y_1(kinds[6] ? {{{word}{{kinds[7]}}}} : y_1));
endmodule
"""
LIBRARY = {Target.XC7: xc7_library, Target.ECP5: ecp5_library}
CASES = list(itertools.product(TILES, LIBRARY))


def cases(slow):
    """A tile with a target each; tiles and cases in `slow` take too long to be run every time."""
    found = []
    for name, target in CASES:
        case = f"{name}-{target.value}"
        marks = [pytest.mark.route] if {name, case} & slow else []
        found.append(pytest.param(name, target, marks=marks, id=case))
    return found


class Comparison:
    """A tile in a guard, against its twin."""

    def __init__(self, tile_class):
        self.tile = tile_class(PRODUCTS)
        self.word, self.bits = self.tile.WORD, self.tile.sum_bits
        self.inputs = dict.fromkeys(("x_0", "x_1", "y_0", "y_1"), self.word)
        self.inputs |= {"kinds": 8, "subtract": 1, "first": 2}

    def guarded(self, name, text, inner):
        sizes = {"word": self.word, "top": self.word - 1, "sum_top": self.bits - 1}
        return GUARD.format(name=name, inner=inner, **sizes) + text

    def difference(self, text, inner, cycles=50_000):
        twin = to_verilog(self.tile, "coprime_twin")
        gold = self.guarded("gold", twin, "coprime_twin")
        gate = self.guarded("gate", text, inner)
        return first_difference(gold, gate, self.inputs, {"sum": self.bits}, cycles=cycles)


@pytest.mark.route  # test_slices_mapped.py has a netlist that is always compared
@pytest.mark.parametrize(("name", "target"), cases(slow=set()))
def test_netlist_agrees_with_twin(name, target):
    mapped = map_design(target, TILES[name](PRODUCTS, target), "coprime_mapped")
    assert mapped.dsp == TILES[name].SLICES
    assert (
        Comparison(TILES[name]).difference(mapped.netlist + LIBRARY[target](), "coprime_mapped")
        is None
    )


@pytest.mark.parametrize(("name", "target"), cases(slow={"adk2x16", "bal50", "kara95"}))
def test_our_models_of_cells_agree_with_twin(name, target):
    """What a package simulates with: the vendor's cell instantiated, and our model of it."""
    text = to_verilog(TILES[name](PRODUCTS, target), "coprime_placed") + our_cells(target)
    assert Comparison(TILES[name]).difference(text, "coprime_placed") is None


def test_comparison_sees_a_difference():
    """Another latency."""
    tile_class = TILES["one17"]
    later = type("Later", (tile_class,), {"LATENCY": tile_class.LATENCY + 1})
    text = to_verilog(later(PRODUCTS), "coprime_later")
    assert Comparison(tile_class).difference(text, "coprime_later") is not None
