"""The power of the sponge alone: nothing is found where it has two shares, and what leaks is."""

import pytest
from amaranth.hdl import Const
from coprime_evidence.assess.leakage import run_leakage
from coprime_evidence.assess.sponge_traces import NOTHING, SpongeTraces
from coprime_evidence.assess.traces import Acquisition, TraceRecorder

from coprime.catalog import choose_calls
from coprime.cells.keccak import masked_round
from coprime.cells.keccak.lane_memory import LaneMemory

TRACES = 2000


def leakage(seed, masked="sponge", test="message", traces=TRACES):
    """First order. Recorders are remembered by what they are given: each test has its seed."""
    choice = choose_calls("shake", {"masked": masked})
    source = SpongeTraces(choice, "SHA3_256", seed, test)
    (profile,) = run_leakage(
        Acquisition(source, second_order=False), traces, orders=(1,), workers=1
    ).profiles
    return profile


def in_a_circle(lanes, fresh):
    """Guards without fresh bits: after the last row of a slice comes its first one."""
    return [lanes[(place + 5) % 25] for place in range(25)]


@pytest.mark.matrix
def test_a_sponge_in_two_shares_shows_nothing():
    profile = leakage(1)
    assert profile.above(profile.threshold) == 0
    assert profile.samples > 1500


@pytest.mark.matrix
def test_a_sponge_without_shares_shows_its_state():
    profile = leakage(2, "none", traces=500)
    assert profile.above(profile.threshold) > 0.5 * profile.samples


@pytest.mark.matrix
def test_words_that_replace_wrong_ones_are_found(monkeypatch):
    """A memory that is written in every cycle, as that of a sponge without shares: the first words
    of a pass are computed from bits of the state before, and the right ones replace them."""
    elaborate = LaneMemory.elaborate

    def always(self, platform):
        self.store = Const(1, 1)
        return elaborate(self, platform)

    monkeypatch.setattr(LaneMemory, "elaborate", always)
    profile = leakage(3)
    assert profile.above(profile.threshold) > 0
    assert "lanes" in profile.findings[0].component


@pytest.mark.matrix
def test_guards_in_a_circle_are_found(monkeypatch):
    monkeypatch.setattr(masked_round, "guards", in_a_circle)
    profile = leakage(4)
    assert profile.above(profile.threshold) > 0


@pytest.mark.matrix
@pytest.mark.parametrize("slices", ["4", "8", "16", "32"])
def test_the_sponge_alone_computes_the_function(slices):
    """A recorder compares the output with hashlib's as it opens."""
    for masked in ("none", "sponge"):
        choice = choose_calls("shake", {"slices": slices, "masked": masked})
        source = SpongeTraces(choice, "SHAKE128", 1, NOTHING)
        recorder = TraceRecorder(Acquisition(source))
        assert abs(len(recorder.reference) - source.predicted_cycles) < 4
        recorder.device.close()


def test_another_test_is_refused():
    source = SpongeTraces(choose_calls("shake", {"masked": "sponge"}), "SHA3_256", 1, "key")
    with pytest.raises(ValueError, match="SHA3_256 has no input 'key': choose --test message or"):
        Acquisition(source).check()
