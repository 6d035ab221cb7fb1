"""Proves that no sum of a program overflows, and that its results are canonical.

Interval arithmetic over the states of `paths.py`: each number has a bound in multiples of the
modulus (`multipliers/bounds.py`), from what the host may write and what a product makes of its
factors (`Multiplication.bound`). It is executed until no bound grows any more. What differs from a
simulation: it holds for all operands, and for all lengths of the modulus.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from coprime.multipliers.bounds import Bound
from coprime.multipliers.multiplication import Multiplication

from ..assembler import Program
from ..operands import (
    OF_TABLE,
    POINTS,
    Context,
    Core,
    Entry,
    Location,
    Mode,
    Operand,
    Reference,
    Retained,
    Scratch,
    UpperHalf,
)
from ..routine import Named, Routine
from ..steps import Next, Step, StepKind
from .paths import Path, PathState

_BELOW_M = Bound.times(1)
_ZERO = Bound.times(0)
_ROUNDS = 64
"""How often a step's bounds may grow; a loop that they go on growing in is refused."""


@dataclass(frozen=True)
class _Number:
    """A number's bound, in multiples of a context's modulus; None: as many digits as that has."""

    context: Context
    bound: Bound | None


_Numbers = Mapping[Location, _Number]


@functools.cache
def _of_host(location: Location) -> _Number:
    """What the driver promises: powers and weights below their modulus. The rest is checked."""
    of_table = isinstance(location, Scratch) and location.entry is not None
    if of_table or location in (Operand.P_POWER, Operand.P):
        return _Number(Context.P, _BELOW_M)
    if location in (Operand.Q_POWER, Operand.Q, UpperHalf.M_HIGH):
        return _Number(Context.Q, _BELOW_M)
    known = location in (Operand.M_POWER, Operand.CRT_P, Operand.CRT_Q)
    return _Number(Context.WHOLE, _BELOW_M if known else None)


def check_bounds(program: Program, multiplication: Multiplication) -> None:
    """Refuse a program in which a sum may overflow, or a result be no canonical one.

    Raises ValueError that names the step and the bounds.
    """
    for command in program.entries:
        _Check(Path(program, command, unrolls=True), multiplication).run()


