"""A part of the sequencer, with all that belongs to it in one class and one file.

A part says what it adds to the sequencer's ports, to a step and to the states, and how it is
connected. Optional ones are there or not, and the sequencer composes those that its program needs.
What a part does on integers is a class of the same file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Module, Value
from amaranth.lib.wiring import Out

from coprime.model.widths import bits_for
from coprime.program.assembler import Program
from coprime.program.steps import MOST_TIMES_MODULUS

from .step_control import StepControl

_SHIFT_BITS = bits_for(MOST_TIMES_MODULUS.bit_length())


class Feature:
    """What it does not need, a part leaves as it is here: nothing."""

    @staticmethod
    def fields(program: Program) -> Mapping[str, int]:
        """Widths of what it adds to the steps of a program; empty where that does not need it."""
        return {}

    def ports(self) -> Mapping[str, Any]:
        """What it adds to the sequencer's signature."""
        return {}

    def conditions(self) -> Mapping[str, Value]:
        """What it knows for the rules for the next step: fields of `Conditions`."""
        return {}

    def connect(self, m: Module, control: StepControl) -> None:
        """Place it, and connect it to the other parts."""

    def amend_error(self, m: Module, control: StepControl) -> None:
        """Change the operation's error where it would be that of the steps."""

    def at_fetch(self, m: Module, control: StepControl) -> None:
        """Add to the state FETCH, in the cycle in which a step is taken."""

    def at_idle(self, m: Module, control: StepControl) -> None:
        """Add branches to the state IDLE, after that of a command that begins."""

    def at_fault(self, m: Module, control: StepControl) -> None:
        """Add to the state FAULT, in which the memory is about to be wiped."""

    def at_end(self, m: Module, control: StepControl) -> None:
        """Add to the state END, which takes a cycle unless a part stays in it."""

    def states(self, m: Module, control: StepControl, every: "Sequence[Feature]") -> None:
        """Add states of its own, in which `every` part may have a say."""


@dataclass(frozen=True)
class ShownField(Feature):
    """A field of a step that the sequencer shows to another unit, in a port of the same name."""

    name: str
    width: int

    def ports(self) -> Mapping[str, Any]:
        """The port."""
        return {self.name: Out(self.width)}

    def connect(self, m: Module, control: StepControl) -> None:
        """Show that of the step under way."""
        m.d.comb += getattr(control.ports, self.name).eq(control.step[self.name])


def shown_fields(program: Program) -> list[ShownField]:
    """Those that a program needs.

    descale : the product under way is to be descaled
    shift : 1 more than the logarithm of how often the modulus is added; 0: not
    copies : the result is written to both banks
    """
    return [ShownField(name, width) for name, width in shown_widths(program).items()]


def shown_widths(program: Program) -> Mapping[str, int]:
    """Their widths."""
    return {
        **({"descale": 1} if program.descales else {}),
        **({"shift": _SHIFT_BITS} if program.sums else {}),
        **({"copies": 1} if program.copies else {}),
    }
