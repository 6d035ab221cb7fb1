"""All steps of a verification on the datapath in the Amaranth simulator."""

import random

import pytest

from coprime.lattice.arithmetic.large_bytes import PackedForm
from coprime.lattice.arithmetic.large_steps import LargeKind, LargeStep
from coprime.model.lattice import ml_dsa
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from coprime.model.lattice.rounding import unpack_hints
from tests.lattice.arithmetic.large_bench import LargeBench, as_words


def cycles(p):
    """Of all steps, without fetches."""
    c = LargeStep(LargeKind.TRANSFORM, 0).cycles
    z = LargeStep(LargeKind.UNPACK, 0, width=p.z_bits).cycles + c
    row = LargeStep(LargeKind.UNPACK, 0, width=10).cycles + c
    row += (1 + p.columns) * LargeStep(LargeKind.MULTIPLY, 0).cycles
    row += LargeStep(LargeKind.INVERSE, 0).cycles + LargeStep(LargeKind.LAST, 0).cycles
    row += LargeStep(LargeKind.PACK, 0, width=p.w1_bits).cycles
    return c + p.columns * z + p.k * row


@pytest.mark.matrix
@pytest.mark.parametrize(
    "p, verify_only",
    [(ML_DSA_SETS[0], True), (ML_DSA_SETS[1], False), (ML_DSA_SETS[1], True)],
    ids=lambda one: getattr(one, "name", "verify_only" if one else "all"),
)
def test_a_signature_is_verified(p, verify_only):
    pk, sk = ml_dsa.key_pair(p, random.Random(204).randbytes(32))
    mu = ml_dsa.representative(sk[64:128], ml_dsa.framed(b"message"))
    signature = ml_dsa.sign(p, sk, mu).signature
    size, end = 32 * p.z_bits, len(signature) - p.omega - p.k
    c_bytes = signature[: p.challenge_bytes]
    z = [signature[k : k + size] for k in range(p.challenge_bytes, end, size)]
    hints = unpack_hints(p, signature[end:])
    row_of = p.columns + 1
    bench = LargeBench(row_of + 1, verify_only=verify_only)

    async def script(context):
        step = bench.step
        context.set(bench.dut.parameter_set, ML_DSA_SETS.index(p))
        bench.sample = ml_dsa.challenge(p, c_bytes)
        await step(context, LargeStep(LargeKind.TRANSFORM, 0, sample=True))
        for column, data in enumerate(z):
            bench.words = as_words(data)
            await step(context, LargeStep(LargeKind.UNPACK, 1 + column, width=p.z_bits))
            await step(context, LargeStep(LargeKind.TRANSFORM, 1 + column))
        for row in range(p.k):
            bench.words = as_words(pk[32 + 320 * row : 352 + 320 * row])
            await step(context, LargeStep(LargeKind.UNPACK, row_of, width=10))
            await step(context, LargeStep(LargeKind.TRANSFORM, row_of))
            await step(context, LargeStep(LargeKind.MULTIPLY, row_of, 0, subtract=True))
            for column in range(p.columns):
                bench.sample = ml_dsa.uniform(pk[:32], row, column)
                product = LargeStep(LargeKind.MULTIPLY, row_of, 1 + column, sample=True, add=True)
                await step(context, product)
            await step(context, LargeStep(LargeKind.INVERSE, row_of))
            await step(context, LargeStep(LargeKind.LAST, row_of))
            bench.hints = list(hints[row])
            high = LargeStep(LargeKind.PACK, row_of, form=PackedForm.HIGH, width=p.w1_bits)
            await step(context, high)
        assert not context.get(bench.dut.exceeds)
        w1 = b"".join(word.to_bytes(4, "little") for word in bench.written)
        assert ml_dsa.hashed(mu + w1, p.challenge_bytes) == c_bytes
        assert bench.cycles == cycles(p)

    bench.run(script)
