import random

import pytest
from amaranth.sim import Simulator

from coprime.cells.block_ram import BlockRam
from coprime.cells.target import Target
from coprime.flow.mapping import map_design
from coprime.flow.verilog import to_verilog
from tests.netlists import first_difference, without_initial_contents, xc7_library


@pytest.mark.parametrize("write_a", [False, True])
def test_behaviour(write_a):
    dut = BlockRam(9, 50, write_a=write_a)
    generator = random.Random(3)

    async def bench(context):
        words = {}
        expected = {"a": None, "b": None}
        for _ in range(3000):
            for port, value in expected.items():
                if value is not None:
                    assert context.get(getattr(dut, f"{port}_data")) == value
            address = {port: generator.randrange(50) for port in "ab"}
            while address["a"] == address["b"]:
                address["a"] = generator.randrange(50)
            written = {}
            for port in "ab":
                context.set(getattr(dut, f"{port}_address"), address[port])
                expected[port] = words.get(address[port])
                if port == "b" or write_a:
                    write, value = generator.randrange(2), generator.randrange(512)
                    context.set(getattr(dut, f"{port}_write"), write)
                    context.set(getattr(dut, f"{port}_write_data"), value)
                    if write:
                        written[address[port]] = value
                        expected[port] = None
            await context.tick()
            words |= written

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()


# Nobody looks at what a port shows after a write to the address that it read.
GUARD = """
module coprime_{name} (input clk, rst, input [10:0] a, b, input write, input [16:0] value,
                       output [16:0] seen_a, seen_b);
  reg collided, written;
  always @(posedge clk) begin
    collided <= write && a == b;
    written <= write;
  end
  reg [10:0] count;  // fills the memory before anything is compared
  reg filled;
  always @(posedge clk)
    if (rst) {{filled, count}} <= 0;
    else if (!filled) {{filled, count}} <= count + 1;
  wire [16:0] a_data, b_data;
  {inner} inner (.clk(clk), .rst(rst), .a_address(a), .a_data(a_data), .b_data(b_data),
    .b_address(filled ? b : count), .b_write(filled ? write : 1'b1), .b_write_data(value));
  assign seen_a = filled && !collided ? a_data : 0;
  assign seen_b = filled && !written ? b_data : 0;
endmodule
"""


@pytest.mark.route
def test_xc7_netlist_agrees_with_twin():
    mapped = map_design(Target.XC7, BlockRam(17, 2048, target=Target.XC7), "coprime_mapped")
    assert (mapped.cells["RAMB36E1"], mapped.bram, mapped.lut, mapped.ff) == (1, 1, 0, 0)
    gold = to_verilog(BlockRam(17, 2048), "coprime_twin")
    gate = without_initial_contents(mapped.netlist) + xc7_library()
    assert (
        first_difference(
            GUARD.format(name="gold", inner="coprime_twin") + gold,
            GUARD.format(name="gate", inner="coprime_mapped") + gate,
            {"a": 11, "b": 11, "write": 1, "value": 17},
            {"seen_a": 17, "seen_b": 17},
        )
        is None
    )


@pytest.mark.route
def test_both_ports_write_on_xc7():
    mapped = map_design(
        Target.XC7, BlockRam(18, 2048, write_a=True, target=Target.XC7), "coprime_mapped"
    )
    assert (mapped.cells["RAMB36E1"], mapped.lut, mapped.ff) == (1, 0, 0)


def test_ecp5_needs_no_logic():
    mapped = map_design(Target.ECP5, BlockRam(17, 1024, target=Target.ECP5), "coprime_mapped")
    assert (mapped.bram, mapped.lut, mapped.ff) == (1, 0, 0)


def test_bad_parameters():
    with pytest.raises(ValueError, match="depth must be at least 1, not 0"):
        BlockRam(8, 0)
    with pytest.raises(TypeError, match=r"width must be an int, not 8\.0"):
        BlockRam(8.0, 16)
    with pytest.raises(ValueError, match="write_a must be False for ecp5"):
        BlockRam(8, 16, write_a=True, target=Target.ECP5)
