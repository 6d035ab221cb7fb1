"""What the engine does in a routine, cycle by cycle, in integers."""

from collections.abc import Iterable
from dataclasses import dataclass

from coprime.calls.interface import WORD_BYTES

from .arithmetic.large_twin import LargeTwin
from .arithmetic.twin import ArithmeticTwin
from .memory.places import BytePlace
from .memory.sample_buffer import NUMBERS, PAIRS
from .memory.twins import SampleBufferTwin, SemaphoreTwin
from .programs.entries import LatticeRoutine
from .programs.programs import EnginePrograms
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
    genuine : of ML-KEM, what the last DECIDE has found
    random : bytes that are left
    sponge_ends, arithmetic_ends : the cycle of each side's END
    """

    cycles: int
    valid: bool
    genuine: bool
    random: bytes
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


def run_routine(
    programs: EnginePrograms,
    slices: int,
    routine: LatticeRoutine,
    parameter_set: int,
    memory: list[int],
    present: Iterable[int] = (),
    random: bytes = b"",
    *,
    masked: bool = False,
    lanes: int = 1,
) -> RoutineTrace:
    """A routine that streams nothing, with the words of the byte memory, which it changes, and the
    seeds that are `present`, by their bits.

    Raises ValueError if there are fewer random bytes than the routine draws; AssertionError if the
    programs wait for each other.
    """
    joined_for = lanes if lanes > 1 and not routine.is_ml_kem else 0
    buffer = SampleBufferTwin(
        PAIRS if routine.is_ml_kem or joined_for else NUMBERS, joined_for=joined_for
    )
    sponge = SpongeSideTwin(
        slices, programs.sponge, memory, buffer, masked=masked, samples_pairs=lanes > 1
    )
    own_set = parameter_set if routine.is_ml_kem else parameter_set - programs.ml_kem_sets
    arithmetic = _arithmetic(programs, routine, memory, buffer, lanes)
    to_sponge, to_arithmetic = SemaphoreTwin(MOST_POSTS), SemaphoreTwin()
    while sponge.wiping:
        sponge.tick()
    sponge.start(routine.name, parameter_set, sum(1 << bit for bit in present))
    if not routine.hashes_only:
        arithmetic.start(routine.name, own_set)
    ends = [0, 0]
    for cycle in range(1, LIMIT):
        if not sponge.busy and not arithmetic.busy:
            valid = not (sponge.differs or arithmetic.refused)
            return RoutineTrace(cycle + 1, valid, arithmetic.genuine, random, *ends)
        hashed = sponge.tick(
            available=to_sponge.available,
            random=random[0] if random else None,
            rejected=arithmetic.rejected,
        )
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


def _arithmetic(
    programs: EnginePrograms,
    routine: LatticeRoutine,
    memory: list[int],
    buffer: SampleBufferTwin,
    lanes: int,
) -> ArithmeticTwin | LargeTwin:
    """The side of the routine's scheme."""
    if routine.is_ml_kem:
        assert programs.ml_kem
        return ArithmeticTwin(programs.ml_kem.arithmetic, memory, buffer, lanes)
    assert programs.ml_dsa
    return LargeTwin(programs.ml_dsa.arithmetic, memory, buffer, lanes)
