"""Anchors in the links of a block's ring."""

import pytest

from coprime.flow.stamping.anchors import anchored, without_anchors
from coprime.flow.stamping.chain import ChainPart
from coprime.flow.stamping.fabric import Fabric, Rectangle
from coprime.flow.stamping.netlist import place_of, route_of

FABRIC = Fabric.of("LFE5U-85F")
AREA = Rectangle(13, 26, 9, 24)
RIGHT = 21  # its last column
LUTS = sum(kind == "TRELLIS_COMB" for place in AREA.places() for _, kind in FABRIC.bels(place))


def instance(name, packet_in, packet_out):
    """Of a node in the ring, before it is placed."""
    return {
        "type": name,
        "port_directions": {"packet_in": "input", "packet_out": "output", "clk": "input"},
        "connections": {"packet_in": packet_in, "packet_out": packet_out, "clk": [1]},
    }


def part():
    """A node with two links, of which only the first one leads to something."""
    nets = {"link": {"bits": [2], "attributes": {}}, "other": {"bits": [3], "attributes": {}}}
    top = {"cells": {"node_0": instance("node", [2, 3], [2, 3])}, "netnames": nets}
    outputs = {("packet_in", 0): "link", ("packet_in", 1): "other"}
    inputs = {("node_0.first", "M"): ("packet_in", 0)}
    return ChainPart({"top": top}, "top", 1, 1, outputs, inputs, {})


def anchors(module):
    return [cell for name, cell in module["cells"].items() if name.startswith("anchor")]


def test_each_link_that_leads_to_something_has_an_anchor_at_the_right_edge():
    ring, _ = anchored(part(), AREA, FABRIC, frozenset(), 0)
    module = ring.modules["top"]
    (anchor,) = anchors(module)
    (x, _) = place_of(anchor["attributes"]["NEXTPNR_BEL"])
    assert x == RIGHT
    node = module["cells"]["node_0"]["connections"]
    assert anchor["connections"]["M"] == [2] == node["packet_out"][:1]
    assert anchor["connections"]["CLK"] == [1]
    assert node["packet_in"] == [*anchor["connections"]["Q"], 3]
    assert node["packet_out"] == [2, 3]
    assert anchors(part().modules["top"]) == []  # the part itself is as it was


def test_anchors_keep_off_places_that_are_taken():
    every = {bel for place in AREA.places() for bel, _ in FABRIC.bels(place)}
    free = frozenset(bel for bel in every if place_of(bel) == (15, 30))
    ring, _ = anchored(part(), AREA, FABRIC, frozenset(every - free), 0)
    (anchor,) = anchors(ring.modules["top"])
    assert anchor["attributes"]["NEXTPNR_BEL"] in free
    with pytest.raises(ValueError, match="shorter"):
        anchored(part(), AREA, FABRIC, frozenset(every), 0)


def test_two_tiles_around_anchors_are_empty_if_there_is_room():
    ring, empty = anchored(part(), AREA, FABRIC, frozenset(), LUTS // 2)
    (anchor,) = anchors(ring.modules["top"])
    x, y = place_of(anchor["attributes"]["NEXTPNR_BEL"])
    near = {(x - columns, y + rows) for columns in range(3) for rows in range(-2, 3)}
    assert {place_of(bel) for bel in empty} == near
    beside = {bel for bel in empty if place_of(bel) == (x, y)}
    assert beside == {bel for bel, kind in FABRIC.bels((x, y)) if kind == "TRELLIS_COMB"}
    _, empty = anchored(part(), AREA, FABRIC, frozenset(), LUTS * 8 // 10)
    assert empty == frozenset()


def flip_flop(bel, **connections):
    return {
        "type": "TRELLIS_FF",
        "parameters": {},
        "attributes": {"NEXTPNR_BEL": bel},
        "port_directions": {port: "output" if port == "Q" else "input" for port in connections},
        "connections": {port: [bit] for port, bit in connections.items()},
    }


@pytest.mark.parametrize("has_anchor", [True, False])
def test_without_anchors_the_ring_is_closed_and_the_link_has_no_branch_to_it(has_anchor):
    """A register at the end of a chain, that leads to its first one, in a routed netlist."""
    cells = {"last": flip_flop("X15/Y30/SLICEA.FF0", Q=2, CLK=1)}
    ring = cells | {"node_0.first": flip_flop("X15/Y30/SLICEC.FF0", M=2, CLK=1)}
    nets = {"link": {"bits": [2], "attributes": {}}, "other": {"bits": [3], "attributes": {}}}
    if has_anchor:
        cells["node_0.first"] = flip_flop("X15/Y30/SLICEC.FF0", M=4, CLK=1)
        cells["anchor_4"] = flip_flop("X21/Y38/SLICED.FF1", M=2, Q=4, CLK=1)
        nets["anchor_4"] = {"bits": [4], "attributes": {}}
        end, wire = "X21/Y38", "X21/Y38/M7_SLICE"
    else:
        cells, end, wire = ring, "X15/Y30", "X15/Y30/M4_SLICE"
    route = f"{end}/M;;1;{wire};{end}/0_0_M->0_0_M_SLICE;1"
    nets["link"] = {"bits": [2], "attributes": {"ROUTING": route}}
    again = without_anchors({"cells": cells, "netnames": nets, "ports": {}}, part())
    assert again["cells"] == ring
    assert again["netnames"].keys() == {"link", "other"}
    assert wire not in dict(route_of(again["netnames"]["link"]))
