"""OAEP with SHA-256 and MGF1 as steps.

Source: RFC 8017, section 7.1. What differs: a message is in the buffer with its last byte at
address 0, so that it is in its place before and after.
"""

from collections.abc import Callable
from dataclasses import replace

from coprime.model.padding_formats import DIGEST_BYTES

from .instructions import Base, ByteStep, ByteStepKind, Check, PaddingSlot, Random
from .program_blocks import (
    ALL,
    BYTE,
    BYTES,
    FINISH,
    START,
    TO_BOTTOM,
    bound,
    expect,
    hashed,
    mask,
    mix,
    point,
    read,
    when,
    write,
)
from .tasks import Option

_BLOCK = point(Base.MODULUS, -1 - DIGEST_BYTES)
_SEED = point(Base.MODULUS, -1)


def _mask_seed() -> list[ByteStep]:
    block = [_BLOCK, TO_BOTTOM, hashed(read(ALL))]
    counter = hashed(replace(BYTE, count=4))
    return [START, *block, counter, FINISH, _SEED, mix(BYTES, PaddingSlot.DIGEST)]


def _of_label(use: Callable[[PaddingSlot], ByteStep]) -> list[ByteStep]:
    """Use the label's digest; that of the empty label is computed here."""
    return when(Option.LABEL, [use(PaddingSlot.LABEL)], [START, FINISH, use(PaddingSlot.DIGEST)])


def encrypt() -> list[ByteStep]:
    """7.1.1, step 2."""
    return [
        _BLOCK,
        *_of_label(lambda slot: write(BYTES, slot=slot)),
        *(bound(Base.INPUT, 1), write(ALL), write(BYTE, literal=1)),
        *(point(Base.MODULUS), write(BYTE), write(BYTES, random=Random.ANY)),
        *mask(_SEED, _BLOCK, TO_BOTTOM),
        *_mask_seed(),
    ]


def decrypt() -> list[ByteStep]:
    """7.1.2, step 3: the message, or zeros."""
    return [
        *_mask_seed(),
        *mask(_SEED, _BLOCK, TO_BOTTOM),
        *(point(Base.MODULUS), expect(BYTE), _BLOCK),
        *_of_label(lambda slot: expect(BYTES, slot=slot)),
        *(
            TO_BOTTOM,
            read(ALL, literal=1, check=Check.FIND_STRICTLY),
            ByteStep(ByteStepKind.DECIDE),
        ),
        *(point(Base.MODULUS), write(ALL, release=True)),
    ]
