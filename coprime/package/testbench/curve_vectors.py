"""What a testbench checks of operations on curves: one of each, and numbers that are refused."""

import random
from collections.abc import Iterator

from coprime.ec.samples import SHORT_CURVES, AnyCurve, curve_numbers
from coprime.engine.contract import Capabilities, Command, Error
from coprime.engine.design import Design

from .vectors import Vector

MOST_CYCLES = 600_000  # of all operations: a minute or two in Icarus
_MOST_BLINDED = 1_500_000
"""The same of a form where scalars are blinded, which need a longer order."""
_LEAST_BLINDED = 32
"""Bits of such an order, at least."""
_WRONG = (
    (Command.EC_MULTIPLY, "y", Error.POINT),
    (Command.ECDSA_VERIFY, "z", Error.SIGNATURE),
    (Command.ED_VERIFY, "h", Error.SIGNATURE),
)
"""Inputs whose lowest bit is inverted, and the error."""


def curve_vectors(design: Design) -> list[Vector]:
    """Of each form of curves, on the longest one that the engine takes and that is quick enough.

    Raises ValueError if there is no such curve of a form.
    """
    forms = dict.fromkeys(
        command.operation.encoding.form for command in design.capabilities.on_curve
    )
    most = _MOST_BLINDED if design.capabilities.blinded else MOST_CYCLES // max(1, len(forms))
    return [vector for form in forms for vector in _of_form(design, form, most)]


def _of_form(design: Design, form: str, most_cycles: int) -> list[Vector]:
    capabilities = design.capabilities
    for curve in SHORT_CURVES[form]:
        # r needs an order that is longer than a few bits.
        left_out = capabilities.lengthened if curve.n.bit_length() < _LEAST_BLINDED else ()
        of_form = capabilities.supported(lambda operation: operation.encoding.form == form)
        commands = [command for command in of_form if command not in left_out]
        found = [
            vector for command in commands for vector in _vectors(capabilities, command, curve)
        ]
        if _cycles(design, found) <= most_cycles:
            return found
    raise ValueError(f"no curve is short enough for a testbench of {capabilities.family}")


def _vectors(capabilities: Capabilities, command: Command, curve: AnyCurve) -> Iterator[Vector]:
    numbers = curve_numbers(command, curve, random.Random(1))
    yield Vector.of(capabilities, command, numbers)
    for checked, name, error in _WRONG:
        if checked is command:
            yield Vector.of(capabilities, command, numbers | {name: numbers[name] ^ 1}, error)


def _cycles(design: Design, vectors: list[Vector]) -> float:
    """Of all; infinite if one ends otherwise than it should."""
    total = 0
    for vector in vectors:
        done = vector.predicted(design)
        if done.error is not vector.error:
            return float("inf")
        total += done.cycles
    return total
