"""Reading and moving what nextpnr writes."""

from coprime.flow.stamping.compose import _idle
from coprime.flow.stamping.netlist import (
    route_of,
    routing_text,
    shifted,
    source_of,
    without_branches,
)

WIRES = [
    ("X3/Y4/F0", ""),
    ("X3/Y4/H02E0001", "X3/Y4/0_0_F0->0_0_H02E0001"),
    ("X4/Y4/A0", "X4/Y4/-1_0_H02E0001->0_0_A0"),
    ("X4/Y4/B1", "X4/Y4/-1_0_H02E0001->0_0_B1"),
]


def test_routes_are_written_and_read():
    assert route_of({"attributes": {"ROUTING": routing_text(WIRES, 5)}}) == WIRES
    assert route_of({"attributes": {}}) == []


def test_only_the_place_is_shifted():
    assert shifted("X4/Y4/-1_0_H02E0001->0_0_A0", 9, -2) == "X13/Y2/-1_0_H02E0001->0_0_A0"


def test_a_switch_names_the_wire_before_it():
    assert source_of("X4/Y4/-1_0_H02E0001->0_0_A0") == "X3/Y4/H02E0001"


def test_branches_that_lead_nowhere_else_are_cut():
    assert without_branches(WIRES, ["X4/Y4/B1"]) == WIRES[:3]
    assert without_branches(WIRES, ["X4/Y4/A0", "X4/Y4/B1"]) == []
    assert without_branches(WIRES, []) == WIRES


def test_wires_into_multipliers_of_dummies_are_found():
    route = [
        ("X3/Y4/JCE0", "X3/Y4/0_0_H00R0000->0_0_JCE0"),
        ("X3/Y4/JCE0_MULT18", "X3/Y4/0_0_JCE0->0_0_JCE0_MULT18"),
        ("X2/Y4/JCE0_MULT18", "X2/Y4/1_0_JCE0->0_0_JCE0_MULT18"),
    ]
    assert list(_idle(route, {(3, 4)})) == ["X2/Y4/JCE0_MULT18"]
    assert list(_idle(route, {(2, 4), (3, 4)})) == []
