"""Of the cases of a test, as few as have every combination of two values in them.

A product of parameters runs the same code again and again; nearly every fault of a combination is
one of two values (Kuhn, Wallace and Gallo, IEEE TSE 30(6), 2004). A greedy cover takes the case
with the most combinations that none has yet. allpairspy makes cases of lists of values; here the
cases are there, not all combinations of values are among them, and the quick ones run anyway.
"""

import itertools
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


def factors(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The values that make a case: tuples and dictionaries, as of settings, are taken apart."""

    def parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, Mapping):
            for key, one in value.items():
                yield from parts(f"{name}.{key}", one)
        elif isinstance(value, tuple):
            for k, one in enumerate(value):
                yield from parts(f"{name}.{k}", one)
        else:
            yield name, value

    return dict(part for name, value in parameters.items() for part in parts(name, value))


def numbered(cases: Sequence[Mapping[str, Any]]) -> list[dict[str, int]]:
    """The values as numbers, in the order of occurrence; those without a hash by identity."""
    numbers: dict[Any, int] = {}

    def number(value: Any) -> int:
        try:
            key = (type(value), value)
            return numbers.setdefault(key, len(numbers))
        except TypeError:
            return numbers.setdefault((type(value), id(value)), len(numbers))

    return [{name: number(value) for name, value in factors(case).items()} for case in cases]


def covering(
    cases: Sequence[Mapping[str, Any]],
    strength: int,
    *,
    always: Callable[[int], bool] = lambda _: False,
    name: str = "",
) -> set[int]:
    """Which of `cases` to run, so that every combination of `strength` values that occurs is run.

    A case is its parameters by name. Those for which `always` holds are among the result. Of cases
    with equally many new combinations, the `name` decides: tests of the same cases take different
    ones, so that together they have them all.
    """
    combinations = [
        {*itertools.combinations(sorted(case.items()), min(strength, len(case)))}
        for case in numbered(cases)
    ]
    chosen = {k for k in range(len(cases)) if always(k)}
    missing = set().union(*combinations) if combinations else set()
    missing -= set().union(*(combinations[k] for k in chosen)) if chosen else set()
    left = sorted(set(range(len(cases))) - chosen, key=lambda k: zlib.crc32(f"{name} {k}".encode()))
    while missing:
        best = max(left, key=lambda k: len(combinations[k] & missing))
        chosen.add(best)
        missing -= combinations[best]
        left.remove(best)
    return chosen
