"""ML-KEM as FIPS 203 prints it, line by line: the reference that the engine's results are compared
with. It shares no arithmetic with the hardware's model.
"""

import hashlib
from collections.abc import Sequence

from .ml_kem_sets import MlKemSet

Q = 3329
N = 256
_ROOT = 17

Poly = list[int]


def _bit_rev7(i: int) -> int:
    return int(f"{i:07b}"[::-1], 2)


_ZETAS = [pow(_ROOT, _bit_rev7(i), Q) for i in range(128)]
_GAMMAS = [pow(_ROOT, 2 * _bit_rev7(i) + 1, Q) for i in range(128)]


def _bits(data: bytes) -> list[int]:
    """Algorithm 4."""
    return [byte >> k & 1 for byte in data for k in range(8)]


def _encode(f: Sequence[int], d: int) -> bytes:
    """Algorithm 5."""
    bits = [x >> k & 1 for x in f for k in range(d)]
    return bytes(sum(bits[k + j] << j for j in range(8)) for k in range(0, len(bits), 8))


def _decode(data: bytes, d: int) -> Poly:
    """Algorithm 6."""
    bits, modulus = _bits(data), 1 << d if d < 12 else Q
    return [sum(bits[k + j] << j for j in range(d)) % modulus for k in range(0, len(bits), d)]


def _compress(x: int, d: int) -> int:
    """(4.7), with the rounding of section 2.3: half up."""
    return (x * (1 << d) * 2 + Q) // (2 * Q) % (1 << d)


def _decompress(y: int, d: int) -> int:
    """(4.8)."""
    return (Q * y * 2 + (1 << d)) // (1 << d + 1)


