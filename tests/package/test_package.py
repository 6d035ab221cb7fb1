"""What `coprime build` writes beside the Verilog, read by tools that we did not write."""

import os
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema
from cmsis_svd import SVDParser
from peakrdl_ipxact import IPXACTImporter
from systemrdl import RDLCompiler
from systemrdl.node import RegNode
from systemrdl.rdltypes import OnWriteType

from coprime import __version__
from coprime.bus import cluster_registers, registers
from coprime.bus.kinds import Bus
from coprime.bus.register_classes import Window
from coprime.bus.shared_registers import (
    CORE_REGISTERS,
    PLAIN_REGISTERS,
    PLAIN_WINDOWS,
    RANDOM_REGISTERS,
    SLOT_REGISTERS,
)
from coprime.catalog import choose
from coprime.cells.target import Target
from coprime.device.simulated import open_simulation
from coprime.engine.contract import Command, Error, Operand
from coprime.flow.tools import verilator_root
from coprime.package import svd, zynq
from coprime.package.describe import describe
from coprime.package.package import write_package
from coprime.package.zynq import ZYNQ_BOARDS
from coprime.padding.scheme import Padding, Scheme

DESIGNS = {
    "fdfm": ("fdfm", {"max_bits": "64"}, Bus.AXI4_LITE),
    "bursts": ("fdfm", {"max_bits": "64"}, Bus.AXI4),
    "cluster": ("cluster", {"cores": "3", "max_bits": "64"}, Bus.AXI4_LITE),
}
PADDED = ("fdfm", {"max_bits": "128"}, Bus.AXI4_LITE)
LINTED = {
    **DESIGNS,
    "fdfm, xc7": ("fdfm", {"max_bits": "2176"}, Bus.AXI4),
    **{
        f"{name}, {bus.value}": (name, {"max_bits": "128"}, bus)
        for name in ("montgomery-2csa", "montgomery-1csa", "interleaved-csa", "montgomery-r2")
        for bus in Bus
    },
    **{f"karatsuba, {bus.value}": ("karatsuba", {"max_bits": "256"}, bus) for bus in Bus},
    "cluster of karatsuba": (
        "cluster",
        {"engine": "karatsuba", "cores": "2", "max_bits": "128"},
        Bus.AXI4,
    ),
}
NOT_PLAIN = (
    *("RESIDUE", "COMMANDS", "COMMANDS_HIGH"),
    *(one.name for one in (*SLOT_REGISTERS, *CORE_REGISTERS, *RANDOM_REGISTERS)),
)
"""Registers of engines that check results, have commands with codes over 7, have slots or several
cores, or a source of random bytes in the hardware."""
ACCESS = {"R": "read-only", "W": "write-only", "RW": "read-write", "RW1C": "read-write"}


@pytest.fixture(
    scope="module",
    params=["fdfm", "padded", "cluster", pytest.param("bursts", marks=pytest.mark.clients)],
)
def package(request, tmp_path_factory):
    """A name of a design, the folder that `coprime build` wrote, and the registers."""
    padded = request.param == "padded"
    family, settings, bus = PADDED if padded else DESIGNS[request.param]
    folder = tmp_path_factory.mktemp("package")
    paddings = (Padding.OAEP,) if padded else ()
    write_package(choose(family, settings), Target.GENERIC, folder, bus, paddings)
    if family == "cluster":
        known = [
            one
            for one in cluster_registers.REGISTERS
            if one.name not in NOT_PLAIN or one.name == "CORES"
        ]
        return f"coprime_{family}", folder, known
    if padded:
        every = (*registers.REGISTERS, *registers.WINDOWS)
        return f"coprime_{family}", folder, [one for one in every if one.name not in NOT_PLAIN]
    return f"coprime_{family}", folder, (*PLAIN_REGISTERS, *PLAIN_WINDOWS)


def words_of(register):
    return register.words if isinstance(register, Window) else None


@pytest.mark.matrix(quick=1)
def test_svd_has_every_register(package):
    name, folder, expected = package
    device = SVDParser.for_xml_file(str(folder / f"{name}.svd")).get_device()
    assert (device.name, device.version) == (name, __version__)
    (peripheral,) = device.peripherals
    found = {}
    for register in peripheral.get_registers():
        base = re.sub(r"\[?\d+\]?$", "", register.name)
        found.setdefault(base, []).append(register)
    assert list(found) == [register.name for register in expected]
    for register in expected:
        own = found[register.name]
        assert len(own) == (words_of(register) or 1)
        assert [one.address_offset for one in own] == [
            register.address + 4 * k for k in range(len(own))
        ]
        for one in (own[0], own[-1]):
            assert one.access.value == ACCESS[register.access]
            fields = [
                (field.name, field.bit_offset, field.bit_width, field.access.value)
                for field in one.fields
            ]
            assert fields == [
                (field.name, field.offset, field.width, ACCESS[field.access])
                for field in register.fields
            ]
            cleared = [field.name for field in one.fields if field.modified_write_values]
            assert cleared == [field.name for field in register.fields if "1C" in field.access]


