"""The sponge side's program of ML-KEM: hashlib's bytes and FIPS 203's polynomials, in the cycles of
the twin."""

import hashlib
import random
from dataclasses import replace
from itertools import pairwise

import pytest

from coprime.lattice.memory.places import words_needed
from coprime.lattice.programs.entries import D, M, Z
from coprime.lattice.programs.ml_kem import ml_kem_programs
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS
from coprime.model.lattice.sampling import binomial, uniform
from tests.lattice.sponge_side.bench import Call, Pace, SpongeBench

pytestmark = pytest.mark.matrix

SEED = 203
PROGRAMS = ml_kem_programs(ML_KEM_SETS)
PLACES, PROGRAM = PROGRAMS.places, PROGRAMS.sponge
DEPTH = words_needed(PLACES)
MATRIX_BYTES = 7 * 168


def point(slices, *marks):
    marks = [*marks, pytest.mark.xdist_group(f"sponge side {slices}")]
    return pytest.param(slices, id=str(slices), marks=marks)


@pytest.fixture(
    scope="module", params=[point(8), *(point(one, pytest.mark.matrix) for one in (4, 16, 32, 64))]
)
def bench(request):
    return SpongeBench(request.param, PROGRAM, DEPTH)


def address(name, number):
    return PLACES[name].addresses[number]


def held(call, name):
    """A byte string of the memory afterwards."""
    start, words = address(name, call.parameter_set), PLACES[name].words[call.parameter_set]
    return b"".join(word.to_bytes(4, "little") for word in call.memory[start : start + words])


def paired(coefficients):
    return list(zip(coefficients[::2], coefficients[1::2], strict=True))


def element(rho, i, j):
    """Element i, j of the matrix."""
    return paired(uniform(hashlib.shake_128(rho + bytes([j, i])).digest(MATRIX_BYTES)))


def noise(seed, number, eta):
    return paired(binomial(hashlib.shake_256(seed + bytes([number])).digest(64 * eta), eta))


def sampled_by_key_pair(one, rho, sigma):
    k = one.k
    yield from (noise(sigma, number, one.eta1) for number in range(k))
    for i in range(k):
        yield from (element(rho, i, j) for j in range(k))
        yield noise(sigma, k + i, one.eta1)


def sampled_by_encryption(one, rho, coins):
    k = one.k
    yield from (noise(coins, number, one.eta1) for number in range(k))
    for i in range(k):
        yield from (element(rho, j, i) for j in range(k))
        yield noise(coins, k + i, one.eta2)
    yield noise(coins, 2 * k, one.eta2)


def key_pair(generator, number, present=0):
    """A call whose host has loaded the seeds that are present. There is no arithmetic side, so ek
    is loaded instead of packed."""
    one = ML_KEM_SETS[number]
    loads = {address("dk_t", number): generator.randbytes(384 * one.k)}
    for bit, name in ((D, "d"), (Z, "z")):
        if present >> bit & 1:
            loads[address(name, number)] = generator.randbytes(32)
    return Call("KEM_KEY_PAIR", number, present, loads, generator.randbytes(64))


def check_key_pair(call):
    number = call.parameter_set
    one, random_bytes = ML_KEM_SETS[number], call.random
    seeds = []
    for bit, name in ((D, "d"), (Z, "z")):
        if call.present >> bit & 1:
            seeds.append(call.loads[address(name, number)])
        else:
            seeds.append(random_bytes[:32])
            random_bytes = random_bytes[32:]
    d, z = seeds
    both = hashlib.sha3_512(d + bytes([one.k])).digest()
    ek = call.loads[address("dk_t", number)] + both[:32]
    assert held(call, "d") == d
    assert held(call, "z") == z
    assert held(call, "dk_ek") == ek
    assert held(call, "dk_hash") == hashlib.sha3_256(ek).digest()
    assert call.polynomials == list(sampled_by_key_pair(one, both[:32], both[32:]))


def encapsulation(generator, number, present=0):
    one = ML_KEM_SETS[number]
    loads = {address("ek", number): generator.randbytes(one.ek_bytes)}
    if present >> M & 1:
        loads[address("m", number)] = generator.randbytes(32)
    return Call("ENCAPSULATE", number, present, loads, generator.randbytes(32))


def check_encapsulation(call):
    number = call.parameter_set
    one = ML_KEM_SETS[number]
    ek = call.loads[address("ek", number)]
    m = call.loads[address("m", number)] if call.present >> M & 1 else call.random
    digest = hashlib.sha3_256(ek).digest()
    both = hashlib.sha3_512(m + digest).digest()
    assert held(call, "digest") == digest
    assert held(call, "key") + held(call, "coins") == both
    assert call.polynomials == list(sampled_by_encryption(one, ek[-32:], both[32:]))


def decapsulation(generator, number):
    """The message is loaded instead of decrypted."""
    one = ML_KEM_SETS[number]
    loads = {
        address(name, number): generator.randbytes(length)
        for name, length in {"dk": one.dk_bytes, "c": one.ciphertext_bytes, "message": 32}.items()
    }
    return Call("DECAPSULATE", number, 0, loads)