@dataclass
class _Check:
    """One command of a program."""

    path: Path
    multiplication: Multiplication

    def run(self) -> None:
        """Execute the steps on bounds until none of them grows."""
        first = self.path.first
        before: dict[PathState, _Numbers] = {first: {}}
        # In the order of their addresses, so that what follows a loop waits for its last bounds.
        changed, rounds = {first}, dict.fromkeys(self.path.successors, 0)
        while changed:
            state = min(changed, key=lambda state: (len(state.returns) == 0, state.address))
            changed.remove(state)
            numbers = before[state]
            if not state.address:
                continue
            rounds[state] += 1
            step = self.path.step(state)
            if rounds[state] > _ROUNDS:
                raise ValueError(f"{step.note!r} is in a loop in which a number goes on growing")
            after = self._execute(step, state, dict(numbers))
            for successor in self.path.successors[state]:
                joined = _join(before[successor], after) if successor in before else after
                if successor not in before or joined != before[successor]:
                    before[successor] = joined
                    changed.add(successor)
        for state, numbers in before.items():
            self._check_routine(state, numbers)
            if not state.address and Core.RESULT in numbers:
                result = self._bound(numbers, Core.RESULT, Context.WHOLE)
                if result is None or not result.within(_BELOW_M):
                    raise ValueError(f"the result may be greater than the modulus: {result}")

    def _check_routine(self, state: PathState, numbers: _Numbers) -> None:
        """What a routine takes, as it begins, and what it gives, as it returns, has its bounds."""
        program, current = self.path.program, self.path.moduli[state.turn]
        begins = program.routines.get(state.address)
        for name, limit in (begins.takes if begins else {}).items():
            self._check_limit(begins, name, limit, numbers, current)
        if not state.address or self.path.step(state).next is not Next.RETURN:
            return
        after = self._execute(self.path.step(state), state, dict(numbers))
        for address, routine in program.routines.items():
            if state.address in program.calls.body(address):
                for name, limit in routine.gives.items():
                    self._check_limit(routine, name, limit, after, current)

    def _check_limit(
        self,
        routine: Routine | None,
        name: Named,
        limit: Bound | None,
        numbers: _Numbers,
        current: Context,
    ) -> None:
        assert routine is not None
        context = current if routine.context is Context.CURRENT else routine.context
        if name is Mode.HALF:
            name = Core.PART if current is Context.Q else Core.ACCUMULATOR
        bound = self._bound(numbers, name, context)
        if limit is not None and (bound is None or not bound.within(limit)):
            known = bound or "not known"
            raise ValueError(
                f"{name.name} of routine {routine.name} is up to {limit}, here {known}"
            )

    def _execute(
        self, step: Step, state: PathState, numbers: dict[Location, _Number]
    ) -> dict[Location, _Number]:
        """The numbers after a step."""
        context, kind = step.modulus, step.kind
        if kind is StepKind.MULTIPLY:
            self._multiply(step, state, numbers)
        elif kind in (StepKind.CHECK_BELOW, StepKind.CHECK_REDUCED):
            assert not isinstance(step.x, Mode)
            if step.y is context.modulus:
                numbers[step.x] = _Number(context, _BELOW_M)
        elif kind is StepKind.DRAW:
            self._write(step, numbers, None)
        elif kind in (StepKind.MOVE, StepKind.MOVE_WRITTEN, StepKind.MAKE_EVEN):
            self._move(step, state, numbers)
            if isinstance(step.destination, Retained) and kind is StepKind.MOVE_WRITTEN:
                self._write(step, numbers, None)  # it may be that of the operation before
        elif kind is StepKind.RESTORE:
            difference = self._bound(numbers, step.x, context)
            restored = _restored(difference) if step.y is context.modulus else None
            self._write(step, numbers, restored)
        elif kind is StepKind.ADD_OR_SUBTRACT:
            self._write(step, numbers, self._either_sum(step, numbers))
        elif kind in (StepKind.ADD, StepKind.ADD_IF_DRAWN, StepKind.SUBTRACT):
            total = self._sum(step, numbers)
            takes = isinstance(step.x, Mode) or isinstance(step.y, Mode)
            gives = step.below and kind is StepKind.ADD and not takes
            if gives and not (total and total.within(Bound.times(step.below))):
                raise ValueError(f"{step.note!r} is not below {step.below} M: {total}")
            self._write(step, numbers, total)
        return numbers

    def _sum(self, step: Step, numbers: _Numbers) -> Bound | None:
        """x + y or x - y; a sum that may have more digits than there are is refused."""
        if step.is_zero:
            return _ZERO
        x, y = (self._above_0(numbers, operand, step.modulus, step) for operand in (step.x, step.y))
        if not step.times_modulus and (x is None or y is None):
            returned = self._above_0_again(step, numbers)
            if returned is not None:
                return returned
        known = None if x is None or y is None else (x, y)
        times = step.times_modulus
        added = Bound.times(0, scaled=times) if self.multiplication.scaled else Bound.times(times)
        if step.kind is StepKind.SUBTRACT and not times:
            return known and known[0] - known[1]
        total = known and known[0] + (_ZERO if step.kind is StepKind.SUBTRACT else known[1]) + added
        if known and total and step.kind is StepKind.ADD_IF_DRAWN:
            total = total.either(known[0])
        if known and step.kind is StepKind.SUBTRACT and known[1].plain + known[1].scaled > times:
            raise ValueError(f"{step.note!r} may be below 0: y is up to {known[1]}")
        if step.fits:
            return None
        if total is None or self._share(total, step.modulus) > 1:
            raise ValueError(f"{step.note!r} may overflow: {total or 'nothing is known of it'}")
        return total

    def _either_sum(self, step: Step, numbers: _Numbers) -> Bound | None:
        """x + y or x - y, which may be below 0, and is modulo R then."""
        x, y = (self._bound(numbers, operand, step.modulus) for operand in (step.x, step.y))
        if step.fits or x is None or y is None:
            return None
        total = (x + y).either(x - y)
        if self._share(total, step.modulus) > 1:
            raise ValueError(f"{step.note!r} may overflow: {total}")
        return total

    def _above_0_again(self, step: Step, numbers: _Numbers) -> Bound | None:
        """A sum or difference of numbers that may be below 0, if it may not."""
        x, y = (self._bound(numbers, operand, step.modulus) for operand in (step.x, step.y))
        if x is None or y is None or step.kind not in (StepKind.ADD, StepKind.SUBTRACT):
            return None
        total = x + y if step.kind is StepKind.ADD else x - y
        return None if total.is_negative or self._share(total, step.modulus) > 1 else total

    def _share(self, bound: Bound | None, context: Context) -> Fraction:
        """At most a number / R, also where c is 1."""
        shortens = context is Context.P and self.path.command in self.path.program.shortens
        return self.multiplication.share_of_r(bound, short=shortens)

    def _multiply(self, step: Step, state: PathState, numbers: dict[Location, _Number]) -> None:
        """A product; the entries of a table, each from the one before it."""
        multiplication, context = self.multiplication, step.modulus
        if step.destination is step.x and context is Context.WHOLE is not step.outer:
            raise ValueError(f"{step.note!r} is written over digits that are still to be read")
        x = self._above_0(numbers, step.x, context, step)

        def times(y: Reference) -> Bound | None:
            """x, of which nothing need be known but its digits, times y."""
            bound = self._above_0(numbers, y, step.outer, step)
            share = Fraction(0) if y is Mode.ONE else self._share(bound, step.outer)
            if step.descale and share * (1 << multiplication.scale_bits) > 1:
                raise ValueError(f"{step.note!r}: a multiplier of {bound} does not descale")
            if x is None and y is Mode.ONE and multiplication.scaled and not step.descale:
                return multiplication.usual_bound  # (X + q * c * M) / R with X and q below R
            # Of a prime c has a random multiple of 2^scale_bits added, which is not 0.
            masks = multiplication.modulus_mask_bits > 0 and context is not Context.WHOLE
            least = 1 << multiplication.scale_bits if masks else 1
            product = multiplication.bound(x, share, descale=step.descale, least=least)
            if product is not None and self._share(product, context) > 1:
                raise ValueError(f"{step.note!r} may have too many digits: {product}")
            return product

        if step.next is not Next.EACH_ENTRY:
            known = step.y is Mode.WINDOW and state.window is not None
            factor = Entry.at(state.window or 0) if known else step.y
            self._write(step, numbers, times(factor))
            return
        for k in range((state.window or 0) + 1, self.path.program.last_entry_of(context) + 1):
            factor = Entry.at(k - 1) if step.y is Mode.WINDOW else step.y
            product = times(factor)
            numbers[Entry.at(k)] = _Number(context, product and product.rounded())
            if multiplication.overlaps:  # each is the multiplicand of the next one
                numbers[Core.ACCUMULATOR] = numbers[Entry.at(k)]
                x = product and product.rounded()

    def _write(self, step: Step, numbers: dict[Location, _Number], bound: Bound | None) -> None:
        """To the step's destination; where that changes places with another, to the other."""
        to = _CHANGED.get(step.destination, step.destination)
        assert not isinstance(to, Mode), f"{step.note!r} has the destination {to}"
        number = _Number(step.modulus, bound and bound.rounded())
        if step.copy is not None:
            assert not isinstance(step.copy, Mode)
            numbers[step.copy] = number
        numbers[to] = _either(numbers[to], number) if step.conditional else number

    def _move(self, step: Step, state: PathState, numbers: dict[Location, _Number]) -> None:
        """The number as it is, in its own context, if none of its digits is lost."""
        number = _Number(step.modulus, self._bound(numbers, step.x, step.modulus, step.below))
        if not isinstance(step.x, Mode):
            if step.below and not (number.bound and number.bound.within(Bound.times(step.below))):
                raise ValueError(f"{step.note!r} is not below {step.below} M: {number.bound}")
            kept = numbers.get(step.x, _of_host(step.x))
            is_kept = step.modulus is Context.WHOLE and step.x is not Operand.M
            number = kept if is_kept else number
        if step.destination is Mode.WINDOW:
            assert state.window is not None, f"{step.note!r} selects an entry by an exponent"
            numbers[Entry.at(state.window)] = number
            return
        for reference in (step.destination, step.copy):
            assert not isinstance(reference, Mode)
            if reference is not None:
                numbers[reference] = number

    def _above_0(
        self, numbers: _Numbers, name: Reference, context: Context, step: Step
    ) -> Bound | None:
        """The bound of an operand; nothing is known of what may be below 0."""
        bound = self._bound(numbers, name, context, step.below)
        return None if bound is None or bound.is_negative else bound

    def _bound(
        self, numbers: _Numbers, name: Reference, context: Context, below: Fraction | int = 0
    ) -> Bound | None:
        """The bound of what a step names, in multiples of a context's modulus."""
        if name in OF_TABLE:
            first = 2 * POINTS if name is Mode.THIRD else 0
            possible = [Entry.at(k) for k in range(first, first + 2 * POINTS)]
            entries = [
                entry for entry in possible if entry in numbers
            ] or possible  # else the host's
            bounds = [self._bound(numbers, entry, context) for entry in entries]
            known = [bound for bound in bounds if bound is not None]
            return functools.reduce(Bound.either, known) if len(known) == len(bounds) else None
        if name is Mode.OTHER_ACCUMULATOR:
            return self.multiplication.usual_bound
        if isinstance(name, Mode):
            return Bound.times(below) if below else None
        if context is not Context.CURRENT and name is context.modulus:
            return Bound.times(1, least=1)
        number = numbers.get(name, _of_host(name))
        bound = number.bound
        if bound is None or number.context is context:
            return bound
        # The other prime is 2 or more; where products divide by R, odd. Where moduli have masks it
        # is longer than c: blinded exponents fit in their places.
        other = 3 if self.multiplication.montgomery else 2
        scaled = bound.scaled if self.multiplication.modulus_mask_bits else Fraction(0)
        if context is Context.WHOLE and bound.scaled == scaled:
            return Bound(bound.plain / other + scaled, least=min(bound.least, Fraction(0)))
        return None


_CHANGED: Mapping[Reference, Reference] = {
    Mode.NEXT: Core.ACCUMULATOR,
    Mode.NEXT_BASE: Core.BASE,
}
"""What a product that is written to SPARE is called from then on."""


def _restored(difference: Bound | None) -> Bound | None:
    """x - M, with M added to it where that is below 0."""
    if difference is None or difference.least < -1:
        return None
    if difference.least >= 0:  # the borrow is another number's
        return difference + _BELOW_M
    return Bound(max(difference.plain, Fraction(1)), difference.scaled)


def _either(number: _Number, other: _Number) -> _Number:
    if number is other:
        return number
    if number.context is not other.context or number.bound is None or other.bound is None:
        return _Number(other.context, None)
    bound = number.bound.either(other.bound)
    return number if bound is number.bound else _Number(other.context, bound)


def _join(some: _Numbers, others: _Numbers) -> dict[Location, _Number]:
    """What is known of numbers that a step has from either of two ways."""
    found = dict(some)
    for name, other in others.items():
        number = some.get(name)
        if number is not other:
            found[name] = _either(number or _of_host(name), other)
    if len(found) != len(others):
        for name, number in some.items():
            if name not in others:
                found[name] = _either(number, _of_host(name))
    return found
