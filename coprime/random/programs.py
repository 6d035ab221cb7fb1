"""The generator's tasks as lists of steps: SP 800-90A, sections 10.1.1.2 to 10.1.1.4 and 10.3.1."""

import enum

from coprime.model.hash_drbg import SEED_BITS, STRENGTH_BITS, HashDrbg

from .steps import (
    ALL,
    BLOCKS,
    MATERIAL,
    OUTPUT,
    REQUEST_BYTES,
    WORD_BYTES,
    WORK,
    C,
    DrbgStep,
    DrbgStepKind,
    MemoryRegion,
    V,
    half,
    literals,
)

SEED_LEAST = STRENGTH_BITS // 8 * 3 // 2 // WORD_BYTES
"""The fewest words that seed it first: an entropy input and a nonce of half its length."""
RESEED_LEAST = STRENGTH_BITS // 8 // WORD_BYTES
"""The fewest words that seed it again."""
FIRST_TEST, SECOND_TEST = 0x5A, 0xA5
"""The bytes of the seed material of the test at start, first and again."""


class DrbgTask(enum.IntEnum):
    """What the generator is asked to do."""

    GENERATE = 0  # fill OUTPUT
    SEED = 1  # with the seed material; first, or again
    CLEAR = 2  # all words
    TEST_SEED = 3  # seed material for the test
    TEST_RESEED = 4


_AGAIN, _C, _REQUEST = 1, 0, 3
"""Bytes that Hash_DRBG puts before what it hashes."""


def _hash(parts: list[DrbgStep], digest: MemoryRegion) -> list[DrbgStep]:
    return [DrbgStep(DrbgStepKind.BEGIN), *parts, DrbgStep(DrbgStepKind.DIGEST, region=digest)]


def _derive(parts: list[DrbgStep], number: MemoryRegion) -> list[DrbgStep]:
    """Hash_df of a string: two digests, of which the leftmost bits are the number."""
    code = []
    for k in range(2):
        code += _hash([*literals([1 + k, *SEED_BITS.to_bytes(4)]), *parts], half(WORK, k))
    return [*code, DrbgStep(DrbgStepKind.SHIFT, region=number)]


def _forget() -> list[DrbgStep]:
    """Overwrite what earlier numbers could be computed from, in the hash unit, too."""
    zero = literals([0])
    return [
        *_hash(zero, half(WORK, 0)),
        DrbgStep(DrbgStepKind.FILL, region=WORK),
        DrbgStep(DrbgStepKind.END),
    ]


def _seed() -> list[DrbgStep]:
    before = [
        *literals([_AGAIN], again=True),
        DrbgStep(DrbgStepKind.BYTES, region=V, again=True),
        DrbgStep(DrbgStepKind.BYTES, region=MATERIAL, material=True),
    ]
    of_v = DrbgStep(DrbgStepKind.BYTES, region=V)
    return [
        *_derive(before, V),
        *_derive([*literals([_C]), of_v], C),
        DrbgStep(DrbgStepKind.FILL, region=MATERIAL),
        *_forget(),
    ]


def _generate() -> list[DrbgStep]:
    code = _hash([DrbgStep(DrbgStepKind.BYTES, region=V)], half(OUTPUT, 0))
    data = MemoryRegion(WORK.base, V.words)
    for k in range(1, BLOCKS):
        code.append(DrbgStep(DrbgStepKind.SUM, value=k, to_work=True))
        code += _hash([DrbgStep(DrbgStepKind.BYTES, region=data)], half(OUTPUT, k))
    return [
        *code,
        *_hash([*literals([_REQUEST]), DrbgStep(DrbgStepKind.BYTES, region=V)], half(WORK, 0)),
        DrbgStep(DrbgStepKind.SUM, region=half(WORK, 0)),
        DrbgStep(DrbgStepKind.SUM, region=C),
        DrbgStep(DrbgStepKind.SUM, counts=True),
        *_forget(),
    ]


def _fill(region: MemoryRegion, value: int = 0) -> list[DrbgStep]:
    return [DrbgStep(DrbgStepKind.FILL, value, region), DrbgStep(DrbgStepKind.END)]


PROGRAMS = {
    DrbgTask.GENERATE: _generate(),
    DrbgTask.SEED: _seed(),
    DrbgTask.CLEAR: _fill(ALL),
    DrbgTask.TEST_SEED: _fill(MemoryRegion(MATERIAL.base, SEED_LEAST), FIRST_TEST),
    DrbgTask.TEST_RESEED: _fill(MemoryRegion(MATERIAL.base, RESEED_LEAST), SECOND_TEST),
}


def known_answer() -> bytes:
    """The second request's bytes in the test at start."""
    generator = HashDrbg(bytes([FIRST_TEST]) * (SEED_LEAST * WORD_BYTES))
    generator.reseed(bytes([SECOND_TEST]) * (RESEED_LEAST * WORD_BYTES))
    generator.generate(REQUEST_BYTES)
    return generator.generate(REQUEST_BYTES)
