"""PKCS #1 v1.5 as steps: encryption with implicit rejection, and signatures.

Source: RFC 8017, sections 7.2 and 9.2; for a wrong padding as in `coprime.model.padding_formats`.
What differs: a message is in the buffer with its last byte at address 0, so that it is in its place
before and after, and nothing is ever shifted by a secret length.
"""

from collections.abc import Iterable
from dataclasses import replace

from coprime.model.padding_formats import CANDIDATES, DIGEST_BYTES, DIGEST_INFO, MIN_FILLER_BYTES

from .instructions import Base, ByteStep, ByteStepKind, Check, Literal, PaddingSlot, Random
from .program_blocks import (
    ALL,
    BYTE,
    BYTES,
    TO_BOTTOM,
    bound,
    expect,
    hash_input,
    hash_text,
    hashed,
    hmac,
    loop,
    point,
    read,
    skip,
    when,
    write,
)
from .tasks import Option

_SIGNED_BYTES = len(DIGEST_INFO) + DIGEST_BYTES


def _frame(kind: int, **filler: object) -> list[ByteStep]:
    """00, the type, the filler, 00 before a message that is in its place."""
    return [
        *(point(Base.INPUT, 1), write(BYTE)),
        *(point(Base.MODULUS), write(BYTE), write(BYTE, literal=kind)),
        *(bound(Base.INPUT, 1), write(ALL, **filler)),
    ]


def encrypt() -> list[ByteStep]:
    """Type 2: random bytes."""
    return _frame(2, random=Random.NONZERO)


def sign() -> list[ByteStep]:
    """Type 1: ones, before the input or its digest, with or without the identifier."""
    digest = [point(Base.ZERO, DIGEST_BYTES), write(BYTES, slot=PaddingSlot.DIGEST)]
    given = [point(Base.ZERO, DIGEST_BYTES), write(BYTES, buffer=True, input=True)]
    return [
        *when(
            Option.HASH,
            [*hash_input(), *digest, ByteStep(ByteStepKind.SET_LENGTH, literal=DIGEST_BYTES)],
        ),
        *when(
            Option.DIGEST_INFO,
            [
                *skip(Option.HASH, True, given),
                point(Base.ZERO, _SIGNED_BYTES),
                *(write(BYTE, literal=byte) for byte in DIGEST_INFO),
                ByteStep(ByteStepKind.SET_LENGTH, literal=_SIGNED_BYTES),
            ],
        ),
        *_frame(1, literal=0xFF),
    ]


def verify() -> list[ByteStep]:
    """Compare with the encoded message of the digest in its slot."""
    return [
        *(point(Base.MODULUS), expect(BYTE), expect(BYTE, 1)),
        *(bound(Base.ZERO, _SIGNED_BYTES + 1), expect(ALL, 0xFF), expect(BYTE)),
        *(expect(BYTE, byte) for byte in DIGEST_INFO),
        expect(BYTES, slot=PaddingSlot.MESSAGE),
    ]


def decrypt() -> list[ByteStep]:
    """The message, or, if the padding is wrong, one that only the key can predict."""

    def derived(label: bytes, size: Iterable[ByteStep]) -> list[ByteStep]:
        block = [hashed(BYTE), hashed(BYTE, literal_kind=Literal.BLOCK)]
        return hmac(PaddingSlot.KDK, [*block, *hash_text(label), *size])

    of_candidates = (16 * CANDIDATES).to_bytes(2)
    of_message = [hashed(BYTE, literal_kind=k) for k in (Literal.SIZE_HIGH, Literal.SIZE_LOW)]
    ciphertext = hashed(read(ALL, input=True))
    release = write(BYTES, slot=PaddingSlot.DIGEST, release=True, bounded=True)
    return [
        *hmac(PaddingSlot.SECRET, [point(Base.MODULUS), TO_BOTTOM, ciphertext]),
        replace(BYTES, slot=PaddingSlot.DIGEST, save=PaddingSlot.KDK),
        *loop(
            [
                *derived(b"length", hash_text(of_candidates)),
                replace(BYTES, slot=PaddingSlot.DIGEST, check=Check.CANDIDATE),
            ],
            2 * CANDIDATES // DIGEST_BYTES,
        ),
        *(point(Base.MODULUS), expect(BYTE), expect(BYTE, 2)),
        read(replace(BYTE, count=MIN_FILLER_BYTES), check=Check.NONZERO),
        *(TO_BOTTOM, read(ALL, check=Check.FIND), ByteStep(ByteStepKind.DECIDE)),
        *loop(
            [
                *derived(b"message", of_message),
                *(point(Base.MODULUS, minus_blocks=True), TO_BOTTOM, release),
            ]
        ),
    ]
