"""ML-KEM in the hardware's steps beside `cryptography`, in both directions."""

import random

import pytest
from cryptography.hazmat.primitives.asymmetric import mlkem

from coprime.model.lattice import ml_kem
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS

SEED = 11
PEERS = {
    "ML-KEM-768": (mlkem.MLKEM768PrivateKey, mlkem.MLKEM768PublicKey),
    "ML-KEM-1024": (mlkem.MLKEM1024PrivateKey, mlkem.MLKEM1024PublicKey),
}
SETS = {one.name: one for one in ML_KEM_SETS}


@pytest.mark.parametrize("name", PEERS)
def test_both_directions(name):
    generator = random.Random(SEED)
    one, (private, public) = SETS[name], PEERS[name]
    for _ in range(2):
        d, z, m = (generator.randbytes(32) for _ in range(3))
        ek, dk = ml_kem.key_pair(one, d, z)
        theirs = private.from_seed_bytes(d + z)
        assert theirs.public_key().public_bytes_raw() == ek
        key, c = ml_kem.encapsulate(one, ek, m)
        assert theirs.decapsulate(c) == key
        key, c = public.from_public_bytes(ek).encapsulate()
        assert ml_kem.decapsulate(one, dk, c) == key
        wrong = bytearray(c)
        wrong[generator.randrange(len(c))] ^= 1 << generator.randrange(8)
        assert ml_kem.decapsulate(one, dk, bytes(wrong)) == theirs.decapsulate(bytes(wrong)) != key


@pytest.mark.parametrize("one", ML_KEM_SETS, ids=SETS)
def test_keys_are_checked(one):
    generator = random.Random(SEED)
    ek, dk = ml_kem.key_pair(one, generator.randbytes(32), generator.randbytes(32))
    assert ml_kem.is_encapsulation_key(one, ek)
    assert ml_kem.is_decapsulation_key(one, dk)
    assert not ml_kem.is_encapsulation_key(one, ek[:-1])
    assert not ml_kem.is_decapsulation_key(one, dk + b"0")
    # A coefficient of 3329, the first one that is not below q.
    assert not ml_kem.is_encapsulation_key(one, bytes([0x01, 0x0D]) + ek[2:])
    changed = bytearray(dk)
    changed[384 * one.k] ^= 1
    assert not ml_kem.is_decapsulation_key(one, bytes(changed))


@pytest.mark.parametrize("one", ML_KEM_SETS, ids=SETS)
def test_what_is_encapsulated_is_decapsulated(one):
    generator = random.Random(SEED)
    ek, dk = ml_kem.key_pair(one, generator.randbytes(32), generator.randbytes(32))
    assert (len(ek), len(dk)) == (one.ek_bytes, one.dk_bytes)
    key, c = ml_kem.encapsulate(one, ek, generator.randbytes(32))
    assert len(c) == one.ciphertext_bytes
    assert ml_kem.decapsulate(one, dk, c) == key
