"""Options of `coprime cache`."""

from coprime.flow.cache_kinds import KINDS

from ..options import Parser, add_json, add_verb


def add_options(parser: Parser) -> None:
    """Add the options of `coprime cache` and its verb `clear`."""
    add_json(parser)
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    clear = add_verb(verbs, "clear", "Remove what is kept: all of it, or some kinds.")
    clear.add_argument("kinds", nargs="*", metavar="KIND", help=f"any of {', '.join(KINDS)} (all)")
