"""Hash units in two shares in Verilator: hashlib's digests, in exactly the cycles of the twin."""

import random

import pytest

from coprime.cells.keccak.hash_unit import make_sponge
from coprime.cells.keccak.masked_sponge import MaskedSponge
from coprime.cells.keccak.twin import SpongeCycles
from coprime.model.keccak import FUNCTIONS
from tests.cells.keccak.bench import HashBench, Job, Pace

SEED = 25
SHA3_256, SHA3_512, SHAKE128, SHAKE256 = 1, 3, 4, 5


def point(slices, blocks, *marks):
    name = f"{slices}-{blocks}"
    marks = [*marks, pytest.mark.xdist_group(f"keccak masked {name}")]
    return pytest.param((slices, blocks), id=name, marks=marks)


@pytest.fixture(
    scope="module",
    params=[point(*one, pytest.mark.matrix) for one in [(8, 2), (4, 1), (16, 2), (32, 1), (8, 1)]],
)
def bench(request):
    return HashBench(*request.param, masked=True)


def a_job(generator, number, length):
    wanted = FUNCTIONS[number].digest_bytes or generator.randrange(1, 400)
    return Job(number, generator.randbytes(length), wanted)


def test_single_messages_take_the_stated_cycles(bench):
    """Messages that end near the end of a block, of all four functions of ML-KEM and ML-DSA."""
    generator = random.Random(SEED)
    jobs = [
        a_job(generator, number, length)
        for number in (SHA3_256, SHA3_512, SHAKE128, SHAKE256)
        for rate in [FUNCTIONS[number].rate_bytes]
        for length in (0, rate - 1, rate, 2 * rate + 1)
    ]
    bench.run(jobs, Pace(alone=True))
    cycles = SpongeCycles(bench.slices, masked=True)
    for job in jobs:
        wanted = cycles.hash(job.function, len(job.message), job.length)
        assert job.finished - job.taken == wanted, (job.function.name, len(job.message))


@pytest.mark.parametrize("pace", [Pace(), Pace(3, 4, 5)], ids=["none", "all"])
def test_messages_back_to_back_with_streams_that_wait(bench, pace):
    generator = random.Random(SEED)
    jobs = [a_job(generator, number, generator.randrange(400)) for number in range(6)]
    bench.run(jobs, pace, seed=SEED)


def test_a_wipe_forgets_everything(bench):
    """Wherever it comes, also during another one; what was not complete is hashed again."""
    generator = random.Random(SEED)
    jobs = [a_job(generator, generator.randrange(6), generator.randrange(200)) for _ in range(6)]
    cycle, wipes = 200, set()
    for _ in range(16):
        cycle += generator.choice((1, 7, 60, 200, 400, 1000))
        wipes.add(cycle)
    bench.run(jobs, Pace(1, 1, 1), seed=SEED, wipes=wipes)


@pytest.mark.parametrize("slices", [4, 8, 16, 32])
def test_permutations_take_the_stated_cycles(slices):
    cycles = {4: 456, 8: 264, 16: 168, 32: 120}
    assert SpongeCycles(slices, masked=True).permutation == cycles[slices]


@pytest.mark.parametrize("slices", [0, 7, 64, "8", None])
def test_wrong_slices_are_refused(slices):
    with pytest.raises(ValueError, match=r"slices must be one of 4, 8, 16, 32, not "):
        make_sponge(slices, masked=True)


@pytest.mark.parametrize("blocks", [0, 3, None])
def test_wrong_blocks_are_refused(blocks):
    with pytest.raises(ValueError, match=r"blocks must be 1 or 2, not "):
        MaskedSponge(8, blocks)
