"""The published vectors that are kept, and that they agree with the `cryptography` package."""

from collections import Counter

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import mldsa, mlkem

from coprime.model.lattice import ml_kem as model
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS
from tests.lattice.published import published

COUNTS = {
    "ACVP keyGen": (25, 25, 25),
    "ACVP encapDecap": (35, 35, 35),
    "ACVP keyCheck": (20, 20, 20),
    "Wycheproof encaps": (261, 265, 269),
    "Wycheproof keygen_seed": (100, 100, 100),
    "Wycheproof semi_expanded_decaps": (9, 9, 9),
    "Wycheproof decapsulate_seed": (200, 201, 202),
    "ACVP sigGen": (20, 20, 20),
    "ACVP sigVer": (15, 15, 15),
    "Wycheproof sign_noseed": (73, 78, 69),
    "Wycheproof sign_seed": (86, 105, 96),
    "Wycheproof verify": (180, 210, 241),
}
SETS = {
    "ML-KEM": ("ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"),
    "ML-DSA": ("ML-DSA-44", "ML-DSA-65", "ML-DSA-87"),
}
KEMS = {"ML-KEM-768": mlkem.MLKEM768PrivateKey, "ML-KEM-1024": mlkem.MLKEM1024PrivateKey}
SIGNERS = {
    "ML-DSA-44": mldsa.MLDSA44PrivateKey,
    "ML-DSA-65": mldsa.MLDSA65PrivateKey,
    "ML-DSA-87": mldsa.MLDSA87PrivateKey,
}
VERIFIERS = {
    "ML-DSA-44": mldsa.MLDSA44PublicKey,
    "ML-DSA-65": mldsa.MLDSA65PublicKey,
    "ML-DSA-87": mldsa.MLDSA87PublicKey,
}


@pytest.mark.parametrize("scheme", SETS)
def test_every_file_is_there_with_all_of_its_cases(scheme):
    found = {(file.name, file.set): len(file.cases) for file in published(scheme)}
    for (name, which), count in found.items():
        assert count == COUNTS[name][SETS[scheme].index(which)], (name, which)
    names = {name for name, _ in found}
    assert len(found) == 3 * len(names)
    assert len(names) == {"ML-KEM": 7, "ML-DSA": 6}[scheme]


@pytest.mark.parametrize("scheme", SETS)
def test_inputs_and_results_have_the_names_that_are_documented(scheme):
    names = {
        "key_pair": ({"d", "z"}, {"seed"}),
        "encapsulate": ({"ek", "m"},),
        "decapsulate": ({"dk", "c"},),
        "check_key": ({"ek"}, {"dk"}),
        "decapsulate_seed": ({"seed", "c"},),
        "sign": tuple(
            {key, "rnd", *message}
            for key in ("sk", "seed")
            for message in (("framed",), ("message", "context"), ("mu", "context"))
        ),
        "verify": (
            {"pk", "signature", "framed"},
            {"pk", "signature", "message", "context"},
        ),
    }
    for file in published(scheme):
        for case in file.cases:
            assert set(case.inputs) in names[case.operation], case.name
            gives = case.operation not in ("verify", "check_key")
            assert bool(case.results) == (case.valid and gives), case.name


def test_a_result_that_differs_does_not_agree():
    case = next(one for one in published("ML-KEM")[0].cases if one.operation == "encapsulate")
    assert not case.agrees("k", bytes(32))
    assert not case.agrees("c", bytes(768))


@pytest.mark.parametrize("which", KEMS)
def test_ml_kem_agrees_with_cryptography(which):
    kind, tried = KEMS[which], 0
    for file in published("ML-KEM"):
        for case in file.cases:
            if case.set != which or not case.valid or "seed" not in case.inputs:
                continue
            private = kind.from_seed_bytes(case.inputs["seed"])
            if "ek" in case.results:
                assert case.agrees("ek", private.public_key().public_bytes_raw()), case.name
            if "c" in case.inputs:
                assert case.agrees("k", private.decapsulate(case.inputs["c"])), case.name
            tried += 1
    assert tried > 250


@pytest.mark.parametrize("which", SETS["ML-KEM"])
def test_the_model_checks_keys(which):
    checks = {"ek": model.is_encapsulation_key, "dk": model.is_decapsulation_key}
    one = next(one for one in ML_KEM_SETS if one.name == which)
    found = Counter()
    for file in published("ML-KEM"):
        for case in file.cases:
            if case.operation == "check_key" and case.set == which:
                ((name, key),) = case.inputs.items()
                assert checks[name](one, key) == case.valid, case.name
                found[name, case.valid] += 1
    assert set(found.values()) == {5}
    assert len(found) == 4


@pytest.mark.parametrize("which", SIGNERS)
def test_ml_dsa_agrees_with_cryptography(which):
    tried = 0
    for file in published("ML-DSA"):
        for case in file.cases:
            if case.set != which:
                continue
            seed = case.inputs.get("seed", b"")
            if case.operation == "key_pair":
                public = SIGNERS[which].from_seed_bytes(seed).public_key()
                assert case.agrees("pk", public.public_bytes_raw()), case.name
                tried += 1
            if case.operation == "verify" and "message" in case.inputs:
                assert verified(case) == case.valid, case.name
                tried += 1
    assert tried > 200


def verified(case):
    """Whether the package accepts a signature."""
    try:
        public = VERIFIERS[case.set].from_public_bytes(case.inputs["pk"])
        public.verify(case.inputs["signature"], case.inputs["message"], case.inputs["context"])
    except (InvalidSignature, ValueError):
        return False
    return True
