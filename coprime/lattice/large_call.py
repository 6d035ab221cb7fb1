"""What an engine of ML-DSA does in a routine, cycle by cycle, in integers."""

from dataclasses import dataclass

from coprime.model.lattice.large_arithmetic import N

from .arithmetic.large_twin import LargeTwin
from .memory.twins import SampleBufferTwin, SemaphoreTwin
from .programs.ml_dsa import LargePrograms
from .programs.ml_dsa_entries import MlDsaRoutine
from .sponge_side.twin import SpongeSideTwin

LIMIT = 100_000_000
"""Cycles after which a routine is taken to hang."""
MOST_POSTS = 15


@dataclass(frozen=True)
class RoutineTrace:
    """A routine's result, and where its cycles went.

    Attributes
    ----------
    cycles : of the routine
    valid : no check has failed
    random : bytes that are left
    sponge_ends, arithmetic_ends : the cycle of each side's END
    """

    cycles: int
    valid: bool
    random: bytes
    sponge_ends: int
    arithmetic_ends: int


def run_routine(
    programs: LargePrograms,
    slices: int,
    routine: MlDsaRoutine,
    parameter_set: int,
    memory: list[int],
    present: int = 0,
    random: bytes = b"",
) -> RoutineTrace:
    """A routine that streams nothing, with the words of the byte memory, which it changes.

    Raises ValueError if there are fewer random bytes than the routine draws; AssertionError if the
    programs wait for each other.
    """
    buffer = SampleBufferTwin(N)
    sponge = SpongeSideTwin(slices, programs.sponge, memory, buffer)
    arithmetic = LargeTwin(programs.arithmetic, memory, buffer)
    to_sponge = SemaphoreTwin(MOST_POSTS)
    while sponge.wiping:
        sponge.tick()
    sponge.start(routine.name, parameter_set, present)
    if not routine.hashes_only:
        arithmetic.start(routine.name, parameter_set)
    ends = [0, 0]
    for cycle in range(1, LIMIT):
        if not sponge.busy and not arithmetic.busy:
            valid = not (sponge.differs or arithmetic.exceeds)
            return RoutineTrace(cycle, valid, random, *ends)
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
