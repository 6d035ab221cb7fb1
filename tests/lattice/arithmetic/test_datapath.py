"""Each step of the datapath beside the model, in the stated cycles."""

import random

import pytest

from coprime.lattice.arithmetic.steps import BYTE_WIDTHS, PolynomialStep, Region, StepType
from coprime.model.lattice import arithmetic as model
from coprime.model.lattice.arithmetic import N, Q
from tests.lattice.arithmetic.bench import DatapathBench

pytestmark = pytest.mark.matrix

SEED = 203
ACC, EXTRA = Region.ACCUMULATOR, Region.EXTRA
QUICK_WIDTH = 5
"""It does not divide a word."""
WIDTHS = pytest.mark.parametrize(
    "width",
    [
        pytest.param(one, marks=[] if one == QUICK_WIDTH else [pytest.mark.matrix])
        for one in BYTE_WIDTHS
    ],
)


def polynomials(generator):
    """Random ones, and those with the largest numbers."""
    yield [generator.randrange(-Q, Q) for _ in range(N)]
    yield [-Q] * N
    yield [Q - 1] * N
    yield [generator.choice((-Q, Q - 1)) for _ in range(N)]


@pytest.fixture(
    params=[1, *(pytest.param(lanes, marks=pytest.mark.matrix) for lanes in (4, 8))],
    ids=lambda lanes: f"{lanes} lanes",
)
def run(request):
    """Run a script on a bench."""

    def runs(script):
        DatapathBench(request.param).run(script)

    return runs


def test_transforms(run):
    generator = random.Random(SEED)

    async def script(context, bench):
        for f in polynomials(generator):
            bench.load(context, EXTRA, f)
            await bench.step(context, PolynomialStep(StepType.TRANSFORM, EXTRA))
            assert bench.read(context, EXTRA) == model.transform(f)

    run(script)


def test_transforms_of_samples(run):
    generator = random.Random(SEED)

    async def script(context, bench):
        for region in Region:
            bench.sample = [generator.randrange(-Q, Q) for _ in range(N)]
            await bench.step(context, PolynomialStep(StepType.TRANSFORM, region, sample=True))
            assert bench.read(context, region) == model.transform(bench.sample)

    run(script)


@pytest.mark.matrix
def test_inverse_transforms(run):
    generator = random.Random(SEED)

    async def script(context, bench):
        for f in polynomials(generator):
            bench.load(context, ACC, f)
            await bench.step(context, PolynomialStep(StepType.INVERSE, ACC))
            await bench.step(context, PolynomialStep(StepType.LAST, ACC))
            assert bench.read(context, ACC) == model.inverse(f)

    run(script)


@pytest.mark.matrix
@pytest.mark.parametrize("j", [0, *(pytest.param(j, marks=pytest.mark.matrix) for j in (1, 2, 3))])
def test_products(run, j):
    generator = random.Random(SEED)
    region = Region(j)

    async def script(context, bench):
        acc = None
        for g in list(polynomials(generator))[j:]:
            bench.load(context, region, g)
            await bench.step(context, PolynomialStep(StepType.PAIR, region))
            assert bench.read_roots(context, j) == model.pair(g)
            for f in list(polynomials(generator))[:2]:
                bench.sample = f
                add = acc is not None
                await bench.step(
                    context, PolynomialStep(StepType.MULTIPLY, region, sample=True, add=add)
                )
                acc = model.multiply_add(acc, f, g)
                assert bench.read(context, ACC) == acc

    run(script)


@pytest.mark.matrix
def test_products_of_bytes(run):
    generator = random.Random(SEED)

    async def script(context, bench):
        g = [generator.randrange(-Q, Q) for _ in range(N)]
        bench.load(context, Region(1), g)
        await bench.step(context, PolynomialStep(StepType.PAIR, Region(1)))
        acc = None
        for f in (
            [4095] * N,
            [0] * N,
            [generator.randrange(4096) for _ in range(N)],
            [generator.randrange(4096) for _ in range(N)],
        ):
            put(bench, model.packed(f, 12))
            await bench.step(
                context, PolynomialStep(StepType.MULTIPLY, Region(1), add=acc is not None)
            )
            acc = model.multiply_add(acc, f, g)
            assert bench.read(context, ACC) == acc
            assert bench.pointer == 96

    run(script)


