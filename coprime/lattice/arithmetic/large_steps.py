"""What is done with polynomials modulo 8380417: the kinds of steps, and their cycles.

| kind | effect | slots |
|---|---|---|
| TRANSFORM | P becomes its transform; with `sample` that of the sample | 2048 |
| INVERSE | P: all layers of the inverse transform but the last one | 1792 |
| LAST | P: the last layer, which also scales by 1/256 and k^-2 | 512 |
| MULTIPLY | P plus or minus sample * g with `add`, else plus or minus sample * g, or P * g | 512 |
| HINT | P = low parts were checked, g = c t0 is: hints where g changes the high part of P | 512 |
| SUM | P = P + or - the sample, or another polynomial; of one of both a part | 512 |
| UNPACK | P = numbers of bytes, subtracted from a constant, or t1 2^13 | 256, or 512 of wide ones |
| PACK | bytes of P, as a PackedForm says; or P is only checked | 256, or 512 of wide ones |

The slots are those of one lane; with several see `LargeStep.slots`. A slot is a cycle of the slice;
a product takes two. Words of a polynomial are its 256 numbers. Wide
ones have more than 16 bits, which is what the byte memory takes in a cycle.
"""

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from amaranth.lib import data

from coprime.model.lattice.large_arithmetic import LAYERS, N, forward_constants, inverse_constants
from coprime.model.lattice.large_arithmetic import last_constants as constants_of_last

from .crossing import lower
from .large_bytes import PackedForm
from .number_packer import HINT_BITS, ML_DSA_WIDTHS, interval
from .number_pairs import PAIR_BITS_A_CYCLE, PairUnpacker


class Part(enum.Enum):
    """What is taken of a number of memory that two small ones share."""

    WHOLE = 0
    LOW = 1
    HIGH = 2


PAIR_SHIFT = 9
"""Two small numbers x and y share x + 2^9 y: s as it is unpacked, and c s, in [-196, 196]."""


class LargeKind(enum.Enum):
    """The kind of a step."""

    TRANSFORM = 0
    INVERSE = 1
    LAST = 2
    MULTIPLY = 3
    SUM = 4
    UNPACK = 5
    PACK = 6
    HINT = 7


SLOTS_OF = {
    LargeKind.TRANSFORM: LAYERS * N,
    LargeKind.INVERSE: (LAYERS - 1) * N,
    LargeKind.LAST: 2 * N,
    LargeKind.MULTIPLY: 2 * N,
    LargeKind.SUM: 2 * N,
    LargeKind.UNPACK: 2 * N,
    LargeKind.PACK: 2 * N,
    LargeKind.HINT: 2 * N,
}
"""Of UNPACK and PACK those of wide numbers."""
BY_NUMBER = (LargeKind.UNPACK, LargeKind.PACK, LargeKind.HINT)
"""Steps that take number after number, also with several lanes."""
PREFETCH, PAIR_PREFETCH = 8, PairUnpacker.READY
"""Cycles before the first slot of UNPACK, and the same with several lanes."""
DRAIN = 14
"""Cycles after a step's last slot, in which its last results are written."""
FOLLOWS = 2
"""With several lanes: cycles after the last slot of MULTIPLY, until the sample is no longer read.
"""
TABLE_DEPTH = 2 * N


def drain_of(kind: LargeKind, lanes: int) -> int:
    """Cycles after a step's last slot, in which its last results are written."""
    if lanes == 1:
        return DRAIN
    return {
        LargeKind.LAST: 14,
        LargeKind.MULTIPLY: 15,
        LargeKind.SUM: 8,
        LargeKind.UNPACK: 3,
        LargeKind.PACK: 15,
    }.get(kind, 16)


def debts(width: int) -> Iterator[int]:
    """With several lanes, of pairs of numbers of so many bits: at the start of each cycle the bits
    of earlier pairs that the byte memory has not yet moved. A pair is taken if they are fewer than
    PAIR_BITS_A_CYCLE."""
    debt, left = 0, N // 2
    while left:
        yield debt
        pair = debt < PAIR_BITS_A_CYCLE
        debt = max(0, debt + 2 * width * pair - PAIR_BITS_A_CYCLE)
        left -= pair


def crosses_lanes(kind: LargeKind, layer: int, lanes: int) -> bool:
    """Whether both words of a butterfly of a layer are at one address, in two lanes."""
    lane_bits = lanes.bit_length() - 1
    if kind is LargeKind.TRANSFORM:
        return layer >= LAYERS - lane_bits
    return kind is LargeKind.INVERSE and layer < lane_bits


