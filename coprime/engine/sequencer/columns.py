"""Columns of an exponent: bits of four teeth of equal length, which select an entry of a comb.

The exponent scanner has this part where a program has SCAN_COLUMNS.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out

from coprime.model.combs import COMB_TEETH
from coprime.program.steps import StepKind


class BitPosition(NamedTuple):
    """Where a scanner's bit is.

    ends : its place in its digit is the last one of a scan
    lowest : its digit is the last one of a scan
    goes_down : the next bit is one place lower
    """

    ends: Value
    lowest: Value
    goes_down: Value


class Columns:
    """Which digit, and which bit of it, comes next: that of the next higher tooth, or after the
    highest one that of the lowest tooth in the next lower column.

    Parameters
    ----------
    width, skipped : bits of a digit; digits that an exponent has for its headroom alone

    Ports of the scanner
    --------------------
    column_ends : the bit is in the highest tooth
    prepare : the multiplier prepares, so that windows are not columns any more
    columns : columns are scanned
    """

    def __init__(self, width: int, skipped: int):
        self.width, self.skipped = width, skipped
        self.moves = Signal(name="moves")
        """The digit that is taken is the next lower one of its tooth."""
        self.behind = Signal(range(width), name="behind")
        """Bits by which the digits of a tooth are more than the tooth, 0 to `width` - 1."""
        self.place = Signal(range(width), name="place")
        """Of a column's bit in its own tooth's digit; `bit_index` is that of the lowest tooth."""

    def ports(self) -> Mapping[str, Any]:
        """Those above."""
        return {**dict.fromkeys(("column_ends", "prepare"), In(1)), "columns": Out(1)}

    def find_digit(self, m: Module, ports: Any, before_first: Signal, index: Value) -> None:
        """The digit that is read.

        `index` is that of the lowest tooth's digit, from which the others are as far as `beyond`.
        Of a tooth's digits the highest lacks `behind` bits, which is less than a digit; so each
        tooth begins `behind` bits lower in its digit than the tooth below it.
        """
        starts, columns = ports.operation == StepKind.SCAN_COLUMNS, ports.columns
        teeth, width, behind = Signal.like(before_first), self.width, self.behind
        beyond, moves = Signal.like(before_first), self.moves
        lower = Signal(range(-width, width))
        crosses = lower < 0
        m.d.comb += [
            teeth.eq((ports.whole_digits + (COMB_TEETH - 1 - self.skipped))[2:]),
            lower.eq(self.place - behind),
            ports.exponent_index.eq(index + beyond),
        ]
        with m.If(starts):
            m.d.comb += before_first.eq(teeth)
        with m.If(ports.next_bit):
            m.d.sync += [
                moves.eq(~columns | (ports.column_ends & (ports.bit_index == 0))),
                beyond.eq(Mux(columns & ~ports.column_ends, beyond + teeth - crosses, 0)),
            ]
            with m.If(columns & ~ports.column_ends):
                m.d.sync += self.place.eq(lower + Mux(crosses, width, 0))
        with m.If(ports.begin):
            # Modulo a power of two, as the difference is below a digit's bits.
            difference = sum(
                (teeth << k for k in range(width.bit_length()) if width >> k & 1), Const(0)
            )
            m.d.sync += behind.eq((difference - ports.length[2:])[: len(behind)])
            m.d.sync += [columns.eq(starts), moves.eq(1), beyond.eq(0)]
        with m.Elif(ports.prepare | ~ports.busy):
            m.d.sync += columns.eq(0)

    def position(self, ports: Any, lowest_digit: Value, digits: BitPosition) -> BitPosition:
        """Each bit is in another digit; the last one is in the highest tooth.

        `lowest_digit` is whether the lowest tooth's digit is its last one, and `digits` the
        position of a bit that is scanned digit for digit.
        """
        return BitPosition(
            ends=ports.bit_index == 0,
            lowest=Mux(ports.columns, lowest_digit & ports.column_ends, digits.lowest),
            goes_down=digits.goes_down & (~ports.columns | ports.column_ends),
        )

    def begin(self, m: Module, ports: Any, places: Sequence[Signal]) -> None:
        """The highest bit of a tooth, in the first digit that is taken."""
        with m.If(ports.operation == StepKind.SCAN_COLUMNS):
            m.d.sync += [place.eq(self.width - 1 - self.behind) for place in places]


@dataclass
class ColumnsModel:
    """The same on integers.

    Parameters
    ----------
    tooth : bits of a tooth, where columns are scanned; else 0
    beyond : bits from the lowest tooth to the bit's own
    """

    tooth: int = 0
    beyond: int = 0

    @property
    def in_highest_tooth(self) -> bool:
        """Whether the bit is the last one of its column; true where none are scanned."""
        return self.beyond == (COMB_TEETH - 1) * self.tooth

    def begin(self, step_kind: StepKind, length: int) -> None:
        """A scan begins, of an exponent of so many bits."""
        self.tooth = length // COMB_TEETH if step_kind is StepKind.SCAN_COLUMNS else 0
        self.beyond = 0

    def next_place(self, place: int) -> int:
        """The place of the next bit in its tooth."""
        if self.in_highest_tooth:
            self.beyond = 0
            return place - 1
        self.beyond += self.tooth
        return place
