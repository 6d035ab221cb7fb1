"""`coprime synth`."""

import pytest

from tests.cli.command import run_json


@pytest.mark.route
@pytest.mark.xdist_group("measured")  # of the engine that test_build.py maps
def test_synth(capsys):
    record = run_json(capsys, "synth", "fdfm", "-p", "max_bits=64", "--target", "xc7")
    assert (record["dsp"], record["bram"], record["fmax_mhz"]) == (1, 0.5, None)
    assert record["lut"] > record["carry"] > 0
    assert record["ff"] > 100
    assert {"family", "parameters", "target", "device", "lut", "ff", "carry", "tools"} <= set(
        record
    )


@pytest.mark.route
def test_unit_gates(capsys):
    arguments = ("direct", "-p", "modulus=vassoler-2", "--target", "unit-gate")
    record = run_json(capsys, "synth", *arguments, "--part", "reduction")
    assert (record["target"], record["part"], record["memory_bits"]) == (
        "unit-gate",
        "reduction",
        0,
    )
    assert record["gate_area"] > record["gate_delay"] > 0
    assert "lut" not in record and "verilog" not in record
