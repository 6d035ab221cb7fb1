"""A lane on integers: what its steps work on, and how one leads to the next."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from coprime.multipliers.contract import Multiplication
from coprime.multipliers.ring.multiplication import RingMultiplication
from coprime.program.assembler import Program
from coprime.program.operands import (
    HALF_OF,
    TABLE,
    Context,
    Length,
    Mode,
    Operand,
    Reference,
    Scratch,
    third_entry,
)
from coprime.program.steps import Next, Step, StepKind

from ..contract import Capabilities, Command, Error
from .current_context import CurrentContextModel
from .exponent_scanner import ScannerModel
from .next_rules import AFTER_ANY_STEP, RULES, Conditions, Effect
from .overlap import OverlapModel
from .program_memory import ProgramCounter
from .rotation import WRITES
from .windows import WindowModel


class StepOnIntegers(Protocol):
    """Some kinds of steps on integers."""

    def run(self, lane: "LaneModel", step: Step) -> None:
        """Execute a step: result, cycles, the step that comes next."""
        ...


@dataclass(eq=False)
class LaneModel:
    """A lane on integers: its memory, the components of its sequencer, and the cycles so far."""

    command: Command
    operands: Mapping[Operand, int]
    lengths: Mapping[Length, int]
    program: Program
    capabilities: Capabilities
    multiplication: Multiplication
    kinds: Mapping[StepKind, StepOnIntegers]
    """What executes each kind of step."""

    def __post_init__(self) -> None:
        program, capabilities, command = self.program, self.capabilities, self.command
        self.other = self
        self.together = False
        """Its multiplications take turns with those of the other lane."""
        self.values: dict[Reference, int] = {
            Operand(one): value for one, value in self.operands.items()
        }
        if self.command.operation.on_curve:
            for high, both in HALF_OF.items():
                upper, lower = divmod(self.values.get(both, 0), 1 << self.capabilities.half_bits)
                self.values |= {high: upper, both: lower}
            for point, coordinates in TABLE.items():
                y, x = divmod(self.values.get(point, 0), 1 << self.capabilities.half_bits)
                self.values |= dict(zip(coordinates, (x, y), strict=True))
        self.cycles = 0
        self.products = 0
        self.error = Error.NONE
        self.at_barrier = False
        self.borrow = False
        self.unchecked = program.checks and self.command.operation.has_check
        """The operation has no result yet that may be read."""
        self.written_last = 0
        """By a linear step."""
        self.count = 0
        """In the counter."""
        self.loops = 0
        """How often the steps of a loop have been executed."""
        self.pc = ProgramCounter(program, command)
        self.current = CurrentContextModel(
            program.moduli if command in program.with_moduli else (Context.WHOLE,)
        )
        self.scanner = ScannerModel(
            program, capabilities, self.lengths, self.values, private=self.private
        )
        self.window = WindowModel(program, self.scanner)
        own = self.multiplication
        self.timeline = OverlapModel(self, own) if isinstance(own, RingMultiplication) else None
        """When products begin that overlap."""

    @property
    def private(self) -> bool:
        """Whether the operation is."""
        return self.command.operation.is_private

    @property
    def reads_other(self) -> bool:
        """The next step takes what the other lane writes in it."""
        return self.pc.step.x is Mode.OTHER

    def execute(self) -> None:
        """The step at the address, up to the next one; FETCH takes a cycle."""
        step = self.current.resolved(self.pc.step)
        if step.by_bit and self.scanner.bit(step):
            step = step.of_one
        if self.timeline and step.kind is not StepKind.MULTIPLY:
            self.cycles = max(self.cycles, self.timeline.idle)
        self.cycles += 1
        self.kinds[step.kind].run(self, step)

    def proceed(self, step: Step) -> None:
        """What comes after a step that is done."""
        self.at_barrier = step.next is Next.BARRIER
        way = RULES[step.next](self._conditions(step))
        if way.effect is not None:
            self._apply(way.effect, step)
        if way.next_bit & 1:
            self.cycles += self.scanner.next_bit()
        if way.effect is Effect.RETURN:
            self.pc.return_()
        else:
            if way.effect is Effect.CALL:
                self.pc.call()
            self.pc.move(jump=way.jump & 1, forward=way.forward & 1)

    def _conditions(self, step: Step) -> Conditions:
        always = {
            "last_count": int(self.count == 1),
            "last_loop": int(self.loops == step.times - 1),
            "more_moduli": self.current.more,
            "borrow": int(self.borrow),
            "command": int(self.command in step.commands),
        }
        if step.next in AFTER_ANY_STEP:
            return Conditions(**always)
        bit = self.scanner.bit(step)
        window, context = self.window, step.modulus
        windows = {}
        if self.program.window_bits:
            windows = {
                "window_full": window.full(context),
                "window_not_zero": int(window.entered(bit, context) != 0),
                "window_slides": window.slides(bit, context),
                "last_entry": window.last_entry(context),
            }
        return Conditions(bit=bit, last_bit=self.scanner.ends(step), **windows, **always)

    def _apply(self, effect: Effect, step: Step) -> None:
        window = self.window
        if effect is Effect.ENTER_BIT:
            window.value = window.entered(self.scanner.bit(step), step.modulus)
        elif effect is Effect.FINISH_WINDOW and Mode.WINDOW in (step.x, step.y):
            window.multiplied()
        elif effect is Effect.NEXT_ENTRY:
            window.value += 1
        elif effect is Effect.COUNT:
            self.count -= 1
        elif effect is Effect.NEXT_MODULUS:
            self.current.advance()
        elif effect is Effect.LOOP:
            self.loops = (self.loops + 1) % step.times

    def end(self, error: Error) -> None:
        """End the operation with an error."""
        self.error = error
        self.pc.address = 0

    def length(self, context: Context) -> int:
        """Of a context's modulus, in bits."""
        return self.lengths.get(context.length, 0)

    def digits(self, context: Context) -> int:
        """Of a context's modulus."""
        return self.capabilities.digits(self.length(context)) - self.short(context)

    def rounds(self, context: Context) -> int:
        """Of a multiplication by a number as long as the context's modulus."""
        return self.capabilities.rounds(self.length(context)) - self.short(context)

    def short(self, context: Context) -> int:
        """Digits that a context's numbers have less, since c is 1."""
        is_short = context is Context.P and self.command in self.program.shortens
        return int(is_short and self.values.get(Operand.P_INVERSE) == 1)

    @property
    def result(self) -> int:
        """What the host reads: of two numbers, both."""
        result = self.values[Scratch.RESULT]
        if self.command.operation.on_curve:
            result |= self.values[Scratch.RESULT_HIGH] << self.capabilities.half_bits
        return result

    def value(self, reference: Reference) -> int:
        """What a step has for x or y."""
        if reference is Mode.ONE:
            return 1
        if reference is Mode.OTHER_ACCUMULATOR:
            return self.other.values[Scratch.ACCUMULATOR]
        if reference is Mode.OTHER:
            return self.other.written_last
        if reference is Mode.OTHER_PART:
            return self.other.values[Scratch.PART]
        if reference is Mode.THIRD:
            reference = Scratch.table(third_entry(self._entry(after=False) >> 1))
        elif reference in (Mode.WINDOW, Mode.ENTRY):
            reference = Scratch.table(self._entry(reference is Mode.ENTRY))
        return self.values.get(reference, 0)

    def _entry(self, after: bool) -> int:
        """The entry that the window selects, or the one after it; of a column, a point's x or y."""
        window = self.window.value
        if not self.scanner.tooth:
            return window + after
        return (window if window & 1 else ~window) & 14 | after

    def added_modulus(self, context: Context) -> int:
        """What sums add a multiple of."""
        of_sums = Scratch.ADDED_MODULUS if self.multiplication.scaled else context.modulus
        return self.values.get(of_sums, 0)

    def written(self, step: Step) -> Reference:
        """What a step's destination is after it."""
        destination = step.destination
        if destination in (Mode.WINDOW, Mode.ENTRY):
            return Scratch.table(self.window.value + (destination is Mode.ENTRY))
        return WRITES.get(destination, destination)
