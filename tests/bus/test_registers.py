import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coprime.bus import cluster_registers, registers
from coprime.bus.registers import REGISTERS, WINDOWS

ROOT = Path(__file__).parents[2]
HEADER = ROOT / "coprime/bus/coprime_registers.h"


def run_tool(*arguments, root=ROOT):
    return subprocess.run(
        [sys.executable, root / "tools/registers.py", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=False,
    )


def test_generated_files_are_up_to_date():
    done = run_tool("--check")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "path",
    [
        "coprime/bus/registers.py",
        pytest.param("coprime/bus/coprime_registers.h", marks=pytest.mark.clients),
        pytest.param("coprime/operations/commands.py", marks=pytest.mark.clients),
        "docs/registers.md",
    ],
)
def test_check_names_the_stale_file_and_writing_mends_it(tmp_path, path):
    for folder in ("coprime", "tools", "docs"):
        unneeded = shutil.ignore_patterns("__pycache__", "_site")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=unneeded)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    stale = tmp_path / path
    good = stale.read_text()
    stale.write_text(good + "\n")
    done = run_tool("--check", root=tmp_path)
    assert done.returncode == 1
    assert done.stderr == f"{path} is not up to date: run python tools/registers.py\n"
    assert run_tool(root=tmp_path).returncode == 0
    assert stale.read_text() == good


def test_table_6():
    first = {register.name: (register.address, register.access) for register in REGISTERS[:7]}
    assert first == {
        "STATUS": (0x00, "RW"),
        "INPUT_LENGTH": (0x04, "W"),
        "OUTPUT_LENGTH": (0x08, "R"),
        "WRITE_ADDRESS": (0x0C, "W"),
        "READ_ADDRESS": (0x10, "W"),
        "INPUT_FIFO": (0x14, "W"),
        "OUTPUT_FIFO": (0x18, "R"),
    }
    places = [(field.name, field.offset, field.width) for field in registers.STATUS.fields]
    ours = ("RANDOM", 3, 1)
    assert places == [("DECRYPT", 0, 1), ("BUSY", 1, 1), ("START", 2, 1), ours]


def test_registers_are_distinct_and_fields_do_not_overlap():
    addresses = [register.address for register in REGISTERS]
    assert addresses == sorted(set(addresses))
    for register in REGISTERS:
        assert register.address % 4 == 0
        assert register.doc
        masks = [field.mask for field in register.fields]
        assert sum(masks) < 1 << 32
        assert sum(mask.bit_count() for mask in masks) == sum(masks).bit_count()
        assert all(field.doc for field in register.fields)


def test_a_cluster_shares_an_accelerator_s_registers():
    for register in cluster_registers.REGISTERS:
        twin = getattr(registers, register.name, register)
        assert register.address == twin.address
    for name in ("VERSION", "DIGITS", "MODULUS_LENGTH", "KEY_DATA"):
        assert getattr(cluster_registers, name) is getattr(registers, name)


def test_windows():
    """Aligned to their size, so that the upper bits of an address tell, and apart."""
    taken = {register.address for register in REGISTERS}
    for window in WINDOWS:
        assert window.words.bit_count() == 1
        assert window.address % (4 * window.words) == 0
        own = set(range(window.address, window.address + 4 * window.words, 4))
        assert max(own) < 4096
        assert not taken & own
        taken |= own
    assert [(window.name, window.access) for window in WINDOWS] == [
        ("PADDING_WINDOW", "W"),
        ("RANDOM_SAMPLES", "R"),
        ("DATA_WINDOW", "RW"),
        ("INPUT_WINDOW", "W"),
        ("OUTPUT_WINDOW", "R"),
        ("KEY_WINDOW", "W"),
    ]


def test_fields():
    assert registers.MAX_LENGTH["PRIME"].mask == 0xFFFF0000
    assert registers.MAX_LENGTH["PRIME"].of(0x12345678) == 0x1234
    with pytest.raises(KeyError, match="register STATUS has no field 'DONE'"):
        registers.STATUS["DONE"]
    assert registers.KEY_DATA.writable
    assert not registers.KEY_DATA.readable


@pytest.mark.skipif(
    shutil.which("cc") is None, reason="there is no C compiler (on Debian: apt-get install gcc)"
)
def test_header_compiles_and_agrees(tmp_path):
    everything = (*REGISTERS, *WINDOWS)
    lines = [f'{{"{r.name}", COPRIME_{r.name}}},' for r in everything]
    lines += [f'{{"{w.name}.WORDS", COPRIME_{w.name}_WORDS}},' for w in WINDOWS]
    lines += [
        f'{{"{r.name}.{f.name}", COPRIME_{r.name}_{f.name}_MASK}},'
        for r in everything
        for f in r.fields
    ]
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\n"
        f'#include "{HEADER.name}"\n'
        "static const struct { const char *name; unsigned value; } all[] = {\n"
        + "\n".join(lines)
        + '\n{"wipe", COPRIME_COMMAND_WIPE}, {"excess", COPRIME_ERROR_KEY_EXCESS},'
        '{"crt_q", COPRIME_OPERAND_CRT_Q}, {"digit", COPRIME_LENGTH_DIGIT}};\n'
        "int main(void) {\n"
        "for (unsigned i = 0; i < sizeof all / sizeof *all; i++)\n"
        'printf("%s %u\\n", all[i].name, all[i].value);\nreturn 0; }\n'
    )
    subprocess.run(
        ["cc", "-std=c99", "-pedantic", "-Wall", "-Werror", f"-I{HEADER.parent}", "main.c"],
        cwd=tmp_path,
        check=True,
    )
    done = subprocess.run([tmp_path / "a.out"], capture_output=True, text=True, check=True)
    found = {name: int(value) for name, value in map(str.split, done.stdout.splitlines())}
    expected = {register.name: register.address for register in everything}
    expected |= {f"{window.name}.WORDS": window.words for window in WINDOWS}
    for register in everything:
        expected |= {f"{register.name}.{f.name}": f.mask for f in register.fields}
    assert found == expected | {"wipe": 5, "excess": 11, "crt_q": 15, "digit": 4}


def test_page_has_every_register_field_and_code():
    spec = importlib.util.spec_from_file_location("registers_tool", ROOT / "tools/registers.py")
    tool = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = tool
    spec.loader.exec_module(tool)
    page = (ROOT / "docs/registers.md").read_text()
    for window in WINDOWS:
        last = window.address + 4 * (window.words - 1)
        assert f"Addresses 0x{window.address:X}..0x{last:X}, {window.access}." in page
    for register in (*REGISTERS, *WINDOWS):
        assert f"\n## {register.name}\n" in page
        for field in register.fields:
            assert f"| {field.name} | {field.access} |" in page
    for enumeration in tool.CODES:
        for code in enumeration:
            assert f"| {code.value} | {code.name} |" in page
