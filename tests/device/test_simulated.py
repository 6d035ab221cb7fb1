import ctypes
import ctypes.util
import re
import shutil
import subprocess

import pytest
from amaranth.hdl import Array, ClockDomain, ClockSignal, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.device.base import BusError, BusTimeout, DeviceError, InterruptTimeout
from coprime.device.simulated import SimulatedDevice
from coprime.flow.simulation import Chain
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import find_compiler
from coprime.flow.verilog import to_verilog

TIMER = 16
SILENT = 20
REFUSED = 24


class RegisterFile(wiring.Component):
    """Registers at 0 to 12; at 16 a timer that requests an interrupt when it has counted down to 0;
    20 never answers; the rest answers SLVERR. Write data is taken some cycles after its address."""

    s_axi_aclk: In(1)
    s_axi_aresetn: In(1)
    s_axi_awaddr: In(12)
    s_axi_awprot: In(3)
    s_axi_awvalid: In(1)
    s_axi_awready: Out(1)
    s_axi_wdata: In(32)
    s_axi_wstrb: In(4)
    s_axi_wvalid: In(1)
    s_axi_wready: Out(1)
    s_axi_bresp: Out(2)
    s_axi_bvalid: Out(1)
    s_axi_bready: In(1)
    s_axi_araddr: In(12)
    s_axi_arprot: In(3)
    s_axi_arvalid: In(1)
    s_axi_arready: Out(1)
    s_axi_rdata: Out(32)
    s_axi_rresp: Out(2)
    s_axi_rvalid: Out(1)
    s_axi_rready: In(1)
    irq: Out(1)

    def elaborate(self, platform):
        m = Module()
        m.domains.sync = ClockDomain()
        m.d.comb += [
            ClockSignal().eq(self.s_axi_aclk),
            ResetSignal().eq(~self.s_axi_aresetn),
        ]
        words = Array(Signal(32, name=f"word{i}") for i in range(4))
        timer = Signal(32)
        armed = Signal()
        m.d.comb += self.irq.eq(armed & (timer == 0))
        with m.If(timer != 0):
            m.d.sync += timer.eq(timer - 1)

        address = Signal(12)
        with m.FSM():
            with m.State("ADDRESS"):
                m.d.comb += self.s_axi_awready.eq(1)
                m.d.sync += address.eq(self.s_axi_awaddr)
                with m.If(self.s_axi_awvalid):
                    m.next = "WAIT"
            with m.State("WAIT"):
                m.next = "DATA"
            with m.State("DATA"):
                m.d.comb += self.s_axi_wready.eq(1)
                with m.If(self.s_axi_wvalid & self.s_axi_wstrb.all()):
                    m.next = "ANSWER"
                    m.d.sync += self.s_axi_bresp.eq(0)
                    with m.If(address < TIMER):
                        m.d.sync += words[address[2:4]].eq(self.s_axi_wdata)
                    with m.Elif(address == TIMER):
                        m.d.sync += [timer.eq(self.s_axi_wdata), armed.eq(1)]
                    with m.Elif(address == SILENT):
                        m.next = "ADDRESS"
                    with m.Else():
                        m.d.sync += self.s_axi_bresp.eq(2)
            with m.State("ANSWER"):
                m.d.comb += self.s_axi_bvalid.eq(1)
                with m.If(self.s_axi_bready):
                    m.next = "ADDRESS"

        m.d.comb += self.s_axi_arready.eq(~self.s_axi_rvalid)
        with m.If(self.s_axi_rready):
            m.d.sync += self.s_axi_rvalid.eq(0)
        with m.If(self.s_axi_arvalid & self.s_axi_arready):
            m.d.sync += [self.s_axi_rvalid.eq(self.s_axi_araddr != SILENT), self.s_axi_rresp.eq(0)]
            with m.If(self.s_axi_araddr < TIMER):
                m.d.sync += self.s_axi_rdata.eq(words[self.s_axi_araddr[2:4]])
            with m.Elif(self.s_axi_araddr == TIMER):
                m.d.sync += self.s_axi_rdata.eq(timer)
            with m.Else():
                m.d.sync += self.s_axi_rresp.eq(3)
        return m


