"""Options of `coprime simulate-board`."""

from fractions import Fraction

from coprime.bus.serial.protocol import BAUD
from coprime.flow.board_records import RECORDS

from ..options import Parser, add_clock, add_design, add_random

CLOCK_MHZ = Fraction(12)


def add_options(parser: Parser) -> None:
    """Add the options of `coprime simulate-board`."""
    add_design(parser, calls=True)
    add_random(parser)
    parser.number("--baud", "bits per second", BAUD)
    text = "clock of the board, which is a number of cycles for each bit"
    add_clock(parser, f"{text} ({CLOCK_MHZ}, or that of the board's oscillator)")
    parser.choice("--board", RECORDS, "complete design for this board, with pins and self-test")
