"""The slots and calls of `shake`: a message of any length goes in, an output comes out."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from random import Random

from coprime.calls.interface import Call, EngineInterface, Slot, Values
from coprime.model.keccak import FUNCTIONS, Function

FIRST_CODE = 32
"""Code of the first function; that of the others is as much more as their place in FUNCTIONS."""
MESSAGE = Slot(0, "message", "bytes to hash, as many as there are", (0,), streamed=True)
OUTPUT_BYTES = Slot(
    1, "output_bytes", "length of SHAKE's output in bytes", (4,), number_of="output"
)
OUTPUT = Slot(2, "output", "digest, or output of SHAKE", (0,), readable=True, streamed=True)


def _draw(with_length: bool) -> Callable[[str, Random], Values]:
    """A message of 0 to 399 bytes, and for SHAKE the length of an output of 1 to 400 bytes."""

    def draw(parameter_set: str, random: Random) -> Values:
        values = {MESSAGE.name: random.randbytes(random.randrange(400))}
        if with_length:
            values[OUTPUT_BYTES.name] = random.randrange(1, 401).to_bytes(4, "little")
        return values

    return draw


def _reference(name: str) -> Callable[[str, Values], Values]:
    """What hashlib says."""

    def digest(parameter_set: str, values: Values) -> Values:
        return {OUTPUT.name: hashlib.new(name, values[MESSAGE.name]).digest()}

    def output(parameter_set: str, values: Values) -> Values:
        length = int.from_bytes(values[OUTPUT_BYTES.name], "little")
        hasher = {"shake_128": hashlib.shake_128, "shake_256": hashlib.shake_256}[name]
        return {OUTPUT.name: hasher(values[MESSAGE.name]).digest(length)}

    return output if name.startswith("shake") else digest


def _call(place: int, function: Function) -> Call:
    """The call of a function."""
    fixed = function.digest_bytes
    name = function.name.replace("-", "_")
    return Call(
        code=FIRST_CODE + place,
        name=name,
        summary=f"{function.name} of a message",
        inputs=(MESSAGE.name,) if fixed else (MESSAGE.name, OUTPUT_BYTES.name),
        outputs=(OUTPUT.name,),
        draw=_draw(not fixed),
        reference=_reference(name.lower() if fixed else function.name.lower().replace("e", "e_")),
        sizes={OUTPUT.name: fixed} if fixed else {},
    )


INTERFACE = EngineInterface(
    family="shake",
    family_number=11,
    slots=(MESSAGE, OUTPUT_BYTES, OUTPUT),
    calls=tuple(_call(*each) for each in enumerate(FUNCTIONS)),
)
MASKED_INTERFACE = replace(INTERFACE, masks=True)
"""Of an engine whose sponge has two shares."""
