"""What the operations of lanes of two banks share: multiplicands left, multipliers right.

A product is written over its multiplicand, which the multiplier has read by then, so one place does
for ACCUMULATOR and NEXT. The lists of the operations are in their own files, that of RSA_PRIVATE in
`banked_private.py`. With at most 63 steps in all a bit of the program memory is a LUT.
"""

from dataclasses import replace

from coprime.exponentiators.fixed_window import windows
from coprime.multipliers.bounds import Bound
from coprime.multipliers.multiplication import Multiplication
from coprime.program.operands import Context, Mode, Operand, Reference, Scratch
from coprime.program.routine import Named, Routine
from coprime.program.steps import (
    MOST_TIMES_MODULUS,
    PASS,
    Next,
    Step,
    StepKind,
    linear,
    multiply,
)

from .operation import Machine
from .shared_steps import descale, jump, prepare, reduced

POWER, REDUCE_ONCE = "power", "reduce_once"
"""Routines."""

_ACC = Scratch.ACCUMULATOR
_WHOLE, _CURRENT = Context.WHOLE, Context.CURRENT

_WITHOUT_OPERANDS = (
    *(StepKind.PREPARE, StepKind.SCAN_PUBLIC, StepKind.SCAN_WINDOWS, StepKind.PASS),
)


def banked_routines(machine: Machine) -> list[Routine]:
    """POWER, of MODEXP and of each half of a private operation, and REDUCE_ONCE."""
    return [_power(machine), _reduce_once()]


def enter_whole(multiplication: Multiplication, into: Scratch = _ACC) -> list[Step]:
    """X in Montgomery form modulo M, in ACCUMULATOR or elsewhere."""
    product = multiply(into, Operand.X, Operand.M_POWER, _WHOLE, "X * R mod M")
    return [*prepare_banked(multiplication, _WHOLE), product]


def _power(machine: Machine) -> Routine:
    """The power of the table's base modulo the current modulus, below twice that.

    C = 1 in ACCUMULATOR to begin with; where products overlap, 1 is T_0, and C = T_window for the
    highest window, in place of as many squares of 1, and a product. Both halves of one lane have a
    place of their own (HALF). The power of a blinded base stays in Montgomery form: it is unblinded
    there, or else leaves it.
    """
    multiplication, blinds = machine.multiplication, machine.exponentiation.blinded
    scan, square, product, _ = windows(_CURRENT, _ACC)
    result = Mode.HALF if machine.lanes == 1 else _ACC
    last = PASS if blinds else leave(multiplication, result)
    usual = multiplication.usual_bound
    takes: dict[Named, Bound | None] = {Mode.WINDOW: usual}
    if not multiplication.overlaps:
        takes[_ACC] = usual
    return Routine(
        name=POWER,
        steps=(
            replace(scan, label=POWER),
            *(_first_window(square.label, blinds) if multiplication.overlaps else []),
            replace(square, even_exponent=blinds),
            product,
            replace(last, next=Next.RETURN, label=_LEAVE),
        ),
        context=_CURRENT,
        takes=takes,
        gives={_ACC: usual} if blinds else {result: Bound.times(2)},
        clobbers=frozenset({_ACC}),
    )


def leave(multiplication: Multiplication, destination: Scratch | Mode) -> Step:
    """What is in ACCUMULATOR out of Montgomery form, modulo the current modulus."""
    *_, step = windows(_CURRENT, _ACC)
    return descale(multiplication, replace(step, destination=destination))


def after_power(machine: Machine) -> list[Step]:
    """What a power that is not private still has to do: below 2M in ACCUMULATOR."""
    return [leave(machine.multiplication, _ACC)] if machine.exponentiation.blinded else []


_LEAVE = "leave"


def _first_window(square: str, even: bool) -> list[Step]:
    """C = T_window for the highest window; it is the power if there is no other one."""
    bits = Step(kind=StepKind.PASS, modulus=_CURRENT, note="each bit of the highest window")
    power = replace(move(_ACC, Mode.WINDOW, _CURRENT), note="C = T_window")
    return [
        replace(bits, next=Next.IF_WINDOW, even_exponent=even),
        replace(power, next=Next.NEXT_BIT, target=square),
        jump(PASS, _LEAVE),
    ]