def test_svd_has_the_codes(package):
    name, folder, known = package
    found = {}
    for register in ElementTree.parse(folder / f"{name}.svd").iter("register"):
        for field in register.iter("field"):
            values = {
                value.findtext("name"): int(value.findtext("value"))
                for value in field.iter("enumeratedValue")
            }
            if values:
                found[register.findtext("name"), field.findtext("name")] = values
    expected = {
        ("COMMAND", "CODE"): Command,
        ("ERROR", "CODE"): Error,
        ("ERROR", "REFUSAL"): Error,
        ("KEY_OPERAND", "OPERAND"): Operand,
    }
    if "cluster" in name:
        del expected["ERROR", "CODE"]
        expected["COMPLETION", "ERROR"] = Error
    elif registers.PADDING in known:
        expected["PADDING", "SCHEME"] = Scheme
    assert found == {
        place: {code.name: int(code) for code in codes} for place, codes in expected.items()
    }


def test_svd_has_the_interrupt(package):
    name, folder, _ = package
    device = SVDParser.for_xml_file(str(folder / f"{name}.svd")).get_device()
    (interrupt,) = device.peripherals[0].interrupts
    assert (interrupt.name, interrupt.value) == ("COPRIME", 0)


def test_svd_keeps_its_schema(package):
    name, folder, _ = package
    schemas = resources.files("cmsis_svd") / "schemas"
    with resources.as_file(schemas / "CMSIS-SVD_1_3_11.xsd") as schema:
        xmlschema.validate(str(folder / f"{name}.svd"), str(schema))


def test_svd_tells_what_the_accelerator_has_after_reset():
    choice = choose("fdfm", {})
    tree = ElementTree.fromstring("".join(svd.files(describe(choice, Target.GENERIC)).values()))
    offsets = set()
    with open_simulation(choice) as device:
        for register in tree.iter("register"):
            if register.findtext("access") != "write-only":
                offset = int(register.findtext("addressOffset"), 16)
                assert device.read32(offset) == int(register.findtext("resetValue"), 16)
                offsets.add(offset)
    assert len(offsets) > 15


@pytest.mark.parametrize("file", ["{}.xml", "component.xml"])
def test_ip_xact_has_every_register(package, file):
    name, folder, expected = package
    compiler = RDLCompiler()
    IPXACTImporter(compiler).import_file(str(folder / file.format(name)))
    found = [one for one in compiler.elaborate().top.descendants() if isinstance(one, RegNode)]
    assert [node.inst_name for node in found] == [register.name for register in expected]
    for node, register in zip(found, expected, strict=True):
        assert node.raw_absolute_address == register.address
        assert node.get_property("desc") == register.doc
        assert (node.array_dimensions or [None])[0] == words_of(register)
        for part, field in zip(node.fields(), register.fields, strict=True):
            assert (part.inst_name, part.low, part.width) == (field.name, field.offset, field.width)
            access = ("R" if part.is_sw_readable else "") + ("W" if part.is_sw_writable else "")
            assert access == field.access.removesuffix("1C")
            clears = part.get_property("onwrite") is OnWriteType.woclr
            assert clears == (field.access == "RW1C")
            if field.reset is not None:
                assert part.get_property("reset") == field.reset


def test_ip_xact_has_the_ports_of_the_verilog(package):
    name, folder, _ = package
    verilog = (folder / f"{name}.v").read_text()
    top = re.search(rf"^module {name} \(.*?^endmodule", verilog, re.M | re.S)[0]
    declared = {
        port: (way, int(high or 0) + 1)
        for way, high, port in re.findall(
            r"^  (input|output) +(?:wire|reg) +(?:\[(\d+):0\] )?(\w+)", top, re.M
        )
    }
    comments = re.findall(r"^  (?:input|output) .*  // (.*)$", top, re.M)
    assert len(comments) == len(declared)
    tag = "{http://www.accellera.org/XMLSchema/IPXACT/1685-2014}"
    tree = ElementTree.parse(folder / f"{name}.xml").getroot()
    ports = {}
    for port in tree.iter(f"{tag}port"):
        way = port.findtext(f"{tag}wire/{tag}direction")
        left = port.findtext(f".//{tag}left")
        ports[port.findtext(f"{tag}name")] = (
            {"in": "input", "out": "output"}[way],
            int(left or 0) + 1,
        )
    assert ports == declared
    mapped = {
        one.findtext(f"{tag}physicalPort/{tag}name"): one.findtext(f"{tag}logicalPort/{tag}name")
        for one in tree.iter(f"{tag}portMap")
    }
    assert set(mapped) == set(declared) - {"irq"}
    for port, signal in mapped.items():
        assert re.sub("^s_axi(s_random)?_", "", port).upper() == signal.upper()
    files = {file.findtext(f"{tag}name") for file in tree.iter(f"{tag}file")}
    assert all((folder / file).is_file() for file in files)
    assert {f"{name}.v", "coprime_registers.h"} <= files