AXI_PORTS = """
  input s_axi_aclk, input s_axi_aresetn,
  input [11:0] s_axi_awaddr, input [2:0] s_axi_awprot, input s_axi_awvalid, output s_axi_awready,
  input [31:0] s_axi_wdata, input [3:0] s_axi_wstrb, input s_axi_wvalid, output s_axi_wready,
  output [1:0] s_axi_bresp, output s_axi_bvalid, input s_axi_bready,
  input [11:0] s_axi_araddr, input [2:0] s_axi_arprot, input s_axi_arvalid, output s_axi_arready,
  output [31:0] s_axi_rdata, output [1:0] s_axi_rresp, output s_axi_rvalid, input s_axi_rready,
  output irq"""

# A packet of P bits is {valid, number of a node (9 bits), data}. The node that it is for adds its
# number and the cycles since its own reset, which the chain brings one cycle later to each node.
# Where OUT is "late", what leaves comes from a register that follows on the falling edge: then the
# same values arrive, but every edge must be simulated.
NODE = """
module node(
  input clk, input [8:0] number,
  input reset_in, output reg reset_out, input [P-1:0] packet_in, output [P-1:0] packet_out
);
  localparam P = WIDTH;
  reg [P-1:0] held = 0;
  reg [P-11:0] age = 99;
  wire mine = held[P-1] & (held[P-2:P-10] == number);
  always @(posedge clk) begin
    reset_out <= reset_in;
    held <= packet_in;
    age <= reset_in ? 0 : age + 1;
  end
  wire [P-11:0] sum = held[P-11:0] + (mine ? number + age : 0);
  wire [P-1:0] early = {held[P-1:P-10], sum};
  reg [P-1:0] late = 0;
  always @(negedge clk) late <= early;
  assign packet_out = OUT;
endmodule
"""
# Each write is a packet to the node in its address's bits 10 to 2, with all words of data equal.
# Packets without the valid bit go around all the time, and no node may change them.
# Reads give words 0 to 3 of the last packet that came back, then in which cycle it was sent, in
# which it came back, how many came, and a sum over all that ever stood at packet_in: at the rising
# edge in its lower half, at the falling edge in its upper half. Reading the last ends irq.
FRONT_END = """
module front_end(AXI_PORTS,
  output reg reset_out, output [P-1:0] packet_out, input [P-1:0] packet_in
);
  localparam P = WIDTH;
  wire clk = s_axi_aclk;
  reg [31:0] ticks = 0, sent = 0, came = 0, count = 0;
  reg [15:0] rising = 0, falling = 0;
  reg [P-1:0] early = 0, late = 0, got = 0, last = 0, caught = 0;
  wire [127:0] wide = last, folded = got, folded_late = caught;
  reg pending = 0, answer = 0, valid = 0;
  reg [31:0] value = 0;
  wire write = s_axi_awvalid & s_axi_wvalid & ~answer;
  wire read = s_axi_arvalid & ~valid;
  assign {s_axi_awready, s_axi_wready, s_axi_bvalid, s_axi_bresp} = {write, write, answer, 2'd0};
  assign {s_axi_arready, s_axi_rvalid, s_axi_rresp, s_axi_rdata} = {read, valid, 2'd0, value};
  assign irq = pending;
  always @(posedge clk) begin
    reset_out <= ~s_axi_aresetn;
    ticks <= s_axi_aresetn ? ticks + 1 : 0;
    if (write) answer <= 1; else if (s_axi_bready) answer <= 0;
    if (read) valid <= 1; else if (s_axi_rready) valid <= 0;
    early <= write ? {1'b1, s_axi_awaddr[10:2], {P{1'b0}}} >> 10 | data : ticks[6:0];
    if (write) sent <= ticks;
    got <= packet_in;
    rising <= {rising[14:0], rising[15]} ^ folded[15:0] ^ folded[31:16] ^ folded[47:32]
      ^ folded[63:48] ^ folded[79:64] ^ folded[95:80] ^ folded[111:96];
    if (got[P-1]) begin
      last <= got;
      came <= ticks;
      count <= count + 1;
      pending <= 1;
    end else if (read & s_axi_araddr == 28) pending <= 0;
    case (s_axi_araddr[4:2])
      0, 1, 2, 3: value <= wide[32 * s_axi_araddr[3:2] +: 32];
      4: value <= sent;
      5: value <= came;
      6: value <= count;
      7: value <= {falling, rising};
    endcase
  end
  wire [P-11:0] data = {4{s_axi_wdata}};
  always @(negedge clk) late <= early;
  assign packet_out = OUT;
  EXTRA
endmodule
"""
# Kept out where all must happen on the rising edge.
FALLING_SUM = """
  always @(negedge clk) begin
    caught <= packet_in;
    falling <= {falling[14:0], falling[15]} ^ folded_late[15:0] ^ folded_late[31:16];
  end
"""


