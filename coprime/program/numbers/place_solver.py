"""Places of numbers in two banks, by a solver of propositional logic.

A variable says that a number begins in a block. Two numbers that must not share a block exclude
each other there, in each pair of blocks in which they would.
"""

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence

from ..operands import OF_Q, SWAPPED_BY_BIT, Location, Mode
from .allocation import Allocation, BlockPlace, by_name
from .liveness import Conflicts, Piece

_LEFT = 0
_TRIES = 2000
"""Conflicts that the solver may find until it gives up to keep a pair apart."""
_OF_Q = {location: other for location, other in OF_Q.items() if not isinstance(location, Mode)}


class PlaceSolver:
    """All conditions that places have, and the places.

    Parameters
    ----------
    conflicts : between pieces of numbers
    domains : by number the places that it may have
    blocks : of a bank
    """

    def __init__(
        self,
        conflicts: Conflicts,
        domains: Mapping[Location, Sequence[BlockPlace]],
        blocks: int,
    ):
        from pysat.solvers import Glucose4  # many designs need no solver, and its import takes long

        self.conflicts, self.domains, self.blocks = conflicts, domains, blocks
        self._solver = Glucose4()
        self._fresh = itertools.count(1)
        self._variables = {
            (location, place): next(self._fresh)
            for location, places in domains.items()
            for place in places
        }
        self._parts: dict[Location, list[int]] = {}
        for location, part in sorted(conflicts.used, key=lambda piece: (piece[0].name, piece[1])):
            self._parts.setdefault(location, []).append(part)
        for location, places in domains.items():
            self._exactly_one([self._variables[location, place] for place in places])
        for location, other in itertools.combinations(domains, 2):
            self._keep_apart(location, other)
        for location, other in SWAPPED_BY_BIT.items():
            self._keep_at(location, other, lambda place: BlockPlace(place.bank, place.block ^ 2))
        for location, other in _OF_Q.items():
            self._keep_at(location, other, lambda place: BlockPlace(place.bank, place.block + 1))

    def keep_locked(self, locked: Collection[Location]) -> None:
        """Nothing else has a block of these in the left bank."""
        for location, other in itertools.combinations(self.domains, 2):
            if location in locked or other in locked:
                for place, beside, _ in self._meetings(location, other):
                    if place.bank == _LEFT:
                        self._exclude(location, place, other, beside)

    def keep_together(self, pairs: Collection[tuple[Location, Location]]) -> None:
        """Both of a pair have the same block, of different banks."""
        for location, other in pairs:
            for place in self.domains.get(location, ()):
                beside = [each for each in self.domains[other] if each.block == place.block]
                self._imply(location, place, other, beside)

    def leave(
        self,
        count: int,
        among: Collection[BlockPlace],
        numbered: Callable[[Location, BlockPlace], Collection[BlockPlace]],
    ) -> None:
        """Leave as many of some blocks without a number; `numbered` is as of `allocate`."""
        left = [{place: next(self._fresh) for place in among} for _ in range(count)]
        for variables in left:
            self._solver.add_clause(list(variables.values()))
        for choices, other in itertools.combinations(left, 2):
            for place in among:
                self._solver.add_clause([-choices[place], -other[place]])
        for (location, start), variable in self._variables.items():
            for place in numbered(location, start):
                for variables in left:
                    if place in variables:
                        self._solver.add_clause([-variable, -variables[place]])

    def solve(self) -> Allocation | None:
        """The places; None if there are none.

        Of the pairs that would make a sum wait each one is kept apart where that is found to be
        possible beside those before it.
        """
        if not self._solver.solve():
            return None
        model, apart = self._solver.get_model(), list[int]()
        for pair in self._sorted_waits():
            kept = self._kept_apart(pair)
            self._solver.conf_budget(_TRIES)
            if self._solver.solve_limited(assumptions=[*apart, kept]):
                model, apart = self._solver.get_model(), [*apart, kept]
        true = set(model)
        of = {
            location: place for (location, place), known in self._variables.items() if known in true
        }
        return Allocation(of, self.conflicts)

    def _sorted_waits(self) -> list[frozenset[Piece]]:
        """Those pairs, in the same order for the same programs."""
        return sorted(self.conflicts.waits, key=lambda pair: sorted(map(by_name, pair)))

    def _kept_apart(self, pair: frozenset[Piece]) -> int:
        """A variable that says that two pieces have no common place."""
        found = next(self._fresh)
        (location, _), (other, _) = sorted(pair, key=by_name)
        if location in self.domains and other in self.domains:
            for place, beside, pieces in self._meetings(location, other):
                if pieces == pair:
                    first, others = self._variables[location, place], self._variables[other, beside]
                    self._solver.add_clause([-found, -first, -others])
        return found

    def _exactly_one(self, variables: Sequence[int]) -> None:
        self._solver.add_clause(list(variables))
        for variable, other in itertools.combinations(variables, 2):
            self._solver.add_clause([-variable, -other])

    def _meetings(
        self, location: Location, other: Location
    ) -> list[tuple[BlockPlace, BlockPlace, frozenset[tuple[Location, int]]]]:
        """Places of two numbers in which pieces of theirs have one block, and these pieces."""
        found = []
        for part, other_part in itertools.product(
            self._parts.get(location, ()), self._parts.get(other, ())
        ):
            there: dict[BlockPlace, list[BlockPlace]] = {}
            for place in self.domains[other]:
                there.setdefault(place.of_part(other_part), []).append(place)
            pieces = frozenset({(location, part), (other, other_part)})
            for place in self.domains[location]:
                found += [(place, beside, pieces) for beside in there.get(place.of_part(part), ())]
        return found

    def _keep_apart(self, location: Location, other: Location) -> None:
        """Pieces that are needed at once; those that may share a place only if both begin there."""
        for place, beside, pieces in self._meetings(location, other):
            apart = pieces in self.conflicts.apart
            if apart or (pieces in self.conflicts.together and place != beside):
                self._exclude(location, place, other, beside)

    def _keep_at(
        self, location: Location, other: Location, where: Callable[[BlockPlace], BlockPlace]
    ) -> None:
        if location in self.domains and other in self.domains:
            for place in self.domains[location]:
                beside = [where(place)] if where(place) in self.domains[other] else []
                self._imply(location, place, other, beside)

    def _exclude(
        self, location: Location, place: BlockPlace, other: Location, beside: BlockPlace
    ) -> None:
        self._solver.add_clause(
            [-self._variables[location, place], -self._variables[other, beside]]
        )

    def _imply(
        self, location: Location, place: BlockPlace, other: Location, beside: Sequence[BlockPlace]
    ) -> None:
        """Where the one is there, the other one is in one of those places."""
        variables = [self._variables[other, each] for each in beside]
        self._solver.add_clause([-self._variables[location, place], *variables])
