"""Single steps, for tests that compose programs at random or wrong ones; else `Builder` does it."""

from coprime.operations.banked import prepare_banked
from coprime.program.builder import Builder
from coprime.program.operands import Context, Core, Mode, Operand
from coprime.program.steps import Step, StepKind

PASS = Step(kind=StepKind.PASS, note="")


def linear(kind, destination, x, y, modulus, note, **fields):
    return Step(kind=kind, destination=destination, x=x, y=y, modulus=modulus, note=note, **fields)


def multiply(destination, x, y, modulus, note, **fields):
    return linear(StepKind.MULTIPLY, destination, x, y, modulus, note, outer=modulus, **fields)


def times(factor, modulus, note, into=Mode.NEXT):
    return multiply(into, Core.ACCUMULATOR, factor, modulus, note)


def move(destination, x, modulus=Context.WHOLE, **fields):
    note = f"{destination.name} = {x.name}"
    return linear(StepKind.MOVE, destination, x, Operand.M, modulus, note, **fields)


def prepare(multiplication):
    """What hands M to the multiplier, if that keeps it."""
    code = Builder()
    prepare_banked(code, multiplication)
    return code.steps
