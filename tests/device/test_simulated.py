import shutil
import subprocess

import pytest
from amaranth.hdl import Array, ClockDomain, ClockSignal, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.device.base import BusError, BusTimeout, DeviceError, InterruptTimeout
from coprime.device.simulated import SimulatedDevice
from coprime.flow.tools import ToolError, find_compiler
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
