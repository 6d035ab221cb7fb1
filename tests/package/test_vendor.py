"""The vendors' scripts, run with doubles of the tools; none of these has been run here."""

import ast
import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib import resources
from pathlib import Path

import pytest

from coprime import __version__
from coprime.cells.target import Target
from coprime.flow.routing import WRAPPER
from coprime.flow.tools import run_yosys
from coprime.package import vendor
from coprime.package.description import Description
from coprime.package.license import licensed
from coprime.package.manifest import MANIFEST, manifest
from coprime.package.vendor import TOOLS, tools_of
from tests.package.designs import described
from tests.package.vendor_doubles import Diamond, Hardware, Quartus, Radiant, Vivado
from tests.package.vendor_tcl import commands_of, run_tcl

DOUBLES = {"Vivado": Vivado, "Quartus": Quartus, "Radiant": Radiant, "Diamond": Diamond}
IN_TCL = [tool for tool in TOOLS if tool.in_tcl]
each_tool = pytest.mark.parametrize("tool", IN_TCL, ids=lambda tool: tool.name)
EFINITY = next(tool for tool in TOOLS if not tool.in_tcl)


@cache
def texts(target: Target) -> dict[str, str]:
    """The files that a script needs; the Verilog is of no interest here."""
    description = described("fdfm", target)
    contents = licensed({description.verilog: "module coprime_fdfm;\nendmodule\n"})
    contents = {**contents, **licensed(vendor.files(description))}
    return {**contents, MANIFEST: manifest(contents)}


def write(folder: Path, target: Target) -> Path:
    """Write a package's files into a folder, and return it."""
    for path, text in texts(target).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def target_of(tool):
    return min(tool.targets, key=lambda target: list(Target).index(target))


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """The folder of a package for each target that has scripts."""
    folder = tmp_path_factory.mktemp("packages")
    return {target: write(folder / target.value, target) for target in Target if tools_of(target)}


@pytest.fixture
def run(tmp_path, monkeypatch, packages):
    """A function that runs the script of a tool; gives what it did, and the result if any."""
    monkeypatch.chdir(tmp_path)

    def run(tool, double, *arguments, trace=False):
        script = packages[target_of(tool)] / "vendor" / tool.script
        outcome = run_tcl(double, script, *arguments, trace=trace)
        found = [*Path().glob("*.toml")]
        result = tomllib.loads(found[0].read_text("utf-8")) if found else None
        return outcome, result

    return run


# --- The search -----------------------------------------------------------------------------------


@each_tool
@pytest.mark.parametrize("start", ["", "20", "600"])
def test_the_search_converges(run, tool, start):
    """From below and from above, to within the noise and a hundredth of the highest clock."""
    double = DOUBLES[tool.name](Hardware(limit_ns=5.0, spread=0.02))
    arguments = [tool.part, "4", start] if start else []
    outcome, result = run(tool, double, *arguments)
    assert (outcome.status, outcome.errors) == (None, [])
    assert result["converged"] is True or start == "20"
    low = 0.7 if start == "20" else 0.97
    assert low * 200 <= result["clock_mhz"] <= 200.5
    assert result["runs"] == len(double.runs) <= 32
    reached = result["constraint_ns"] - result["slack_ns"]
    assert result["clock_mhz"] == pytest.approx(1000 / reached, rel=1e-3)
    assert result["slack_ns"] >= 0


@each_tool
def test_the_best_seed_is_taken(run, tool):
    double = DOUBLES[tool.name](Hardware(spread=0.2))
    _, result = run(tool, double, tool.part, "6")
    period, seed = result["constraint_ns"], result["best_seed"]
    slacks = {
        seed: round(period - double.hardware.reached(seed, period), 3) for seed in range(1, 7)
    }
    assert slacks[seed] == max(slacks.values()) == pytest.approx(result["slack_ns"], abs=2e-3)
    assert {seed for _, seed in double.runs} == {*range(1, 7)}


@each_tool
def test_a_clock_far_below_the_highest_does_not_converge_and_says_so(run, tool):
    outcome, result = run(tool, DOUBLES[tool.name](Hardware(lazy=0.999)), tool.part, "1", "20")
    assert result["converged"] is False
    assert "not converged in 8 rounds; start from the clock that was reached" in outcome.said[-2]


