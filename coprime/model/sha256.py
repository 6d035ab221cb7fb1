"""SHA-256 in integers, round by round.

Source: FIPS 180-4, "Secure Hash Standard" (2015), sections 4.1.2, 4.2.2, 5.1.1, 5.3.3 and 6.2. The
constants are the fractions of roots of primes, and are computed here from that.
"""

from math import isqrt

BLOCK_BYTES = 64
DIGEST_BYTES = 32
ROUNDS = 64
_MASK = (1 << 32) - 1


def _primes(count: int) -> list[int]:
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found


def _cube_root(value: int) -> int:
    """The largest integer whose cube does not exceed the value."""
    root = 0
    for place in reversed(range(value.bit_length() // 3 + 1)):
        if (root | 1 << place) ** 3 <= value:
            root |= 1 << place
    return root


INITIAL: tuple[int, ...] = tuple(isqrt(prime << 64) & _MASK for prime in _primes(8))
"""H of an empty message before its block: 32 bits of the fractions of square roots."""
ROUND_CONSTANTS: tuple[int, ...] = tuple(_cube_root(prime << 96) & _MASK for prime in _primes(64))
"""K: 32 bits of the fractions of cube roots."""


def _rotate(word: int, places: int) -> int:
    return (word >> places | word << 32 - places) & _MASK


def next_word(words: list[int]) -> int:
    """The message schedule's word after the last 16, the oldest first."""
    w15, w2 = words[1], words[14]
    small_0 = _rotate(w15, 7) ^ _rotate(w15, 18) ^ w15 >> 3
    small_1 = _rotate(w2, 17) ^ _rotate(w2, 19) ^ w2 >> 10
    return (words[0] + small_0 + words[9] + small_1) & _MASK


def round_step(state: tuple[int, ...], sum_of_word: int) -> tuple[int, ...]:
    """(a, ..., h) after a round, whose word and constant have been added."""
    a, b, c, d, e, f, g, h = state
    big_1 = _rotate(e, 6) ^ _rotate(e, 11) ^ _rotate(e, 25)
    big_0 = _rotate(a, 2) ^ _rotate(a, 13) ^ _rotate(a, 22)
    first = h + big_1 + (e & f ^ ~e & g) + sum_of_word
    second = big_0 + (a & b ^ a & c ^ b & c)
    return (first + second) & _MASK, a, b, c, (d + first) & _MASK, e, f, g


def compress(state: tuple[int, ...], block: bytes) -> tuple[int, ...]:
    """H after a block of 64 bytes."""
    words = [int.from_bytes(block[k : k + 4]) for k in range(0, BLOCK_BYTES, 4)]
    working = state
    for constant in ROUND_CONSTANTS:
        words.append(next_word(words))
        working = round_step(working, words.pop(0) + constant)
    return tuple((old + new) & _MASK for old, new in zip(state, working, strict=True))


def padded(message: bytes) -> bytes:
    """The message with a 1, zeros and its length in bits: whole blocks."""
    zeros = bytes(-(len(message) + 9) % BLOCK_BYTES)
    return message + b"\x80" + zeros + (8 * len(message)).to_bytes(8)


def blocks(length: int) -> int:
    """Blocks of a message of `length` bytes, at least 0."""
    return (length + 9 + BLOCK_BYTES - 1) // BLOCK_BYTES


def digest(message: bytes) -> bytes:
    """SHA-256 of the message."""
    state, data = INITIAL, padded(message)
    for place in range(0, len(data), BLOCK_BYTES):
        state = compress(state, data[place : place + BLOCK_BYTES])
    return b"".join(word.to_bytes(4) for word in state)
