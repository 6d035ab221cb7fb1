"""The test of leakage on a circuit of which we know what leaks: it finds that, and nothing else.

`leaky` takes bytes of the input as they are; `masked` takes them as two shares, each one of which
is random; `blind` takes random bytes, never the input.
"""

import random

import numpy as np
import pytest
from coprime_evidence.assess.leakage import find_leaks
from coprime_evidence.assess.moments import Moments
from coprime_evidence.assess.places import Place, Places
from coprime_evidence.assess.power import TOTAL, PowerDevice

from coprime.bus import registers

pytestmark = pytest.mark.xdist_group("detection")

CIRCUIT = """
module leaky(input clk, input take, input [7:0] data, output reg [7:0] value);
    initial value = 0;
    always @(posedge clk) value <= take ? data : 0;
endmodule

module masked(input clk, input take, input [7:0] data, input [7:0] mask, output [7:0] value);
    reg [7:0] one = 0, other = 0;
    assign value = one ^ other;
    always @(posedge clk) begin
        one <= take ? mask : 0;
        other <= take ? data ^ mask : 0;
    end
endmodule

module circuit(
    input s_axi_aclk, input s_axi_aresetn,
    input [11:0] s_axi_awaddr, input [2:0] s_axi_awprot, input s_axi_awvalid,
    output s_axi_awready, input [31:0] s_axi_wdata, input [3:0] s_axi_wstrb, input s_axi_wvalid,
    output s_axi_wready, output [1:0] s_axi_bresp, output reg s_axi_bvalid, input s_axi_bready,
    input [11:0] s_axi_araddr, input [2:0] s_axi_arprot, input s_axi_arvalid,
    output s_axi_arready, output [31:0] s_axi_rdata, output [1:0] s_axi_rresp,
    output s_axi_rvalid, input s_axi_rready,
    input [7:0] s_axis_random_tdata, input s_axis_random_tvalid, output s_axis_random_tready,
    output irq
);
    reg [31:0] data = 0;
    reg [4:0] count = 0;
    wire written = s_axi_awvalid & s_axi_wvalid & ~s_axi_bvalid;
    wire running = count != 0 & ~irq;
    assign s_axi_awready = written;
    assign s_axi_wready = written;
    assign {s_axi_bresp, s_axi_rresp, s_axi_rvalid, s_axi_arready} = 0;
    assign s_axis_random_tready = running;
    assign irq = count == 20;
    wire [7:0] values [0:2];
    assign s_axi_rdata = {values[0], values[1], values[2]};
    wire [7:0] data_byte = data >> {count[2:1], 3'b0};
    leaky leaky(s_axi_aclk, running & ~count[0], data_byte, values[0]);
    masked masked(s_axi_aclk, running & ~count[0], data_byte, s_axis_random_tdata, values[1]);
    leaky blind(s_axi_aclk, running & count[0], s_axis_random_tdata, values[2]);
    always @(posedge s_axi_aclk) begin
        s_axi_bvalid <= s_axi_aresetn & (written | s_axi_bvalid & ~s_axi_bready);
        if (written & s_axi_awaddr != COMMAND) data <= s_axi_wdata;
        if (~s_axi_aresetn) count <= 0;
        else if (written & s_axi_awaddr == COMMAND) count <= 1;
        else if (running) count <= count + 1;
    end
endmodule
""".replace("COMMAND", str(registers.COMMAND.address))
TRACES = 3000
SEEDS = range(1, 6)


@pytest.fixture(scope="module")
def device():
    with PowerDevice(CIRCUIT, "circuit") as opened:
        yield opened


def recorded(device, seed):
    """The traces of fixed and of random inputs, in random order, of each sample of a component."""
    generator = random.Random(seed)
    start = device.save()
    groups = {True: [], False: []}
    for _ in range(TRACES):
        fixed = bool(generator.getrandbits(1))
        device.restore(start)
        device.give_random(generator.randbytes(64))
        data = 0x00FF0F01 if fixed else generator.getrandbits(32)
        device.write32(registers.INPUT_WINDOW.address, data)
        device.write32(registers.COMMAND.address, 1)
        groups[fixed].append(device.trace.copy())
    device.restore(start)
    return {fixed: np.stack(traces) for fixed, traces in groups.items()}


def profiles(device, seed):
    """What is found of fixed and random inputs, by order."""
    groups = recorded(device, seed)
    traces = {fixed: samples.reshape(len(samples), -1) for fixed, samples in groups.items()}
    found = {}
    for fixed, samples in traces.items():
        found[fixed] = Moments(traces[True][0])
        found[fixed].add(samples)
    places = Places([("", [Place(0, "all")] * len(device.trace))])
    return {
        order: find_leaks(found[True], found[False], order, device.components, places)
        for order in (1, 2)
    }


def leaking(profile):
    return {one.component for one in profile.findings if one.t > profile.threshold}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_leaks_is_found_and_nothing_else(device, seed):
    found = profiles(device, seed)
    assert leaking(found[1]) == {"leaky", TOTAL}
    assert leaking(found[2]) >= {"leaky", "masked"}
    assert "blind" not in leaking(found[2])
    blind = device.components.index("blind")
    for profile in found.values():
        assert np.abs(profile.t[:, blind]).max() < profile.threshold
        assert np.ptp(profile.t[:, blind]) > 0  # it has been tested


def test_a_finding_names_the_cycle_with_the_largest_t(device):
    profile = profiles(device, 1)[1]
    first = profile.findings[0]
    column = np.abs(profile.t[:, device.components.index(first.component)])
    assert (first.t, first.cycle) == (column.max(), column.argmax())
    assert first.above == (column > profile.threshold).sum() > 0
    assert first.record()["step"] == "all"
