"""A chain that has nothing to do with RSA, stamped from Verilog to its clock."""

from types import SimpleNamespace

import pytest

from coprime.flow.stamping.stamp import _blocked, stamp_design
from coprime.flow.tool_errors import ToolError

NODE = """
module node(input clk, input [2:0] number, input [15:0] packet_in, output [15:0] packet_out);
  reg [15:0] packet;
  reg [31:0] sum;
  reg [15:0] memory [0:255];
  reg [15:0] read;
  wire mine = packet[2:0] == number;
  assign packet_out = mine ? sum[31:16] ^ packet : packet;
  always @(posedge clk) begin
    packet <= packet_in;
    sum <= sum + packet * read;
    read <= memory[packet[7:0]];
    if (mine) memory[sum[7:0]] <= packet;
  end
endmodule
"""

FRONT = """
module front(input clk, input [15:0] data, input [15:0] packet_in,
             output reg [15:0] packet_out, output reg [15:0] result);
  always @(posedge clk) begin
    packet_out <= data + result;
    result <= packet_in;
  end
endmodule
"""


def chain(instances):
    nodes = "\n".join(
        f"  node node_{k}(.clk(clk), .number(3'd{k}), .packet_in(packet_{k}),"
        f" .packet_out(packet_{k + 1}));"
        for k in range(instances)
    )
    packets = ", ".join(f"packet_{k}" for k in range(instances + 1))
    return f"""{NODE}{FRONT}
module chain(input clk, input [15:0] data, output [15:0] result);
  wire [15:0] {packets};
  front front(.clk(clk), .data(data), .packet_in(packet_{instances}), .packet_out(packet_0),
              .result(result));
{nodes}
endmodule
"""


@pytest.mark.route
def test_a_chain_is_stamped_and_is_the_same_netlist():
    # That the composed netlist equals what nextpnr packs of the whole is checked on the way.
    stamped = stamp_design(chain(6), "chain", repeated=("front", "node"), seeds=(1,))
    alone = {name: max(clocks.values()) for name, clocks in stamped.block_mhz.items()}
    assert stamped.device.startswith("LFE5U-25F")
    assert sum(int(name.split()[0]) * n for name, n in stamped.rectangles.items()) == 6
    assert stamped.fmax_mhz == min(*alone.values(), stamped.paths_since_mhz)
    # The tool takes carry chains of the whole for slower than those of the blocks.
    assert stamped.reported_mhz <= stamped.fmax_mhz < 1.2 * stamped.reported_mhz
    assert stamped.routed > stamped.left


def test_seeds_and_devices_are_checked_first():
    with pytest.raises(ValueError, match="at least one seed"):
        stamp_design(chain(2), "chain", repeated=("front", "node"), seeds=())
    with pytest.raises(ValueError, match="LFE5U-99F"):
        stamp_design(chain(2), "chain", repeated=("front", "node"), device="LFE5U-99F")


@pytest.mark.route
def test_one_instance_is_no_chain():
    with pytest.raises(ToolError, match="at least two instances"):
        stamp_design(chain(1), "chain", repeated=("front", "node"))


@pytest.mark.parametrize(
    ("net", "expected"),
    [
        ("dut.node_1.link0_packet_out_8", "C"),
        ("dut.node_0.packet_out_8", "B"),
        ("packet_in_3", "A"),  # of the front end
        ("dut.node_2.packet_out_8", "front end"),
        ("dut.front.packet_2", "front end"),  # inside
    ],
)
def test_the_block_that_a_link_finds_no_way_into(net, expected):
    chain = SimpleNamespace(instances=["dut.node_0", "dut.node_1", "dut.node_2"])
    part = SimpleNamespace(instances=1)
    copies = [SimpleNamespace(block=SimpleNamespace(part=part, name=name)) for name in "ABC"]
    error = f"nextpnr failed:\nERROR: Failed to route arc 0.0 of net '{net}', from x to y."
    front = SimpleNamespace(
        part=SimpleNamespace(outputs={("packet", 3): "packet_in_3"}), name="front end"
    )
    block = _blocked(error, chain, front, copies)
    assert block.name == expected
    assert _blocked("nextpnr failed: no place", chain, front, copies) is None
