"""PSS with SHA-256 and MGF1 as steps.

Source: RFC 8017, section 9.1. What differs: an encoded message is in the buffer with its last byte
at address 0.
"""

from dataclasses import replace

from coprime.model.padding_formats import DIGEST_BYTES

from .instructions import Base, ByteStep, PaddingSlot, Random, Trim
from .program_blocks import (
    ALL,
    BYTE,
    BYTES,
    FINISH,
    START,
    bound,
    expect,
    hash_input,
    hashed,
    mask,
    point,
    read,
    when,
    write,
)
from .tasks import Option

_DIGEST = point(Base.ZERO, DIGEST_BYTES + 1)
_SALT = point(Base.SALT, DIGEST_BYTES + 1)
_ABOVE_SALT = bound(Base.SALT, DIGEST_BYTES + 2)
_BOTTOM = bound(Base.ZERO, DIGEST_BYTES + 1)
_TOP = point(Base.ENCODED)
_TRIM = read(BYTE, trim=Trim.KEEP, store=True)
_LAST_BYTE = 0xBC


def _mask() -> list[ByteStep]:
    return [*mask(_DIGEST, _TOP, _BOTTOM), _TOP, _TRIM]


def _digest() -> list[ByteStep]:
    """H: of eight zeros, the message's digest and the salt."""
    zeros = hashed(replace(BYTE, count=8))
    salt = [_SALT, _BOTTOM, hashed(read(ALL))]
    return [START, zeros, hashed(BYTES, slot=PaddingSlot.MESSAGE), *salt, FINISH, _DIGEST]


def sign() -> list[ByteStep]:
    """9.1.1, from step 2; the message's digest is given, or that of the input."""
    computed = replace(BYTES, slot=PaddingSlot.DIGEST, save=PaddingSlot.MESSAGE)
    given = read(BYTES, input=True, save=PaddingSlot.MESSAGE)
    return [
        *when(Option.HASH, [*hash_input(), computed], [point(Base.ZERO, DIGEST_BYTES), given]),
        *(point(Base.MODULUS), _ABOVE_SALT, write(ALL), write(BYTE, literal=1)),
        _BOTTOM,
        *when(Option.SALT, [write(ALL, slot=PaddingSlot.SALT)], [write(ALL, random=Random.ANY)]),
        *_digest(),
        *(write(BYTES, slot=PaddingSlot.DIGEST), write(BYTE, literal=_LAST_BYTE)),
        *_mask(),
    ]


def verify() -> list[ByteStep]:
    """9.1.2, from step 3, with the message's digest in its slot."""
    return [
        *(point(Base.ZERO, 1), expect(BYTE, _LAST_BYTE)),
        *(point(Base.MODULUS), bound(Base.ENCODED), expect(ALL)),
        replace(expect(BYTE), trim=Trim.EXCESS),
        *_mask(),
        *(_TOP, _ABOVE_SALT, expect(ALL), expect(BYTE, 1)),
        *_digest(),
        expect(BYTES, slot=PaddingSlot.DIGEST),
    ]
