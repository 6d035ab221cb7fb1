import hashlib
import random

import pytest

from coprime.model import keccak

SEED = 202


def reference(function, message, length):
    """hashlib's digest."""
    made = hashlib.new(function.name.lower().replace("-", "_").replace("shake", "shake_"), message)
    return made.digest() if function.digest_bytes else made.digest(length)


@pytest.mark.parametrize("function", keccak.FUNCTIONS, ids=lambda function: function.name)
def test_digests_are_those_of_hashlib(function):
    generator = random.Random(SEED)
    rate = function.rate_bytes
    for length in (0, 1, rate - 2, rate - 1, rate, rate + 1, 2 * rate - 1, 2 * rate, 500):
        message = generator.randbytes(length)
        wanted = function.digest_bytes or generator.randrange(1, 3 * rate)
        assert keccak.digest(function, message, wanted) == reference(function, message, wanted)
        assert len(keccak.padded(function, message)) == rate * function.blocks(length)


def test_rates_and_suffixes_are_those_of_the_standard():
    rates = {function.name: 8 * function.rate_bytes for function in keccak.FUNCTIONS}
    assert rates == {
        "SHA3-224": 1152,
        "SHA3-256": 1088,
        "SHA3-384": 832,
        "SHA3-512": 576,
        "SHAKE128": 1344,
        "SHAKE256": 1088,
    }
    assert keccak.LARGEST_RATE == 21


def test_blocks_of_outputs():
    shake = keccak.FUNCTIONS[4]
    assert [shake.output_blocks(length) for length in (0, 1, 168, 169, 336)] == [0, 1, 1, 2, 2]


def test_constants():
    """Spot checks against values printed elsewhere: the Keccak team's tables."""
    assert keccak.ROUND_CONSTANTS[0] == 1
    assert keccak.ROUND_CONSTANTS[23] == 0x8000000080008008
    assert keccak.ROTATIONS[0] == 0
    assert sorted(keccak.ROTATIONS)[-1] == 62
