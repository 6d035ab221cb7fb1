"""BARRIER: the only synchronization of two lanes."""

from typing import TYPE_CHECKING

from amaranth.hdl import Module

from coprime.program.steps import Next, Step, StepKind

from ..contract import Error

if TYPE_CHECKING:
    from ..prediction import LaneModel
    from .control import Sequencer

__all__ = ["BarrierSteps"]


class BarrierSteps:
    """The state in which a lane waits, at a step or after one, and the same on integers.

    It takes one cycle from where the later lane arrives. A lane that does not lead goes idle at an
    end, and where the other lane ends while it waits. Where both check the result, a fault in the
    other lane is one in this lane, too.
    """

    first_state = "BARRIER"
    kinds = frozenset({StepKind.BARRIER})

    def states(self, m: Module, control: "Sequencer") -> None:
        """Add the state to a state machine."""
        step = control.step
        with m.State("BARRIER"):
            m.d.comb += control.at_barrier.eq(1)
            with m.If(control.other_at_barrier):
                jumps = step.next == Next.JUMP
                m.d.comb += [control.jump.eq(jumps), control.forward.eq(1)]
                m.next = "FETCH"
                with m.If(jumps & (step.target == 0)):
                    m.next = "IDLE"
            with m.Elif(control.other_ends):
                m.next = "IDLE"
            if control.program.shares_check:
                # Nothing but a fault lets one lane wait for another one that does not come.
                with m.Elif(control.other_at_fault | ~control.other_busy):
                    control.end(m, Error.FAULT)

    def run(self, lane: "LaneModel", step: Step) -> None:
        """The same on integers; `pass_barrier` when the other lane is there, too."""
        lane.at_barrier = True

    @staticmethod
    def pass_barrier(lanes: list["LaneModel"]) -> None:
        """Both lanes are at a barrier."""
        cycles = max(lane.cycles for lane in lanes) + 1
        for lane in lanes:
            lane.at_barrier, lane.cycles = False, cycles
            lane.pc.move(jump=int(lane.pc.step.next is Next.JUMP), forward=1)
