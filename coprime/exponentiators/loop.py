"""The loop of an exponentiation from the left: square for each bit, and multiply after some."""

from coprime.program.operands import Context, Mode, Reference, Scratch
from coprime.program.steps import Next, Step, StepKind, scan, times

LEAVE_FORM = "C = C * 1, out of Montgomery form"  # what the step after the loop does


def _after(context: Context) -> str:
    """Label of the step after the loop."""
    return f"leave_{context.name}"


def scan_bits(context: Context) -> Step:
    """Begin at the exponent's highest 1; skip the loop if it has none."""
    note = "line 3: from the highest 1 of E"
    return scan(StepKind.SCAN, context, note, target=_after(context))


def square_and_multiply(
    context: Context,
    factor: Reference,
    rule: Next,
    *,
    square: str,
    product: str,
    leave: str = LEAVE_FORM,
) -> list[Step]:
    """C = C^2 for each bit of the exponent; C = C * factor where `rule` does not skip it.

    C is the intermediate result, as in `times`. The last step leaves Montgomery form. `square`,
    `product` and `leave` are the notes of the three steps.
    """
    again, after = f"square_{context.name}", _after(context)
    return [
        times(Scratch.ACCUMULATOR, context, square, next=rule, target=after, label=again),
        times(factor, context, product, next=Next.NEXT_BIT, target=again),
        times(Mode.ONE, context, leave, label=after),
    ]
