"""The `openssl` command of OpenSSL 3.6, which has ML-KEM and ML-DSA: 3.5 was the first one."""

import os
import shutil
import subprocess

import pytest

from tests.pqc.programs import cargo_program

LEFT_OUT = ("shared", "module", "tests", "docs", "comp", "zlib", "legacy", "engine", "quic")


class NewerOpenSSL:
    def __init__(self, program):
        self.program = program
        self.environment = {**os.environ, "OPENSSL_CONF": os.devnull}

    def __call__(self, *arguments):
        """Its output."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def accepts(self, *arguments):
        return self.run(*arguments).returncode == 0

    def run(self, *arguments):
        command = [self.program, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, check=False, env=self.environment)


def build_newer_openssl(tmp_path_factory):
    """Build it from the sources in a crate of Rust: two minutes and a half of a core."""
    for tool in ("perl", "make", "cc"):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool} (on Debian: apt-get install perl gcc make)")
    printer = cargo_program("openssl", "openssl-source", tmp_path_factory)
    source = subprocess.run([printer], capture_output=True, text=True, check=True).stdout.strip()
    folder = tmp_path_factory.mktemp("openssl")
    options = [f"no-{one}" for one in LEFT_OUT]
    for command in (
        [f"{source}/Configure", *options, f"--prefix={folder}/none"],
        ["make", "-s", f"-j{os.cpu_count()}", "build_programs"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return NewerOpenSSL(folder / "apps" / "openssl")
