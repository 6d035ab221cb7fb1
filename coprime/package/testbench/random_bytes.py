"""The random bytes of a testbench: those of its own generator, or of a source in the hardware."""

from collections.abc import Callable, Iterator

from coprime.model.hash_drbg import HashDrbg
from coprime.random.kinds import RandomSource
from coprime.random.programs import SEED_LEAST
from coprime.random.steps import REQUEST_BYTES, WORD_BYTES

SEED = 2463534242
MATERIAL = bytes(range(SEED_LEAST * WORD_BYTES))
"""Seed material of a source in the hardware, known and thus for a testbench only."""


def random_bytes(source: RandomSource = RandomSource.STREAM) -> Callable[[int], bytes]:
    """The bytes of the testbench after `seed_random`."""
    found = _xorshift() if source is RandomSource.STREAM else _requests()
    return lambda count: bytes(next(found) for _ in range(count))


def _xorshift() -> Iterator[int]:
    """As random.v.j2 has it: a 32-bit xorshift generator."""
    state = SEED
    while True:
        yield state & 0xFF
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF


def _requests() -> Iterator[int]:
    """As seeded.v.j2 seeds the hardware."""
    generator = HashDrbg(MATERIAL)
    while True:
        yield from generator.generate(REQUEST_BYTES)
