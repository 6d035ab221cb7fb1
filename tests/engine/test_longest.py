"""Moduli of 8192 bits, the longest: they fill the windows of the registers, and block RAMs grow.

Public operations only: a private one takes too long to simulate.
"""

import random

import pytest

from coprime.bus import registers
from coprime.device.accelerator import EngineError
from coprime.engine.contract import Error
from tests.benches import grouped, open_bench

BITS = 8192
CONFIGURATIONS = {
    "fdfm": ("fdfm", {}),
    "compact": ("compact", {}),
    "karatsuba": ("karatsuba", {}),
    "montgomery-1csa": ("montgomery-1csa", {}),
    "montgomery-2csa": ("montgomery-2csa", {"word": 64, "multipliers": 1}),
    "interleaved-csa": ("interleaved-csa", {"word": 64, "multipliers": 1}),
}


@pytest.fixture(scope="module", params=grouped({}, CONFIGURATIONS))
def bench(request):
    family, settings = request.param
    bench = open_bench(family, max_bits=BITS, **settings)
    yield bench
    bench.device.close()


def test_public_operation(bench):
    generator = random.Random(BITS)
    for m, e in (
        ((1 << BITS) - 1, 3),
        (generator.getrandbits(BITS) | 1 << (BITS - 1) | 1, 65537),
        (generator.getrandbits(BITS - 1) | 1 << (BITS - 2) | 1, 3),
    ):
        x = generator.randrange(m)
        bench.accelerator.load_public(m, e)
        assert bench.accelerator.public(x).value == pow(x, e, m)
        assert bench.accelerator.public(m - 1).value == m - 1


def test_registers(bench):
    longest = bench.device.read32(registers.MAX_LENGTH.address)
    assert registers.MAX_LENGTH["MODULUS"].of(longest) == BITS
    assert registers.MAX_LENGTH["PRIME"].of(longest) >= BITS // 2
    with pytest.raises(EngineError) as caught:
        bench.accelerator.modmul(1, 1, (1 << BITS) + 1)
    assert caught.value.code is Error.LENGTH_OVER
