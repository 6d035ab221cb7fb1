"""ML-KEM in integers against every published case."""

import pytest

from coprime.model.lattice import ml_kem
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS
from tests.lattice.published import published

BY_NAME = {one.name: one for one in ML_KEM_SETS}
FILES = published("ML-KEM")


def accepted(case):
    """Whether a case has its published results; False if an input is refused."""
    p, inputs = BY_NAME[case.set], case.inputs
    if case.operation == "key_pair":
        seed = inputs.get("seed") or inputs["d"] + inputs["z"]
        ek, dk = ml_kem.key_pair(p, seed[:32], seed[32:])
        return case.agrees("ek", ek) and case.agrees("dk", dk)
    if case.operation == "encapsulate":
        if not ml_kem.is_encapsulation_key(p, inputs["ek"]):
            return False
        key, c = ml_kem.encapsulate(p, inputs["ek"], inputs["m"])
        return case.agrees("k", key) and case.agrees("c", c)
    dk = inputs.get("dk")
    if case.operation == "check_key":
        if dk is None:
            return ml_kem.is_encapsulation_key(p, inputs["ek"])
        return ml_kem.is_decapsulation_key(p, dk)
    if case.operation == "decapsulate_seed":
        if len(inputs["seed"]) != 64:
            return False
        ek, dk = ml_kem.key_pair(p, inputs["seed"][:32], inputs["seed"][32:])
        assert "ek" not in case.results or case.agrees("ek", ek)
    if len(inputs["c"]) != p.ciphertext_bytes or not ml_kem.is_decapsulation_key(p, dk):
        return False
    return case.agrees("k", ml_kem.decapsulate(p, dk, inputs["c"]))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.name}-{file.set}")
def test_the_first_and_the_last_case_of_each_file(file):
    for case in (file.cases[0], file.cases[-1]):
        assert accepted(case) == case.valid, case.name


@pytest.mark.vectors
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.name}-{file.set}")
def test_all_of_each_file(file):
    for case in file.cases:
        assert accepted(case) == case.valid, case.name
