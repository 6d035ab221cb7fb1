"""What is refused before it is mapped, since its Verilog shows that it does not fit."""

import pytest

from coprime.catalog import choose
from coprime.cells.target import Target
from coprime.explore import measure
from coprime.flow import mapping, routing
from coprime.flow.fit import cell_counts, check_multipliers
from coprime.flow.parts import engine_verilog
from coprime.flow.targets import device_named, flow_of
from coprime.flow.tools import ToolError

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
