"""The cocotb example of engines of byte strings: each call once."""

from collections.abc import Sequence

from coprime.calls.interface import CallDesign
from coprime.engine.capabilities import Error

from ..description import Example
from .call_checks import CallChecks, CallVector, Load

_USED = frozenset(
    {
        *("IDENTIFICATION", "STATUS", "COMMAND", "ERROR", "INTERRUPT_ENABLE", "INTERRUPT_STATUS"),
        *("PARAMETER_SET", "SLOT", "SLOT_LENGTH", "DATA_WINDOW"),
    }
)


def call_example(design: CallDesign) -> Example:
    """The values of the example."""
    checks = CallChecks(design)
    vectors = [checks.first(call) for call in design.interface.calls]
    return Example(
        template="call_example.py.j2",
        used=_USED,
        cycles=checks.most_cycles,
        values={
            "vectors": [vector for vector in vectors if vector.error is Error.NONE],
            "cycles_of": lambda vector: vector.cycles,
            "call_job": _job,
        },
    )


def _job(vector: CallVector) -> str:
    """What the example's `call` takes, as Python has it."""

    def listed(name: str, loads: Sequence[Load]) -> str:
        rows = "".join(
            f"        ({slot.number}, {data.hex()!r}),  # {slot.name}\n" for slot, data in loads
        )
        return f'    "{name}": [\n{rows}    ],\n' if rows else f'    "{name}": [],\n'

    outputs = vector.outputs
    return (
        "{\n"
        f'    "call": {vector.call.code},\n'
        f'    "set": {vector.number},\n'
        + listed("inputs", vector.loads)
        + listed("streams", vector.streams)
        + listed("given", [output for output in outputs if output[0].streamed])
        + listed("outputs", [output for output in outputs if not output[0].streamed])
        + "}"
    )
