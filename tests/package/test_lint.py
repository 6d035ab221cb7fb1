"""Verilator has no warning of the exported Verilog, but for those that the waivers explain."""

from itertools import pairwise

import pytest

from coprime.bus.kinds import Bus
from coprime.catalog import CLUSTER, FAMILIES, choose, choose_calls
from coprime.cells.target import Target
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import run_tool, verilator_root
from coprime.package.describe import describe
from coprime.package.lint import LATER_RULES, RULES, files
from coprime.package.package import write_package

SMALL = {"compression": {"modulus": "2^16+1"}, "direct": {"modulus": "2^16+1"}}


def settings(family):
    return SMALL.get(family, {"max_bits": "64"})


def lint(folder, name, *others):
    root = verilator_root()
    command = [root / "bin" / "verilator_bin", "--lint-only", "-Wall", "--top-module", name]
    run_tool(
        "Verilator",
        [*command, f"{name}.vlt", f"{name}_later.vlt", f"{name}.v", *others],
        folder=folder,
        environment={"VERILATOR_ROOT": str(root)},
    )


@pytest.mark.parametrize(
    "family",
    [one if one == "fdfm" else pytest.param(one, marks=pytest.mark.clients) for one in FAMILIES],
)
def test_every_family_is_clean(tmp_path, family):
    choice = choose(family, settings(family))
    write_package(choice, Target.GENERIC, tmp_path)
    lint(tmp_path, choice.module_name)


@pytest.mark.parametrize("target", [Target.XC7, Target.ECP5])
@pytest.mark.parametrize(
    "family",
    [
        one if one == "fdfm" else pytest.param(one, marks=pytest.mark.clients)
        for one in ("fdfm", "compact", "ring", "karatsuba")
    ],
)
def test_vendor_cells_are_clean_with_their_models(tmp_path, family, target):
    choice = choose(family, settings(family))
    write_package(choice, target, tmp_path)
    lint(tmp_path, choice.module_name, f"sim/cells_{target.value}.v")


@pytest.mark.clients
@pytest.mark.parametrize("bus", Bus)
def test_a_cluster_is_clean(tmp_path, bus):
    choice = choose(CLUSTER, {"engine": "compact", "cores": "2", "max_bits": "64"})
    write_package(choice, Target.GENERIC, tmp_path, bus)
    lint(tmp_path, choice.module_name)


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("target", [Target.GENERIC, Target.XC7])
def test_an_engine_of_byte_strings_is_clean(tmp_path, target):
    choice = choose_calls("shake", {"slices": "4"})
    write_package(choice, target, tmp_path)
    cells = ["sim/cells_xc7.v"] if target is Target.XC7 else []
    lint(tmp_path, choice.module_name, *cells)


@pytest.mark.clients
@pytest.mark.parametrize("scheme", ["ml-kem", "ml-dsa", "both"])
def test_lattice_is_clean(tmp_path, scheme):
    choice = choose_calls("lattice", {"schemes": scheme})
    write_package(choice, Target.XC7, tmp_path)
    lint(tmp_path, choice.module_name, "sim/cells_xc7.v")


@pytest.mark.clients
@pytest.mark.parametrize("rule", [*RULES, *LATER_RULES])
def test_no_waiver_is_superfluous(tmp_path, rule):
    choice = choose("fdfm", settings("fdfm"))
    write_package(choice, Target.GENERIC, tmp_path)
    for path, text in files(describe(choice, Target.GENERIC)).items():
        (tmp_path / path).write_text(text.replace(f"lint_off -rule {rule} ", "// "))
    with pytest.raises(ToolError, match=f"Warning-{rule}"):
        lint(tmp_path, choice.module_name)


def test_every_waiver_has_a_reason():
    for text in files(describe(choose("fdfm", settings("fdfm")), Target.XC7)).values():
        lines = text.splitlines()
        for before, line in pairwise(lines):
            assert not line.startswith("lint_off") or before.startswith("// ")
