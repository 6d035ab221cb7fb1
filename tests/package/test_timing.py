"""The timing diagrams are what the hardware does."""

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

import pytest

from coprime.bus.kinds import Bus
from coprime.catalog import choose
from coprime.cells.target import Target
from coprime.package.describe import describe
from coprime.package.timing import DIAGRAMS, files
from coprime.padding.scheme import Padding

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("timing_tool", ROOT / "tools/timing.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.matrix(quick=3)
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.clients] * (one == "random")) for one in DIAGRAMS],
)
def test_committed_diagrams_are_those_of_a_simulation(tool, name):
    assert tool.is_current(name), "run python tools/timing.py"


@pytest.mark.parametrize("name", DIAGRAMS)
def test_images_show_every_signal(tool, name):
    source, image = tool.paths(name)
    texts = {"".join(one.itertext()) for one in ElementTree.parse(image).iter() if one.text}
    for line in source.read_text("utf-8").splitlines():
        if '"name"' in line:
            assert line.split('"')[3] in texts


def names(family, bus=Bus.AXI4_LITE, paddings=(), **settings):
    own = describe(choose(family, settings), Target.GENERIC, bus, paddings)
    return {Path(path).stem for path in files(own)}


def test_a_package_has_the_diagrams_of_its_ports():
    assert names("fdfm") == {"write", "read", "wait", "reset", "command"}
    bursts = {"burst_write", "burst_read", "burst_reset", "burst_command"}
    assert names("fdfm", Bus.AXI4) == bursts
    assert "random" in names("compact", blinding="all")
    assert "random" in names("fdfm", paddings=(Padding.PSS,))
    assert names("cluster") == {"write", "read"}
    assert names("cluster", Bus.AXI4) == {"burst_read"}