def chain_verilog(width, *, late_front_end=False, late_node=False):
    """Front end and node; each on the falling edge too if `late`."""
    front_end = (
        FRONT_END.replace("AXI_PORTS", AXI_PORTS)
        .replace("OUT", "late" if late_front_end else "early")
        .replace("EXTRA", FALLING_SUM if late_front_end else "")
    )
    node = NODE.replace("OUT", "late" if late_node else "early")
    return (front_end + node).replace("[P-1", f"[{width}-1").replace("WIDTH", str(width))


def whole_verilog(width, length):
    """The module that a chain stands for."""
    ports = re.findall(r"\b(?:s_axi_\w+|irq)\b", AXI_PORTS)
    instances = [
        f"node node_{n}(.clk(s_axi_aclk), .number({n}), .reset_in(reset[{n}]),"
        f" .reset_out(reset[{n + 1}]), .packet_in(packet_{n}), .packet_out(packet_{n + 1}));"
        for n in range(length)
    ]
    return "\n".join(
        [
            f"module whole({AXI_PORTS});",
            f"wire [{length}:0] reset;",
            *(f"wire [{width - 1}:0] packet_{n};" for n in range(length + 1)),
            f"front_end front_end({', '.join(f'.{port}({port})' for port in ports)},",
            f".reset_out(reset[0]), .packet_out(packet_0), .packet_in(packet_{length}));",
            *instances,
            "endmodule",
        ]
    )


@pytest.fixture(scope="module")
def verilog():
    return to_verilog(RegisterFile(), "coprime_register_file")


@pytest.fixture
def device(verilog):
    with SimulatedDevice(
        verilog, "coprime_register_file", cycle_limit=3_000_000, access_limit=50
    ) as device:
        yield device


def test_registers(device):
    values = (0x01234567, 0xFFFFFFFF, 0, 0x80000001)
    for i, value in enumerate(values):
        device.write32(4 * i, value)
    assert [device.read32(4 * i) for i in range(4)] == list(values)
    device.reset()
    assert [device.read32(4 * i) for i in range(4)] == [0] * 4


def test_cycles_of_accesses(device):
    before = device.cycles
    device.read32(0)
    assert device.cycles == before + 2  # address, answer
    device.write32(0, 1)
    assert device.cycles == before + 2 + 4  # address, wait, data, answer
    device.run(12345)
    assert device.cycles == before + 6 + 12345


def test_timer_and_cycles_agree(device):
    """A register that counts clock cycles and the device's count never differ."""
    device.write32(TIMER, 1_000_000)
    start = device.cycles
    for run in (0, 1, 2, 1000):
        device.run(run)
        passed = device.cycles - start
        # One cycle is the answer's, in which the timer had its value; one the read's address.
        assert device.read32(TIMER) == 1_000_000 - 1 - passed


@pytest.mark.parametrize("count", [0, 1, 2, 10, 2_500_000])  # the last in several pieces
def test_interrupt(device, count):
    device.write32(TIMER, count)
    before = device.cycles
    device.wait_interrupt()
    assert device.cycles == before + max(0, count - 1)
    device.wait_interrupt()  # still active: no time passes
    assert device.cycles == before + max(0, count - 1)


def test_interrupt_limit(device):
    before = device.cycles
    with pytest.raises(InterruptTimeout, match="no interrupt came in 3000000 clock cycles"):
        device.wait_interrupt()
    assert device.cycles == before + 3_000_000
    device.write32(TIMER, 10)  # and the device goes on
    device.wait_interrupt()
    assert device.cycles == before + 3_000_000 + 4 + 9


def test_refused_accesses(device):
    with pytest.raises(BusError, match="reading address 0x018 was refused") as read:
        device.read32(REFUSED)
    assert (read.value.address, read.value.write) == (REFUSED, False)
    with pytest.raises(BusError, match="writing to address 0x018 was refused") as write:
        device.write32(REFUSED, 1)
    assert (write.value.address, write.value.write) == (REFUSED, True)


def test_unanswered_accesses(device):
    before = device.cycles
    with pytest.raises(BusTimeout, match="reading address 0x014 was not answered"):
        device.read32(SILENT)
    with pytest.raises(BusTimeout, match="writing to address 0x014 was not answered"):
        device.write32(SILENT, 1)
    assert device.cycles == before + 2 * 50
    device.write32(4, 7)
    assert device.read32(4) == 7