@pytest.mark.matrix
def test_exact_sums(run):
    generator = random.Random(SEED)

    async def script(context, bench):
        for f in polynomials(generator):
            for e in list(polynomials(generator))[1:3]:
                bench.load(context, ACC, f)
                bench.load(context, EXTRA, e)
                await bench.step(context, PolynomialStep(StepType.EXACT_SUM))
                assert bench.read(context, ACC) == model.exact_sum(f, e)
                assert bench.read(context, EXTRA) == e

    run(script)


def put(bench, data):
    bench.words[: len(data) // 4] = [
        int.from_bytes(data[k : k + 4], "little") for k in range(0, len(data), 4)
    ]


def get(bench, width):
    return b"".join(word.to_bytes(4, "little") for word in bench.words[: 8 * width])


@pytest.mark.matrix
@WIDTHS
def test_unpacking(run, width):
    generator = random.Random(SEED)

    async def script(context, bench):
        for k in range(2):
            top = 1 << width
            y = [generator.randrange(top) if k else top - 1 for _ in range(N)]
            put(bench, model.packed(y, width))
            found = model.expand(model.packed(y, width), width)
            await bench.step(context, PolynomialStep(StepType.UNPACK, EXTRA, width=width))
            # Of numbers that are not reduced 0 is added.
            wanted = [model.corrected(x) for x in found]
            assert bench.read(context, EXTRA) == wanted
            assert bench.pointer == 8 * width
            old = [generator.randrange(-Q, Q) for _ in range(N)]
            bench.load(context, ACC, old)
            await bench.step(context, PolynomialStep(StepType.UNPACK, ACC, width=width, add=True))
            assert bench.read(context, ACC) == model.sums(old, found)
            bench.load(context, ACC, old)
            await bench.step(
                context, PolynomialStep(StepType.UNPACK, ACC, width=width, subtract=True)
            )
            assert bench.read(context, ACC) == model.differences(old, found)
            if k % 2:
                await context.tick()  # the other turn of the byte memory

    run(script)


@WIDTHS
def test_packing(run, width):
    generator = random.Random(SEED)

    async def script(context, bench):
        edges = [-Q, -Q + 1, -1, 0, 1, Q // 2, Q // 2 + 1, Q - 1]
        chunks = [[generator.choice(edges) for _ in range(N)]]
        chunks.append([generator.randrange(-Q, Q) for _ in range(N)])
        for k, f in enumerate(chunks):
            bench.load(context, ACC, f)
            await bench.step(context, PolynomialStep(StepType.PACK, ACC, width=width))
            assert get(bench, width) == model.pack(f, width)
            assert bench.pointer == 8 * width
            bench.sample = [generator.randrange(-3, 4) for _ in range(N)]
            await bench.step(context, PolynomialStep(StepType.PACK, ACC, width=width, sample=True))
            assert get(bench, width) == model.pack(f, width, bench.sample)
            if k % 2:
                await context.tick()

    run(script)


@WIDTHS
def test_comparing(run, width):
    generator = random.Random(SEED)

    async def compare(context, bench, step):
        context.set(bench.dut.clear, 1)
        await context.tick()
        context.set(bench.dut.clear, 0)
        await bench.step(context, step)
        assert bench.pointer == 8 * width
        return context.get(bench.dut.differs), context.get(bench.dut.agrees)

    async def script(context, bench):
        for k in range(2):
            f = [generator.randrange(-Q, Q) for _ in range(N)]
            bench.load(context, ACC, f)
            bench.sample = [generator.randrange(-3, 4) for _ in range(N)]
            put(bench, model.pack(f, width, bench.sample))
            step = PolynomialStep(StepType.PACK, ACC, sample=True, compare=True, width=width)
            assert await compare(context, bench, step) == (0, 1)
            place = generator.choice((0, 8 * width - 1, generator.randrange(8 * width)))
            bench.words[place] ^= 1 << generator.randrange(32)
            assert await compare(context, bench, step) == (1, 0)
            if k % 2:
                await context.tick()

    run(script)


def test_a_wipe_clears_the_memory(run):
    async def script(context, bench):
        dut = bench.dut
        for region in Region:
            bench.load(context, region, [Q - 1] * N)
        context.set(dut.wipe, 1)
        await context.tick()
        context.set(dut.wipe, 0)
        await bench.clear(context)
        assert not any(any(bench.read(context, region)) for region in Region)

    run(script)
