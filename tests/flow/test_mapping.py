import dataclasses

import pytest
from amaranth.hdl import Cat, Const, Instance, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.cells.target import Target
from coprime.flow import routing
from coprime.flow.mapping import map_design
from coprime.flow.routing import route_design
from coprime.flow.targets import FLOWS
from coprime.flow.tool_errors import ToolError


class Counter(wiring.Component):
    def __init__(self, width):
        super().__init__({"enable": In(1), "count": Out(width)})

    def elaborate(self, platform):
        m = Module()
        with m.If(self.enable):
            m.d.sync += self.count.eq(self.count + 1)
        return m


class Ring(wiring.Component):
    """More ports than a package has pins."""

    value: Out(220)
    bit: In(1)

    def elaborate(self, platform):
        m = Module()
        m.d.sync += self.value.eq(Cat(self.bit ^ self.value[-1], self.value))
        return m


class Product(wiring.Component):
    a: In(17)
    b: In(17)
    product: Out(34)

    def elaborate(self, platform):
        m = Module()
        m.d.sync += self.product.eq(self.a * self.b)
        return m


class Ram(wiring.Component):
    """One port reads, one reads and writes; no reader cares about a word while it is written."""

    def __init__(self, width, depth, style):
        self._depth, self._style = depth, style
        address = (depth - 1).bit_length()
        super().__init__(
            {
                "a": In(address),
                "b": In(address),
                "write": In(1),
                "data": In(width),
                "a_data": Out(width),
                "b_data": Out(width),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(
            shape=len(self.data),
            depth=self._depth,
            init=[],
            attrs={"no_rw_check": 1, "ram_style": self._style},
        )
        write = memory.write_port()
        m.d.comb += [
            write.addr.eq(self.b),
            write.data.eq(self.data),
            write.en.eq(self.write),
        ]
        for address, data in ((self.a, self.a_data), (self.b, self.b_data)):
            read = memory.read_port()
            m.d.comb += [read.addr.eq(address), data.eq(read.data)]
        return m


class Multiplier(wiring.Component):
    """A cell placed by name."""

    a: In(2)
    p: Out(2)

    def elaborate(self, platform):
        m = Module()
        waiting = Signal(2)
        m.d.sync += waiting.eq(self.a)
        m.submodules.multiplier = Instance(
            "MULT18X18D",
            p_REG_OUTPUT_CLK="NONE",
            i_A0=waiting[0],
            i_B0=waiting[1],
            i_SIGNEDA=Const(0),
            i_SIGNEDB=Const(0),
            o_P0=self.p[0],
            o_P1=self.p[1],
        )
        return m


class Parts(wiring.Component):
    """Circuits that have nothing to do with each other: Yosys takes seconds for each run."""

    def __init__(self):
        self.parts = {
            "counter": Counter(32),
            "product": Product(),
            "block": Ram(18, 1024, "block"),
            "table": Ram(8, 32, "distributed"),
        }
        super().__init__(
            {
                f"{name}_{port}": member
                for name, part in self.parts.items()
                for port, member in part.signature.members.items()
            }
        )

    def elaborate(self, platform):
        m = Module()
        for name, part in self.parts.items():
            m.submodules[name] = part
            for port, member in part.signature.members.items():
                inner, outer = getattr(part, port), getattr(self, f"{name}_{port}")
                m.d.comb += inner.eq(outer) if member.flow is In else outer.eq(inner)
        return m


@pytest.mark.route
def test_xc7_counter_product_and_memories():
    """Product and block RAM take one cell each; flip-flops are the counter's and the table's."""
    mapped = map_design(Target.XC7, Parts(), "coprime_parts")
    assert (mapped.target, mapped.device) == ("xc7", "AMD 7 series")
    assert (mapped.ff, mapped.carry, mapped.dsp, mapped.bram) == (32 + 16, 8, 1, 0.5)
    assert mapped.cells["RAMB18E1"] == 1
    assert mapped.lutram > 0
    logic = sum(count for cell, count in mapped.cells.items() if cell.startswith(("LUT", "INV")))
    assert logic <= 1  # the counter's
    assert mapped.lut == logic + mapped.lutram
    assert mapped.slices_estimate == 6  # by the flip-flops
    assert "module coprime_parts(" in mapped.netlist
    assert mapped.netlist.count("FDRE ") == 48
    assert set(mapped.tools) == {"amaranth", "yosys"}


@pytest.mark.route
def test_xc7_product():
    mapped = map_design(Target.XC7, Product(), "coprime_product")
    assert (mapped.dsp, mapped.lut, mapped.ff) == (1, 0, 0)


@pytest.mark.route
@pytest.mark.parametrize(
    ("width", "depth", "cell", "bram"),
    [(18, 1024, "RAMB18E1", 0.5), (18, 2048, "RAMB36E1", 1)],
)
def test_xc7_block_ram(width, depth, cell, bram):
    mapped = map_design(Target.XC7, Ram(width, depth, "block"), "coprime_ram")
    assert (mapped.cells[cell], mapped.bram) == (1, bram)
    assert (mapped.lut, mapped.ff) == (0, 0)


@pytest.mark.route
def test_xc7_lut_ram():
    mapped = map_design(Target.XC7, Ram(8, 32, "distributed"), "coprime_ram")
    assert mapped.bram == 0
    assert mapped.lutram > 0
    assert mapped.lut >= mapped.lutram
    assert mapped.ff == 16


def test_ecp5_counter():
    mapped = map_design(Target.ECP5, Counter(32), "coprime_counter")
    assert (mapped.target, mapped.ff, mapped.carry, mapped.dsp) == ("ecp5", 32, 16, 0)
    assert mapped.lut == 2 * 16 + mapped.cells.get("LUT4", 0)


@pytest.mark.route
def test_ecp5_block_ram_without_bypass_logic():
    mapped = map_design(Target.ECP5, Ram(18, 1024, "block"), "coprime_ram")
    assert mapped.cells == {"DP16KD": 1}
    assert mapped.bram == 1


def test_ecp5_instance():
    assert map_design(Target.ECP5, Multiplier(), "coprime_multiplier").cells == {
        "MULT18X18D": 1,
        "TRELLIS_FF": 2,
    }


def test_mapping_of_text():
    text = "module adder(input [3:0] a, b, output [3:0] s); assign s = a & b; endmodule"
    assert map_design(Target.ECP5, text, "adder").lut == 4
    with pytest.raises(ToolError, match="Yosys failed"):
        map_design(Target.ECP5, "module adder(", "adder")


@pytest.mark.route
def test_route():
    routed = route_design(Target.ECP5, Counter(32), "coprime_counter", seeds=(1, 2))
    assert routed.device == "LFE5U-25F-6 CABGA381"
    assert set(routed.fmax_by_seed) == {1, 2}
    assert routed.fmax_mhz == routed.fmax_by_seed[routed.seed] == max(routed.fmax_by_seed.values())
    assert 20 < routed.fmax_mhz < 500
    path = routed.critical_path
    # The carry chain, and not a path to a pin, is the longest, and explains the frequency.
    assert path.start.startswith("dut.count")
    assert path.end.startswith("dut.count")
    assert len(path.nets) > 10
    assert path.logic_ns > 0
    assert path.routing_ns > 0
    assert 1000 / (path.logic_ns + path.routing_ns) == pytest.approx(routed.fmax_mhz, rel=0.01)
    # Inputs enable and rst with a stage more, count twice with a stage more each, count itself.
    assert routed.utilisation["TRELLIS_FF"] == 3 + 33 + 33 + 32
    assert set(routed.tools) == {"amaranth", "yosys", "nextpnr-ecp5"}


@pytest.mark.route
def test_route_with_more_ports_than_pins():
    routed = route_design(Target.ECP5, Ring(), "coprime_ring", seeds=(3,))
    assert routed.seed == 3
    assert routed.fmax_mhz > 100


@pytest.mark.route
def test_route_on_a_larger_device():
    small = route_design(Target.ECP5, Counter(32), "coprime_counter")
    large = route_design(Target.ECP5, Counter(32), "coprime_counter", device="LFE5U-85F")
    assert large.device == "LFE5U-85F-6 CABGA381"
    assert large.utilisation == small.utilisation
    assert large.fmax_mhz != small.fmax_mhz  # placed anew


def test_devices_by_size():
    for flow in FLOWS.values():
        sizes = [(own.luts, own.block_rams, own.dsp_slices) for own in flow.devices.values()]
        assert sizes == sorted(sizes)
    assert FLOWS[Target.ECP5].devices["LFE5U-45F"].title == "LFE5U-45F-6 CABGA381"


MULTIPLIERS = """
module many #(parameter COUNT = 1) (input clk, input a, output reg p);
  reg [COUNT-1:0] bits;
  wire [COUNT-1:0] products;
  genvar i;
  generate for (i = 0; i < COUNT; i = i + 1) begin : row
    MULT18X18D #(.REG_OUTPUT_CLK("NONE")) one (.A0(bits[i]), .B0(a), .P0(products[i]));
  end endgenerate
  always @(posedge clk) bits <= {bits, a};
  always @(posedge clk) p <= ^products;
endmodule
"""
SHIFT_REGISTER = """
module many #(parameter COUNT = 1) (input clk, input a, output p);
  reg [COUNT-1:0] bits;
  always @(posedge clk) bits <= {bits, a};
  assign p = bits[COUNT-1];
endmodule
"""


def many(text, count):
    return text.replace("COUNT = 1", f"COUNT = {count}")


@pytest.mark.parametrize(
    ("text", "device", "sentence"),
    [
        pytest.param(
            *(many(SHIFT_REGISTER, 30_000), "LFE5U-25F"),
            "LFE5U-25F-6 CABGA381: it needs 30,004 flip-flops, and it has 24,288; "
            "the next larger device is LFE5U-45F",
            marks=pytest.mark.route,  # minutes to map
        ),
        (
            *(many(MULTIPLIERS, 29), "LFE5U-25F"),
            "LFE5U-25F-6 CABGA381: it needs 29 DSP slices, and it has 28; "
            "the next larger device is LFE5U-45F",
        ),
        (
            *(many(MULTIPLIERS, 157), "LFE5U-85F"),
            "LFE5U-85F-6 CABGA381: it needs 157 DSP slices, and it has 156; "
            "no larger device is known",
        ),
    ],
)
def test_design_that_does_not_fit(text, device, sentence):
    with pytest.raises(ToolError) as caught:
        route_design(Target.ECP5, text, "many", device=device)
    assert str(caught.value) == f"the design does not fit {sentence}"


@pytest.mark.route
def test_room_that_only_placement_misses(monkeypatch):
    """Counting finds nothing wrong, and nextpnr has no place left."""
    flow = FLOWS[Target.ECP5]
    roomy = dataclasses.replace(flow.devices["LFE5U-25F"], luts=43_000)
    monkeypatch.setitem(flow.devices, "LFE5U-25F", roomy)
    with pytest.raises(ToolError) as caught:
        route_design(Target.ECP5, many(SHIFT_REGISTER, 30_000), "many")
    assert str(caught.value) == (
        "the design does not fit LFE5U-25F-6 CABGA381: it needs more flip-flops than nextpnr finds "
        "room for; the next larger device is LFE5U-45F"
    )


def test_route_refuses():
    adder = "module adder(input a, output b); assign b = a; endmodule"
    with pytest.raises(ValueError, match="at least one seed"):
        route_design(Target.ECP5, adder, "adder", seeds=())
    with pytest.raises(ValueError, match="target_mhz must be above 0, not 0"):
        route_design(Target.ECP5, adder, "adder", target_mhz=0)
    with pytest.raises(ValueError, match="one of LFE5U-25F, LFE5U-45F, LFE5U-85F for ecp5"):
        route_design(Target.ECP5, adder, "adder", device="LFE5U-12F")
    with pytest.raises(ValueError, match="adder must have a clock port named clk or s_axi_aclk"):
        route_design(Target.ECP5, adder, "adder")


def test_a_tool_that_needs_too_long_is_stopped(tmp_path):
    """By processor time, so that a busy machine changes nothing."""
    forever = ("-n", "1", "while True: pass")
    with pytest.raises(ToolError, match="nextpnr was stopped after 1 s of processor time"):
        routing._run("nextpnr", "timeit:main", forever, tmp_path, 1)
    routing._run("nextpnr", "timeit:main", ("-n", "1", "pass"), tmp_path, 60)