def test_two_devices_are_separate(device, verilog):
    with SimulatedDevice(verilog, "coprime_register_file") as other:
        device.write32(0, 1)
        other.write32(0, 2)
        assert (device.read32(0), other.read32(0)) == (1, 2)


def test_arguments(device, verilog):
    with pytest.raises(ValueError, match="cycles must be at least 0, not -1"):
        device.run(-1)
    with pytest.raises(TypeError, match=r"cycles must be an int, not 1\.0"):
        device.run(1.0)
    with pytest.raises(ValueError, match=r"multiple of 4 in 0\.\.4092, not 3"):
        device.read32(3)
    with pytest.raises(ValueError, match=r"value must be in 0..2\*\*32 - 1, not -1"):
        device.write32(0, -1)
    for name in ("cycle_limit", "access_limit"):
        with pytest.raises(ValueError, match=f"{name} must be in 1..2\\*\\*64 - 1, not 0"):
            SimulatedDevice(verilog, "coprime_register_file", **{name: 0})
        with pytest.raises(TypeError, match=f"{name} must be an int, not '1'"):
            SimulatedDevice(verilog, "coprime_register_file", **{name: "1"})


def test_closed(device):
    device.close()
    device.close()
    for use in (lambda: device.read32(0), device.reset, device.wait_interrupt):
        with pytest.raises(DeviceError, match="the simulated device is closed"):
            use()


def test_verilog_with_an_error():
    with pytest.raises(ToolError, match=r"(?s)Verilator failed.*syntax error"):
        SimulatedDevice("module broken(", "broken")


def has_lz4():
    command = [*find_compiler().command, "-x", "c++", "-fsyntax-only", "-"]
    text = b"#include <lz4.h>\n#include <zlib.h>\n"
    return not subprocess.run(command, input=text, capture_output=True).returncode


@pytest.mark.matrix
def test_trace(verilog, tmp_path):
    path = tmp_path / "waves.fst"
    if not has_lz4():
        with pytest.raises(ToolError, match="apt-get install liblz4-dev"):
            SimulatedDevice(verilog, "coprime_register_file", trace=path)
        return
    with SimulatedDevice(verilog, "coprime_register_file", trace=path) as device:
        device.write32(TIMER, 100)
        device.wait_interrupt()
        traced = device.cycles
    assert path.stat().st_size > 500
    if viewer := shutil.which("fst2vcd"):
        waves = subprocess.run([viewer, path], capture_output=True, text=True, check=True).stdout
        assert "word3" in waves
    with SimulatedDevice(verilog, "coprime_register_file") as device:
        device.write32(TIMER, 100)
        device.wait_interrupt()
        assert device.cycles == traced  # the faster way of ticking changes nothing


LATE = [
    pytest.param(17, False, False, id="17 bits", marks=pytest.mark.matrix),
    pytest.param(40, False, False, id="40 bits"),
    pytest.param(100, False, False, id="100 bits", marks=pytest.mark.matrix),
    pytest.param(40, False, True, id="falling edge in the nodes", marks=pytest.mark.matrix),
    pytest.param(100, True, False, id="falling edge in the front end"),
    pytest.param(17, True, True, id="falling edge in both", marks=pytest.mark.matrix),
]


