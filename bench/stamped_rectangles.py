"""The clock of a cluster's node in rectangles of an LFE5U-85F, by how full they are.

    python -m bench.stamped_rectangles 60,28,9,19 58,23,9,35:2
    python -m bench.stamped_rectangles engine=ring tile=kara95 seeds=1,2,3,4 58,2,18,84

Each rectangle is column, row, width and height, and how many instances it has. `seeds` and the
cluster's parameters come before. Prints a line for each rectangle.
"""

import sys

from coprime.catalog import ClusterChoice, choose
from coprime.cells.target import Target
from coprime.flow.mapping import map_cells
from coprime.flow.parts import measured_verilog
from coprime.flow.stamping.block import packed, place_and_route
from coprime.flow.stamping.chain import NodeChain, instances_in_a_ring
from coprime.flow.stamping.fabric import Fabric, Rectangle
from coprime.flow.stamping.netlist import modules_of
from coprime.flow.stamping.plan import need_of
from coprime.flow.targets import flow_of
from coprime.flow.tool_errors import ToolError

DEVICE = "LFE5U-85F"
TARGET_MHZ = 200.0
_DEFAULTS = {"engine": "fdfm", "max_bits": "2048", "cores": "49", "seeds": "1,2"}


def main(arguments: list[str]) -> None:
    """Place and route with each seed."""
    given = dict(one.split("=", 1) for one in arguments if "=" in one)
    parameters = _DEFAULTS | given
    seeds = [int(seed) for seed in parameters.pop("seeds").split(",")]
    choice = choose("cluster", parameters)
    assert isinstance(choice, ClusterChoice)
    flow = flow_of(Target.ECP5)
    verilog, top, repeated = measured_verilog(choice, "", Target.ECP5)
    _, folder = map_cells(verilog, top, flow.synthesis(top, DEVICE), repeated=repeated)
    modules = modules_of((folder / "netlist.json").read_text("utf-8"))
    chain = NodeChain.of(modules, top, repeated[-1])
    device, fabric = flow.devices[DEVICE], Fabric.of(DEVICE)
    for text in (one for one in arguments if "=" not in one):
        place, _, count = text.partition(":")
        area = Rectangle(*(int(number) for number in place.split(",")))
        part = instances_in_a_ring(chain, int(count or 1))
        used = need_of(packed(part.modules, flow, device))
        filled = 100 * used["TRELLIS_COMB"] / fabric.capacity(area)["TRELLIS_COMB"]
        try:
            block = place_and_route(
                part,
                area,
                flow,
                device,
                fabric,
                seeds=seeds,
                target_mhz=TARGET_MHZ,
                luts=used["TRELLIS_COMB"],
            )
            clocks = ", ".join(f"{seed}: {mhz:.1f} MHz" for seed, mhz in block.mhz_by_seed.items())
        except ToolError as error:
            clocks = str(error)
        needs = ", ".join(f"{count:,} {cell}" for cell, count in used.items() if count)
        print(f"{part.instances} in {area}, {needs}, {filled:.1f} %: {clocks}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
