"""The clock of a cluster's node in rectangles of an LFE5U-85F, by how full they are.

    python -m bench.stamped_rectangles 60,28,9,19 58,23,9,35:2

Each is column, row, width and height, and how many instances it has. Prints a line for each.
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
from coprime.flow.tools import ToolError

DEVICE = "LFE5U-85F"
TARGET_MHZ = 200.0


def main(areas: list[str]) -> None:
    """Place and route two seeds for each."""
    choice = choose("cluster", {"engine": "fdfm", "max_bits": "2048", "cores": "49"})
    assert isinstance(choice, ClusterChoice)
    flow = flow_of(Target.ECP5)
    verilog, top, repeated = measured_verilog(choice, "", Target.ECP5)
    _, folder = map_cells(verilog, top, flow.synthesis(top, DEVICE), repeated=repeated)
    modules = modules_of((folder / "netlist.json").read_text("utf-8"))
    chain = NodeChain.of(modules, top, repeated[-1])
    device, fabric = flow.devices[DEVICE], Fabric.of(DEVICE)
    for text in areas:
        place, _, count = text.partition(":")
        area = Rectangle(*(int(number) for number in place.split(",")))
        part = instances_in_a_ring(chain, int(count or 1))
        used = need_of(packed(part.modules, flow, device))["TRELLIS_COMB"]
        filled = 100 * used / fabric.capacity(area)["TRELLIS_COMB"]
        try:
            block = place_and_route(
                part, area, flow, device, fabric, seeds=(1, 2), target_mhz=TARGET_MHZ
            )
            clocks = ", ".join(f"{mhz:.1f} MHz" for mhz in block.mhz_by_seed.values())
        except ToolError as error:
            clocks = str(error)
        print(f"{part.instances} in {area}, {used} LUTs, {filled:.1f} %: {clocks}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
