"""What a sponge becomes on XC7, against its behavioural twin; and how large it is."""

import pytest

from coprime.cells.keccak.hash_unit import make_sponge
from coprime.cells.target import Target
from coprime.flow.mapping import map_design
from coprime.flow.verilog import to_verilog
from tests.netlists import first_difference, xc7_library

LUTS = {(8, 2): 712, (8, 1): 722, (4, 2): 428}
"""By slices and blocks, with those of memories: 228, 228 and 140."""
INPUTS = {
    "word": 8,
    "last": 1,
    "valid": 1,
    "more": 2,
    "wanted": 1,
    "take": 1,
    "stop": 6,
    "wipe": 13,
}
OUTPUTS = {"ready": 1, "filled": 8, "output_valid": 1, "word_out": 8, "drained": 8, "flags": 2}
# A wipe is rare, and few blocks of output are released before their last word, which is.
GUARD = """
module coprime_{name} (input clk, rst, input [7:0] word, input last, valid, wanted, take,
    input [1:0] more, input [5:0] stop, input [12:0] wipe, output ready, output_valid,
    output [7:0] filled, drained, word_out, output [1:0] flags);
  wire [7:0] squeezed;
  assign word_out = output_valid ? squeezed : 8'd0;
  {inner} inner (.clk(clk), .rst(rst), .message__payload({{last, word}}), .message__valid(valid),
    .message__ready(ready), .filled(filled), .squeezed(squeezed), .valid(output_valid),
    .take(take), .drained(drained), .discard(drained == 8'd167 || &stop), .wanted(wanted),
    .more(&more), .captures(flags[0]), .wipe(&wipe), .wiping(flags[1]));
endmodule
"""


def guarded(name, text, inner):
    return GUARD.format(name=name, inner=inner) + text


def mapped(slices, blocks):
    return map_design(Target.XC7, make_sponge(slices, blocks, Target.XC7), "coprime_mapped")


@pytest.mark.route
@pytest.mark.parametrize("point", LUTS, ids=lambda point: "{}-{}".format(*point))
def test_luts_on_xc7(point):
    assert mapped(*point).lut <= LUTS[point]


@pytest.mark.route
def test_xc7_netlist_agrees_with_twin():
    gold = guarded("gold", to_verilog(make_sponge(8, 2), "coprime_twin"), "coprime_twin")
    netlist = mapped(8, 2).netlist
    gate = guarded("gate", netlist + xc7_library(), "coprime_mapped")
    assert first_difference(gold, gate, INPUTS, OUTPUTS) is None


@pytest.mark.route
def test_comparison_sees_a_difference():
    gold, gate = (
        guarded(name, to_verilog(make_sponge(8, blocks), inner), inner)
        for name, blocks, inner in (("gold", 2, "coprime_two"), ("gate", 1, "coprime_one"))
    )
    assert first_difference(gold, gate, INPUTS, OUTPUTS) is not None
