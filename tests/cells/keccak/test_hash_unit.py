"""Hash units in Verilator: hashlib's digests, in exactly the cycles of the twin."""

import random

import pytest

from coprime.cells.keccak.hash_unit import HashUnit, make_sponge
from coprime.cells.keccak.twin import HashUnitTwin, SpongeCycles
from coprime.cells.target import Target
from coprime.flow.verilog import to_verilog
from coprime.model.keccak import FUNCTIONS
from tests.cells.keccak.bench import HashBench, Job, Pace, predict

SEED = 24
# Compiling takes most of the time, and longer for more slices a cycle.
POINTS = [(8, 2)]
SLOW_POINTS = [(4, 1), (4, 2), (8, 1), (16, 1), (16, 2), (32, 1), (32, 2), (64, 1), (64, 2)]


def point(slices, blocks, *marks):
    name = f"{slices}-{blocks}"
    marks = [*marks, pytest.mark.xdist_group(f"keccak {name}")]
    return pytest.param((slices, blocks), id=name, marks=marks)


@pytest.fixture(
    scope="module",
    params=[
        *(point(*one) for one in POINTS),
        *(point(*one, pytest.mark.matrix) for one in SLOW_POINTS),
    ],
)
def bench(request):
    return HashBench(*request.param)


def a_job(generator, number, length, output=None):
    wanted = FUNCTIONS[number].digest_bytes
    if not wanted:
        wanted = generator.randrange(1, 500) if output is None else output
    return Job(number, generator.randbytes(length), wanted)


def at_the_edges(generator):
    """For each function messages that end near the end of a block or of a word on the bus."""
    for number, function in enumerate(FUNCTIONS):
        rate = function.rate_bytes
        for length in (0, 1, 2, 3, 4, rate - 2, rate - 1, rate, rate + 1, 2 * rate - 1, 3 * rate):
            yield a_job(generator, number, length)


def outputs_of_lengths(generator):
    """Outputs that end near the end of a block or of a word on the bus."""
    for number in (4, 5):
        rate = FUNCTIONS[number].rate_bytes
        for length in (1, 2, 3, 4, 5, 8, rate - 1, rate, rate + 1, 2 * rate, 3 * rate + 3):
            yield a_job(generator, number, 7, length)


@pytest.mark.matrix
def test_single_messages_take_the_stated_cycles(bench):
    generator = random.Random(SEED)
    jobs = [*at_the_edges(generator), *outputs_of_lengths(generator)]
    bench.run(jobs, Pace(alone=True))
    cycles = SpongeCycles(bench.slices)
    for job in jobs:
        wanted = cycles.hash(job.function, len(job.message), job.length)
        assert job.finished - job.taken == wanted, (job.function.name, len(job.message))


@pytest.mark.matrix
@pytest.mark.parametrize(
    "pace",
    [Pace(), Pace(4, 0, 0), Pace(0, 6, 0), Pace(0, 0, 6), Pace(3, 4, 5), Pace(7, 7, 7)],
    ids=["none", "commands", "messages", "outputs", "all", "nearly always"],
)
def test_messages_back_to_back_with_streams_that_wait(bench, pace):
    generator = random.Random(SEED)
    jobs = [a_job(generator, number, generator.randrange(400)) for number in range(6)]
    jobs += [a_job(generator, generator.randrange(6), generator.randrange(200)) for _ in range(14)]
    bench.run(jobs, pace, seed=SEED)


def test_a_wipe_forgets_everything(bench):
    """Wherever it comes, also during another one; what was not complete is hashed again."""
    generator = random.Random(SEED)
    jobs = [a_job(generator, generator.randrange(6), generator.randrange(300)) for _ in range(12)]
    cycle, wipes = 0, set()
    for _ in range(40):
        cycle += generator.choice((1, 7, 60, 200, 400, 1000))
        wipes.add(cycle)
    bench.run(jobs, Pace(1, 1, 1), seed=SEED, wipes=wipes)


def test_two_blocks_overlap_messages():
    """A message enters while the one before is squeezed: one block alone takes longer. By the
    twins, which the other tests compare with the hardware."""
    cycles = {}
    for blocks in (1, 2):
        jobs = [Job(4, bytes(32), 168) for _ in range(20)]
        vectors, _ = predict(HashUnitTwin(8, blocks), jobs)
        cycles[blocks] = len(vectors) / len(jobs)
    # Words that enter and leave, and the passes that add and capture, share the memory.
    assert cycles[2] < 2 * 168 + 3 * SpongeCycles(8).one_pass
    assert cycles[1] > 2 * 168 + SpongeCycles(8).permutation


@pytest.mark.matrix  # half a million cycles, predicted one by one
@pytest.mark.parametrize("number", range(6), ids=[one.name for one in FUNCTIONS])
def test_every_length_up_to_600(number):
    generator = random.Random(SEED)
    jobs = [a_job(generator, number, length) for length in range(601)]
    HashBench(8, 2).run(jobs)


@pytest.mark.parametrize("slices", [4, 8, 16, 32, 64])
def test_permutations_take_the_stated_cycles(slices):
    cycles = {4: 432, 8: 240, 16: 144, 32: 96, 64: 24}
    assert SpongeCycles(slices).permutation == cycles[slices]


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("target", [Target.XC7, Target.ECP5, Target.ICE40])
def test_targets(target):
    """LUTs are placed on xc7; everywhere else it is the same Verilog as `generic`."""
    verilog = to_verilog(HashUnit(4, 2, target=target), "coprime_hash")
    assert ("LUT6_2" in verilog) == (target is Target.XC7)


@pytest.mark.parametrize("slices", [0, 7, 128, "8", None])
def test_wrong_slices_are_refused(slices):
    with pytest.raises(ValueError, match=r"slices must be one of 4, 8, 16, 32, 64, not "):
        make_sponge(slices)


@pytest.mark.parametrize("slices", [8, 64])
@pytest.mark.parametrize("blocks", [0, 3, None])
def test_wrong_blocks_are_refused(slices, blocks):
    with pytest.raises(ValueError, match=r"blocks must be 1 or 2, not "):
        make_sponge(slices, blocks)


@pytest.mark.parametrize("length_bits", [10, 33])
def test_wrong_lengths_are_refused(length_bits):
    with pytest.raises(ValueError, match=r"length_bits must be in 11\.\.32, not "):
        HashUnit(8, 2, length_bits)
