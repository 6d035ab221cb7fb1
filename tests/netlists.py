"""Comparing a mapped netlist with its behavioural twin, under random inputs, in Verilator."""

import re
import tempfile
from importlib import resources
from pathlib import Path

import pyosys

from coprime.cells.target import Target
from coprime.device.base import InterruptTimeout
from coprime.device.simulated import SimulatedDevice
from coprime.flow.tools import run_yosys
from coprime.package import testbench

MODELS = Path(__file__).parent / "models"
_LIBRARY = {Target.XC7: "+/xilinx/cells_sim.v", Target.ECP5: "+/ecp5/cells_sim.v"}


def xc7_library() -> str:
    """Yosys's simulation models of 7 series cells, with block RAMs that also store."""
    cells = Path(pyosys.__file__).parent / "share" / "xilinx" / "cells_sim.v"
    text = re.sub(r"^module RAMB(18|36)E1 .*?^endmodule", "", cells.read_text(), flags=re.M | re.S)
    return text + (MODELS / "block_ram_xc7.v").read_text()


def our_cells(target: Target) -> str:
    """The models of cells that a package has."""
    return (resources.files(testbench) / f"cells_{target.value}.v").read_text("utf-8")


def ecp5_library() -> str:
    """Yosys's simulation models of ECP5 cells, and our own of the multiplier."""
    folder = Path(pyosys.__file__).parent / "share" / "ecp5"

    def text(name: str) -> str:
        return re.sub(
            r'^`include "(.*)"',
            lambda found: text(found[1]),
            (folder / name).read_text(),
            flags=re.M,
        )

    cells = re.sub(r"^module MULT18X18D\b.*?^endmodule", "", text("cells_sim.v"), flags=re.M | re.S)
    return cells + our_cells(Target.ECP5)


def library(target: Target) -> str:
    """Yosys's simulation models of a target's cells, with our own where it has none that work."""
    if target is Target.XC7:
        return xc7_library()
    if target is Target.ECP5:
        return ecp5_library()
    folder = Path(pyosys.__file__).parent / "share" / target.value
    text = re.sub(
        r'^ *`include "(.*)"',
        lambda found: (folder / found[1]).read_text("utf-8"),
        (folder / "cells_sim.v").read_text("utf-8"),
        flags=re.M,
    )
    ours = MODELS / f"cells_{target.value}.v"
    if ours.exists():
        text += ours.read_text("utf-8") + (MODELS / "block_ram_18k.v").read_text("utf-8")
    # Default values of inputs are for other simulators; each of these inputs is connected.
    return "`define NO_ICE40_DEFAULT_ASSIGNMENTS\n" + text


def without_initial_contents(netlist: str) -> str:
    """Leave out the block RAMs' initial contents: the models start as anything."""
    return re.sub(r"^ *\.INIT(P|VAL|_RAM)?_[0-9A-F]{1,2}\([\d\"].*\n", "", netlist, flags=re.M)


def proved_equal(plain: str, explicit: str, target: Target = Target.XC7) -> bool:
    """Whether modules coprime_plain and coprime_explicit, without registers, are the same.

    A solver decides that for all inputs; the second one may have cells of the target, xc7 or ecp5.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "design.v").write_text(plain + explicit, encoding="utf-8")
        log = run_yosys(
            [
                "read_verilog design.v",
                f"read_verilog -overwrite {_LIBRARY[target]}",
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
    return proved


def first_difference(
    gold: str, gate: str, inputs: dict[str, int], outputs: dict[str, int], *, cycles: int = 200_000
) -> int | None:
    """Cycle in which modules coprime_gold and coprime_gate first differ; None if they do not.

    `inputs` and `outputs` give each port's width. The inputs change at random in every cycle; the
    first cycles, in which the pipelines fill, are not compared.
    """
    generators = -(-sum(inputs.values()) // 64)  # of 64 bits each
    offsets = {name: sum(list(inputs.values())[:k]) for k, name in enumerate(inputs)}
    stimulus = [f".{name}(random[{offsets[name]} +: {width}])" for name, width in inputs.items()]

    def instance(module: str) -> str:
        ports = [".clk(s_axi_aclk)", ".rst(!s_axi_aresetn)", *stimulus]
        ports += [f".{name}({module}_{name})" for name in outputs]
        return f"  coprime_{module} {module} ({', '.join(ports)});"

    wires = [
        f"  wire [{width - 1}:0] {module}_{name};"
        for name, width in outputs.items()
        for module in ("gold", "gate")
    ]
    differ = " || ".join(f"gold_{name} != gate_{name}" for name in outputs)
    top = f"""
module coprime_compare (
  input s_axi_aclk, s_axi_aresetn, s_axi_awvalid, s_axi_wvalid, s_axi_bready, s_axi_arvalid,
  input s_axi_rready, input [11:0] s_axi_awaddr, s_axi_araddr, input [2:0] s_axi_awprot,
  input [2:0] s_axi_arprot, input [31:0] s_axi_wdata, input [3:0] s_axi_wstrb,
  output s_axi_awready, s_axi_wready, s_axi_bvalid, s_axi_arready, s_axi_rvalid,
  output [1:0] s_axi_bresp, s_axi_rresp, output [31:0] s_axi_rdata, output reg irq
);
  reg [{64 * generators - 1}:0] random;
  reg [5:0] filled;
{chr(10).join(wires)}
{instance("gold")}
{instance("gate")}
  integer k;
  reg [63:0] next;
  always @(posedge s_axi_aclk) begin
    for (k = 0; k < {generators}; k = k + 1) begin  // xorshift64, each with a seed of its own
      next = random[64 * k +: 64];
      next = next ^ (next << 13);
      next = next ^ (next >> 7);
      next = next ^ (next << 17);
      random[64 * k +: 64] <= s_axi_aresetn ? next : 64'h9e3779b97f4a7c15 * (k + 1);
    end
    filled <= &filled ? filled : filled + 1;
    irq <= irq | (&filled && ({differ}));
    if (!s_axi_aresetn) begin
      filled <= 0;
      irq <= 0;
    end
  end
endmodule
"""
    with SimulatedDevice(top + gold + gate, "coprime_compare", cycle_limit=cycles) as device:
        start = device.cycles
        try:
            device.wait_interrupt()
        except InterruptTimeout:
            return None
        return device.cycles - start
