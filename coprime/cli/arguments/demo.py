"""Options of `coprime demo`."""

from ..options import Parser, add_key, add_passphrase


def add_options(parser: Parser) -> None:
    """Add the options of `coprime demo`."""
    add_key(parser, "RSA key (default: a new one)")
    parser.number("--bits", "length of a new key", 2048, metavar=None)
    add_passphrase(parser)
