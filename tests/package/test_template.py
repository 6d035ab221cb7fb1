"""Instantiation templates, read by Verilator and GHDL."""

import re
import shutil

import pytest

from coprime.catalog import ClusterChoice
from coprime.flow.parts import accelerator_verilog, cluster_verilog
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import run_tool, verilator_root
from coprime.package import template
from tests.package.designs import EACH_DESIGN, described

USER = 'module user;\n`include "{}"\nendmodule\n'


@pytest.mark.matrix(quick=1)
@EACH_DESIGN
def test_the_verilog_template_connects_every_port(tmp_path, design):
    own = described(design)
    made = cluster_verilog if isinstance(own.choice, ClusterChoice) else accelerator_verilog
    parts = (own.bus,) if isinstance(own.choice, ClusterChoice) else (own.bus, own.paddings)
    (tmp_path / own.verilog).write_text(made(own.choice, own.target, *parts))
    text = template.files(own)[f"{own.name}_instance.vh"]
    lint(tmp_path, own, text)
    for port in (own.ports[0], own.ports[2], own.ports[-1]):
        connection = re.search(rf"^    \.{port.name} .*\n", text, re.M)[0]
        with pytest.raises(ToolError):
            lint(
                tmp_path, own, text.replace(connection, connection.replace(f".{port.name} ", ".a"))
            )


def lint(folder, own, text):
    """Verilator's errors, and its warnings of ports: those that are missing or of another width."""
    (folder / "instance.vh").write_text(text)
    (folder / "user.v").write_text(USER.format("instance.vh"))
    root = verilator_root()
    quiet = ("-Wno-lint", "-Wwarn-PINMISSING", "-Wno-UNDRIVEN")
    command = [root / "bin" / "verilator_bin", "--lint-only", *quiet, "--top-module", "user"]
    run_tool(
        "Verilator",
        [*command, "user.v", own.verilog],
        folder=folder,
        environment={"VERILATOR_ROOT": str(root)},
    )


@EACH_DESIGN
def test_the_vhdl_template_has_the_ports_of_the_verilog_one(design):
    own = described(design)
    texts = template.files(own)
    verilog = {
        name: (way, int(high or 0) + 1)
        for high, name, way in re.findall(
            r"^wire (?:\[(\d+):0\] )?(\w+); +// (in|out):", texts[f"{own.name}_instance.vh"], re.M
        )
    }
    vhdl = texts[f"{own.name}_instance.vhd"]
    component = vhdl[vhdl.index("component coprime_", vhdl.index("package")) :]
    assert verilog == {
        name: (way, int(high or 0) + 1)
        for name, way, high in re.findall(
            r"^ +(\w+) +: (in|out) +std_logic(?:_vector\((\d+) downto 0\))?", component, re.M
        )
    }
    assert {*re.findall(r"^-- +(\w+) +=> \w+,?$", vhdl, re.M)} == {*verilog}


@EACH_DESIGN
def test_ghdl_takes_the_vhdl_template(tmp_path, design):
    ghdl = shutil.which("ghdl")
    if ghdl is None:
        pytest.skip("there is no ghdl (on Debian: apt-get install ghdl)")
    own = described(design)
    text = template.files(own)[f"{own.name}_instance.vhd"]
    (instance,) = re.findall(r"^--   accelerator :.*^--     \);$", text, re.M | re.S)
    signals = re.sub(r" : (in|out)\s", " : ", re.search(r"port \(\n(.*?)\n    \);", text, re.S)[1])
    user = [
        f"use work.{own.name}_instance.all;",
        "library ieee; use ieee.std_logic_1164.all;",
        "entity user is end entity; architecture rtl of user is",
        *(f"signal {line.strip()};" for line in signals.split(";")),
        "begin",
        re.sub(r"^--", "", instance, flags=re.M),
        "end architecture;",
    ]
    (tmp_path / "component.vhd").write_text(text)
    (tmp_path / "user.vhd").write_text("\n".join(user))
    run_tool("GHDL", [ghdl, "-a", "--std=08", "component.vhd", "user.vhd"], folder=tmp_path)
