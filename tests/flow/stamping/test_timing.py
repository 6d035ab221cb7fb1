"""Which paths a stamped device has that none of its blocks has."""

from coprime.flow.stamping.timing import paths_since

CLOCK = 1


def net(bit, *wires, strength=5):
    """A net over some wires, each but the first driven by a switch."""
    switches = ["", *(f"{wire}_switch" for wire in wires[1:])]
    route = (f"{wire};{s};{strength}" for wire, s in zip(wires, switches, strict=False))
    return {"bits": [bit], "attributes": {"ROUTING": ";".join(route)} if wires else {}}


def cell(kind, outputs, **inputs):
    return {
        "type": kind,
        "port_directions": dict.fromkeys(outputs, "output") | dict.fromkeys(inputs, "input"),
        "connections": {port: [bit] for port, bit in (outputs | inputs).items()},
    }


def register(bit, given="x"):
    return cell("TRELLIS_FF", {"Q": bit}, M=given, CLK=CLOCK)


BLOCKS = {
    "cells": {
        "buffer": cell("DCCA", {"CLKO": CLOCK}, CLKI=2),
        "first": register(10),
        "second": register(11),
        "driver": cell("TRELLIS_COMB", {"F": 20}, A=10, B="x"),
        "other": cell("TRELLIS_COMB", {"F": 21}, A=10, B=11),
        "end": cell("TRELLIS_COMB", {"F": 30}, A=20, B=21),
        "beside": register(40, 10),
        "last": register(50, 30),
        "after": register(51, 50),
    },
    "netnames": {
        "clock": net(CLOCK, "A", "B"),
        "first": net(10, "C", "D"),
        "second": net(11, "E", "F"),
        "link": net(20, "G", "H"),
        "other": net(21, "I", "J"),
        "inside": net(30),  # of a slice: it needs no wires
        "last": net(50, "K", "L", "M"),
    },
}


def routed(**routes):
    """The same netlist with other routes of some nets."""
    nets = BLOCKS["netnames"]
    return {
        "netnames": nets
        | {"inside": net(30, "N")}  # a source's wire is bound, too
        | {name: net(nets[name]["bits"][0], *wires, strength=1) for name, wires in routes.items()}
    }


def test_paths_over_a_net_that_was_routed_again_are_left():
    paths = paths_since(BLOCKS, routed(link=["G", "Z"]))
    connections = {name: one["connections"] for name, one in paths["cells"].items()}
    assert connections == {
        "buffer": {"CLKO": [CLOCK], "CLKI": ["x"]},
        "first": {"Q": [10], "M": ["x"], "CLK": [CLOCK]},
        "second": {"Q": ["x"], "M": ["x"], "CLK": [CLOCK]},
        "driver": {"F": [20], "A": [10], "B": ["x"]},
        # An end of a net on the path, with nothing behind it.
        "other": {"F": ["x"], "A": [10], "B": ["x"]},
        # What comes over the net "other" is on paths of a block.
        "end": {"F": [30], "A": [20], "B": ["x"]},
        "beside": {"Q": ["x"], "M": [10], "CLK": [CLOCK]},
        "last": {"Q": ["x"], "M": [30], "CLK": [CLOCK]},
        "after": {"Q": ["x"], "M": ["x"], "CLK": [CLOCK]},
    }
    assert paths["netnames"].keys() == {"clock", "first", "link", "inside"}
    assert paths["netnames"]["link"] == net(20, "G", "Z", strength=1)  # the new route


def test_no_path_leads_through_a_register():
    nets = paths_since(BLOCKS, routed(last=["K", "Z"]))["netnames"]
    assert nets.keys() == {"clock", "last"}


def test_the_same_wires_in_another_order_or_less_firmly_are_no_other_route():
    last = net(50, "K", "L", "M", strength=1)
    parts = last["attributes"]["ROUTING"].split(";")
    last["attributes"]["ROUTING"] = ";".join([*parts[6:], *parts[3:6], *parts[:3]])
    nets = routed()["netnames"] | {"last": last}
    assert paths_since(BLOCKS, {"netnames": nets})["netnames"].keys() == {"clock"}


def test_a_net_that_has_lost_its_route_is_another():
    nets = routed()["netnames"]
    del nets["last"]
    assert "last" in paths_since(BLOCKS, {"netnames": nets})["netnames"]
