"""What the slices become on a target, against their behavioural twins."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest

from coprime.cells.difference_slice import DifferenceSlice
from coprime.cells.dsp_slice import AccumulatingSlice, DspSlice
from coprime.cells.target import Target
from coprime.flow.mapping import map_design
from coprime.flow.verilog import to_verilog
from tests.netlists import ecp5_library, first_difference, our_cells, xc7_library

# A guard gives only the operations that exist: the other codes of OPMODE mean other things to a
# DSP48E1.
DSP_GUARD = """
module coprime_{name} (input clk, rst, input [17:0] a, b, input [2:0] accumulate, input product,
                       output [36:0] p);
  wire [2:0] known = accumulate[1] ? (accumulate[2] ? 3'b110 : 3'b010) : 3'b000;
  {inner} inner (.clk(clk), .rst(rst), .a(a), .b(b), .accumulate(known), .product(product), .p(p));
endmodule
"""
# The addend is as short as a product, so that sums do not overflow.
ADDEND_GUARD = """
module coprime_{name} (input clk, rst, input [17:0] a, b, input [33:0] c, input [1:0] base,
                       input product, output [36:0] p);
  wire [2:0] known = base == 1 ? 3'b011 : base == 2 ? 3'b010 : base == 3 ? 3'b110 : 3'b000;
  {inner} inner (.clk(clk), .rst(rst), .a(a), .b(b), .c({{{{3{{c[33]}}}}, c}}), .accumulate(known),
    .product(product), .p(p));
endmodule
"""
CHOICE_GUARD = ADDEND_GUARD.replace("input product,", "input product, takes_d, input [17:0] d,")
CHOICE_GUARD = CHOICE_GUARD.replace(".p(p));", ".d(d), .takes_d(takes_d), .p(p));")
DIFFERENCE_GUARD = """
module coprime_{name} (input clk, rst, input [16:0] a, b, x, y, input subtract,
                       input [1:0] base, input [43:0] c, output [43:0] p);
  {inner} inner (.clk(clk), .rst(rst), .a(a), .b(b), .x(x), .y(y),
    .subtract(subtract), .base(base == 1 ? 2'b00 : base), .c(c), .p(p));
endmodule
"""


@dataclass(frozen=True)
class Case:
    """A slice with so many bits of accumulator, in a guard, and the most LUTs of it on XC7."""

    slice_class: Callable[..., AccumulatingSlice]
    width: int
    guard: str
    inputs: dict
    luts: int

    def guarded(self, name, text, inner):
        return self.guard.format(name=name, inner=inner) + text

    def twin(self, name, width):
        inner = f"coprime_twin_{width}"
        return self.guarded(name, to_verilog(self.slice_class(width), inner), inner)

    def difference(self, gate):
        gold = self.twin("gold", self.width)
        return first_difference(gold, gate, self.inputs, {"p": self.width})


CASES = {
    "product of a choice, and addend": Case(
        partial(DspSlice, adds_c=True, chooses=True),
        37,
        CHOICE_GUARD,
        {"a": 18, "b": 18, "c": 34, "base": 2, "product": 1, "takes_d": 1, "d": 18},
        6,
    ),
    "product": Case(DspSlice, 37, DSP_GUARD, {"a": 18, "b": 18, "accumulate": 3, "product": 1}, 4),
    "product and addend": Case(
        partial(DspSlice, adds_c=True),
        37,
        ADDEND_GUARD,
        {"a": 18, "b": 18, "c": 34, "base": 2, "product": 1},
        6,
    ),
    # The one difference is in LUTs.
    "product of differences": Case(
        DifferenceSlice,
        44,
        DIFFERENCE_GUARD,
        {"a": 17, "b": 17, "x": 17, "y": 17, "subtract": 1, "base": 2, "c": 44},
        17 + 1,
    ),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.mark.route  # Yosys takes longer for XC7 than for ECP5
def test_xc7_netlist_agrees_with_twin(case):
    mapped = map_design(Target.XC7, case.slice_class(case.width, Target.XC7), "coprime_mapped")
    assert mapped.dsp == 1
    assert mapped.lut <= case.luts
    gate = case.guarded("gate", mapped.netlist + xc7_library(), "coprime_mapped")
    assert case.difference(gate) is None


@pytest.mark.route
@pytest.mark.parametrize(
    "case",
    ["product", pytest.param("product of differences", marks=pytest.mark.route)],
    indirect=True,
)
def test_ecp5_netlist_agrees_with_twin(case):
    mapped = map_design(Target.ECP5, case.slice_class(case.width, Target.ECP5), "coprime_mapped")
    assert mapped.dsp == 1
    gate = case.guarded("gate", mapped.netlist + ecp5_library(), "coprime_mapped")
    assert case.difference(gate) is None


@pytest.mark.matrix(quick=2)
@pytest.mark.parametrize("target", [Target.XC7, Target.ECP5])
def test_our_models_of_cells_agree_with_twin(case, target):
    """What a package simulates with: the vendor's cell instantiated, and our model of it."""
    text = to_verilog(case.slice_class(case.width, target), "coprime_placed")
    gate = case.guarded("gate", text + our_cells(target), "coprime_placed")
    assert case.difference(gate) is None


@pytest.mark.route(quick=1)
def test_our_xc7_models_agree_with_yosys(case):
    text = to_verilog(case.slice_class(case.width, Target.XC7), "coprime_placed")
    ours = (text + our_cells(Target.XC7)).replace("coprime_placed", "coprime_ours")
    ours = re.sub(r"\b(DSP48E1|LUT\d)\b(?=[ ,:(])", r"\1_ours", ours)
    gold = case.guarded("gold", ours, "coprime_ours")
    gate = case.guarded("gate", text + xc7_library(), "coprime_placed")
    inputs, outputs = case.inputs, {"p": case.width}
    assert first_difference(gold, gate, inputs, outputs) is None


def test_comparison_sees_a_difference(case):
    """An accumulator that is a bit shorter wraps where the other one does not."""
    assert case.difference(case.twin("gate", case.width - 1)) is not None


@pytest.mark.parametrize("width", [35, 49])
def test_width_out_of_range(case, width):
    with pytest.raises(ValueError, match=rf"accumulator_width must be in 36\.\.48, not {width}"):
        case.slice_class(width)


def test_width_of_wrong_type(case):
    with pytest.raises(TypeError, match=r"accumulator_width must be an int, not '44'"):
        case.slice_class("44")
