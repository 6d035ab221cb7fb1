"""What a block takes, what that leaves to the one below it, and which seed is kept."""

import json

from coprime.cells.target import Target
from coprime.flow.routing import CriticalPath
from coprime.flow.stamping import block as block_module
from coprime.flow.stamping.block import Block, Copy, Taken, _left_half, _only_here, _right_half
from coprime.flow.stamping.chain import ChainPart
from coprime.flow.stamping.fabric import Fabric, Rectangle
from coprime.flow.targets import flow_of
from coprime.flow.tool_errors import ToolError

AREA = Rectangle(13, 41, 9, 18)  # with multipliers in the last row, 58
PART = ChainPart({}, "top", 1, 1, {}, {}, {})
PATH = CriticalPath(start="a", end="b", nets=("n",), logic_ns=5.0, routing_ns=3.0)


def block():
    def net(bit, *wires):
        routing = ";".join(f"{wire};;5" for wire in wires)
        return {"bits": [bit], "attributes": {"ROUTING": routing}}

    module = {
        "cells": {
            "product": {"type": "MULT18X18D", "attributes": {"NEXTPNR_BEL": "X13/Y58/MULT18_0"}},
            "buffer": {
                "type": "DCCA",
                "attributes": {"NEXTPNR_BEL": "X2/Y47/DCC_L"},
                "connections": {"CLKO": [2]},
            },
        },
        "netnames": {
            "clock": net(2, "X19/Y58/JCLK0", "X0/Y0/G_HPBX0000"),
            "reset": net(3, "X16/Y58/JLSR0", "X16/Y57/H02E0001"),
            "outside": net(4, "X40/Y5/H02E0001"),
        },
    }
    return Block(PART, AREA, module, 125.0, {1: 125.0}, PATH)


def test_a_copy_takes_its_places_and_wires_but_not_the_clock():
    taken = Taken.by(Copy(block(), Rectangle(AREA.x + 9, AREA.y, AREA.width, AREA.height)))
    assert taken.bels == {"X22/Y58/MULT18_0"}
    assert taken.wires == {"X25/Y58/JLSR0", "X25/Y57/H02E0001"}


def test_half_of_the_shared_rows_is_left_to_the_block_below():
    fabric = Fabric.of("LFE5U-85F")
    assert _right_half(AREA, 0, fabric) == Taken(frozenset(), frozenset())
    right = _right_half(AREA, 1, fabric)
    row = Rectangle(AREA.x, 58, AREA.width, 1)
    assert right.bels < {bel for place in row.places() for bel, _ in fabric.bels(place)}
    assert len(right.bels) == fabric.capacity(row)["MULT18X18D"] / 2 == 2
    assert "X13/Y58/MULT18_0" not in right.bels
    assert not right.wires  # the row of multipliers has wires that both may use


def test_rows_of_logic_are_divided():
    """But for the first shared row, no place is both blocks', and the upper one has no wire in the
    right half."""
    fabric = Fabric.of("LFE5U-85F")
    upper = Rectangle(13, 42, 9, 23)
    lower = Rectangle(13, 58, 9, 23)
    rows = Rectangle(13, 59, 9, 6)
    above = Copy(Block(PART, upper, block().module, 125.0, {}, PATH), upper)
    right, left = _right_half(upper, 7, fabric), _left_half(lower, above, fabric)
    inside = {bel for place in rows.places() for bel, _ in fabric.bels(place)}
    assert {bel for bel in right.bels | left.bels if "/Y58/" not in bel} == inside
    assert not right.bels & left.bels
    assert {
        wire for place in Rectangle(17, 59, 5, 6).places() for wire in fabric.span_wires(place)
    } == (right.wires)


