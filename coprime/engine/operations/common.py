"""Steps that several operations share."""

from dataclasses import dataclass, replace

from coprime.exponentiators.steps import Context, Slot, Step, StepKind, Then

__all__ = [
    "REDUCE",
    "REDUCE_BELOW_3M",
    "Arithmetic",
    "below_modulus",
    "canonical",
    "give",
    "go",
    "normalized",
    "prepare",
    "test_modulus",
]

REDUCE = "reduce"
"""Label: ACCUMULATOR, below 2M, becomes the canonical result."""
REDUCE_BELOW_3M = "reduce_below_3m"


@dataclass(frozen=True, kw_only=True)
class Arithmetic:
    """What the operations need to know of a family's multiplication.

    Parameters
    ----------
    montgomery : it divides by R; else R is 1
    canonical : its results are below the modulus; else below twice of it
    prepares : it keeps the modulus, which is handed to it before
    aligned : it wants a modulus whose highest bit is 1
    """

    montgomery: bool
    canonical: bool
    prepares: bool
    aligned: bool


def test_modulus(context: Context) -> Step:
    """The context's lengths are allowed, its modulus is above 0, and odd if it must be."""
    return Step(
        kind=StepKind.TEST,
        y=Slot.modulus(context),
        modulus=context,
        note=f"{Slot.modulus(context).name} > 0, and odd for Montgomery?",
    )


def below_modulus(operand: Slot) -> Step:
    """The operand is below M."""
    return Step(kind=StepKind.BELOW, x=operand, y=Slot.M, note=f"{operand.name} < M?")


def normalized(own: Arithmetic, *contexts: Context) -> list[Step]:
    """Each context's modulus is as long as its length tells, where that matters."""
    return [
        Step(
            kind=StepKind.NORMALIZED,
            y=Slot.modulus(context),
            modulus=context,
            note=f"highest bit of {Slot.modulus(context).name} = 1?",
        )
        for context in contexts
        if own.aligned
    ]


def prepare(own: Arithmetic, context: Context) -> list[Step]:
    """Hand the context's modulus to the multiplier, if that keeps it."""
    name = Slot.modulus(context).name
    step = Step(kind=StepKind.PREPARE, modulus=context, note=f"modulo {name} from here on")
    return [step] if own.prepares else []


def give(own: Arithmetic, product: Step) -> Step:
    """The multiplication, which ends the operation with its product as the result."""
    if own.canonical:
        return go(replace(product, destination=Slot.RESULT), "")
    return go(product, REDUCE)


def canonical() -> list[Step]:
    """RESULT = ACCUMULATOR mod M; ACCUMULATOR < 3M, from the label REDUCE on < 2M.

    Subtract M and put it back where that went below zero: the same cycles in both cases.
    """

    def reduce(destination: Slot) -> list[Step]:
        return [
            Step(
                kind=StepKind.SUBTRACT,
                destination=destination,
                x=Slot.ACCUMULATOR,
                y=Slot.M,
                note="S - M",
            ),
            Step(
                kind=StepKind.RESTORE,
                destination=destination,
                x=destination,
                y=Slot.M,
                note="... + M, where it was below 0",
            ),
        ]

    first, last = reduce(Slot.ACCUMULATOR), reduce(Slot.RESULT)
    first[0] = replace(first[0], label=REDUCE_BELOW_3M)
    last[0] = replace(last[0], label=REDUCE)
    last[1] = go(last[1], "")
    return first + last


def go(step: Step, target: str) -> Step:
    """The step, followed by the one with that label; the empty label ends the operation."""
    return replace(step, then=Then.GO, target=target)
