"""What ML-KEM and ML-DSA ask of an accelerator, and how secrets are cleared from it."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from coprime.calls.interface import EngineInterface, Values

from .key_sets import KeySet


class HasOutputs(Protocol):
    """The result of a call."""

    @property
    def outputs(self) -> Values:
        """Those that were read, by name."""


class Calls(Protocol):
    """A `CallAccelerator` whose engine has the calls of a scheme, or a substitute."""

    @property
    def interface(self) -> EngineInterface:
        """That of the engine."""

    def call(
        self,
        name: str,
        values: Values,
        *,
        parameter_set: str = "",
        read: Collection[str] | None = None,
    ) -> HasOutputs:
        """Load inputs, run a call, and read these outputs."""

    def wipe(self) -> None:
        """Clear all slots."""


def check_set(key_set: KeySet, sets: Mapping[str, KeySet]) -> None:
    """Raise ValueError unless a key's parameter set is one of a scheme's."""
    if key_set.name not in sets:
        scheme = next(iter(sets)).rpartition("-")[0]
        raise ValueError(f"a key of {key_set.name} is not one of {scheme}")


def check_engine(interface: EngineInterface, key_set: KeySet, secret: Collection[str]) -> None:
    """Raise ValueError unless an engine has the parameter set, and these secret slots can be
    read."""
    if key_set.name not in interface.parameter_sets:
        known = ", ".join(interface.parameter_sets)
        raise ValueError(f"the engine has {known}, not {key_set.name}")
    for name in secret:
        if not interface.slot[name].readable:
            raise ValueError(f"the engine keeps {name} inside: take one with secrets=readable")


@contextmanager
def wiping(accelerator: Calls) -> Iterator[None]:
    """Clear the engine at the end, also after an error."""
    try:
        yield
    finally:
        accelerator.wipe()
