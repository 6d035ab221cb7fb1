"""ML-DSA as an engine with one multiplier computes it, in integers and step by step.

Source: FIPS 204, algorithms 1 to 8 and appendix C. What differs:

- c s1 and c s2 are computed modulo 3329 with ML-KEM's transform: their coefficients are at most
  196, so that they come out exactly (A. Abdulrahman et al., "Faster Kyber and Dilithium on the
  Cortex-M4", 2022).
- The low parts of w - c s2 are checked before z, since they fail more often, and t0 is transformed
  only after both have passed. All coefficients are looked at.
- A is never stored, and y is sampled again for z.
- Sampling takes whole blocks of a sponge, and takes one more only if they do not suffice.

Ranges are asserted everywhere, so a run that ends shows that nothing overflows. This model takes no
care of timing.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from . import arithmetic, large_arithmetic
from . import ml_dsa_sampling as sampling
from .large_arithmetic import N, Poly, canonical, centred, corrected, multiply_add
from .ml_dsa_sets import DROPPED_BITS, HASH_BYTES, SEED_BYTES, T1_BITS, MlDsaSet, Q
from .rounding import decompose, exceeds, pack_hints, power2round, unpack_hints, use_hint

UNIFORM_BLOCKS = 5
"""Blocks of SHAKE128 that a uniform polynomial is squeezed from at first."""
SHORT_BLOCKS = {2: 2, 4: 3}
"""Blocks of SHAKE256 for a short polynomial, by eta: too few with less than 2^-100, since the time
that it takes depends on the secret otherwise."""
CHALLENGE_BLOCKS = 1
ITERATIONS = 814
"""The least limit that appendix C allows, for a probability of less than 2^-256."""
CONTEXT_BYTES = 255
HALF = 1 << DROPPED_BITS - 1


# --- Messages -------------------------------------------------------------------------------------

_OID = bytes.fromhex("06096086480165030402")
"""Of the hashes at 2.16.840.1.101.3.4.2, without its last byte."""
PREHASHES = {
    "SHA2-256": (1, 32),
    "SHA2-384": (2, 48),
    "SHA2-512": (3, 64),
    "SHA2-224": (4, 28),
    "SHA2-512/224": (5, 28),
    "SHA2-512/256": (6, 32),
    "SHA3-224": (7, 28),
    "SHA3-256": (8, 32),
    "SHA3-384": (9, 48),
    "SHA3-512": (10, 64),
    "SHAKE-128": (11, 32),
    "SHAKE-256": (12, 64),
}
"""The last byte of its object identifier, and the bytes of its digest, by a hash's name."""


def framed(message: bytes, context: bytes = b"") -> bytes:
    """M' of algorithm 2. Raises ValueError for a context of more than 255 bytes."""
    return _frame(0, context) + message


def framed_digest(prehash: str, digest: bytes, context: bytes = b"") -> bytes:
    """M' of algorithm 4, of a message that is already hashed. Raises ValueError for a digest or a
    context of a wrong length."""
    last, length = PREHASHES[prehash]
    if len(digest) != length:
        raise ValueError(f"a digest of {prehash} has {length} bytes, not {len(digest)}")
    return _frame(1, context) + _OID + bytes([last]) + digest


def _frame(kind: int, context: bytes) -> bytes:
    if len(context) > CONTEXT_BYTES:
        raise ValueError(f"a context has at most {CONTEXT_BYTES} bytes, not {len(context)}")
    return bytes([kind, len(context)]) + context


def hashed(data: bytes, length: int) -> bytes:
    """H of section 3.7: SHAKE256."""
    return hashlib.shake_256(data).digest(length)


def representative(tr: bytes, message: bytes) -> bytes:
    """mu, of M'. It may also be computed outside (algorithm 7, line 6)."""
    return hashed(tr + message, HASH_BYTES)


# --- Samples --------------------------------------------------------------------------------------


def _sample(message: bytes, rate: int, blocks: int, made: Callable[[bytes], Poly | None]) -> Poly:
    """Of so many blocks, and of one more until they suffice."""
    function = hashlib.shake_128 if rate == 168 else hashlib.shake_256
    while (found := made(function(message).digest(rate * blocks))) is None:
        blocks += 1
    return found


