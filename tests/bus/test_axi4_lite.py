"""AXI4-Lite against a master that is not ours: cocotbext-axi, on Verilator."""

import os
from pathlib import Path

import pytest
from cocotb_tools.runner import get_results, get_runner

from coprime.bus.accelerator import Accelerator
from coprime.flow.tools import verilator_root
from coprime.flow.verilog import to_verilog

TOP = "coprime_mock"


def test_with_cocotb(mock_engine, tmp_path, monkeypatch):
    source = tmp_path / "mock.v"
    source.write_text(to_verilog(Accelerator(mock_engine(17)), TOP))
    root = verilator_root()
    monkeypatch.setenv("VERILATOR_ROOT", str(root))
    monkeypatch.setenv("PATH", f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.syspath_prepend(Path(__file__).parent)
    runner = get_runner("verilator")
    runner.build(
        sources=[source],
        hdl_toplevel=TOP,
        build_dir=tmp_path,
        build_args=["-Wno-fatal", "-Wno-lint"],
        always=True,
        timescale=("1ns", "1ps"),
        log_file=tmp_path / "build.log",
    )
    try:
        results = runner.test(
            test_module="axi_bench",
            hdl_toplevel=TOP,
            build_dir=tmp_path,
            test_dir=tmp_path,
            log_file=tmp_path / "test.log",
        )
    except SystemExit:
        pytest.fail((tmp_path / "test.log").read_text())
    tests, failed = get_results(results)
    assert (tests, failed) == (15, 0)
