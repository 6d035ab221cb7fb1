"""The text of every family is the circuit that Amaranth exports: a solver finds no difference.

Both are compared module by module, with the instances in it replaced by ports. Registers and
memories are matched by the names that the text gives them, so that a module's next state and its
outputs are proved equal for every state.
"""

import re

import pytest
from amaranth.back import rtlil
from readable_verilog import writers_of
from readable_verilog.netlist import read

from coprime.bus.axi_accelerator import AxiAccelerator
from coprime.bus.kinds import Bus
from coprime.catalog import choose
from coprime.cells.target import Target
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import run_yosys
from coprime.padding.scheme import Padding

pytestmark = pytest.mark.proof

DESIGNS = {
    "fdfm": {"max_bits": "64"},
    "montgomery-2csa": {"max_bits": "16", "word": "8"},
    "montgomery-1csa": {"max_bits": "16", "word": "8", "multipliers": "1"},
    "interleaved-csa": {"max_bits": "16", "word": "8"},
    "montgomery-r2": {"max_bits": "16", "word": "8"},
    "karatsuba": {"max_bits": "64", "word": "16", "latency": "2"},
    "compression": {"modulus": "61"},
    "direct": {"modulus": "61"},
    "compact": {"max_bits": "64"},
    "ring": {"max_bits": "128", "tile": "one17"},
}


def amaranth_and_ours(hardware, name):
    """Amaranth's netlist with our text's identifiers, our text, and the names of the modules."""
    netlist = rtlil.convert(hardware, name=name, emit_src=False)
    modules = read(netlist)
    writers = writers_of(modules)
    text = "\n".join([writer.text(writers, {}) for writer in writers.values()])
    names = {module.name: _identifiers(module, writers[module.name]) for module in modules}
    plain = {name: writer.name for name, writer in writers.items()}
    return "\n".join(_renamed(netlist, writers, names, plain)), text, list(plain.values())


def _identifiers(module, writer):
    """Our identifier of each memory and wire; of several wires with the same one, of the port or
    the namesake. A wire that the text does not have gets one that means nothing there."""
    given = {wire: name.strip("\\ ") for wire, name in writer.names.given.items()}
    found = {memory: given[memory] for memory in module.memories}
    wires = sorted(
        module.wires.values(),
        key=lambda wire: (not wire.direction, given.get(wire.name) != wire.name[1:]),
    )
    for wire in wires:
        name = given.get(wire.name)
        if name is None or name in found.values():
            name = f"amaranth_{len(found)}"
        found[wire.name] = name
    return found


def _renamed(netlist, writers, names, plain):
    """The lines of a netlist with other identifiers."""
    module = cell = None
    for line in netlist.splitlines():
        word, *rest = line.split() or [""]
        if word == "module":
            module = rest[0]
            line = f"module \\{plain[module]}"
        elif word == "cell":
            cell = rest[0]
            if cell in plain:
                instance = writers[module].names.given[rest[1]].strip("\\ ")
                line = f"cell \\{plain[cell]} \\{instance}"
        elif word == "connect" and cell:
            port, value = rest[0], line.split(rest[0], 1)[1]
            port = f"\\{names[cell][port]}" if cell in names else port
            line = f"connect {port}{_replaced(value, names[module])}"
        elif word == "parameter" and rest[0] == "\\MEMID":
            memory = rest[1].strip('"').replace("\\\\", "\\")
            line = f'parameter \\MEMID "\\\\{names[module][memory]}"'
        elif word == "end" and cell:
            cell = None
        elif module and word not in ("", "attribute", "parameter"):
            line = _replaced(line, names[module])
        yield line


def _replaced(text, names):
    return re.sub(
        r"[\\$][^\s\[\]{}]+",
        lambda found: f"\\{names[found[0]]}" if found[0] in names else found[0],
        text,
    )


def prove(folder, netlist, text, modules):
    """Raises ToolError if a module of the two differs."""
    (folder / "amaranth.il").write_text(netlist + "\n")
    (folder / "ours.v").write_text(text)
    script = []
    for name, file in (("amaranth", "read_rtlil amaranth.il"), ("ours", "read_verilog ours.v")):
        prepare = ("proc", "memory -nordff", "opt_clean", "expose -evert t:coprime_*")
        script += [file, *prepare, f"design -stash {name}"]
    for module in modules:
        script += [
            "design -reset",
            f"design -copy-from amaranth -as gold {module}",
            f"design -copy-from ours -as gate {module}",
            "equiv_make gold gate both",
            "hierarchy -top both",
            "opt_merge",
            "equiv_simple -undef",
            "equiv_induct -undef",
            "equiv_status -assert",
        ]
    log = run_yosys(script, folder)
    assert log.count("Equivalence successfully proven!") == len(modules)


@pytest.mark.parametrize("family", DESIGNS)
def test_same_circuit(tmp_path, family):
    choice = choose(family, DESIGNS[family])
    hardware = AxiAccelerator(choice.design.hardware(Target.GENERIC), Bus.AXI4_LITE, ())
    prove(tmp_path, *amaranth_and_ours(hardware, choice.module_name))


def test_same_circuit_with_padding_and_bursts(tmp_path):
    choice = choose("fdfm", {"max_bits": "80"})
    hardware = AxiAccelerator(choice.design.hardware(Target.GENERIC), Bus.AXI4, tuple(Padding))
    prove(tmp_path, *amaranth_and_ours(hardware, choice.module_name))


def test_a_difference_is_found(tmp_path):
    choice = choose("direct", DESIGNS["direct"])
    hardware = AxiAccelerator(choice.design.hardware(Target.GENERIC), Bus.AXI4_LITE, ())
    netlist, text, modules = amaranth_and_ours(hardware, choice.module_name)
    wrong = re.sub(r"(<= \w+) \+ ", r"\1 - ", text, count=1)
    assert wrong != text
    with pytest.raises(ToolError, match="unproven"):
        prove(tmp_path, netlist, wrong, modules)
