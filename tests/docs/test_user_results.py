"""What users send in from the vendors' tools: files are valid, and the table is of these files."""

import re
import tomllib

import pytest

from coprime import __version__
from coprime.bus.kinds import Bus
from coprime.catalog import choose, choose_calls, choose_suite
from coprime.cells.target import Target
from coprime.flow.parts import build_command
from coprime.package.vendor import TOOLS
from tools import user_results
from tools.user_results import FOLDER, PAGE, check, page, read_result, read_results

VALID = {
    "format": 1,
    "design": "coprime_fdfm",
    "coprime": __version__,
    "command": build_command(choose("fdfm", {"max_bits": "64"}), Target.XC7, Bus.AXI4_LITE, ()),
    "verilog_sha256": "0" * 64,
    "tool": "Vivado",
    "tool_version": "2023.2",
    "part": "xc7z020clg400-1",
    "speed_grade": "-1",
    "ports": "out of context",
    "measured": "2026-12-24",
    "area_units": "LUTs, registers, DSP slices, block RAM tiles",
    "lut": 834,
    "ff": 612,
    "dsp": 1,
    "bram": 2.5,
    "best_seed": 3,
    "constraint_ns": 5.0,
    "slack_ns": 0.1,
    "clock_mhz": 204.08,
    "runs": 24,
    "converged": True,
    "seeds": 4,
}


def toml(values):
    shown = {True: "true", False: "false"}
    return "".join(
        f"{key} = {shown[value] if isinstance(value, bool) else repr(value)}\n"
        for key, value in values.items()
    )


@pytest.fixture
def write(tmp_path):
    """A function that writes a result with some keys changed, or left out where None is given."""

    def write(name="mine.toml", **changed):
        values = {**VALID, **changed}
        kept = {key: value for key, value in values.items() if value is not None}
        (tmp_path / name).write_text(toml(kept), encoding="utf-8")
        return tmp_path / name

    return write


def test_every_result_is_valid_and_the_tables_are_of_today():
    """`make user-results` writes them."""
    assert check(FOLDER.glob("*.toml"), rebuild=False) == []
    text = PAGE.read_text("utf-8")
    assert page(text, read_results()) == text


def test_nothing_else_is_in_the_folder():
    assert {path.suffix for path in FOLDER.iterdir() if path.name != ".gitkeep"} <= {".toml"}


def test_the_page_says_whose_results_these_are():
    text = PAGE.read_text("utf-8")
    heading, _, section = text.partition("\n## Results\n")
    assert "measured by users, not by this project" in heading
    assert section.lstrip().startswith("Measured by users, not by this project.")
    assert ("None has been sent in yet." in section) == (not read_results())
    for tool in TOOLS:
        assert f"| `{tool.part}` |" in heading


def test_a_valid_result_is_a_row(write):
    write(by="A. User")
    write("later.toml", measured="2027-01-01", converged=False, tool="Vivado")
    found = read_results(write().parent)
    assert list(found) == ["later.toml", "mine.toml"]
    text = page(PAGE.read_text("utf-8"), found)
    rows = [line for line in text.splitlines() if ".toml`" in line and "| `fdfm " in line]
    assert len(rows) == 2
    assert "| 204.1, not converged | 834 | 612 | 1 | 2.5 | 4 | 2027-01-01, `later.toml`" in rows[0]
    assert "None has been sent in" not in text
    assert page(text, found) == text
    assert page(text, read_results()) == PAGE.read_text("utf-8")


