"""What the padding unit can do, the options of software, and the lengths that result."""

import enum

from coprime.model.padding_formats import (
    DIGEST_BYTES,
    DIGEST_INFO,
    OAEP_BYTES,
    PKCS1_BYTES,
    PSS_BYTES,
)


class Task(enum.IntEnum):
    """Adding or removing a padding; each task is a program of the padding unit."""

    PKCS1_ENCRYPT = 0
    PKCS1_DECRYPT = 1
    OAEP_ENCRYPT = 2
    OAEP_DECRYPT = 3
    PKCS1_SIGN = 4
    PKCS1_VERIFY = 5
    PSS_SIGN = 6
    PSS_VERIFY = 7

    @property
    def decodes(self) -> bool:
        """Whether it comes after the exponentiation."""
        return bool(self & 1)


class Option(enum.IntEnum):
    """Options of software that a program tests."""

    HASH = 0  # sign the input's digest instead of the input
    DIGEST_INFO = 1
    """Insert the identifier of SHA-256 before the digest of a PKCS #1 v1.5 signature."""
    LABEL = 2  # the label's digest is in its slot; otherwise the label is empty
    SALT = 3  # the salt is in its slot; otherwise it is random


def min_bytes(task: Task, options: frozenset[Option] = frozenset()) -> int:
    """Bytes of the shortest modulus; for PSS, of an encoded message without salt."""
    if task in (Task.OAEP_ENCRYPT, Task.OAEP_DECRYPT):
        return OAEP_BYTES
    if task in (Task.PSS_SIGN, Task.PSS_VERIFY):
        return PSS_BYTES
    signed = len(DIGEST_INFO) + DIGEST_BYTES
    if task is Task.PKCS1_VERIFY or (task is Task.PKCS1_SIGN and Option.DIGEST_INFO in options):
        return PKCS1_BYTES + signed
    if task is Task.PKCS1_SIGN and Option.HASH in options:
        return PKCS1_BYTES + DIGEST_BYTES
    return PKCS1_BYTES


def overhead(task: Task, options: frozenset[Option] = frozenset()) -> int:
    """Bytes by which the longest input is shorter than the modulus, unless it is a digest."""
    hashes = task in (Task.PKCS1_SIGN, Task.PSS_SIGN) and Option.HASH in options
    return 0 if task.decodes or hashes else min_bytes(task)


def is_digest(task: Task, options: frozenset[Option] = frozenset()) -> bool:
    """Whether the input is a digest of 32 bytes."""
    signed = task is Task.PSS_SIGN or (task is Task.PKCS1_SIGN and Option.DIGEST_INFO in options)
    return signed and Option.HASH not in options
