"""The arithmetic side modulo 8380417 in Verilator, beside its twin."""

import random

import pytest

from coprime.lattice.memory.places import words_needed
from coprime.lattice.programs.entries import LatticeRoutine
from coprime.lattice.programs.ml_dsa import ml_dsa_programs
from coprime.model.lattice import large_arithmetic, ml_dsa
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from coprime.model.lattice.rounding import decompose
from tests.lattice.arithmetic.large_side_bench import LargeSideBench

KEY = bytes(range(32))


class Case:
    """A parameter set with its programs, places, and a key pair."""

    def __init__(self, number, *, verify_only=False):
        self.number, self.p = number, ML_DSA_SETS[number]
        programs = ml_dsa_programs(ML_DSA_SETS, verify_only=verify_only)
        self.places = programs.places
        depth = words_needed(self.places)
        self.bench = LargeSideBench(programs.arithmetic, depth, verify_only=verify_only)
        self.pk, self.sk = ml_dsa.key_pair(self.p, KEY)

    def run(self, routine, slots, samples, **options):
        """Of the memory's words afterwards a function that gives the bytes of a place."""
        loads = {self.places[name].addresses[self.number]: data for name, data in slots.items()}
        twin, _ = self.bench.run(routine.name, self.number, loads, samples, **options)

        def found(name):
            place = self.places[name]
            start = place.addresses[self.number]
            words = twin.memory[start : start + place.words[self.number]]
            return b"".join(word.to_bytes(4, "little") for word in words)

        return twin, found

    def matrix(self):
        p, rho = self.p, self.pk[:32]
        return [
            ml_dsa.uniform(rho, row, column) for row in range(p.k) for column in range(p.columns)
        ]


@pytest.mark.matrix  # the engine's tests verify, too
@pytest.mark.parametrize("verify_only", [False, True])
@pytest.mark.parametrize("number", range(len(ML_DSA_SETS)))
def test_a_verification(number, verify_only):
    case = Case(number, verify_only=verify_only)
    p, mu = case.p, bytes(64)
    signature = ml_dsa.sign(p, case.sk, mu).signature
    c = signature[: p.challenge_bytes]
    samples = [ml_dsa.challenge(p, c), *case.matrix()]
    for wrong in (False, True):
        if wrong:
            signature = signature[:-1] + bytes([signature[-1] ^ 1])
        slots = {"pk": case.pk, "signature": signature}
        twin, found = case.run(LatticeRoutine.VERIFY, slots, samples)
        w1 = found("w1")[: 32 * p.w1_bits * p.k]
        assert twin.exceeds is wrong
        assert wrong or ml_dsa.hashed(mu + w1, p.challenge_bytes) == c


@pytest.mark.matrix  # the engine's tests make key pairs, too
@pytest.mark.parametrize("number", range(len(ML_DSA_SETS)))
def test_a_key_pair(number):
    case = Case(number)
    p = case.p
    seeds = ml_dsa.hashed(KEY + bytes([p.k, p.columns]), 128)
    short = [ml_dsa.short(p, seeds[32:96], k) for k in range(p.columns + p.k)]
    samples, matrix = short[: p.columns], case.matrix()
    for row in range(p.k):
        samples += [*matrix[row * p.columns : (row + 1) * p.columns], short[p.columns + row]]
    _, found = case.run(LatticeRoutine.KEY_PAIR, {}, samples)
    assert found("t1") == case.pk[32:]
    assert found("s1") + found("s2") + found("t0") == case.sk[128:]


@pytest.mark.matrix
@pytest.mark.parametrize("altered", [False, True])
def test_a_signature_and_the_checksum_of_its_masks(altered):
    """A mask that is another one when it is sampled again; the signature's bytes are wrong then."""
    case = Case(0)
    p, generator = case.p, random.Random(1)
    while True:
        mu = generator.randbytes(64)
        done = ml_dsa.sign(p, case.sk, mu)
        if not done.rejections:
            break
    seed = ml_dsa.hashed(case.sk[32:64] + bytes(32) + mu, 64)
    y = [ml_dsa.mask(p, seed, column) for column in range(p.columns)]
    c = ml_dsa.challenge(p, done.signature[: p.challenge_bytes])
    again = [list(one) for one in y]
    again[1][7] += 4 * altered
    samples = [*y, *case.matrix(), c, *again]
    slots = {"sk": case.sk}
    _, found = case.run(LatticeRoutine.SIGN, slots, samples, cancels=not altered)
    packed = found("z") + found("hints")
    expected = done.signature[p.challenge_bytes :]
    assert (packed[: len(expected)] == expected) is not altered
    vector = [large_arithmetic.transform(one) for one in y]
    w = large_arithmetic.inverse(ml_dsa.matrix_row(case.pk[:32], 0, vector))
    high = [decompose(p, x % ml_dsa.Q)[0] for x in w]
    assert found("w1")[: 32 * p.w1_bits] == ml_dsa.pack(high, p.w1_bits)
