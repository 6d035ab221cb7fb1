"""Steps modulo 8380417 in the Amaranth simulator, against the model, in the stated cycles."""

import random

import pytest

from coprime.lattice.arithmetic.large_bytes import PackedForm
from coprime.lattice.arithmetic.large_steps import LargeKind, LargeStep
from coprime.model.lattice import large_arithmetic as model
from coprime.model.lattice import ml_dsa
from coprime.model.lattice.large_arithmetic import N, Q
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from coprime.model.lattice.rounding import power2round, use_hint
from tests.lattice.arithmetic.large_bench import REGIONS, as_words
from tests.lattice.arithmetic.large_bench import LargeBench as Bench


@pytest.fixture(
    params=[1, pytest.param(8, marks=pytest.mark.matrix)],  # with 4 the engine is run
    ids=lambda lanes: f"{lanes} lanes",
)
def bench(request):
    return Bench(lanes=request.param)


def polynomials(seed):
    generator = random.Random(seed)
    yield [generator.randrange(-Q, Q) for _ in range(N)]
    yield [generator.choice((-Q, Q - 1)) for _ in range(N)]


@pytest.mark.matrix  # rows of a verification and of a key pair have these steps
def test_transforms(bench):
    async def script(context):
        for f in polynomials(1):
            bench.load(context, 1, f)
            await bench.step(context, LargeStep(LargeKind.TRANSFORM, 1))
            assert bench.read(context, 1) == model.transform(f)
        bench.sample = next(polynomials(2))
        await bench.step(context, LargeStep(LargeKind.TRANSFORM, 3, sample=True))
        assert bench.read(context, 3) == model.transform(bench.sample)
        assert bench.read(context, 1) == model.transform(f), "no other polynomial is written"

    bench.run(script)


@pytest.mark.matrix  # rows of a verification and of a key pair have these steps
def test_inverse_transforms(bench):
    async def script(context):
        for f in polynomials(3):
            bench.load(context, 2, f)
            await bench.step(context, LargeStep(LargeKind.INVERSE, 2))
            await bench.step(context, LargeStep(LargeKind.LAST, 2))
            assert bench.read(context, 2) == model.inverse(f)

    bench.run(script)


@pytest.mark.matrix  # rows of a verification and of a key pair have these steps
def test_products(bench):
    async def script(context):
        _, g = polynomials(4)
        (acc, other), bench.sample = polynomials(5), next(polynomials(6))
        bench.load(context, 0, acc)
        bench.load(context, 1, g)
        await bench.step(context, LargeStep(LargeKind.MULTIPLY, 0, 1, sample=True, add=True))
        expected = model.multiply_add(acc, bench.sample, g)
        assert bench.read(context, 0) == expected
        for step, result in (
            (
                LargeStep(LargeKind.MULTIPLY, 0, 1, sample=True, add=True, subtract=True),
                model.multiply_subtract(expected, bench.sample, g),
            ),
            (
                LargeStep(LargeKind.MULTIPLY, 0, 1, sample=True),
                model.multiply_add(None, bench.sample, g),
            ),
        ):
            await bench.step(context, step)
            assert bench.read(context, 0) == result
        bench.load(context, 2, other)
        await bench.step(context, LargeStep(LargeKind.MULTIPLY, 2, 1, subtract=True))
        assert bench.read(context, 2) == model.multiply_subtract([0] * N, other, g)
        assert bench.read(context, 1) == g

    bench.run(script)


@pytest.mark.matrix  # rows of a verification and of a key pair have these steps
def test_a_product_of_polynomials(bench):
    """TRANSFORM, MULTIPLY, INVERSE and LAST, against the method of the school."""

    async def script(context):
        f, g = polynomials(7)
        bench.load(context, 0, g)
        bench.load(context, 1, f)
        await bench.step(context, LargeStep(LargeKind.TRANSFORM, 0))
        await bench.step(context, LargeStep(LargeKind.TRANSFORM, 1))
        await bench.step(context, LargeStep(LargeKind.MULTIPLY, 1, 0))
        await bench.step(context, LargeStep(LargeKind.INVERSE, 1))
        await bench.step(context, LargeStep(LargeKind.LAST, 1))
        expected = [0] * N
        for i, x in enumerate(f):
            for j, y in enumerate(g):
                expected[(i + j) % N] += x * y if i + j < N else -x * y
        assert [x % Q for x in bench.read(context, 1)] == [x % Q for x in expected]

    bench.run(script)


def canonical(f):
    return [x % Q for x in f]


