"""The programs of lanes: all operations of an engine, assembled."""

from collections.abc import Iterable
from dataclasses import replace

from coprime.program.assembler import Program
from coprime.program.bounds import check_bounds
from coprime.program.declarations import check_routines
from coprime.program.operands import Context
from coprime.program.steps import Step

from .banked import banked_routines, without_operands
from .comb import comb_routines
from .commands import Command
from .ecdsa_routines import ecdsa_routines
from .edwards import edwards_routines
from .operation import Machine
from .shared_steps import canonical
from .weierstrass import curve_routines


def lane_programs(machine: Machine, commands: Iterable[Command]) -> list[Program]:
    """The program of each lane: the steps of these commands, in the order of their codes.

    Lanes of two banks that are alone have both primes in turn. Of two, the first has P, and the
    second Q.

    Raises ValueError if a sum of theirs could overflow, a result be no canonical one, or a routine
    not do as it declares.
    """
    multiplication, exponentiation = machine.multiplication, machine.exponentiation
    commands = sorted(commands)
    banked = multiplication.banked
    listings: list[dict[tuple[Step, ...], list[Command]]] = [{} for _ in range(machine.lanes)]
    for command in commands:
        routine = command.operation.banked if banked else command.operation.lanes
        for lane, steps in enumerate(routine(machine) if routine else ()):
            listing = map(without_operands, steps) if exponentiation.blinding else steps
            listings[lane].setdefault(tuple(listing), []).append(command)
    shared = [] if multiplication.canonical else canonical(multiplication)
    shared = banked_routines(machine) if banked else shared
    if any(one.operation.on_curve for one in commands):
        shared = [*shared, *curve_routines(machine), *comb_routines(), *ecdsa_routines()]
        shared = [*shared, *edwards_routines(machine)]
    if exponentiation.blinding:
        shared = [replace(one, steps=tuple(map(without_operands, one.steps))) for one in shared]
    programs = [
        Program.assemble(
            {tuple(served): steps for steps, served in each.items()},
            shared,
            window_bits=exponentiation.window_bits,
            whole_window_bits=exponentiation.whole_window_bits,
            moduli={
                one: _of_lane(one.operation.moduli, lane, machine.lanes)
                for one in commands
                if one.operation.moduli
            },
            shortens=(one for one in commands if one.operation.on_curve),
            merges=banked,
        )
        for lane, each in enumerate(listings)
    ]
    for program in programs:
        check_bounds(program, multiplication)
        check_routines(program, multiplication)
    return programs


def _of_lane(moduli: tuple[Context, ...], lane: int, lanes: int) -> tuple[Context, ...]:
    return moduli if lanes == 1 else (moduli[-1 - lane],)
