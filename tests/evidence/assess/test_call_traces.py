"""Traces of calls on byte strings: what is drawn, what is recorded, and what is found."""

import json

import pytest
from coprime_evidence.assess.call_subject import CallSubject
from coprime_evidence.assess.call_traces import NOTHING, CallTraces
from coprime_evidence.assess.leakage import run_leakage
from coprime_evidence.assess.traces import Acquisition, TraceRecorder

from coprime.catalog import choose_calls
from coprime.cli import main
from coprime.device.base import DeviceError
from coprime.lattice.arithmetic.large_instructions import LargeCode
from coprime.lattice.arithmetic.large_steps import LargeKind
from coprime.model.lattice import ml_dsa, ml_kem
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS

pytestmark = pytest.mark.xdist_group("leakage of lattice")

KEM, DSA = "ML-KEM-512", "ML-DSA-44"
SETS = {KEM: {"sets": "ml-kem-512"}, DSA: {"schemes": "ml-dsa", "sets": "ml-dsa-44"}}
CASES = [
    ("ML_KEM_KEY_PAIR", KEM, "d", {"z"}),
    ("ML_KEM_KEY_PAIR", KEM, "z", set()),
    ("ML_KEM_ENCAPSULATE", KEM, "m", set()),
    ("ML_KEM_DECAPSULATE", KEM, "dk", {"c"}),
    ("ML_KEM_DECAPSULATE", KEM, "c", set()),
    ("ML_KEM_DECAPSULATE", KEM, NOTHING, {"c"}),
    ("ML_DSA_KEY_PAIR", DSA, "xi", set()),
    ("ML_DSA_SIGN", DSA, "sk", {"rnd", "mu"}),
    ("ML_DSA_SIGN", DSA, "rnd", {"mu"}),
    ("ML_DSA_SIGN", DSA, NOTHING, {"rnd", "mu"}),
]
FOLLOWS = {"sk": {"pk"}}


def source(operation, parameter_set, test, family="lattice"):
    choice = choose_calls(family, SETS.get(parameter_set, {}))
    return CallTraces(CallSubject(choice, operation, parameter_set, 1), test)


@pytest.mark.parametrize(("operation", "name", "test", "in_both"), CASES)
def test_what_varies_in_each_group(operation, name, test, in_both):
    own = source(operation, name, test)
    own.check()
    groups = {True: [], False: []}
    for number in range(12):
        one = own.draw(number)
        groups[one.fixed].append(one.values)
    tested = set() if test == NOTHING else {test} | FOLLOWS.get(test, set())
    for fixed, drawn in groups.items():
        assert len(drawn) > 2
        varying = {key for key in drawn[0] if len({one[key] for one in drawn}) == len(drawn)}
        assert varying == (in_both if fixed else in_both | tested)
        for one in drawn:
            assert all(own.subject.inputs[key] == one[key] for key in one.keys() - varying)
            assert isinstance(own.input_bytes(one), bytes)


@pytest.mark.parametrize("test", ["dk", "c"])
def test_ciphertexts_are_for_the_key_that_they_are_drawn_with(test):
    own, p = source("ML_KEM_DECAPSULATE", KEM, test), ML_KEM_SETS[0]
    seen = set()
    for number in range(4):
        values = own.draw(number).values
        key = own.subject.call.reference(KEM, values)["key"]
        assert key != ml_kem.decapsulate(p, values["dk"], bytes(len(values["c"])))
        # That of implicit rejection is another one.
        refusal = own.subject.call.refusal
        assert key == refusal.accepted(KEM, values)["key"] != refusal.refused(KEM, values)["key"]
        seen.add(key)
    assert len(seen) > 1


def test_keys_of_signatures_fit_each_other():
    values = next(
        one.values for one in map(source("ML_DSA_SIGN", DSA, "sk").draw, range(9)) if not one.fixed
    )
    assert ml_dsa.public_of(ML_DSA_SETS[0], values["sk"]) == values["pk"]


def test_what_a_call_does_not_have_is_refused():
    with pytest.raises(ValueError, match="has no input 'd': choose --test dk, c or nothing"):
        source("ML_KEM_DECAPSULATE", KEM, "d").check()
    with pytest.raises(ValueError, match="SHA3_224 on shake has no inputs in slots that vary"):
        source("SHA3_224", "", NOTHING, "shake").check()


