"""What an engine does, executed on integers: the result, the error and the exact cycles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coprime.multipliers.contract import Multiplication
from coprime.program.assembler import Program
from coprime.program.operands import Context, Length, Mode, Operand, Reference, Scratch
from coprime.program.steps import Next, Step, StepKind, exponent_blinding_bits

from .contract import Capabilities, Command, Error
from .layout import Layout
from .linear import LinearUnit
from .sequencer.barrier_steps import BarrierSteps
from .sequencer.control import step_kinds
from .sequencer.current_context import CurrentContextModel
from .sequencer.exponent_scanner import ScannerModel
from .sequencer.next_rules import AFTER_ANY_STEP, RULES, Conditions, Effect
from .sequencer.overlap import OverlapModel
from .sequencer.program_memory import ProgramCounter
from .sequencer.rotation import WRITES
from .sequencer.windows import WindowModel

__all__ = ["LaneModel", "Prediction", "predict"]


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
    if not command.operation.computes:
        return Prediction(None, Error.NONE, 1 + LinearUnit.clear_cycles(layout.depth), 0)
    if command not in programs[0].entries:
        return Prediction(None, Error.UNSUPPORTED, 1, 0)
    lanes = [
        LaneModel(command, operands, lengths, program, capabilities, multiplication)
        for program in programs
        if command in program.entries
    ]
    for lane, other in zip(lanes, reversed(lanes), strict=True):
        lane.other = other
        lane.together = multiplication.interleaved and len(lanes) == 2
    leading = lanes[0]
    while leading.pc.address and not any(lane.error for lane in lanes):
        ready = [lane for lane in lanes if lane.pc.address and not lane.at_barrier]
        if ready:
            # Of lanes in lockstep the leading one reads before the other changes anything; but what
            # the other one writes, after that.
            min(ready, key=lambda lane: (lane.cycles, lane.reads_other)).execute()
        else:
            BarrierSteps.pass_barrier(lanes)
    error = next((lane.error for lane in lanes if lane.error), Error.NONE)
    if not error and any(lane.unchecked for lane in lanes):
        leading.cycles += 1
        leading.end(Error.FAULT)
        error = Error.FAULT
    if error is Error.FAULT:
        leading.cycles = _faults_meet(lanes) + 1 + LinearUnit.clear_cycles(layout.depth)
    result = None if error else leading.values[Scratch.RESULT]
    products = sum(lane.products for lane in lanes)
    return Prediction(result, error, leading.cycles + 1, products)


def _faults_meet(lanes: Sequence["LaneModel"]) -> int:
    """Cycles until all lanes are where they are wiped: a cycle more for one without a fault of its
    own, which goes on to a barrier, or is idle."""
    for lane in lanes:
        while lane.pc.address and not lane.at_barrier:
            lane.execute()
    return max(lane.cycles for lane in lanes) + any(not lane.error for lane in lanes)


@dataclass(eq=False)
class LaneModel:
    """A lane on integers: its memory, the components of its sequencer, and the cycles so far."""

    command: Command
    operands: Mapping[Operand, int]
    lengths: Mapping[Length, int]
    program: Program
    capabilities: Capabilities
    multiplication: Multiplication

    def __post_init__(self) -> None:
        program, capabilities, command = self.program, self.capabilities, self.command
        self.other = self
        self.together = False
        """Its multiplications take turns with those of the other lane."""
        self.values: dict[Reference, int] = {
            Operand(one): value for one, value in self.operands.items()
        }
        self.cycles = 0
        self.products = 0
        self.error = Error.NONE
        self.at_barrier = False
        self.borrow = False
        self.unchecked = program.checks and self.private
        """The operation has no result yet that may be read."""
        self.written_last = 0
        """By a linear step."""
        self.count = 0
        """In the counter."""
        self._blinding_bits = exponent_blinding_bits(capabilities.digit_width)
        self.blinding_bit = 0
        self.pc = ProgramCounter(program, command)
        self.current = CurrentContextModel(program.primes, private=self.private)
        self.scanner = ScannerModel(
            program, capabilities, self.lengths, self.values, private=self.private
        )
        self.window = WindowModel(program, self.scanner)
        self.timeline = OverlapModel(self) if self.multiplication.overlaps else None
        """When products begin that overlap."""
        self._kinds = {
            kind: kinds
            for kinds in step_kinds(program, capabilities, overlaps=self.multiplication.overlaps)
            for kind in kinds.kinds
        }

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
        if self.timeline and step.kind is not StepKind.MULTIPLY:
            self.cycles = max(self.cycles, self.timeline.idle)
        self.cycles += 1
        self._kinds[step.kind].run(self, step)

    def proceed(self, step: Step) -> None:
        """What comes after a step that is done."""
        self.at_barrier = step.next is Next.BARRIER
        way = RULES[step.next](self._conditions(step))
        if way.effect is not None:
            self._apply(way.effect, step)
        if way.next_bit & 1:
            self.cycles += self.scanner.next_bit()
        self.pc.move(jump=way.jump & 1, forward=way.forward & 1)

    def _conditions(self, step: Step) -> Conditions:
        always = {
            "last_count": int(self.count == 1),
            "last_blinding_bit": int(self.blinding_bit == self._blinding_bits - 1),
            "context_is_q": self.current.is_q,
            "private": int(self.private),
            "product": int(self.command.operation.is_product),
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
        return Conditions(bit=bit, last_bit=self.scanner.is_last, **windows, **always)

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
        elif effect is Effect.SWAP_PRIMES:
            self.current.swap()
        elif effect is Effect.NEXT_BLINDING_BIT:
            self.blinding_bit = (self.blinding_bit + 1) % self._blinding_bits

    def end(self, error: Error) -> None:
        """End the operation with an error."""
        self.error = error
        self.pc.address = 0

    def length(self, context: Context) -> int:
        """Of a context's modulus, in bits."""
        return self.lengths.get(context.length, 0)

    def digits(self, context: Context) -> int:
        """Of a context's modulus."""
        return self.capabilities.digits(self.length(context))

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
        if reference is Mode.WINDOW:
            reference = Scratch.table(self.window.value)
        return self.values.get(reference, 0)

    def written(self, step: Step) -> Reference:
        """What a step's destination is after it."""
        destination = step.destination
        if destination in (Mode.WINDOW, Mode.ENTRY):
            return Scratch.table(self.window.value + (destination is Mode.ENTRY))
        return WRITES.get(destination, destination)
