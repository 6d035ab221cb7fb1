"""Building blocks of programs: streams, conditions, loops, MGF1, HMAC; and the program memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from coprime.model.padding import DIGEST_BYTES

from .instructions import Base, Check, Kind, Literal, Slot, Step, encode
from .tasks import Option

__all__ = [
    "ALL",
    "BYTE",
    "BYTES",
    "END",
    "FINISH",
    "START",
    "TO_BOTTOM",
    "assemble",
    "bound",
    "expect",
    "hash_input",
    "hash_text",
    "hashed",
    "hmac",
    "loop",
    "mask",
    "mix",
    "point",
    "read",
    "skip",
    "when",
    "write",
]

Name = TypeVar("Name")

# --- Steps --------------------------------------------------------------------------------------


def point(base: Base, offset: int = 0, *, minus_blocks: bool = False) -> Step:
    """Set the pointer."""
    return Step(Kind.SET_POINTER, base=base, literal=offset, minus_blocks=minus_blocks)


def bound(base: Base, offset: int = 0) -> Step:
    """Set the bound."""
    return Step(Kind.SET_BOUND, base=base, literal=offset)


START, FINISH, END = (Step(kind) for kind in (Kind.HASH_START, Kind.HASH_END, Kind.END))
TO_BOTTOM = bound(Base.ZERO)

# Streams begin at the pointer; all that access the buffer advance it.
BYTE = Step(Kind.STREAM, 1)
BYTES = Step(Kind.STREAM, DIGEST_BYTES)
ALL = Step(Kind.STREAM, bounded=True)


def write(step: Step, **sources: object) -> Step:
    """Store the sources in the buffer."""
    return replace(step, store=True, advance=True, **sources)  # type: ignore[arg-type]


def read(step: Step, **sinks: object) -> Step:
    """Take the buffer as a source."""
    return replace(step, buffer=True, advance=True, **sinks)  # type: ignore[arg-type]


def mix(step: Step, slot: Slot) -> Step:
    """Exclusive or of the buffer with a slot, back to the buffer."""
    return read(step, slot=slot, store=True)


def expect(step: Step, literal: int = 0, slot: Slot | None = None) -> Step:
    """Compare the buffer with a literal or a slot."""
    return read(step, literal=literal, slot=slot, check=Check.ZERO)


def hashed(step: Step, **sources: object) -> Step:
    """Hash the sources."""
    return replace(step, hash=True, **sources)  # type: ignore[arg-type]


def hash_text(text: bytes) -> list[Step]:
    """Hash constant bytes."""
    return [hashed(BYTE, literal=byte) for byte in text]


# --- Control ------------------------------------------------------------------------------------


def skip(option: Option, sense: bool, steps: Sequence[Step]) -> list[Step]:
    """Skip steps if the option equals `sense`."""
    return [Step(Kind.SKIP, option=option, sense=sense, target=len(steps)), *steps]


def when(option: Option, steps: Sequence[Step], otherwise: Sequence[Step] = ()) -> list[Step]:
    """Some steps if the option is set, others if not."""
    both = skip(option, False, steps)
    return both + (skip(option, True, otherwise) if otherwise else [])


def loop(steps: Sequence[Step], count: int = 0) -> list[Step]:
    """Repeat `count` times, or, if 0, until the pointer is at the bound."""
    back = -len(steps) - 1
    return [*steps, Step(Kind.LOOP, bounded=not count, count=count, target=back)]


# --- Functions ----------------------------------------------------------------------------------


def mask(seed: Step, to: Step, bottom: Step) -> list[Step]:
    """MGF1 (RFC 8017, B.2.1) of 32 bytes at `seed`, over the buffer from `to` down to `bottom`."""
    return loop(
        [
            *(START, seed, hashed(read(BYTES))),
            *(hashed(BYTE), hashed(BYTE), hashed(BYTE)),
            *(hashed(BYTE, literal_kind=Literal.BLOCK), FINISH),
            *(replace(to, minus_blocks=True), bottom),
            mix(replace(BYTES, bounded=True), Slot.DIGEST),
        ]
    )


def hmac(key: Slot, message: Sequence[Step]) -> list[Step]:
    """HMAC-SHA-256 (RFC 2104) with a key of 32 bytes."""

    def begin(literal: int) -> list[Step]:
        return [START, hashed(BYTES, slot=key, literal=literal), hashed(BYTES, literal=literal)]

    inner = [*begin(0x36), *message, FINISH]
    return [*inner, *begin(0x5C), hashed(BYTES, slot=Slot.DIGEST), FINISH]


def hash_input() -> list[Step]:
    """Digest of the input."""
    whole = hashed(read(ALL, input=True))
    return [START, point(Base.INPUT), TO_BOTTOM, whole, FINISH]


# --- Program memory -----------------------------------------------------------------------------


def assemble(programs: Mapping[Name, Sequence[Step]]) -> tuple[list[int], dict[Name, int]]:
    """The words of a program memory with these programs, and the address of each one's first."""
    words: list[int] = []
    entries: dict[Name, int] = {}
    for name, steps in programs.items():
        entries[name] = first = len(words)
        words += [encode(step, first + k) for k, step in enumerate(steps)]
    return words, entries
