import pytest
from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.catalog import family_named
from coprime.flow.parts import part_verilog
from coprime.flow.tool_errors import ToolError
from coprime.flow.unit_gate import ADDERS, UnitGate, estimate

# Written gate by gate, so that there is nothing to choose.
HAND_COUNTED = """
module half_adder(input a, b, output s, c);
  assign s = a ^ b, c = a & b;
endmodule
module full_adder(input a, b, c, output s, d);
  assign s = a ^ b ^ c, d = a & b | c & (a ^ b);
endmodule
module ripple_adder(input [3:0] a, b, input c, output [3:0] s, output d);
  wire [4:0] carry;
  assign carry[0] = c, d = carry[4];
  genvar k;
  generate for (k = 0; k < 4; k = k + 1)
    full_adder bits(a[k], b[k], carry[k], s[k], carry[k + 1]);
  endgenerate
endmodule
module multiplexer(input a, b, s, output y);
  assign y = s ? a : b;
endmodule
module inverters(input [7:0] a, output [7:0] y);
  assign y = ~a;
endmodule
module wires(input [7:0] a, output [7:0] y);
  assign y = {a[3:0], a[7:4]};
endmodule
"""


def counts(gates):
    return gates.area, gates.delay, gates.flip_flops, gates.memory_bits


@pytest.mark.parametrize(
    ("top", "area", "delay"),
    [
        ("half_adder", 2 + 1, 2),
        ("full_adder", 2 * 2 + 3 * 1, 2 + 2),
        # The carry needs xor, and, or in the first adder, and then and, or in each.
        ("ripple_adder", 4 * 7, 4 + 3 * 2),
        ("multiplexer", 3, 2),
        ("inverters", 0, 0),
        ("wires", 0, 0),
    ],
)
def test_hand_counts(top, area, delay):
    assert counts(estimate(HAND_COUNTED, top)) == (area, delay, 0, 0)


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("width", [8, 16, 32])
def test_prefix_adders_have_the_literatures_delay(width):
    """Zimmermann: 2 log n + 3 with the fewest levels; 4 log n for Brent and Kung's."""
    text = f"module adder(input [{width - 1}:0] a, b, output [{width - 1}:0] s);"
    text += " assign s = a + b; endmodule"
    levels = width.bit_length() - 1
    found = {adder: estimate(text, "adder", adder=adder) for adder in ADDERS}
    assert found["kogge-stone"].delay == 2 * levels + 3
    assert 2 * levels + 3 <= found["sklansky"].delay <= found["brent-kung"].delay <= 4 * levels
    assert found["brent-kung"].area < found["sklansky"].area < found["kogge-stone"].area


def test_product_is_and_gates_and_full_adders():
    """An array of n^2 AND gates, and a tree of n (n - 2) full adders, before the last addition."""
    text = "module product(input [7:0] a, b, output [15:0] p); assign p = a * b; endmodule"
    gates = estimate(text, "product")
    assert 8 * 8 + 7 * 8 * 6 <= gates.area <= 1.5 * (8 * 8 + 7 * 8 * 6)


class Register(wiring.Component):
    """Loads with an enable: a multiplexer and an AND gate for the reset before each flip-flop."""

    data: In(8)
    enable: In(1)
    value: Out(8)

    def elaborate(self, platform):
        m = Module()
        m.d.sync += self.value.eq(Mux(self.enable, self.data, self.value))
        return m


class Store(wiring.Component):
    address: In(4)
    write: In(1)
    data: In(8)
    value: Out(8)

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=8, depth=16, init=[])
        port, read = memory.write_port(), memory.read_port(domain="comb")
        m.d.comb += [
            port.addr.eq(self.address),
            port.data.eq(self.data),
            port.en.eq(self.write),
            read.addr.eq(self.address),
            self.value.eq(~read.data ^ self.data),
        ]
        return m


def test_flip_flops_are_apart_and_their_enable_is_gates():
    assert counts(estimate(Register(), "coprime_register")) == (8 * (3 + 1), 3, 8, 0)


def test_memory_is_bits():
    """What follows a memory's output counts; the memory itself is no gates."""
    assert counts(estimate(Store(), "coprime_store")) == (8 * 2, 2, 0, 16 * 8)


def test_memory_that_is_only_read_is_gates():
    text = """module table(input [2:0] a, output reg y);
      always @* case (a) 1, 2, 4, 7: y = 1; default: y = 0; endcase
    endmodule"""
    assert counts(estimate(text, "table")) == (4, 4, 0, 0)  # the parity of a


@pytest.mark.route
def test_engine():
    gates = estimate(*part_verilog(family_named("fdfm").choose({}), "engine"))
    assert gates.memory_bits == 2048 * 17
    assert 17 * 17 < gates.area < 10_000
    assert 10 < gates.delay < 100
    assert 400 < gates.flip_flops < 700
    assert set(gates.tools) == {"amaranth", "yosys"}


def test_same_every_time(monkeypatch, tmp_path):
    text = HAND_COUNTED + "// without a cached result"
    first = estimate(text, "ripple_adder")
    monkeypatch.setenv("COPRIME_CACHE", str(tmp_path))
    assert estimate(text, "ripple_adder") == first
    assert isinstance(first, UnitGate)


def test_refuses():
    with pytest.raises(ValueError, match=r"adder must be one of brent-kung, .*, not 'ripple'"):
        estimate(HAND_COUNTED, "full_adder", adder="ripple")
    latch = "module latch(input e, d, output reg q); always @* if (e) q = d; endmodule"
    with pytest.raises(ValueError, match=r"the unit-gate model knows no \$_DLATCH_P_"):
        estimate(latch, "latch")
    with pytest.raises(ToolError, match="DSP48E1"):
        estimate("module slice(input a); DSP48E1 cell(.A(a)); endmodule", "slice")
