"""`coprime choose`: the best measured designs under a budget."""

import argparse
import sys
from collections.abc import Container, Iterable, Mapping, Sequence

from coprime.catalog import calls_named
from coprime.ec.samples import AnyCurve, curves_of
from coprime.explore.choose import Budget, choose
from coprime.explore.on_curve import design_of, on_curve
from coprime.explore.points import Design, Point, Size
from coprime.explore.rebuild import area_command
from coprime.explore.shipped import shipped_points
from coprime.operations.commands import Command

from .output import print_json
from .results import chosen_points


def run(options: argparse.Namespace) -> None:
    """Print the best measured designs under a budget, each with the command that builds it."""
    calls = _calls(options)
    curves = _curves(options, calls)
    points, source = chosen_points(options, shipped_points)
    points = [point for point in points if point.target == options.target]
    able = _able(points, curves, options.bits)
    wanted: dict[str, list[Size]] = {}
    for operation in options.operation:
        if isinstance(operation, str):
            wanted[operation] = calls[operation] or [options.bits]
            continue
        its = curves[operation]
        wanted[operation.name] = [curve.p.bit_length() for curve in its] or [options.bits]
        if its:
            points = _on_curves(points, operation, its, able)
    best = choose(
        points,
        wanted=wanted,
        target=options.target,
        part=options.part,
        device=options.device,
        clock=options.clock,
        budget=Budget(options.max_dsp, options.max_lut, options.max_cycles, options.max_ms),
    )
    if options.json:
        print_json({"source": source, "designs": [chosen.record() for chosen in best]})
        return
    print(source, file=sys.stderr)
    for chosen in best:
        print("\n".join(chosen.lines))
        print(f"    {chosen.area}")
        print(f"    {chosen.point.command}")
        if chosen.point.stamped:
            print(f"    {area_command(chosen.point)}")


def _able(
    points: Iterable[Point], curves: Mapping[Command, Sequence[AnyCurve]], bits: int | None
) -> set[Design]:
    """The designs that were measured with all of the operations: nothing is predicted of others.

    Without such a design all of them, as the error says how many do each.
    """
    each: dict[Command, set[Design]] = {command: set() for command in curves}
    every = set()
    for point in points:
        command = Command.__members__.get(point.operation)
        every.add(design_of(point))
        if command in each and (curves[command] or point.bits == bits):
            each[command].add(design_of(point))
    return set.intersection(every, *each.values()) or every


def _on_curves(
    points: list[Point], command: Command, curves: list[AnyCurve], able: Container[Design]
) -> list[Point]:
    """The points, those of an operation on curves for these curves, of the designs `able`."""
    others = [point for point in points if point.operation != command.name]
    mine = [point for point in points if design_of(point) in able]
    for curve in curves:
        others += on_curve(mine, command, curve)
    return others


def _calls(options: argparse.Namespace) -> dict[str, list[Size]]:
    """The calls on byte strings, each with its parameter sets of --set, or with none: its size is
    that of --bits.

    ValueError if a parameter set is missing, is not known, or is for none of them.
    """
    sizes: dict[str, list[Size]] = {}
    for name in options.operation:
        if not isinstance(name, str):
            continue
        own = calls_named(name)[0]
        has_sets = len(own.parameter_sets) > 1
        if has_sets and not options.set:
            known = ", ".join(own.parameter_sets)
            raise ValueError(f"name the parameter set of {name}: --set, with one of {known}")
        for parameter_set in options.set if has_sets else ():
            own.set_number(parameter_set)
        streamed = own.has_stream(own.call[name])
        sizes[name] = list(options.set) if has_sets else [] if streamed else [0]
    if options.set and not any(isinstance(size, str) for its in sizes.values() for size in its):
        names = " or ".join(
            operation if isinstance(operation, str) else operation.name
            for operation in options.operation
        )
        raise ValueError(f"{names} has no parameter sets: leave --set out")
    return sizes


def _curves(
    options: argparse.Namespace, calls: Mapping[str, Sequence[Size]]
) -> dict[Command, list[AnyCurve]]:
    """The operations on numbers, each with its curves of --curve, or with none: its size is that
    of --bits, as that of calls without another one.

    ValueError if a size is missing or is for none of them, or a curve is for none.
    """
    names = options.curve or []
    curves = {
        command: [curve for curve in curves_of(command) if curve.name in names]
        for command in options.operation
        if isinstance(command, Command)
    }
    of_bits = [
        *(command.name for command, its in curves.items() if not its),
        *(name for name, its in calls.items() if not its),
    ]
    for name in names:
        if not any(name == curve.name for its in curves.values() for curve in its):
            able = [
                command.name
                for command in Command
                if command.operation.computes and _has(command, name)
            ]
            what = " or ".join([*(command.name for command in curves), *calls])
            raise ValueError(
                f"{what} does not use the curve {name}; operations on it are {', '.join(able)}"
            )
    if of_bits and options.bits is None:
        has_curve = all(
            operation not in calls and curves_of(Command[operation]) for operation in of_bits
        )
        curve = " or --curve" if has_curve else ""
        raise ValueError(f"name the length of {' and '.join(of_bits)}: --bits{curve}")
    if options.bits is not None and not of_bits:
        option = "--curve" if names else "--set" if options.set else "nothing but the operation"
        raise ValueError(f"{option} names the size of all these operations: leave --bits out")
    return curves


def _has(command: Command, name: str) -> bool:
    return any(curve.name == name for curve in curves_of(command))
