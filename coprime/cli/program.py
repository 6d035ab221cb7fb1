"""`coprime program`: load a bitstream onto a board."""

import argparse
import shlex

from coprime.flow.boards import board_named
from coprime.flow.loader import find_bitstream, load, load_command


def run(options: argparse.Namespace) -> None:
    """Call openFPGALoader."""
    board = board_named(options.board)
    bitstream = find_bitstream(board, options.folder)
    if options.dry_run:
        print(shlex.join(load_command(board, bitstream, flash=options.flash)))
        return
    print(load(board, bitstream, flash=options.flash), end="")
