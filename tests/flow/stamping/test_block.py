"""What a block takes, and what that leaves to the one below it."""

from coprime.flow.stamping.block import Block, Copy, Taken, _right_half
from coprime.flow.stamping.chain import ChainPart
from coprime.flow.stamping.fabric import Fabric, Rectangle

AREA = Rectangle(13, 41, 9, 18)  # with multipliers in the last row, 58
PART = ChainPart({}, "top", 1, {}, {}, {})


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
    return Block(PART, AREA, module, 125.0, {1: 125.0})


def test_a_copy_takes_its_places_and_wires_but_not_the_clock():
    taken = Taken.by(Copy(block(), Rectangle(AREA.x + 9, AREA.y, AREA.width, AREA.height)))
    assert taken.bels == {"X22/Y58/MULT18_0"}
    assert taken.wires == {"X25/Y58/JLSR0", "X25/Y57/H02E0001"}


def test_half_of_a_shared_row_is_left_to_the_block_below():
    fabric = Fabric.of("LFE5U-85F")
    assert not _right_half(AREA, 0, fabric)
    left = _right_half(AREA, 1, fabric)
    row = Rectangle(AREA.x, 58, AREA.width, 1)
    assert left < {bel for place in row.places() for bel, _ in fabric.bels(place)}
    assert len(left) == fabric.capacity(row)["MULT18X18D"] / 2 == 2
    assert "X13/Y58/MULT18_0" not in left