def test_sums(bench):
    async def script(context):
        f, g = polynomials(9)
        bench.load(context, 0, f)
        bench.load(context, 1, g)
        await bench.step(context, LargeStep(LargeKind.SUM, 0, 1))
        assert bench.read(context, 0) == model.sums(f, g)
        bench.sample = next(polynomials(10))
        await bench.step(context, LargeStep(LargeKind.SUM, 1, 1, sample=True, subtract=True))
        assert bench.read(context, 1) == model.differences(g, bench.sample)

    bench.run(script)


@pytest.mark.matrix
def test_a_row_of_a_verification(bench):
    """w1 of A z - c t1 2^13, with hints; z from a signature, t1 from a public key."""
    generator, p = random.Random(11), ML_DSA_SETS[0]
    z = [generator.randint(1 - p.gamma1, p.gamma1) for _ in range(N)]
    t1 = [generator.randrange(1024) for _ in range(N)]
    c = ml_dsa.challenge(p, b"c")
    matrix = [generator.randrange(Q) for _ in range(N)]
    hints = [generator.randrange(2) for _ in range(N)]
    total = model.multiply_subtract(
        [0] * N, model.transform(c), model.transform([x << 13 for x in t1])
    )
    total = model.multiply_add(total, matrix, model.transform(z))
    w = canonical(model.inverse(total))
    w1 = [use_hint(p, hint, x) for hint, x in zip(hints, w, strict=True)]

    async def script(context):
        bench.sample = c
        await bench.step(context, LargeStep(LargeKind.TRANSFORM, 0, sample=True))
        bench.words = as_words(ml_dsa.pack_below(p.gamma1, z, 18))
        await bench.step(context, LargeStep(LargeKind.UNPACK, 1, width=18))
        assert context.get(bench.dut.exceeds), "a coefficient of z is too large"
        await bench.step(context, LargeStep(LargeKind.TRANSFORM, 1))
        bench.words = as_words(ml_dsa.pack(t1, 10))
        await bench.step(context, LargeStep(LargeKind.UNPACK, 2, width=10))
        await bench.step(context, LargeStep(LargeKind.TRANSFORM, 2))
        await bench.step(context, LargeStep(LargeKind.MULTIPLY, 2, 0, subtract=True))
        bench.sample = matrix
        await bench.step(context, LargeStep(LargeKind.MULTIPLY, 2, 1, sample=True, add=True))
        await bench.step(context, LargeStep(LargeKind.INVERSE, 2))
        await bench.step(context, LargeStep(LargeKind.LAST, 2))
        bench.hints = list(hints)
        await bench.step(context, LargeStep(LargeKind.PACK, 2, form=PackedForm.HIGH, width=6))
        assert bench.written == as_words(ml_dsa.pack(w1, 6))
        assert canonical(bench.read(context, 2)) == w, "packing writes no polynomial"

    bench.run(script)


@pytest.mark.matrix
def test_a_row_of_a_key_pair(bench):
    """t1 and t0 of A s1 + s2."""
    generator = random.Random(12)
    s1, s2 = ([generator.randint(-2, 2) for _ in range(N)] for _ in range(2))
    matrix = [generator.randrange(Q) for _ in range(N)]
    product = model.inverse(model.multiply_add(None, matrix, model.transform(s1)))
    t = [power2round((x + y) % Q) for x, y in zip(product, s2, strict=True)]

    async def script(context):
        bench.load(context, 1, s1)
        await bench.step(context, LargeStep(LargeKind.PACK, 1, width=3))
        assert bench.written == as_words(ml_dsa.pack_below(2, s1, 3))
        bench.sample = s1
        await bench.step(context, LargeStep(LargeKind.TRANSFORM, 1, sample=True))
        bench.sample = matrix
        await bench.step(context, LargeStep(LargeKind.MULTIPLY, 0, 1, sample=True))
        await bench.step(context, LargeStep(LargeKind.INVERSE, 0))
        await bench.step(context, LargeStep(LargeKind.LAST, 0))
        bench.sample = s2
        await bench.step(context, LargeStep(LargeKind.SUM, 0, sample=True))
        for form, width, numbers in (
            (PackedForm.TOP, 10, [high for high, _ in t]),
            (PackedForm.REST, 13, [4096 - low for _, low in t]),
        ):
            bench.written.clear()
            await bench.step(context, LargeStep(LargeKind.PACK, 0, form=form, width=width))
            assert bench.written == as_words(ml_dsa.pack(numbers, width))

    bench.run(script)


def test_a_wipe_leaves_only_zeros(bench):
    async def script(context):
        bench.load(context, 3, next(polynomials(8)))
        context.set(bench.dut.wipe, 1)
        await context.tick()
        context.set(bench.dut.wipe, 0)
        while context.get(bench.dut.wiping):
            await context.tick()
        assert all(bench.read(context, region) == [0] * N for region in range(REGIONS))

    bench.run(script)
