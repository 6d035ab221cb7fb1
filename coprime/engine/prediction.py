"""What an engine does, executed on integers: the result, the error and the exact cycles."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from coprime.multipliers.contract import Multiplication
from coprime.program.assembler import Program
from coprime.program.operands import Context, Mode, Operand, Reference, Scratch
from coprime.program.steps import COUNTER_BITS, EXPONENT_BLINDING_BITS, Next, Step, StepKind

from .contract import Capabilities, Command, Error, Length
from .layout import Layout
from .linear import LinearUnit
from .random_digit import RandomDigit
from .sequencer import Sequencer, divides_evenly

__all__ = ["Prediction", "predict"]


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
    lengths: Mapping[Length, int],
    *,
    programs: Sequence[Program],
    capabilities: Capabilities,
    multiplication: Multiplication,
    layout: Layout,
) -> Prediction:
    """Execute a command's steps as the lanes' sequencers do; `lengths` are in bits.

    What is drawn is random here, too, and is there when it is asked for.
    """
    if command is Command.WIPE:
        return Prediction(None, Error.NONE, 1 + LinearUnit.clear_cycles(layout.depth), 0)
    if command not in programs[0].entries:
        return Prediction(None, Error.UNSUPPORTED, 1, 0)
    values: dict[Reference, int] = {Operand(operand): value for operand, value in operands.items()}
    lanes = [
        _Lane(command, dict(values), lengths, program, capabilities, multiplication, layout.depth)
        for program in programs
        if command in program.entries
    ]
    for lane, other in zip(lanes, reversed(lanes), strict=True):
        lane.other = other
        lane.together = multiplication.interleaved and len(lanes) == 2
    leading = lanes[0]
    while leading.address:
        ready = [lane for lane in lanes if lane.address and not lane.at_barrier]
        if ready:
            # In lanes that keep step the leading one reads before the other one changes anything.
            min(ready, key=lambda lane: lane.cycles).execute()
        else:
            together = max(lane.cycles for lane in lanes) + 1
            for lane in lanes:
                lane.go_on(together)
    error = leading.error
    if not error and leading.unchecked:
        error = Error.FAULT
    result = None if error else leading.values[Scratch.RESULT]
    products = sum(lane.products for lane in lanes)
    return Prediction(result, error, leading.cycles + 1, products)


_OF_Q: Mapping[Reference, Reference] = {
    Operand.P: Operand.Q,
    Operand.P_POWER: Operand.Q_POWER,
    Operand.DP: Operand.DQ,
}
_PLAIN = (
    Next.FOLLOWING,
    Next.JUMP,
    Next.OTHER_PRIME,
    Next.JUMP_UNLESS_PRIVATE,
    Next.JUMP_IF_MODMUL,
    Next.EACH_BLINDING_BIT,
)
"""What comes after a step that has no part in a scan."""


class _Lane:
    """What a lane holds in its memory and registers, and the cycles that have passed.

    The sequencer's states are told by their cycles: FETCH 1; LINEAR_START and JUDGE 1 each;
    SCAN_START 1; SCAN and COUNT one a bit; a new digit of the exponent Sequencer.DIGIT_CYCLES;
    BRANCH 1; BARRIER 1 from where the later one arrives; END 1 of the leading lane.
    """

    def __init__(
        self,
        command: Command,
        values: dict[Reference, int],
        lengths: Mapping[Length, int],
        program: Program,
        capabilities: Capabilities,
        multiplication: Multiplication,
        depth: int,
    ):
        self.depth = depth
        self.command = command
        self.values = values
        self.lengths = lengths
        self.program = program
        self.capabilities = capabilities
        self.multiplication = multiplication
        self.other = self
        self.together = False
        """Its multiplications take turns with those of the other lane."""
        self.address = program.entries[command]
        self.cycles = 0
        self.products = 0
        self.error = Error.NONE
        self.at_barrier = False
        self._borrow = False
        self._window = 0
        self._public = False
        """It is E that is scanned, whatever the modulus."""
        self._turn = Context.Q if command is Command.RSA_PRIVATE else Context.WHOLE
        self._counter = 0
        self._blinded = 0
        """Bits of an exponent's blinding that have been drawn."""
        self.unchecked = program.checks and command is Command.RSA_PRIVATE
        """The operation has no result yet that may be read."""
        self._bit = 0
        self._top = 0
        """Where windows begin that are counted from the exponent's top."""
        self._last_bit = 0
        """Where the scan of the exponent ends: its lowest bit, or its highest one."""

    def execute(self) -> None:
        """The step at the address, up to the next one."""
        step = self._resolved(self.program.steps[self.address - 1])
        self.cycles += 1
        if step.kind is StepKind.BARRIER:
            self.at_barrier = True
        elif step.kind is StepKind.PREPARE:
            self.cycles += self.multiplication.prepare_cycles(
                self._digits(step.modulus), **self._together
            )
            self._window = int(Next.EACH_ENTRY in self.program.nexts)
            self.address += 1
        elif step.kind is StepKind.MULTIPLY:
            self._multiply(step)
        elif step.kind in (StepKind.SCAN, StepKind.SCAN_PUBLIC):
            self._public = step.kind is StepKind.SCAN_PUBLIC
            self._scan(step)
        elif step.kind is StepKind.SCAN_WINDOWS:
            self.cycles += 1 + Sequencer.DIGIT_CYCLES
            self._public = False
            highest = self._exponent_length(step.modulus) - 1
            if self._scans_blinded(step):
                highest += EXPONENT_BLINDING_BITS
            if divides_evenly(self.capabilities.digit_width):
                highest |= self.program.window_bits - 1
            self._bit, self._last_bit, self._window = highest, 0, 0
            self._top = highest
            self.address += 1
        elif step.kind is StepKind.LOAD_COUNTER:
            self._count(step)
        elif step.kind is StepKind.BRANCH:
            self.cycles += 1
            self.address = self.address + 1 if self._bit_of(step) else self._target
        elif step.kind is StepKind.SCAN_UPWARDS:
            self.cycles += 1 + Sequencer.DIGIT_CYCLES
            self._bit, self._last_bit = 0, self._exponent_length(step.modulus) - 1
            self.address += 1
        else:
            self._linear(step)

    def go_on(self, cycles: int) -> None:
        """The other lane has come to its BARRIER, too."""
        self.at_barrier, self.cycles = False, cycles
        self._proceed(self.program.steps[self.address - 1])

    def _proceed(self, step: Step) -> None:
        takes = {
            Next.JUMP: True,
            Next.OTHER_PRIME: self._turn is Context.Q,
            Next.JUMP_UNLESS_PRIVATE: self.command is not Command.RSA_PRIVATE,
            Next.JUMP_IF_MODMUL: self.command is Command.MODMUL,
            Next.EACH_BLINDING_BIT: self._blinded != EXPONENT_BLINDING_BITS - 1,
        }.get(step.next, False)
        if step.next is Next.EACH_BLINDING_BIT:
            self._blinded = (self._blinded + 1) % EXPONENT_BLINDING_BITS
        if step.next is Next.OTHER_PRIME and self._turn is not Context.WHOLE:
            self._turn = Context.P if self._turn is Context.Q else Context.Q
        self.address = self._target if takes else self.address + 1

    def _resolved(self, step: Step) -> Step:
        """The step modulo the prime whose turn it is, if that is what it says."""
        if Context.CURRENT not in (step.modulus, step.outer) and step.destination is not Mode.HALF:
            return step
        of_q = self._turn is Context.Q
        own = _OF_Q if of_q and step.modulus is Context.CURRENT else {}
        half = Scratch.PART if of_q else Scratch.ACCUMULATOR
        return replace(
            step,
            modulus=self._turn if step.modulus is Context.CURRENT else step.modulus,
            outer=self._turn if step.outer is Context.CURRENT else step.outer,
            x=own.get(step.x, step.x),
            y=own.get(step.y, step.y),
            destination=half if step.destination is Mode.HALF else step.destination,
        )

    def _multiply(self, step: Step) -> None:
        rounds = self.capabilities.rounds(self._length(step.outer))
        digits = self._digits(step.modulus)
        descale = {"descale": True} if step.descale else {}
        self.cycles += self.multiplication.cycles(digits, rounds, **self._together, **descale)
        discarded = step.conditional and not self._bit_of(step)
        if not discarded:
            self.products += self.multiplication.products(digits, rounds, **descale)
            kept = self.program.in_place and step.y is Mode.WINDOW and not self._window
            if not kept:
                self.values[self._place(step.destination)] = self.multiplication.product(
                    self._value(step.x), self._value(step.y), self._modulus(step), rounds, **descale
                )
        if step.next is Next.COUNT_DOWN:
            self._counter -= 1
            self.address = self._target if self._counter else self.address + 1
        elif step.next is Next.EACH_ENTRY:
            self._window += 1
            last = self.program.last_entry_of(step.modulus)
            self.address += int(self._window == last)
        elif step.next is Next.NEXT_BIT:
            if step.y is Mode.WINDOW and (
                self._from_the_top or Next.IF_SLIDING_WINDOW in self.program.nexts
            ):
                self._window = 0
            self._on(self._target, self.address + 1)
        elif step.next in _PLAIN:
            self._proceed(step)
        elif self._completes(step):
            self.address += 1
        else:
            self._on(self.address, self._target)

    def _completes(self, step: Step) -> bool:
        """Whether there is a factor to multiply by, as the bit goes into the window."""
        bit, empty = self._bit_of(step), not self._window
        bits = self.program.window_bits_of(step.modulus)
        if step.next is Next.IF_BIT:
            return bool(bit)
        self._window = (self._window << 1 | bit) % (1 << bits)
        if step.next is Next.IF_SLIDING_WINDOW:
            alone = empty and bit and self._bit < bits - 1
            return bool(alone or self._window >> (bits - 1))
        full = self._bit % bits == 0
        if self._from_the_top:
            full = (self._top - self._bit + 1) % bits == 0 or self._bit == 0
        return full and (step.next is Next.IF_WINDOW or self._window != 0)

    def _place(self, destination: Reference) -> Reference:
        """What a destination is after the step."""
        if destination in (Mode.WINDOW, Mode.ENTRY):
            return Scratch.table(self._window + (destination is Mode.ENTRY))
        changes: Mapping[Reference, Reference] = {
            Mode.NEXT: Scratch.ACCUMULATOR,
            Mode.NEXT_BASE: Scratch.BASE,
        }
        return changes.get(destination, destination)

    def _on(self, address: int, at_the_last: int) -> None:
        """To the next bit and the address; to the other one if this was the last bit."""
        if self._bit == self._last_bit:
            self.address = at_the_last
        else:
            self.address = address
            self._next_bit()

    def _count(self, step: Step) -> None:
        """An exponent that is too long ends with the bit that is."""
        exponent = self._value(step.modulus.exponent)
        digits = self.capabilities.digits(self._exponent_length(step.modulus))
        self._bit, self._last_bit = digits * self.capabilities.digit_width - 1, 0
        self.cycles += 1 + Sequencer.DIGIT_CYCLES + 1  # SCAN_START, the highest digit, COUNT
        while self._bit != self._last_bit and exponent >> self._bit < 1 << COUNTER_BITS:
            self.cycles += 1
            self._next_bit()
        self._counter = exponent >> self._bit
        if self._counter >> COUNTER_BITS:
            self._end(Error.EXPONENT_LENGTH)
        else:
            self.address = self.address + 1 if self._counter or not step.target else self._target

    def _scan(self, step: Step) -> None:
        digits = self.capabilities.digits(self._exponent_length(step.modulus))
        self._bit, self._last_bit = digits * self.capabilities.digit_width - 1, 0
        self.cycles += 1 + Sequencer.DIGIT_CYCLES + 1  # SCAN_START, the highest digit, SCAN
        while not self._bit_of(step) and self._bit != self._last_bit:
            self.cycles += 1
            self._next_bit()
        self.address = self.address + 1 if self._bit_of(step) else self._target

    def _next_bit(self) -> None:
        upwards = self._last_bit > self._bit
        before = self._bit
        self._bit += 1 if upwards else -1
        width = self.capabilities.digit_width
        self.cycles += Sequencer.DIGIT_CYCLES if before // width != self._bit // width else 0

    def _linear(self, step: Step) -> None:
        if step.kind is StepKind.CHECK_MODULUS and self._length_error(step.modulus):
            self.cycles += 1
            self._end(self._length_error(step.modulus))
            return
        digits = self._digits(step.modulus)
        self.cycles += 2 + LinearUnit.cycles(digits)
        of_digit = RandomDigit.bytes_of(self.capabilities.digit_width)
        x, y = self._value(step.x), self._value(step.y)
        error = Error.NONE
        if step.kind is StepKind.CHECK_MODULUS and y == 0:
            error = Error.MODULUS_ZERO
        elif step.kind is StepKind.CHECK_MODULUS and y % 2 == 0 and self.capabilities.montgomery:
            error = Error.MODULUS_EVEN
        elif step.kind is StepKind.CHECK_BELOW and x >= y:
            error = Error.OPERAND_RANGE
        elif step.kind is StepKind.CHECK_NORMALIZED and y.bit_length() < self._length(step.modulus):
            error = Error.MODULUS_SHORT
        elif step.kind is StepKind.MOVE:
            self.values[self._place(step.destination)] = x
        elif step.kind is StepKind.MAKE_EVEN:
            self.values[step.destination] = x & ~1
        elif step.kind is StepKind.DRAW:
            self.cycles += of_digit * digits
            self.values[step.destination] = secrets.randbits(self.capabilities.digit_width * digits)
        elif step.kind is StepKind.ADD_IF_DRAWN:
            self.cycles += of_digit * (self._blinded % Sequencer.DRAWN_BITS == 0)
            self.values[step.destination] = x + y * secrets.randbits(1)
        elif step.kind is StepKind.CHECK_ZERO and y:
            self.cycles += 1 + LinearUnit.clear_cycles(self.depth)
            error = Error.FAULT
        elif step.kind is StepKind.CHECK_ZERO and step.modulus is Context.P:
            self.unchecked = False
        elif step.kind is StepKind.SUBTRACT:
            self._borrow = x < y
            self.values[step.destination] = x - y
        elif step.kind is StepKind.ADD:
            self.values[step.destination] = x + y
        elif step.kind is StepKind.RESTORE:
            self.values[step.destination] = x + y if self._borrow else x
        if error:
            self._end(error)
        else:
            self._proceed(step)

    def _end(self, error: Error) -> None:
        self.error = error
        self.address = 0

    def _length_error(self, context: Context) -> Error:
        own = self.capabilities
        digits = self._digits(context)
        unequal = self._length(Context.P) != self._length(Context.Q)
        if own.equal_primes and context is not Context.WHOLE and unequal:
            return Error.LENGTH_ZERO
        if digits < own.digits(own.min_length):
            return Error.LENGTH_ZERO
        if digits > (own.max_digits if context is Context.WHOLE else own.max_prime_digits):
            return Error.LENGTH_OVER
        if self.program.blinds_exponents and context is not Context.WHOLE:
            longest = digits + EXPONENT_BLINDING_BITS // own.digit_width
            if longest > self._digits(Context.WHOLE):
                return Error.LENGTH_OVER
        if self.command in (Command.MODEXP, Command.RSA_PUBLIC):
            exponent_digits = own.digits(self._exponent_length(Context.WHOLE))
            if exponent_digits == 0:
                return Error.EXPONENT_LENGTH
            if exponent_digits > own.max_digits:
                return Error.LENGTH_OVER
        if self.unchecked:
            exponent_digits = own.digits(self._exponent_length(Context.WHOLE))
            if not 0 < exponent_digits <= own.max_prime_digits:
                return Error.EXPONENT_LENGTH
        return Error.NONE

    @property
    def _target(self) -> int:
        return self.program.targets[self.address - 1]

    def _value(self, slot: Reference) -> int:
        if slot is Mode.ONE:
            return 1
        if slot is Mode.WINDOW:
            return self.values.get(Scratch.table(self._window), 0)
        if slot is Mode.OTHER_ACCUMULATOR:
            return self.other.values[Scratch.ACCUMULATOR]
        if slot is Mode.OTHER_PART:
            return self.other.values[Scratch.PART]
        return self.values.get(slot, 0)

    def _modulus(self, step: Step) -> int:
        return self._value(step.modulus.modulus)

    @property
    def _together(self) -> dict[str, bool]:
        return {"together": True} if self.together else {}

    def _length(self, context: Context) -> int:
        return self.lengths.get((Length.MODULUS, Length.P, Length.Q)[context], 0)

    def _digits(self, context: Context) -> int:
        return self.capabilities.digits(self._length(context))

    def _exponent_length(self, context: Context) -> int:
        whole = context is Context.WHOLE or self._public
        return self.lengths.get(Length.EXPONENT, 0) if whole else self._length(context)

    def _scans_blinded(self, step: Step) -> bool:
        private = not self._public and step.modulus is not Context.WHOLE
        return private and self.program.blinds_exponents

    @property
    def _from_the_top(self) -> bool:
        """Windows are of 3 bits: they begin at the exponent's top."""
        return self.program.window_bits == 3

    def _bit_of(self, step: Step) -> int:
        if step.even_exponent and self._bit == 0 and self.command is Command.RSA_PRIVATE:
            return 0
        exponent: Reference = Operand.E if self._public else step.modulus.exponent
        if self._scans_blinded(step):
            exponent = Scratch.BLINDED
        return self.values[exponent] >> self._bit & 1
