"""Finding a chain in a netlist, and its parts."""

import copy

import pytest

from coprime.flow.stamping.chain import NodeChain, front_end, instances_in_a_ring, with_constants
from coprime.flow.tool_errors import ToolError


def cell(kind, inputs, outputs, **parameters):
    ports = inputs | outputs
    return {
        "hide_name": 0,
        "type": kind,
        "parameters": parameters,
        "attributes": {},
        "port_directions": {name: "input" if name in inputs else "output" for name in ports},
        "connections": {name: list(bits) for name, bits in ports.items()},
    }


def module(inputs, outputs, cells):
    ports = {name: {"direction": "input", "bits": bits} for name, bits in inputs.items()}
    ports |= {name: {"direction": "output", "bits": bits} for name, bits in outputs.items()}
    return {"attributes": {}, "ports": ports, "cells": cells, "netnames": {}}


def netlist(instances=3):
    """Nodes that pass a bit on through a flip-flop, and one that compares it with their number."""
    node = module(
        {"clk": [2], "number": [3, 4], "packet_in": [5]},
        {"packet_out": [6]},
        {
            "packet": cell("TRELLIS_FF", {"CLK": [2], "DI": [5]}, {"Q": [6]}),
            "mine": cell("LUT4", {"A": [3], "B": [4], "C": [6]}, {"Z": [7]}, INIT="1" * 16),
        },
    )
    cells = {"source": cell("LUT4", {"A": [10 + instances]}, {"Z": [10]}, INIT="0" * 16)}
    # Not in the chain's order: nothing may depend on that.
    for number in reversed(range(instances)):
        inputs = {
            "clk": [2],
            "number": [str(number & 1), str(number >> 1)],
            "packet_in": [10 + number],
        }
        cells[f"node_{number}"] = cell("node", inputs, {"packet_out": [11 + number]})
    return {"top": module({"clk": [2]}, {}, cells), "node": node}


def test_the_chain_is_found_in_its_order():
    chain = NodeChain.of(netlist(), "top", "node")
    assert chain.instances == ["node_0", "node_1", "node_2"]
    assert chain.clock == "clk"
    assert chain.links == {("packet_in", 0): ("packet_out", 0)}
    assert chain.constants[2] == {("number", 0): 0, ("number", 1): 1}


def test_a_ring_of_instances_has_a_net_for_each_link():
    part = instances_in_a_ring(NodeChain.of(netlist(), "top", "node"), 2)
    cells = part.modules[part.top]["cells"]
    assert (
        cells["node_0"]["connections"]["packet_in"] == cells["node_1"]["connections"]["packet_out"]
    )
    assert (
        cells["node_1"]["connections"]["packet_in"] == cells["node_0"]["connections"]["packet_out"]
    )
    # The flip-flop must not share a slice with what drives it.
    assert part.inputs == {("node_0.packet", "M"): ("packet_in", 0)}
    assert part.constants == {
        (f"node_{k}.mine", port): ("number", bit) for k in (0, 1) for bit, port in enumerate("AB")
    }


def test_the_front_end_is_closed_to_a_ring():
    modules = netlist()
    part = front_end(NodeChain.of(modules, "top", "node"))
    cells = part.modules[part.top]["cells"]
    assert cells.keys() == {"source"}
    assert cells["source"]["connections"]["A"] == cells["source"]["connections"]["Z"]
    assert part.inputs == {("source", "A"): ("packet_in", 0)}


def test_a_constant_at_the_head_of_the_chain_gets_a_driver():
    modules = netlist()
    modules["top"]["cells"]["node_0"]["connections"]["packet_in"] = ["1"]
    part = front_end(NodeChain.of(modules, "top", "node"))
    added = part.modules[part.top]["cells"]["constant_packet_in_0"]
    assert added["parameters"]["INIT"] == "1" * 16
    assert (
        part.modules[part.top]["netnames"][part.outputs["packet_in", 0]]["bits"]
        == (added["connections"]["Z"])
    )


def test_the_netlist_itself_is_not_changed():
    modules = netlist()
    before = copy.deepcopy(modules)
    chain = NodeChain.of(modules, "top", "node")
    front_end(chain)
    instances_in_a_ring(chain, 3)
    assert modules == before


def test_what_is_no_chain_is_refused():
    with pytest.raises(ToolError, match="at least two instances"):
        NodeChain.of(netlist(1), "top", "node")
    modules = netlist()
    modules["top"]["cells"]["node_2"]["connections"]["packet_in"] = [11]
    with pytest.raises(ToolError, match="no chain"):
        NodeChain.of(modules, "top", "node")
    modules = netlist()
    modules["top"]["cells"]["node_2"]["connections"]["number"] = [99, "0"]
    with pytest.raises(ToolError, match="share one clock and nothing else"):
        NodeChain.of(modules, "top", "node")


def test_links_lead_to_luts_and_flip_flops_only():
    modules = netlist()
    modules["node"]["cells"]["packet"]["type"] = "DP16KD"
    with pytest.raises(ToolError, match="the chain leads to DI of a DP16KD"):
        instances_in_a_ring(NodeChain.of(modules, "top", "node"), 1)


def with_multipliers(enable):
    modules = netlist()
    used = {"REG_INPUTA_CE": enable, "REG_INPUTA_RST": "RST0", "REG_INPUTA_CLK": "CLK0"}
    inputs = {"A0": [6], "CLK0": [2], enable: ["1"], "RST0": [7]}
    modules["node"]["cells"]["product"] = cell("MULT18X18D", inputs, {"P0": [8]}, **used)
    return modules


def test_multipliers_beside_those_of_another_instance_use_other_enables_and_resets():
    modules = with_multipliers("CE2")
    part = instances_in_a_ring(NodeChain.of(modules, "top", "node"), 1, signals=1)
    product = part.modules["node"]["cells"]["product"]
    assert product["parameters"] == {
        "REG_INPUTA_CE": "CE3",
        "REG_INPUTA_RST": "RST1",
        "REG_INPUTA_CLK": "CLK0",
    }
    connections = product["connections"]
    assert connections == {"A0": [6], "CLK0": [2], "CE3": ["1"], "RST1": [7], "P0": [8]}
    assert product["port_directions"].keys() == connections.keys()


def test_multipliers_without_another_enable_cannot_be_neighbours():
    chain = NodeChain.of(with_multipliers("CE3"), "top", "node")
    with pytest.raises(ToolError, match="cannot be neighbours"):
        instances_in_a_ring(chain, 1, signals=1)


def test_constants_are_folded_into_the_table():
    equal = 0b1000_0000_0000_0001  # all inputs 0, or all 1
    assert with_constants(equal, {"A": 1, "B": 1}) == 0xF000
    assert with_constants(equal, {"D": 0}) == 0x0101
    assert with_constants(0x1234, {}) == 0x1234
