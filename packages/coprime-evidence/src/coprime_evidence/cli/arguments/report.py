"""Options of `coprime report`."""

from coprime.cli.options import Parser, add_folder, add_results


def add_options(parser: Parser) -> None:
    """Add the options of `coprime report`."""
    add_results(parser)
    add_folder(parser, "folder to write to", required=True)
