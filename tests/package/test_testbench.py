"""The testbench of a package passes in both simulators, provokes every error, and can fail."""

import os
import re
import shutil
import subprocess

import pytest

from coprime.bus.kinds import Bus
from coprime.catalog import CLUSTER, FAMILIES, choose
from coprime.cells.target import Target
from coprime.engine.contract import Error, Length
from coprime.flow.tools import verilator_root
from coprime.package.describe import describe
from coprime.package.package import write_package
from coprime.package.testbench.curve_vectors import curve_vectors
from coprime.package.testbench.folder import files
from coprime.padding.scheme import Padding

ICARUS = pytest.mark.skipif(
    shutil.which("iverilog") is None,
    reason="there is no Icarus Verilog (on Debian: apt-get install iverilog)",
)
HOW = pytest.mark.parametrize("how", [pytest.param("icarus", marks=ICARUS), "verilator"])
SMALL = {"compression": {"modulus": "2^16+1"}, "direct": {"modulus": "2^16+1"}}
TARGETS, BUSES = list(Target), list(Bus)
# Every family on one target and one bus, so that each pair occurs; the rest of the matrix is slow.
DIAGONAL = {
    name: (TARGETS[k % 3], BUSES[k % 2], ("2005", "2012")[k // 2 % 2])
    for k, name in enumerate(FAMILIES)
}
BROKEN = {
    "counter": ("cycles <= cycles + 1'h1;", "cycles <= cycles - 1'h1;"),
    "buffer": ("if (wipe) store__en = 1'h1;", ""),
}
"""Of the design: cycles are counted down; resets and WIPE leave the buffer as it is."""
IN_CI = ("fdfm",)
"""The others with the long sweeps, and compression with waveforms."""
CORES = ("fdfm", "compact", "compression")


def settings(family):
    return SMALL.get(family, {"max_bits": "64"})


def simulate(folder, how="icarus", **variables):
    """Status and lines of `make -C sim HOW`."""
    root = verilator_root()
    given = [f"{name}={value}" for name, value in variables.items()]
    done = subprocess.run(
        ["make", "-C", str(folder / "sim"), how, *given],
        env={
            **os.environ,
            "VERILATOR_ROOT": str(root),
            "PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def assert_passes(folder, how="icarus", **variables):
    status, lines = simulate(folder, how, **variables)
    assert status == 0, lines[-30:]
    assert "PASS" in lines
    assert not [line for line in lines if line.startswith("FAIL")]
    assert sum(line.startswith("PASS  ") for line in lines) > 50


def core_settings(family):
    return {"engine": family, "cores": "2", **settings(family)}


@pytest.mark.clients
@ICARUS
@pytest.mark.parametrize(
    "family",
    [one if one in IN_CI else pytest.param(one, marks=pytest.mark.clients) for one in FAMILIES],
)
def test_icarus(tmp_path, family):
    target, bus, generation = DIAGONAL[family]
    write_package(choose(family, settings(family)), target, tmp_path, bus)
    assert_passes(tmp_path, GENERATION=generation)


@ICARUS
@pytest.mark.clients
def test_icarus_runs_a_cluster(tmp_path):
    write_package(choose(CLUSTER, core_settings("compact")), Target.XC7, tmp_path)
    assert_passes(tmp_path)


def test_a_percent_sign_is_no_format(tmp_path):
    """Verilator refuses `% m`, which is in the summary of `direct`."""
    write_package(choose("direct", settings("direct")), Target.GENERIC, tmp_path)
    assert "x * y %% m" in (tmp_path / "sim" / "coprime_direct_tb.v").read_text()


@pytest.mark.clients
@pytest.mark.parametrize("family", FAMILIES)
def test_verilator(tmp_path, family):
    target, bus, _ = DIAGONAL[family]
    write_package(choose(family, settings(family)), target, tmp_path, bus)
    assert_passes(tmp_path, "verilator")


@pytest.mark.covering(1)
@pytest.mark.clients
@HOW
@pytest.mark.parametrize("bus", Bus)
@pytest.mark.parametrize("target", Target)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_on_every_bus_and_target(tmp_path, family, target, bus, how):
    write_package(choose(family, settings(family)), target, tmp_path, bus)
    assert_passes(tmp_path, how)


@pytest.mark.covering(1)
@pytest.mark.clients
@HOW
@pytest.mark.parametrize("target", Target)
@pytest.mark.parametrize("family", CORES)
def test_clusters(tmp_path, family, target, how):
    write_package(choose(CLUSTER, core_settings(family)), target, tmp_path)
    assert_passes(tmp_path, how)


@pytest.mark.clients
@HOW
def test_lean_nodes(tmp_path, how):
    choice = choose(CLUSTER, {"node": "lean", "cores": "3", "max_bits": "64"})
    write_package(choice, Target.XC7, tmp_path)
    assert_passes(tmp_path, how)


@pytest.mark.clients
@HOW
@pytest.mark.parametrize("paddings", [(one,) for one in Padding] + [tuple(Padding)])
def test_paddings(tmp_path, paddings, how):
    choice = choose("karatsuba", {"max_bits": "576"})
    write_package(choice, Target.GENERIC, tmp_path, paddings=paddings)
    assert_passes(tmp_path, how)


@pytest.mark.clients
@HOW
def test_blinding_takes_random_bytes(tmp_path, how):
    choice = choose("compact", {"max_bits": "128", "blinding": "all"})
    write_package(choice, Target.GENERIC, tmp_path)
    assert_passes(tmp_path, how)


@pytest.mark.matrix
@ICARUS
def test_the_testbench_of_operations_on_curves_is_verilog(tmp_path):
    """It is compiled, with the design; to run it takes long."""
    choice = choose("compact", {"max_bits": "64", "curves": "edwards"})
    write_package(choice, Target.GENERIC, tmp_path)
    status, lines = simulate(tmp_path, "build/icarus")
    assert status == 0, lines[-30:]


@ICARUS
@pytest.mark.clients
def test_operations_on_edwards_curves(tmp_path):
    """On the shortest one: ED_VERIFY has too long an exponent for a longer one."""
    choice = choose("compact", {"max_bits": "64", "curves": "edwards"})
    write_package(choice, Target.GENERIC, tmp_path)
    assert_passes(tmp_path)


@pytest.mark.covering(1)
@pytest.mark.clients
@HOW
@pytest.mark.parametrize(
    ("family", "given"),
    [
        ("compact", {"curves": "weierstrass"}),
        ("compact", {"curves": "weierstrass", "ecdsa": "drawn"}),
        ("compact", {"curves": "weierstrass", "ecdsa": "hardened"}),
        ("compact", {"curves": "edwards", "max_bits": "256"}),
        ("compact", {"curves": "montgomery"}),
        ("ring", {"curves": "weierstrass"}),
        ("ring", {"curves": "edwards"}),
        (CLUSTER, {"engine": "compact", "cores": "2", "curves": "weierstrass"}),
        (CLUSTER, {"engine": "compact", "cores": "2", "curves": "edwards"}),
    ],
    ids=str,
)
def test_operations_on_curves(tmp_path, family, given, how):
    choice = choose(family, {"max_bits": "64", **given})
    write_package(choice, Target.GENERIC, tmp_path)
    assert_passes(tmp_path, how)


@pytest.mark.parametrize("curves", ["weierstrass", "edwards"])
def test_every_operation_on_curves_is_checked(curves):
    """With both halves of its result; on the longest curve that is quick enough."""
    own = describe(choose("compact", {"max_bits": "256", "curves": curves}), Target.GENERIC)
    design = own.core.design
    vectors = curve_vectors(design)
    right = [one for one in vectors if one.error is Error.NONE]
    assert sorted(one.command for one in right) == list(design.capabilities.on_curve)
    for one in right:
        above = one.result >> design.capabilities.half_bits
        assert (above > 0) == (not one.command.name.endswith(("CHECK", "VERIFY", "FINISH")))
        assert one.lengths[Length.P] == 64
    assert {one.error for one in vectors} - {Error.NONE} <= {Error.POINT, Error.SIGNATURE}


@pytest.mark.matrix
@ICARUS
def test_quick(tmp_path):
    """It checks registers, an operation of each kind and a reset, and reports its progress."""
    choice = choose("compact", {"max_bits": "64", "curves": "weierstrass"})
    write_package(choice, Target.ECP5, tmp_path)
    status, lines = simulate(tmp_path, QUICK=1)
    assert status == 0, lines[-30:]
    assert "PASS" in lines
    found = [line for line in lines if line.startswith("PASS  ")]
    for name in ("STATUS after reset", "MODMUL: ", "MODEXP: ", "RSA_PUBLIC: ", "RSA_PRIVATE"):
        assert [line for line in found if line.startswith(f"PASS  {name}")]
    assert [line for line in found if line.startswith("PASS  EC_")]
    assert [line for line in found if "as after the first reset" in line]
    (end,) = [line for line in lines if line.endswith(" ns")]
    cycles, about = int(end.split()[-2]) // 10, expected_cycles(lines)
    assert cycles < 200_000
    assert about / 2 < cycles < 2 * about
    assert [line for line in lines if re.fullmatch(r" +\d+ of about \d+ cycles, \d+ checks", line)]


def expected_cycles(lines):
    """What the testbench says that it takes, as it begins."""
    (found,) = [
        one for one in (re.fullmatch(r" +about (\d+) cycles", line) for line in lines) if one
    ]
    return int(found[1])


@ICARUS
@pytest.mark.parametrize("broken", ["counter", "result"])
def test_quick_can_fail(tmp_path, broken):
    choice = choose("compression", settings("compression"))
    write_package(choice, Target.GENERIC, tmp_path)
    if broken == "counter":
        path, (right, wrong) = tmp_path / f"{choice.module_name}.v", BROKEN["counter"]
        text = path.read_text()
        path.write_text(text.replace(right, wrong))
    else:
        path = tmp_path / "sim" / "coprime_compression_tb.v"
        before, quick, after = path.read_text().rpartition("`ifdef QUICK")
        changed = re.sub(r'(expect_result\("MODMUL: .*?\'h)(\w)', r"\g<1>f", after, count=1)
        assert changed != after
        path.write_text(before + quick + changed)
    status, lines = simulate(tmp_path, QUICK=1)
    assert status != 0
    assert "FAIL" in lines and "PASS" not in lines


def test_quick_of_clusters_is_there():
    for given in ({"engine": "fdfm", "cores": "2"}, {"node": "lean", "cores": "2"}):
        text = text_of(CLUSTER, max_bits="64", **given)
        quick = text.rpartition("`ifdef QUICK")[2].partition("`else")[0]
        assert "expect_completion(" in quick and "expect_stored(" in quick


def text_of(family, paddings=(), **own):
    own = describe(choose(family, {**settings(family), **own}), Target.GENERIC, paddings=paddings)
    return files(own)[f"sim/{own.name}_tb.v"]


def errors_of(text):
    return {Error[name] for name in re.findall(r"expect_\w+\(.*?\bERROR_(?!NONE)(\w+)", text)}


@pytest.mark.matrix
def test_every_error_is_provoked():
    texts = [text_of(family) for family in ("fdfm", "compact", "interleaved-csa", "compression")]
    texts.append(text_of(CLUSTER, engine="fdfm", cores="2"))
    texts.append(text_of("fdfm", tuple(Padding), max_bits="576"))
    texts.append(text_of("compact", curves="weierstrass"))
    others = {Error.SLOT_LENGTH, Error.NOT_READY, Error.INVALID_KEY}  # of engines of byte strings
    others |= {Error.NONE, Error.SOURCE}  # a source that fails: tests/device/test_source.py
    assert set().union(*map(errors_of, texts)) == set(Error) - others


def test_residue_is_compared_where_results_are_checked():
    assert "expect_residue(" in text_of("compact")
    assert "expect_residue(" not in text_of("fdfm")


def test_padding_is_provoked_by_each_padding_alone():
    for padding in Padding:
        errors = errors_of(text_of("karatsuba", (padding,), max_bits="576"))
        assert {Error.PADDING, Error.PADDING_LENGTH, Error.UNSUPPORTED} <= errors


def test_the_same_design_has_the_same_text():
    texts = [text_of("fdfm", tuple(Padding), max_bits="576") for _ in range(2)]
    assert texts[0] == texts[1]


@pytest.mark.matrix(quick=2)
@ICARUS
@pytest.mark.parametrize("broken", ["expected", "design", "counter", "buffer", "hangs"])
def test_it_can_fail(tmp_path, broken):
    choice = choose("compression", settings("compression"))
    write_package(choice, Target.GENERIC, tmp_path)
    design, bench = (
        tmp_path / f"{choice.module_name}.v",
        tmp_path / "sim" / "coprime_compression_tb.v",
    )
    if broken == "expected":
        text, count = re.subn(
            r'(expect_result\("MODMUL: .*?\'h)(\w)',
            lambda found: found[1] + f"{int(found[2], 16) ^ 1:x}",
            bench.read_text(),
        )
        assert count >= 2  # of the quick checks, and of all of them
        bench.write_text(text)
    elif broken == "design":
        text, count = re.subn(r"assign irq = .*;", "assign irq = 1'b1;", design.read_text())
        if not count:
            text = re.sub(r"\.irq\(irq\)", ".irq()", design.read_text())
            assert text != design.read_text()
        design.write_text(text)
    elif broken in BROKEN:
        right, wrong = BROKEN[broken]
        text = design.read_text()
        assert text.count(right) == 1
        design.write_text(text.replace(right, wrong))
    else:
        text = re.sub(r"LIMIT = \d+;", "LIMIT = 100;", bench.read_text())
        bench.write_text(text)
    status, lines = simulate(tmp_path)
    assert status != 0
    assert "FAIL" in lines
    assert "PASS" not in lines


@ICARUS
def test_it_writes_waveforms(tmp_path):
    choice = choose("compression", settings("compression"))
    write_package(choice, Target.GENERIC, tmp_path)
    assert_passes(tmp_path, VCD=1)
    assert "$enddefinitions" in (tmp_path / "sim" / f"{choice.module_name}.vcd").read_text()
