"""Measured designs on a curve, whichever curve they were measured with."""

from collections.abc import Iterable
from dataclasses import replace

from coprime.catalog import family_named
from coprime.device.accelerator import EngineError
from coprime.ec.samples import AnyCurve
from coprime.engine.contract import Command, Error
from coprime.explore.points import Point
from coprime.flow.long_work import long_work
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import operands_on

_SEED = 1


def on_curve(points: Iterable[Point], command: Command, curve: AnyCurve) -> list[Point]:
    """Points of a curve: of each design that was measured doing this operation on any curve.

    Area and clock are the measured ones. Cycles are predicted, with numbers from a seed, and the
    time follows from them. Designs whose numbers are too short for the curve are left out.

    Raises ValueError if all of them are.
    """
    here = [one for one in points if (one.operation, one.status) == (command.name, "ok")]
    work = f"predicting the cycles of {command.name} on {curve.name}"
    with long_work(work):
        designs = dict.fromkeys(map(_design, here))
        cycles = {design: _cycles(*design, command, curve) for design in designs}
    found = {
        (_design(one), one.target, one.part, one.device): replace(
            one,
            bits=curve.p.bit_length(),
            seed=_SEED,
            cycles=None,
            predicted_cycles=count,
            utilization=None,
            milliseconds=one.fmax_mhz and count / one.fmax_mhz / 1000,
            area_time=None,
        )
        for one in here
        if (count := cycles[_design(one)]) is not None
    }
    if here and not found:
        raise ValueError(f"no measured design that does {command.name} holds {curve.name}")
    return list(found.values())


_Parameters = tuple[tuple[str, int | str], ...]


def _design(point: Point) -> tuple[str, _Parameters]:
    return point.family, tuple(sorted(point.parameters.items()))


def _cycles(family: str, parameters: _Parameters, command: Command, curve: AnyCurve) -> int | None:
    """Those that are predicted; None for a design whose numbers are too short for the curve."""
    design = family_named(family).choose({name: str(value) for name, value in parameters}).design
    try:
        return predict_operation(design, command, operands_on(command, curve, _SEED)).cycles
    except EngineError as error:
        if error.code is not Error.LENGTH_OVER:
            raise
        return None
