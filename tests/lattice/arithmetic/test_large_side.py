"""The arithmetic side modulo 8380417 in Verilator, beside its twin."""

import random

import pytest

from coprime.lattice.memory.places import words_needed
from coprime.lattice.programs.ml_dsa import ml_dsa_programs
from coprime.lattice.programs.ml_dsa_entries import VERIFY
from coprime.model.lattice import ml_dsa
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from tests.lattice.arithmetic.large_side_bench import LargeSideBench


@pytest.mark.parametrize("verify_only", [False, True])
@pytest.mark.parametrize("number", range(len(ML_DSA_SETS)))
def test_a_verification(number, verify_only):
    p, generator = ML_DSA_SETS[number], random.Random(204)
    programs = ml_dsa_programs(ML_DSA_SETS, verify_only=verify_only)
    places = programs.places
    bench = LargeSideBench(programs.arithmetic, words_needed(places), verify_only=verify_only)
    pk, sk = ml_dsa.key_pair(p, generator.randbytes(32))
    mu = generator.randbytes(64)
    signature = ml_dsa.sign(p, sk, mu).signature
    c = signature[: p.challenge_bytes]
    samples = [ml_dsa.challenge(p, c)]
    samples += [
        ml_dsa.uniform(pk[:32], row, column) for row in range(p.k) for column in range(p.columns)
    ]
    for wrong in (False, True):
        if wrong:
            signature = signature[:-1] + bytes([signature[-1] ^ 1])
        loads = {places["pk"].addresses[number]: pk}
        loads[places["signature"].addresses[number]] = signature
        twin, _ = bench.run(VERIFY, number, loads, samples)
        start, row = places["w1"].addresses[number], places["w1_row"].words[number]
        words = twin.memory[start : start + row * p.k]
        w1 = b"".join(word.to_bytes(4, "little") for word in words)
        assert twin.exceeds is wrong
        assert wrong or ml_dsa.hashed(mu + w1, p.challenge_bytes) == c
