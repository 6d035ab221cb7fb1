"""Statements and routines that several operations share."""

from coprime.multipliers.bounds import Bound
from coprime.multipliers.multiplication import Multiplication
from coprime.program.builder import Builder, RoutineBuilder
from coprime.program.operands import Context, Core, Scratch
from coprime.program.routine import Routine
from coprime.program.steps import StepKind

REDUCE = "reduce"
"""Label: ACCUMULATOR, below 2M, becomes the canonical result."""
REDUCE_BELOW_3M = "reduce_below_3m"
REDUCE_BELOW_4M = "reduce_below_4m"


def check_normalized(code: Builder, multiplication: Multiplication) -> None:
    """The modulus has as many bits as its length says, where that matters."""
    modulus = code.context.modulus
    if multiplication.aligned:
        code.do(StepKind.CHECK_NORMALIZED, f"highest bit of {modulus.name} = 1?", y=modulus)


def prepare(code: Builder, multiplication: Multiplication) -> None:
    """Hand the modulus to the multiplier, if that keeps it."""
    if multiplication.prepares:
        code.do(StepKind.PREPARE, f"modulo {code.context.modulus.name} from here on")


def finish_with_product(
    code: Builder, multiplication: Multiplication, reduce: str = REDUCE
) -> None:
    """The last step's product becomes the result, and the operation ends."""
    if multiplication.canonical:
        code.amend(destination=Core.RESULT)
        code.finish()
    else:
        code.amend(descale=multiplication.scaled)
        code.jump(reduce)


def canonical(multiplication: Multiplication) -> list[Routine]:
    """RESULT = ACCUMULATOR mod M, where that is below 2M, 3M or 4M, as the names say; the end."""

    def routine(name: str, below: int, destination: Scratch) -> Routine:
        code = RoutineBuilder(
            name,
            Context.WHOLE,
            takes={Core.ACCUMULATOR: Bound.times(below)},
            gives={Core.RESULT: Bound.times(1)},
            clobbers=(Core.ACCUMULATOR,),
        )
        code.reduce(destination, Core.ACCUMULATOR)
        if name == REDUCE:
            code.finish()
        return code.routine(goes_on=name != REDUCE)

    return [
        *([routine(REDUCE_BELOW_4M, 4, Core.ACCUMULATOR)] if multiplication.scaled else []),
        routine(REDUCE_BELOW_3M, 3, Core.ACCUMULATOR),
        routine(REDUCE, 2, Core.RESULT),
    ]
