"""Options of `coprime list`."""

from coprime.catalog import CALL_FAMILIES, CLUSTER, FAMILIES, SUITE

from ..options import Parser, add_json


def add_options(parser: Parser) -> None:
    """Add the options of `coprime list`."""
    names = [*FAMILIES, *CALL_FAMILIES, CLUSTER, SUITE]
    text = f"list one of them alone: {', '.join(names)} (all)"
    parser.add_argument("family", metavar="FAMILY", nargs="?", choices=names, help=text)
    add_json(parser)
