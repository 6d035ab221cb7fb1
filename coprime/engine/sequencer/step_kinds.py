"""The kinds of steps: their states, and the same on integers."""

from typing import Protocol

from amaranth.hdl import Module

from coprime.program.assembler import Program
from coprime.program.steps import Step, StepKind

from ..contract import Capabilities
from .barrier_steps import BarrierSteps
from .lane_model import LaneModel
from .linear_steps import LinearSteps
from .multiply_steps import MultiplySteps
from .scan_steps import BranchSteps, PassSteps, ScanSteps
from .step_control import StepControl


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


def step_kinds(program: Program, capabilities: Capabilities) -> list[KindsOfSteps]:
    """All kinds of steps of a program; the linear steps are the last ones."""
    kinds: list[KindsOfSteps] = [
        MultiplySteps(program, capabilities),
        ScanSteps(program, capabilities),
        BarrierSteps(program.shares_check),
        BranchSteps(),
        PassSteps(),
        LinearSteps(program, capabilities),
    ]
    # A linear step whose rule is BARRIER goes on to the state of those steps.
    occurring = program.kinds | ({StepKind.BARRIER} if program.meets else frozenset())
    return [each for each in kinds if each.kinds & occurring]