def _complete(found: Poly) -> Poly | None:
    return found if len(found) == N else None


def uniform(rho: bytes, row: int, column: int) -> Poly:
    """Algorithm 32, an element of A, which is defined transformed."""
    return _sample(
        rho + bytes([column, row]),
        168,
        UNIFORM_BLOCKS,
        lambda data: _complete(sampling.uniform(data)),
    )


def short(parameters: MlDsaSet, seed: bytes, number: int) -> Poly:
    """Algorithm 33, an element of s1, or of s2, whose numbers follow those of s1."""
    eta = parameters.eta
    return _sample(
        seed + number.to_bytes(2, "little"),
        136,
        SHORT_BLOCKS[eta],
        lambda data: _complete(sampling.short(data, eta)),
    )


def mask(parameters: MlDsaSet, seed: bytes, number: int) -> Poly:
    """Algorithm 34, an element of y."""
    message = seed + number.to_bytes(2, "little")
    return sampling.mask(hashed(message, 32 * parameters.z_bits), parameters)


def challenge(parameters: MlDsaSet, seed: bytes) -> Poly:
    """Algorithm 29."""
    tau = parameters.tau
    return _sample(seed, 136, CHALLENGE_BLOCKS, lambda data: sampling.challenge(data, tau))


# --- Bytes ----------------------------------------------------------------------------------------


def pack(values: Sequence[int], width: int) -> bytes:
    """Algorithm 16: the lowest bits first."""
    return arithmetic.packed(values, width)


def unpack(data: bytes, width: int) -> list[int]:
    """Algorithm 18."""
    return arithmetic.unpacked(data, width)


def pack_below(most: int, f: Sequence[int], width: int) -> bytes:
    """Algorithm 17: most - x for each x."""
    return pack([canonical(corrected(most - x)) for x in f], width)


def unpack_below(most: int, data: bytes, width: int) -> Poly:
    """Algorithm 19: most - value for each value."""
    return [most - value for value in unpack(data, width)]


def _split(data: bytes, size: int) -> Iterator[bytes]:
    assert len(data) % size == 0
    return (data[k : k + size] for k in range(0, len(data), size))


@dataclass(frozen=True)
class PrivateKey:
    """The parts of a private key (algorithm 25)."""

    rho: bytes
    key: bytes
    tr: bytes
    s1: list[Poly]
    s2: list[Poly]
    t0: list[Poly]


def unpack_private(parameters: MlDsaSet, sk: bytes) -> PrivateKey:
    """Raises ValueError for a wrong length, or a coefficient of s1 or s2 above eta."""
    if len(sk) != parameters.sk_bytes:
        raise ValueError(f"a private key has {parameters.sk_bytes} bytes, not {len(sk)}")
    eta, width = parameters.eta, parameters.s_bits
    rho, key, tr = sk[:32], sk[32:64], sk[64:128]
    end = len(sk) - 32 * DROPPED_BITS * parameters.k
    s = [unpack_below(eta, part, width) for part in _split(sk[128:end], 32 * width)]
    if any(x < -eta for polynomial in s for x in polynomial):
        raise ValueError("a coefficient of s1 or s2 is not in [-eta, eta]")
    t0 = [unpack_below(HALF, part, DROPPED_BITS) for part in _split(sk[end:], 32 * DROPPED_BITS)]
    return PrivateKey(rho, key, tr, s[: parameters.columns], s[parameters.columns :], t0)


# --- Rows -----------------------------------------------------------------------------------------


def matrix_row(rho: bytes, row: int, vector: Sequence[Poly]) -> Poly:
    """A row of A times a transformed vector: a sum of products, times k^2."""
    total: Poly | None = None
    for column, polynomial in enumerate(vector):
        total = multiply_add(total, uniform(rho, row, column), polynomial)
    assert total
    return total


def small_product(parameters: MlDsaSet, c: Poly, s: Poly) -> Poly:
    """c s, of both transformed modulo 3329: exactly, with coefficients of at most beta."""
    product = arithmetic.inverse(arithmetic.multiply_add(None, c, s))
    found = [arithmetic.centred(x) for x in product]
    assert not exceeds(found, parameters.beta + 1)
    return found


