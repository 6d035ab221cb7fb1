"""`coprime build`: the Verilog of an accelerator, with what takes it into a design."""

import argparse
from pathlib import Path

from coprime.bus.accelerator import Bus
from coprime.cells.target import Target
from coprime.package.package import write_package

from .options import add_design, add_paddings, add_target, chosen_design, chosen_paddings
from .output import announce, check_folder

__all__ = ["SUMMARY", "add_options", "run"]

SUMMARY = "Write an accelerator's Verilog and its C header."


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `coprime build`."""
    add_design(parser)
    add_target(parser, default=Target.GENERIC.value)
    add_paddings(parser)
    parser.add_argument(
        "--bus",
        choices=[bus.value for bus in Bus],
        default=Bus.AXI4_LITE.value,
        help=f"bus of the accelerator ({Bus.AXI4_LITE.value})",
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="DIR", help="folder to write to"
    )


def run(options: argparse.Namespace) -> None:
    """Write the package and print the paths of its files."""
    target, bus, choice = Target(options.target), Bus(options.bus), chosen_design(options)
    check_folder("-o", options.output)
    announce(choice)
    for path in write_package(choice, target, options.output, bus, chosen_paddings(options)):
        print(path)
