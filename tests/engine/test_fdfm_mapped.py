"""What fdfm becomes on a device: its area, and the mapped netlist at work."""

import pytest
from coprime_evidence.papers import fdfm as paper

from coprime.catalog import family_named
from coprime.cells.target import Target
from coprime.explore.measure import measure_area
from tests.engine.mapped import check_netlist

OTHERS = [(Target.GOWIN, 1), (Target.ICE40, 1), (Target.NEXUS, 1), (Target.GATEMATE, 0)]


@pytest.fixture(scope="module")
def choice():
    return family_named("fdfm").choose({})


@pytest.mark.route
def test_xc7_area_of_the_engine(choice):
    """No larger than the paper's slices could hold: four LUTs each."""
    area = measure_area(choice, Target.XC7)
    assert (area.dsp, area.bram) == (paper.ONE_CORE["dsp48e1"], paper.ONE_CORE["bram36"])
    assert area.lut <= 4 * paper.ONE_CORE["slices"]


@pytest.mark.route
def test_ecp5_cells_of_the_engine(choice):
    area = measure_area(choice, Target.ECP5)
    assert (area.dsp, area.bram) == (1, 2)


@pytest.mark.route
def test_xc7_netlist_decrypts(choice):
    """The whole accelerator in AMD's cells, as Yosys models them: same results, same cycles."""
    check_netlist(choice, 1031)


@pytest.mark.route
@pytest.mark.parametrize(("target", "dsp"), OTHERS)
def test_netlist_of_other_targets_decrypts(choice, target, dsp):
    """17 by 17 bits: one multiplier, where there are any."""
    check_netlist(choice, 1031, target, dsp=dsp)
