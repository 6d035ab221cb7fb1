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

A slot is a cycle of the slice; a product takes two. Words of a polynomial are its 256 numbers. Wide
ones have more than 16 bits, which is what the byte memory takes in a cycle.
"""

import enum
from dataclasses import dataclass

from amaranth.lib import data

from coprime.model.lattice.large_arithmetic import LAYERS, N, forward_constants, inverse_constants
from coprime.model.lattice.large_arithmetic import last_constants as constants_of_last

from .large_bytes import PackedForm
from .number_packer import ML_DSA_WIDTHS, interval


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
PREFETCH = 8
"""Cycles before the first slot of UNPACK."""
DRAIN = 14
"""Cycles after a step's last slot, in which its last results are written."""
INVERSE_AT = N - 1
LAST_AT = 2 * N - 3
TABLE_DEPTH = 2 * N


def large_table() -> list[int]:
    """The constants in the order of use, signed 24 bits: of TRANSFORM, INVERSE, and LAST."""
    words = [*forward_constants(), *inverse_constants(), *constants_of_last()]
    return words + [0] * (TABLE_DEPTH - len(words))


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
    def slots(self) -> int:
        """Its slots."""
        if self.kind in (LargeKind.UNPACK, LargeKind.PACK):
            return N * interval(self.width)
        return SLOTS_OF[self.kind]

    @property
    def cycles(self) -> int:
        """From the cycle after `start` to the last busy one."""
        return PREFETCH * (self.kind is LargeKind.UNPACK) + self.slots + DRAIN

    def fields(self) -> dict[str, object]:
        """As a constant of the layout."""
        width = ML_DSA_WIDTHS.index(self.width)
        return vars(self) | {"width": width, "into": self.result}
