"""What the engine does in a call, cycle by cycle, in integers."""

from collections.abc import Mapping
from dataclasses import dataclass

from coprime.calls.interface import WORD_BYTES, Values

from .arithmetic.twin import ArithmeticTwin
from .memory.places import BytePlace, words_needed
from .memory.twins import SampleBufferTwin, SemaphoreTwin
from .programs.ml_kem import Programs
from .sponge_side.twin import SpongeSideTwin

LIMIT = 1_000_000
"""Cycles after which a call is taken to hang."""


@dataclass(frozen=True)
class CallTrace:
    """A call's result, and where its cycles went.

    Attributes
    ----------
    memory : of bytes, by words
    cycles : in which the engine worked
    genuine, refused : as of ArithmeticTwin
    sponge_ends, arithmetic_ends : the cycle of each side's END
    """

    memory: list[int]
    cycles: int
    genuine: bool
    refused: bool
    sponge_ends: int
    arithmetic_ends: int


def words_of(data: bytes) -> list[int]:
    """Words of a byte string, the first byte least significant."""
    return [
        int.from_bytes(data[k : k + WORD_BYTES], "little") for k in range(0, len(data), WORD_BYTES)
    ]


def bytes_at(memory: list[int], place: BytePlace, parameter_set: int) -> bytes:
    """The bytes of a place."""
    start = place.addresses[parameter_set]
    words = memory[start : start + place.words[parameter_set]]
    return b"".join(word.to_bytes(WORD_BYTES, "little") for word in words)


def run_call(
    programs: Programs,
    slices: int,
    entry: str,
    parameter_set: int,
    inputs: Values,
    present: Mapping[int, str],
    random: bytes,
) -> CallTrace:
    """A call with these inputs and random bytes. `present` names the seed of each bit.

    Raises ValueError if there are fewer random bytes than the call draws; AssertionError if the
    programs wait for each other.
    """
    places = programs.places
    memory = [0] * words_needed(places)
    for name, data in inputs.items():
        start = places[name].addresses[parameter_set]
        words = words_of(data)
        memory[start : start + len(words)] = words
    buffer = SampleBufferTwin()
    sponge = SpongeSideTwin(slices, programs.sponge, memory, buffer)
    arithmetic = ArithmeticTwin(programs.arithmetic, memory, buffer)
    to_sponge, to_arithmetic = SemaphoreTwin(), SemaphoreTwin()
    while sponge.wiping:
        sponge.tick()
    bits = sum((name in inputs) << bit for bit, name in present.items())
    sponge.start(entry, parameter_set, bits)
    arithmetic.start(entry, parameter_set)
    ends = [0, 0]
    for cycle in range(1, LIMIT):
        if not sponge.busy and not arithmetic.busy:
            return CallTrace(memory, cycle, arithmetic.genuine, arithmetic.refused, *ends)
        hashed = sponge.tick(available=to_sponge.available, random=random[0] if random else None)
        calculated = arithmetic.tick(available=to_arithmetic.available)
        if hashed.drew:
            random = random[1:]
        if hashed.waits:
            raise ValueError("random must have as many bytes as the call draws, and has fewer")
        if hashed.post:
            to_arithmetic.post()
        if calculated.take:
            to_arithmetic.take()
        if calculated.post:
            to_sponge.post()
        if hashed.take:
            to_sponge.take()
        if hashed.done:
            ends[0] = cycle
        if calculated.done:
            ends[1] = cycle
        for each in (buffer, to_sponge, to_arithmetic):
            each.tick()
    raise AssertionError("the programs wait for each other")
