"""What an engine does, executed on integers: the result, the error and the exact cycles."""

from collections.abc import Mapping, Sequence

from coprime.multipliers.multiplication import Multiplication
from coprime.program.assembler import Program
from coprime.program.operands import Length, Operand, Reference
from coprime.program.steps import StepKind

from .contract import Capabilities, Command, Error
from .linear import LinearUnit
from .outcome import Prediction
from .sequencer.barrier_steps import BarrierSteps
from .sequencer.lane_model import LaneModel, StepOnIntegers
from .sequencer.step_kinds import step_kinds


def predict(
    command: Command,
    operands: Mapping[Operand, int],
    lengths: Mapping[Length, int],
    *,
    programs: Sequence[Program],
    capabilities: Capabilities,
    multiplication: Multiplication,
    depth: int,
    numbers: Mapping[Reference, int] | None = None,
) -> Prediction:
    """Execute a command's steps as the lanes' sequencers do; `lengths` are in bits.

    `depth` are the words of the memory, and `numbers` those of its places, if sums are beside
    products.

    What is drawn is random here, too, and is there when it is asked for.
    """
    # Where sums are beside products, a command ends once the linear unit is no longer occupied: a
    # cycle after the last word.
    clearing = 1 + LinearUnit.clear_cycles(depth) + (numbers is not None)
    if not command.operation.computes:
        return Prediction(None, Error.NONE, clearing, 0)
    if command not in programs[0].entries:
        return Prediction(None, Error.UNSUPPORTED, 1, 0)
    lanes = [
        LaneModel(
            command,
            operands,
            lengths,
            program,
            capabilities,
            multiplication,
            _kinds_of(program, capabilities),
            numbers,
        )
        for program in programs
        if command in program.entries
    ]
    for lane, other in zip(lanes, reversed(lanes), strict=True):
        lane.other = other
        lane.together = multiplication.interleaved and len(lanes) == 2
    leading = lanes[0]
    while leading.pc.address and not any(lane.error for lane in lanes):
        ready = [lane for lane in lanes if lane.pc.address and not lane.at_barrier]
        if len(ready) == 1:
            ready[0].execute()
        elif ready:
            # Of lanes in lockstep the leading one reads before the other changes anything; but what
            # the other one writes, after that.
            min(ready, key=lambda lane: (lane.cycles, lane.reads_other)).execute()
        else:
            BarrierSteps.pass_barrier(lanes)
    error = next((lane.error for lane in lanes if lane.error), Error.NONE)
    if not error and any(lane.unchecked for lane in lanes):
        leading.cycles += 1
        leading.end(Error.FAULT)
        error = Error.FAULT
    if error is Error.FAULT:
        leading.cycles = _faults_meet(lanes) + clearing
    if numbers is not None and leading.timeline:
        leading.cycles = max(leading.cycles, leading.timeline.idle)
    result = None if error else leading.result
    products = sum(lane.products for lane in lanes)
    return Prediction(result, error, leading.cycles + 1, products)


def _kinds_of(program: Program, capabilities: Capabilities) -> Mapping[StepKind, StepOnIntegers]:
    every = step_kinds(program, capabilities)
    return {kind: kinds for kinds in every for kind in kinds.kinds}


def _faults_meet(lanes: Sequence[LaneModel]) -> int:
    """Cycles until all lanes are where they are wiped: a cycle more for one without a fault of its
    own, which goes on to a barrier, or is idle."""
    for lane in lanes:
        while lane.pc.address and not lane.at_barrier:
            lane.execute()
    return max(lane.cycles for lane in lanes) + any(not lane.error for lane in lanes)
