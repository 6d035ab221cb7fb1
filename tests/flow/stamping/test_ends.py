"""Registers at the ends of links: their places in a block."""

from coprime.flow.stamping.chain import ChainPart
from coprime.flow.stamping.ends import with_ends_placed, without_ring
from coprime.flow.stamping.fabric import Fabric, Rectangle
from coprime.flow.stamping.netlist import place_of, route_of

FABRIC = Fabric.of("LFE5U-85F")
LEFT, RIGHT = Rectangle(13, 26, 9, 24), Rectangle(85, 26, 9, 24)  # of the device's middle
LUTS = sum(kind == "TRELLIS_COMB" for place in LEFT.places() for _, kind in FABRIC.bels(place))
WIDTH = 12  # links, more than flip-flops in a tile
OUT, IN, GIVEN = 100, 200, 300  # first nets of a node's ports, and of what it gives


def register(data, given, leads_to):
    ports = {data: given, "Q": leads_to, "CLK": 2}
    return {
        "type": "TRELLIS_FF",
        "parameters": {"REGSET": "SET" if leads_to % 2 else "RESET"},
        "attributes": {},
        "port_directions": {port: "output" if port == "Q" else "input" for port in ports},
        "connections": {port: [bit] for port, bit in ports.items()},
    }


def ports(bits):
    return {
        "port_directions": {"clk": "input", "packet_in": "input", "packet_out": "output"},
        "connections": {"clk": [1], "packet_in": bits, "packet_out": bits},
    }


def ring(instances=1):
    """Nodes of two registers for each link: packet_in to `first_k`, `last_k` to packet_out."""
    node = {
        "ports": {
            "clk": {"bits": [2]},
            "packet_in": {"bits": list(range(IN, IN + WIDTH))},
            "packet_out": {"bits": list(range(OUT, OUT + WIDTH))},
        },
        "cells": {f"first_{k}": register("M", IN + k, GIVEN + k) for k in range(WIDTH)}
        | {f"last_{k}": register("DI", GIVEN + k, OUT + k) for k in range(WIDTH)},
    }
    links = [list(range(10 + WIDTH * k, 10 + WIDTH * (k + 1))) for k in range(instances)]
    cells = {}
    for k in range(instances):
        cells[f"node_{k}"] = {"type": "node", "attributes": {}} | ports(links[k])
        cells[f"node_{k}"]["connections"]["packet_in"] = links[k - 1]
    nets = {f"link_{bit}": {"bits": [bit], "attributes": {}} for bit in links[-1]}
    top = {"cells": cells, "netnames": nets}
    pins = [("packet_in", k) for k in range(WIDTH)]
    outputs = {pin: f"link_{bit}" for pin, bit in zip(pins, links[-1], strict=True)}
    inputs = {(f"node_0.first_{pin[1]}", "M"): pin for pin in pins}
    primitive = {"cells": {}}
    modules = {"top": top, "node": node, "TRELLIS_FF": primitive}
    return ChainPart(modules, "top", instances, 1, outputs, inputs, {})


def placed(part, instance):
    """Places of the registers of an instance."""
    module = part.modules[part.modules["top"]["cells"][instance]["type"]]
    return {
        name: cell["attributes"]["NEXTPNR_BEL"]
        for name, cell in module["cells"].items()
        if "NEXTPNR_BEL" in cell["attributes"]
    }


def test_registers_are_in_a_column_towards_the_middle_of_the_device():
    wide = Rectangle(13, 26, 45, 24), {38, 39, 40}  # around four columns from its middle
    for rectangle, columns in ((LEFT, {21}), (RIGHT, {85}), wide):
        part, _ = with_ends_placed(ring(), rectangle, FABRIC, frozenset(), LUTS)
        places = placed(part, "node_0")
        assert len(places) == len(set(places.values())) == 2 * WIDTH
        assert {place_of(bel)[0] for bel in places.values()} <= columns
        first, last = (
            [place_of(bel)[1] for name, bel in places.items() if name.startswith(which)]
            for which in ("first", "last")
        )
        assert max(last) < min(first)
        middle = rectangle.middle[1]
        assert all(abs(row - middle) <= 2 for row in first + last)
    assert placed(ring(), "node_0") == {}  # the part itself is as it was


