"""Steps that several operations share."""

from dataclasses import replace

from coprime.exponentiators.steps import Context, Slot, Step, StepKind, Then
from coprime.multipliers.contract import Multiplication

__all__ = [
    "REDUCE",
    "REDUCE_BELOW_3M",
    "REDUCE_BELOW_4M",
    "below_modulus",
    "canonical",
    "give",
    "go",
    "leave",
    "normalized",
    "prepare",
    "reduced",
    "test_modulus",
]

REDUCE = "reduce"
"""Label: ACCUMULATOR, below 2M, becomes the canonical result."""
REDUCE_BELOW_3M = "reduce_below_3m"
REDUCE_BELOW_4M = "reduce_below_4m"


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


def normalized(own: Multiplication, *contexts: Context) -> list[Step]:
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


def prepare(own: Multiplication, context: Context) -> list[Step]:
    """Hand the context's modulus to the multiplier, if that keeps it."""
    name = Slot.modulus(context).name
    step = Step(kind=StepKind.PREPARE, modulus=context, note=f"modulo {name} from here on")
    return [step] if own.prepares else []


def leave(own: Multiplication, product: Step) -> Step:
    """The multiplication, with a product that is one of the modulus itself."""
    return replace(product, leaves=own.scaled)


def give(own: Multiplication, product: Step, reduce: str = REDUCE) -> Step:
    """The multiplication, which ends the operation with its product as the result."""
    if own.canonical:
        return go(replace(product, destination=Slot.RESULT), "")
    return go(leave(own, product), reduce)


def reduced(destination: Slot, x: Slot, context: Context, label: str = "") -> list[Step]:
    """x - M, or x where that is below 0, with the context's modulus M: the same cycles in both."""
    modulus = Slot.modulus(context)
    return [
        Step(
            kind=StepKind.SUBTRACT,
            destination=destination,
            x=x,
            y=modulus,
            modulus=context,
            note=f"S - {modulus.name}",
            label=label,
        ),
        Step(
            kind=StepKind.RESTORE,
            destination=destination,
            x=destination,
            y=modulus,
            modulus=context,
            note=f"... + {modulus.name}, where it was below 0",
        ),
    ]


def canonical(own: Multiplication) -> list[Step]:
    """RESULT = ACCUMULATOR mod M, where it is below 2M, 3M or 4M, as the labels tell."""

    def reduce(destination: Slot, label: str) -> list[Step]:
        return reduced(destination, Slot.ACCUMULATOR, Context.WHOLE, label)

    last = reduce(Slot.RESULT, REDUCE)
    last[1] = go(last[1], "")
    below_3m = reduce(Slot.ACCUMULATOR, REDUCE_BELOW_3M)
    below_4m = reduce(Slot.ACCUMULATOR, REDUCE_BELOW_4M) if own.scaled else []
    return [*below_4m, *below_3m, *last]


def go(step: Step, target: str) -> Step:
    """The step, followed by the one with that label; the empty label ends the operation."""
    return replace(step, then=Then.GO, target=target)
