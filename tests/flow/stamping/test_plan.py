"""Rectangles for instances."""

from itertools import combinations

import pytest

from coprime.flow.stamping.fabric import Fabric
from coprime.flow.stamping.plan import need_of, plan
from coprime.flow.tools import ToolError

NODE = {"TRELLIS_COMB": 1000, "TRELLIS_FF": 500, "DP16KD": 2, "MULT18X18D": 1}
FRONT = {"TRELLIS_COMB": 3000, "TRELLIS_FF": 1000, "DP16KD": 1, "MULT18X18D": 0}


def overlap(a, b):
    return bool(set(a.places()) & set(b.places()))


@pytest.mark.parametrize("instances", [2, 7, 13, 39, 48])
def test_a_plan_has_room_for_everything(instances):
    fabric = Fabric.of("LFE5U-85F")
    chosen = plan(fabric, NODE, FRONT, instances)
    assert chosen.instances == instances
    areas = [chosen.front, *(area for area, _ in chosen.places)]
    assert not any(overlap(a, b) for a, b in combinations(areas, 2))
    for area, needs in [(chosen.front, FRONT)] + [
        (area, {kind: count * need for kind, need in NODE.items()}) for area, count in chosen.places
    ]:
        there = fabric.capacity(area)
        assert all(there[kind] >= need for kind, need in needs.items())
        assert needs["TRELLIS_COMB"] * 100 <= there["TRELLIS_COMB"] * chosen.percent


def test_few_instances_have_a_rectangle_each():
    chosen = plan(Fabric.of("LFE5U-85F"), NODE, FRONT, 6)
    assert {count for _, count in chosen.places} == {1}


def test_numbers_that_no_rectangles_make_are_refused_with_others():
    with pytest.raises(
        ToolError, match=r"^500 instances cannot be stamped on this device; \d+ can"
    ):
        plan(Fabric.of("LFE5U-85F"), NODE, FRONT, 500)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ToolError, match="do not fit the device"):
        plan(Fabric.of("LFE5U-25F"), {**NODE, "MULT18X18D": 40}, FRONT, 2)


def test_only_cells_that_take_room_are_counted():
    cells = {"a": {"type": "TRELLIS_COMB"}, "b": {"type": "DCCA"}, "c": {"type": "TRELLIS_COMB"}}
    assert need_of(cells) == {"TRELLIS_COMB": 2, "TRELLIS_FF": 0, "DP16KD": 0, "MULT18X18D": 0}