def test_the_search_is_the_same_in_tcl_and_in_python(run, packages, tmp_path, monkeypatch):
    """Constraint by constraint, with the same hardware."""
    efinity = loaded(packages)
    for number, hardware in enumerate(
        (Hardware(), Hardware(limit_ns=20, spread=0.3), Hardware(unrouted=lambda s, p: p < 6))
    ):
        double = Vivado(hardware)
        folder = tmp_path / f"search{number}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        run(IN_TCL[0], double, "", "3", "90")
        twin = Twin(efinity, hardware)
        found = efinity.search(twin, 3, 90.0)
        assert twin.runs == double.runs
        (path,) = folder.glob("*.toml")
        result = tomllib.loads(path.read_text("utf-8"))
        assert result["clock_mhz"] == float(found["clock_mhz"])
        assert result["runs"] == found["runs"]
        assert result["best_seed"] == found["best_seed"]


class Twin:
    """The double of a tool for the search in Python."""

    def __init__(self, efinity, hardware):
        self.efinity, self.hardware, self.period, self.runs = efinity, hardware, 0.0, []

    def synthesize(self, period):
        self.period = float(period)

    def route(self, seed):
        self.runs.append((self.period, seed))
        if self.hardware.unrouted(seed, self.period):
            raise self.efinity.Failed("not routed")
        slack = round(self.period - self.hardware.reached(seed, self.period), 3)
        return {"slack_ns": slack}


# --- What goes wrong ------------------------------------------------------------------------------


def fails(run, tool, hardware, message, *arguments, **options):
    """The script ends with status 1, one message, and no result."""
    double = DOUBLES[tool.name](hardware, **options)
    outcome, result = run(tool, double, *arguments)
    assert (outcome.status, result) == (1, None)
    (error,) = outcome.errors
    assert re.fullmatch(f"coprime: ERROR: {message}", error), error


@each_tool
def test_a_design_that_is_not_routed_ends_with_an_error(run, tool):
    message = r"no seed led to a result at [\d.]+ MHz: .*(did not route all nets|unsuccessful)"
    fails(run, tool, Hardware(unrouted=lambda seed, period: True), message)


@each_tool
def test_a_design_that_never_meets_its_clock_ends_with_an_error(run, tool):
    slack = r"at [\d.]+ MHz the slack is -[\d.]+ ns"
    lowest = f"no clock is met: {slack}, and nothing below 1 MHz is tried"
    fails(run, tool, Hardware(always_misses=1.0), lowest, tool.part, "2", "100")
    rounds = f"no clock is met in 8 rounds: {slack}; start from a lower MHZ"
    fails(run, tool, Hardware(always_misses=0.1), rounds, tool.part, "1", "100")


@each_tool
def test_a_seed_that_fails_is_left_out(run, tool):
    bad = Hardware(unrouted=lambda seed, period: seed == 1, hold=lambda seed, period: seed == 2)
    outcome, result = run(tool, DOUBLES[tool.name](bad), tool.part, "3")
    assert result["best_seed"] == 3
    assert any(re.search("seed 1: .*(route|unsuccessful)", line) for line in outcome.said)
    assert any(re.search("seed 2: .*[Hh]old.* violated", line) for line in outcome.said)


@each_tool
def test_a_clock_at_which_all_seeds_fail_counts_as_missed(run, tool):
    hardware = Hardware(limit_ns=4.0, lazy=0.9, unrouted=lambda seed, period: period < 7)
    _, result = run(tool, DOUBLES[tool.name](hardware), tool.part, "2", "100")
    assert result["constraint_ns"] >= 7


@each_tool
def test_an_area_that_is_in_no_report_is_unknown(run, tool):
    outcome, result = run(tool, DOUBLES[tool.name](Hardware(empty="area")), "", "1")
    assert result["clock_mhz"] > 100
    for key in ("lut", "ff", "bram"):
        assert result[key] == "unknown"
    warned = "WARNING: the tool's reports do not have the registers; the result has it as unknown"
    assert sum(warned in line for line in outcome.said) == 1


@each_tool
def test_a_time_that_is_in_no_report_is_an_error(run, tool):
    message = r"no seed led to a result at [\d.]+ MHz: .* (not have .*|no path to time)"
    fails(run, tool, Hardware(empty="timing"), message, "", "1")


