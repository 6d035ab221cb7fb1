"""The current context: one list of steps for each of an operation's moduli."""

from collections.abc import Mapping, Sequence

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from coprime.operations.operation import among
from coprime.program.assembler import Program
from coprime.program.numbers.paths import resolved
from coprime.program.operands import OF_Q, Context, Core, Mode, Reference
from coprime.program.steps import Step

from .feature import Feature
from .next_rules import Effect
from .step_control import StepControl


class CurrentContext(wiring.Component, Feature):
    """Resolves CURRENT and HALF in a fetched step.

    In the commands that have moduli of their own CURRENT is one of these after the other: one
    prime, or both; HALF with two only.

    Parameters
    ----------
    program : Program
    layout : of a step
    numbers : mapping of Reference to int
        ValueError unless Q's operands have P's numbers with a lowest bit of 1.

    Members
    -------
    begins, has_moduli : a command begins; the context is the first of its moduli, or else WHOLE
    advance : on to the next modulus, from the last to the first
    more : it is not the last one
    fetched, resolved : the step without and with what depends on the context
    """

    def __init__(
        self,
        program: Program,
        layout: data.StructLayout,
        numbers: Mapping[Reference, int],
    ):
        self.moduli = program.moduli or (Context.WHOLE,)
        self.commands = program.with_moduli
        self.numbers = numbers
        self.of_p = [numbers[p] for p in OF_Q if p in numbers]
        if any(numbers[p] | 1 != numbers[q] for p, q in OF_Q.items() if p in numbers):
            raise ValueError("numbers of Q's operands must be those of P's with a lowest bit of 1")
        super().__init__(
            {
                "begins": In(1),
                "has_moduli": In(1),
                "advance": In(1),
                "more": Out(1),
                "fetched": In(layout),
                "resolved": Out(layout),
            }
        )

    def conditions(self) -> Mapping[str, Value]:
        """The end of an EACH_MODULUS."""
        return {"more_moduli": self.more}

    def connect(self, m: Module, control: StepControl) -> None:
        """It resolves what is fetched, and a rule EACH_MODULUS advances it."""
        m.submodules.current_context = self
        m.d.comb += [
            self.begins.eq(control.begins),
            self.has_moduli.eq(among(control.ports.command, self.commands)),
            self.advance.eq(control.effects[Effect.NEXT_MODULUS]),
            self.fetched.eq(control.memory.fetched),
        ]

    def elaborate(self, platform: object) -> Module:
        """A register, and what is replaced."""
        m = Module()
        numbers, fetched, resolved = self.numbers, self.fetched, self.resolved
        current = Signal(Context)
        has_current = fetched.modulus == Context.CURRENT
        is_q = current == Context.Q
        m.d.comb += [
            resolved.eq(fetched),
            self.more.eq((current == self.moduli[0]) if len(self.moduli) > 1 else 0),
        ]
        for named, operand in ((fetched.x, resolved.x), (fetched.y, resolved.y)):
            with m.If(has_current & is_q & named.matches(*self.of_p)):
                m.d.comb += operand[0].eq(1)
        if len(self.moduli) > 1:
            with m.If(fetched.destination == numbers[Mode.HALF]):
                half = Mux(is_q, numbers[Core.PART], numbers[Core.ACCUMULATOR])
                m.d.comb += resolved.destination.eq(half)
        with m.If(has_current):
            m.d.comb += resolved.modulus.eq(current)
        with m.If(fetched.outer == Context.CURRENT):
            m.d.comb += resolved.outer.eq(current)
        with m.If(self.begins):
            m.d.sync += current.eq(Mux(self.has_moduli, self.moduli[0], Context.WHOLE))
        if len(self.moduli) > 1:
            with m.If(self.advance):
                m.d.sync += current.eq(Cat(current[1], current[0]))  # P <-> Q
        return m


class CurrentContextModel:
    """The same on steps."""

    def __init__(self, moduli: Sequence[Context]):
        self.moduli = moduli
        self.current = moduli[0]
        self._resolved: dict[tuple[int, Context], Step] = {}
        """By the step's identity: a loop's steps are executed hundreds of times."""

    @property
    def more(self) -> int:
        """Whether it is not the last one."""
        return int(self.current is not self.moduli[-1])

    def advance(self) -> None:
        """On to the next modulus, from the last to the first."""
        following = self.moduli.index(self.current) + 1
        self.current = self.moduli[following % len(self.moduli)]

    def resolved(self, step: Step) -> Step:
        """The step with what depends on the context."""
        key = id(step), self.current
        found = self._resolved.get(key)
        if found is None:
            found = self._resolved[key] = resolved(step, self.current)
        return found
