"""Options of `coprime program`."""

from coprime.flow.board_records import RECORDS

from ..options import Parser


def add_options(parser: Parser) -> None:
    """Add the options of `coprime program`."""
    parser.path("folder", metavar="DIR", help="folder of the bitstream")
    parser.add_argument("--board", choices=list(RECORDS), required=True)
    parser.flag("--flash", "store it, so that it stays when the power is off")
    parser.flag("--dry-run", "print the command, and do not run it")