@each_tool
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", "0"), r"SEEDS must be a number from 1 to \d+, not 0"),
        (("", "100"), r"SEEDS must be a number from 1 to \d+, not 100"),
        (("", "many"), r"SEEDS must be a number from 1 to \d+, not many"),
        (("", "08", "0"), "MHZ must be a number from 1 to 2000, not 0"),
        (("", "4", "2001"), "MHZ must be a number from 1 to 2000, not 2001"),
        (("", "4", "fast"), "MHZ must be a number from 1 to 2000, not fast"),
        (("", "4", "9", "x"), "the arguments are PART, SEEDS and MHZ, not: .*4 9 x"),
        (("no-such-part",), ".*no-such-part.*"),
    ],
)
def test_wrong_arguments_are_refused(run, tool, arguments, message):
    fails(run, tool, Hardware(), message, *arguments)


@each_tool
def test_a_changed_verilog_is_refused(tool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    package = write(tmp_path / "package", target_of(tool))
    script = package / "vendor" / tool.script
    (package / "coprime_fdfm.v").write_text("module coprime_fdfm; wire mine; endmodule\n")
    outcome = run_tcl(DOUBLES[tool.name](), script)
    assert outcome.status == 1
    assert "coprime_fdfm.v is not as coprime build wrote it" in outcome.errors[0]
    (package / MANIFEST).write_text("0  other.v\n")
    assert "does not list coprime_fdfm.v" in run_tcl(DOUBLES[tool.name](), script).errors[0]
    (package / MANIFEST).unlink()
    assert "there is no " in run_tcl(DOUBLES[tool.name](), script).errors[0]


# --- The tools ------------------------------------------------------------------------------------


@each_tool
def test_the_result_has_the_design_and_the_tool(run, tool):
    _, result = run(tool, DOUBLES[tool.name]())
    own = described("fdfm", target_of(tool))
    digests = dict(
        reversed(line.split("  ")) for line in texts(target_of(tool))[MANIFEST].splitlines()
    )
    assert (result["format"], result["design"], result["coprime"]) == (1, own.name, __version__)
    assert result["command"] == own.command
    assert result["verilog_sha256"] == digests[own.verilog]
    assert (result["tool"], result["part"], result["ports"]) == (tool.name, tool.part, tool.ports)
    versions = {
        "Vivado": ("2023.2", "-1"),
        "Quartus": ("20.1.1 Build 720 11/11/2020 SJ Lite Edition", "7"),
        "Radiant": ("2023.1.0.43.3", "9_High-Performance_1.0V"),
        "Diamond": ("3.12.0.240.2", "6"),
    }
    assert (result["tool_version"], result["speed_grade"]) == versions[tool.name]
    areas = {
        "Vivado": (834, 612, 1, 2.5),
        "Quartus": (1234, 2345, 1, 3),
        "Radiant": (2345, 1234, 1, 2),
        "Diamond": (2345, 1234, 1, 2),
    }
    assert tuple(result[key] for key in ("lut", "ff", "dsp", "bram")) == areas[tool.name]
    assert result["seeds"] == 4


@pytest.mark.matrix
def test_every_line_of_the_scripts_runs(run, monkeypatch, tmp_path):
    """Those of procedures; the others run wherever a script does."""
    search = [
        (Hardware(lazy=0.999), ("", "1", "20")),
        (Hardware(always_misses=1.0), ("", "1", "2")),
        (Hardware(empty="paths"), ("", "1")),
        *((Hardware(), words) for words in (("", "0"), ("", "1", "0"), ("", "", "", ""))),
    ]
    each = [
        (Hardware(always_misses=0.002), ("", "1")),
        (Hardware(unrouted=lambda s, p: s == 1, hold=lambda s, p: s == 2), ("", "3", "190")),
        *((Hardware(empty=kind), ("", "1", "190")) for kind in ("area", "timing")),
        (Hardware(), ("no-such-part",)),
    ]
    lines = {}
    for tool in IN_TCL:
        for hardware, words in each + (search if tool.name == "Vivado" else []):
            folder = tmp_path / f"scenario{len([*tmp_path.iterdir()])}"
            folder.mkdir()
            monkeypatch.chdir(folder)
            outcome, _ = run(tool, DOUBLES[tool.name](hardware), *words, trace=True)
            for file, executed in outcome.lines.items():
                lines.setdefault(file, set()).update(executed)
    for tool in IN_TCL:
        for file in (tool.script, "clock_search.tcl"):
            text = texts(target_of(tool))[f"vendor/{file}"]
            written = text.splitlines()
            commands = commands_of(text) - {
                number
                for number in commands_of(text)
                if any(part in written[number - 1] for part in IN_ANOTHER_TEST)
            }
            assert len(commands) > 15
            assert not {number: written[number - 1] for number in commands - lines[file]}


IN_ANOTHER_TEST = ("does not list", "is not as coprime build", "there is no $path")
"""In test_a_changed_verilog_is_refused."""


NEWER = r"(?:^|\[) *(try|throw|lmap|tailcall|coroutine|yield|string cat|dict (?:map|filter)) "
"""Commands that Tcl 8.5, which some of the tools have, lacks."""


@each_tool
def test_scripts_are_tcl_8_5(tool):
    for file in (tool.script, "clock_search.tcl"):
        assert not re.findall(NEWER, texts(target_of(tool))[f"vendor/{file}"], re.M)


def test_every_port_but_the_clock_is_a_virtual_pin(run):
    quartus = next(tool for tool in TOOLS if tool.name == "Quartus")
    for edition in ("Lite", "Standard", "Pro"):
        double = Quartus(edition=edition)
        run(quartus, double, "", "1")
    bits = {
        port.name if port.width == 1 else f"{port.name}[{bit}]"
        for port in described("fdfm").ports
        for bit in range(port.width)
    }
    assert double.virtual == bits - {"s_axi_aclk"}


def test_ring_oscillators_have_their_constraints():
    own = described("fdfm", Target.XC7)
    assert "noise.xdc" not in vendor.files(own)["vendor/vivado_clock.tcl"]
    noisy = type("Noisy", (Description,), {"trng": True})(own.choice, own.kind, own.target, own.bus)
    script = vendor.files(noisy)["vendor/vivado_clock.tcl"]
    assert "read_xdc [file join $coprime::package coprime_fdfm_noise.xdc]" in script


def test_targets_have_the_scripts_of_their_tools():
    for target in Target:
        paths = vendor.files(described("fdfm", target))
        scripts = {path.removeprefix("vendor/") for path in paths}
        expected = {tool.script for tool in tools_of(target)}
        if any(tool.in_tcl for tool in tools_of(target)):
            expected.add("clock_search.tcl")
        if any(tool.ports == "registered" for tool in tools_of(target)):
            expected.add("registered_ports.v")
        assert scripts == expected
    names = {target: [tool.name for tool in tools_of(target)] for target in Target}
    assert names[Target.GENERIC] == ["Vivado", "Quartus", "Radiant", "Efinity"]
    assert names[Target.XC7] == ["Vivado"]
    assert names[Target.NEXUS] == ["Radiant"]
    assert names[Target.ECP5] == ["Diamond"]
    assert not names[Target.GOWIN] + names[Target.ICE40] + names[Target.GATEMATE]


def test_the_registered_module_has_every_port():
    own = described("fdfm", Target.NEXUS)
    text = vendor.files(own)["vendor/registered_ports.v"]
    connected = re.findall(r"\.\\(\w+) \((?:in|out)puts\[\d+ \+: (\d+)\]\)", text)
    assert {(name, int(width)) for name, width in connected} == {
        (port.name, port.width) for port in own.ports if port.name != "s_axi_aclk"
    }
    assert re.search(r"coprime_fdfm dut\(\.s_axi_aclk\(clk\), ", text)


# --- Efinity --------------------------------------------------------------------------------------


def loaded(packages):
    """Efinity's script as a module."""
    path = packages[Target.GENERIC] / "vendor" / EFINITY.script
    spec = importlib.util.spec_from_file_location("efinity_clock", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EFX_RUN = """#!{python} -IS
import re, sys
assert sys.argv[1:4] == ["clock.xml", "--prj", "-f"], sys.argv
flow = sys.argv[4]
project, period = open("clock.xml").read(), open("clock.sdc").read()
assert 'device name="Ti60F225"' in project and 'timing_model name="C4"' in project
assert 'top_module name="coprime_wrapper"' in project
period = float(re.fullmatch(
    r"create_clock -name clk -period ([\\d.]+) \\[get_ports clk\\]\\n", period
)[1])
seed = int(re.search('name="seed" value="(\\\\d+)"', project)[1])
import os
os.makedirs("outflow", exist_ok=True)
if flow == "map":
    open("coprime_fdfm.v"), open("registered_ports.v")
    open("outflow/clock.map.rpt", "w").write(
        "EFX_ADD         : \\t183\\nEFX_LUT4        : \\t341\\nEFX_FF          : \\t388\\n"
    )
    sys.exit(0)
assert flow == "pnr"
if seed == {unrouted}:
    print("ERROR: not routed")
    sys.exit(1)
slack = period - 5 - seed / 10
open("outflow/clock.place.rpt", "w").write("" if {empty} else
    "XLRs: 900 / 60800 (1.4%)\\nMemory Blocks: 3 / 256 (1.1%)\\nDSP Blocks: 1 / 160 (0.6%)\\n"
)
open("outflow/clock.timing.rpt", "w").write(
    "Setup (Max) Clock Relationship\\n"
    "Launch Clock    Capture Clock    Constraint (ns)   Slack (ns)    Edge\\n"
    f" clk            clk                {{period:.3f}}        {{slack:.3f}}    (R-R)\\n\\n"
    "Hold (Min) Clock Relationship\\n"
    f" clk            clk                0.000    {{-0.1 if seed == {hold} else 0.1}}  (R-R)\\n"
)
"""


@pytest.fixture
def efinity(tmp_path, packages):
    """A function that runs Efinity's script with a program in place of its flow."""
    script = packages[Target.GENERIC] / "vendor" / EFINITY.script
    scripts, here = tmp_path / "scripts", tmp_path / "efinity_here"
    scripts.mkdir()
    here.mkdir()
    (scripts / "sw_version.txt").write_text("2025.1.110.2.15\n")

    def run(*arguments, unrouted=0, hold=0, empty=False, installed=True):
        program = scripts / "efx_run.py"
        program.write_text(
            EFX_RUN.format(python=sys.executable, unrouted=unrouted, hold=hold, empty=empty)
        )
        program.chmod(0o700 if installed else 0o600)
        done = subprocess.run(
            [sys.executable, script, *arguments],
            cwd=here,
            env={"PATH": str(scripts)},
            capture_output=True,
            text=True,
            check=False,
        )
        found = [*here.glob("*.toml")]
        return done, tomllib.loads(found[0].read_text("utf-8")) if found else None

    return run


def test_efinity_finds_the_highest_clock(efinity):
    done, result = efinity("Ti60F225C4", "3", "185", unrouted=1, hold=2)
    assert (done.returncode, done.stderr) == (0, "")
    assert "seed 1: efx_run.py -f pnr failed: efinity.log has its messages" in done.stdout
    assert "seed 2: hold times are violated by 0.1 ns" in done.stdout
    assert result["clock_mhz"] == pytest.approx(1000 / 5.3, rel=0.001)
    assert (result["best_seed"], result["converged"]) == (3, True)
    assert (result["tool"], result["tool_version"]) == ("Efinity", "2025.1.110.2.15")
    assert (result["lut"], result["ff"], result["dsp"], result["bram"]) == (524, 388, 1, 3)
    assert (result["part"], result["speed_grade"]) == ("Ti60F225C4", "C4")
    assert result["ports"] == EFINITY.ports


def test_an_area_that_efinity_does_not_report_is_unknown(efinity):
    done, result = efinity("", "1", "190", empty=True)
    assert (result["dsp"], result["bram"], result["ff"]) == ("unknown", "unknown", 388)
    assert done.stdout.count("reports do not have the memory blocks") == 1


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            (),
            {"installed": False},
            "efx_run.py is not on PATH: source bin/setup.sh of Efinity first",
        ),
        (
            ("T20Q144",),
            {},
            "PART must be device and timing model in one word, as Ti60F225C4, not .*",
        ),
        (("", "0"), {}, "SEEDS must be a number from 1 to 99, not 0"),
        (("", "", "fast"), {}, "MHZ must be a number from 1 to 2000, not fast"),
        (("", "", "", ""), {}, "the arguments are PART, SEEDS and MHZ, not: .*"),
        (("", "1"), {"unrouted": 1}, "no seed led to a result at 100.00 MHz: efx_run.py .*"),
    ],
)
def test_efinity_says_what_is_wrong(efinity, arguments, options, message):
    done, result = efinity(*arguments, **options)
    assert (done.returncode, result) == (1, None)
    assert re.fullmatch(f"coprime: ERROR: {message}\n", done.stderr), done.stderr


