"""Predictions of an engine of byte strings, each made once."""

from typing import TYPE_CHECKING

from coprime.calls.interface import Call, CallDesign, CallOutcome, EngineInterface, Values
from coprime.cells.target import Target

if TYPE_CHECKING:
    from amaranth.lib import wiring


class PredictedOnce:
    """A design whose calls with the same inputs are predicted once, as data sheet, testbench and
    example have many of them in common.

    Parameters
    ----------
    design : the design
    """

    def __init__(self, design: CallDesign):
        self._design = design
        self._outcomes: dict[tuple[object, ...], CallOutcome] = {}

    @property
    def interface(self) -> EngineInterface:
        """As the design's."""
        return self._design.interface

    def hardware(self, target: Target = Target.GENERIC) -> "wiring.Component":
        """As the design's."""
        return self._design.hardware(target)

    def predict(
        self, call: Call, parameter_set: str, inputs: Values, random: bytes = b""
    ) -> CallOutcome:
        """As the design's."""
        key = call.name, parameter_set, *sorted(inputs.items()), random
        if key not in self._outcomes:
            self._outcomes[key] = self._design.predict(call, parameter_set, inputs, random)
        return self._outcomes[key]
