"""A solver proves products and squares modulo each form, for all operands at once.

Nothing is split or left out: Yosys reads the exported Verilog beside the plain expression, and
makes a network of ANDs; ABC's solver finds no operands for which both differ.
"""

import importlib.util
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from coprime.cells import compressor_tree
from coprime.cells.compression import ModularProduct, ModularSquare
from coprime.cells.compressor_tree import Counters
from coprime.cells.counters import FULL_ADDER
from coprime.flow.tools import run_tool, run_yosys
from coprime.flow.verilog import to_verilog

FORMS = [31, 32, 33, 29, 35, 26]
LONG_FORMS = [63, 64, 65, 61, 67, 43]


def miter(component):
    """Verilog with a module that compares; its output `wrong` must never be 1."""
    bits, m = len(component.x), component.modulus
    operands = ["x", "y"] if isinstance(component, ModularProduct) else ["x"]
    return f"""{to_verilog(component, "coprime_dut")}
module miter({", ".join(f"input [{bits - 1}:0] {one}" for one in operands)}, output wrong);
  wire [{bits - 1}:0] result;
  coprime_dut dut({", ".join(f".{one}({one})" for one in operands)}, .result(result));
  wire [{2 * bits - 1}:0] product = {operands[0]} * {operands[-1]};
  assign wrong = result != product % {2 * bits}'d{m};
endmodule
"""


def prove(component):
    """Whether the solver finds nothing wrong."""
    abc = Path(importlib.util.find_spec("pyosys").origin).with_name("yosys-abc")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "design.v").write_text(miter(component), encoding="utf-8")
        read = ["read_verilog design.v", "hierarchy -check -top miter", "proc", "flatten"]
        run_yosys([*read, "techmap", "aigmap", "opt_clean", "write_aiger design.aig"], folder)
        proof = "read_aiger design.aig; fraig; sat"
        log = run_tool("ABC", [abc, "-s", "-c", proof], folder=folder)
    verdicts = re.findall(r"^((?:UN)?SATISFIABLE) ", log, re.MULTILINE)
    assert len(verdicts) == 1, log
    return verdicts == ["UNSATISFIABLE"]


@pytest.mark.proof(quick=2)
@pytest.mark.parametrize(
    "kind", [ModularProduct, pytest.param(ModularSquare, marks=pytest.mark.proof)]
)
@pytest.mark.parametrize(
    "m", [*FORMS, *(pytest.param(m, marks=pytest.mark.proof) for m in LONG_FORMS)]
)
def test_result_is_the_plain_expression(kind, m):
    assert prove(kind(m))


@pytest.mark.parametrize("m", [29, pytest.param(31, marks=pytest.mark.proof)])
def test_the_proof_can_fail(m, monkeypatch):
    """Full adders that forget one case of a carry, in the level that leaves two rows."""
    wrong = replace(FULL_ADDER, build=lambda a, b, c: (a ^ b ^ c, (a & b) | (b & c)))
    monkeypatch.setattr(compressor_tree, "FULL_ADDER", wrong)
    assert not prove(ModularProduct(m, counters=Counters.FULL_ADDERS))
