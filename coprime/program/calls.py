"""Which steps lead to which, and which routines call which."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from .steps import Next, Step, StepKind

_FOLLOWS, _JUMPS, _REPEATS = "follows", "jumps", "repeats"
_WAYS: Mapping[Next, tuple[str, ...]] = {
    Next.FOLLOWING: (_FOLLOWS,),
    Next.JUMP: (_JUMPS,),
    Next.IF_BIT: (_FOLLOWS, _JUMPS, _REPEATS),
    Next.NEXT_BIT: (_FOLLOWS, _JUMPS),
    Next.IF_WINDOW: (_FOLLOWS, _REPEATS),
    Next.IF_NONZERO_WINDOW: (_FOLLOWS, _JUMPS, _REPEATS),
    Next.IF_SLIDING_WINDOW: (_FOLLOWS, _JUMPS, _REPEATS),
    Next.COUNT_DOWN: (_FOLLOWS, _JUMPS),
    Next.EACH_ENTRY: (_FOLLOWS, _REPEATS),
    Next.EACH_MODULUS: (_FOLLOWS, _JUMPS),
    Next.IF_BORROW: (_FOLLOWS, _JUMPS),
    Next.IF_COMMAND: (_FOLLOWS, _JUMPS),
    Next.CALL: (_JUMPS,),
    Next.BARRIER: (_FOLLOWS,),
    Next.RETURN: (),
    Next.LOOP: (_FOLLOWS, _JUMPS),
}
_MAY_JUMP = frozenset({StepKind.SCAN, StepKind.SCAN_PUBLIC, StepKind.LOAD_COUNTER, StepKind.BRANCH})
"""Kinds that go to their target on a condition of their own."""


def ways(step: Step, address: int, target: int) -> list[int]:
    """The addresses that a step leads to within its routine; of a CALL, the routine's."""
    to = {_FOLLOWS: address + 1, _JUMPS: target, _REPEATS: address}
    found = [to[way] for way in _WAYS[step.next]]
    if step.kind in _MAY_JUMP and (target or step.kind is not StepKind.LOAD_COUNTER):
        found.append(target)
    return found


@dataclass(frozen=True)
class CallGraph:
    """The steps of a program, and the addresses of their targets."""

    steps: Sequence[Step]
    targets: Sequence[int]

    @cached_property
    def _bodies(self) -> dict[int, frozenset[int]]:
        """Those that `body` has found."""
        return {}

    def body(self, entry: int) -> frozenset[int]:
        """The addresses of a routine's own steps, those that it calls left out."""
        if entry not in self._bodies:
            self._bodies[entry] = self._body(entry)
        return self._bodies[entry]

    def _body(self, entry: int) -> frozenset[int]:
        found: set[int] = set()
        open_ends = [entry]
        while open_ends:
            address = open_ends.pop()
            if 0 < address <= len(self.steps) and address not in found:
                found.add(address)
                step, target = self.steps[address - 1], self.targets[address - 1]
                is_call = step.next is Next.CALL
                open_ends += [address + 1] if is_call else ways(step, address, target)
        return frozenset(found)

    def depth(self, entries: Iterable[int]) -> int:
        """Routines under way at once, at most. ValueError if they call each other in a circle."""
        return max((self._depth(entry, ()) for entry in set(entries)), default=0)

    def _depth(self, entry: int, under_way: tuple[int, ...]) -> int:
        if entry in under_way:
            names = [self.steps[address - 1].label for address in (*under_way, entry)]
            raise ValueError(f"routines call each other in a circle: {', '.join(names)}")
        called = {
            self.targets[address - 1]
            for address in self.body(entry)
            if self._is(address, Next.CALL)
        }
        return max((1 + self._depth(address, (*under_way, entry)) for address in called), default=0)

    def check_loops(self, entries: Iterable[int]) -> None:
        """ValueError unless each LOOP ends before another one begins: there is one counter."""
        for entry in set(entries):
            self._check_loops(entry, frozenset())

    def _check_loops(self, entry: int, within: frozenset[int]) -> None:
        body = self.body(entry)
        loops = [address for address in body if self._is(address, Next.LOOP)]
        for loop in loops:
            first, step = self.targets[loop - 1], self.steps[loop - 1]
            if step.times == 1:
                raise ValueError("a LOOP of 1 time: it is 2 or more, or as often as bits are drawn")
            inside = [address for address in loops if first <= address < loop]
            if within or inside or not first <= loop:
                raise ValueError(f"{step.note!r} is a loop in a loop, or ends before it begins")
        spans = [range(self.targets[loop - 1], loop + 1) for loop in loops]
        for address in body:
            if self._is(address, Next.CALL):
                looped = within or any(address in span for span in spans)
                self._check_loops(self.targets[address - 1], frozenset({1} if looped else ()))

    def _is(self, address: int, rule: Next) -> bool:
        return self.steps[address - 1].next is rule
