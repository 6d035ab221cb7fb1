"""The loop of an exponentiation from the left: square for each bit, and multiply after some."""

from coprime.program.builder import Builder
from coprime.program.operands import Core, Mode, Reference
from coprime.program.steps import Next, StepKind

LEAVE_FORM = "C = C * 1, out of Montgomery form"  # what the step after the loop does


def _after(code: Builder) -> str:
    """Label of the step after the loop."""
    return f"leave_{code.context.name}"


def scan_bits(code: Builder) -> None:
    """Begin at the exponent's highest 1; skip the loop if it has none."""
    code.scan(StepKind.SCAN, "line 3: from the highest 1 of E", _after(code))


def square_and_multiply(
    code: Builder,
    factor: Reference,
    rule: Next,
    *,
    square: str,
    product: str,
    leave: str = LEAVE_FORM,
) -> None:
    """C = C^2 for each bit of the exponent; C = C * factor where `rule` does not skip it.

    C is the intermediate result, as in `times`. The last step leaves Montgomery form. `square`,
    `product` and `leave` are the notes of the three steps.
    """
    with code.each_bit(f"square_{code.context.name}"):
        code.times(Core.ACCUMULATOR, square)
        code.then(rule, _after(code))
        code.times(factor, product)
    code.label(_after(code))
    code.times(Mode.ONE, leave)
