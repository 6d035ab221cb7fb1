"""The steps that the generator's tasks are made of, and their encoding.

The memory has 32-bit words. Strings ascend in it, the first byte of a word most significant; a
number's first word is its most significant one. V, C and sums have `NUMBER_WORDS` words, of which
the first byte is 0.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from amaranth.lib import data

from coprime.model.hash_drbg import DIGEST_BYTES, SEED_BYTES

from .seed_material import SEED_WORDS

WORD_BYTES = 4
NUMBER_WORDS = -(-SEED_BYTES // WORD_BYTES)
DIGEST_WORDS = DIGEST_BYTES // WORD_BYTES
BLOCKS = 4
"""Digests, of 32 bytes each, that a request generates."""
REQUEST_BYTES = BLOCKS * DIGEST_BYTES
DEPTH = 128
"""MemoryRegion of the memory."""


@dataclass(frozen=True)
class MemoryRegion:
    """MemoryRegion of the memory."""

    base: int
    words: int


V = MemoryRegion(0, NUMBER_WORDS)
C = MemoryRegion(16, NUMBER_WORDS)
WORK = MemoryRegion(32, 2 * DIGEST_WORDS)
"""Digests that become a number; V plus a small number, which is hashed."""
OUTPUT = MemoryRegion(48, REQUEST_BYTES // WORD_BYTES)
MATERIAL = MemoryRegion(80, SEED_WORDS)
ALL = MemoryRegion(0, DEPTH)


def half(region: MemoryRegion, index: int) -> MemoryRegion:
    """The words of a digest in a region of several."""
    return MemoryRegion(region.base + index * DIGEST_WORDS, DIGEST_WORDS)


class DrbgStepKind(enum.IntEnum):
    """What a step does, and in how many cycles besides FETCH."""

    END = 0  # the task is over: 1
    BEGIN = 1  # begin a message: 1, but the hash unit's START_CYCLES
    BYTE = 2  # `value` is the message's next byte: 1, when it is taken
    BYTES = 3  # the region's bytes are the next ones: 1, and those until all are taken
    DIGEST = 4  # the message ends, and its digest is in the region: when it is
    SHIFT = 5  # a number = the leftmost bits of WORK: 2 a word
    SUM = 6  # a number = V + the region's number, or `value`, or the count: 3 a word
    FILL = 7  # all bytes of the region are `value`: 1 a word


STEP = data.StructLayout(
    {
        "kind": DrbgStepKind,
        "value": 8,
        "base": range(DEPTH),
        "words": range(DEPTH + 1),
        "to_work": 1,
        "material": 1,
        "counts": 1,
        "again": 1,
    }
)


@dataclass(frozen=True)
class DrbgStep:
    """A step.

    Parameters
    ----------
    kind : what it does
    value : a byte
    region : the words that it reads, or writes
    to_work : a SUM's result goes to WORK, and not to V
    material : the region has as many words as there is seed material
    counts : a SUM adds the count of requests
    again : the step is skipped if the generator is not seeded yet
    """

    kind: DrbgStepKind
    value: int = 0
    region: MemoryRegion = MemoryRegion(0, 0)
    to_work: bool = False
    material: bool = False
    counts: bool = False
    again: bool = False

    @property
    def word(self) -> int:
        """The step in the program memory."""
        fields = {
            "kind": self.kind,
            "value": self.value,
            "base": self.region.base,
            "words": self.region.words,
            "to_work": self.to_work,
            "material": self.material,
            "counts": self.counts,
            "again": self.again,
        }
        return sum(int(value) << STEP[name].offset for name, value in fields.items())


def literals(values: Iterable[int], *, again: bool = False) -> list[DrbgStep]:
    """Bytes of a message that are known; `again` as of DrbgStep."""
    return [DrbgStep(DrbgStepKind.BYTE, value, again=again) for value in values]
