"""Steps and routines that several operations share."""

from dataclasses import replace

from coprime.multipliers.bounds import Bound
from coprime.multipliers.multiplication import Multiplication
from coprime.program.operands import Context, Operand, Reference, Scratch
from coprime.program.routine import Routine
from coprime.program.steps import Next, Step, StepKind, linear

REDUCE = "reduce"
"""Label: ACCUMULATOR, below 2M, becomes the canonical result."""
REDUCE_BELOW_3M = "reduce_below_3m"
REDUCE_BELOW_4M = "reduce_below_4m"


def check_modulus(context: Context) -> Step:
    """The context's lengths are allowed, its modulus is above 0, and odd if it must be."""
    return Step(
        kind=StepKind.CHECK_MODULUS,
        y=context.modulus,
        modulus=context,
        note=f"{context.modulus.name} > 0, and odd for Montgomery?",
    )


def check_below_modulus(operand: Operand) -> Step:
    """The operand is below M."""
    return Step(kind=StepKind.CHECK_BELOW, x=operand, y=Operand.M, note=f"{operand.name} < M?")


def check_normalized(multiplication: Multiplication, *contexts: Context) -> list[Step]:
    """Each context's modulus has as many bits as its length says, where that matters."""
    return [
        Step(
            kind=StepKind.CHECK_NORMALIZED,
            y=context.modulus,
            modulus=context,
            note=f"highest bit of {context.modulus.name} = 1?",
        )
        for context in contexts
        if multiplication.aligned
    ]


def prepare(multiplication: Multiplication, context: Context) -> list[Step]:
    """Hand the context's modulus to the multiplier, if that keeps it."""
    name = context.modulus.name
    step = Step(kind=StepKind.PREPARE, modulus=context, note=f"modulo {name} from here on")
    return [step] if multiplication.prepares else []


def descale(multiplication: Multiplication, product: Step) -> Step:
    """The multiplication, with a product modulo the modulus itself."""
    return replace(product, descale=multiplication.scaled)


def finish_with(multiplication: Multiplication, product: Step, reduce: str = REDUCE) -> Step:
    """The multiplication, which ends the operation with its product as the result."""
    if multiplication.canonical:
        return jump(replace(product, destination=Scratch.RESULT), "")
    return jump(descale(multiplication, product), reduce)


def reduced(destination: Reference, x: Reference, context: Context, label: str = "") -> list[Step]:
    """x - M, or x where that is below 0, with the context's modulus M: the same cycles in both."""
    modulus = context.modulus
    name = modulus.name
    restored = f"... + {name}, where it was below 0"
    difference = linear(StepKind.SUBTRACT, destination, x, modulus, context, f"S - {name}")
    return [
        replace(difference, label=label),
        linear(StepKind.RESTORE, destination, destination, modulus, context, restored),
    ]


def canonical(multiplication: Multiplication) -> list[Routine]:
    """RESULT = ACCUMULATOR mod M, where that is below 2M, 3M or 4M, as the names say; the end."""

    def routine(name: str, below: int, destination: Scratch) -> Routine:
        difference, restored = reduced(destination, Scratch.ACCUMULATOR, Context.WHOLE, name)
        return Routine(
            name=name,
            steps=(difference, jump(restored, "") if name == REDUCE else restored),
            context=Context.WHOLE,
            takes={Scratch.ACCUMULATOR: Bound.times(below)},
            gives={Scratch.RESULT: Bound.times(1)},
            clobbers=frozenset({Scratch.ACCUMULATOR}),
        )

    return [
        *([routine(REDUCE_BELOW_4M, 4, Scratch.ACCUMULATOR)] if multiplication.scaled else []),
        routine(REDUCE_BELOW_3M, 3, Scratch.ACCUMULATOR),
        routine(REDUCE, 2, Scratch.RESULT),
    ]


def jump(step: Step, target: str) -> Step:
    """The step, followed by the one with that label; the empty label ends the operation."""
    return replace(step, next=Next.JUMP, target=target)


def call(step: Step, routine: str) -> Step:
    """The step, followed by the routine of that name, and then by the step after this one."""
    return replace(step, next=Next.CALL, target=routine)
