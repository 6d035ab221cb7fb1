import re

import pytest
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.axi_accelerator import AxiAccelerator
from coprime.bus.kinds import Bus
from coprime.flow.verilog import to_verilog

PORTS = {
    "s_axi_aclk": (In, 1),
    "s_axi_aresetn": (In, 1),
    "s_axi_awaddr": (In, 12),
    "s_axi_awprot": (In, 3),
    "s_axi_awvalid": (In, 1),
    "s_axi_awready": (Out, 1),
    "s_axi_wdata": (In, 32),
    "s_axi_wstrb": (In, 4),
    "s_axi_wvalid": (In, 1),
    "s_axi_wready": (Out, 1),
    "s_axi_bresp": (Out, 2),
    "s_axi_bvalid": (Out, 1),
    "s_axi_bready": (In, 1),
    "s_axi_araddr": (In, 12),
    "s_axi_arprot": (In, 3),
    "s_axi_arvalid": (In, 1),
    "s_axi_arready": (Out, 1),
    "s_axi_rdata": (Out, 32),
    "s_axi_rresp": (Out, 2),
    "s_axi_rvalid": (Out, 1),
    "s_axi_rready": (In, 1),
    "irq": (Out, 1),
}
BURST_PORTS = {
    f"s_axi_{channel}{name}": (way, width)
    for channels, name, way, width in (
        (("aw", "ar"), "id", In, 4),
        (("aw", "ar"), "len", In, 8),
        (("aw", "ar"), "size", In, 3),
        (("aw", "ar"), "burst", In, 2),
        (("w",), "last", In, 1),
        (("b", "r"), "id", Out, 4),
        (("r",), "last", Out, 1),
    )
    for channel in channels
}


@pytest.mark.parametrize("bus", list(Bus), ids=lambda bus: bus.value)
@pytest.mark.parametrize(
    ("width", "aligned"),
    [
        *((17, False), (64, True)),
        *(pytest.param(*one, marks=pytest.mark.matrix) for one in ((1, False), (64, False))),
    ],
)
def test_ports_of_the_exported_module(mock_engine, width, aligned, bus):
    engine = mock_engine(width, headroom=0 if aligned else 2, aligned=aligned)
    verilog = to_verilog(AxiAccelerator(engine, bus), "coprime_mock")
    top = verilog[verilog.index("module coprime_mock (") :]
    top = top[: top.index("endmodule")]
    found = {
        name: (In if way == "input" else Out, int(high or 0) + 1)
        for way, high, name in re.findall(
            r"^\s*(input|output) +(?:wire|reg) +(?:\[(\d+):0\] )?(\w+)", top, re.MULTILINE
        )
    }
    assert found == PORTS | (BURST_PORTS if bus is Bus.AXI4 else {})


def test_not_an_engine(mock_engine, rejects):
    class Other(wiring.Component):
        start: In(1)
        capabilities = None

    rejects(
        lambda: AxiAccelerator(Other()), TypeError, "engine must have capabilities, and .* has not"
    )
    Other.capabilities = mock_engine(17).capabilities
    rejects(lambda: AxiAccelerator(Other()), TypeError, "must have the ports of EngineSignature")


def test_not_a_bus(mock_engine, rejects):
    engine = mock_engine(17)
    rejects(lambda: AxiAccelerator(engine, "axi4"), TypeError, "bus must be a Bus, not 'axi4'")