def _sample_ntt(seed: bytes) -> Poly:
    """Algorithm 7."""
    data = hashlib.shake_128(seed).digest(3 * 2000)
    found: Poly = []
    for k in range(0, len(data), 3):
        c = data[k : k + 3]
        for x in (c[0] + 256 * (c[1] % 16), c[1] // 16 + 16 * c[2]):
            if x < Q and len(found) < N:
                found.append(x)
    return found


def _sample_cbd(data: bytes, eta: int) -> Poly:
    """Algorithm 8."""
    bits = _bits(data)
    found = []
    for i in range(N):
        part = bits[2 * i * eta : 2 * (i + 1) * eta]
        found.append((sum(part[:eta]) - sum(part[eta:])) % Q)
    return found


def _ntt(f: Poly) -> Poly:
    """Algorithm 9."""
    f, i, size = list(f), 1, 128
    while size >= 2:
        for start in range(0, N, 2 * size):
            for j in range(start, start + size):
                t = _ZETAS[i] * f[j + size] % Q
                f[j + size], f[j] = (f[j] - t) % Q, (f[j] + t) % Q
            i += 1
        size //= 2
    return f


def _inverse_ntt(f: Poly) -> Poly:
    """Algorithm 10."""
    f, i, size = list(f), 127, 2
    while size <= 128:
        for start in range(0, N, 2 * size):
            for j in range(start, start + size):
                t = f[j]
                f[j] = (t + f[j + size]) % Q
                f[j + size] = _ZETAS[i] * (f[j + size] - t) % Q
            i -= 1
        size *= 2
    return [x * 3303 % Q for x in f]


def _multiply(f: Poly, g: Poly) -> Poly:
    """Algorithms 11 and 12."""
    found = []
    for i in range(128):
        a0, a1, b0, b1 = *f[2 * i : 2 * i + 2], *g[2 * i : 2 * i + 2]
        found += [(a0 * b0 + a1 * b1 * _GAMMAS[i]) % Q, (a0 * b1 + a1 * b0) % Q]
    return found


def _add(*terms: Poly) -> Poly:
    return [sum(each) % Q for each in zip(*terms, strict=True)]


def _prf(eta: int, s: bytes, b: int) -> Poly:
    return _sample_cbd(hashlib.shake_256(s + bytes([b])).digest(64 * eta), eta)


def _rows(data: bytes, count: int) -> list[bytes]:
    size = len(data) // count
    return [data[size * k : size * k + size] for k in range(count)]


def key_pair(one: MlKemSet, d: bytes, z: bytes) -> tuple[bytes, bytes]:
    """ek and dk: algorithm 16 with algorithm 13."""
    k = one.k
    seeds = hashlib.sha3_512(d + bytes([k])).digest()
    rho, sigma = seeds[:32], seeds[32:]
    matrix = [[_sample_ntt(rho + bytes([j, i])) for j in range(k)] for i in range(k)]
    s = [_ntt(_prf(one.eta1, sigma, n)) for n in range(k)]
    e = [_ntt(_prf(one.eta1, sigma, k + n)) for n in range(k)]
    t = [_add(*(_multiply(matrix[i][j], s[j]) for j in range(k)), e[i]) for i in range(k)]
    ek = b"".join(_encode(x, 12) for x in t) + rho
    dk = b"".join(_encode(x, 12) for x in s) + ek + hashlib.sha3_256(ek).digest() + z
    return ek, dk


def _encrypt(one: MlKemSet, ek: bytes, m: bytes, r: bytes) -> bytes:
    """Algorithm 14."""
    k = one.k
    t = [_decode(part, 12) for part in _rows(ek[: 384 * k], k)]
    rho = ek[384 * k :]
    matrix = [[_sample_ntt(rho + bytes([j, i])) for j in range(k)] for i in range(k)]
    y = [_ntt(_prf(one.eta1, r, n)) for n in range(k)]
    e1 = [_prf(one.eta2, r, k + n) for n in range(k)]
    e2 = _prf(one.eta2, r, 2 * k)
    c = b""
    for i in range(k):
        row = _add(*(_multiply(matrix[j][i], y[j]) for j in range(k)))
        c += _encode([_compress(x, one.du) for x in _add(_inverse_ntt(row), e1[i])], one.du)
    mu = [_decompress(x, 1) for x in _decode(m, 1)]
    v = _add(_inverse_ntt(_add(*(_multiply(t[j], y[j]) for j in range(k)))), e2, mu)
    return c + _encode([_compress(x, one.dv) for x in v], one.dv)


def _decrypt(one: MlKemSet, dk: bytes, c: bytes) -> bytes:
    """Algorithm 15."""
    k = one.k
    c1, c2 = c[: 32 * one.du * k], c[32 * one.du * k :]
    u = [[_decompress(x, one.du) for x in _decode(part, one.du)] for part in _rows(c1, k)]
    v = [_decompress(x, one.dv) for x in _decode(c2, one.dv)]
    s = [_decode(part, 12) for part in _rows(dk, k)]
    product = _inverse_ntt(_add(*(_multiply(s[j], _ntt(u[j])) for j in range(k))))
    return _encode([_compress((x - y) % Q, 1) for x, y in zip(v, product, strict=True)], 1)


def encapsulate(one: MlKemSet, ek: bytes, m: bytes) -> tuple[bytes, bytes]:
    """K and c: algorithm 17."""
    both = hashlib.sha3_512(m + hashlib.sha3_256(ek).digest()).digest()
    return both[:32], _encrypt(one, ek, m, both[32:])


def decapsulate(one: MlKemSet, dk: bytes, c: bytes) -> bytes:
    """K: algorithm 18."""
    accepted, refused, genuine = decapsulation(one, dk, c)
    return accepted if genuine else refused


def decapsulation(one: MlKemSet, dk: bytes, c: bytes) -> tuple[bytes, bytes, bool]:
    """K of a genuine ciphertext and of a refused one, and whether c is genuine: algorithm 18."""
    k = one.k
    ek, h, z = dk[384 * k : 768 * k + 32], dk[768 * k + 32 : 768 * k + 64], dk[768 * k + 64 :]
    m = _decrypt(one, dk[: 384 * k], c)
    both = hashlib.sha3_512(m + h).digest()
    refused = hashlib.shake_256(z + c).digest(32)
    return both[:32], refused, _encrypt(one, ek, m, both[32:]) == c