def test_switches_that_a_copy_has_not_are_not_used():
    """In the row of multipliers beside the clock's spine, and at the edge of the device."""
    fabric = Fabric.of("LFE5U-85F")
    own = Rectangle(31, 26, 9, 20)
    assert _only_here(own, [own, Rectangle(40, 26, 9, 20)], fabric) == Taken(
        frozenset(), frozenset()
    )
    beside_the_spine = _only_here(own, [Rectangle(58, 26, 9, 20)], fabric).wires
    assert "X39/Y34/H02W0001" in beside_the_spine
    assert "X39/Y34/H02E0001" not in beside_the_spine
    assert not any(wire.startswith("X31/") for wire in beside_the_spine)
    at_the_edge = _only_here(own, [Rectangle(31, 2, 9, 20)], fabric).wires
    assert {"X35/Y26/V02S0001", "X35/Y28/V06S0003"} <= at_the_edge
    assert "X35/Y29/V06S0003" not in at_the_edge


class _Tool:
    """Stands for nextpnr: a run fails or reaches a clock, by its seed and whether it has pins."""

    def __init__(self, folder, clocks):
        self._folder, self._clocks = folder, clocks
        self.runs = []

    def __call__(self, flow, device, netlist, constraints, options, *, write, limit_s):
        assert limit_s > 0
        seed = int(options[options.index("--seed") + 1])
        self.runs.append((seed, bool(constraints)))
        clock = self._clocks[seed, bool(constraints)]
        if isinstance(clock, str):
            raise ToolError(clock)
        place = self._folder / f"{seed}_{bool(constraints)}"
        place.mkdir()
        (place / "report.json").write_text(json.dumps(_reported(clock)))
        module = block().module | {"seed": seed}
        (place / "routed.json").write_text(json.dumps({"modules": {"top": module}}))
        return place


def _reported(mhz):
    end = {"cell": "b"}
    steps = [
        {"type": "clk-to-q", "delay": 1.0, "from": {"cell": f"a at {mhz}"}, "to": end},
        {"type": "routing", "delay": 2.0, "net": "n", "from": end, "to": end},
    ]
    paths = [{"from": "clk", "to": "clk", "path": steps}]
    return {"fmax": {"clk": {"achieved": mhz}}, "critical_paths": paths}


def placed(monkeypatch, tmp_path, clocks):
    tool = _Tool(tmp_path, clocks)
    monkeypatch.setattr(block_module, "nextpnr", tool)
    flow = flow_of(Target.ECP5)
    part = ChainPart(
        {"top": {"cells": {}, "netnames": {"a": {"bits": [2]}}}}, "top", 1, 1, {}, {}, {}
    )
    made = block_module.place_and_route(
        part,
        Rectangle(13, 14, 9, 18),
        flow,
        flow.devices["LFE5U-25F"],
        Fabric.of("LFE5U-25F"),
        seeds=(1, 2, 3),
        target_mhz=200.0,
        luts=100,
        enough_mhz=110.0,
    )
    return made, tool.runs


def test_the_best_seed_is_kept_and_none_is_tried_once_it_is_enough(monkeypatch, tmp_path):
    clocks = {(1, False): 90.0, (2, False): 112.0}
    made, runs = placed(monkeypatch, tmp_path, clocks)
    assert (made.mhz, made.mhz_by_seed, made.module["seed"]) == (112.0, {1: 90.0, 2: 112.0}, 2)
    assert made.critical_path.start == "a at 112.0"
    assert runs == [(1, False), (2, False)]


def test_a_clock_that_walls_shut_in_gets_another_pin_and_other_failures_another_seed(
    monkeypatch, tmp_path
):
    shut_in = "Warning: Failed to find a route for arc 0 of net clk$TRELLIS_IO_IN."
    clocks = {
        (1, False): shut_in,
        (1, True): 100.0,
        (2, False): "no place",
        (3, False): shut_in,
        (3, True): shut_in,
    }
    made, runs = placed(monkeypatch, tmp_path, clocks)
    assert made.mhz_by_seed == {1: 100.0}
    assert runs == [(1, False), (1, True), (2, False), (3, False), (3, True)]
