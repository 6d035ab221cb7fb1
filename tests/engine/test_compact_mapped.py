"""What compact becomes on a device: its area, and the mapped netlist at work."""

import pytest

from coprime.catalog import family_named
from coprime.cells.target import Target
from coprime.explore.measure import measure_area
from tests.engine.mapped import check_netlist

OTHERS = [(Target.GOWIN, 1), (Target.ICE40, 3), (Target.NEXUS, 1), (Target.GATEMATE, 0)]


@pytest.fixture(scope="module")
def choice():
    return family_named("compact").choose({})


@pytest.mark.route
def test_xc7_cells_of_the_engine(choice):
    area = measure_area(choice, Target.XC7)
    assert (area.dsp, area.bram) == (1, 1)


@pytest.mark.route
def test_ecp5_cells_of_the_engine(choice):
    area = measure_area(choice, Target.ECP5)
    assert (area.dsp, area.bram) == (1, 2)


@pytest.mark.route
def test_xc7_netlist_decrypts(choice):
    """The whole accelerator in AMD's cells, as Yosys models them: same results, same cycles."""
    check_netlist(choice, 1023)


@pytest.mark.route
@pytest.mark.parametrize(("target", "dsp"), OTHERS)
def test_netlist_of_other_targets_decrypts(choice, target, dsp):
    """18 by 18 bits, signed: three multipliers of 16 by 16 on iCE40."""
    check_netlist(choice, 1023, target, dsp=dsp)
