"""EdDSA's operations, executed on integers: results, cycles, special numbers.

In hardware: tests/ec.
"""

import random
import re
from functools import cache
from pathlib import Path

import pytest

from coprime.catalog import choose
from coprime.device.jobs import EngineError
from coprime.ec.edwards import ED448, ED25519
from coprime.ec.samples import curve_numbers
from coprime.engine.contract import Command, Error
from coprime.runs.execution import predict_operation

PAGE = (Path(__file__).parents[2] / "docs" / "curves.md").read_text("utf-8")
CURVES = (ED25519, ED448)


@cache
def design_of(family="compact", **settings):
    return choose(family, {"curves": "edwards", **settings}).design


def predicted(command, curve, given=None, **settings):
    numbers = curve_numbers(command, curve, random.Random(1)) | (given or {})
    return predict_operation(design_of(**settings), command, numbers)


def cycles_on_the_page():
    rows = re.findall(r"^\| (ring )?(ED_\w+)(?:, ([^|]*))? \| ([\d,]+) \| ([\d,]+) \|$", PAGE, re.M)
    assert len(rows) == 3 + 4
    for family, name, settings, *figures in rows:
        given, marks = {"family": family.strip() or "compact"}, [pytest.mark.matrix] * bool(family)
        given |= dict(one.strip("`").split("=") for one in settings.split(", ") if one)
        cycles = [int(one.replace(",", "")) for one in figures]
        yield pytest.param(
            Command[name], given, cycles, id=f"{family}{name} {settings}", marks=marks
        )


@pytest.mark.parametrize("command, settings, cycles", list(cycles_on_the_page()))
def test_cycles_on_the_page(command, settings, cycles):
    assert [predicted(command, curve, **settings).cycles for curve in CURVES] == cycles


def test_signatures_on_the_page():
    """A signature is a multiple of B and ED_FINISH."""
    cycles = [
        sum(
            predicted(command, curve).cycles
            for command in (Command.ED_BASE_MULTIPLY, Command.ED_FINISH)
        )
        for curve in CURVES
    ]
    assert "signs in {:,} cycles with Ed25519 and in {:,} with Ed448".format(*cycles) in " ".join(
        PAGE.split()
    )


@pytest.mark.parametrize(
    "curve",
    [CURVES[0], pytest.param(CURVES[1], marks=pytest.mark.matrix)],
    ids=lambda one: one.name,
)
def test_scalars_at_both_ends(curve):
    usual = predicted(Command.ED_BASE_MULTIPLY, curve).cycles
    half = (curve.n - 1) // 2
    for k in (0, 1, 2, half, half + 1, curve.n - 2, curve.n - 1):
        assert predicted(Command.ED_BASE_MULTIPLY, curve, {"k": k}).cycles == usual
    with pytest.raises(ValueError, match="k must be below n, the order of the points"):
        predicted(Command.ED_BASE_MULTIPLY, curve, {"k": curve.n})


@pytest.mark.parametrize("name", ["r", "h", "a"])
def test_numbers_of_the_last_step(name):
    usual = predicted(Command.ED_FINISH, ED25519).cycles
    for value in (0, ED25519.n - 1):
        assert predicted(Command.ED_FINISH, ED25519, {name: value}).cycles == usual
    with pytest.raises(EngineError) as found:
        predicted(Command.ED_FINISH, ED25519, {name: ED25519.n})
    assert found.value.code is Error.OPERAND_RANGE


@pytest.mark.matrix
@pytest.mark.parametrize(
    "curve",
    [CURVES[0], pytest.param(CURVES[1], marks=pytest.mark.matrix)],
    ids=lambda one: one.name,
)
def test_ring_takes_the_same_cycles_for_each_scalar(curve):
    scalars = (0, 1, 2, curve.n - 1, curve.n >> 1, 0x55 << 244, (1 << 251) + 1)
    found = {
        predicted(Command.ED_BASE_MULTIPLY, curve, {"k": k}, family="ring").cycles for k in scalars
    }
    assert len(found) == 1