def exchange(device, width, length):
    """Send packets through a chain and check what returns; give all that could be seen."""
    seen = []

    def see():
        seen.append((*(device.read32(4 * i) for i in range(8)), device.cycles))

    data_mask = (1 << width - 10) - 1
    words = sum(1 << 32 * i for i in range(4))
    see()
    for number in sorted({0, length // 2, length - 1, length}):  # the last is not there
        for value in (0, 0xFFFFFFFF, 0x89ABCDEF):
            device.write32(4 * number, value)
            before = device.cycles
            device.wait_interrupt()
            assert device.cycles == before + length + 1
            see()
            first, second, third, fourth, sent, came, *_ = seen[-1]
            added = number + sent + 1 if number < length else 0
            data = (value * words & data_mask) + added & data_mask
            packet = (1 << 9 | number) << width - 10 | data
            assert first | second << 32 | third << 64 | fourth << 96 == packet
            assert came == sent + length + 2
    device.run(length + 5)
    see()
    # Two packets behind each other, and a reset that overtakes nothing.
    device.write32(0, 1)
    device.write32(0, 2)
    device.run(length // 2)
    device.reset()
    see()
    device.run(2 * length)
    see()
    return seen


LIMITS = {"cycle_limit": 10_000, "access_limit": 9}


@pytest.mark.parametrize(("width", "late_front_end", "late_node"), LATE)
@pytest.mark.matrix
def test_chain_is_the_whole_module(width, late_front_end, late_node):
    parts = chain_verilog(width, late_front_end=late_front_end, late_node=late_node)
    for length in (1, 5) if late_front_end or late_node else (1, 2, 5):
        with SimulatedDevice(parts, Chain("front_end", "node", length), **LIMITS) as device:
            seen = exchange(device, width, length)
        whole = parts + whole_verilog(width, length)
        with SimulatedDevice(whole, "whole", **LIMITS) as device:
            assert exchange(device, width, length) == seen


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize(("width", "late_front_end", "late_node"), LATE)
def test_long_chain(width, late_front_end, late_node):
    parts = chain_verilog(width, late_front_end=late_front_end, late_node=late_node)
    with SimulatedDevice(parts, Chain("front_end", "node", 300), **LIMITS) as device:
        exchange(device, width, 300)


def test_chains_are_separate():
    """Two chains of one library, of different lengths."""
    parts = chain_verilog(40)
    with (
        SimulatedDevice(parts, Chain("front_end", "node", 2)) as one,
        SimulatedDevice(parts, Chain("front_end", "node", 5)) as other,
    ):
        assert exchange(one, 40, 2) != exchange(other, 40, 5)
        one.reset()
        exchange(one, 40, 2)


def test_waiting_for_a_chain_is_told_in_smaller_pieces():
    chain = Chain("front_end", "node", 300)
    with SimulatedDevice(chain_verilog(40), chain, cycle_limit=10_000) as device:
        pieces = []
        device.progress = pieces.append
        with pytest.raises(InterruptTimeout, match="no interrupt came in 10000 clock cycles"):
            device.wait_interrupt()
        assert pieces == [2**20 // 301] * 2 + [10_000 - 2 * (2**20 // 301)]
        device.write32(4, 1)
        device.wait_interrupt()
        assert device.read32(24) == 1


def test_length_of_a_chain():
    with pytest.raises(ValueError, match=r"length must be in 1..2\*\*64 - 1, not 0"):
        Chain("front_end", "node", 0)
    with pytest.raises(TypeError, match=r"length must be an int, not 1\.0"):
        Chain("front_end", "node", 1.0)
    with SimulatedDevice(chain_verilog(17), Chain("front_end", "node", 512)) as device:
        device.write32(4 * 511, 0)
        device.wait_interrupt()
        assert device.read32(0) == (1 << 9 | 511) << 7 | (511 + device.read32(16) + 1) % 128
    with pytest.raises(ValueError, match="number of a node is too narrow for a chain of 513"):
        SimulatedDevice(chain_verilog(17), Chain("front_end", "node", 513))


@pytest.mark.matrix
def test_trace_of_a_chain(tmp_path):
    if not has_lz4():
        pytest.skip(
            "waveforms need lz4.h and zlib.h (on Debian: apt-get install liblz4-dev zlib1g-dev)"
        )
    parts = chain_verilog(40)
    path = tmp_path / "waves.fst"
    chain = Chain("front_end", "node", 3)
    with SimulatedDevice(parts, chain, trace=path) as device:
        traced = exchange(device, 40, 3)
    with SimulatedDevice(parts, chain) as device:
        assert exchange(device, 40, 3) == traced  # the faster way of ticking changes nothing
    # A model has a scope of its name, and in it one of the module.
    scopes = re.findall(rb"\xfe\x00(\w+)\x00", hierarchy(path))
    assert scopes == [b"TOP", b"front_end", *(b"node_0 node node_1 node node_2 node".split())]


def hierarchy(path):
    """The names in an FST file: its block of type 6, {type, size, size of the content, lz4}."""
    waves = path.read_bytes()
    start = 0
    while waves[start] != 6:
        start += 1 + int.from_bytes(waves[start + 1 : start + 9])
    size, content = (int.from_bytes(waves[start + n : start + n + 8]) for n in (1, 9))
    names = ctypes.create_string_buffer(content)
    lz4 = ctypes.CDLL(ctypes.util.find_library("lz4"))
    packed = waves[start + 17 : start + 1 + size]
    assert lz4.LZ4_decompress_safe(packed, names, len(packed), content) == content
    return names.raw
