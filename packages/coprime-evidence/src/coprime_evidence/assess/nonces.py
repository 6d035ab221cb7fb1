"""Whether the private key follows from signatures whose nonces have something in common.

Source: Boneh, Venkatesan, Hardness of computing the most significant bits of secret keys in
Diffie-Hellman and related schemes (1996), for the hidden number problem; Howgrave-Graham, Smart,
Lattice attacks on digital signature schemes (2001), for signatures. What differs: differences of
nonces are looked at, so that the bits that are equal need not be known.
"""

from collections.abc import Iterator, Sequence

from coprime.model.lattices import reduced

KNOWN_BITS = 16
"""Of a nonce, at an end of it. A lattice does with fewer, of more signatures; but of 64 bits, the
length of campaigns, so many are not equal by chance."""

Signature = tuple[int, int]
"""r and s."""


def key_follows(signatures: Sequence[Signature], z: int, d: int, n: int) -> bool:
    """Whether different messages, signed so, would give the private key d away.

    The signatures are of one number z modulo n, but each with a nonce of its own. That is so if two
    nonces are equal, or each other's negative, or if the highest or the lowest 16 bits of all are
    equal: a lattice then finds d from a few signatures more than n has times 16 bits.
    """
    if len({r for r, _ in signatures}) < len(signatures):
        return True
    return any(key == d for key in keys_by_lattices(signatures, z, n))


def keys_by_lattices(
    signatures: Sequence[Signature], z: int, n: int, known_bits: int = KNOWN_BITS
) -> Iterator[int]:
    """Private keys with which the nonces' highest bits would be equal, or their lowest ones.

    A nonce is (z + r d) / s = a + t d. The difference of two is below n / 2^known_bits where their
    highest bits are equal, and so is that difference by 2^known_bits where their lowest ones are.
    """
    if len(signatures) < 2:
        return
    inverses = [pow(s, -1, n) for _, s in signatures]
    a = [z * inverse % n for inverse in inverses]
    t = [r * inverse % n for (r, _), inverse in zip(signatures, inverses, strict=True)]
    weight = 1 << known_bits
    for factor in (1, pow(weight, -1, n)):
        differences = [
            [(number - each[0]) * factor % n * weight for number in each[1:]] for each in (t, a)
        ]
        count = len(signatures) - 1
        basis = [[weight * n * (i == j) for j in range(count)] + [0, 0] for i in range(count)]
        basis += [[*differences[0], 1, 0], [*differences[1], 0, n]]
        for *_, d, known in reduced(basis):
            if abs(known) == n:
                yield (d if known > 0 else -d) % n
