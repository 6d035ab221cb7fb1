"""What Coprime asks of its Verilog beyond what `readable_verilog` does and tests by itself."""

import ast
from pathlib import Path

import pytest
import readable_verilog
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.flow.verilog import digest_of, to_verilog


class Register(wiring.Component):
    given: In(4)
    kept: Out(4)

    def elaborate(self, platform):
        m = Module()
        m.d.sync += self.kept.eq(self.given)
        return m


def test_license_and_header():
    verilog = to_verilog(
        Register(),
        "coprime_register",
        header="A register.\n\nOf four bits.",
        ports={"given": "0 to 15"},
    )
    assert verilog.startswith(
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// A register.\n//\n// Of four bits.\n\n"
        "module coprime_register (\n"
        "  input  wire [3:0] given,  // 0 to 15\n"
    )


def test_no_header():
    assert to_verilog(Register(), "coprime_register").startswith(
        "// SPDX-License-Identifier: Apache-2.0\n\nmodule coprime_register ("
    )


def test_the_digest_is_of_the_hardware_without_comments():
    plain = to_verilog(Register(), "coprime_register")
    commented = to_verilog(Register(), "coprime_register", header="A header.", ports={"given": "x"})
    assert digest_of(plain) == digest_of(commented) != digest_of(plain.replace("[3:0]", "[2:0]"))


def test_names_that_are_refused():
    component = Register()
    to_verilog(component, "coprime_register")
    with pytest.raises(TypeError, match="name must be a str, not 3"):
        to_verilog(component, 3)
    for name in ("register", "coprime_", "coprime_Register", "coprime_a b"):
        with pytest.raises(ValueError, match="name must be 'coprime_'"):
            to_verilog(component, name)


def test_the_writer_imports_nothing_of_ours():
    """It can be published by itself."""
    for path in Path(readable_verilog.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert not [one.name for one in node.names if one.name.startswith("coprime")], path
            elif isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith("coprime"), path
