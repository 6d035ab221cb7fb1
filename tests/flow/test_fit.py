"""What is refused before it is mapped, since its Verilog shows that it does not fit."""

import dataclasses

import pytest

from coprime.catalog import choose
from coprime.cells.target import Target
from coprime.explore import measure
from coprime.flow import fit, mapping, routing
from coprime.flow.fit import cell_counts, check_block_rams, check_multipliers
from coprime.flow.parts import engine_verilog
from coprime.flow.targets import device_named, flow_of, route_targets
from coprime.flow.tool_errors import ToolError

CELLS = """
module pair(input clk);
  MULT18X18D #(
    .REG_INPUTA_CLK("NONE")
  ) first (
    .A0(clk)
  );
  MULT18X18D second (.A0(clk));
endmodule
module coprime_many(input clk);
  pair a(clk); pair b(clk);
  always @(posedge clk) if (clk) x <= 1;
  other c (
    .clk(clk)
  );
endmodule
module other(input clk);
{pairs}
endmodule
"""


def many(count):
    return CELLS.replace(
        "{pairs}", "\n".join(f"  pair p{k} (\n    .clk(clk)\n  );" for k in range(count))
    )


def check(verilog, target=Target.ECP5, device="LFE5U-25F", top="coprime_many"):
    flow = flow_of(target)
    check_multipliers(flow, device_named(flow, device), verilog, top)


def test_instances_are_counted_through_the_hierarchy():
    assert cell_counts(many(3), "coprime_many")["MULT18X18D"] == 2 * (2 + 3)
    assert cell_counts(many(3), "other")["MULT18X18D"] == 2 * 3


def test_the_last_that_fits_and_the_first_that_does_not():
    check(many(12))  # 28
    sentence = (
        r"^the design does not fit LFE5U-25F-6 CABGA381: it needs 30 DSP slices, and it has 28;"
        r" the next larger device is LFE5U-45F$"
    )
    with pytest.raises(ToolError, match=sentence):
        check(many(13))
    check(many(13), device="LFE5U-45F")


@pytest.mark.route
def test_a_design_of_ours_has_as_many_as_it_says():
    for tile, tiles, slices in (("bal50", "1", 6), ("bal50", "2", 12), ("kara95", "1", 18)):
        choice = choose("ring", {"tile": tile, "tiles": tiles, "max_bits": "512"})
        verilog = engine_verilog(choice, Target.ECP5)
        counted = cell_counts(verilog, f"{choice.module_name}_engine")
        assert counted["MULT18X18D"] == slices


def products(count):
    lines = "\n".join(f"  always @(posedge clk) p{k} <= a{k} * b{k};" for k in range(count))
    return f"module coprime_many(input clk);\n{lines}\nendmodule\n"


def test_products_that_mapping_makes_multipliers_of():
    """Two may share a slice; a device without multipliers has them in LUTs."""
    for target, device, slices in ((Target.ICE40, "UP5K", 8), (Target.GOWIN, "GW1NR-9C", 20)):
        check(products(2 * slices), target, device)
        with pytest.raises(ToolError, match=rf"over \d+ DSP slices, and it has {slices};"):
            check(products(2 * slices + 2), target, device)
    check(products(500), Target.GATEMATE, "CCGM1A1")


MEMORIES = """
module store(input clk, input w, input [9:0] a, input [17:0] d, output reg [17:0] q);
  reg [17:0] memory [0:1023];
  always @(posedge clk) begin
    if (w) memory[a] <= d;
    q <= memory[a];
  end
endmodule
module coprime_many(input clk, input w, input [9:0] a, input [17:0] d, output [17:0] q);
  wire [{last}:0] between;
  assign between[17:0] = d;
  assign q = between[{last}:{last} - 17];
{instances}
endmodule
"""


def memories(count):
    """One after the other, each as large as a block RAM."""
    instances = "\n".join(
        f"  store s{k} (.clk(clk), .w(w), .a(a), .d(between[{18 * k} +: 18]),"
        f" .q(between[{18 * k + 18} +: 18]));"
        for k in range(count)
    )
    return MEMORIES.replace("{last}", f"{18 * count + 17}").replace("{instances}", instances)


def check_memories(count, device="LFE5U-25F"):
    flow = flow_of(Target.ECP5)
    verilog = memories(count)
    check_block_rams(flow, device_named(flow, device), device, verilog, "coprime_many")


def test_block_rams_are_counted_exactly():
    check_memories(56)
    sentence = r"it needs 57 block RAMs, and it has 56; the next larger device is LFE5U-45F$"
    with pytest.raises(ToolError, match=sentence):
        check_memories(57)


@pytest.mark.route
def test_block_rams_of_every_target_that_is_placed():
    """In the state in which they are counted, Yosys has made them cells of the target."""
    for target in map(Target, route_targets()):
        flow = flow_of(target)
        name = flow.default_device
        device = dataclasses.replace(device_named(flow, name), block_rams=1)
        with pytest.raises(ToolError, match=r"it needs [\d.]+ block RAMs, and it has 1;"):
            check_block_rams(flow, device, name, memories(2), "coprime_many")


def test_block_rams_that_are_certainly_enough_are_not_counted(monkeypatch):
    monkeypatch.setattr(fit, "run_yosys", None)
    check_memories(28)
    check_memories(57, "LFE5U-85F")
    with pytest.raises(TypeError):
        check_memories(29)


@pytest.mark.route
def test_block_rams_of_a_design_of_ours():
    """As many as it has when it is mapped."""
    flow = flow_of(Target.ECP5)
    choice = choose("compact", {"max_bits": "256"})
    verilog, top = engine_verilog(choice, Target.ECP5), f"{choice.module_name}_engine"
    cells, _ = mapping.map_cells(verilog, top, flow.synthesis(top, ""))
    needed = flow.resources(cells)["bram"]
    assert needed == 2
    device = device_named(flow, "LFE5U-25F")
    check_block_rams(flow, dataclasses.replace(device, block_rams=needed), "", verilog, top)
    with pytest.raises(ToolError, match="it needs 2 block RAMs, and it has 1;"):
        check_block_rams(flow, dataclasses.replace(device, block_rams=1), "", verilog, top)


def test_they_are_counted_before_a_design_is_mapped(monkeypatch):
    asked = []
    monkeypatch.setattr(
        routing, "map_cells", lambda *words, check, **named: asked.append(check(0)) or ({}, None)
    )
    flow = flow_of(Target.ECP5)
    with pytest.raises(ToolError, match="it needs 57 block RAMs, and it has 56"):
        routing.mapped_netlist(
            flow, device_named(flow, "LFE5U-25F"), "LFE5U-25F", memories(57), "coprime_many"
        )
    assert asked == []


@pytest.mark.route
def test_nothing_is_mapped(monkeypatch):
    """Neither to place it nor to measure it."""
    monkeypatch.setattr(mapping, "map_cells", None)
    monkeypatch.setattr(routing, "map_cells", None)
    with pytest.raises(ToolError, match="does not fit LFE5U-25F"):
        routing.mapped_netlist(
            flow_of(Target.ECP5),
            device_named(flow_of(Target.ECP5), "LFE5U-25F"),
            "LFE5U-25F",
            many(13),
            "coprime_many",
        )
    monkeypatch.setattr(measure, "map_design", None)
    choice = choose("ring", {"tile": "kara95", "multipliers": "2", "max_bits": "512"})
    with pytest.raises(ToolError, match="it needs 36 DSP slices, and it has 28"):
        measure.measure_area(choice, Target.ECP5, route=True, device="LFE5U-25F")
