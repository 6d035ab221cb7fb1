"""What the operations of lanes of two banks share: multiplicands left, multipliers right.

A product is written over its multiplicand, which the multiplier has read by then, so one place does
for ACCUMULATOR and NEXT. The lists of the operations are in their own files, that of RSA_PRIVATE in
`banked_private.py`. With at most 63 steps in all a bit of the program memory is a LUT.
"""

from dataclasses import replace

from coprime.exponentiators.fixed_window import FROM_HIGHEST, square, windows
from coprime.exponentiators.loop import LEAVE_FORM
from coprime.multipliers.bounds import Bound
from coprime.multipliers.multiplication import Multiplication
from coprime.program.builder import Builder, RoutineBuilder
from coprime.program.operands import Context, Core, Mode, Operand, Reference, Scratch
from coprime.program.routine import Routine
from coprime.program.steps import MOST_TIMES_MODULUS, Step, StepKind

from .operation import Machine
from .shared_steps import prepare


class Banked(Scratch):
    """What several operations on two banks have."""

    FACTOR = 9
    """What becomes a multiplier, where these have a memory of their own."""
    TERM = 10
    """The same, of a value as long as a prime."""
    MULTIPLE = 18
    """P - 1, M or the order of points, times a power of two."""
    UNIT = 65
    """The number 1."""
    ONE_FORM = 66
    """1 in Montgomery form."""
    KEPT_SCALAR = 67
    """E as the host has written it, while its own location holds another exponent; or a nonce that
    the engine has drawn, in Montgomery form."""
    POWER = 82
    """R^2 modulo the current prime: what brings numbers of the left bank into Montgomery form."""


POWER, REDUCE_ONCE = "power", "reduce_once"
"""Routines."""

_ACC = Core.ACCUMULATOR
_WHOLE, _CURRENT = Context.WHOLE, Context.CURRENT

_WITHOUT_OPERANDS = (
    *(StepKind.PREPARE, StepKind.SCAN_PUBLIC, StepKind.SCAN_WINDOWS, StepKind.PASS),
)


def banked_routines(machine: Machine) -> list[Routine]:
    """POWER, of MODEXP and of each half of a private operation, and REDUCE_ONCE."""
    return [_power(machine), _reduce_once()]


def enter_whole(code: Builder, multiplication: Multiplication, into: Scratch = _ACC) -> None:
    """X in Montgomery form modulo M, in ACCUMULATOR or elsewhere."""
    prepare_banked(code.whole, multiplication)
    code.whole.multiply(into, Operand.X, Operand.M_POWER, "X * R mod M")


def _power(machine: Machine) -> Routine:
    """The power of the table's base modulo the current modulus, below twice that.

    C = 1 in ACCUMULATOR to begin with; where products overlap, 1 is T_0, and C = T_window for the
    highest window, in place of as many squares of 1, and a product. Both halves of one lane have a
    place of their own (HALF). The power of a blinded base stays in Montgomery form: it is unblinded
    there, or else leaves it.
    """
    multiplication, blinds = machine.multiplication, machine.exponentiation.blinded
    result = Mode.HALF if machine.lanes == 1 else _ACC
    usual = multiplication.usual_bound
    code = RoutineBuilder(
        POWER,
        _CURRENT,
        takes=dict.fromkeys([Mode.WINDOW, *([] if multiplication.overlaps else [_ACC])], usual),
        gives={_ACC: usual} if blinds else {result: Bound.times(2)},
        clobbers=(_ACC,),
    )
    code.scan(StepKind.SCAN_WINDOWS, FROM_HIGHEST)
    if multiplication.overlaps:  # C = T_window; it is the power if there is no other window
        code.rest("each bit of the highest window", even_exponent=blinds)
        code.if_window()
        code.move(_ACC, Mode.WINDOW, "C = T_window")
        code.next_bit(square(_CURRENT))
        code.whole.rest()
        code.jump("leave")
    windows(code, _ACC, even_exponent=blinds)
    code.label("leave")
    if blinds:
        code.whole.rest()
    else:
        leave(code, multiplication, result)
    return code.routine()


def leave(code: Builder, multiplication: Multiplication, destination: Scratch | Mode) -> None:
    """What is in ACCUMULATOR out of Montgomery form."""
    code.times(Mode.ONE, LEAVE_FORM, destination, descale=multiplication.scaled)


def after_power(code: Builder, machine: Machine) -> None:
    """What a power that is not private still has to do: below 2M in ACCUMULATOR."""
    if machine.exponentiation.blinded:
        leave(code.current, machine.multiplication, _ACC)


def _reduce_once() -> Routine:
    """ACCUMULATOR, below 3M, becomes below 2M."""
    takes, gives = {_ACC: Bound.times(3)}, {_ACC: Bound.times(2)}
    code = RoutineBuilder(REDUCE_ONCE, _WHOLE, takes=takes, gives=gives)
    code.reduce(_ACC, _ACC)
    return code.routine()


def finish_canonical(code: Builder) -> None:
    """RESULT from ACCUMULATOR, which is below 2M, and the end."""
    code.whole.reduce(Core.RESULT, _ACC)
    code.finish()


def fill_table(code: Builder, base: Scratch | None) -> None:
    """T_2 and so on, from T_1 and the base in ACCUMULATOR: one step for all.

    Where products overlap ACCUMULATOR becomes each power in turn, and B lies in `base`.
    """
    note = "T_(k+1) = T_k * B" if base else "T_(k+1) = B * T_k"
    code.multiply(Mode.ENTRY, _ACC, base or Mode.WINDOW, note)
    code.each_entry()


def prepare_banked(code: Builder, multiplication: Multiplication) -> None:
    """Hand the modulus to the multiplier, if that keeps it; the window becomes 1."""
    if multiplication.prepares:
        prepare(code, multiplication)
        code.amend(destination=Core.SCALED)


def make_added_modulus(code: Builder, multiplication: Multiplication) -> None:
    """ADDED_MODULUS = c M, of SCALED, (c M + 1) / 2^scale_bits, and UNIT; nothing without c.

    A step adds it to itself, or to 0 as many times as a sum can, which shifts it by as many bits as
    divide `scale_bits`.
    """
    if not multiplication.scaled:  # what sums add is M itself
        return
    multiple = Core.ADDED_MODULUS
    most = MOST_TIMES_MODULUS.bit_length() - 1
    shift = max(bits for bits in range(1, most + 1) if multiplication.scale_bits % bits == 0)
    kind, added = (StepKind.SUBTRACT, 1 << shift) if shift > 1 else (StepKind.ADD, 0)
    note, fits = "2^k M', up to c M + 1", "c M is shorter than R"
    code.move(multiple, Core.SCALED)
    label = f"shift_added_modulus_{code.context.name.lower()}"
    with code.loop(label, multiplication.scale_bits // shift):
        code.linear(kind, multiple, multiple, multiple, note, times_modulus=added, fits=fits)
    code.subtract(multiple, multiple, Banked.UNIT, "c M")


def clear(code: Builder, destination: Reference) -> None:
    """A number as long as M becomes 0."""
    code.whole.zero(destination, of=Operand.M)


def without_operands(step: Step, *, masks: bool = False) -> Step:
    """A step that reads no number has M in its place, since X, which it is else, would be read.

    With masks the same is true of a modulus's check, which reads one number.
    """
    if step.kind in _WITHOUT_OPERANDS:
        return replace(step, x=Operand.M, y=Operand.M)
    if masks and step.kind is StepKind.CHECK_MODULUS:
        return replace(step, x=step.y)
    return step
