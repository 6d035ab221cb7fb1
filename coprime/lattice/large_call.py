"""What an engine of ML-DSA does in a call, cycle by cycle, in integers."""

from dataclasses import dataclass

from coprime.calls.interface import Values

from .arithmetic.large_twin import LargeTwin
from .memory.places import words_needed
from .memory.twins import SampleBufferTwin, SemaphoreTwin
from .programs.ml_dsa import LargePrograms
from .sponge_side.twin import SpongeSideTwin
from .twin import words_of

LIMIT = 20_000_000
"""Cycles after which a call is taken to hang."""
MOST_POSTS = 15


@dataclass(frozen=True)
class LargeTrace:
    """A call's result, and where its cycles went.

    Attributes
    ----------
    memory : of bytes, by words
    cycles : in which the engine worked
    valid : no check has failed
    sponge_ends, arithmetic_ends : the cycle of each side's END
    """

    memory: list[int]
    cycles: int
    valid: bool
    sponge_ends: int
    arithmetic_ends: int


def run_large_call(
    programs: LargePrograms,
    slices: int,
    entry: str,
    parameter_set: int,
    inputs: Values,
    present: int = 0,
    random: bytes = b"",
) -> LargeTrace:
    """A call with these inputs and random bytes.

    Raises ValueError if there are fewer random bytes than the call draws; AssertionError if the
    programs wait for each other.
    """
    places = programs.places
    memory = [0] * words_needed(places)
    for name, data in inputs.items():
        start = places[name].addresses[parameter_set]
        words = words_of(data)
        memory[start : start + len(words)] = words
    buffer = SampleBufferTwin(256)
    sponge = SpongeSideTwin(slices, programs.sponge, memory, buffer)
    arithmetic = LargeTwin(programs.arithmetic, memory, buffer)
    to_sponge = SemaphoreTwin(MOST_POSTS)
    while sponge.wiping:
        sponge.tick()
    sponge.start(entry, parameter_set, present)
    arithmetic.start(entry, parameter_set)
    ends = [0, 0]
    for cycle in range(1, LIMIT):
        if not sponge.busy and not arithmetic.busy:
            valid = not (sponge.differs or arithmetic.exceeds)
            return LargeTrace(memory, cycle, valid, *ends)
        hashed = sponge.tick(
            available=to_sponge.available,
            random=random[0] if random else None,
            rejected=arithmetic.rejected,
        )
        calculated = arithmetic.tick()
        if hashed.drew:
            random = random[1:]
        if hashed.waits:
            raise ValueError("random must have as many bytes as the call draws, and has fewer")
        if calculated.post:
            to_sponge.post()
        if hashed.take:
            to_sponge.take()
        if hashed.done:
            ends[0] = cycle
        if calculated.done:
            ends[1] = cycle
        buffer.tick()
        to_sponge.tick()
    raise AssertionError("the programs wait for each other")
