"""`coprime sweep`, and `coprime choose` from what it wrote."""

import pytest

from tests.cli.command import run
from tests.evidence.sweeps.test_sweep import FAILED, SMALL

ONE = SMALL.replace('["bits", 96]', "96").replace('["ecp5", "unit-gate"]', '"ecp5"')
"""One design on one target."""

pytestmark = pytest.mark.xdist_group("sweeps")


@pytest.mark.matrix
@pytest.mark.usefixtures("no_measurements")
def test_sweep_and_choose(tmp_path, capsys):
    specification, results = tmp_path / "small.toml", tmp_path / "results.parquet"
    specification.write_text(ONE)
    for done in (3, 0):
        status, out, err = run(capsys, "sweep", specification, "-o", results, "--workers", 1)
        assert (status, out) == (
            0,
            f"{results}: 4 points, 2 of them failed; "
            f"{done} measurements done, {3 - done} known before\n",
        )
        known, *failed = err.splitlines()
        work = "1 mapped or estimated, 0 placed and routed, 2 runs" if done else "nothing"
        assert known.startswith(f"{3 - done} measurements are known; to do: {work}")
        assert err.count(f"160 bits: {FAILED}\n") == len(failed) == 2
    wanted = ("choose", "--bits", 96, "--target", "ecp5", "--results", results)
    status, out, err = run(capsys, *wanted, "--device", "LFE5U-25F")
    assert (status, out) == (2, "")
    assert "only its engine: --part engine" in err
    wanted = (*wanted, "--part", "engine", "--device", "LFE5U-25F")
    status, out, err = run(capsys, *wanted)
    assert status == 0
    assert err.startswith(f"from {results}: coprime 0.")
    lines = out.splitlines()
    assert lines[0].startswith(
        "fdfm exponentiator=left-to-right max_bits=96 multipliers=1 window=4: "
    )
    assert lines[0].endswith(" cycles, not constant time")
    assert lines[1].startswith("    engine ")
    assert lines[2] == (
        "    coprime build fdfm -p max_bits=96 -p multipliers=1"
        " -p exponentiator=left-to-right -p window=4 --target ecp5 -o DIR"
    )
    status, out, err = run(capsys, *wanted, "--max-dsp", 0)
    assert (status, out) == (2, "")
    assert "within 0 DSP; the nearest is fdfm exponentiator=" in err


@pytest.mark.usefixtures("no_measurements")
def test_all_points_failed(tmp_path, capsys):
    specification = tmp_path / "small.toml"
    specification.write_text(SMALL.replace("[96, 160]", "160").replace('"bits", ', ""))
    output = tmp_path / "results.parquet"
    assert run(capsys, "sweep", specification, "-o", output, "--workers", 1)[0] == 1


def test_choosing_without_results(tmp_path, capsys):
    path = tmp_path / "none.parquet"
    status, _, err = run(capsys, "choose", "--bits", 96, "--target", "ecp5", "--results", path)
    assert status == 2
    assert f"there is no file {path}; make it: coprime sweep all" in err
