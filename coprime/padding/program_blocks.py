"""Building blocks of programs: streams, conditions, loops, MGF1, HMAC; and the program memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from coprime.model.padding_formats import DIGEST_BYTES

from .instructions import Base, ByteStep, ByteStepKind, Check, Literal, PaddingSlot, encode
from .tasks import Option

Name = TypeVar("Name")

# --- Steps --------------------------------------------------------------------------------------


def point(base: Base, offset: int = 0, *, minus_blocks: bool = False) -> ByteStep:
    """Set the pointer."""
    return ByteStep(ByteStepKind.SET_POINTER, base=base, literal=offset, minus_blocks=minus_blocks)


def bound(base: Base, offset: int = 0) -> ByteStep:
    """Set the bound."""
    return ByteStep(ByteStepKind.SET_BOUND, base=base, literal=offset)


START, FINISH, END = (
    ByteStep(kind) for kind in (ByteStepKind.HASH_START, ByteStepKind.HASH_END, ByteStepKind.END)
)
TO_BOTTOM = bound(Base.ZERO)

# Streams begin at the pointer; all that access the buffer advance it.
BYTE = ByteStep(ByteStepKind.STREAM, 1)
BYTES = ByteStep(ByteStepKind.STREAM, DIGEST_BYTES)
ALL = ByteStep(ByteStepKind.STREAM, bounded=True)


def write(step: ByteStep, **sources: object) -> ByteStep:
    """Store the sources in the buffer."""
    return replace(step, store=True, advance=True, **sources)  # type: ignore[arg-type]


def read(step: ByteStep, **sinks: object) -> ByteStep:
    """Take the buffer as a source."""
    return replace(step, buffer=True, advance=True, **sinks)  # type: ignore[arg-type]


def mix(step: ByteStep, slot: PaddingSlot) -> ByteStep:
    """Exclusive or of the buffer with a slot, back to the buffer."""
    return read(step, slot=slot, store=True)


def expect(step: ByteStep, literal: int = 0, slot: PaddingSlot | None = None) -> ByteStep:
    """Compare the buffer with a literal or a slot."""
    return read(step, literal=literal, slot=slot, check=Check.ZERO)


def hashed(step: ByteStep, **sources: object) -> ByteStep:
    """Hash the sources."""
    return replace(step, hash=True, **sources)  # type: ignore[arg-type]


def hash_text(text: bytes) -> list[ByteStep]:
    """Hash constant bytes."""
    return [hashed(BYTE, literal=byte) for byte in text]


# --- Control ------------------------------------------------------------------------------------


def skip(option: Option, sense: bool, steps: Sequence[ByteStep]) -> list[ByteStep]:
    """Skip steps if the option equals `sense`."""
    return [ByteStep(ByteStepKind.SKIP, option=option, sense=sense, target=len(steps)), *steps]


def when(
    option: Option, steps: Sequence[ByteStep], otherwise: Sequence[ByteStep] = ()
) -> list[ByteStep]:
    """Some steps if the option is set, others if not."""
    both = skip(option, False, steps)
    return both + (skip(option, True, otherwise) if otherwise else [])


def loop(steps: Sequence[ByteStep], count: int = 0) -> list[ByteStep]:
    """Repeat `count` times, or, if 0, until the pointer is at the bound."""
    back = -len(steps) - 1
    return [*steps, ByteStep(ByteStepKind.LOOP, bounded=not count, count=count, target=back)]


# --- Functions ----------------------------------------------------------------------------------


def mask(seed: ByteStep, to: ByteStep, bottom: ByteStep) -> list[ByteStep]:
    """MGF1 (RFC 8017, B.2.1) of 32 bytes at `seed`, over the buffer from `to` down to `bottom`."""
    return loop(
        [
            *(START, seed, hashed(read(BYTES))),
            *(hashed(BYTE), hashed(BYTE), hashed(BYTE)),
            *(hashed(BYTE, literal_kind=Literal.BLOCK), FINISH),
            *(replace(to, minus_blocks=True), bottom),
            mix(replace(BYTES, bounded=True), PaddingSlot.DIGEST),
        ]
    )


def hmac(key: PaddingSlot, message: Sequence[ByteStep]) -> list[ByteStep]:
    """HMAC-SHA-256 (RFC 2104) with a key of 32 bytes."""

    def begin(literal: int) -> list[ByteStep]:
        return [START, hashed(BYTES, slot=key, literal=literal), hashed(BYTES, literal=literal)]

    inner = [*begin(0x36), *message, FINISH]
    return [*inner, *begin(0x5C), hashed(BYTES, slot=PaddingSlot.DIGEST), FINISH]


def hash_input() -> list[ByteStep]:
    """Digest of the input."""
    whole = hashed(read(ALL, input=True))
    return [START, point(Base.INPUT), TO_BOTTOM, whole, FINISH]


# --- Program memory -----------------------------------------------------------------------------


def assemble(programs: Mapping[Name, Sequence[ByteStep]]) -> tuple[list[int], dict[Name, int]]:
    """The words of a program memory with these programs, and the address of each one's first."""
    words: list[int] = []
    entries: dict[Name, int] = {}
    for name, steps in programs.items():
        entries[name] = first = len(words)
        words += [encode(step, first + k) for k, step in enumerate(steps)]
    return words, entries