def test_a_signature_needs_cycles_that_all_have():
    own = source("ML_DSA_SIGN", DSA, "sk")
    with pytest.raises(ValueError, match=r"the same cycles: choose --cycles FIRST..END"):
        Acquisition(own).check()
    Acquisition(own, cycles=(0, 20_000)).check()


@pytest.fixture(scope="module")
def recorder():
    found = TraceRecorder(Acquisition(source("ML_KEM_DECAPSULATE", KEM, "c")))
    yield found
    found.device.close()


@pytest.mark.fuzz
def test_steps_are_the_instructions_of_both_sides(recorder):
    cycles = recorder.acquisition.source.predicted_cycles
    assert cycles <= len(recorder.reference) <= cycles + 4
    arithmetic = [str(one) for one in recorder.places.of("engine.arithmetic.datapath.slice")]
    kinds = [name.partition(" ")[0] for name in dict.fromkeys(arithmetic)]
    assert {"TRANSFORM", "MULTIPLY", "INVERSE", "UNPACK", "PACK", "DECIDE"} <= {*kinds}
    # Of cycles in which the slice works, most are of transforms and products.
    transforms = sum(one.startswith(("TRANSFORM", "INVERSE")) for one in arithmetic)
    products = sum(one.startswith("MULTIPLY") for one in arithmetic)
    assert transforms > products > len(arithmetic) / 10
    sponge = {str(one) for one in recorder.places.of("engine.sponge.hash_unit.sponge")}
    assert any(one.startswith("HASH SHAKE128 for UNIFORM") for one in sponge)


@pytest.mark.fuzz
def test_traces_together_are_those_of_the_device(recorder):
    """Sums of eight traces by hand, and both groups are there."""
    import numpy as np

    numbers = range(8)
    drawn = [recorder.start(number) for number in numbers]
    fixed = np.array([one.fixed for one, _ in drawn])
    first, end = recorder.cycles
    samples = (end - first) * recorder.reference.shape[1]
    sums = np.zeros((1, samples)), np.zeros((1, samples))
    recorder.many.record([start for _, start in drawn], fixed, sums, (first, end))
    expected = [np.zeros(samples), np.zeros(samples)]
    for number in numbers:
        one, trace = recorder.trace(number)
        difference = trace.astype(float) - recorder.reference.astype(float)
        expected[not one.fixed] += difference.ravel()
    assert 0 < fixed.sum() < len(fixed)
    for found, one in zip(sums, expected, strict=True):
        assert (found[0] == one).all()


@pytest.mark.fuzz
def test_a_ciphertext_leaks_and_a_control_does_not(recorder):
    found = run_leakage(recorder.acquisition, 200, orders=(1,), workers=1)
    (profile,) = found.profiles
    leaking = {one.component for one in profile.findings if one.t > profile.threshold}
    assert {"engine.arithmetic.datapath.slice", "engine.sponge.hash_unit.sponge"} <= leaking
    assert found.record()["parameter_set"] == KEM
    control = Acquisition(source("ML_KEM_DECAPSULATE", KEM, NOTHING))
    quiet = run_leakage(control, 200, orders=(1,), workers=1).profiles[0]
    assert quiet.above(quiet.threshold) <= 2


@pytest.mark.fuzz
@pytest.mark.timeout(600)
def test_the_begin_of_signatures_of_different_lengths(capsys):
    command = "assess leakage lattice -p schemes=ml-dsa -p sets=ml-dsa-44 --operation ML_DSA_SIGN"
    command += " --test sk --traces 40 --cycles 4000..6000 --order 1 --workers 1 --json"
    assert main(command.split()) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["first_cycle"] == 4000 and found["cycles"] == 2000
    (profile,) = found["orders"]
    steps = {
        one["step"].partition(" ")[0]
        for one in profile["findings"]
        if one["component"].startswith("engine.arithmetic.datapath")
    }
    assert steps <= {kind.name for kind in (*LargeKind, *LargeCode)}
    assert "before" not in steps and steps, "a key in shares would not leak"


@pytest.mark.fuzz
@pytest.mark.timeout(600)
def test_cycles_that_not_all_signatures_have_are_refused():
    own = Acquisition(source("ML_DSA_SIGN", DSA, "mu"), cycles=(0, 10_000_000))
    with pytest.raises((DeviceError, ValueError), match="cycles"):
        TraceRecorder(own)
