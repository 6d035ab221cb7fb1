"""Designs whose packages are looked at."""

from functools import cache

import pytest

from coprime.bus.kinds import Bus
from coprime.catalog import CALL_FAMILIES, choose, choose_calls
from coprime.cells.target import Target
from coprime.package.describe import describe
from coprime.padding.scheme import Padding

SMALL = {
    "fdfm": ("fdfm", {"max_bits": "64"}, Bus.AXI4_LITE, ()),
    "bursts": ("fdfm", {"max_bits": "64"}, Bus.AXI4, ()),
    "padded": ("fdfm", {"max_bits": "128"}, Bus.AXI4, (Padding.OAEP,)),
    "cluster": ("cluster", {"cores": "3", "max_bits": "64"}, Bus.AXI4_LITE, ()),
    "byte strings": ("shake", {"slices": "4"}, Bus.AXI4_LITE, ()),
    "byte strings, bursts": ("shake", {"slices": "4"}, Bus.AXI4, ()),
    "cluster, bursts": ("cluster", {"cores": "3", "max_bits": "64"}, Bus.AXI4, ()),
}


def of_group(value, name, *marks):
    """A parameter whose tests are done by one worker, so that each design is made once."""
    group = pytest.mark.xdist_group(f"package, {name}")
    return pytest.param(value, id=str(value), marks=[group, *marks])


# What these have, one design has together.
LONG = ("bursts", "cluster")
EACH_DESIGN = pytest.mark.parametrize(
    "design",
    [of_group(name, name, *([pytest.mark.matrix] if name in LONG else [])) for name in SMALL],
)


@cache
def described(design, target=Target.GENERIC):
    family, settings, bus, paddings = SMALL[design]
    chosen = choose_calls if family in CALL_FAMILIES else choose
    return describe(chosen(family, settings), target, bus, paddings)
