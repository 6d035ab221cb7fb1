"""A lane on integers: what its steps work on, and how one leads to the next."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from coprime.multipliers.multiplication import Multiplication
from coprime.multipliers.ring.multiplication import RingMultiplication
from coprime.program.assembler import Program
from coprime.program.operands import (
    HALF_OF,
    TABLE,
    Context,
    Core,
    Entry,
    Length,
    Mode,
    Operand,
    Reference,
    UpperHalf,
    third_entry,
)
from coprime.program.steps import Next, Step, StepKind

from ..contract import Capabilities, Command, Error
from .current_context import CurrentContextModel
from .exponent_scanner import ScannerModel
from .loop_counter import LoopModel
from .next_rules import RULES, Effect
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
    numbers: Mapping[Reference, int] | None = None
    """Of the memory's places, where sums are beside products."""

    def __post_init__(self) -> None:
        program, capabilities, command = self.program, self.capabilities, self.command
        self.other = self
        self.together = False
        """Its multiplications take turns with those of the other lane."""
        self.values: dict[Reference, int] = {
            Operand(operand): value for operand, value in self.operands.items()
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
        self.chained: tuple[Context, Context] | None = None
        """Modulus and outer context of the product that the next step could follow."""
        self.borrow = False
        self.unchecked = program.checks and self.command.operation.has_check
        """The operation has no result yet that may be read."""
        self.written_last = 0
        """By a linear step."""
        self.count = 0
        """In the counter."""
        self.loop = LoopModel(self.length(Context.Q))
        self.pc = ProgramCounter(program, command)
        self.current = CurrentContextModel(
            program.moduli if command in program.with_moduli else (Context.WHOLE,)
        )
        self.scanner = ScannerModel(
            program, capabilities, self.lengths, self.values, private=self.private
        )
        self.window = WindowModel(program, self.scanner)
        self.costs: dict[tuple[int, int, bool], tuple[int, int]] = {}
        """Cycles, and products of digits, of a multiplication of so many digits and rounds, with
        and without `descale`: the steps differ in little else."""
        self._digits: dict[Context, int] = {}
        self._rounds: dict[Context, int] = {}
        multiplication = self.multiplication
        self.timeline = None
        if isinstance(multiplication, RingMultiplication):
            self.timeline = OverlapModel(self, multiplication, self.numbers)
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
        """The step at the address, up to the next one.

        FETCH takes a cycle, and two more for a step that is not there yet; these pass beside a
        product, or whatever the step waits for.
        """
        step = self.current.resolved(self.pc.step)
        if step.by_bit and self.scanner.bit(step):
            step = step.swapped
        if self.timeline and step.kind is not StepKind.MULTIPLY and self.timeline.waits(step):
            self.cycles = max(self.cycles, self.timeline.idle - 2 * (not self.pc.there))
        passes = self.pc.there or (self.multiplication.chains and self.chained)
        self.cycles += 1 if passes else 3
        if step.kind is not StepKind.MULTIPLY:
            self.chained = None
        self.kinds[step.kind].run(self, step)

    def proceed(self, step: Step) -> None:
        """What comes after a step that is done."""
        self.at_barrier = step.next is Next.BARRIER
        way = RULES[step.next](LaneConditions(self, step))
        if way.effect is not None:
            self._apply(way.effect, step)
        more = 0
        if way.next_bit & 1:
            if self.timeline:
                self.timeline.bit += 1
            more = self.scanner.next_bit()
            if more and self.timeline:  # a digit of the exponent is read through port A
                self.cycles = max(self.cycles, self.timeline.sum_ends)
            self.cycles += more
            if more:
                self.chained = None
        if way.effect is Effect.RETURN:
            self.pc.return_()
        else:
            if way.effect is Effect.CALL:
                self.pc.call()
            self.pc.move(jump=way.jump & 1, forward=way.forward & 1)
        if more:
            self.pc.there = True

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
            self.loop.advance(step)

    def end(self, error: Error) -> None:
        """End the operation with an error."""
        self.error = error
        self.pc.address = 0

    def length(self, context: Context) -> int:
        """Of a context's modulus, in bits."""
        return self.lengths.get(context.length, 0)

    def digits(self, context: Context) -> int:
        """Of a context's modulus."""
        if context not in self._digits:
            digits = self.capabilities.digits(self.length(context))
            self._digits[context] = digits - self.short(context)
        return self._digits[context]

    def rounds(self, context: Context) -> int:
        """Of a multiplication by a number as long as the context's modulus."""
        if context not in self._rounds:
            rounds = self.capabilities.rounds(self.length(context))
            self._rounds[context] = rounds - self.short(context)
        return self._rounds[context]

    def short(self, context: Context) -> int:
        """Digits that a context's numbers have less, since c is 1."""
        multiplication = self.multiplication
        may_be_short = context is Context.P and self.command in self.program.shortens
        if not may_be_short or self.values.get(Operand.P_INVERSE) != 1:
            return 0
        higher = (self.values[Operand.P] | (1 << multiplication.digit_width) - 1) + 1
        return (
            0
            if higher % (1 << multiplication.scale_bits)
            else multiplication.scale_bits // multiplication.digit_width
        )

    @property
    def result(self) -> int:
        """What the host reads: of two numbers, both."""
        result = self.values[Core.RESULT]
        if self.command.operation.on_curve:
            result |= self.values[UpperHalf.RESULT_HIGH] << self.capabilities.half_bits
        return result

    def value(self, reference: Reference) -> int:
        """What a step has for x or y."""
        if not isinstance(reference, Mode):
            return self.values.get(reference, 0)
        if reference is Mode.ONE:
            return 1
        if reference is Mode.OTHER_ACCUMULATOR:
            return self.other.values[Core.ACCUMULATOR]
        if reference is Mode.OTHER:
            return self.other.written_last
        if reference is Mode.OTHER_PART:
            return self.other.values[Core.PART]
        if reference is Mode.THIRD:
            entry = third_entry(self._entry(after=False) >> 1)
        elif reference in (Mode.WINDOW, Mode.ENTRY):
            entry = self._entry(reference is Mode.ENTRY)
        else:
            return 0
        return self.values.get(Entry.at(entry), 0)

    def _entry(self, after: bool) -> int:
        """The entry that the window selects, or the one after it; of a column, a point's x or y."""
        window = self.window.value
        if not self.scanner.columns.tooth:
            return window + after
        return (window if window & 1 else ~window) & 14 | after

    def added_modulus(self, context: Context) -> int:
        """What sums add a multiple of."""
        of_sums = Core.ADDED_MODULUS if self.multiplication.scaled else context.modulus
        return self.values.get(of_sums, 0)

    def written(self, step: Step) -> Reference:
        """What a step's destination is after it."""
        destination = step.destination
        if destination in (Mode.WINDOW, Mode.ENTRY):
            return Entry.at(self.window.value + (destination is Mode.ENTRY))
        return WRITES.get(destination, destination)


_CONDITIONS: Mapping[str, Callable[[LaneModel, Step], Any]] = {
    "bit": lambda lane, step: lane.scanner.bit(step),
    "last_bit": lambda lane, step: lane.scanner.ends(step),
    "window_full": lambda lane, step: lane.window.full(step.modulus),
    "window_not_zero": lambda lane, step: int(
        lane.window.entered(lane.scanner.bit(step), step.modulus) != 0
    ),
    "window_slides": lambda lane, step: lane.window.slides(lane.scanner.bit(step), step.modulus),
    "last_entry": lambda lane, step: lane.window.last_entry(step.modulus),
    "last_count": lambda lane, step: int(lane.count == 1),
    "last_loop": lambda lane, step: lane.loop.is_last(step),
    "more_moduli": lambda lane, step: lane.current.more,
    "command": lambda lane, step: int(lane.command in step.commands),
    "borrow": lambda lane, step: int(lane.borrow),
}
"""The fields of `Conditions`."""


class LaneConditions:
    """The `Conditions` of a lane after a step, each found when a rule asks for it."""

    __slots__ = ("_lane", "_step")

    def __init__(self, lane: LaneModel, step: Step):
        self._lane = lane
        self._step = step

    def __getattr__(self, name: str) -> Any:
        return _CONDITIONS[name](self._lane, self._step)
