"""The rules for the next step: one expression each, for hardware and integers alike.

A condition is a signal of one bit, or 0 or 1. Only its lowest bit counts, so that `~` serves both.
"""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from coprime.program.steps import Next


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What the rules depend on; what a program has no hardware for is 0."""

    bit: Any = 0
    last_bit: Any = 0
    """The scanner's bit is the last one of the exponent."""
    window_full: Any = 0
    window_not_zero: Any = 0
    window_slides: Any = 0
    """Of the window with this bit, see `windows.ExponentWindow`."""
    last_entry: Any = 0
    last_count: Any = 0
    """The counter is 1."""
    last_loop: Any = 0
    """The loop's steps have been executed as often as the step says."""
    more_moduli: Any = 0
    """The current one is not the last of the operation's moduli."""
    command: Any = 0
    """It is one of the step's commands."""
    borrow: Any = 0
    """The last SUBTRACT has borrowed."""


class Effect(enum.Enum):
    """What a rule changes beside the address and the bit."""

    ENTER_BIT = enum.auto()
    """The bit enters the window."""
    FINISH_WINDOW = enum.auto()
    """The product by the window's entry is done."""
    NEXT_ENTRY = enum.auto()
    """The window selects the next entry of the table."""
    COUNT = enum.auto()
    """The counter decrements."""
    NEXT_MODULUS = enum.auto()
    """The current context becomes the next one."""
    CALL = enum.auto()
    """The following address is where the routine returns to."""
    RETURN = enum.auto()
    LOOP = enum.auto()
    """The loop's counter increments, or becomes 0."""


class Way(NamedTuple):
    """To the target if `jump`, else to the following step if `forward`, else the same step."""

    jump: Any = 0
    forward: Any = 0
    next_bit: Any = 0
    """The scanner moves to the next bit."""
    effect: Effect | None = None


Rule = Callable[[Any], Way]
"""Of `Conditions`, or of what has its attributes: `lane_model.LaneConditions`."""


def _plain(jump: Any, effect: Effect | None = None) -> Way:
    return Way(jump=jump, forward=1, effect=effect)


def _until(factor: Any, last_bit: Any, effect: Effect | None = None) -> Way:
    """Bit for bit until there is a factor to multiply by, or no bit."""
    more = ~factor & ~last_bit
    return Way(forward=factor, jump=~factor & last_bit, next_bit=more, effect=effect)


_FOLLOWING = _plain(0)

RULES: Mapping[Next, Rule] = {
    Next.FOLLOWING: lambda c: _FOLLOWING,
    Next.JUMP: lambda c: Way(jump=1),
    Next.EACH_MODULUS: lambda c: _plain(c.more_moduli, Effect.NEXT_MODULUS),
    Next.IF_COMMAND: lambda c: _plain(~c.command),
    Next.IF_BORROW: lambda c: _plain(~c.borrow),
    Next.CALL: lambda c: Way(jump=1, effect=Effect.CALL),
    Next.RETURN: lambda c: Way(effect=Effect.RETURN),
    Next.LOOP: lambda c: _plain(~c.last_loop, Effect.LOOP),
    Next.BARRIER: lambda c: Way(),
    Next.IF_BIT: lambda c: _until(c.bit, c.last_bit),
    Next.NEXT_BIT: lambda c: Way(
        forward=c.last_bit, jump=~c.last_bit, next_bit=~c.last_bit, effect=Effect.FINISH_WINDOW
    ),
    # The last bit always fills such a window.
    Next.IF_WINDOW: lambda c: Way(
        forward=c.window_full, next_bit=~c.window_full, effect=Effect.ENTER_BIT
    ),
    Next.IF_NONZERO_WINDOW: lambda c: _until(
        c.window_full & c.window_not_zero, c.last_bit, Effect.ENTER_BIT
    ),
    Next.IF_SLIDING_WINDOW: lambda c: _until(c.window_slides, c.last_bit, Effect.ENTER_BIT),
    Next.EACH_ENTRY: lambda c: Way(forward=c.last_entry, effect=Effect.NEXT_ENTRY),
    Next.COUNT_DOWN: lambda c: Way(forward=c.last_count, jump=~c.last_count, effect=Effect.COUNT),
}
"""A jump to address 0 ends the operation; those of a scan never go there."""
