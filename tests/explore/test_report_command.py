"""`coprime report` on the command line."""

import argparse

import pytest

from coprime.explore.points import write_points
from coprime.explore.report_command import add_report, run_report
from tests.explore.samples import point


def run(*arguments):
    parser = argparse.ArgumentParser()
    add_report(parser)
    return run_report(parser.parse_args([str(argument) for argument in arguments]))


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_prints_the_paths_that_it_wrote(tmp_path, capsys):
    write_points([point("fdfm", 64, 1)], tmp_path / "some.parquet")
    assert run("--results", tmp_path / "some.parquet", "-o", tmp_path / "report") == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    paths = captured.out.splitlines()
    assert paths[0] == str(tmp_path / "report" / "index.html")
    written = {str(path) for path in (tmp_path / "report").rglob("*") if path.is_file()}
    assert set(paths) == written


def test_takes_the_results_that_lie_here(tmp_path):
    write_points([point("fdfm", 64, 1)], tmp_path / "results.parquet")
    run("-o", tmp_path / "report")
    assert len((tmp_path / "report" / "points.csv").read_text().splitlines()) == 2


def test_without_results_the_papers_alone(tmp_path):
    run("-o", tmp_path / "report")
    assert len((tmp_path / "report" / "points.csv").read_text().splitlines()) == 1
    assert "33067148" in (tmp_path / "report" / "papers.csv").read_text()


def test_results_that_do_not_exist(tmp_path):
    with pytest.raises(ValueError, match="make it: coprime sweep all -o none"):
        run("--results", "none.parquet", "-o", tmp_path / "report")
    assert not (tmp_path / "report").exists()
