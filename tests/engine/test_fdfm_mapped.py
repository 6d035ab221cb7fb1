"""What fdfm becomes on a device: its area, and the mapped netlist at work."""

import pytest

from coprime.catalog import family_named
from coprime.cells.target import Target
from coprime.explore.measure import measure_area
from coprime.papers import fdfm as paper
from tests.engine.mapped import check_xc7_netlist


@pytest.fixture(scope="module")
def choice():
    return family_named("fdfm").choose({})


def test_xc7_area_of_the_engine(choice):
    """No larger than the paper's slices could hold: four LUTs each."""
    area = measure_area(choice, Target.XC7)
    assert (area.dsp, area.bram) == (paper.ONE_CORE["dsp48e1"], paper.ONE_CORE["bram36"])
    assert area.lut <= 4 * paper.ONE_CORE["slices"]


@pytest.mark.slow
def test_ecp5_cells_of_the_engine(choice):
    area = measure_area(choice, Target.ECP5)
    assert (area.dsp, area.bram) == (1, 2)


@pytest.mark.slow
def test_xc7_netlist_decrypts(choice):
    """The whole accelerator in AMD's cells, as Yosys models them: same results, same cycles."""
    check_xc7_netlist(choice, 1031)
