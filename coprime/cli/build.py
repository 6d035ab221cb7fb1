"""`coprime build`: the Verilog of an accelerator, with what takes it into a design."""

import argparse
import sys

from coprime.bus.axi_accelerator import Bus
from coprime.cells.target import Target
from coprime.explore import design_figures
from coprime.package.manifest import check_replaceable
from coprime.package.package import check_design, write_package

from .key_files import add_modulus_key, take_modulus
from .options import (
    Parser,
    add_bus,
    add_design,
    add_folder,
    add_paddings,
    add_target,
    chosen_design,
    chosen_paddings,
)
from .output import announce, check_folder

MAX_MHZ = 2000  # no FPGA has a faster clock

SUMMARY = "Write an accelerator's Verilog, with all that takes it into a design."


def add_options(parser: Parser) -> None:
    """Add the options of `coprime build`."""
    add_design(parser)
    add_modulus_key(parser)
    add_target(parser, default=Target.GENERIC.value)
    add_paddings(parser)
    add_bus(parser)
    text = "clock of the system that it goes into, for constraints and the data sheet"
    parser.number("--clock", text, metavar="MHZ", kind=float)
    parser.flag(
        "--measure",
        "map the design now, and place and route it where the target has devices, to fill in its"
        " data sheet; minutes (default: what was measured when this version was made)",
    )
    parser.flag(
        "--force",
        "replace files that the user wrote or changed, too (default: refuse, and name the file)",
    )
    add_folder(parser, "folder to write to", required=True)


def run(options: argparse.Namespace) -> None:
    """Write the package and print the paths of its files.

    Raises ValueError for a clock out of range, and for `--measure` without a target; and as
    `take_modulus`.
    """
    take_modulus(options)
    target, bus, choice = Target(options.target), Bus(options.bus), chosen_design(options)
    paddings, clock = chosen_paddings(options), options.clock
    if clock is not None and not 0 < clock <= MAX_MHZ:
        raise ValueError(f"--clock must be above 0 and at most {MAX_MHZ} MHz, not {clock:g}")
    if options.measure and target is Target.GENERIC:
        raise ValueError("--measure needs another --target: generic Verilog has no area")
    check_design(choice, paddings)
    check_folder("-o", options.output)
    if not options.force:
        check_replaceable(options.output)
    announce(choice)
    if options.measure:
        figures = design_figures.measured(choice, target, bus, paddings, note=_note)
    else:
        figures = design_figures.shipped(choice, target, bus, paddings)
    written = write_package(
        choice, target, options.output, bus, paddings, clock, figures, force=options.force
    )
    for path in written:
        print(path)


def _note(what: str) -> None:
    print(f"coprime: {what}", file=sys.stderr)
