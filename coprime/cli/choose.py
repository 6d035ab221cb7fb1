"""`coprime choose`: the best measured designs under a budget."""

import argparse
import sys
from collections.abc import Container, Iterable, Mapping, Sequence

from coprime.ec.samples import AnyCurve, curves_of
from coprime.explore.choose import Budget, choose
from coprime.explore.on_curve import design_of, on_curve
from coprime.explore.points import Design, Point
from coprime.explore.rebuild import area_command
from coprime.explore.shipped import shipped_points
from coprime.operations.commands import Command

from .output import print_json
from .results import chosen_points


def run(options: argparse.Namespace) -> None:
    """Print the best measured designs under a budget, each with the command that builds it."""
    curves = _curves(options)
    points, source = chosen_points(options, shipped_points)
    points = [point for point in points if point.target == options.target]
    wanted, able = {}, _able(points, curves, options.bits)
    for command, its in curves.items():
        wanted[command.name] = [one.p.bit_length() for one in its] or [options.bits]
        if command.operation.on_curve and its:
            points = _on_curves(points, command, its, able)
    best = choose(
        points,
        wanted=wanted,
        target=options.target,
        part=options.part,
        device=options.device,
        clock=options.clock,
        budget=Budget(options.max_dsp, options.max_lut, options.max_ms),
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
    return set.intersection(*each.values()) or every


def _on_curves(
    points: list[Point], command: Command, curves: list[AnyCurve], able: Container[Design]
) -> list[Point]:
    """The points, those of an operation on curves for these curves, of the designs `able`."""
    others = [point for point in points if point.operation != command.name]
    mine = [point for point in points if design_of(point) in able]
    for curve in curves:
        others += on_curve(mine, command, curve)
    return others


def _curves(options: argparse.Namespace) -> dict[Command, list[AnyCurve]]:
    """The operations, each with its curves of --curve, or with none: its size is that of --bits.

    ValueError if a size is missing or is for none of them, or a curve is for none.
    """
    names = options.curve or []
    curves = {
        command: [curve for curve in curves_of(command) if curve.name in names]
        for command in options.operation
    }
    of_bits = [command.name for command, its in curves.items() if not its]
    for name in names:
        if not any(name == curve.name for its in curves.values() for curve in its):
            able = [one.name for one in Command if one.operation.computes and _has(one, name)]
            what = " or ".join(command.name for command in curves)
            raise ValueError(
                f"{what} does not use the curve {name}; operations on it are {', '.join(able)}"
            )
    if of_bits and options.bits is None:
        curve = " or --curve" if all(curves_of(Command[one]) for one in of_bits) else ""
        raise ValueError(f"name the length of {' and '.join(of_bits)}: --bits{curve}")
    if options.bits is not None and not of_bits:
        raise ValueError("--curve names the size of all these operations: leave --bits out")
    return curves


def _has(command: Command, name: str) -> bool:
    return any(curve.name == name for curve in curves_of(command))
