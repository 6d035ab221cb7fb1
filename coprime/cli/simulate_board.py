"""`coprime simulate-board`: a board in simulation that programs reach through a serial port."""

import argparse
import time

from coprime.bus.serial.uart import divisor_of
from coprime.catalog import CallChoice, Choice
from coprime.flow.boards import board_named
from coprime.soc.board_design import board_bench
from coprime.soc.serial_board import MODULE_NAME, serial_board_verilog
from coprime.soc.simulated_board import BoardTerminal, SimulatedBoard

from .arguments.simulate_board import CLOCK_MHZ
from .options import chosen_clock, chosen_engine, chosen_of_any
from .progress import announce


def _chosen(options: argparse.Namespace) -> Choice | CallChoice:
    choice = chosen_of_any(options)
    return choice if isinstance(choice, CallChoice) else chosen_engine(options, "the board")


def run(options: argparse.Namespace) -> None:
    """Build the board and run it until Ctrl-C.

    Raises ValueError for a baud rate or a clock out of range.
    """
    choice = _chosen(options)
    if options.baud < 1:
        raise ValueError(f"--baud must be at least 1, not {options.baud}")
    own = None if options.board is None else board_named(options.board)
    asked = chosen_clock(options)
    setting = own.clock_setting(asked) if own and asked else None
    mhz = own.design_mhz(setting) if own else asked or CLOCK_MHZ
    clock = int(mhz * 10**6)
    divisor = divisor_of(clock, options.baud)
    announce(choice)
    if own is None:
        top, verilog = MODULE_NAME, serial_board_verilog(choice, divisor)
    else:
        top, verilog = board_bench(choice, own, baud=options.baud, setting=setting)
    with (
        SimulatedBoard(verilog, top, clock=clock, baud=options.baud) as board,
        BoardTerminal(board) as terminal,
    ):
        print(f"--device serial:{terminal.path},{options.baud}", flush=True)
        try:
            while True:
                time.sleep(1)
        except KeyboardInterrupt:
            print(f"{board.cycles:,} cycles, {board.busy:,} of them with a byte on a wire")
