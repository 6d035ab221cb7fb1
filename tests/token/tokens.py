"""A token in a folder of its own, and how programs use it."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from coprime.flow.tools import run_tool
from coprime.token import build

OFFICER_PIN, PIN, LABEL = "12345678", "123456", "t1"


def skip_without(program, package=None):
    """Skip a test without a program, with the Debian package that has it."""
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} (on Debian: apt-get install {package or program})")


@dataclass(frozen=True)
class Token:
    """A token in a folder of its own, and how programs find it."""

    module: Path
    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self):
        kept = {name: text for name, text in os.environ.items() if not name.startswith("COPRIME_T")}
        return kept | {
            "COPRIME_TOKEN_DIR": str(self.folder),
            "COPRIME_TOKEN_ALLOW": "weak-rsa",  # tests with many signatures have short keys
            "PKCS11_MODULE_PATH": str(self.module),
            **self.settings,
        }

    def run(self, program, *arguments, package=None, check=True, environment=None, **options):
        """What a program prints; skips without it."""
        skip_without(program, package)
        done = subprocess.run(
            [program, *map(str, arguments)],
            env=self.environment | (environment or {}),
            capture_output=True,
            check=False,
            **{"timeout": 600, **options},
        )
        output = (done.stdout + done.stderr).decode("utf-8", "replace")
        assert not check or done.returncode == 0, output
        return output

    def tool(self, *arguments, within=(), **options):
        """Run OpenSC's pkcs11-tool, or `within`, a command that executes it."""
        skip_without("pkcs11-tool", "opensc")
        return self.run(*within, "pkcs11-tool", "--module", self.module, *arguments, **options)

    def generate(self, label="rsa1", bits=2048, identifier="01"):
        """Generate a key pair in the token."""
        self.tool(
            *("--login", "--pin", PIN, "--keypairgen", "--key-type", f"rsa:{bits}"),
            *("--label", label, "--id", identifier),
        )


def compile_check(folder, *options):
    """Compile check.c."""
    program = folder / "check"
    source = Path(__file__).with_name("check.c")
    flags = ("-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", *options)
    command = [build._compiler(), *flags, *build._headers(), source]
    run_tool("the C compiler", [*command, "-o", program, "-lpthread", "-ldl"])
    return program


def compile_library(folder, name, *options):
    """Compile NAME.c, a library for a test, which uses the next one of the same functions."""
    library = folder / f"{name}.so"
    source = Path(__file__).with_name(f"{name}.c")
    flags = ("-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", *options)
    run_tool("the C compiler", [build._compiler(), *flags, source, "-o", library, "-ldl"])
    return library


def compile_faulty(folder):
    """Compile faulty.c, an engine that errs."""
    includes = [f"-I{folder}" for folder in build._INCLUDES]
    return compile_library(folder, "faulty", "-Wl,-z,nodelete", *includes)
