import pytest
from amaranth.hdl import Cat, Const, Instance, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.flow.ecp5 import map_ecp5, route_ecp5
from coprime.flow.tools import ToolError
from coprime.flow.xc7 import map_xc7


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


def test_xc7_counter():
    mapped = map_xc7(Counter(32), "coprime_counter")
    assert (mapped.target, mapped.device) == ("xc7", "AMD 7 series")
    assert (mapped.ff, mapped.carry, mapped.dsp, mapped.bram) == (32, 8, 0, 0)
    assert mapped.lut == sum(
        count for cell, count in mapped.cells.items() if cell.startswith(("LUT", "INV"))
    )
    assert mapped.slices_estimate == 4  # by the flip-flops
    assert "module coprime_counter(" in mapped.netlist
    assert mapped.netlist.count("FDRE ") == 32
    assert set(mapped.tools) == {"amaranth", "yosys"}


def test_xc7_product():
    mapped = map_xc7(Product(), "coprime_product")
    assert (mapped.dsp, mapped.lut, mapped.ff) == (1, 0, 0)


@pytest.mark.parametrize(
    ("width", "depth", "ramb18", "ramb36"), [(18, 1024, 1, 0), (18, 2048, 0, 1)]
)
def test_xc7_block_ram(width, depth, ramb18, ramb36):
    mapped = map_xc7(Ram(width, depth, "block"), "coprime_ram")
    assert (mapped.ramb18, mapped.ramb36) == (ramb18, ramb36)
    assert mapped.bram == ramb36 + ramb18 / 2
    assert (mapped.lut, mapped.ff) == (0, 0)


def test_xc7_lut_ram():
    mapped = map_xc7(Ram(8, 32, "distributed"), "coprime_ram")
    assert mapped.bram == 0
    assert mapped.lutram > 0
    assert mapped.lut >= mapped.lutram
    assert mapped.ff == 16


def test_ecp5_counter():
    mapped = map_ecp5(Counter(32), "coprime_counter")
    assert (mapped.target, mapped.ff, mapped.carry, mapped.dsp) == ("ecp5", 32, 16, 0)
    assert mapped.lut == 2 * 16 + mapped.cells.get("LUT4", 0)


def test_ecp5_block_ram_without_bypass_logic():
    mapped = map_ecp5(Ram(18, 1024, "block"), "coprime_ram")
    assert mapped.cells == {"DP16KD": 1}
    assert mapped.bram == 1


def test_ecp5_instance():
    assert map_ecp5(Multiplier(), "coprime_multiplier").cells == {"MULT18X18D": 1, "TRELLIS_FF": 2}


def test_mapping_of_text():
    text = "module adder(input [3:0] a, b, output [3:0] s); assign s = a & b; endmodule"
    assert map_xc7(text, "adder").lut == 4
    assert map_ecp5(text, "adder").lut == 4
    with pytest.raises(ToolError, match="Yosys failed"):
        map_xc7("module adder(", "adder")


def test_route():
    routed = route_ecp5(Counter(32), "coprime_counter", seeds=(1, 2))
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


def test_route_with_more_ports_than_pins():
    routed = route_ecp5(Ring(), "coprime_ring", seeds=(3,))
    assert routed.seed == 3
    assert routed.fmax_mhz > 100


def test_route_refuses():
    adder = "module adder(input a, output b); assign b = a; endmodule"
    with pytest.raises(ValueError, match="at least one seed"):
        route_ecp5(adder, "adder", seeds=())
    with pytest.raises(ValueError, match="target_mhz must be above 0, not 0"):
        route_ecp5(adder, "adder", target_mhz=0)
    with pytest.raises(ValueError, match="adder must have a clock port named clk or s_axi_aclk"):
        route_ecp5(adder, "adder")
