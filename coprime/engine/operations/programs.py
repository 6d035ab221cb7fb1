"""The programs of lanes: all operations of an engine, assembled."""

from coprime.exponentiators.exponentiation import Exponentiation
from coprime.multipliers.contract import Multiplication
from coprime.program.assembler import Program
from coprime.program.operands import Command, Context

from . import banked
from .common import canonical
from .modexp import modexp
from .modmul import modmul
from .rsa_private import rsa_private

__all__ = ["banked_programs", "rsa_programs"]


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


def banked_programs(
    multiplication: Multiplication, lanes: int, exponentiation: Exponentiation
) -> list[Program]:
    """All four operations on lanes of two banks; the exponentiation has a fixed window.

    One lane has both primes in turn. Of two, the first has P, and the second Q.
    """
    private = (Command.RSA_PRIVATE,)
    every = (Command.MODMUL, Command.MODEXP, Command.RSA_PUBLIC, *private)
    primes: tuple[tuple[Context, ...], ...] = ((Context.Q, Context.P),)
    listings = [banked.operations(multiplication, exponentiation.blinding)]
    if lanes == 2:
        primes = ((Context.P,), (Context.Q,))
        listings = [banked.leading_lane(multiplication), banked.second_lane(multiplication)]
    return [
        Program.assemble(
            {commands: listing},
            window_bits=exponentiation.window_bits,
            whole_window_bits=exponentiation.whole_window_bits,
            primes=each,
        )
        for commands, listing, each in zip((every, private), listings, primes, strict=False)
    ]
