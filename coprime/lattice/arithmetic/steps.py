"""What the datapath does with polynomials: the kinds of steps, their operands, and their cycles.

| kind | effect | slots |
|---|---|---|
| TRANSFORM | P becomes its transform; with `sample` that of the sample | 896 |
| INVERSE | P: all layers of the inverse transform but the last one | 768 |
| LAST | P: the last layer, which also scales by 1/128 and k^-2 | 256 |
| PAIR | the products of vector j's odd coefficients with the roots of X^2 are stored | 128 |
| MULTIPLY | ACCUMULATOR = f * vector j, with `add` plus that; f: sample or bytes | 512 |
| EXACT_SUM | ACCUMULATOR = k^-2 ACCUMULATOR + EXTRA | 256 |
| UNPACK | P = bytes, expanded; with `add` P plus that, with `subtract` P minus that | 256 |
| PACK | bytes = P, or P plus `sample`, compressed; with `compare` both are compared | 256 |

A slot is a cycle of the slice. Of several lanes, each with a slice, a slot is a cycle of all
slices: there are so many times fewer, but where numbers come from bytes or go there, two a cycle.
"""

import enum
from dataclasses import dataclass

from amaranth.lib import data

from coprime.model.lattice.arithmetic import LAYERS, WIDTHS, WORDS


class StepType(enum.Enum):
    """The kind of a step."""

    TRANSFORM = 0
    INVERSE = 1
    LAST = 2
    PAIR = 3
    MULTIPLY = 4
    EXACT_SUM = 5
    UNPACK = 6
    PACK = 7


LAYERED = (StepType.TRANSFORM, StepType.INVERSE)
"""Steps of several layers."""


class Region(enum.Enum):
    """A polynomial's place in the memory of 1,024 words: its address's upper three bits. Products
    with roots of vector j are in the 64 words from 512 + 64 j on."""

    VECTOR_0 = 0
    VECTOR_1 = 1
    VECTOR_2 = 2
    VECTOR_3 = 3
    ACCUMULATOR = 6
    EXTRA = 7


BYTE_WIDTHS = (*WIDTHS, 12)
"""Bits of a coefficient in bytes; a step has the number of one of these."""
SLOTS = {
    StepType.TRANSFORM: 896,
    StepType.INVERSE: 768,
    StepType.LAST: 256,
    StepType.PAIR: 128,
    StepType.MULTIPLY: 512,
    StepType.EXACT_SUM: 256,
    StepType.UNPACK: 256,
    StepType.PACK: 256,
}
PREFETCH = 6
"""Cycles before the first slot of a step that takes bytes from its beginning on."""
DRAIN = 11
"""Cycles after a step's last slot. Its last results are written in the cycle after these, and the
next step begins later."""

PAIR_PREFETCH = 3
"""The same with several lanes, whose numbers come from two words at once."""
AFTER_PAIRS = {StepType.UNPACK: 1, StepType.MULTIPLY: 3, StepType.PACK: 2}
"""Cycles that follow the last two numbers with several lanes, before the other ones: of UNPACK and
MULTIPLY the slots of the last words after their first one; of PACK a number waits for the other one
of its word, and a cycle longer until it is written."""

CROSSING = 2
"""Cycles by which all that follows a slot's operands is later with several lanes, where words may
cross from one to another."""
PAUSE = 8
"""Cycles without a slot between two layers of which only one crosses lanes: the second one would
read or write when the first one does."""
_SUM = 14
"""Cycles after a butterfly's first slot from which on its sum may be read, of a transform; the
other result a cycle later. Both results of an inverse are there before they are needed."""


def crosses(kind: StepType, layer: int, lanes: int) -> bool:
    """Whether both words of a butterfly are in other lanes at one address: those of spans 1 to
    `lanes` / 2, which are the last ones of a transform and the first ones of its inverse."""
    bits = lanes.bit_length() - 1
    if kind is StepType.TRANSFORM:
        return layer >= LAYERS - bits
    return kind is StepType.INVERSE and layer < bits


def last_layer(kind: StepType) -> int:
    """Layers of a step, less 1."""
    return {StepType.TRANSFORM: LAYERS - 1, StepType.INVERSE: LAYERS - 2}.get(kind, 0)


def pause_after(kind: StepType, layer: int, lanes: int) -> int:
    """Cycles without a slot between a layer and the next one."""
    if lanes == 1 or layer >= last_layer(kind):
        return 0
    if crosses(kind, layer, lanes) != crosses(kind, layer + 1, lanes):
        return PAUSE
    if crosses(kind, layer, lanes) or kind is StepType.INVERSE:
        return 0
    # The next layer begins with the sum of the butterfly that is half a block after the first one.
    rows = WORDS // lanes
    half_block = rows >> layer + 2
    return max(0, 2 * half_block + _SUM - rows)


STEP = data.StructLayout(
    {
        "kind": StepType,
        "region": 3,
        "sample": 1,
        "add": 1,
        "subtract": 1,
        "compare": 1,
        "width": range(len(BYTE_WIDTHS)),
    }
)


@dataclass(frozen=True)
class PolynomialStep:
    """A step, with the same fields as STEP.

    Attributes
    ----------
    width : bits of a coefficient in bytes; 12 for MULTIPLY without `sample`
    """

    kind: StepType
    region: Region = Region.ACCUMULATOR
    sample: bool = False
    add: bool = False
    subtract: bool = False
    compare: bool = False
    width: int = 12

    @property
    def prefetches(self) -> bool:
        """Whether it takes bytes from its beginning on."""
        return self.kind is StepType.UNPACK or (self.kind is StepType.MULTIPLY and not self.sample)

    def slots(self, lanes: int = 1) -> int:
        """Cycles from its first slot to its last one, with so many lanes; or from its first number
        of bytes to AFTER_PAIRS."""
        if lanes == 1:
            return SLOTS[self.kind]
        if self.prefetches or self.kind is StepType.PACK:
            return WORDS + AFTER_PAIRS[self.kind]
        pauses = sum(pause_after(self.kind, layer, lanes) for layer in range(LAYERS))
        return SLOTS[self.kind] // lanes + pauses

    @property
    def cycles(self) -> int:
        """From the cycle after `start` to the last busy one."""
        return self.cycles_on(1)

    def cycles_on(self, lanes: int) -> int:
        """The same with so many lanes."""
        prefetch, drain = (PREFETCH, DRAIN) if lanes == 1 else (PAIR_PREFETCH, DRAIN + CROSSING)
        return prefetch * self.prefetches + self.slots(lanes) + drain

    def fields(self) -> dict[str, object]:
        """As a constant of STEP."""
        return {
            "kind": self.kind,
            "region": self.region.value,
            "sample": self.sample,
            "add": self.add,
            "subtract": self.subtract,
            "compare": self.compare,
            "width": BYTE_WIDTHS.index(self.width),
        }