@pytest.mark.parametrize(
    "design",
    [
        pytest.param(name, marks=() if name == "fdfm" else pytest.mark.clients, id=name)
        for name in LINTED
    ],
)
def test_fusesoc_lints_it(tmp_path, design):
    """Verilator ends with an error on any warning that the core file does not name."""
    family, settings, bus = LINTED[design]
    target = Target.XC7 if "xc7" in design else Target.GENERIC
    choice = choose(family, settings)
    write_package(choice, target, tmp_path / "core", bus)
    assert lint(tmp_path, choice.module_name) == 0


@pytest.mark.clients
def test_fusesoc_finds_what_is_wrong(tmp_path):
    choice = choose("fdfm", {"max_bits": "64"})
    write_package(choice, Target.GENERIC, tmp_path / "core")
    verilog = tmp_path / "core" / "coprime_fdfm.v"
    text = verilog.read_text()
    for wrong in (
        "wire twice; wire twice;",
        "assign irq = nowhere;",
        "wire a = a;",
        "coprime b();",
    ):
        verilog.write_text(text.replace("endmodule", f"{wrong}\nendmodule", 1))
        assert lint(tmp_path, choice.module_name) != 0, wrong


def lint(folder, name):
    root = verilator_root()
    path = os.pathsep.join(
        [str(root / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    )
    command = shutil.which("fusesoc", path=path)
    assert command
    done = subprocess.run(
        [command, "--cores-root", "core", "run", "--target", "lint", name],
        cwd=folder,
        env={
            **os.environ,
            "PATH": path,
            "VERILATOR_ROOT": str(root),
            "XDG_CONFIG_HOME": str(folder),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode


@pytest.mark.parametrize("paddings", [(), (Padding.OAEP,)])
def test_the_zynq_script_is_tcl(tmp_path, paddings):
    """Run by Tcl itself, with Vivado's commands as recorders."""
    name = "coprime_fdfm"
    own = describe(choose("fdfm", {}), Target.XC7, paddings=paddings)
    script = tmp_path / f"{name}.zynq.tcl"
    script.write_text(zynq.files(own)[script.name])
    tkinter = pytest.importorskip("tkinter", reason="this Python has no Tcl")
    tcl = tkinter.Tcl()
    calls = []
    for command in VIVADO:
        tcl.createcommand(
            command, lambda *words, command=command: calls.append((command, *words)) or command
        )
    tcl.eval(f"info script {{{script}}}")
    for board, (part, _) in ZYNQ_BOARDS.items():
        calls.clear()
        tcl.setvar("argv", f"{board} there")
        tcl.eval(script.read_text())
        assert ("create_project", name, "there", "-part", part) in calls
        assert ("add_files", str(tmp_path / f"{name}.v")) in calls
        assert ("create_bd_cell", "-type", "module", "-reference", name, "accelerator") in calls
        assert not any(call[0] == "launch_runs" for call in calls)
        warned = any("s_axis_random" in call[-1] for call in calls if call[0] == "puts")
        assert warned == bool(paddings)
    tcl.setvar("argv", "nothing")
    with pytest.raises(tkinter.TclError, match="one of zybo-z7-10, zybo-z7-20, zedboard"):
        tcl.eval(script.read_text())


def test_only_7_series_have_the_zynq_script():
    for target in Target:
        own = describe(choose("fdfm", {}), target)
        assert bool(zynq.files(own)) == (target is Target.XC7)


VIVADO = (
    *("create_project", "get_board_parts", "set_property", "current_project", "add_files"),
    *("update_compile_order", "create_bd_design", "create_bd_cell", "apply_bd_automation"),
    *("puts", "connect_bd_net", "get_bd_pins", "get_bd_intf_pins", "get_bd_addr_segs"),
    *("assign_bd_address", "validate_bd_design", "save_bd_design", "make_wrapper", "get_files"),
    *("current_fileset", "launch_runs", "wait_on_run", "get_runs", "get_property"),
    "write_hw_platform",
)
