"""Linear steps: the linear unit works on x and y, digit by digit, and some end with an error."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from secrets import randbits
from typing import NamedTuple

from amaranth.hdl import Module

from coprime.program.assembler import Program
from coprime.program.steps import ADDS_DRAWN, Step, StepKind, drawn_bits

from ..contract import Capabilities, Error
from ..linear import LinearOperation
from ..linear_pipeline import LinearPipeline, linear_cycles
from ..random_digit import RandomDigit
from .lane_model import LaneModel
from .length_check import length_error
from .step_control import StepControl


class LinearInputs(NamedTuple):
    """What a linear step sees: x and y, a borrow of the last difference, and random bits."""

    x: int
    y: int
    borrow: bool
    digits: int
    width: int


@dataclass(frozen=True, kw_only=True)
class LinearStep:
    """A kind of linear step: what the linear unit does, and the same on integers.

    A check ends the operation with the first error whose flag of the linear unit has the `bad`
    value.
    """

    operation: LinearOperation
    value: Callable[[LinearInputs], int] | None = None
    """What is written; None if nothing is."""
    errors: tuple[tuple[str, int, Error], ...] = ()
    """(flag, bad, error)."""


def _check(*errors: tuple[str, int, Error]) -> LinearStep:
    """A comparison that writes nothing."""
    return LinearStep(operation=LinearOperation.COMPARE, errors=errors)


_MOVE = LinearStep(operation=LinearOperation.MOVE, value=lambda numbers: numbers.x)

_LINEAR_STEPS: Mapping[StepKind, LinearStep] = {
    StepKind.CHECK_MODULUS: _check(
        ("z_is_zero", 1, Error.MODULUS_ZERO), ("z_is_odd", 0, Error.MODULUS_EVEN)
    ),
    StepKind.CHECK_BELOW: _check(("borrow", 0, Error.OPERAND_RANGE)),
    StepKind.CHECK_REDUCED: _check(("borrow", 0, Error.FAULT)),
    StepKind.CHECK_ZERO: _check(("z_is_zero", 0, Error.FAULT)),
    StepKind.CHECK_ON_CURVE: _check(("z_is_zero", 0, Error.POINT)),
    StepKind.CHECK_FINITE: _check(("z_is_zero", 1, Error.POINT)),
    StepKind.CHECK_POSITIVE: _check(("z_is_zero", 1, Error.OPERAND_RANGE)),
    StepKind.CHECK_SIGNATURE: _check(("z_is_zero", 0, Error.SIGNATURE)),
    StepKind.CHECK_SUM: _check(("z_is_zero", 0, Error.FAULT)),
    StepKind.CHECK_NORMALIZED: _check(("z_is_normalized", 0, Error.MODULUS_SHORT)),
    StepKind.SUBTRACT: LinearStep(
        operation=LinearOperation.SUBTRACT, value=lambda numbers: numbers.x - numbers.y
    ),
    StepKind.ADD: LinearStep(
        operation=LinearOperation.ADD, value=lambda numbers: numbers.x + numbers.y
    ),
    StepKind.RESTORE: LinearStep(
        operation=LinearOperation.RESTORE,
        value=lambda numbers: numbers.x + numbers.y if numbers.borrow else numbers.x,
    ),
    StepKind.MOVE: _MOVE,
    StepKind.DRAW: LinearStep(
        operation=LinearOperation.MOVE,
        value=lambda numbers: randbits(numbers.width * numbers.digits),
    ),
    StepKind.ADD_IF_DRAWN: LinearStep(
        operation=LinearOperation.ADD, value=lambda numbers: numbers.x + numbers.y * randbits(1)
    ),
    StepKind.ADD_OR_SUBTRACT: LinearStep(operation=LinearOperation.ADD),
    StepKind.MOVE_WRITTEN: _MOVE,
    StepKind.MAKE_EVEN: LinearStep(
        operation=LinearOperation.MOVE, value=lambda numbers: numbers.x & ~1
    ),
}

LINEAR_OPERATIONS = {kind: step.operation for kind, step in _LINEAR_STEPS.items()}
"""What each linear step asks of the linear unit."""


@dataclass(eq=False)
class LinearSteps:
    """The states of linear steps, and the steps on integers.

    LINEAR_START asks the linear unit to begin, once no product is in its way, LINEAR waits for it,
    JUDGE decides what comes next: three cycles with FETCH beside those of the unit. CHECK_LENGTHS,
    a cycle more of CHECK_MODULUS, ends an operation whose lengths are refused.
    """

    first_state = "LINEAR_START"

    program: Program
    capabilities: Capabilities

    @property
    def kinds(self) -> frozenset[StepKind]:
        """The kinds that occur."""
        return self.program.kinds & _LINEAR_STEPS.keys()

    @property
    def _checks_lengths(self) -> bool:
        """Lengths may be refused: a bare engine leaves that to its host."""
        return not self.capabilities.bare and StepKind.CHECK_MODULUS in self.kinds

    def _errors(self, kind: StepKind) -> tuple[tuple[str, int, Error], ...]:
        return tuple(
            each
            for each in _LINEAR_STEPS[kind].errors
            if each[2] is not Error.MODULUS_EVEN or self.capabilities.montgomery
        )

    def states(self, m: Module, control: StepControl) -> None:
        """Add the states to a state machine."""
        step, ports = control.step, control.ports
        with m.State("LINEAR_START"):
            m.d.comb += ports.linear.eq(1)
            m.next = "LINEAR"
            with m.If(control.conflicts):
                m.d.comb += ports.linear.eq(0)
                m.next = "LINEAR_START"
            if self._checks_lengths:
                with m.If(step.kind == StepKind.CHECK_MODULUS):
                    m.d.comb += ports.linear.eq(0)
                    m.next = "CHECK_LENGTHS"
            if self.program.adds_drawn:
                first_of_digit = ports.drawn_bit == 0
                draws = step.kind.matches(*sorted(ADDS_DRAWN & self.kinds)) & first_of_digit
                m.d.comb += ports.draws.eq(draws)
                with m.If(ports.draws & ~ports.drawn):
                    m.d.comb += ports.linear.eq(0)
                    m.next = "LINEAR_START"
        if self._checks_lengths:
            with m.State("CHECK_LENGTHS"):
                m.d.comb += ports.linear.eq(1)
                m.next = "LINEAR"
                with m.If(control.length_error != Error.NONE):
                    m.d.comb += ports.linear.eq(0)
                    control.end(m, control.length_error)
        with m.State("LINEAR"), m.If(control.linear_done):
            m.next = "JUDGE"
        with m.State("JUDGE"):
            m.next = "FETCH"
            control.proceed(m)
            if self.program.scans_by_sums:
                with m.If(control.next_bit & control.scanner.edge_bit):
                    m.next = "NEXT_DIGIT"
            branch = m.If
            for kind in (kind for kind in _LINEAR_STEPS if kind in self.kinds):
                for flag, bad, error in self._errors(kind):
                    found = getattr(ports, flag)
                    with branch((step.kind == kind) & (found if bad else ~found)):
                        control.end(m, error)
                    branch = m.Elif
            if control.proof is not None:
                with m.Else():
                    m.d.comb += [
                        control.proof.reduced.eq(step.kind == StepKind.CHECK_REDUCED),
                        control.proof.zero.eq(step.kind == StepKind.CHECK_ZERO),
                    ]

    def run(self, lane: LaneModel, step: Step) -> None:
        """The same on integers."""
        kind, capabilities = step.kind, self.capabilities
        if kind is StepKind.CHECK_MODULUS:
            error = length_error(
                self.program, capabilities, lane.command, step.modulus, lane.lengths
            )
            lane.cycles += self._checks_lengths
            if error:
                lane.cycles += 1
                lane.end(error)
                return
        digits = lane.digits(step.modulus)
        if lane.timeline and not lane.timeline.waits(step):
            lane.timeline.add(step, digits)
        else:
            lane.cycles += 2 + linear_cycles(self.program, lane.multiplication, digits)
        if kind is StepKind.DRAW:
            waits = RandomDigit.bytes_of(capabilities.digit_width)
            lane.cycles += LinearPipeline.waiting_cycles(waits) * digits
        if kind in ADDS_DRAWN and lane.loop.count % drawn_bits(capabilities.digit_width) == 0:
            lane.cycles += RandomDigit.bytes_of(capabilities.digit_width)
        x, y = lane.value(step.x), lane.value(step.y)
        if kind is StepKind.ADD_OR_SUBTRACT:
            kind = StepKind.ADD if randbits(1) else StepKind.SUBTRACT
        value = _LINEAR_STEPS[kind].value
        if value is not None:
            lane.written_last = value(
                LinearInputs(
                    x=x, y=y, borrow=lane.borrow, digits=digits, width=capabilities.digit_width
                )
            )
            if step.times_modulus:
                lane.written_last += step.times_modulus * lane.added_modulus(step.modulus)
            lane.written_last %= 1 << capabilities.digit_width * digits
            lane.values[lane.written(step)] = lane.written_last
            if step.copy is not None:
                lane.values[step.copy] = lane.written_last
        if kind is StepKind.SUBTRACT:
            lane.borrow = x < y
        if _LINEAR_STEPS[kind].errors:
            flags = {
                "borrow": x < y,
                "z_is_zero": y == 0,
                "z_is_odd": y % 2 == 1,
                "z_is_normalized": y.bit_length() >= lane.length(step.modulus),
            }
            for flag, bad, error in self._errors(kind):
                if flags[flag] == bad:
                    lane.end(error)
                    return
        if kind is StepKind.CHECK_ZERO and step.modulus is self.program.moduli[-1]:
            lane.unchecked = False
        lane.proceed(step)
