"""Build programs of others from sources that a registry has, or skip the test that needs them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def built(command, folder, environment, missing):
    """Run a build; skip if it lacks something that is not ours."""
    done = subprocess.run(
        *(command,), cwd=folder, env=os.environ | environment, capture_output=True, text=True
    )
    for text, reason in missing.items():
        if text in done.stderr:
            pytest.skip(reason)
    assert done.returncode == 0, done.stderr


def cargo_program(project, name, tmp_path_factory):
    """Build a program of Rust in a folder beside this file, and give where it is."""
    if shutil.which("cargo") is None:
        pytest.skip("there is no Cargo (on Debian: apt-get install cargo)")
    folder = Path(os.environ.get("CARGO_TARGET_DIR") or tmp_path_factory.mktemp(project))
    missing = {
        "failed to download": "Cargo does not reach its registry",
        "failed to get": "Cargo does not reach its registry",
        "is not supported": "this Rust is too old for the library",
    }
    command = ["cargo", "build", "--quiet", "--locked", "--release"]
    built(command, FOLDER / project, {"CARGO_TARGET_DIR": str(folder)}, missing)
    return folder / "release" / name
