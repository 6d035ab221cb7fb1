"""What the parts of a sequencer and the kinds of steps are given of it and of each other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import data

from ..contract import Error
from .next_rules import Effect

Proceed = Callable[[Module], None]
"""Adds what comes after a step that is done."""
End = Callable[[Module, Error | Signal], None]
"""Adds the end of the operation, with an error."""


@dataclass(frozen=True, kw_only=True)
class StepControl:
    """The step under way, and where it goes.

    Parameters
    ----------
    ports : the sequencer's, by name
    scanner, counter, proof : the ports of these parts; None of one that is not there
    memory : the ports of the program memory
    fetched, step : the step that is fetched, and the one under way
    code : the operation's error, unless a check that it has not passed makes it FAULT
    length_error : the error of the lengths of the step
    begins : a command begins
    effects : what the rule for the next step changes
    jump, again, next_bit : to the target, to the same step, to the exponent's next bit; else the
        following step is next
    written : a product has been written
    linear_done : a linear step has ended, or needs the sequencer no longer
    conflicts : a linear step has to wait for what is under way
    occupied : a product or a sum is under way, though the sequencer may be at another step, so
        that no digit of an exponent can be read; None where that cannot be
    proceed, end : what comes after a step; the end with an error
    """

    ports: Any
    scanner: Any
    counter: Any
    proof: Any
    memory: Any
    fetched: data.View
    step: data.View
    code: Signal
    length_error: Signal
    begins: Signal
    effects: Mapping[Effect, Signal]
    jump: Signal
    again: Signal
    next_bit: Signal
    written: Signal
    linear_done: Value
    conflicts: Value
    occupied: Value | None
    proceed: Proceed
    end: End