def test_a_register_with_data_from_a_lut_may_be_away_from_it():
    part, _ = with_ends_placed(ring(), LEFT, FABRIC, frozenset(), LUTS)
    cells = part.modules[part.modules["top"]["cells"]["node_0"]["type"]]["cells"]
    assert cells["last_3"]["connections"]["M"] == [GIVEN + 3]
    assert cells["last_3"]["port_directions"]["M"] == "input"
    assert "DI" not in cells["last_3"]["connections"]


def test_of_several_instances_only_those_that_links_lead_out_of_have_places():
    part, _ = with_ends_placed(ring(3), LEFT, FABRIC, frozenset(), LUTS)
    assert {name[:4] for name in placed(part, "node_0")} == {"firs"}
    assert placed(part, "node_1") == {}
    assert {name[:4] for name in placed(part, "node_2")} == {"last"}


def test_registers_of_a_tile_share_enable_and_reset():
    part = ring()
    for k in range(0, WIDTH, 2):
        cell = part.modules["node"]["cells"][f"last_{k}"]
        cell["connections"]["LSR"], cell["port_directions"]["LSR"] = [400], "input"
    part, _ = with_ends_placed(part, LEFT, FABRIC, frozenset(), LUTS)
    tiles = {}
    for name, bel in placed(part, "node_0").items():
        with_reset = name.startswith("last") and int(name[5:]) % 2 == 0
        tiles.setdefault(place_of(bel), set()).add(with_reset)
    assert all(len(kinds) == 1 for kinds in tiles.values())


def test_registers_keep_off_places_that_are_taken_and_one_too_many_is_the_tools():
    every = {bel for place in LEFT.places() for bel, _ in FABRIC.bels(place)}
    free = {bel for bel in every if place_of(bel) == (15, 30)}
    part, _ = with_ends_placed(ring(), LEFT, FABRIC, frozenset(every - free), LUTS)
    places = placed(part, "node_0")
    assert set(places.values()) <= free
    assert len(places) == 8
    part, _ = with_ends_placed(ring(), LEFT, FABRIC, frozenset(every), LUTS)
    assert placed(part, "node_0") == {}


def test_the_luts_beside_them_are_left_empty_if_there_is_room():
    part, empty = with_ends_placed(ring(), LEFT, FABRIC, frozenset(), LUTS // 2)
    tiles = {place_of(bel) for bel in placed(part, "node_0").values()}
    luts = {bel for tile in tiles for bel, kind in FABRIC.bels(tile) if kind == "TRELLIS_COMB"}
    assert empty == luts
    _, empty = with_ends_placed(ring(), LEFT, FABRIC, frozenset(), LUTS * 8 // 10)
    assert empty == frozenset()


def test_other_ends_of_links_have_no_places():
    """A LUT that drives a link, and one that a link leads to."""
    part = ring()
    cells = part.modules["node"]["cells"]
    cells["last_0"] |= {"type": "LUT4"}
    cells["first_0"] |= {"type": "LUT4"}
    part, _ = with_ends_placed(part, LEFT, FABRIC, frozenset(), LUTS)
    places = placed(part, "node_0")
    assert len(places) == 2 * WIDTH - 2
    assert not {"first_0", "last_0"} & places.keys()


def test_a_link_has_no_branch_to_the_first_end_of_the_ring():
    part = ring()
    cells = {
        f"node_0.first_{k}": {"attributes": {"NEXTPNR_BEL": f"X15/Y30/SLICE{'ABC'[k // 4]}.FF0"}}
        for k in range(WIDTH)
    }
    end = "X15/Y30"
    route = f"{end}/M;;1;{end}/M0_SLICE;{end}/0_0_M->0_0_M0_SLICE;1"
    kept = f";{end}/A0;{end}/0_0_M->0_0_A0;1"  # to something else
    nets = {name: {"bits": [1], "attributes": {}} for name in part.outputs.values()}
    nets["link_10"] = {"bits": [10], "attributes": {"ROUTING": route}}
    nets["link_11"] = {"bits": [11], "attributes": {"ROUTING": route + kept}}
    again = without_ring({"cells": cells, "netnames": nets}, part)["netnames"]
    assert route_of(again["link_10"]) == []
    assert [wire for wire, _ in route_of(again["link_11"])] == [f"{end}/M", f"{end}/A0"]
