"""The ways that a command takes through a program: each step with what is known when it executes.

What a step works on depends on more than its address: which of the operation's moduli is CURRENT,
which entry of the table the window selects, which exponent is scanned, and which routine it will
return to. All of that follows from the steps before it, but for the bits of an exponent and for
borrows, so that the states of a command are few.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ..assembler import Program
from ..calls import ways
from ..operands import OF_Q, Context, Core, Mode, Operand, Scratch
from ..steps import Next, Step, StepKind

_SCANS = frozenset(
    {
        *(StepKind.SCAN, StepKind.SCAN_UPWARDS, StepKind.SCAN_WINDOWS),
        *(StepKind.SCAN_PUBLIC, StepKind.SCAN_COLUMNS),
    }
)
_UNROLLED = 32
"""How often a loop may execute its steps so that its states have how often it has."""
_ENTERS_BIT = frozenset({Next.IF_WINDOW, Next.IF_NONZERO_WINDOW, Next.IF_SLIDING_WINDOW})


def resolved(step: Step, current: Context) -> Step:
    """A step with CURRENT, and HALF, replaced by what they are."""
    if Context.CURRENT not in (step.modulus, step.outer) and step.destination is not Mode.HALF:
        return step
    is_q = current is Context.Q
    of_q = OF_Q if is_q and step.modulus is Context.CURRENT else {}
    half = Core.PART if is_q else Core.ACCUMULATOR
    return replace(
        step,
        modulus=current if step.modulus is Context.CURRENT else step.modulus,
        outer=current if step.outer is Context.CURRENT else step.outer,
        x=of_q.get(step.x, step.x),
        y=of_q.get(step.y, step.y),
        destination=half if step.destination is Mode.HALF else step.destination,
    )


@dataclass(frozen=True)
class PathState:
    """A step about to be executed.

    Parameters
    ----------
    address : of the step; 0 is the end
    turn : CURRENT is the operation's modulus of this number
    window : the entry of the table that the window selects; None if that depends on an exponent
    scanned : the exponent that is scanned; None before any is
    returns : the addresses that routines under way return to, the innermost one first
    columns : an exponent's columns are scanned
    bit : of the exponent, by which numbers change places; 0 where no step does that
    loops : how often the steps of a loop have been executed, where that is known
    """

    address: int
    turn: int = 0
    window: int | None = None
    scanned: Operand | Scratch | None = None
    returns: tuple[int, ...] = ()
    columns: bool = False
    bit: int = 0
    loops: int = 0


@dataclass(frozen=True)
class Path:
    """Everything that a command can execute in a lane's program.

    Parameters
    ----------
    program : Program
    command : its code; the program has an entry for it
    unrolls : states in short loops have how often these have been executed
    """

    program: Program
    command: int
    unrolls: bool = False

    @cached_property
    def moduli(self) -> tuple[Context, ...]:
        """What CURRENT is, one after the other."""
        program = self.program
        return program.moduli if self.command in program.with_moduli else (Context.WHOLE,)

    @cached_property
    def first(self) -> PathState:
        """The one that the command begins in."""
        return PathState(self.program.entries[self.command])

    def step(self, state: PathState) -> Step:
        """The step of a state, with its own moduli, and with what has changed places by the bit."""
        key = state.address, state.turn
        step = self._resolved.get(key)
        if step is None:
            step = resolved(self.program.steps[state.address - 1], self.moduli[state.turn])
            self._resolved[key] = step
        return step.swapped if step.by_bit and state.bit else step

    @cached_property
    def _resolved(self) -> dict[tuple[int, int], Step]:
        """The steps by address and turn: a state's is asked for again and again."""
        return {}

    @cached_property
    def successors(self) -> Mapping[PathState, tuple[PathState, ...]]:
        """Each state that is reached, from the first step on, with those that may follow it."""
        found: dict[PathState, tuple[PathState, ...]] = {}
        open_ends = [self.first]
        while open_ends:
            state = open_ends.pop()
            if state not in found:
                found[state] = tuple(self._following(state)) if state.address else ()
                open_ends += found[state]
        return found

    def _following(self, state: PathState) -> Iterator[PathState]:
        """The states that may follow; after a step that goes on to another bit, with either bit."""
        step = self.program.steps[state.address - 1]
        turns = step.kind in _SCANS or step.next in (Next.NEXT_BIT, Next.IF_BIT, *_ENTERS_BIT)
        bits = (0, 1) if self.program.swaps and turns else (state.bit,)
        for following in self._steps_after(state):
            yield from (
                following if following.bit == bit else replace(following, bit=bit) for bit in bits
            )

    def _steps_after(self, state: PathState) -> Iterator[PathState]:
        address, turn, returns = state.address, state.turn, state.returns
        step = self.program.steps[address - 1]
        state = replace(
            state,
            window=self._window_after(state),
            scanned=self._exponent(step, state) if step.kind in _SCANS else state.scanned,
            columns=self._columns_after(step, state),
        )
        rule, target = step.next, self.program.targets[address - 1]
        if rule is Next.RETURN:
            yield replace(state, address=returns[0], returns=returns[1:])
        elif rule is Next.CALL:
            yield replace(state, address=target, returns=(address + 1, *returns))
        elif rule is Next.EACH_MODULUS:
            if turn + 1 < len(self.moduli):
                yield replace(state, address=target, turn=turn + 1)
            else:
                yield replace(state, address=address + 1, turn=0)
        elif rule is Next.IF_COMMAND:
            yield replace(state, address=address + 1 if self.command in step.commands else target)
        elif rule is Next.LOOP and self.unrolls and 0 < step.times <= _UNROLLED:
            again = state.loops + 1 < step.times
            loops = state.loops + 1 if again else 0
            yield replace(state, address=target if again else address + 1, loops=loops)
        else:
            for way in ways(step, address, target):
                # An entry of the table follows the other: all of them are one state. And no key's E
                # is 0, for which a program need not have made what its check reads.
                again = rule is Next.EACH_ENTRY and way == address
                is_zero = step.kind is StepKind.SCAN_PUBLIC and way == target
                if not again and not is_zero:
                    yield replace(state, address=way)

    def _exponent(self, step: Step, state: PathState) -> Operand | Scratch:
        """The exponent that a scan begins with."""
        context = self.moduli[state.turn] if step.modulus is Context.CURRENT else step.modulus
        of_e = (StepKind.SCAN_PUBLIC, StepKind.SCAN_COLUMNS)
        if step.kind in of_e or context is Context.WHOLE:
            return Operand.E
        return self.program.blinded.get(context, context.exponent)

    @staticmethod
    def _columns_after(step: Step, state: PathState) -> bool:
        if step.kind is StepKind.PREPARE or step.kind in _SCANS:
            return step.kind is StepKind.SCAN_COLUMNS
        return state.columns

    def _window_after(self, state: PathState) -> int | None:
        """A PREPARE sets the window to 1, EACH_ENTRY counts it up, an exponent's bits enter it."""
        step = self.step(state)
        if step.kind is StepKind.PREPARE:
            return 1
        if step.next is Next.EACH_ENTRY:
            return self.program.last_entry_of(step.modulus)
        windows = (StepKind.SCAN_WINDOWS, StepKind.SCAN_COLUMNS)
        enters = step.kind in windows or step.next in _ENTERS_BIT
        ends = step.next is Next.NEXT_BIT and Mode.WINDOW in (step.x, step.y)
        return None if enters or ends else state.window
