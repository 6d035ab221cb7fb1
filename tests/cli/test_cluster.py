"""Clusters in every command that takes them."""

import pytest

from tests.cli.command import RUN_FIELDS, files_in, run, run_json


@pytest.mark.matrix
def test_cluster(capsys, tmp_path):
    (cluster,) = [one for one in run_json(capsys, "list") if one["name"] == "cluster"]
    own = ["engine", "cores", "link_registers", "node", "max_bits"]
    assert [one["name"] for one in cluster["parameters"]][:5] == own
    chosen = ("cluster", "-p", "cores=2", "-p", "max_bits=64")
    record = run_json(capsys, "run", *chosen, "RSA_PUBLIC", "--bits", "64", "--requests", "3")
    assert set(record) >= RUN_FIELDS
    assert (record["family"], record["ok"], record["requests"]) == ("cluster", True, 3)
    assert record["predicted_cycles"] < record["cycles"]
    status, out, err = run(capsys, "run", *chosen, "MODMUL", "--x", "3", "--y", "4", "--m", "5")
    assert (status, err) == (0, "")
    assert "2 on 2 cores" in out
    status, out, _ = run(capsys, "build", *chosen, "--target", "xc7", "-o", tmp_path)
    assert status == 0
    assert {*out.splitlines()} == files_in(tmp_path)
    for name in ("coprime_cluster.v", "coprime_cluster_registers.h", "coprime_registers.h"):
        assert (tmp_path / name).is_file()
    made = (
        "coprime build cluster -p engine=fdfm -p cores=2 -p max_bits=64 -p multipliers=1"
        " -p exponentiator=left-to-right -p window=4"
    )
    assert f"// Made by: {made} --target xc7" in (tmp_path / "coprime_cluster.v").read_text()