def test_parts_of_efinix_have_a_family(packages):
    efinity = loaded(packages)
    pattern = next(
        node.args[0].value
        for node in ast.walk(ast.parse(Path(efinity.__file__).read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.match"
    )
    for part, device, family, model in (
        ("Ti60F225C4", "Ti60F225", "Titanium", "C4"),
        ("Ti180M484I4L", "Ti180M484", "Titanium", "I4L"),
        ("T20F256C4", "T20F256", "Trion", "C4"),
        ("T20Q100F3C4", "T20Q100F3", "Trion", "C4"),
        ("Tz50F225C3", "Tz50F225", "Topaz", "C3"),
    ):
        found = re.match(pattern, part)
        assert (found[1], efinity.FAMILIES[found[2]], found[3]) == (device, family, model)


def test_efinitys_python_is_that_of_efinity():
    """Efinity brings Python 3.8, and 3.11 with later versions."""
    ast.parse(texts(Target.GENERIC)["vendor/efinity_clock.py"], feature_version=(3, 8))


def test_the_keys_of_a_result_are_the_same_in_tcl_and_in_python(run, efinity):
    _, first = run(IN_TCL[0], Vivado(), "", "1")
    _, second = efinity("", "1")
    assert list(first) == list(second)
    assert json.dumps(first)


# --- Names of the vendors -------------------------------------------------------------------------

LIBRARIES = {
    Target.XC7: ("xilinx/cells_sim.v", "xilinx/cells_xtra.v"),
    Target.ECP5: ("ecp5/cells_sim.v", "ecp5/cells_bb.v"),
}
"""What Yosys has of the primitives that the Verilog names; for other targets it names none."""


def library(*paths: str) -> set[str]:
    """Names of the modules in files of Yosys."""
    share = resources.files("pyosys") / "share"
    return {
        name
        for path in paths
        for name in re.findall(r"^\s*module\s+\\?(\w+)", (share / path).read_text("utf-8"), re.M)
    }


@pytest.mark.matrix(quick=2)
def test_primitives_of_the_verilog_are_in_the_vendors_library(contents):
    (verilog,) = (text for path, text in contents.items() if re.fullmatch(r"\w+\.v", path))
    target = Target(re.search(r"--target (\w+) -o DIR", verilog)[1])
    modules = {*re.findall(r"^module (\w+)", verilog, re.M)}
    instances = {*re.findall(r"^  (\w+) (?:#\(\n?|\w+ \()", verilog, re.M)}
    named = instances - modules - {"always", "assign", "initial", "if", "for", "case", "begin"}
    assert named <= library(*LIBRARIES.get(target, ())), named
    assert bool(named) == (target in (Target.XC7, Target.ECP5))


@pytest.mark.parametrize(
    ("script", "target", "pattern", "paths"),
    [
        ("efinity_clock.py", Target.GENERIC, r"\bEFX_\w+", ("efinix/cells_sim.v",)),
        ("diamond_clock.tcl", Target.ECP5, r"MULT18X\w+", ("ecp5/cells_sim.v", "ecp5/cells_bb.v")),
        ("radiant_clock.tcl", Target.NEXUS, r"\bMULT\d+\b", ("nexus/cells_xtra.v",)),
        (
            "vivado_clock.tcl",
            Target.XC7,
            r"\bBUFG\w+",
            ("xilinx/cells_sim.v", "xilinx/cells_xtra.v"),
        ),
    ],
)
def test_primitives_that_scripts_name_are_in_the_vendors_library(script, target, pattern, paths):
    named = {*re.findall(pattern, vendor.files(described("fdfm", target))[f"vendor/{script}"])}
    assert named
    assert named <= library(*paths), named


@pytest.mark.route
def test_yosys_reads_the_registered_module(tmp_path):
    own = described("fdfm", Target.NEXUS)
    (tmp_path / "design.v").write_text(own.kind.verilog(own.target, own.bus))
    (tmp_path / "registers.v").write_text(vendor.files(own)["vendor/registered_ports.v"])
    log = run_yosys(
        ["read_verilog design.v registers.v", f"hierarchy -check -top {WRAPPER}", "proc", "check"],
        tmp_path,
    )
    assert "Found and reported 0 problems." in log
