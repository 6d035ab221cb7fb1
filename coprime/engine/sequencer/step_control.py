"""What the states of a kind of steps work with: a record of signals, and how to proceed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import data

from coprime.program.steps import Next, Step, StepKind

from ..contract import Error
from .exponent_scanner import ExponentScanner
from .lane_model import LaneModel
from .next_rules import Conditions, Way
from .proof import Proof
from .scan_counter import ScanCounter


@dataclass(frozen=True, kw_only=True)
class MultiplierSignals:
    """Of the multiplier: it is `done`, with a product that it `discards` or that is `written`.

    Where products chain, `done` comes before their end, and until that it is `occupied`; else that
    is None.
    """

    done: Value
    discards: Value
    written: Signal
    occupied: Value | None = None


@dataclass(frozen=True, kw_only=True)
class LinearSignals:
    """Of the linear unit, and what a linear step asks of others.

    start, done : it begins; it has ended, or needs the sequencer no longer
    flags : what it has found of x and y, by name
    length_error : the error of the lengths of the step
    conflicts : it has to wait for what is under way
    adds : one is under way, though the sequencer may be at another one; None where it waits
    draws, drawn, drawn_bit : of random digits, as the sequencer's; None without them
    """

    start: Value
    done: Value
    flags: Mapping[str, Value]
    length_error: Signal
    conflicts: Value
    adds: Value | None = None
    draws: Value | None = None
    drawn: Value | None = None
    drawn_bit: Value | None = None


@dataclass(frozen=True, kw_only=True)
class OtherLaneSignals:
    """Of the other lane, as the sequencer's members; the last two only if a check is shared."""

    at_barrier: Value
    other_at_barrier: Value
    other_ends: Value
    other_at_fault: Value | None = None
    other_busy: Value | None = None


Proceed = Callable[[Module, Mapping[Next, Callable[[Conditions], Way]]], None]
"""Adds what comes after a step that is done."""
End = Callable[[Module, Error | Signal], None]
"""Adds the end of the operation, with an error."""


@dataclass(frozen=True, kw_only=True)
class StepControl:
    """The step under way, and where it goes.

    Parameters
    ----------
    step : the step
    forward, jump, next_bit : to the following step, to the target, to the exponent's next bit
    proceed, end : what comes after a step; the end with an error
    scanner : reads the exponent
    exponent_read : port A reads a digit of the exponent
    counter, proof : there or not
    multiplier, linear, other : the signals of one unit each
    """

    step: data.View
    forward: Signal
    jump: Signal
    next_bit: Signal
    proceed: Proceed
    end: End
    scanner: ExponentScanner
    exponent_read: Value
    counter: ScanCounter | None
    proof: Proof | None
    multiplier: MultiplierSignals
    linear: LinearSignals
    other: OtherLaneSignals


class KindsOfSteps(Protocol):
    """Some kinds of steps: their states, and what they do on integers."""

    first_state: str
    """The one after FETCH."""

    @property
    def kinds(self) -> frozenset[StepKind]:
        """The kinds."""
        ...

    def states(self, m: Module, control: StepControl) -> None:
        """Add the states to a state machine."""
        ...

    def run(self, lane: LaneModel, step: Step) -> None:
        """The same on integers: result, cycles, the step that comes next."""
        ...
