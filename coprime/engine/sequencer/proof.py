"""Which checks a result has passed that is given only after them."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.wires import same_named
from coprime.operations.operation import among
from coprime.program.assembler import Program
from coprime.program.operands import Context

from ..contract import Capabilities, Error
from .feature import Feature
from .step_control import StepControl

_NONE, _REDUCED = 0, 1
"""Checks that have been passed, which follow each other: none; S < M, which is what the others look
at. Then comes a check modulo each prime, after that: S^E = X, or what an operation on a curve has
modulo n and p; the last one, or that there is nothing to be checked, is the proof."""


class Proof(wiring.Component, Feature):
    """Nothing but the checks, one after the other, leads to a result that may be read.

    A fault that makes the program go elsewhere may skip steps or repeat them: whichever it is, from
    CHECK_REDUCED on every step of the check has been executed, or the proof is not complete.

    Each of two lanes proves its part. Both begin with it in the same cycle, or neither does, so
    that it is of one S; complete is what both have proved.

    On integers it is `LaneModel.unchecked`.

    Members
    -------
    begins, checked : a command begins; its result is to be checked, and has passed nothing
    voids : the multiplier has seen a fault, or the memory is wiped: nothing is proved
    reduced, zero : CHECK_REDUCED, CHECK_ZERO was passed
    modulus : the context of that CHECK_ZERO
    complete : the result may be read
    began, proved : CHECK_REDUCED was passed a cycle ago; this lane's part is complete; these and
        the next ones only where it is shared
    other_began, other_proved : the other lane's

    Ports
    -----
    differs : while idle: what is read as the result is not the number that was checked
    fault : the multiplier has seen a fault of its own
    at_fault, other_at_fault : this lane, or the other, has a fault, or has seen one of the other;
        these and the next ones only where the proof is shared
    other_busy : the other lane is not idle
    began, other_began, proved, other_proved : as the members
    """

    def __init__(self, program: Program, capabilities: Capabilities):
        self.moduli = program.moduli
        """The primes modulo which the result is checked, in this order."""
        self.shared = shared = program.shares_check
        """The other lane checks it, too, modulo another prime."""
        self.commands = capabilities.with_check
        flags = ("begins", "checked", "voids", "reduced", "zero")
        super().__init__(
            {**dict.fromkeys(flags, In(1)), "modulus": In(Context), "complete": Out(1)}
            | (dict.fromkeys(("began", "proved"), Out(1)) if shared else {})
            | (dict.fromkeys(("other_began", "other_proved"), In(1)) if shared else {})
        )

    def ports(self) -> Mapping[str, Any]:
        """Those above."""
        shared = {
            **dict.fromkeys(("at_fault", "began", "proved"), Out(1)),
            **dict.fromkeys(("other_at_fault", "other_busy"), In(1)),
            **dict.fromkeys(("other_began", "other_proved"), In(1)),
        }
        return {"differs": In(1), "fault": In(1), **(shared if self.shared else {})}

    def connect(self, m: Module, control: StepControl) -> None:
        """It follows the checks."""
        m.submodules.proof = self
        ports = control.ports
        checked = among(ports.command, self.commands)
        m.d.comb += [
            self.begins.eq(control.begins),
            self.checked.eq(checked),
            self.voids.eq(ports.fault | (ports.clearing & checked)),
            self.modulus.eq(control.step.modulus),
        ]
        if self.shared:
            m.d.comb += [
                *same_named(ports, self, "began", "proved"),
                *same_named(self, ports, "other_began", "other_proved"),
            ]

    def amend_error(self, m: Module, control: StepControl) -> None:
        """Without it an operation's error is FAULT."""
        with m.If(~self.complete & (control.code == Error.NONE)):
            m.d.comb += control.ports.error.eq(Error.FAULT)

    def at_idle(self, m: Module, control: StepControl) -> None:
        """A result that differs as it is read, or a fault of the other lane, is a fault."""
        with m.Elif(control.ports.differs & (control.code == Error.NONE)):
            control.end(m, Error.FAULT)
        if self.shared:
            with m.Elif(control.ports.other_at_fault):
                control.end(m, Error.FAULT)

    def states(self, m: Module, control: StepControl, every: Sequence[Feature]) -> None:
        """FAULT wipes the memory; of two lanes both, when the other one is here, too."""
        ports = control.ports
        with m.State("FAULT"):
            if self.shared:
                m.d.comb += ports.at_fault.eq(1)
            with m.If(ports.other_at_fault) if self.shared else nullcontext():
                m.d.comb += ports.clear.eq(1)
                m.next = "WIPE"
            for feature in every:
                feature.at_fault(m, control)

    def at_end(self, m: Module, control: StepControl) -> None:
        """An operation that ends without all of its checks, by whatever fault, ends with FAULT."""
        with m.If(control.ports.error != control.code):
            m.d.comb += control.ports.done.eq(0)
            control.end(m, Error.FAULT)

    def elaborate(self, platform: object) -> Module:
        """One register."""
        m = Module()
        last = _REDUCED + len(self.moduli)
        passed = Signal(range(last + 1), init=last)
        m.d.comb += self.complete.eq(passed == last)
        if self.shared:
            m.d.comb += self.proved.eq(passed == last)
            m.d.comb += self.complete.eq(self.proved & self.other_proved)
            m.d.sync += self.began.eq(self.reduced)
        with m.If(self.reduced):
            m.d.sync += passed.eq(_REDUCED)
        if self.shared:
            with m.If(self.began ^ self.other_began):
                m.d.sync += passed.eq(_NONE)
        with m.If(self.zero):
            m.d.sync += passed.eq(_NONE)
            for before, prime in enumerate(self.moduli, _REDUCED):
                with m.If((self.modulus == prime) & (passed == before)):
                    m.d.sync += passed.eq(before + 1)
        with m.If(self.begins):
            m.d.sync += passed.eq(Mux(self.checked, _NONE, last))
        with m.If(self.voids):
            m.d.sync += passed.eq(_NONE)
        return m
