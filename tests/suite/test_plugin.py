"""Markers, shards and results, on small suites that pytest runs with the plugin."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

MATRIX = pytest.mark.matrix

@pytest.mark.covering(2)
@pytest.mark.parametrize("a", [0, *(pytest.param(k, marks=MATRIX) for k in range(1, 5))])
@pytest.mark.parametrize("b", range(5))
@pytest.mark.parametrize("c", range(5))
def test_product(a, b, c):
    pass

@pytest.mark.parametrize("a", [0, *(pytest.param(k, marks=MATRIX) for k in range(1, 5))])
@pytest.mark.parametrize("b", range(5))
def test_matrix(a, b):
    pass

@pytest.mark.parametrize("a", [0, *(pytest.param(k, marks=pytest.mark.proof) for k in range(1, 5))])
@pytest.mark.parametrize("b", range(5))
def test_proof(a, b):
    pass

@pytest.mark.proof(quick=2)
@pytest.mark.parametrize("a", [pytest.param(0, marks=MATRIX), *range(1, 5)])
def test_first(a):
    pass

@pytest.mark.xdist_group("design")
@pytest.mark.parametrize("k", range(3))
def test_of_a_design(k):
    pass

@pytest.fixture(scope="module")
def made():
    return 1

@pytest.fixture
def used(made):
    return made

@pytest.mark.parametrize("k", range(3))
def test_of_what_a_file_shares(used, k):
    pass
"""
OTHERS = """
import pytest

@pytest.mark.xdist_group("design")
def test_of_the_same_design():
    pass

@pytest.mark.fuzz
def test_that_fails():
    assert FAILS

@pytest.mark.skip(reason="there is no board")
def test_skipped():
    pass

@pytest.mark.route
@pytest.mark.timeout(1)
def test_too_long():
    import time
    time.sleep(3 * FAILS)
"""


