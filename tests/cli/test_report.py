"""`coprime report`."""

import pytest

from coprime.explore.points import read_points, write_points
from coprime.explore.shipped import measured_points
from tests.cli.command import run
from tests.evidence.report.samples import point

pytestmark = pytest.mark.xdist_group("reports")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.matrix
def test_prints_the_paths_that_it_wrote_and_which_versions_measured(tmp_path, capsys):
    write_points([point("fdfm", 64, 1)], tmp_path / "some.parquet")
    results = tmp_path / "some.parquet"
    status, out, err = run(capsys, "report", "--results", results, "-o", tmp_path / "report")
    assert status == 0
    paths = out.splitlines()
    assert paths[0] == str(tmp_path / "report" / "index.html")
    written = {str(path) for path in (tmp_path / "report").rglob("*") if path.is_file()}
    assert set(paths) == written
    assert err == f"from {results}: yosys 1.0\n"


@pytest.mark.clients
def test_results_in_another_format(tmp_path, capsys):
    write_points([point("fdfm", 64, 1)], tmp_path / "some.csv")
    results = tmp_path / "some.csv"
    _, _, err = run(capsys, "report", "--results", results, "-o", tmp_path / "report")
    assert err == f"from {results}: yosys 1.0\n"


@pytest.mark.clients
def test_without_results_those_that_come_with_coprime(tmp_path, capsys):
    """Whatever else there is in the folder."""
    write_points([point("fdfm", 64, 1)], tmp_path / "results.parquet")
    status, _, err = run(capsys, "report", "-o", tmp_path / "report")
    assert status == 0
    assert err.startswith("from the measurements that come with Coprime: coprime 0.")
    assert read_points(tmp_path / "report" / "points.csv") == list(measured_points())
    assert "33067148" in (tmp_path / "report" / "papers.csv").read_text()


def test_results_that_do_not_exist(tmp_path, capsys):
    status, _, err = run(capsys, "report", "--results", "none.parquet", "-o", tmp_path / "report")
    assert status == 2
    assert "make it: coprime sweep all -o none" in err
    assert not (tmp_path / "report").exists()
