"""Options of `coprime build`."""

from coprime.cells.target import Target

from ..options import (
    Parser,
    add_bus,
    add_design,
    add_folder,
    add_modulus_key,
    add_paddings,
    add_random,
    add_target,
)


def add_options(parser: Parser) -> None:
    """Add the options of `coprime build`."""
    add_design(parser, calls=True, suites=True)
    add_modulus_key(parser)
    add_target(parser, default=Target.GENERIC.value)
    add_paddings(parser)
    add_random(parser)
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
