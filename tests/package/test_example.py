"""The cocotb example of a package runs as it is, in both simulators, and can fail."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from coprime.bus.kinds import Bus
from coprime.catalog import CLUSTER, choose
from coprime.cells.target import Target
from coprime.package.package import write_package
from tests.package.test_testbench import ICARUS

CURVES = {"max_bits": "512", "curves": "weierstrass"}
LEAN = {"node": "lean", "cores": "2", "max_bits": "64"}


def simulate(folder, simulator):
    """Status and text of `make -C sim cocotb` with this Python and what it has installed."""
    # Under pytest the runner of cocotb ends by itself where a test fails.
    hidden = ("VERILATOR_ROOT", "MAKEFLAGS", "MFLAGS", "PYTEST_CURRENT_TEST")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        ["make", "-C", folder / "sim", "cocotb", f"SIM={simulator}", f"PYTHON={sys.executable}"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def counts(text):
    """Tests that passed, that failed, and that were left out."""
    (found,) = re.findall(r"TESTS=\d+ PASS=(\d+) FAIL=(\d+) SKIP=(\d+)", text)
    return tuple(map(int, found))


@pytest.mark.clients
@ICARUS
@pytest.mark.parametrize(
    ("family", "given", "bus", "target", "expected"),
    [
        ("fdfm", {"max_bits": "64"}, Bus.AXI4, Target.XC7, (1, 0, 0)),
        pytest.param(
            *("compact", CURVES, Bus.AXI4_LITE, Target.ECP5, (2, 0, 1)), marks=pytest.mark.clients
        ),
        pytest.param(
            CLUSTER,
            {"engine": "compact", "cores": "2", **CURVES},
            Bus.AXI4_LITE,
            Target.GENERIC,
            (2, 0, 1),
            marks=pytest.mark.clients,
        ),
        (CLUSTER, LEAN, Bus.AXI4_LITE, Target.XC7, (1, 0, 0)),
    ],
)
def test_icarus(tmp_path, family, given, bus, target, expected):
    """What takes long there is left out, and said to be."""
    write_package(choose(family, given), target, tmp_path, bus)
    status, text = simulate(tmp_path, "icarus")
    assert status == 0, text[-3000:]
    assert counts(text) == expected
    assert text.count("Write start") == 0


@ICARUS
def test_it_can_fail(tmp_path):
    write_package(choose("compression", {"modulus": "2^16+1"}), Target.GENERIC, tmp_path)
    path = tmp_path / "sim" / "cocotb_example.py"
    path.write_text(re.sub(r"EXPONENT = 0x\w+", "EXPONENT = 3", path.read_text()))
    status, text = simulate(tmp_path, "icarus")
    assert status != 0
    assert counts(text)[:2] == (0, 1)
    assert re.search(r"^FAIL$", text, re.MULTILINE), text[-2000:]


@pytest.mark.clients
@pytest.mark.parametrize("target", [Target.GENERIC, Target.ECP5])
def test_the_installed_verilator(tmp_path, target):
    """It compiles a design that is large enough for precompiled headers, and multiplies points."""
    write_package(choose("compact", CURVES), target, tmp_path)
    status, text = simulate(tmp_path, "verilator")
    assert status == 0, text[-3000:]
    assert counts(text) == (3, 0, 0)
    assert list(Path(tmp_path).glob("sim/build/cocotb_verilator/*.gch"))
