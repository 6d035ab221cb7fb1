"""What is asked of the ports of two banks: records between a lane and its scheduler of ports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from amaranth.hdl import Const, Module, Value

from coprime.cells.tables import look_up
from coprime.program.operands import MODULI, Operand, Reference

from .layout import BankedLayout

MODULUS_OPERANDS = tuple(context.modulus for context in MODULI)
EXPONENTS = tuple(context.exponent for context in MODULI)
INVERSES = tuple(context.inverse for context in MODULI)


def is_right(number: Value) -> Value:
    """Whether the location of a number is in the right bank."""
    return number[-1]


@dataclass(frozen=True)
class Blocks:
    """The numbers of locations, of which a port takes the block.

    A port needs a location's block. The bit above that, the bank, only specifies which bank is
    written, and in which one x and y are.
    """

    layout: BankedLayout

    def of(self, reference: Reference) -> Const:
        """The number of a location, or of an addressing mode."""
        return Const(self.layout.numbers[reference], self.layout.number_bits)

    def of_context(self, operands: Sequence[Operand], context: Value) -> Value:
        """The block of the operand of a context: `operands` are those of WHOLE, P and Q."""
        numbers = [self.layout.numbers[operand] for operand in operands]
        return look_up(numbers, context, self.layout.block_bits)


@dataclass(frozen=True, kw_only=True)
class StepInBanks:
    """The step that the sequencer has.

    Parameters
    ----------
    kind, x, y, destination, modulus, rounds : of the step; x to destination are numbers
    window, entry : the blocks of the table's entries that WINDOW and ENTRY name
    third : the block of the table's entry that THIRD names
    scans : the exponent is read through the ports A, whatever else is under way
    index : the digit of x and y that the linear unit asks for next
    starts : the linear unit begins with the step
    uses_a, uses_b : the linear unit asks something of the ports A, of the ports B
    suppress_write : the product of a window of 0 is not to be written
    copies : the result is to be written to both banks
    next_bit : the exponent's next bit comes
    by_bit : its numbers change places by the exponent's bit
    """

    kind: Value
    x: Value
    y: Value
    destination: Value
    modulus: Value
    rounds: Value
    window: Value
    entry: Value
    third: Value
    scans: Value
    index: Value
    starts: Value
    uses_a: Value
    uses_b: Value
    suppress_write: Value
    copies: Value
    next_bit: Value
    by_bit: Value


@dataclass(frozen=True, kw_only=True)
class Detour:
    """What port B of one bank is asked for in place of what both are: a block, to read or write."""

    when: Value
    block: Value
    writes: Value


@dataclass(frozen=True, kw_only=True)
class ProductAccess:
    """What products ask of the four ports, while the memory is the multiplier's.

    Parameters
    ----------
    a_left, a_right : the block that each port A is asked for
    a_index, b_index : the digit that the ports A, and the ports B, are asked for
    reads_inverse : port A of the bank of the inverses is asked for one of them
    location, writes : the number that both ports B are asked for, and whether it is written, in its
        bank; else it is read
    copies : it is written to both banks
    b_left, b_right : but for these
    window, entry, third : the entries that these modes name in the multiplier's accesses
    takes_part : whether a port that may have no part in a product has one, by its name
    """

    a_left: Value
    a_right: Value
    a_index: Value
    b_index: Value
    reads_inverse: Value
    location: Value
    writes: Value
    copies: Value
    b_left: Detour
    b_right: Detour
    window: Value
    entry: Value
    third: Value
    takes_part: Mapping[str, Value]


class PortScheduler(Protocol):
    """Which port a multiplier's operands take, for one contract of a multiplier."""

    def connect(self, m: Module, step: StepInBanks, banks: Mapping[str, Value]) -> ProductAccess:
        """Connect the digits that the `banks` read, by their ports; say what is asked of them."""
