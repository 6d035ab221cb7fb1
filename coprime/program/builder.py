"""Writes the steps of a program as its text is read: from top to bottom.

    code = Builder(Context.P)
    code.move(ACCUMULATOR, Banked.ONE_FORM)
    code.scan(StepKind.SCAN, "from the highest 1 of e", target="done")
    with code.each_bit("square"):
        code.multiply(ACCUMULATOR, ACCUMULATOR, ACCUMULATOR, "C = C * C")
        code.if_bit("done")
        code.multiply(ACCUMULATOR, ACCUMULATOR, Core.BASE, "C = C * B")
    code.label("done")

A statement that computes appends a step. What comes next is a part of the step before it, and takes
no step of its own: `call`, `jump`, `if_bit` and their like complete the last step. A label is that
of the next step. `code.p`, `code.q` and `code.whole` write to the same text, modulo P, Q or M.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from coprime.multipliers.bounds import Bound

from .operands import Context, Core, Mode, Operand, Reference
from .routine import Named, Routine
from .steps import Next, Step, StepKind


@dataclass
class _Text:
    """The steps so far, the label of the next one, and further labels of labelled steps."""

    steps: list[Step] = field(default_factory=list)
    label: str = ""
    same_as: dict[str, str] = field(default_factory=dict)


class Builder:
    """A program's text, and the modulus of the statements that are written through it.

    Parameters
    ----------
    context : the modulus

    Keywords that a statement does not name are fields of its `Step`, such as `copy` or `by_bit`.
    """

    def __init__(self, context: Context = Context.WHOLE):
        self.context = context
        self._text = _Text()
        self._fields: Mapping[str, Any] = {}

    def modulo(self, context: Context, **fields: Any) -> "Builder":
        """The same text, with statements modulo another modulus, or with these fields."""
        found = Builder(context)
        found._text, found._fields = self._text, fields
        return found

    @property
    def whole(self) -> "Builder":
        """The same text modulo M."""
        return self.modulo(Context.WHOLE)

    @property
    def p(self) -> "Builder":
        """The same text modulo P."""
        return self.modulo(Context.P)

    @property
    def q(self) -> "Builder":
        """The same text modulo Q."""
        return self.modulo(Context.Q)

    @property
    def current(self) -> "Builder":
        """The same text modulo the operation's modulus whose turn it is."""
        return self.modulo(Context.CURRENT)

    @property
    def steps(self) -> list[Step]:
        """All steps; ValueError if a label has none."""
        if self._text.label:
            raise ValueError(f"no step follows the label {self._text.label!r}")
        same = self._text.same_as
        return [
            replace(step, target=same[step.target]) if step.target in same else step
            for step in self._text.steps
        ]

    # --- Statements that are steps ---------------------------------------------------------------

    def step(self, step: Step) -> None:
        """A step as it is, with the label that waits for one."""
        self.label(step.label)
        self._text.steps.append(replace(step, label=self._text.label))
        self._text.label = ""

    def include(self, steps: Iterable[Step]) -> None:
        """Steps as they are, one after the other."""
        for step in steps:
            self.step(step)

    def do(self, kind: StepKind, note: str, **fields: Any) -> None:
        """A step of a kind; all other statements are such a one."""
        given = {**self._fields, **fields}
        self.step(Step(kind=kind, modulus=self.context, note=note, **given))

    def multiply(
        self,
        destination: Reference,
        x: Reference,
        y: Reference,
        note: str,
        *,
        outer: Context | None = None,
        **fields: Any,
    ) -> None:
        """destination = x * y / R; y is as long as the modulus, or as that of `outer`."""
        outer = self.context if outer is None else outer
        named = {"destination": destination, "x": x, "y": y, "outer": outer}
        self.do(StepKind.MULTIPLY, note, **named, **fields)

    def times(
        self, factor: Reference, note: str, into: Reference = Mode.NEXT, **fields: Any
    ) -> None:
        """C = C * factor, where C is the intermediate result: ACCUMULATOR, and `into` after it."""
        self.multiply(into, Core.ACCUMULATOR, factor, note, **fields)

    def linear(
        self,
        kind: StepKind,
        destination: Reference,
        x: Reference,
        y: Reference,
        note: str,
        **fields: Any,
    ) -> None:
        """A sum, a difference, or another linear step of two numbers."""
        self.do(kind, note, destination=destination, x=x, y=y, **fields)

    def add(
        self, destination: Reference, x: Reference, y: Reference, note: str, **fields: Any
    ) -> None:
        """destination = x + y."""
        self.linear(StepKind.ADD, destination, x, y, note, **fields)

    def subtract(
        self, destination: Reference, x: Reference, y: Reference, note: str, **fields: Any
    ) -> None:
        """destination = x - y; remembers a borrow."""
        self.linear(StepKind.SUBTRACT, destination, x, y, note, **fields)

    def restore(self, destination: Reference, x: Reference, y: Reference, note: str) -> None:
        """destination = x + y if the last subtraction borrowed, else x."""
        self.linear(StepKind.RESTORE, destination, x, y, note)

    def reduce(self, destination: Reference, x: Reference) -> None:
        """destination = x - M, or x where that is below 0: the same cycles in both."""
        modulus = self.context.modulus
        self.subtract(destination, x, modulus, f"S - {modulus.name}")
        self.restore(
            destination, destination, modulus, f"... + {modulus.name}, where it was below 0"
        )

    def move(self, destination: Reference, x: Reference, note: str = "", **fields: Any) -> None:
        """destination = x, a number of as many digits as the modulus has."""
        note = note or f"{destination.name} = {x.name}"
        self.linear(StepKind.MOVE, destination, x, Operand.M, note, **fields)

    def zero(self, destination: Reference, of: Reference | None = None) -> None:
        """destination = 0: the difference of what it is, or of another number, and itself."""
        number = destination if of is None else of
        self.subtract(destination, number, number, f"{destination.name} = 0")

    def draw(self, destination: Reference, x: Reference, note: str = "digits are drawn") -> None:
        """destination = random digits; x lies in the other bank."""
        self.linear(StepKind.DRAW, destination, x, self.context.modulus, note)

    def scan(self, kind: StepKind, note: str, target: str = "") -> None:
        """Begin with an exponent's bits; to the target, of kinds that have one."""
        self.do(kind, note, target=target)

    def rest(self, note: str = "", **fields: Any) -> None:
        """Two cycles for the sake of what comes next."""
        self.do(StepKind.PASS, note, **fields)

    def barrier(self) -> None:
        """Wait until the other lane does, too."""
        self.whole.do(StepKind.BARRIER, "both lanes, in the same cycle")

    def check_modulus(self) -> None:
        """The lengths are allowed, the modulus is above 0, and odd if it must be."""
        modulus = self.context.modulus
        self.do(StepKind.CHECK_MODULUS, f"{modulus.name} > 0, and odd for Montgomery?", y=modulus)

    def check_below(self, x: Reference, destination: Reference = Operand.X) -> None:
        """x is below the modulus."""
        modulus = self.context.modulus
        note = f"{x.name} < {modulus.name}?"
        self.linear(StepKind.CHECK_BELOW, destination, x, modulus, note)

    def amend(self, **fields: Any) -> None:
        """Other fields for the last step."""
        self._text.steps[-1] = replace(self._text.steps[-1], **fields)

    def check_positive(self, x: Reference, note: str) -> None:
        """x is above 0."""
        self.do(StepKind.CHECK_POSITIVE, note, x=x, y=x)

    def check_zero(self, x: Reference, note: str) -> None:
        """x is 0, or everything is wiped: the check of a result modulo this modulus."""
        self.linear(StepKind.CHECK_ZERO, x, x, x, note)

    # --- What comes next: parts of the last step -------------------------------------------------

    def label(self, name: str) -> None:
        """The name of the next step, which may have several."""
        waiting = self._text.label
        if waiting and name not in ("", waiting):
            self._text.same_as[name] = waiting
        self._text.label = waiting or name

    def then(self, rule: Next, target: str = "", **fields: Any) -> None:
        """A rule for what comes after the last step. ValueError if there is one already."""
        steps = self._text.steps
        if not steps or self._text.label or steps[-1].next is not Next.FOLLOWING:
            raise ValueError(f"no step leads to {target!r} by {rule.name}: add a PASS with `rest`")
        steps[-1] = replace(steps[-1], next=rule, target=target or steps[-1].target, **fields)

    def jump(self, target: str) -> None:
        """On to a label, or to a routine that does not return here."""
        self.then(Next.JUMP, target)

    def finish(self) -> None:
        """The end of the operation."""
        self.then(Next.JUMP)

    def call(self, routine: str) -> None:
        """The routine of a name, and then what follows."""
        self.then(Next.CALL, routine)

    def returns(self) -> None:
        """Back to what follows the call."""
        self.then(Next.RETURN)

    def meet(self) -> None:
        """Wait after a linear step until the other lane is at a barrier, too."""
        self.then(Next.BARRIER)

    def if_bit(self, last: str) -> None:
        """On if the exponent's bit is 1, else the same again for the next one; `last` after all."""
        self.then(Next.IF_BIT, last)

    def if_window(self) -> None:
        """The same again for each bit of a window, or of a column."""
        self.then(Next.IF_WINDOW)

    def next_bit(self, target: str) -> None:
        """To the target with the next bit, window or column; on after the last one."""
        self.then(Next.NEXT_BIT, target)

    def each_entry(self) -> None:
        """The same again for each entry of the table."""
        self.then(Next.EACH_ENTRY)

    def next_modulus(self, label: str = "") -> None:
        """On with the operation's next modulus, at the label; after the last one the first."""
        self.then(Next.EACH_MODULUS, label)
        self.label(label)

    def unless_command(self, commands: Collection[int], target: str) -> None:
        """To the target in other commands than these."""
        self.then(Next.IF_COMMAND, target, commands=frozenset(commands))

    @contextmanager
    def each_bit(self, label: str, **fields: Any) -> Iterator[None]:
        """What is within for each bit, window or column, as many as there are."""
        self.label(label)
        yield
        self.then(Next.NEXT_BIT, label, **fields)

    @contextmanager
    def each_modulus(self, label: str) -> Iterator[None]:
        """What is within for each of the operation's moduli."""
        self.label(label)
        yield
        self.then(Next.EACH_MODULUS, label)

    @contextmanager
    def loop(self, label: str, times: int = 0) -> Iterator[None]:
        """What is within so many times, or as often as a scalar is blinded with random bits."""
        self.label(label)
        yield
        self.then(Next.LOOP, label, times=times)

    @contextmanager
    def if_borrow(self, otherwise: str) -> Iterator[None]:
        """What is within if the last difference is below 0; `otherwise` is the label after it.

        Of public numbers only: the cycles depend on it.
        """
        self.then(Next.IF_BORROW, otherwise)
        yield
        self.label(otherwise)

    @contextmanager
    def if_command(self, commands: Collection[int], otherwise: str) -> Iterator[None]:
        """What is within in these commands; `otherwise` is the label after it."""
        self.unless_command(commands, otherwise)
        yield
        self.label(otherwise)


class RoutineBuilder(Builder):
    """The text of a routine, whose head is a `Routine`'s: what it takes, gives and clobbers.

    The last step returns, unless it jumps or the routine goes on to the next one.
    """

    def __init__(
        self,
        name: str,
        context: Context,
        *,
        takes: Mapping[Any, Bound | None] | Mapping[Any, Bound],
        gives: Mapping[Any, Bound],
        clobbers: Iterable[Named] = (),
    ):
        super().__init__(context)
        self._name, self._takes, self._gives = name, dict(takes.items()), dict(gives)
        self._clobbers = frozenset(clobbers)
        self.label(name)

    def routine(self, *, goes_on: bool = False) -> Routine:
        """The routine, once all of it is written."""
        if not goes_on and self.steps[-1].next is Next.FOLLOWING:
            self.returns()
        return Routine(
            name=self._name,
            steps=tuple(self.steps),
            context=self.context,
            takes=self._takes,
            gives=self._gives,
            clobbers=self._clobbers,
        )
