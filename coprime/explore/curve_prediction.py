"""Predicted cycles of a design's operations on a curve."""

from functools import lru_cache

from coprime.catalog import family_named
from coprime.device.accelerator import EngineError
from coprime.ec.samples import AnyCurve
from coprime.engine.capabilities import Error
from coprime.engine.design import Design as Hardware
from coprime.operations.commands import Command
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import numbers_on

from .points import CURVE_SEED, Design


def predicted_cycles(design: Design, command: Command, curve: AnyCurve) -> int | None:
    """Those that are predicted; None for a design whose numbers are too short for the curve."""
    numbers = numbers_on(command, curve, CURVE_SEED)
    try:
        return predict_operation(_hardware(design), command, numbers).cycles
    except EngineError as error:
        if error.code is not Error.LENGTH_OVER:
            raise
        return None


@lru_cache(maxsize=1)  # callers ask for one design after another, with its programs
def _hardware(design: Design) -> Hardware:
    family, parameters = design
    return family_named(family).choose({name: str(value) for name, value in parameters}).design
