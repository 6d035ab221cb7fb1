"""`coprime build`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coprime import __version__
from coprime.explore import openssl
from coprime.flow import parts
from tests.cli.command import files_in, run, run_json

_AREA = ("lut", "ff", "carry", "dsp", "bram")


@pytest.mark.matrix
def test_build_is_reproducible(capsys, tmp_path):
    texts = []
    for folder in ("one", "two"):
        parts._accelerator_verilog.cache_clear()
        status, out, _ = run(capsys, "build", "fdfm", "-p", "max_bits=64", "-o", tmp_path / folder)
        assert status == 0
        verilog, *_ = printed = out.splitlines()
        assert verilog == str(tmp_path / folder / "coprime_fdfm.v")
        assert {*printed} == files_in(tmp_path / folder)
        texts.append((tmp_path / folder / "coprime_fdfm.v").read_text())
    assert texts[0] == texts[1]
    # Another process, hash seed and folder: the same bytes.
    program = "from coprime.cli import main; raise SystemExit(main())"
    subprocess.run(
        [sys.executable, "-c", program, "build", "fdfm", "-p", "max_bits=64", "-o", "three"],
        env=os.environ | {"PYTHONHASHSEED": "12345"},
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    for path in map(Path, files_in(tmp_path / "three")):
        other = tmp_path / "one" / path.relative_to(tmp_path / "three")
        assert path.read_bytes() == other.read_bytes()
        assert str(tmp_path) not in path.read_text()
    made_by = (
        "// Made by: coprime build fdfm -p max_bits=64 -p multipliers=1"
        " -p exponentiator=left-to-right -p window=4 --target generic"
    )
    assert made_by in texts[0]
    assert f"Coprime {__version__}" in texts[0]
    modules = [line.split()[1] for line in texts[0].splitlines() if line.startswith("module ")]
    assert modules
    assert all(name.startswith("coprime_") for name in modules)


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize(
    ("target", "cell"), [("xc7", "DSP48E1"), ("ecp5", "MULT18X18D"), ("generic", "module")]
)
def test_build_targets(capsys, tmp_path, target, cell):
    small = ("fdfm", "-p", "max_bits=64")
    assert run(capsys, "build", *small, "--target", target, "-o", tmp_path)[0] == 0
    assert cell in (tmp_path / "coprime_fdfm.v").read_text()


def test_build_with_bursts(capsys, tmp_path):
    """The command in the header makes the same file again."""
    chosen = ("build", "fdfm", "-p", "max_bits=64", "--bus", "axi4", "-o")
    assert run(capsys, *chosen, tmp_path / "one")[0] == 0
    verilog = (tmp_path / "one" / "coprime_fdfm.v").read_text()
    assert "input  wire [7:0] s_axi_awlen," in verilog
    (made_by,) = (line for line in verilog.splitlines() if line.startswith("// Made by: coprime "))
    command = made_by.removeprefix("// Made by: coprime ").replace("DIR", str(tmp_path / "two"))
    assert run(capsys, *command.split())[0] == 0
    assert (tmp_path / "two" / "coprime_fdfm.v").read_text() == verilog


def test_build_of_an_engine_of_byte_strings(capsys, tmp_path):
    """The command in the header makes the same file again; no driver for numbers is there."""
    chosen = ("build", "shake", "-p", "slices=4", "--clock", "100", "-o")
    status, out, _ = run(capsys, *chosen, tmp_path / "one")
    assert status == 0 and {*out.splitlines()} == files_in(tmp_path / "one")
    verilog = (tmp_path / "one" / "coprime_shake.v").read_text()
    (made_by,) = (line for line in verilog.splitlines() if line.startswith("// Made by: coprime "))
    command = made_by.removeprefix("// Made by: coprime ").replace("DIR", str(tmp_path / "two"))
    assert run(capsys, *command.split())[0] == 0
    assert (tmp_path / "two" / "coprime_shake.v").read_text() == verilog
    sheet = json.loads((tmp_path / "one/doc/data_sheet.json").read_text())
    cycles = {(one["call"], one["message"]): one["cycles"] for one in sheet["calls"]}
    assert cycles["SHA3_512", 64] == 18 + 432


def test_long_trees_are_announced(capsys, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(
        "coprime.cli.build.write_package", lambda choice, *_, **__: made.append(choice) or []
    )
    for name, announced in (("goldilocks", False), ("curve25519", True)):
        status, out, err = run(
            capsys, "build", "compression", "-p", f"modulus={name}", "-o", tmp_path
        )
        assert (status, out) == (0, "")
        assert ("unit gates, which takes minutes" in err) == announced
    assert len(made) == 2


def test_the_clock_goes_into_the_data_sheet_and_the_constraints(capsys, tmp_path):
    chosen = ("build", "fdfm", "-p", "max_bits=64", "--target", "ecp5", "--clock", "62.5")
    assert run(capsys, *chosen, "-o", tmp_path)[0] == 0
    sheet = json.loads((tmp_path / "doc/data_sheet.json").read_text())
    assert sheet["clock_mhz"] == 62.5
    for row in sheet["operations"]:
        cycles = row["command_cycles"] + row["moving_cycles"]
        assert row["milliseconds"] == pytest.approx(cycles / 62_500)
    assert 'FREQUENCY PORT "s_axi_aclk" 62.5 MHZ;' in (tmp_path / "coprime_fdfm.lpf").read_text()


@pytest.mark.parametrize("clock", ["0", "-1", "nan", "2001"])
def test_a_clock_must_be_one(capsys, tmp_path, clock):
    status, out, err = run(capsys, "build", "fdfm", f"--clock={clock}", "-o", tmp_path / "new")
    assert (status, out) == (2, "")
    assert "--clock must be above 0 and at most 2000 MHz" in err
    assert not (tmp_path / "new").exists()


@pytest.mark.xdist_group("measured")
@pytest.mark.parametrize(
    "settings",
    [pytest.param(one, marks=pytest.mark.route) for one in (("-p", "max_bits=64"), ())],
)
def test_measuring_fills_in_the_data_sheet(capsys, tmp_path, monkeypatch, settings):
    monkeypatch.setattr(openssl, "measure", openssl.shipped)
    # Of 64 bits the engine is that of tests/cli/test_synth.py: it is mapped once.
    chosen = ("fdfm", *settings, "--target", "xc7")
    status, _, err = run(capsys, "build", *chosen, "--measure", "-o", tmp_path)
    assert status == 0
    assert "coprime: mapping the accelerator\n" in err
    rows = json.loads((tmp_path / "doc/data_sheet.json").read_text())["area"]
    for row in rows:
        area = run_json(capsys, "synth", *chosen, "--part", row["part"])
        assert {name: row[name] for name in _AREA} == {name: area[name] for name in _AREA}
    assert [row["part"] for row in rows] == ["engine", "accelerator"]


def test_measuring_needs_a_target(capsys, tmp_path):
    status, _, err = run(capsys, "build", "fdfm", "--measure", "-o", tmp_path / "new")
    assert status == 2
    assert "--measure needs another --target" in err
