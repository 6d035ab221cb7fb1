"""`coprime program`: load a bitstream onto a board."""

import argparse
import shlex

from coprime.flow.boards import BOARDS, board_named
from coprime.flow.loader import find_bitstream, load, load_command

from .options import Parser

SUMMARY = "Load the bitstream that `synth --board` has written onto a board."


def add_options(parser: Parser) -> None:
    """Add the options of `coprime program`."""
    parser.path("folder", metavar="DIR", help="folder of the bitstream")
    parser.add_argument("--board", choices=list(BOARDS), required=True)
    parser.flag("--flash", "store it, so that it stays when the power is off")
    parser.flag("--dry-run", "print the command, and do not run it")


def run(options: argparse.Namespace) -> None:
    """Call openFPGALoader."""
    board = board_named(options.board)
    bitstream = find_bitstream(board, options.folder)
    if options.dry_run:
        print(shlex.join(load_command(board, bitstream, flash=options.flash)))
        return
    print(load(board, bitstream, flash=options.flash), end="")
