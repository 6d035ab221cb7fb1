"""Rectangles for instances."""

from dataclasses import astuple
from itertools import combinations

import pytest

from coprime.flow.stamping.fabric import Fabric, Rectangle
from coprime.flow.stamping.plan import need_of, plan
from coprime.flow.tool_errors import ToolError

pytestmark = pytest.mark.route

NODE = {"TRELLIS_COMB": 1000, "TRELLIS_FF": 500, "DP16KD": 2, "MULT18X18D": 1}
FRONT = {"TRELLIS_COMB": 3000, "TRELLIS_FF": 1000, "DP16KD": 1, "MULT18X18D": 0}


def shared(a, b):
    """The tiles that two rectangles share."""
    return set(a.places()) & set(b.places())


@pytest.mark.route(quick=1)
@pytest.mark.parametrize("instances", [2, 7, 13, 39, 52])
def test_a_plan_has_room_for_everything(instances):
    fabric = Fabric.of("LFE5U-85F")
    chosen = plan(fabric, NODE, FRONT, instances)
    assert chosen.instances == instances
    assert fabric.capacity(chosen.front)["TRELLIS_COMB"] >= FRONT["TRELLIS_COMB"]
    places = {place.area: place for place in chosen.places}
    assert len(places) == len(chosen.places)
    for a, b in combinations([chosen.front, *places], 2):
        upper, lower = sorted((a, b), key=lambda area: area.y)
        if tiles := shared(a, b):
            assert places[lower].above == places[upper]
            rows = range(lower.y, lower.y + places[upper].shared_rows)
            assert {y for _, y in tiles} == {*rows}
    for place in chosen.places:
        own = {kind: place.instances * need for kind, need in NODE.items()}
        there = fabric.capacity(place.area)
        assert all(there[kind] >= need for kind, need in own.items())
        assert own["TRELLIS_COMB"] * 100 <= there["TRELLIS_COMB"] * chosen.percent
        if place.above:  # what both need must be there in both together
            both = there + fabric.capacity(place.above.area)
            rows = Rectangle(*astuple(place.area)[:3], place.above.shared_rows)
            both -= fabric.capacity(rows)
            assert all(both[kind] >= 2 * need for kind, need in NODE.items())
    assert any(place.above for place in chosen.places) == (instances == 52)
    # Each has a rectangle of its own as long as that is possible.
    assert {place.instances for place in chosen.places} == {1}


def test_no_row_is_shared_without_need():
    chosen = plan(Fabric.of("LFE5U-25F"), NODE, FRONT, 7)
    assert not any(place.above or place.shared_rows for place in chosen.places)


def test_a_full_rectangle_is_preferred_to_a_long_one_and_to_few_kinds():
    # Six of these fit into 18 by 89 tiles at 66 percent, too, where wires are long; and into 54 by
    # 24, all alike, at 82 percent.
    node = {"TRELLIS_COMB": 7739, "TRELLIS_FF": 5598, "DP16KD": 24, "MULT18X18D": 18}
    chosen = plan(Fabric.of("LFE5U-85F"), node, {**FRONT, "DP16KD": 3}, 6)
    assert chosen.percent == 70
    assert chosen.longest_side < 89


def test_numbers_that_no_rectangles_make_are_refused_with_others():
    with pytest.raises(
        ToolError, match=r"^500 instances cannot be stamped on this device; \d+ can"
    ):
        plan(Fabric.of("LFE5U-25F"), NODE, FRONT, 500)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ToolError, match="do not fit the device"):
        plan(Fabric.of("LFE5U-25F"), {**NODE, "MULT18X18D": 40}, FRONT, 2)


def test_only_cells_that_take_room_are_counted():
    cells = {"a": {"type": "TRELLIS_COMB"}, "b": {"type": "DCCA"}, "c": {"type": "TRELLIS_COMB"}}
    assert need_of(cells) == {"TRELLIS_COMB": 2, "TRELLIS_FF": 0, "DP16KD": 0, "MULT18X18D": 0}
