"""Ring oscillators: mapped for each target that has them, and placed and routed."""

import pytest

from coprime.cells.target import Target
from coprime.flow import routing
from coprime.flow.mapping import map_design
from coprime.flow.noise_module import with_noise
from coprime.flow.verilog import to_verilog
from coprime.random.ring_oscillators import LENGTHS, NOISE_TARGETS, RingOscillators

NAME = "coprime_noise"


def rings(target):
    return to_verilog(RingOscillators(target), NAME)


@pytest.mark.parametrize("target", NOISE_TARGETS)
def test_each_inverter_is_there(target):
    text = rings(target)
    for number, length in enumerate(LENGTHS):
        for place in range(length):
            assert f" inverter_{number}_{place} (" in text


@pytest.mark.route
@pytest.mark.parametrize("target", NOISE_TARGETS)
def test_no_inverter_is_removed(target):
    mapped = map_design(target, rings(target), NAME)
    luts = sum(count for cell, count in mapped.cells.items() if "LUT" in cell and "MUX" not in cell)
    assert luts >= sum(LENGTHS) + 3  # and the exclusive or


@pytest.mark.route
def test_rings_are_placed_and_routed():
    """As a design has them, of which the tool is told that there are loops."""
    found = routing.route_design(Target.ECP5, with_noise("", NAME, Target.ECP5), NAME)
    assert found.utilisation["TRELLIS_COMB"] >= sum(LENGTHS)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"target": Target.GENERIC}, "not for generic"),
        ({"target": Target.ECP5, "lengths": (4,)}, "odd number of inverters, 3 or more, not 4"),
        ({"target": Target.ECP5, "period": 3}, "period must be"),
    ],
)
def test_wrong_parameters_are_refused(settings, text):
    with pytest.raises(ValueError, match=text):
        RingOscillators(**settings)
