"""A routine: steps that several places of a program lead to, and what it takes, gives and clobbers.

Source: calling conventions, Aho, Lam, Sethi, Ullman, Compilers (2006), 7.2. What differs: each
declaration is checked on every way through every program: `declarations.py` and `bounds.py` in
`numbers/`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from coprime.multipliers.bounds import Bound

from .operands import Context, Location, Mode
from .steps import Next, Step

Named = Location | Mode
"""A number that a routine declares: WINDOW is the table, HALF what it is in the step."""


@dataclass(frozen=True, kw_only=True)
class Routine:
    """Steps of a name. The last one jumps, returns, or goes on to the next routine of a list.

    Parameters
    ----------
    name : label of the first step
    steps : at least one; the others may have labels, too
    context : the modulus whose multiples the bounds are
    takes : the numbers that it reads before it writes them; constants of the moduli and the
        exponent need not be declared. None: a number of as many digits as the modulus has
    gives : its results, and their bounds as it returns
    clobbers : what else it writes
    """

    name: str
    steps: tuple[Step, ...]
    context: Context
    takes: Mapping[Named, Bound | None]
    gives: Mapping[Named, Bound]
    clobbers: frozenset[Named] = field(default_factory=frozenset)

    @property
    def labels(self) -> frozenset[str]:
        """Those of its steps."""
        return frozenset(step.label for step in self.steps) - {""}

    @property
    def goes_on(self) -> bool:
        """Whether the next routine of the list may follow its last step."""
        return self.steps[-1].next not in (Next.JUMP, Next.RETURN)


def reached(operations: Iterable[Sequence[Step]], routines: Sequence[Routine]) -> list[Routine]:
    """Those of the routines that steps of operations lead to, in their order."""
    found: set[str] = set()
    open_ends: list[Sequence[Step]] = list(operations)
    while open_ends:
        targets = {step.target for step in open_ends.pop()}
        for place, routine in enumerate(routines):
            ones = [routine, *routines[place + 1 : place + 2]] if routine.goes_on else [routine]
            if routine.labels & targets or routine.name in found:
                fresh = [each for each in ones if each.name not in found]
                found |= {each.name for each in fresh}
                open_ends += [each.steps for each in fresh]
    return [routine for routine in routines if routine.name in found]
