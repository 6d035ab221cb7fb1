import os
import subprocess
import sys
from pathlib import Path

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.flow.tools import ToolError, run_tool, run_yosys, verilator_root
from coprime.flow.verilog import to_verilog

# Warnings that say nothing about a circuit: Yosys names intermediate values and uses some of their
# bits, relies on Verilog's extension of operands, gives registers an initial value, and assigns
# before a `case` what holds where no pattern matches.
ACCEPTED_WARNINGS = (
    "CASEINCOMPLETE",
    "DECLFILENAME",
    "PROCASSINIT",
    "UNUSEDSIGNAL",
    "WIDTHEXPAND",
    "WIDTHTRUNC",
)


class Stage(wiring.Component):
    address: In(4)
    value: Out(8)

    def elaborate(self, platform):
        m = Module()
        m.submodules.table = table = Memory(
            shape=8, depth=16, init=[3, 1, 4], attrs={"no_rw_check": 1, "ram_style": "block"}
        )
        read, write = table.read_port(), table.write_port()
        count = Signal(4)
        with m.FSM():
            with m.State("WAIT"), m.If(self.address == 3):
                m.next = "COUNT"
            with m.State("COUNT"):
                m.d.sync += count.eq(count + 1)
                with m.If(count == 11):
                    m.next = "STORE"
            with m.State("STORE"):
                m.d.comb += write.en.eq(1)
                m.next = "WAIT"
        m.d.comb += [
            read.addr.eq(self.address),
            write.addr.eq(count),
            write.data.eq(read.data),
            self.value.eq(read.data + count),
        ]
        return m


class Pair(wiring.Component):
    address: In(4)
    value: Out(8)

    def elaborate(self, platform):
        m = Module()
        m.submodules.first = first = Stage()
        m.submodules.second = second = Stage()
        m.d.comb += [
            first.address.eq(self.address),
            second.address.eq(first.value),
            self.value.eq(second.value),
        ]
        return m


def test_names_and_header():
    verilog = to_verilog(Pair(), "coprime_pair", header="A pair.\n\nOf stages.")
    assert verilog.startswith("// A pair.\n//\n// Of stages.\n\nmodule coprime_pair(address, ")
    modules = [line.split("(")[0] for line in verilog.splitlines() if line.startswith("module ")]
    assert modules == [
        "module coprime_pair",
        "module coprime_pair_first",
        "module coprime_pair_second",
    ]
    assert "coprime_pair_first first (" in verilog
    assert "reg [3:0] count = 4'h0;" in verilog
    assert '(* ram_style = "block" *)' in verilog
    assert "(* no_rw_check = 32'd1 *)" in verilog
    assert verilog.count("(*") == 4 + verilog.count("full_case")
    for foreign in ("Yosys", "$auto", "src", "generator", __file__, str(Path.home())):
        assert foreign not in verilog


def test_no_header():
    assert to_verilog(Stage(), "coprime_stage").startswith("module coprime_stage(")


def test_memory_words_are_folded():
    verilog = to_verilog(Stage(), "coprime_stage")
    assert (
        "  initial begin : words_1\n"
        "    integer word;\n"
        "    table[0] = 8'h03;\n"
        "    table[1] = 8'h01;\n"
        "    table[2] = 8'h04;\n"
        "    for (word = 3; word <= 15; word = word + 1)\n"
        "      table[word] = 8'h00;\n"
        "  end\n"
    ) in verilog.replace("\\table ", "table")


def test_same_in_every_process(tmp_path):
    texts = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        command = (
            "import importlib.util, sys\n"
            "spec = importlib.util.spec_from_file_location('designs', sys.argv[1])\n"
            "designs = importlib.util.module_from_spec(spec)\n"
            "spec.loader.exec_module(designs)\n"
            "print(designs.to_verilog(designs.Pair(), 'coprime_pair'), end='')\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", command, __file__],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "TMPDIR": str(folder),
            },
            capture_output=True,
            text=True,
            check=True,
        )
        texts.append(done.stdout)
    assert texts[0] == texts[1] == to_verilog(Pair(), "coprime_pair")


def test_lint(tmp_path):
    (tmp_path / "pair.v").write_text(to_verilog(Pair(), "coprime_pair"))
    root = verilator_root()
    accepted = [f"-Wno-{warning}" for warning in ACCEPTED_WARNINGS]
    # Any other warning is an error here.
    run_tool(
        "Verilator",
        [root / "bin" / "verilator_bin", "--lint-only", "-Wall", *accepted, "pair.v"],
        folder=tmp_path,
        environment={"VERILATOR_ROOT": str(root)},
    )


def test_same_circuit_as_rtlil(tmp_path):
    """A solver finds no difference between the exported text and Amaranth's own netlist."""
    (tmp_path / "gold.il").write_text(rtlil.convert(Stage(), name="gold", emit_src=False))
    (tmp_path / "gate.v").write_text(to_verilog(Stage(), "coprime_gate"))
    prove = [
        "read_rtlil gold.il",
        "read_verilog gate.v",
        "rename coprime_gate gate",
        "proc",
        "memory -nordff",
        "opt_clean",
        "equiv_make gold gate both",
        "hierarchy -top both",
        "equiv_simple -undef",
        "equiv_induct -undef",
        "equiv_status -assert",
    ]
    run_yosys(prove, tmp_path)
    wrong = (tmp_path / "gate.v").read_text().replace("4'hb", "4'ha")
    assert wrong != (tmp_path / "gate.v").read_text()
    (tmp_path / "gate.v").write_text(wrong)
    with pytest.raises(ToolError, match="unproven"):
        run_yosys(prove, tmp_path)


def test_names_that_are_refused():
    component = Stage()
    to_verilog(component, "coprime_stage")
    with pytest.raises(TypeError, match="name must be a str, not 3"):
        to_verilog(component, 3)
    for name in ("stage", "coprime_", "coprime_Stage", "coprime_a b"):
        with pytest.raises(ValueError, match="name must be 'coprime_'"):
            to_verilog(component, name)


class TwoMemories(wiring.Component):
    a: Out(8)
    b: Out(8)

    def elaborate(self, platform):
        m = Module()
        for name in "ab":
            m.submodules[name] = memory = Memory(shape=8, depth=16, init=[])
            m.d.comb += getattr(self, name).eq(memory.read_port().data)
        return m


def test_initial_blocks_of_two_memories_differ(tmp_path):
    verilog = to_verilog(TwoMemories(), "coprime_two")
    assert "begin : words_1" in verilog
    assert "begin : words_2" in verilog
