"""The sponge side of ML-DSA: hashlib's bytes and FIPS 204's polynomials, in the cycles of the
twin."""

import hashlib
import random

import pytest

from coprime.lattice.memory.places import BytePlace
from coprime.lattice.sponge_side import instructions
from coprime.lattice.sponge_side.instructions import (
    LENGTHS,
    Destination,
    Over,
    SpongeProgram,
    Tail,
)
from coprime.model.lattice import ml_dsa as model
from coprime.model.lattice.ml_dsa import SHORT_BLOCKS
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from tests.lattice.sponge_side.bench import Call, Pace, SpongeBench

pytestmark = pytest.mark.matrix

DEPTH = 1024
MU, ROWS, HEAD, KEY, COPIED, TR, SEED, CHALLENGE, PUBLIC = 0, 16, 400, 424, 8, 440, 456, 464, 480


def place(address, *words):
    words = words * 3 if len(words) == 1 else words
    return BytePlace((address,) * 3, words)


ROW_WORDS = tuple(8 * one.w1_bits for one in ML_DSA_SETS)
RANGES = {
    "mu": place(MU, 16),
    "head": place(HEAD, 32),
    "rho": place(HEAD, 8),
    "seed": place(HEAD + 8, 16),
    "key": place(KEY, 8),
    "copied": place(COPIED, 8),
    "tr": place(TR, 16),
    "xi": place(SEED, 8),
    "c": place(CHALLENGE, *(one.challenge_bytes // 4 for one in ML_DSA_SETS)),
    "pk": place(PUBLIC, 328, 488, 540),
}


def the_program():
    program = SpongeProgram(
        tuple(one.k for one in ML_DSA_SETS),
        tuple(one.columns for one in ML_DSA_SETS),
        tuple(one.k | one.columns << 8 for one in ML_DSA_SETS),
        large=True,
    )

    def absorb(name, **options):
        program.absorb(RANGES[name], **options)

    def matrix():
        first = program.sample_uniform()
        absorb("rho")
        program.tail(Tail.COLUMN_ROW)
        program.loop(Over.COLUMNS, first)
        program.loop(Over.ROWS, first)

    def masks():
        first = program.sample_mask([one.z_bits for one in ML_DSA_SETS])
        absorb("seed")
        program.tail(Tail.NONCE)
        program.loop(Over.COLUMNS, first)

    def challenge():
        program.sample_ball([one.tau for one in ML_DSA_SETS])
        absorb("c", last=True)

    def high_parts():
        absorb("mu")
        row = program.await_post(settles=False)
        program.absorb_next(ROW_WORDS, last_row=True)
        program.loop(Over.ROWS, row)

    program.entry("VERIFY")
    challenge()
    matrix()
    program.settle()
    program.compare(RANGES["c"])
    high_parts()
    program.end()

    program.entry("MU")
    program.hash("SHAKE256", RANGES["tr"])
    absorb("pk", last=True)
    program.settle()
    program.hash("SHAKE256", RANGES["mu"])
    absorb("tr")
    program.stream()
    program.end()

    program.entry("KEY_PAIR")
    program.draw(RANGES["xi"], 0)
    program.settle()
    program.hash("SHAKE256", RANGES["head"])
    absorb("xi")
    program.tail(Tail.CONSTANT)
    program.settle()
    first = program.sample_short([one.eta for one in ML_DSA_SETS])
    absorb("seed")
    program.tail(Tail.NONCE)
    program.loop(Over.COLUMNS, first)
    program.settle()
    program.copy(RANGES["key"], RANGES["copied"])
    program.await_post()
    program.end()

    program.entry("SIGN")
    again = program.next
    masks()
    program.settle()
    program.hash("SHAKE256", RANGES["c"])
    high_parts()
    program.settle()
    challenge()
    program.await_post()
    program.loop(Over.REJECTED, again)
    program.rewind()
    masks()
    program.end()
    return program.assemble()


PROGRAM = the_program()


def point(slices, *marks):
    marks = [*marks, pytest.mark.xdist_group(f"large sponge side {slices}")]
    return pytest.param(slices, id=str(slices), marks=marks)


@pytest.fixture(
    scope="module", params=[point(8), *(point(one, pytest.mark.matrix) for one in (4, 64))]
)
def bench(request):
    return SpongeBench(request.param, PROGRAM, DEPTH)


@pytest.fixture(scope="module")
def pairs_bench():
    """Samples come in pairs, for several lanes."""
    return SpongeBench(64, PROGRAM, DEPTH, samples_pairs=True)


in_pairs = pytest.mark.xdist_group("large sponge side, pairs")


def held(call, name):
    found = RANGES[name]
    start, words = found.addresses[0], found.words[call.parameter_set]
    return b"".join(word.to_bytes(4, "little") for word in call.memory[start : start + words])


def shake(data, length):
    return hashlib.shake_256(data).digest(length)


def verification(generator, number, genuine=True):
    one = ML_DSA_SETS[number]
    mu = generator.randbytes(64)
    rows = generator.randbytes(4 * ROW_WORDS[number] * one.k)
    c = bytearray(shake(mu + rows, one.challenge_bytes))
    if not genuine:
        c[-1] ^= 128
    loads = {MU: mu, ROWS: rows, CHALLENGE: bytes(c), HEAD: generator.randbytes(32)}
    return Call("VERIFY", number, loads=loads)


def check_verification(call, genuine=True):
    one, loads = ML_DSA_SETS[call.parameter_set], call.loads
    matrix = [
        model.uniform(loads[HEAD], row, column)
        for row in range(one.k)
        for column in range(one.columns)
    ]
    assert call.polynomials == [model.challenge(one, loads[CHALLENGE]), *matrix]
    assert call.compared == (not genuine, genuine, one.challenge_bytes // 4)


def check_key_pair(call):
    one = ML_DSA_SETS[call.parameter_set]
    head = shake(call.random + bytes([one.k, one.columns]), 128)
    assert held(call, "head") == head
    assert held(call, "copied") == head[96:]
    assert call.polynomials == [
        model.short(one, head[32:96], column) for column in range(one.columns)
    ]


def signature(generator, number, rejected):
    one = ML_DSA_SETS[number]
    seed, mu = generator.randbytes(64), generator.randbytes(64)
    rows = generator.randbytes(4 * ROW_WORDS[number] * one.k)
    return Call("SIGN", number, loads={HEAD + 8: seed, MU: mu, ROWS: rows}, rejected=rejected)


def check_signature(call):
    """Of each iteration y and c, and y of the last one again."""
    one, number = ML_DSA_SETS[call.parameter_set], call.parameter_set
    seed, mu, rows = (call.loads[place] for place in (HEAD + 8, MU, ROWS))
    assert len(rows) == 4 * ROW_WORDS[number] * one.k
    c = model.challenge(one, shake(mu + rows, one.challenge_bytes))
    iterations = len(call.polynomials) // (one.columns + 1)
    assert (iterations > 1) == (call.rejected > 0)
    wanted = []
    for k in range(iterations):
        y = [model.mask(one, seed, k * one.columns + column) for column in range(one.columns)]
        wanted += [*y, c]
    assert call.polynomials == [*wanted, *y]


@pytest.mark.matrix
@pytest.mark.parametrize(("number", "genuine"), [(0, True), (0, False), (2, True)])
def test_verification(bench, number, genuine):
    call = verification(random.Random(number), number, genuine)
    bench.run([call], Pace(port=400, buffer=900, post=800), seed=number)
    check_verification(call, genuine)


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("length", [0, 71, 500])
def test_a_message_is_streamed(bench, length):
    generator = random.Random(length)
    number = length % 3
    pk = generator.randbytes(4 * RANGES["pk"].words[number])
    call = Call("MU", number, loads={PUBLIC: pk}, message=generator.randbytes(length))
    bench.run([call, verification(generator, 0)], Pace(stream=700), seed=length)
    assert held(call, "tr") == shake(pk, 64)
    assert held(call, "mu") == shake(shake(pk, 64) + call.message, 64)


@pytest.mark.parametrize("number", range(3))
def test_a_key_pair(bench, number):
    call = Call("KEY_PAIR", number, random=random.Random(number).randbytes(32))
    bench.run([call], Pace(port=300, post=500), seed=number)
    check_key_pair(call)


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize(("number", "rejected"), [(0, 0), (1, 20000), (2, 0)])
def test_signatures_are_sampled_again_after_a_rejection(bench, number, rejected):
    """y of the last iteration is sampled once more for z."""
    call = signature(random.Random(number), number, rejected)
    bench.run([call], seed=number)
    check_signature(call)


@in_pairs
@pytest.mark.parametrize("number", [0, 1])
def test_a_key_pair_in_pairs(pairs_bench, number):
    """eta of 2, and of 4."""
    call = Call("KEY_PAIR", number, random=random.Random(number).randbytes(32))
    pairs_bench.run([call], Pace(port=300, post=500), seed=number)
    check_key_pair(call)


@in_pairs
@pytest.mark.parametrize(("number", "rejected"), [(0, 0), (1, 3000)])
def test_signatures_in_pairs(pairs_bench, number, rejected):
    """Masks of 18 bits, and of 20."""
    call = signature(random.Random(number), number, rejected)
    pairs_bench.run([call], Pace(buffer=900), seed=number)
    check_signature(call)


@in_pairs
def test_a_polynomial_in_pairs_is_sampled_again_if_its_bytes_do_not_suffice(monkeypatch):
    """One block is never enough for eta = 4, two are."""
    usual, call = (Call("KEY_PAIR", 1, random=bytes(range(32))) for _ in range(2))
    bench = SpongeBench(32, PROGRAM, DEPTH, samples_pairs=True)
    bench.predict([usual])
    block = LENGTHS[Destination.SHORT_4][0] // SHORT_BLOCKS[4]
    few = LENGTHS | {Destination.SHORT_4: tuple(block * number for number in (1, 2, 3, 4))}
    monkeypatch.setattr(instructions, "LENGTHS", few)
    bench.run([call])
    assert call.cycles > usual.cycles
    check_key_pair(call)


@in_pairs
def test_a_wipe_ends_a_verification_in_pairs(pairs_bench):
    calls = [verification(random.Random(number), number) for number in (2, 2)]
    pairs_bench.run(calls, Pace(port=400, buffer=500, post=800), wipes=[2500])
    check_verification(calls[1])


def test_a_wipe_ends_it(bench):
    calls = [verification(random.Random(1), 0) for _ in range(2)]
    bench.run(calls, wipes=[2500])
    check_verification(calls[1])


@pytest.mark.parametrize(("address", "words"), [(2, 8), (4, 6), (0, 0)], ids=str)
def test_ranges_are_whole_units(address, words):
    made = SpongeProgram((1,), (1,), (1,), large=True)
    made.absorb(BytePlace((address,), (words,)), last=True)
    with pytest.raises(ValueError, match=r"a range must have whole units of 4 words"):
        made.assemble()


def test_a_comparison_must_settle_before_the_next_message():
    made = SpongeProgram((1,), (1,), (1,), large=True)
    made.compare(BytePlace((0,), (8,)))
    made.absorb(BytePlace((8,), (8,)), last=True)
    made.hash("SHAKE256", BytePlace((8,), (8,)))
    made.end()
    with pytest.raises(ValueError, match=r"instruction 2, HASH, must come after one that settles"):
        made.assemble()


def test_destinations_of_the_sampler_are_eight_more_than_samples():
    assert Destination.LARGE_UNIFORM.value == 8
    assert [Destination[f"MASK_{bits}"].value for bits in (18, 20)] == [12, 13]
