"""The programs of lanes: all operations of an engine, assembled."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from coprime.program.assembler import Program
from coprime.program.numbers.bounds import check_bounds
from coprime.program.numbers.declarations import check_routines
from coprime.program.operands import Context
from coprime.program.steps import Step

from .banked import banked_routines, without_operands
from .comb import comb_routines
from .commands import Command
from .ecdsa_routines import ecdsa_routines
from .edwards import edwards_routines
from .masked_primes import draw_multiple
from .masked_private import public_power
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
    on_curves = [command for command in commands if command.operation.on_curve]
    reads_less = partial(without_operands, masks=exponentiation.blinded)
    listings: list[dict[tuple[Step, ...], list[Command]]] = [{} for _ in range(machine.lanes)]
    for command in commands:
        operation = command.operation
        routine = operation.banked if banked else operation.lanes
        for lane, steps in enumerate(routine(machine) if routine else ()):
            listing = map(reads_less, steps) if exponentiation.blinded else steps
            listings[lane].setdefault(tuple(listing), []).append(command)
    shared = [] if multiplication.canonical else canonical(multiplication)
    if banked:
        shared = [*banked_routines(machine), public_power(machine), *draw_multiple(machine)]
    if on_curves:
        multiples = [*curve_routines(machine), *comb_routines(machine)]
        shared += [*multiples, *ecdsa_routines(machine), *edwards_routines(machine)]
    if exponentiation.blinded:
        shared = [
            replace(routine, steps=tuple(map(reads_less, routine.steps))) for routine in shared
        ]
    programs = [
        Program.assemble(
            {tuple(served): steps for steps, served in each.items()},
            shared,
            window_bits=exponentiation.window_bits,
            whole_window_bits=exponentiation.whole_window_bits,
            moduli={
                command: _of_lane(command.operation.moduli, lane, machine.lanes)
                for command in (commands if banked else ())
                if command.operation.moduli
            },
            shortens=on_curves if multiplication.scaled else (),
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
