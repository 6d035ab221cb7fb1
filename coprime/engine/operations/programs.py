"""The programs of lanes: all operations of an engine, assembled."""

from coprime.exponentiators.exponentiation import Exponentiation
from coprime.multipliers.contract import Multiplication
from coprime.program.assembler import Program
from coprime.program.operands import Command

from . import banked
from .common import canonical
from .modexp import modexp
from .modmul import modmul
from .rsa_private import rsa_private

__all__ = ["banked_program", "rsa_programs"]


def rsa_programs(
    multiplication: Multiplication, lanes: int, exponentiation: Exponentiation
) -> list[Program]:
    """All four operations, on one lane or on two: a program for each lane.

    A lane that works alone does the `exponentiation`. So does the first of two lanes that are
    `interleaved` on one multiplier, where the whole modulus would gain nothing from taking turns.
    """
    operations = {
        (Command.MODMUL,): [modmul(multiplication)],
        (Command.MODEXP, Command.RSA_PUBLIC): modexp(
            multiplication, 1 if multiplication.interleaved else lanes, exponentiation
        ),
        (Command.RSA_PRIVATE,): rsa_private(multiplication, lanes, exponentiation),
    }
    return [
        Program.assemble(
            {commands: each[lane] for commands, each in operations.items() if lane < len(each)},
            canonical(multiplication) if lane == 0 and not multiplication.canonical else [],
            window_bits=exponentiation.window_bits,
            whole_window_bits=exponentiation.whole_window_bits,
        )
        for lane in range(lanes)
    ]


def banked_program(multiplication: Multiplication, exponentiation: Exponentiation) -> Program:
    """All four operations on a lane of two banks; the exponentiation has a fixed window."""
    commands = (Command.MODMUL, Command.MODEXP, Command.RSA_PUBLIC, Command.RSA_PRIVATE)
    return Program.assemble(
        {commands: banked.operations(multiplication, exponentiation.blinding)},
        window_bits=exponentiation.window_bits,
        whole_window_bits=exponentiation.whole_window_bits,
    )
