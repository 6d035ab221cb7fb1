"""ML-KEM in the steps of the hardware: polynomials stay in [-q, q), products carry the factor k^2.

Source: FIPS 203, algorithms 13 to 18, and the checks of sections 7.2 and 7.3. What differs: see
`arithmetic`; the message is added to v after the inverse transform; a ciphertext is compared, not
stored, when it is encrypted again.
"""

import hashlib
from collections.abc import Sequence

from .arithmetic import (
    Poly,
    differences,
    exact_sum,
    expand,
    inverse,
    multiply_add,
    pack,
    sums,
    transform,
    unpacked,
)
from .ml_kem_sets import POLYNOMIAL_BYTES, SEED_BYTES, MlKemSet
from .sampling import binomial, uniform

BLOCK = 168
"""Bytes of a block of SHAKE128."""


def _matrix(rho: bytes, column: int, row: int) -> Poly:
    """An element of the matrix, transformed."""
    blocks, found = 3, Poly()
    while len(found) < 256:
        data = hashlib.shake_128(rho + bytes([column, row])).digest(blocks * BLOCK)
        found, blocks = uniform(data), blocks + 1
    return found


def _noise(seed: bytes, nonce: int, eta: int) -> Poly:
    return binomial(hashlib.shake_256(seed + bytes([nonce])).digest(64 * eta), eta)


def _parts(data: bytes, size: int) -> list[bytes]:
    return [data[k : k + size] for k in range(0, len(data), size)]


def _row(f: Sequence[Sequence[int]], g: Sequence[Sequence[int]]) -> Poly:
    """k^2 times the sum of products."""
    total: Poly | None = None
    for x, y in zip(f, g, strict=True):
        total = multiply_add(total, x, y)
    assert total is not None
    return total


def key_pair(one: MlKemSet, d: bytes, z: bytes) -> tuple[bytes, bytes]:
    """ek and dk: algorithms 13 and 16."""
    seeds = hashlib.sha3_512(d + bytes([one.k])).digest()
    rho, sigma = _parts(seeds, SEED_BYTES)
    k = range(one.k)
    s = [transform(_noise(sigma, j, one.eta1)) for j in k]
    t = []
    for i in k:
        total = _row([_matrix(rho, j, i) for j in k], s)
        t.append(pack(exact_sum(total, transform(_noise(sigma, one.k + i, one.eta1))), 12))
    ek = b"".join(t) + rho
    secret = b"".join(pack(f, 12) for f in s)
    return ek, secret + ek + hashlib.sha3_256(ek).digest() + z


def encrypt(one: MlKemSet, ek: bytes, m: bytes, coins: bytes) -> bytes:
    """Algorithm 14."""
    t, rho = _parts(ek[:-SEED_BYTES], POLYNOMIAL_BYTES), ek[-SEED_BYTES:]
    k = range(one.k)
    y = [transform(_noise(coins, j, one.eta1)) for j in k]
    c = b""
    for i in k:
        u = inverse(_row([_matrix(rho, i, j) for j in k], y))
        c += pack(u, one.du, _noise(coins, one.k + i, one.eta2))
    v = sums(inverse(_row([unpacked(part, 12) for part in t], y)), expand(m, 1))
    return c + pack(v, one.dv, _noise(coins, 2 * one.k, one.eta2))


def decrypt(one: MlKemSet, secret: bytes, c: bytes) -> bytes:
    """Algorithm 15. The sign of the difference does not matter to a compression to one bit."""
    size = 32 * one.du
    u = [transform(expand(part, one.du)) for part in _parts(c[: size * one.k], size)]
    s = [unpacked(part, 12) for part in _parts(secret, POLYNOMIAL_BYTES)]
    return pack(differences(inverse(_row(s, u)), expand(c[size * one.k :], one.dv)), 1)


def encapsulate(one: MlKemSet, ek: bytes, m: bytes) -> tuple[bytes, bytes]:
    """K and c: algorithm 17."""
    both = hashlib.sha3_512(m + hashlib.sha3_256(ek).digest()).digest()
    key, coins = _parts(both, SEED_BYTES)
    return key, encrypt(one, ek, m, coins)


def decapsulate(one: MlKemSet, dk: bytes, c: bytes) -> bytes:
    """K: algorithm 18."""
    vector = POLYNOMIAL_BYTES * one.k
    secret, ek = dk[:vector], dk[vector : vector + one.ek_bytes]
    digest, z = _parts(dk[-2 * SEED_BYTES :], SEED_BYTES)
    refusal = hashlib.shake_256(z + c).digest(SEED_BYTES)
    m = decrypt(one, secret, c)
    key, coins = _parts(hashlib.sha3_512(m + digest).digest(), SEED_BYTES)
    return key if encrypt(one, ek, m, coins) == c else refusal


def is_encapsulation_key(one: MlKemSet, ek: bytes) -> bool:
    """Section 7.2: its length, and that all coefficients are below q."""
    if len(ek) != one.ek_bytes:
        return False
    t = _parts(ek[:-SEED_BYTES], POLYNOMIAL_BYTES)
    return all(pack(expand(part, 12), 12) == part for part in t)


def is_decapsulation_key(one: MlKemSet, dk: bytes) -> bool:
    """Section 7.3: its length, and the hash of ek."""
    if len(dk) != one.dk_bytes:
        return False
    vector = POLYNOMIAL_BYTES * one.k
    ek, digest = dk[vector : vector + one.ek_bytes], dk[-2 * SEED_BYTES : -SEED_BYTES]
    return hashlib.sha3_256(ek).digest() == digest
