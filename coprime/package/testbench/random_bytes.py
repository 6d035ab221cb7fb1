"""The random bytes of a testbench: those of its own generator, or of a source in the hardware."""

from collections.abc import Callable, Iterator
from itertools import islice

from coprime.model.hash_drbg import HashDrbg
from coprime.random.kinds import RandomSource
from coprime.random.programs import SEED_LEAST
from coprime.random.seeder import START_SAMPLES, first_material
from coprime.random.steps import REQUEST_BYTES, WORD_BYTES

SEED = 2463534242
FAST, SLOW = 8, 50_000
"""Cycles from a modelled sample of noise to the next: up to the first seed, and then."""
SEED_CYCLES = (FAST + 4) * START_SAMPLES
"""About, and at most, from a restart to a seed of modelled noise."""
MATERIAL = bytes(range(SEED_LEAST * WORD_BYTES))
"""Seed material of a source in the hardware, known and thus for a testbench only."""


def random_bytes(source: RandomSource = RandomSource.STREAM) -> Callable[[int], bytes]:
    """The bytes of the testbench after `seed_random`."""
    if source is RandomSource.STREAM:
        found = _xorshift()
    elif source is RandomSource.SEEDED:
        found = _requests(MATERIAL)
    else:
        found = _requests(first_material(noise_samples()))
    return lambda count: bytes(next(found) for _ in range(count))


def noise_samples() -> bytes:
    """The first samples of the model of a noise source."""
    return bytes(byte & 1 for byte in islice(_xorshift(), START_SAMPLES))


def _xorshift() -> Iterator[int]:
    """As random.v.j2 and noise_model.v.j2 have it: a 32-bit xorshift generator."""
    state = SEED
    while True:
        yield state & 0xFF
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF


def _requests(material: bytes) -> Iterator[int]:
    """The bytes of the hardware's generator, with its first seed."""
    generator = HashDrbg(material)
    while True:
        yield from generator.generate(REQUEST_BYTES)