@dataclass(frozen=True)
class LargeTable:
    """The constants that a lane multiplies by, signed 24 bits, in the order of use.

    Attributes
    ----------
    transform, inverse, last : of these kinds
    """

    transform: tuple[int, ...]
    inverse: tuple[int, ...]
    last: tuple[int, ...]

    @property
    def words(self) -> list[int]:
        """One after the other, TABLE_DEPTH words."""
        words = [*self.transform, *self.inverse, *self.last]
        return words + [0] * (TABLE_DEPTH - len(words))

    @property
    def inverse_at(self) -> int:
        """The address of the first constant of INVERSE."""
        return len(self.transform)

    @property
    def last_at(self) -> int:
        """The same of LAST."""
        return len(self.transform) + len(self.inverse)


def large_table(lane: int = 0, lanes: int = 1) -> LargeTable:
    """The constants of a lane; all lanes have as many of each kind."""
    kinds = (
        (LargeKind.TRANSFORM, LAYERS, forward_constants()),
        (LargeKind.INVERSE, LAYERS - 1, inverse_constants()),
    )
    transform, inverse = (
        tuple(_of_layers(kind, layers, constants, lane, lanes)) for kind, layers, constants in kinds
    )
    return LargeTable(transform, inverse, constants_of_last())


def _of_layers(
    kind: LargeKind, layers: int, constants: Sequence[int], lane: int, lanes: int
) -> Iterator[int]:
    """A constant for each block of a layer; where words cross, for each of the lane's butterflies:
    of the first one of two rows in the first half of the lanes, of the second one in the others."""
    rest, half = iter(constants), lanes // 2
    for layer in range(layers):
        distance = LAYERS - 1 - layer if kind is LargeKind.TRANSFORM else layer
        blocks = list(islice(rest, N >> distance + 1))
        if not crosses_lanes(kind, layer, lanes):
            yield from blocks
            continue
        row, k = (0, lane) if lane < half else (1, lane - half)
        for pair in range(0, N // lanes, 2):
            word = (pair + row) * lanes + lower(k, distance)
            yield blocks[word >> distance + 1]


def large_step_layout(regions: int) -> data.StructLayout:
    """A step in a memory of so many polynomials."""
    return data.StructLayout(
        {
            "kind": LargeKind,
            "region": range(regions),
            "other": range(regions),
            "into": range(regions),
            "sample": 1,
            "add": 1,
            "subtract": 1,
            "part": Part,
            "form": PackedForm,
            "width": range(len(ML_DSA_WIDTHS)),
        }
    )


@dataclass(frozen=True)
class LargeStep:
    """A step, with the same fields as the layout.

    Attributes
    ----------
    region : P
    other : g of MULTIPLY and HINT; what SUM adds
    into : where the result is written: P unless given
    sample : TRANSFORM reads the sample instead of P; f of MULTIPLY is the sample, else P; SUM adds
        the sample
    add : MULTIPLY adds P; only with `sample`; UNPACK adds its numbers times 2^9; the sample of
        TRANSFORM, or SUM, is counted by the checksum
    part : of SUM: of P with `sample`, else of the other one
    subtract : MULTIPLY subtracts the product, SUM the other one
    form : of PACK
    width : bits of a number of UNPACK and PACK
    """

    kind: LargeKind
    region: int
    other: int = 0
    into: int | None = None
    sample: bool = False
    add: bool = False
    subtract: bool = False
    part: Part = Part.WHOLE
    form: PackedForm = PackedForm.BELOW
    width: int = 4

    @property
    def result(self) -> int:
        """Where the result is written."""
        return self.region if self.into is None else self.into

    @property
    def pairs(self) -> bool:
        """With several lanes: two numbers are unpacked or packed at once."""
        return self.kind in (LargeKind.UNPACK, LargeKind.PACK) and self.width != HINT_BITS

    def slots(self, lanes: int = 1) -> int:
        """Cycles from its first slot to its last one, with so many lanes."""
        if self.kind in (LargeKind.UNPACK, LargeKind.PACK):
            if lanes > 1 and self.pairs:
                return sum(1 for _ in debts(self.width))
            return N * interval(self.width)
        return SLOTS_OF[self.kind] // (1 if self.kind in BY_NUMBER else lanes)

    @property
    def cycles(self) -> int:
        """From the cycle after `start` to the last busy one."""
        return self.cycles_on(1)

    def cycles_on(self, lanes: int) -> int:
        """The same with so many lanes."""
        prefetch = PREFETCH if lanes == 1 else PAIR_PREFETCH
        fetches = prefetch * (self.kind is LargeKind.UNPACK)
        return fetches + self.slots(lanes) + drain_of(self.kind, lanes)

    def fields(self) -> dict[str, object]:
        """As a constant of the layout."""
        width = ML_DSA_WIDTHS.index(self.width)
        return vars(self) | {"width": width, "into": self.result}
