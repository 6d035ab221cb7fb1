"""`coprime report`."""

import pytest

from coprime.explore.points import write_points
from tests.cli.command import run
from tests.explore.samples import point


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_prints_the_paths_that_it_wrote(tmp_path, capsys):
    write_points([point("fdfm", 64, 1)], tmp_path / "some.parquet")
    results = tmp_path / "some.parquet"
    status, out, err = run(capsys, "report", "--results", results, "-o", tmp_path / "report")
    assert (status, err) == (0, "")
    paths = out.splitlines()
    assert paths[0] == str(tmp_path / "report" / "index.html")
    written = {str(path) for path in (tmp_path / "report").rglob("*") if path.is_file()}
    assert set(paths) == written


def test_takes_the_results_of_this_folder(tmp_path, capsys):
    write_points([point("fdfm", 64, 1)], tmp_path / "results.parquet")
    assert run(capsys, "report", "-o", tmp_path / "report")[0] == 0
    assert len((tmp_path / "report" / "points.csv").read_text().splitlines()) == 2


def test_without_results_only_the_papers(tmp_path, capsys):
    assert run(capsys, "report", "-o", tmp_path / "report")[0] == 0
    assert len((tmp_path / "report" / "points.csv").read_text().splitlines()) == 1
    assert "33067148" in (tmp_path / "report" / "papers.csv").read_text()


def test_results_that_do_not_exist(tmp_path, capsys):
    status, _, err = run(capsys, "report", "--results", "none.parquet", "-o", tmp_path / "report")
    assert status == 2
    assert "make it: coprime sweep all -o none" in err
    assert not (tmp_path / "report").exists()
