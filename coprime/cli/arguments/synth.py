"""Options of `coprime synth`."""

from coprime.bus.serial.protocol import BAUD
from coprime.flow.board_records import RECORDS
from coprime.flow.part_names import PARTS, SYSTEM, UNIT_GATE
from coprime.flow.targets import DEVICES, route_targets

from ..options import (
    Parser,
    add_bus,
    add_clock,
    add_design,
    add_folder,
    add_json,
    add_modulus_key,
    add_paddings,
    add_random,
    add_target,
)


def add_options(parser: Parser) -> None:
    """Add the options of `coprime synth`."""
    add_design(parser, calls=True, suites=True)
    add_modulus_key(parser)
    add_target(parser, also=(UNIT_GATE,))
    add_paddings(parser)
    add_random(parser)
    add_bus(parser)
    text = (
        "engine (default); accelerator: with its registers and its slave on the bus;"
        " multiplier: one of the engine's; reduction or word-multiplier: for one modulus, what"
        " reduces a word or the product of two words; system: `coprime soc`'s processor and memory"
        " with the accelerator"
    )
    parser.choice("--part", (*PARTS, SYSTEM), text)
    routed = ", ".join(route_targets())
    parser.flag("--route", f"place and route ({routed})")
    text = "place and route a cluster's node alone and copy it across the device (ecp5)"
    parser.flag("--stamp", text)
    parser.choice("--device", DEVICES, "device to place and route on (the smallest)")
    parser.number("--seeds", "placements, each from another seed; the clock is their mean", 1)
    text = "list the components, so many, into which the slowest paths lead (with --route)"
    parser.number("--paths", text, 0)
    text = "write a bitstream: the accelerator at a serial port, with a self-test"
    parser.choice("--board", RECORDS, text)
    text = "clock of the design on the board (0.8 of what it allows when it is routed)"
    add_clock(parser, text)
    parser.number("--baud", f"bits per second of the board's serial port ({BAUD})")
    add_folder(parser, "folder for the bitstream")
    add_json(parser)
