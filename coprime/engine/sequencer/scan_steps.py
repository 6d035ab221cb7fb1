"""Steps that read the exponent: scans, and those that depend on its bit."""

from dataclasses import dataclass

from amaranth.hdl import Module

from coprime.multipliers.multiplication import READ_LATENCY
from coprime.program.assembler import Program
from coprime.program.steps import COUNTER_BITS, Step, StepKind

from ..contract import Capabilities, Error
from .lane_model import LaneModel
from .step_control import StepControl


@dataclass(eq=False)
class ScanSteps:
    """The states of steps that start to read an exponent, and the steps on integers.

    SCAN_START, NEXT_DIGIT, READ_DIGIT, the waiting and TAKE_DIGIT bring the first digit. SCAN and
    COUNT then look at a bit each, which AWAIT_BIT waits for. Any step that moves to a bit of
    another digit passes through NEXT_DIGIT, too.
    """

    first_state = "SCAN_START"
    _FINDS = frozenset({StepKind.SCAN, StepKind.SCAN_PUBLIC})
    _STARTS = frozenset({StepKind.SCAN_UPWARDS, StepKind.SCAN_WINDOWS, StepKind.SCAN_COLUMNS})

    program: Program
    capabilities: Capabilities

    @property
    def kinds(self) -> frozenset[StepKind]:
        """The kinds that occur."""
        return self.program.kinds & (self._FINDS | self._STARTS | {StepKind.LOAD_COUNTER})

    def states(self, m: Module, control: StepControl) -> None:
        """Add the states to a state machine."""
        scanner, kind = control.scanner, control.step.kind
        with m.State("SCAN_START"):
            m.d.comb += scanner.begin.eq(1)
            m.next = "NEXT_DIGIT"
        with m.State("NEXT_DIGIT"):
            m.d.comb += scanner.seek.eq(1)
            m.next = "READ_DIGIT"
            if control.occupied is not None:
                with m.If(control.occupied):
                    m.d.comb += scanner.seek.eq(0)
                    m.next = "NEXT_DIGIT"
        with m.State("READ_DIGIT"):
            m.d.comb += control.ports.exponent_read.eq(1)
            m.next = "WAIT_DIGIT_0"
        for k in range(READ_LATENCY - 1):
            with m.State(f"WAIT_DIGIT_{k}"):
                m.next = f"WAIT_DIGIT_{k + 1}" if k < READ_LATENCY - 2 else "TAKE_DIGIT"
        starts = self.kinds & self._STARTS
        looks = self.kinds - starts
        with m.State("TAKE_DIGIT"):
            m.d.comb += scanner.take.eq(1)
            m.next = "FETCH"
            if looks:
                with m.If(kind.matches(*sorted(looks))):
                    m.next = "AWAIT_BIT"
        if looks:
            with m.State("AWAIT_BIT"):
                m.next = "SCAN" if looks & self._FINDS else "COUNT"
                if StepKind.LOAD_COUNTER in looks:
                    with m.If(kind == StepKind.LOAD_COUNTER):
                        m.next = "COUNT"
        if looks & self._FINDS:
            self._find(m, control)
        if StepKind.LOAD_COUNTER in looks:
            self._count(m, control)

    def _find(self, m: Module, control: StepControl) -> None:
        """The highest 1, two cycles for each bit."""
        bit, last_bit = control.scanner.bit, control.scanner.last_bit
        with m.State("SCAN"):
            m.d.comb += control.jump.eq(~bit & last_bit)
            m.d.comb += control.next_bit.eq(~bit & ~last_bit)
            with m.If(bit | last_bit):
                m.next = "FETCH"
            with m.Elif(control.scanner.edge_bit):
                m.next = "NEXT_DIGIT"
            with m.Else():
                m.next = "AWAIT_BIT"

    def _count(self, m: Module, control: StepControl) -> None:
        """Every bit into the counter, two cycles for each."""
        counter, last_bit = control.counter, control.scanner.last_bit
        with m.State("COUNT"):
            m.d.comb += [counter.shift.eq(1), control.next_bit.eq(~last_bit)]
            with m.If(counter.over):
                control.end(m, Error.EXPONENT_LENGTH)
            with m.Elif(last_bit):
                skips = counter.zero & (control.step.target != 0)
                m.d.comb += control.jump.eq(skips)
                m.next = "FETCH"
            with m.Elif(control.scanner.edge_bit):
                m.next = "NEXT_DIGIT"
            with m.Else():
                m.next = "AWAIT_BIT"

    def run(self, lane: LaneModel, step: Step) -> None:
        """The same on integers."""
        scanner = lane.scanner
        lane.cycles += scanner.begin(step)
        if step.kind in self._STARTS:
            if step.kind is not StepKind.SCAN_UPWARDS:
                lane.window.load()
            lane.pc.move(jump=0, forward=1)
            return
        counts = step.kind is StepKind.LOAD_COUNTER
        lane.cycles += 2
        count = scanner.bit(step)
        while not scanner.is_last and (count < 1 << COUNTER_BITS if counts else not count):
            lane.cycles += 2 + scanner.next_bit()
            count = count << 1 | scanner.bit(step)
        if not counts:
            lane.pc.move(jump=not count, forward=count)
        elif count >> COUNTER_BITS:
            lane.end(Error.EXPONENT_LENGTH)
        else:
            lane.count = count
            lane.pc.move(jump=not count and bool(step.target), forward=1)


class BranchSteps:
    """BRANCH on the scanner's bit: its states, and the step on integers: two cycles.

    The step that comes next takes as long to be fetched either way: the bit may be secret.
    """

    first_state = "BRANCH"
    kinds = frozenset({StepKind.BRANCH})

    def states(self, m: Module, control: StepControl) -> None:
        """Add the states to a state machine."""
        with m.State("BRANCH"):
            m.next = "BRANCHED"
        with m.State("BRANCHED"):
            m.d.comb += [control.memory.branches.eq(1), control.jump.eq(~control.scanner.bit)]
            m.next = "FETCH"

    def run(self, lane: LaneModel, step: Step) -> None:
        """The same on integers."""
        lane.cycles += 2
        bit = lane.scanner.bit(step)
        lane.pc.move(jump=not bit, forward=bit)
        lane.pc.there = False


class PassSteps:
    """PASS: its states, and the step on integers: two cycles, and what a next digit takes."""

    first_state = "PASS"
    kinds = frozenset({StepKind.PASS})

    def states(self, m: Module, control: StepControl) -> None:
        """Add the states to a state machine."""
        with m.State("PASS"):
            m.next = "PASSED"
        with m.State("PASSED"):
            m.next = "FETCH"
            control.proceed(m)
            with m.If(control.next_bit & control.scanner.edge_bit):
                m.next = "NEXT_DIGIT"

    def run(self, lane: LaneModel, step: Step) -> None:
        """The same on integers."""
        lane.cycles += 2
        lane.proceed(step)
