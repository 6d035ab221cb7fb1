"""Steps of the multiplier: MULTIPLY and PREPARE."""

from dataclasses import dataclass

from amaranth.hdl import Module

from coprime.program.assembler import Program
from coprime.program.operands import Context, Core, Mode
from coprime.program.steps import Next, Step, StepKind

from ..contract import Capabilities
from .lane_model import LaneModel
from .step_control import StepControl


@dataclass(eq=False)
class MultiplySteps:
    """The state in which the multiplier works, and the steps on integers.

    The multiplier starts in FETCH: a step takes a cycle more than the multiplier, or three. Where
    products chain, the next step is fetched as soon as a product has begun. If that is a product
    with the same modulus and lengths, it takes no cycle beside the multiplier's; others wait.
    """

    first_state = "MULTIPLY"

    program: Program
    capabilities: Capabilities

    @property
    def kinds(self) -> frozenset[StepKind]:
        """The kinds that occur."""
        return self.program.kinds & {StepKind.MULTIPLY, StepKind.PREPARE}

    def states(self, m: Module, control: StepControl) -> None:
        """Add the state to a state machine."""
        with m.State("MULTIPLY"), m.If(control.ports.multiplied):
            m.next = "FETCH"
            m.d.comb += control.written.eq(~control.ports.discards)
            control.proceed(m)
            with m.If(control.next_bit & control.scanner.edge_bit):
                m.next = "NEXT_DIGIT"

    def run(self, lane: LaneModel, step: Step) -> None:
        """The same on integers."""
        multiplication, digits = lane.multiplication, lane.digits(step.modulus)
        together = {"together": True} if lane.together else {}
        if step.kind is StepKind.PREPARE:
            if lane.timeline:
                lane.timeline.prepare(lane.digits(Context.WHOLE))
            else:
                lane.cycles += multiplication.prepare_cycles(digits, **together)
            modulus = lane.value(step.modulus.modulus)
            if multiplication.keeps_scaled_modulus and modulus & 1:
                lane.values[step.destination] = multiplication.scaled_modulus(modulus)
            if Next.EACH_ENTRY in self.program.nexts:
                lane.window.value = 1
            lane.scanner.columns.tooth = 0
            lane.proceed(step)
            return
        rounds = lane.rounds(step.outer)
        descale = {"descale": True} if step.descale else {}
        key = digits, rounds, step.descale
        if key not in lane.costs:
            lane.costs[key] = (
                0
                if lane.timeline
                else multiplication.cycles(digits, rounds, **together, **descale),
                multiplication.products(digits, rounds, **descale),
            )
        cycles, products = lane.costs[key]
        like = step.modulus, step.outer
        if lane.timeline:
            lane.timeline.multiply(step, digits, rounds)
        elif multiplication.chains and lane.chained == like:
            lane.cycles += multiplication.chained_cycles(digits, rounds) - 1
        else:
            lane.cycles += cycles
        lane.chained = like
        if not step.conditional or lane.scanner.bit(step):
            lane.products += products
            suppressed = (
                self.program.in_place
                and not multiplication.overlaps
                and step.y is Mode.WINDOW
                and not lane.window.value
                and not lane.scanner.columns.tooth
            )
            if not suppressed:
                x, y, modulus = map(lane.value, (step.x, step.y, step.modulus.modulus))
                product = multiplication.product(x, y, modulus, rounds, **descale)
                lane.values[lane.written(step)] = product
                if step.copy is not None:
                    lane.values[step.copy] = product
                if step.destination is Mode.ENTRY and multiplication.overlaps:
                    lane.values[Core.ACCUMULATOR] = product
        lane.proceed(step)
