"""A build replaces what a build wrote, and refuses to replace anything else."""

import hashlib

import pytest

from coprime.catalog import choose
from coprime.cells.target import Target
from coprime.package.manifest import MANIFEST
from coprime.package.package import write_package

CHOICE = choose("compression", {"modulus": "2^16+1"})
VERILOG = "coprime_compression.v"


def build(folder, target=Target.GENERIC, **options):
    return write_package(CHOICE, target, folder, **options)


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_manifest_lists_every_other_file_with_its_digest(tmp_path):
    written = {str(path.relative_to(tmp_path)) for path in build(tmp_path)}
    lines = (tmp_path / MANIFEST).read_text().splitlines()
    assert {line.split("  ")[1] for line in lines} == written - {MANIFEST}
    for line in lines:
        digest, path = line.split("  ")
        assert digest == hashlib.sha256((tmp_path / path).read_bytes()).hexdigest()


def test_a_build_replaces_one_before(tmp_path):
    build(tmp_path, Target.ECP5)
    build(tmp_path)
    assert "--target generic" in (tmp_path / VERILOG).read_text()


@pytest.mark.parametrize("path", [VERILOG, "sim/Makefile", "drivers/src/coprime.c"])
def test_a_changed_file_is_refused_and_named(tmp_path, path):
    build(tmp_path, Target.ECP5)
    (tmp_path / path).write_text("mine")
    before = contents(tmp_path)
    with pytest.raises(FileExistsError, match="changed since a build wrote it") as raised:
        build(tmp_path)
    assert raised.value.filename == str(tmp_path / path)
    assert contents(tmp_path) == before
    build(tmp_path, force=True)
    assert (tmp_path / path).read_text() != "mine"


def test_a_file_of_the_user_is_refused_and_named(tmp_path):
    (tmp_path / "README.md").write_text("my notes")
    with pytest.raises(FileExistsError, match="not written by a build") as raised:
        build(tmp_path)
    assert raised.value.filename == str(tmp_path / "README.md")
    assert list(contents(tmp_path)) == [tmp_path / "README.md"]


def test_other_files_of_the_user_stay(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    build(tmp_path)
    build(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_deleted_file_is_written_again(tmp_path):
    build(tmp_path)
    (tmp_path / VERILOG).unlink()
    build(tmp_path)
    assert (tmp_path / VERILOG).exists()
