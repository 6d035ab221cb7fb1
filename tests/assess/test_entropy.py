"""Estimates of SP 800-90B against those of NIST's program."""

import json

import numpy as np
import pytest

from coprime.assess.entropy.assessment import WANTED, assess_entropy
from coprime.assess.entropy.estimators import LEAST_SAMPLES, estimates
from coprime.cli import main
from tests.assess.entropy_samples import NIST, ORDER, SAMPLES, SIZE


@pytest.mark.parametrize(
    "name",
    [
        "correlated",
        *(pytest.param(one, marks=pytest.mark.vectors) for one in SAMPLES if one != "correlated"),
    ],
)
def test_estimates_are_those_of_nist_s_program(name):
    found = estimates(SAMPLES[name]())
    assert set(found) == set(ORDER)
    for one, theirs in zip(ORDER, NIST[name], strict=True):
        assert found[one] == pytest.approx(theirs, abs=1e-6), one


def test_short_and_constant_samples_are_refused():
    with pytest.raises(ValueError, match=f"at least {LEAST_SAMPLES:,} samples, not 100"):
        assess_entropy(bytes(100))
    with pytest.raises(ValueError, match="all samples are 0"):
        assess_entropy(bytes(SIZE))
    with pytest.raises(ValueError, match="byte 3 is 7"):
        assess_entropy(bytes([0, 1, 0, 7]))


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("period", [2, 3, 16, 1000])
def test_repeated_patterns_have_no_entropy(period):
    pattern = np.random.default_rng(period).integers(0, 2, period, dtype=np.uint8)
    pattern[:2] = 0, 1
    found = estimates(np.resize(pattern, 30_000))
    assert min(found.values()) < 0.01


def test_the_command_says_what_is_missing(tmp_path, capsys):
    path = tmp_path / "samples.bin"
    path.write_bytes(SAMPLES["biased"]()[:20_000].tobytes())
    assert main(["assess", "entropy", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["samples"] == 20_000 and found["entropy"] == min(found["estimates"].values())
    assert f"{WANTED:,}" in found["missing"][0]
    assert main(["assess", "entropy", str(path)]) == 0
    assert "restarts" in capsys.readouterr().out