def check_decapsulation(call):
    number = call.parameter_set
    one = ML_KEM_SETS[number]
    dk, c, m = (call.loads[address(name, number)] for name in ("dk", "c", "message"))
    both = hashlib.sha3_512(m + dk[-64:-32]).digest()
    assert held(call, "refusal") == hashlib.shake_256(dk[-32:] + c).digest(32)
    assert held(call, "key") + held(call, "coins") == both
    assert call.polynomials == list(sampled_by_encryption(one, dk[-96:-64], both[32:]))


def key_hash(generator, number):
    one = ML_KEM_SETS[number]
    loads = {address("dk_ek", number): generator.randbytes(one.ek_bytes)}
    return Call("CHECK_DK", number, 0, loads)


def check_key_hash(call):
    ek = call.loads[address("dk_ek", call.parameter_set)]
    assert held(call, "scratch") == hashlib.sha3_256(ek).digest()


CHECKS = {
    "KEM_KEY_PAIR": check_key_pair,
    "ENCAPSULATE": check_encapsulation,
    "DECAPSULATE": check_decapsulation,
    "CHECK_DK": check_key_hash,
}


def calls_of(number, generator):
    """Each call, with seeds and without."""
    return [
        key_pair(generator, number),
        key_pair(generator, number, 1 << D | 1 << Z),
        encapsulation(generator, number),
        encapsulation(generator, number, 1 << M),
        decapsulation(generator, number),
        key_hash(generator, number),
    ]


def check(calls):
    for call in calls:
        CHECKS[call.entry](call)


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("number", range(3), ids=[one.name for one in ML_KEM_SETS])
def test_calls(bench, number):
    calls = calls_of(number, random.Random(SEED + number))
    bench.run(calls)
    check(calls)


@pytest.mark.matrix
def test_memories_and_random_bytes_that_are_not_ready(bench):
    """The arithmetic side uses its port in every other cycle, at most: no cycle changes."""
    generator = random.Random(SEED)
    calls = [*calls_of(0, generator), *calls_of(1, generator)]
    undisturbed = [replace(call, polynomials=[], times=[]) for call in calls]
    bench.predict(undisturbed)
    bench.run(calls, Pace(port=512), seed=SEED)
    check(calls)
    for call, other in zip(calls, undisturbed, strict=True):
        assert call.cycles == other.cycles
    for pace in (Pace(900, 1024, 0, 900), Pace(512, 1024, 700, 1000), Pace(0, 300, 1023, 0)):
        calls = calls_of(0, generator)
        bench.run(calls, pace, seed=SEED)
        check(calls)


@pytest.mark.fuzz
def test_wipes_wherever_they_come(bench):
    """Nothing is left in the memories, and the next call is not disturbed."""
    generator = random.Random(SEED)
    calls = [one for _ in range(3) for one in calls_of(0, generator)]
    wipes = [generator.randrange(60_000) for _ in range(12)]
    bench.run(calls, Pace(300, 300, 300, 300), seed=SEED, wipes=wipes)
    assert sum(not any(call.memory) for call in calls) > 2
    check([call for call in calls if any(call.memory)])


@pytest.mark.matrix
def test_a_uniform_polynomial_that_needs_a_fourth_block(bench):
    """Sampled again with one more block, at the price of a message and a wipe of the sponge."""
    generator = random.Random(SEED)
    number = 1
    rare = []
    while len(rare) < 2:
        seed = generator.randbytes(32)
        bytes_of = hashlib.shake_128(seed + bytes([0, 0])).digest(504)
        if len(uniform(bytes_of)) < 256:
            rare.append(seed)
    usual = encapsulation(generator, number)
    calls = [usual]
    for seed in rare:
        call = encapsulation(generator, number)
        ek = call.loads[address("ek", number)]
        call.loads[address("ek", number)] = ek[:-32] + seed
        calls.append(call)
    bench.run(calls)
    check(calls)
    assert all(call.cycles > usual.cycles + 3 * 168 for call in calls[1:])


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("number", range(3), ids=[one.name for one in ML_KEM_SETS])
def test_cycles_depend_on_nothing_secret(number):
    """By the twin: seeds and coins change, rho does not. A uniform polynomial is complete after a
    number of cycles that depends on rho."""
    bench = SpongeBench(8, PROGRAM, DEPTH)
    generator = random.Random(SEED)
    call = decapsulation(generator, number)
    calls = [call]
    for _ in range(3):
        other = decapsulation(generator, number)
        dk = address("dk", number)
        end = len(call.loads[dk])
        other.loads[dk] = (
            other.loads[dk][: end - 96]
            + call.loads[dk][end - 96 : end - 64]
            + other.loads[dk][end - 64 :]
        )
        calls.append(other)
    bench.predict(calls)
    check(calls)
    assert len({(call.cycles, tuple(call.times)) for call in calls}) == 1
    assert len({tuple(map(tuple, call.polynomials)) for call in calls}) == len(calls)


def test_cycles_of_polynomials():
    """A polynomial of the matrix takes three permutations and two passes, and one of noise the
    words that enter and leave. How many words of the matrix are left over depends on rho."""
    bench = SpongeBench(8, PROGRAM, DEPTH)
    call = encapsulation(random.Random(SEED), 2, 1 << M)
    bench.predict([call])
    cycles = [after - before for before, after in pairwise(call.times)]
    assert cycles[:3] == [328] * 3
    assert sum(cycles[3:23]) <= 16 * 741 + 4 * 328