# --- Key pair -------------------------------------------------------------------------------------


def key_pair(parameters: MlDsaSet, seed: bytes) -> tuple[bytes, bytes]:
    """Algorithm 6: the public and the private key of a seed of 32 bytes. Raises ValueError for a
    seed of another length."""
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
    p = parameters
    seeds = hashed(seed + bytes([p.k, p.columns]), 2 * SEED_BYTES + HASH_BYTES)
    rho, secret, key = seeds[:32], seeds[32:96], seeds[96:]
    s1 = [short(p, secret, number) for number in range(p.columns)]
    s2 = [short(p, secret, p.columns + number) for number in range(p.k)]
    t1, t0 = _public_vector(rho, s1, s2)
    pk = rho + b"".join(pack(polynomial, T1_BITS) for polynomial in t1)
    short_ = b"".join(pack_below(p.eta, polynomial, p.s_bits) for polynomial in s1 + s2)
    low = b"".join(pack_below(HALF, polynomial, DROPPED_BITS) for polynomial in t0)
    return pk, rho + key + hashed(pk, HASH_BYTES) + short_ + low


def _public_vector(
    rho: bytes, s1: Sequence[Poly], s2: Sequence[Poly]
) -> tuple[list[Poly], list[Poly]]:
    """t1 and t0 of t = A s1 + s2, row by row."""
    vector = [large_arithmetic.transform(polynomial) for polynomial in s1]
    high, low = [], []
    for row, e in enumerate(s2):
        t = large_arithmetic.inverse(matrix_row(rho, row, vector))
        parts = [power2round(canonical(corrected(x + y))) for x, y in zip(t, e, strict=True)]
        high.append([r1 for r1, _ in parts])
        low.append([r0 for _, r0 in parts])
    return high, low


def check_key(parameters: MlDsaSet, pk: bytes | None, sk: bytes | None) -> None:
    """Raises ValueError for a key of a wrong length, a private key whose parts do not belong
    together, or a public key that is not that of the private one."""
    if pk is not None and len(pk) != parameters.pk_bytes:
        raise ValueError(f"a public key has {parameters.pk_bytes} bytes, not {len(pk)}")
    public = pk if sk is None else public_of(parameters, sk)
    if pk is not None and pk != public:
        raise ValueError("the public key is not that of the private key")


def public_of(parameters: MlDsaSet, sk: bytes) -> bytes:
    """The public key of a private one. ValueError if its parts do not belong together."""
    parts = unpack_private(parameters, sk)
    t1, t0 = _public_vector(parts.rho, parts.s1, parts.s2)
    public = parts.rho + b"".join(pack(polynomial, T1_BITS) for polynomial in t1)
    if t0 != parts.t0 or hashed(public, HASH_BYTES) != parts.tr:
        raise ValueError("the parts of the private key do not belong together")
    return public


# --- Signature ------------------------------------------------------------------------------------


@dataclass
class Signing:
    """A signature, and why each iteration before the last one was rejected: "r0", "z" or "hint"."""

    signature: bytes = b""
    rejections: list[str] = field(default_factory=list)

    @property
    def iterations(self) -> int:
        """How many there were."""
        return len(self.rejections) + 1


