"""Steps that several operations share."""

from dataclasses import replace

from coprime.exponentiators.steps import Context, Slot, Step, StepKind, Then

__all__ = ["REDUCE", "REDUCE_BELOW_3M", "below_modulus", "canonical", "go", "test_modulus"]

REDUCE = "reduce"
"""Label: ACCUMULATOR, below 2M, becomes the canonical result."""
REDUCE_BELOW_3M = "reduce_below_3m"


def test_modulus(context: Context) -> Step:
    """The context's lengths are allowed, its modulus is odd and above 0."""
    return Step(
        kind=StepKind.TEST,
        y=Slot.modulus(context),
        modulus=context,
        note=f"{Slot.modulus(context).name} > 0 and odd?",
    )


def below_modulus(operand: Slot) -> Step:
    """The operand is below M."""
    return Step(kind=StepKind.BELOW, x=operand, y=Slot.M, note=f"{operand.name} < M?")


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
