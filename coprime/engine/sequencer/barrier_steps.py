"""BARRIER: the only synchronization of two lanes."""

from dataclasses import dataclass

from amaranth.hdl import Module

from coprime.program.steps import Next, Step, StepKind

from ..contract import Error
from .lane_model import LaneModel
from .step_control import StepControl


@dataclass(eq=False)
class BarrierSteps:
    """The states in which a lane waits, at a step or after one, and the same on integers.

    ARRIVE, of a step alone, takes a cycle, and BARRIER one from where the later lane arrives. A
    lane that does not lead goes idle at an end, and where the other lane ends while it waits. Where
    both check the result, a fault in the other lane is one in this lane, too.
    """

    first_state = "ARRIVE"
    kinds = frozenset({StepKind.BARRIER})

    shares_check: bool

    def states(self, m: Module, control: StepControl) -> None:
        """Add the states to a state machine."""
        step, ports = control.step, control.ports
        with m.State("ARRIVE"):
            m.next = "BARRIER"
        with m.State("BARRIER"):
            m.d.comb += ports.at_barrier.eq(1)
            with m.If(ports.other_at_barrier):
                jumps = step.next == Next.JUMP
                m.d.comb += control.jump.eq(jumps)
                m.next = "FETCH"
                with m.If(jumps & (step.target == 0)):
                    m.next = "IDLE"
            with m.Elif(ports.other_ends):
                m.next = "IDLE"
            if self.shares_check:
                # Nothing but a fault lets one lane wait for another one that does not come.
                with m.Elif(ports.other_at_fault | ~ports.other_busy):
                    control.end(m, Error.FAULT)

    def run(self, lane: LaneModel, step: Step) -> None:
        """The same on integers; `pass_barrier` when the other lane is there, too."""
        lane.cycles += 1
        lane.at_barrier = True

    @staticmethod
    def pass_barrier(lanes: list[LaneModel]) -> None:
        """Both lanes are at a barrier."""
        cycles = max(lane.cycles for lane in lanes) + 1
        for lane in lanes:
            lane.at_barrier, lane.cycles = False, cycles
            lane.pc.move(jump=int(lane.pc.step.next is Next.JUMP), forward=1)