@pytest.fixture
def suite(tmp_path):
    """A folder with two files of tests, of which two fail as long as FAILS is 0 or 1."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    own = {"markers": settings["markers"], "addopts": settings["addopts"].split()}
    (tmp_path / "pytest.toml").write_text(
        f"[pytest]\nmarkers = {json.dumps(own['markers'])}\n"
        f"addopts = {json.dumps(own['addopts'])}\n"
    )
    tests = tmp_path / "test_cases"
    tests.mkdir()
    (tests / "conftest.py").write_text('pytest_plugins = ["tests.suite.plugin"]\n')
    (tests / "test_products.py").write_text(TESTS)
    (tests / "test_others.py").write_text("FAILS = 0\n" + OTHERS)
    return tmp_path


def python(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "-p no:cacheprovider"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def names(folder, *arguments):
    status, text = python(folder, "pytest", "--collect-only", "-q", "test_cases", *arguments)
    assert status in (0, 5), text
    return {line for line in text.splitlines() if "::" in line}


def test_a_reason_implies_slow(suite):
    quick = names(suite, "-m", "not slow")
    assert "test_cases/test_others.py::test_that_fails" not in quick
    assert len([name for name in quick if "test_product[" in name]) == 25
    assert names(suite, "-m", "route") == {"test_cases/test_others.py::test_too_long"}


def test_the_first_cases_are_quick(suite):
    quick = names(suite, "-m", "not slow")
    assert {name for name in quick if "test_first[" in name} == {
        f"test_cases/test_products.py::test_first[{a}]" for a in (1, 2)
    }
    assert len([name for name in names(suite) if "test_first[" in name]) == 5


def test_slow_cases_cover_all_pairs_and_no_more(suite):
    covered = {name for name in names(suite) if "test_product[" in name}
    assert 45 <= len(covered) <= 55
    assert len({name for name in names(suite, "--products") if "test_product[" in name}) == 125
    for c in range(5):
        for b in range(5):
            assert any(name.endswith(f"[{c}-{b}-{a}]") for a in range(5) for name in covered)
        for a in range(5):
            assert any(name.endswith(f"[{c}-{b}-{a}]") for b in range(5) for name in covered)


def test_slow_cases_with_matrix_alone_cover_all_values(suite):
    """The five quick ones have all of b, so that each other value of a is there once."""
    covered = {name for name in names(suite) if "test_matrix[" in name}
    assert len(covered) == 9
    for a in range(1, 5):
        assert len([name for name in covered if name.endswith(f"-{a}]")]) == 1
    assert len([name for name in names(suite) if "test_proof[" in name]) == 25


def test_slow_alone_is_refused(suite):
    path = suite / "test_cases" / "test_others.py"
    path.write_text(path.read_text().replace("mark.fuzz", "mark.slow"))
    status, text = python(suite, "pytest", "--collect-only", "-q", "test_cases")
    assert status == 4
    assert "test_that_fails is marked slow: a slow test has its reason as a marker" in text


def test_shards_have_each_test_once_and_a_design_together(suite):
    shards = [names(suite, "--shard", f"{k}/3") for k in (1, 2, 3)]
    assert sum(map(len, shards)) == len(set().union(*shards)) == len(names(suite))
    (design,) = [shard for shard in shards if any("of_a_design" in name for name in shard)]
    assert len([name for name in design if "design" in name]) == 4


@pytest.mark.matrix
def test_what_a_file_shares_is_made_by_one_worker(suite):
    said = python(suite, "pytest", "-v", "-n", "1", "--dist", "loadgroup", "test_cases")[1]
    grouped = [line for line in said.splitlines() if "@test_cases/test_products.py" in line]
    assert {name.split("::")[1].partition("[")[0] for name in grouped} == {
        "test_of_what_a_file_shares"
    }
    assert "test_of_a_design[0]@design" in said


def test_no_such_shard(suite):
    status, text = python(suite, "pytest", "--shard", "4/3", "test_cases")
    assert status == 4
    assert "a shard is K/N with K in 1..N, for example 3/12, not '4/3'" in text


@pytest.mark.matrix
def test_the_whole_suite_goes_on_where_it_was(suite):
    """It fails, runs only what failed, ends green, and begins anew; without a folder's name."""
    path = suite / "test_cases" / "test_others.py"
    text = path.read_text()
    whole = ("tests.suite", "--shards", "2", "--jobs", "0")
    path.write_text(text.replace("FAILS = 0", "FAILS = 1"))
    path.write_text(path.read_text().replace("assert FAILS", "assert not FAILS"))
    status, said = python(suite, *whole)
    assert status == 1
    lines = said.splitlines()
    assert "skipped 1: there is no board" in lines
    assert "FAILED test_cases/test_others.py::test_that_fails" in lines
    assert "FAILED test_cases/test_others.py::test_too_long" in lines
    (row,) = [line for line in lines if line.startswith("fuzz ")]
    assert row.split()[1:4] == ["0", "1", "0"]

    results = suite / "build" / "suite" / "results.jsonl"
    before = len(results.read_text().splitlines())
    assert before == len(names(suite))
    path.write_text(text.replace("assert FAILS", "assert not FAILS"))
    status, said = python(suite, *whole)
    assert status == 0, said
    assert len(results.read_text().splitlines()) == before + 2
    assert "FAILED" not in said
    (row,) = [line for line in said.splitlines() if line.startswith("all ")]
    assert row.split()[1:4] == [str(before - 1), "0", "1"]

    # Stopped in the middle of a line: this test and those after it have not ended.
    (suite / "build" / "suite" / "finished").unlink()
    lines = results.read_text().splitlines(keepends=True)
    results.write_text("".join(lines[:4]))
    (suite / "build" / "suite" / "running.jsonl").write_text(lines[4] + lines[5][:10])
    assert python(suite, *whole)[0] == 0
    assert {json.loads(line)["test"] for line in results.read_text().splitlines()} == names(suite)


@pytest.mark.matrix
def test_a_worker_that_ends_is_a_failure(suite):
    path = suite / "test_cases" / "test_others.py"
    path.write_text("import os\n" + path.read_text().replace("assert FAILS", "os._exit(3)"))
    status, said = python(suite, "tests.suite", "--shards", "1", "--jobs", "1", "test_cases")
    assert status == 1, said
    assert "FAILED test_cases/test_others.py::test_that_fails" in said.splitlines()
    (row,) = [line for line in said.splitlines() if line.startswith("all ")]
    assert row.split()[1:4] == [str(len(names(suite)) - 2), "1", "1"]


def test_patience_multiplies_time_limits(suite):
    path = suite / "test_cases" / "test_others.py"
    path.write_text(path.read_text().replace("3 * FAILS", "1.5"))
    limited = ("pytest", "-q", "test_cases", "-k", "too_long")
    assert "Timeout" in python(suite, *limited)[1]
    assert python(suite, *limited, "--patience", "20")[0] == 0


def test_nothing_to_record(suite):
    status, said = python(suite, "tests.suite", "--record")
    assert (status, said) == (2, "build/suite has no results; run the suite first\n")
