"""The cocotb example of a suite: one engine of numbers, and one of byte strings."""

from collections.abc import Sequence

from coprime.catalog import CallChoice

from ..description import Description, Example
from .call_example import call_example
from .number_example import number_example

_SELECT = frozenset({"CORE_SELECT"})


def suite_example(description: Description) -> Example:
    """The values of the example: of the first engine of each kind."""
    cores = [engine for _, engine in description.kind.engines(description)]
    numbers = _first(cores, calls=False)
    calls = _first(cores, calls=True)
    found: list[Example] = []
    values: dict[str, object] = {}
    if numbers is not None:
        found.append(number_example(cores[numbers], "number_example.py.j2"))
        values["number_core"] = f", core={numbers}"
    if calls is not None:
        choice = cores[calls].choice
        assert isinstance(choice, CallChoice)
        found.append(call_example(choice.design))
        values["call_core"] = f", core={calls}"
    return Example(
        template="call_example.py.j2" if numbers is None else "suite_example.py.j2",
        values={
            "vectors": [],
            **values,
            **{k: v for example in found for k, v in example.values.items()},
        },
        used=_SELECT.union(*(example.used for example in found)),
        cycles=max(example.cycles for example in found),
    )


def _first(cores: Sequence[Description], *, calls: bool) -> int | None:
    """The number of the first core of a kind; None if there is none."""
    fitting = (k for k, core in enumerate(cores) if isinstance(core.choice, CallChoice) is calls)
    return next(fitting, None)
