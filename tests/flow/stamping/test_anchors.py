"""Anchors in the links of a block's ring."""

from types import SimpleNamespace

import pytest

from coprime.flow.stamping.anchors import anchored, without_anchors
from coprime.flow.stamping.fabric import Fabric, Rectangle
from coprime.flow.stamping.netlist import place_of, route_of

FABRIC = Fabric.of("LFE5U-85F")
AREA = Rectangle(13, 26, 9, 24)
PART = SimpleNamespace(
    outputs={("packet_in", 0): "link"}, inputs={("first", "M"): ("packet_in", 0)}
)


def flip_flop(bel, **connections):
    directions = {port: "output" if port == "Q" else "input" for port in connections}
    return {
        "type": "TRELLIS_FF",
        "parameters": {},
        "attributes": {"NEXTPNR_BEL": bel},
        "port_directions": directions,
        "connections": {port: [bit] for port, bit in connections.items()},
    }


def ring():
    """A register at the end of a chain, that leads to its first one, two slices away."""
    cells = {
        "last": flip_flop("X15/Y30/SLICEA.FF0", Q=2, CLK=1),
        "first": flip_flop("X15/Y30/SLICEC.FF0", M=2, CLK=1),
        "buffer": {
            "type": "DCCA",
            "parameters": {},
            "attributes": {"NEXTPNR_BEL": "X67/Y0/DCC_T0"},
            "port_directions": {"CLKO": "output"},
            "connections": {"CLKO": [1]},
        },
    }
    route = "X15/Y30/Q0_SLICE;;1;X15/Y30/Q0;X15/Y30/0_0_Q0_SLICE->0_0_Q0;1"
    nets = {
        "link": {"bits": [2], "attributes": {"ROUTING": route}},
        "clock": {"bits": [1], "attributes": {}},
    }
    return {"cells": cells, "netnames": nets, "ports": {}}


def test_an_anchor_is_away_from_both_ends_and_between_them():
    module = anchored(ring(), PART, AREA, FABRIC, taken=())
    (anchor,) = (cell for name, cell in module["cells"].items() if name.startswith("anchor"))
    x, y = place_of(anchor["attributes"]["NEXTPNR_BEL"])
    assert (x, y) in AREA
    assert max(abs(x - 15), abs(y - 30)) == 6
    assert anchor["connections"]["M"] == [2]
    assert module["cells"]["first"]["connections"]["M"] == anchor["connections"]["Q"] != [2]
    assert route_of(module["netnames"]["link"]) == []


def test_anchors_keep_off_places_that_are_taken():
    every = [bel for place in AREA.places() for bel, _ in FABRIC.bels(place)]
    free = "X21/Y49/SLICED.FF0"
    taken = [bel for bel in every if not bel.startswith("X21/Y49/SLICED")]
    module = anchored(ring(), PART, AREA, FABRIC, taken)
    assert free in {cell["attributes"]["NEXTPNR_BEL"] for cell in module["cells"].values()}
    module = anchored(ring(), PART, AREA, FABRIC, every)
    assert module["cells"].keys() == ring()["cells"].keys()


@pytest.mark.parametrize("taken", [True, False])
def test_without_anchors_the_ring_is_closed_and_the_link_has_no_branch_to_it(taken):
    every = [bel for place in AREA.places() for bel, _ in FABRIC.bels(place)]
    module = anchored(ring(), PART, AREA, FABRIC, every if taken else ())
    end = next(
        (
            cell["attributes"]["NEXTPNR_BEL"]
            for name, cell in module["cells"].items()
            if name.startswith("anchor")
        ),
        "X15/Y30/SLICEC.FF0",
    )
    place, _, bel = end.rpartition("/")
    wire = f"{place}/M{2 * 'ABCD'.index(bel[5])}_SLICE"
    switch = f"{place}/0_0_M->0_0_M_SLICE"
    module["netnames"]["link"]["attributes"]["ROUTING"] = f"{place}/M;;1;{wire};{switch};1"
    again = without_anchors(module, PART)
    assert again["cells"] == ring()["cells"]
    assert again["netnames"].keys() == {"link", "clock"}
    assert wire not in dict(route_of(again["netnames"]["link"]))
