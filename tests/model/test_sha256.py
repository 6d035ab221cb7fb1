import hashlib
import random

from coprime.model import sha256

SEED = 1


def test_digests_are_hashlib_s():
    generator = random.Random(SEED)
    for length in (*range(130), 183, 184, 1000):
        message = generator.randbytes(length)
        assert sha256.digest(message) == hashlib.sha256(message).digest()
        assert len(sha256.padded(message)) == 64 * sha256.blocks(length)