def _reduce_once() -> Routine:
    """ACCUMULATOR, below 3M, becomes below 2M."""
    difference, restored = reduced(_ACC, _ACC, _WHOLE, REDUCE_ONCE)
    return Routine(
        name=REDUCE_ONCE,
        steps=(difference, replace(restored, next=Next.RETURN)),
        context=_WHOLE,
        takes={_ACC: Bound.times(3)},
        gives={_ACC: Bound.times(2)},
    )


def canonical_result() -> list[Step]:
    """RESULT from ACCUMULATOR, which is below 2M."""
    return reduced(Scratch.RESULT, _ACC, _WHOLE)


def ending(steps: list[Step]) -> list[Step]:
    """The steps, the last one of which ends the operation."""
    return [*steps[:-1], jump(steps[-1], "")]


def fill_table(context: Context, base: Scratch | None) -> Step:
    """T_2 and so on, from T_1 and the base in ACCUMULATOR: one step for all.

    Where products overlap ACCUMULATOR becomes each power in turn, and B lies in `base`.
    """
    factor = base or Mode.WINDOW
    note = "T_(k+1) = T_k * B" if base else "T_(k+1) = B * T_k"
    return multiply(Mode.ENTRY, _ACC, factor, context, note, next=Next.EACH_ENTRY)


def prepare_banked(multiplication: Multiplication, context: Context) -> list[Step]:
    """Hand the context's modulus to the multiplier, if that keeps it; the window becomes 1."""
    return [replace(step, destination=Scratch.SCALED) for step in prepare(multiplication, context)]


def move(destination: Reference, x: Reference, modulus: Context) -> Step:
    """A number of as many digits as the modulus has, from one place to another."""
    note = f"{destination.name} = {x.name}"
    return linear(StepKind.MOVE, destination, x, Operand.M, modulus, note)


def make_added_modulus(multiplication: Multiplication, context: Context) -> list[Step]:
    """ADDED_MODULUS = c M, of SCALED, (c M + 1) / 2^scale_bits, and UNIT; nothing without c.

    A step adds it to itself, or to 0 as many times as a sum can, which shifts it by as many bits as
    divide `scale_bits`.
    """
    multiple, label = Scratch.ADDED_MODULUS, f"shift_added_modulus_{context.name.lower()}"
    if not multiplication.scaled:  # what sums add is M itself
        return []
    most = MOST_TIMES_MODULUS.bit_length() - 1
    shift = max(one for one in range(1, most + 1) if multiplication.scale_bits % one == 0)
    kind, times = (StepKind.SUBTRACT, 1 << shift) if shift > 1 else (StepKind.ADD, 0)
    shifted = linear(kind, multiple, multiple, multiple, context, "2^k M', up to c M + 1")
    return [
        move(multiple, Scratch.SCALED, context),
        replace(
            shifted,
            times_modulus=times,
            fits="c M is shorter than R",
            next=Next.LOOP,
            times=multiplication.scale_bits // shift,
            label=label,
            target=label,
        ),
        linear(StepKind.SUBTRACT, multiple, multiple, Scratch.UNIT, context, "c M"),
    ]


def clear(destination: Reference) -> Step:
    """A number as long as M becomes 0."""
    note = f"{destination.name} = 0"
    return linear(StepKind.SUBTRACT, destination, Operand.M, Operand.M, _WHOLE, note)


def without_operands(step: Step, *, masks: bool = False) -> Step:
    """A step that reads no number has M in its place, since X, which it is else, would be read.

    With masks the same is true of a modulus's check, which reads one number.
    """
    if step.kind in _WITHOUT_OPERANDS:
        return replace(step, x=Operand.M, y=Operand.M)
    if masks and step.kind is StepKind.CHECK_MODULUS:
        return replace(step, x=step.y)
    return step
