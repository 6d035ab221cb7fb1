"""Faults of a stamped netlist that are found before a tool sees it."""

import pytest

from coprime.flow.stamping.check import check
from coprime.flow.stamping.fabric import Fabric
from coprime.flow.tool_errors import ToolError

FABRIC = Fabric.of("LFE5U-25F")
LUT, FLIP_FLOP = "X5/Y5/SLICEA.K0", "X5/Y5/SLICEA.FF0"


def cell(kind, bel, inputs, outputs, **parameters):
    ports = inputs | outputs
    return {
        "type": kind,
        "parameters": parameters,
        "attributes": {"NEXTPNR_BEL": bel},
        "port_directions": {name: "input" if name in inputs else "output" for name in ports},
        "connections": {name: [bit] for name, bit in ports.items()},
    }


def toggle():
    """A flip-flop that changes in every cycle, with a route of its net."""
    route = "X5/Y5/Q0;;5;X5/Y5/A0;X5/Y5/0_0_Q0->0_0_A0;5"
    return {
        "ports": {},
        "cells": {
            "not": cell("TRELLIS_COMB", LUT, {"A": 2}, {"F": 3}, INITVAL="0101010101010101"),
            "bit": cell("TRELLIS_FF", FLIP_FLOP, {"DI": 3}, {"Q": 2}, SD="1"),
        },
        "netnames": {"q": {"bits": [2], "attributes": {"ROUTING": route}}},
    }


def test_a_right_netlist_passes():
    check(toggle(), FABRIC, toggle()["cells"])


def test_a_flip_flop_may_get_its_input_either_way():
    module = toggle()
    module["cells"]["bit"] = cell("TRELLIS_FF", FLIP_FLOP, {"M": 3}, {"Q": 2}, SD="0")
    check(module, FABRIC, toggle()["cells"])


def test_cells_that_packing_names_are_compared_by_what_they_do():
    module, whole = toggle(), toggle()["cells"]
    for number, cells in ((1, module["cells"]), (7, whole)):
        sum_ = cell("TRELLIS_COMB", "X6/Y5/SLICEA.K0", {"A": 2}, {"FCO": 9}, MODE="CCU2")
        cells[f"$nextpnr_CCU2C_{number}"] = sum_ | {"parameters": {"INITVAL": "1", "MODE": "CCU2"}}
    check(module, FABRIC, whole)
    module["cells"]["$nextpnr_CCU2C_1"]["parameters"]["INITVAL"] = "0"
    with pytest.raises(ToolError, match="carry chains differ"):
        check(module, FABRIC, whole)


def place_twice(module):
    module["cells"]["again"] = cell("TRELLIS_COMB", LUT, {}, {}, INITVAL="0101")


def place_wrong(module):
    module["cells"]["bit"]["attributes"]["NEXTPNR_BEL"] = "X5/Y5/SLICEE.FF0"


def drive_twice(module):
    module["cells"]["bit"]["connections"]["Q"] = [3]


def leave_open(module):
    module["cells"]["not"]["connections"]["A"] = [8]


def share_a_wire(module):
    module["netnames"]["other"] = {"attributes": {"ROUTING": "X5/Y5/Q0;;5"}}


def break_a_route(module):
    module["netnames"]["q"]["attributes"]["ROUTING"] = "X5/Y5/A0;X5/Y5/0_0_Q0->0_0_A0;5"


def change_a_table(module):
    module["cells"]["not"]["parameters"]["INITVAL"] = "0101010101010111"


def add_a_cell(module):
    module["cells"]["new"] = cell("TRELLIS_FF", "X6/Y5/SLICEA.FF0", {"DI": 3}, {"Q": 7})


def lose_a_cell(module):
    del module["cells"]["bit"]
    module["cells"]["not"]["connections"]["A"] = ["x"]


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        (place_twice, "both placed on X5/Y5/SLICEA.K0"),
        (place_wrong, "bit is placed on X5/Y5/SLICEE.FF0, which is no TRELLIS_FF"),
        (drive_twice, "drive the same net"),
        (leave_open, "A of not is connected to a net that nothing drives"),
        (share_a_wire, "the nets other and q have the wire X5/Y5/Q0"),
        (break_a_route, "has X5/Y5/A0 but not the wire before it"),
        (change_a_table, "not is different at INITVAL"),
        (add_a_cell, "new is not of the design"),
        (lose_a_cell, "bit is missing"),
    ],
)
def test_faults_are_found(spoil, text):
    module = toggle()
    spoil(module)
    with pytest.raises(ToolError, match=text):
        check(module, FABRIC, toggle()["cells"])
