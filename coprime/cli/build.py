"""`coprime build`: the Verilog of an accelerator, with what takes it into a design."""

import argparse
import sys

from coprime.bus.kinds import Bus
from coprime.catalog import takes_random
from coprime.cells.target import Target
from coprime.explore import design_figures
from coprime.package.manifest import check_replaceable
from coprime.package.package import check_design, write_package
from coprime.random.kinds import UNMEASURED, RandomSource

from .key_files import take_modulus
from .options import (
    chosen_of_all,
    chosen_paddings,
)
from .output import check_folder
from .progress import announce

MAX_MHZ = 2000  # no FPGA has a faster clock


def run(options: argparse.Namespace) -> None:
    """Write the package and print the paths of its files.

    Raises ValueError for a clock out of range, and for `--measure` without a target; and as
    `take_modulus`.
    """
    take_modulus(options)
    target, bus, choice = Target(options.target), Bus(options.bus), chosen_of_all(options)
    paddings, clock = chosen_paddings(options), options.clock
    if clock is not None and not 0 < clock <= MAX_MHZ:
        raise ValueError(f"--clock must be above 0 and at most {MAX_MHZ} MHz, not {clock:g}")
    if options.measure and target is Target.GENERIC:
        raise ValueError("--measure needs another --target: generic Verilog has no area")
    check_design(choice, paddings, target)
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
    if options.random is None and takes_random(choice, paddings):
        _note(
            "the design takes random bytes, and a command that does waits until s_axis_random_*"
            " gives some: with --random seeded it has a generator that software seeds, with"
            " --random trng one that noise seeds; --random stream says that you connect one"
        )
    if options.random is RandomSource.TRNG:
        _note(UNMEASURED)


def _note(what: str) -> None:
    print(f"coprime: {what}", file=sys.stderr)
