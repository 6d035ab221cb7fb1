"""Copies of a block: which routes they keep."""

import dataclasses

import pytest

from coprime.flow.stamping.block import Block, Copy
from coprime.flow.stamping.compose import _Composition
from coprime.flow.stamping.fabric import Fabric, Rectangle

FABRIC = Fabric.of("LFE5U-85F")
WIDE = Rectangle(13, 26, 54, 24)


def moved(route, row):
    block = Block(part=None, rectangle=WIDE, module={}, mhz=0, mhz_by_seed={}, critical_path=None)
    composition = object.__new__(_Composition)
    composition._fabric = FABRIC
    return composition._moved(route, Copy(block, dataclasses.replace(WIDE, y=row)))


@pytest.mark.parametrize("row", [26, 50])
def test_a_route_whose_switches_are_alike_moves_along(row):
    """The wire belongs to the rectangle, and ends three rows above it, where it is driven."""
    shift = row - 26
    route = [("X20/Y26/V06N0003", "X20/Y23/0_3_V06N0003->0_0_A0")]
    assert moved(route, row) == [
        (f"X20/Y{26 + shift}/V06N0003", f"X20/Y{23 + shift}/0_3_V06N0003->0_0_A0")
    ]


def test_a_route_whose_switch_would_be_outside_of_the_device_is_lost():
    assert moved([("X20/Y26/V06N0003", "X20/Y23/0_3_V06N0003->0_0_A0")], 2) == []


def test_a_route_that_leaves_the_rectangle_is_lost():
    assert moved([("X20/Y25/V06N0003", "")], 26) == []


EAST = Rectangle(69, 31, 54, 27)
EDGE = [("X125/Y47/H01W0100", "X125/Y47/-3_0_H06E0303->0_0_H01W0100")]


def at_the_edge(row):
    block = Block(part=None, rectangle=EAST, module={}, mhz=0, mhz_by_seed={}, critical_path=None)
    composition = object.__new__(_Composition)
    composition._fabric = FABRIC
    return composition._moved(EDGE, Copy(block, dataclasses.replace(EAST, y=row)))


def test_a_route_over_a_tile_at_the_edge_is_kept_where_the_edge_is_alike():
    assert at_the_edge(31) == EDGE
    other = next(
        row for row in range(2, 60) if FABRIC.tiles.get((125, 16 + row)) != FABRIC.tiles[125, 47]
    )
    assert at_the_edge(other) == []


def test_a_route_of_the_front_end_is_kept_unless_it_takes_a_wire_of_a_copy():
    composition = object.__new__(_Composition)
    composition._of_copies = set(WIDE.places())
    beside = [("X67/Y26/H02W0701", "X67/Y26/0_0_F0->0_0_H02W0701")]
    assert composition._apart(beside) == beside
    assert composition._apart([*beside, ("X66/Y26/H02W0701", "")]) == []