def sign(
    parameters: MlDsaSet,
    sk: bytes,
    mu: bytes,
    rnd: bytes = bytes(SEED_BYTES),
    most: int = ITERATIONS,
) -> Signing:
    """Algorithm 7, from line 7 on. rnd is 32 random bytes (hedged) or zeros (deterministic).

    Raises ValueError as `unpack_private`, and RuntimeError after `most` iterations without a
    signature.
    """
    p, private = parameters, unpack_private(parameters, sk)
    assert len(mu) == HASH_BYTES and len(rnd) == SEED_BYTES
    s1, s2 = (
        [arithmetic.transform(polynomial) for polynomial in part]
        for part in (private.s1, private.s2)
    )
    seed = hashed(private.key + rnd + mu, HASH_BYTES)
    done = Signing()
    for kappa in range(0, most * p.columns, p.columns):
        # w = A y, and its high parts as they are hashed.
        y = [
            large_arithmetic.transform(mask(p, seed, kappa + column)) for column in range(p.columns)
        ]
        w, high = [], b""
        for row in range(p.k):
            product = large_arithmetic.inverse(matrix_row(private.rho, row, y))
            w.append([canonical(x) for x in product])
            high += pack([decompose(p, x)[0] for x in w[row]], p.w1_bits)
        c_bytes = hashed(mu + high, p.challenge_bytes)
        c = challenge(p, c_bytes)
        c_small = arithmetic.transform(c)

        # r0: of w - c s2, which takes the place of w.
        bad = False
        for row in range(p.k):
            cs2 = small_product(p, c_small, s2[row])
            w[row] = [canonical(corrected(x - y)) for x, y in zip(w[row], cs2, strict=True)]
            bad |= exceeds([decompose(p, x)[1] for x in w[row]], p.gamma2 - p.beta)
        if bad:
            done.rejections.append("r0")
            continue

        # z = y + c s1, with y sampled again.
        z = []
        for column in range(p.columns):
            cs1 = small_product(p, c_small, s1[column])
            again = mask(p, seed, kappa + column)
            z.append([x + y for x, y in zip(again, cs1, strict=True)])
            bad |= exceeds(z[column], p.gamma1 - p.beta)
        if bad:
            done.rejections.append("z")
            continue

        # Hints: where c t0 changes the high part.
        c_large = large_arithmetic.transform(c)
        hints = []
        for row in range(p.k):
            t0 = large_arithmetic.transform(private.t0[row])
            ct0 = large_arithmetic.inverse(multiply_add(None, c_large, t0))
            bad |= exceeds([centred(x) for x in ct0], p.gamma2)
            hints.append(
                [
                    int(decompose(p, r)[0] != decompose(p, canonical(corrected(r + x)))[0])
                    for r, x in zip(w[row], ct0, strict=True)
                ]
            )
        if bad or sum(map(sum, hints)) > p.omega:
            done.rejections.append("hint")
            continue
        packed = b"".join(pack_below(p.gamma1, polynomial, p.z_bits) for polynomial in z)
        done.signature = c_bytes + packed + pack_hints(p, hints)
        return done
    raise RuntimeError(f"no signature in {most} iterations")


# --- Verification ---------------------------------------------------------------------------------


def verify(parameters: MlDsaSet, pk: bytes, mu: bytes, signature: bytes) -> bool:
    """Algorithm 8, from line 7 on. Everything is computed whatever has failed before."""
    p = parameters
    if len(pk) != p.pk_bytes or len(signature) != p.signature_bytes:
        return False
    end = len(signature) - p.omega - p.k
    c_bytes, packed = signature[: p.challenge_bytes], signature[p.challenge_bytes : end]
    hints = unpack_hints(p, signature[end:])
    good = hints is not None
    z = [unpack_below(p.gamma1, part, p.z_bits) for part in _split(packed, 32 * p.z_bits)]
    good &= not any(exceeds(polynomial, p.gamma1 - p.beta) for polynomial in z)
    c = large_arithmetic.transform(challenge(p, c_bytes))
    vector = [large_arithmetic.transform(polynomial) for polynomial in z]
    high = b""
    for row, part in enumerate(_split(pk[SEED_BYTES:], 32 * T1_BITS)):
        t1 = [x << DROPPED_BITS for x in unpack(part, T1_BITS)]
        assert max(t1) < Q
        total = large_arithmetic.multiply_subtract(
            matrix_row(pk[:SEED_BYTES], row, vector), c, large_arithmetic.transform(t1)
        )
        w = large_arithmetic.inverse(total)
        of_row = hints[row] if hints else [0] * N
        w1 = [use_hint(p, hint, canonical(x)) for hint, x in zip(of_row, w, strict=True)]
        high += pack(w1, p.w1_bits)
    return good & (hashed(mu + high, p.challenge_bytes) == c_bytes)


def representative_for(pk: bytes, message: bytes) -> bytes:
    """mu, of M' and a public key."""
    return representative(hashed(pk, HASH_BYTES), message)
