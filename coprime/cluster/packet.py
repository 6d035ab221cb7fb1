"""Packets, which move along the chain of a cluster, one hop per cycle.

FDFM, section 5.3 (Figure 9): a send or receive flag, the core's number, an address, and data. What
differs: there are more kinds of packets, since a core also takes lengths and commands, and reports
the end of a command.
"""

import enum

from amaranth.lib import data
from amaranth.utils import bits_for

from coprime.engine.contract import ERROR_BITS, RESULT_LATENCY, Capabilities, PerLength

from .limits import MAX_CORES

SETTINGS = tuple((port, field) for port in ("counts", "lengths") for field in PerLength(0).members)
"""Ports of an engine, and their fields, to which SET packets assign a value, by packet index."""

REPLY_OFFSET = RESULT_LATENCY + 2
"""A RECEIVE returns the digit that the RECEIVE before it by REPLY_OFFSET has requested.

The engine needs RESULT_LATENCY cycles for a digit, with a register before and one after it. A
packet does not wait for its digit: it carries the one that is available. So the packets for one
result form a run without a gap, with REPLY_OFFSET more packets than digits. If results are
`checked` there is one more, with index `RESIDUE_INDEX`. It returns the residue, and reports on the
last digit, since a wrong digit is detected a cycle after it was read.
"""

RESIDUE_INDEX = -1
"""Index of a RECEIVE that requests the residue of a checked result: all ones, not a digit's."""


class PacketKind(enum.IntEnum):
    """Kind of a packet. All but EMPTY and NOTICE are addressed to a core."""

    EMPTY = 0  # free, can be replaced by a NOTICE
    SEND = 1  # write `data` to digit `index` of `operand`
    RECEIVE = 2
    """Request digit `index` of the result, and return the one that was requested before.

    If results are `checked`, `operand` returns 1 once a digit was found wrong, else 0, and
    RESIDUE_INDEX returns the engine's residue in the same packet; after any command other than
    RSA_PRIVATE it is 0.
    """
    SET = 3  # set setting number `index` to `data`
    START = 4  # start command `data`
    CANCEL = 5  # end the command that is running, if one is
    NOTICE = 6
    """From a core: its command has ended. Bits of `data` from the lowest: the error, ERROR_BITS; 1
    if there is a result. If a digit of a result was found wrong, another NOTICE, with FAULT,
    follows once the core has wiped its memory."""


def check_cores(cores: int) -> None:
    """ValueError for a number of cores out of range."""
    if cores not in range(1, MAX_CORES + 1):
        raise ValueError(f"cores must be in 1..{MAX_CORES}, not {cores}")


class PacketLayout(data.StructLayout):
    """A packet's fields.

    Raises ValueError for `cores` out of range.

    Parameters
    ----------
    capabilities (Capabilities): of the engines
    cores (int): 1 to MAX_CORES
    """

    def __init__(self, capabilities: Capabilities, cores: int):
        check_cores(cores)
        widest = max(
            capabilities.digit_width + capabilities.checked,  # a residue has one more bit
            capabilities.count_bits,
            capabilities.length_bits,
            ERROR_BITS + 1,
            capabilities.command_bits,
        )
        fields = {
            "kind": bits_for(max(PacketKind)),
            "core": bits_for(cores - 1),
            "operand": capabilities.operand_bits,
            "index": max(capabilities.index_bits, bits_for(len(SETTINGS) - 1)),
            "data": widest,
        }
        super().__init__(fields)
