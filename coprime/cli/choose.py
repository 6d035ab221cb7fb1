"""`coprime choose`: the best measured designs under a budget."""

import argparse
import sys
from collections.abc import Container, Iterable, Mapping, Sequence

from coprime.ec.names import find_curve
from coprime.ec.samples import AnyCurve, curves_of
from coprime.engine.contract import Command
from coprime.errors import hint
from coprime.explore.choose import DEVICES, OTHER_PART, Budget, choose
from coprime.explore.on_curve import Design, design_of, on_curve
from coprime.explore.points import Point
from coprime.explore.rebuild import area_command
from coprime.explore.shipped import shipped_points
from coprime.flow.targets import DEVICES as ALL_DEVICES

from .options import Parser, add_json, add_results, chosen_points
from .output import print_json

SUMMARY = "Find the best measured design under a budget."
_DEFAULT = "RSA_PRIVATE"  # what is to be fast


def add_options(parser: Parser) -> None:
    """Add the options of `coprime choose`."""
    text = "length of the modulus; of an operation on a curve, of its field: 256 is P-256"
    parser.add_argument("--bits", type=int, metavar="N", help=text)
    text = (
        "curves of the operations on curves, one or several with commas: P-256,Ed25519,X25519;"
        " cycles are predicted where they were not measured"
    )
    parser.add_argument("--curve", type=_curve_names, metavar="NAMES", help=text)
    parser.add_argument("--target", choices=list(DEVICES), required=True)
    text = "operation to optimize for, or several with commas: RSA_PRIVATE,ECDSA_SIGN"
    text = f"{text} ({_DEFAULT})"
    parser.add_argument(
        "--operation", type=_commands, default=_commands(_DEFAULT), metavar="NAMES", help=text
    )
    text = (
        "area and clock to compare: the complete accelerator's (accelerator), those of the"
        " engine without registers and bus, or a cluster's of many cores"
    )
    parser.choice("--part", OTHER_PART, text, next(iter(OTHER_PART)))
    text = "device whose clocks to compare, of those that the target was placed on"
    parser.choice(
        "--device", ALL_DEVICES, f"{text} (ecp5: {DEVICES['ecp5']}; others: the smallest)"
    )
    text = "clock of your design, for a target that is not placed and routed here, such as xc7"
    parser.number("--clock", text, metavar="MHZ", kind=float)
    parser.number("--max-dsp", "maximum number of DSP slices")
    parser.number("--max-lut", "maximum number of LUTs")
    parser.number("--max-ms", "maximum milliseconds of an operation", metavar="T", kind=float)
    add_results(parser)
    add_json(parser)


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


def _commands(text: str) -> list[Command]:
    """Operations with commas between them."""
    known = [command.name for command in Command if command.operation.computes]
    for name in text.split(","):
        if name not in known:
            raise argparse.ArgumentTypeError(f"there is no {name!r}; {hint(name, known)}")
    return [Command[name] for name in text.split(",")]


def _curve_names(text: str) -> list[str]:
    """Names of curves, as `find_curve` finds them, with commas between them."""
    known = [
        curve for command in Command if command.operation.computes for curve in curves_of(command)
    ]
    found = []
    for name in text.split(","):
        curve = find_curve(name, known)
        if curve is None:
            nearest = hint(name, dict.fromkeys(one.name for one in known))
            raise argparse.ArgumentTypeError(f"there is no curve {name!r}; {nearest}")
        found.append(curve.name)
    return list(dict.fromkeys(found))


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
