"""Left-to-right exponentiation with a fixed window: the same products for every exponent.

Source: COMPRESSION, Algorithm 7 (m-ary), with every window multiplied, a window of zeros too. Each
table entry is read in the same cycles, so that the cycles depend on the exponent's length
and nothing else.
"""

from coprime.program.operands import Context, Mode, Operand, Reference, Scratch
from coprime.program.steps import Next, Step, StepKind, scan, times

from .table import enter, more


def fixed_window(context: Context, bits: int) -> list[Step]:
    """ACCUMULATOR = X ^ exponent modulo the context's modulus, at most that modulus.

    A window has `bits` bits, 1, 2 or 4. X is as in `left_to_right`.
    """
    return [
        enter(context, Scratch.T_0, Mode.ONE),
        enter(context, Scratch.T_1, Operand.X),
        *more(context, 2, (1 << bits) - 1),
        enter(context, Mode.NEXT, Mode.ONE),
        *windows(context, Mode.NEXT),
    ]


def windows(context: Context, product: Reference) -> list[Step]:
    """ACCUMULATOR = T_1 ^ exponent, from 1 in Montgomery form; the last step leaves that form.

    `product` is where a product with ACCUMULATOR is written: NEXT, or ACCUMULATOR itself.
    """
    square = f"square_{context.name}"
    return [
        scan(StepKind.SCAN_WINDOWS, context, "from the highest window of E, of any"),
        times(
            Scratch.ACCUMULATOR,
            context,
            "C = C * C, once for each bit of the window",
            into=product,
            next=Next.IF_WINDOW,
            label=square,
        ),
        times(
            Mode.WINDOW,
            context,
            "C = C * T_window",
            into=product,
            next=Next.NEXT_BIT,
            target=square,
        ),
        times(Mode.ONE, context, "C = C * 1, out of Montgomery form", into=product),
    ]
