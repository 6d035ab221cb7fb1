"""Wrong inputs: one sentence that says what to do, before any work, as docs/errors.md shows it."""

import itertools
import subprocess
import time
from importlib import import_module

import pytest
from amaranth.back import rtlil

from coprime.flow import parts
from tests.cli.wrong_inputs import PAGE, WRONG, answer, page, prepare

COMMANDS = [command for commands in WRONG.values() for command in commands]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import_module("coprime_evidence.assess.leakage")  # NumPy and Dask: loading them is not work
    path = tmp_path_factory.mktemp("wrong")
    prepare(path)
    return path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", COMMANDS)
def test_one_sentence_before_any_work(folder, tmp_path, monkeypatch, command):
    """No hardware is generated, no tool runs, no file changes, and no second of work passes."""

    def work(*arguments, **options):
        raise AssertionError("work was begun")

    monkeypatch.setattr(rtlil, "convert", work)
    monkeypatch.setenv("COPRIME_CACHE", str(tmp_path))  # nothing is kept there
    parts._accelerator_verilog.cache_clear()
    monkeypatch.setattr(subprocess, "run", work)
    before, start = contents(folder), time.process_time()
    status, out, err = answer(command, folder)
    assert time.process_time() - start < 2
    assert (status, out) == (2, "")
    assert err.startswith("coprime")
    assert err.count("\n") == 1
    assert str(folder) not in err
    assert contents(folder) == before
    assert f"\n$ coprime {command}\n{err}" in PAGE.read_text("utf-8")


def test_the_page_has_nothing_else():
    lines = PAGE.read_text("utf-8").splitlines()
    shown = {
        line.removeprefix("$ coprime "): f"{message}\n"
        for line, message in itertools.pairwise(lines)
        if line.startswith("$ coprime ")
    }
    assert len(COMMANDS) == len(set(COMMANDS)) >= 60
    assert page(shown) == PAGE.read_text("utf-8"), "make errors"
