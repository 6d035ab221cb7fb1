"""The cocotb example of engines of numbers: RSA, and P-256 where the engine has curves."""

import random

from coprime.ec.weierstrass import curve_named
from coprime.engine.contract import Command, Error, Length, Operand

from ..description import Description, Example
from .engine_checks import EngineChecks
from .vectors import SampleNumbers, Vector, numbers_of

_P256 = curve_named("P-256")
_CHECK, _MULTIPLY = Command.EC_CHECK, Command.EC_MULTIPLY
_USED = frozenset(
    {
        *("IDENTIFICATION", "COMMAND", "ERROR", "INTERRUPT_ENABLE", "INTERRUPT_STATUS"),
        *("INPUT_LENGTH", "INPUT_WINDOW", "OUTPUT_LENGTH", "OUTPUT_WINDOW"),
        *("MODULUS_LENGTH", "EXPONENT_LENGTH", "P_LENGTH", "Q_LENGTH"),
        *("KEY_OPERAND", "KEY_DATA", "CORE", "COMPLETION", "RESULT_LENGTH", "RESULT", "NEXT"),
    }
)
"""Registers that the example has."""


def number_example(description: Description, template: str) -> Example:
    """The numbers of the example, and its template: of an accelerator, or of a cluster."""
    numbers = numbers_of(description)
    rsa, exponent = _rsa(numbers)
    engine = EngineChecks(description, numbers)
    values: dict[str, object] = {}
    cycles = engine.outcome_of(rsa).cycles
    if _has_p256(description):
        k = random.Random(256).randrange(1, _P256.n)
        check, multiply = (_on_p256(description, command, k) for command in (_CHECK, _MULTIPLY))
        multiply_cycles = engine.outcome_of(multiply).cycles
        values = {"check": check, "multiply": multiply, "k": k, "multiply_cycles": multiply_cycles}
        cycles = max(cycles, multiply_cycles)
    return Example(
        template=template,
        cycles=cycles,
        used=_USED,
        values={
            "rsa": rsa,
            "modulus": numbers.n,
            "exponent": exponent,
            "curve": _P256 if values else None,
            "half_bits": numbers.own.half_bits,
            "point_error": int(Error.POINT),
            "x_operand": int(Operand.X),
            "job": lambda vector: _job(description, vector),
            **values,
        },
    )


def _rsa(numbers: SampleNumbers) -> tuple[Vector, int]:
    """The private operation with the sample key, or else the public one, and its exponent."""
    if numbers.key is None:
        given = {"x": numbers.x, "e": numbers.e, "m": numbers.n}
        return Vector.of(numbers.own, numbers.public, given), numbers.e
    return numbers.private_vector(pow(numbers.x, numbers.e, numbers.n)), numbers.key.d


def _has_p256(description: Description) -> bool:
    engine = description.core.design.capabilities
    return _MULTIPLY in engine.commands and (engine.max_prime_length >= _P256.p.bit_length())


def _on_p256(description: Description, command: Command, k: int) -> Vector:
    x, y = _P256.base
    numbers = {"x": x, "y": y, "k": k, **_P256.numbers}
    inputs = {number.name: numbers[number.name] for number in command.operation.inputs}
    return Vector.of(description.core.design.capabilities, command, inputs)


def _job(description: Description, vector: Vector) -> str:
    """What the example's `run` takes, as Python has it."""
    registers = {register.name for register in description.registers}
    lengths = ", ".join(
        f"({length.name}_LENGTH, {bits})"
        for length, bits in vector.lengths.items()
        if length is not Length.DIGIT and f"{length.name}_LENGTH" in registers
    )
    operands = "".join(
        f"        ({int(operand)}, {bits}, 0x{value:x}),  # {operand.name}\n"
        for operand, bits, value in vector.operands
    )
    return (
        "{\n"
        f'    "command": {int(vector.command)},\n'
        f'    "bits": {vector.bits},\n'
        f'    "lengths": [{lengths}],\n'
        f'    "operands": [\n{operands}    ],\n'
        "}"
    )
