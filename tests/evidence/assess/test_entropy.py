"""Estimates of SP 800-90B against those of NIST's program."""

import json
import math

import numpy as np
import pytest
from coprime_evidence.assess.entropy.assessment import WANTED, assess_entropy
from coprime_evidence.assess.entropy.estimators import LEAST_SAMPLES, estimates
from coprime_evidence.assess.entropy.restarts import RESTARTS, assess_restarts, restart_cutoff

from coprime.cli import main
from tests.evidence.assess.entropy_samples import NIST, ORDER, SAMPLES, SIZE


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


def test_the_cutoff_after_restarts_is_a_quantile_of_the_binomial_distribution():
    assert [restart_cutoff(entropy) for entropy in (1.0, 0.5, 0.25)] == [572, 769, 890]
    total = 1 << RESTARTS

    def over(most):
        """How probable it is that one of two values of a fair source comes more often."""
        return sum(2 * math.comb(RESTARTS, k) for k in range(most + 1, RESTARTS + 1)) / total

    assert over(572) <= 1 - 0.99 ** (1 / (2 * RESTARTS)) < over(571)


def test_wrong_samples_after_restarts_are_refused():
    with pytest.raises(ValueError, match="not 6,012 in all"):
        assess_restarts(bytes(LEAST_SAMPLES), 0.25)
    with pytest.raises(ValueError, match="above 0 and at most 1, not 0"):
        assess_restarts(bytes(LEAST_SAMPLES), 0)


def restarts():
    generator = np.random.default_rng(1)
    return generator.integers(0, 2, (RESTARTS, RESTARTS), dtype=np.uint8)


@pytest.mark.vectors
@pytest.mark.timeout(600)
def test_fair_samples_after_restarts_pass():
    found = assess_restarts(restarts().tobytes(), 0.8)
    assert found.is_sane and found.is_valid and found.entropy == 0.8


def test_samples_after_restarts_that_repeat_fail(capsys, tmp_path):
    """Each row looks fair; but the first 100 places have the same values after each restart."""
    table = restarts()
    table[:, :100] = table[0, :100]
    found = assess_restarts(table.tobytes(), 0.9)
    assert found.most == RESTARTS and not found.is_sane and not found.is_valid
    assert found.entropy == 0 and found.record()["sane"] is False
    file = tmp_path / "restarts.bin"
    file.write_bytes(table.tobytes())
    assert main(["assess", "entropy", str(file), "--restarts"]) == 1
    assert "failed: these samples do not confirm 0.25 bits" in capsys.readouterr().out


@pytest.mark.fuzz
def test_samples_of_a_modelled_noise_source(capsys, tmp_path):
    file = tmp_path / "samples.bin"
    device = "sim:compact,max_bits=128,blinding=all,random=trng"
    words = ["assess", "entropy", str(file), "--collect", device, "--samples", "7000", "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 7000 == len(file.read_bytes())
