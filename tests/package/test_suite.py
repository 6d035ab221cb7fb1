"""Packages of a suite: an engine of numbers and one of byte strings behind one slave."""

import json
import re

import pytest
from cmsis_svd import SVDParser

from coprime.catalog import choose
from coprime.cells.target import Target
from coprime.package.describe import describe
from coprime.package.package import check_design, package, write_package
from coprime.padding.scheme import Padding
from coprime.random.kinds import RandomSource
from coprime.suites import SuiteChoice
from tests.calls.vault import VAULT
from tests.package.test_lint import lint
from tests.package.test_testbench import ICARUS, assert_passes, simulate

COMPACT = choose("compact", {"max_bits": "64"})
CHOICE = SuiteChoice((COMPACT, VAULT))


@pytest.fixture(scope="module")
def contents():
    return package(describe(CHOICE, Target.GENERIC))


def test_the_files_are_those_of_both_kinds(contents):
    name = CHOICE.module_name
    vault = CHOICE.modules[1]
    assert {f"{name}.v", "coprime_registers.h", "coprime_suite.h", f"{vault}.h"} <= contents.keys()
    sources = {path for path in contents if path.startswith("drivers/src/")}
    assert {"coprime.c", "coprime_calls.c", "coprime_call_cores.c", "coprime_curves.c"} <= {
        path.rpartition("/")[2] for path in sources
    }
    assert not [path for path in sources if "cluster" in path]
    assert "COPRIME_SUITE_CORE_COMPACT = 0," in contents["coprime_suite.h"]
    assert f"COPRIME_SUITE_CORE_{CHOICE.names[1].upper()} = 1," in contents["coprime_suite.h"]
    modules = re.findall(r"^module (\w+)\b", contents[f"{name}.v"], re.MULTILINE)
    assert {name, *CHOICE.modules} <= set(modules) and len(modules) == len(set(modules))


def test_the_data_sheet_has_the_cycles_of_each_engine_alone(contents):
    sheet = json.loads(contents["doc/data_sheet.json"])
    alone = json.loads(package(describe(VAULT, Target.GENERIC))["doc/data_sheet.json"])
    assert sheet["vault_calls"] == alone["calls"]
    assert [one["name"] for one in sheet["cores"]] == ["compact", "vault"]
    assert not {"operations", "calls", "assessed"} & sheet.keys()
    assert "## vault: cycles and times" in contents["doc/data_sheet.md"]
    values = {one["name"]: one["value"] for one in sheet["parameters"]}
    assert (values["engines"], values["compact.max_bits"]) == ("compact+vault", "64")


def test_registers_are_those_of_all_engines(tmp_path, contents):
    path = tmp_path / "design.svd"
    path.write_text(contents[f"{CHOICE.module_name}.svd"])
    [peripheral] = SVDParser.for_xml_file(path).get_device().peripherals
    found = {one.name: one for one in peripheral.registers if hasattr(one, "name")}
    assert {"MODULUS_LENGTH", "SLOT_LENGTH", "CORE_SELECT", "RESIDUE"} <= found.keys()
    assert found["CORES"].reset_value == 2
    assert found["CAPABILITIES"].reset_value >> 23 & 1


@pytest.mark.matrix
def test_verilator_has_no_warning(tmp_path):
    write_package(CHOICE, Target.GENERIC, tmp_path)
    lint(tmp_path, CHOICE.module_name)


def test_paddings_are_for_engines_of_numbers():
    check_design(CHOICE, [Padding.OAEP])
    with pytest.raises(ValueError, match="no engine of the suite works on numbers"):
        check_design(SuiteChoice((VAULT, VAULT)), [Padding.OAEP])


@pytest.mark.clients
@ICARUS
def test_the_testbench_passes_and_finds_a_core_that_is_always_selected(tmp_path):
    # A core in the middle draws; another one is the same module as the first.
    choice = SuiteChoice((VAULT, COMPACT, VAULT), RandomSource.SEEDED)
    write_package(choice, Target.GENERIC, tmp_path)
    assert_passes(tmp_path, QUICK=1)
    path = tmp_path / f"{choice.module_name}.v"
    text = path.read_text()
    [right] = re.findall(r"selected <= registers__write_data\S*;", text)
    path.write_text(text.replace(right, "selected <= 2'h1;"))
    status, lines = simulate(tmp_path, FIRST=1, QUICK=1)
    assert status != 0
    assert any(line.startswith("FAIL  ") for line in lines)
