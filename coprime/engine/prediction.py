"""What an engine does, executed on integers: the result, the error and the exact cycles."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from coprime.exponentiators.steps import Context, Slot, Step, StepKind, Then

from .contract import Capabilities, Command, Error, Operand
from .layout import Layout
from .linear import LinearUnit
from .program import Program
from .sequencer import Sequencer

__all__ = ["Lengths", "Prediction", "predict"]


class MultiplierTiming(Protocol):
    """What prediction needs of a multiplier."""

    def cycles(self, inner: int, outer: int) -> int:
        """Cycles of one multiplication of `inner` by `outer` digits."""

    def products(self, inner: int, outer: int) -> int:
        """Useful digit products of one multiplication."""


@dataclass(frozen=True)
class Lengths:
    """Digit counts of modulus, exponent, p and q."""

    modulus: int
    exponent: int = 0
    p: int = 0
    q: int = 0

    def of(self, context: Context) -> int:
        """Digits of the context's modulus."""
        return (self.modulus, self.p, self.q)[context]

    def of_exponent(self, context: Context) -> int:
        """Digits of the context's exponent."""
        return self.exponent if context is Context.WHOLE else self.of(context)


@dataclass(frozen=True)
class Prediction:
    """Outcome of a command. `result`, maybe a secret, is None after an error and after a wipe."""

    result: int | None = field(repr=False)
    error: Error
    cycles: int
    products: int


def predict(
    command: Command,
    operands: Mapping[Operand, int],
    lengths: Lengths,
    *,
    program: Program,
    capabilities: Capabilities,
    multiplier: MultiplierTiming,
    layout: Layout,
) -> Prediction:
    """Execute a command's steps as the sequencer does.

    Its states are told by their cycles: END 1; FETCH 1; LINEAR_START and JUDGE 1 each;
    SCAN_START 1; SCAN one a bit; a new digit of the exponent Sequencer.DIGIT_CYCLES.
    """
    width = capabilities.digit_width
    cycles, products = 1, 0
    values: dict[Slot, int] = {Slot(operand): value for operand, value in operands.items()}
    values[Slot.ONE] = 1
    borrow = False
    bit = 0

    def ended(error: Error) -> Prediction:
        return Prediction(None, error, cycles, products)

    if command is Command.WIPE:
        cycles += LinearUnit.clear_cycles(layout.depth)
        return ended(Error.NONE)
    if command not in program.entries:
        return ended(Error.UNSUPPORTED)
    address = program.entries[command]
    while address:
        step, target = program.steps[address - 1], program.targets[address - 1]
        address += 1
        cycles += 1
        digits = lengths.of(step.modulus)
        modulus = values.get(Slot.modulus(step.modulus), 0)
        if step.kind is StepKind.MULTIPLY:
            outer = lengths.of(step.outer)
            cycles += multiplier.cycles(digits, outer)
            products += multiplier.products(digits, outer)
            product = _montgomery(values, step, modulus, width * outer)
            values[Slot.ACCUMULATOR if step.destination is Slot.NEXT else step.destination] = (
                product
            )
            advance = False
            if step.then is Then.GO:
                address = target
            elif step.then is Then.SQUARED and not _bit(values, step, bit):
                address, advance = (target, False) if bit == 0 else (address - 1, True)
            elif step.then is Then.MULTIPLIED and bit > 0:
                address, advance = target, True
            if advance:
                cycles += Sequencer.DIGIT_CYCLES if bit % width == 0 else 0
                bit -= 1
            continue
        if step.kind is StepKind.SCAN:
            bit = lengths.of_exponent(step.modulus) * width - 1
            cycles += 1 + Sequencer.DIGIT_CYCLES + 1  # SCAN_START, the highest digit, SCAN
            while not _bit(values, step, bit) and bit > 0:
                cycles += 1 + (Sequencer.DIGIT_CYCLES if bit % width == 0 else 0)
                bit -= 1
            if not _bit(values, step, bit):
                address = target
            continue
        if step.kind is StepKind.TEST:
            cycles += 1
            error = _length_error(command, digits, step.modulus, lengths, capabilities)
            if error is not Error.NONE:
                return ended(error)
            cycles -= 1
        cycles += LinearUnit.cycles(digits) + 2
        x, y = values.get(step.x, 0), values.get(step.y, 0)
        if step.kind is StepKind.TEST and y == 0:
            return ended(Error.MODULUS_ZERO)
        if step.kind is StepKind.TEST and y % 2 == 0:
            return ended(Error.MODULUS_EVEN)
        if step.kind is StepKind.BELOW and x >= y:
            return ended(Error.OPERAND_RANGE)
        if step.kind is StepKind.SUBTRACT:
            borrow = x < y
            values[step.destination] = x - y
        elif step.kind is StepKind.ADD:
            values[step.destination] = x + y
        elif step.kind is StepKind.RESTORE:
            values[step.destination] = x + y if borrow else x
        if step.then is Then.GO:
            address = target
    return Prediction(values[Slot.RESULT], Error.NONE, cycles, products)


def _bit(values: Mapping[Slot, int], step: Step, bit: int) -> int:
    return values[Slot.exponent(step.modulus)] >> bit & 1


def _montgomery(values: Mapping[Slot, int], step: Step, modulus: int, shift: int) -> int:
    """(x * y + q * modulus) / 2^shift, with the q below 2^shift that makes it an integer."""
    product = values[step.x] * values[step.y]
    q = -product * pow(modulus, -1, 1 << shift) % (1 << shift)
    return (product + q * modulus) >> shift


def _length_error(
    command: Command, digits: int, context: Context, lengths: Lengths, capabilities: Capabilities
) -> Error:
    longest = capabilities.max_digits if context is Context.WHOLE else capabilities.max_prime_digits
    if digits < capabilities.digits(capabilities.min_length):
        return Error.LENGTH_ZERO
    if digits > longest:
        return Error.LENGTH_OVER
    if command in (Command.MODEXP, Command.RSA_PUBLIC):
        if lengths.exponent == 0:
            return Error.EXPONENT_LENGTH
        if lengths.exponent > capabilities.max_digits:
            return Error.LENGTH_OVER
    return Error.NONE
