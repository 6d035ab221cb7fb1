"""The netlist of links, and how its routes get into the whole."""

from coprime.flow.stamping.compose import Composed
from coprime.flow.stamping.fabric import Fabric
from coprime.flow.stamping.links import close, open_nets, opened
from coprime.flow.stamping.netlist import LOCKED, LOOSE, OWN, WALL, WEAK, route_of, strength_of

FABRIC = Fabric.of("LFE5U-25F")


def net(bit, strength=0, *wires):
    routing = {"ROUTING": ";".join(f"{wire};;{strength}" for wire in wires)} if wires else {}
    return {"hide_name": 0, "bits": [bit], "attributes": routing}


def cell(kind, bel, **connections):
    return {
        "type": kind,
        "attributes": {"NEXTPNR_BEL": bel},
        "port_directions": dict.fromkeys(connections, "input"),
        "connections": {port: [bit] for port, bit in connections.items()},
    }


COMPOSED = Composed(
    module={
        "cells": {
            "buffer": cell("DCCA", "X36/Y0/DCC_T0", CLKO=1),
            "end": cell("TRELLIS_FF", "X20/Y20/SLICEA.FF0", M=2, CE=3, CLK=1),
            "neighbour": cell("TRELLIS_COMB", "X20/Y20/SLICEA.K0", A=3),
            "elsewhere": cell("TRELLIS_COMB", "X30/Y30/SLICEA.K0", A=3),
        },
        "netnames": {
            "clock": net(1),
            "link": net(2, OWN, "X20/Y20/M0"),
            "copied": net(3, LOCKED, "X20/Y20/H00R0000", "X20/Y20/A0"),
            "movable": net(4, LOOSE, "X20/Y20/V00B0000", "X21/Y20/A0"),
            "apart": net(5, LOOSE, "X25/Y20/V00B0000", "X25/Y20/A0"),
            "front": net(6, WEAK, "X26/Y20/V00B0000", "X26/Y20/A0"),
        },
    },
    open=frozenset({2}),
    routed=3,
    left=2,
)


def test_only_what_is_open_is_routed_and_wires_that_are_locked_are_walls():
    module = open_nets(COMPOSED, FABRIC)
    assert module["cells"].keys() == {"buffer", "end", "neighbour", WALL}
    assert module["cells"]["end"]["connections"] == {"M": [2], "CE": ["x"], "CLK": [1]}
    assert module["netnames"].keys() == {"clock", "link", WALL}
    walls = dict(route_of(module["netnames"][WALL]))
    front = {"X26/Y20/V00B0000", "X26/Y20/A0"}
    assert walls.keys() == {"X20/Y20/H00R0000", "X20/Y20/A0"} | front
    assert module["netnames"][WALL]["bits"] == module["cells"][WALL]["connections"]["A"] == [7]
    # Links may go around copies, so the tool looks for wires on the whole device.
    for axis in "xy":
        assert int(module["settings"][f"router2/bbMargin/{axis}"], 2) > 200


TAKEN = {"netnames": {"link": net(2, 1, "X20/Y20/V00B0000", "X20/Y20/M0"), WALL: net(7)}}


def test_a_net_that_has_lost_a_wire_to_a_link_is_open_and_others_are_locked():
    again = opened(COMPOSED, TAKEN)
    nets = again.module["netnames"]
    assert again.open == {2, 4}
    found = [strength_of(nets[name]) for name in ("movable", "apart", "front")]
    assert found == [0, LOCKED, WEAK]
    assert nets["link"] == COMPOSED.module["netnames"]["link"]
    assert opened(again, TAKEN).open == again.open


def test_a_net_that_has_lost_a_wire_to_a_link_has_no_route_in_the_end():
    nets = close(COMPOSED, TAKEN)["netnames"]
    assert [wire for wire, _ in route_of(nets["link"])] == ["X20/Y20/V00B0000", "X20/Y20/M0"]
    assert strength_of(nets["link"]) == WEAK
    assert "ROUTING" not in nets["movable"]["attributes"]
    for name in ("clock", "copied", "apart", "front"):
        assert nets[name] == COMPOSED.module["netnames"][name]
