"""Options of `coprime completion`."""

from ..options import Parser

SHELLS = ("bash", "zsh", "fish")


def add_options(parser: Parser) -> None:
    """Add the options of `coprime completion`."""
    parser.add_argument("shell", choices=SHELLS, help="shell that reads the script")
