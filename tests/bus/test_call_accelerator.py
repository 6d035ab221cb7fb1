"""An accelerator for byte strings: its ports, and a master on its bus that we did not write."""

import pytest

from coprime.bus.axi_accelerator import AxiAccelerator
from coprime.bus.kinds import Bus
from coprime.bus.serial.serial_accelerator import SerialAccelerator
from coprime.calls.ports import CallSignature, interface_of
from coprime.catalog import choose_calls
from coprime.padding.scheme import Padding
from tests.calls.mock import INTERFACE, MockCalls


@pytest.mark.clients
def test_with_cocotb(simulate_bench):
    engine = choose_calls("shake", {}).design.hardware()
    assert simulate_bench(AxiAccelerator(engine, Bus.AXI4), "calls_bench") == (4, 0)


def test_random_bytes_only_where_a_call_draws_some():
    drawing = AxiAccelerator(MockCalls()).signature.members
    assert "s_axis_random_tdata" in drawing
    other = AxiAccelerator(choose_calls("shake", {}).design.hardware()).signature.members
    assert "s_axis_random_tdata" not in other


def test_what_is_refused(rejects):
    rejects(
        lambda: AxiAccelerator(MockCalls(), paddings=(Padding.OAEP,)),
        ValueError,
        "an engine of byte strings has no paddings of RSA",
    )


def test_a_serial_accelerator_draws_nothing():
    assert not SerialAccelerator(MockCalls(), 4).front_end.draws


def test_what_is_no_engine(rejects):
    engine = choose_calls("shake", {}).design.hardware()
    rejects(lambda: interface_of(INTERFACE), TypeError, "engine must have an interface")
    engine.interface = INTERFACE
    rejects(lambda: interface_of(engine), TypeError, "must have the ports of CallSignature")
    assert CallSignature(INTERFACE).members != engine.signature.members