def test_a_users_name_is_in_the_row(write):
    found = read_results(write(by="A. User").parent)
    assert "2026-12-24 by A. User, `mine.toml`" in user_results.results_table(found)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"clock_mhz": None, "lut": None}, "lacks lut, clock_mhz"),
        ({"mood": "good"}, "has what no result has: mood"),
        ({"lut": "834"}, "lut must be a whole number, not '834'"),
        ({"bram": "unknown"}, "bram must be a number, not 'unknown'"),
        ({"lut": True}, "lut must be a whole number, not True"),
        ({"converged": 1}, "converged must be true or false, not 1"),
        ({"by": "one | two"}, r"by must be one line without \| and `, not .*"),
        ({"format": 2}, "format must be 1, not 2"),
        ({"tool": "nextpnr"}, "tool must be one of Vivado, Quartus, Radiant, Diamond, Efinity"),
        ({"ports": "registered"}, "ports are 'out of context' in Vivado, not 'registered'"),
        ({"ff": -1}, "ff must be 0 or more, not -1"),
        ({"slack_ns": -0.1}, "slack_ns must be 0 or more, not -0.1"),
        ({"best_seed": 5}, "best_seed must be one of the seeds, and runs no fewer than these"),
        ({"slack_ns": 6.0}, "slack_ns must be below constraint_ns, not 6.0"),
        ({"clock_mhz": 300}, "clock_mhz must be 204.08, which follows from .*, not 300"),
        ({"verilog_sha256": "0"}, "verilog_sha256 is no SHA-256: '0'"),
        ({"measured": "today"}, "measured is no date: 'today'"),
        ({"command": "make"}, "command builds no design that Coprime knows: 'make'"),
        ({"command": "coprime build fast"}, "command builds no design that Coprime knows: .*"),
        ({"design": "coprime_ring"}, "command builds coprime_fdfm, not coprime_ring"),
        ({"command": "coprime build fdfm -p fast=1"}, "command builds nothing: .*"),
        ({"command": "coprime build fdfm"}, "command is not as Coprime writes it: .*"),
        (
            {"command": VALID["command"].replace("xc7", "ecp5")},
            "packages for ecp5 have no script for Vivado",
        ),
    ],
)
def test_a_wrong_result_is_refused_with_a_sentence(write, capsys, changed, message):
    path = write(**changed)
    (said,) = check([path], rebuild=False)
    assert re.fullmatch(f"mine.toml: {message}", said), said


def test_what_is_no_toml_is_refused(tmp_path):
    (tmp_path / "mine.toml").write_text("format 1")
    (said,) = check([tmp_path / "mine.toml"], rebuild=False)
    assert said.startswith("mine.toml: Expected '='")
    assert check([tmp_path / "none.toml"], rebuild=False)


def test_designs_of_other_versions_are_known_by_their_family(write):
    older = {"coprime": "0.1.0", "command": "coprime build fdfm -p forgotten=1 --target xc7"}
    assert check([write(**older)], rebuild=False) == []
    (said,) = check([write(**older)], rebuild=True)
    assert said == f"mine.toml: is of Coprime 0.1.0, and cannot be rebuilt by {__version__}"


def test_every_kind_of_design_is_known(write):
    for choice, target in (
        (choose("cluster", {"cores": "2", "max_bits": "64"}), Target.XC7),
        (choose_calls("shake", {}), Target.GENERIC),
        (choose_suite({"engines": "compact+shake"}), Target.GENERIC),
        (choose("compression", {"modulus": "2^16+1"}), Target.XC7),
    ):
        command = build_command(choice, target, Bus.AXI4, ())
        path = write(command=command, design=choice.module_name)
        assert check([path], rebuild=False) == []


@pytest.mark.matrix
def test_a_result_that_is_built_again_is_compared(write):
    command = build_command(choose("compression", {"modulus": "2^16+1"}), Target.XC7, Bus.AXI4, ())
    compression = {"design": "coprime_compression", "command": command}
    (said,) = check([write(**compression)], rebuild=True)
    digest = re.fullmatch("mine.toml: verilog_sha256 is (.*) of what command builds", said)[1]
    assert check([write(**compression, verilog_sha256=digest)], rebuild=True) == []


def test_the_command_checks_files(write, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["user_results", str(write(format=2))])
    assert user_results.main() == 1
    assert capsys.readouterr().err == "user_results: mine.toml: format must be 1, not 2\n"
    monkeypatch.setattr("sys.argv", ["user_results", str(write())])
    assert user_results.main() == 0
    assert tomllib.loads(write().read_text("utf-8")) == VALID
    assert read_result(write()).clock_mhz == VALID["clock_mhz"]


def test_a_page_without_a_place_for_a_table_is_refused():
    with pytest.raises(ValueError, match=r"user_results\.md has no place for the table of tools"):
        page("", {})
