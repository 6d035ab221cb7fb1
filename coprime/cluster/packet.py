"""Packets: what moves along the chain of a cluster, one hop a cycle.

FDFM, section 5.3 (Figure 9): a send or receive flag, the core's number, an address, and data. Ours
has more kinds, since a core also takes lengths and commands, and reports that it has ended.
"""

import enum

from amaranth.lib import data
from amaranth.utils import bits_for

from coprime.engine.contract import ERROR_BITS, RESULT_LATENCY, Capabilities, PerLength

MAX_CORES = 1023
MAX_LINK_REGISTERS = 2
"""Of a node on the chain, besides the one that each has: at its end, then at its beginning."""

SETTINGS = tuple((port, field) for port in ("counts", "lengths") for field in PerLength(0).members)
"""Ports of an engine, and their fields, to which SET packets assign a value, by packet index."""

REPLY_OFFSET = RESULT_LATENCY + 2
"""A RECEIVE brings back the digit that the one REPLY_OFFSET before it has asked for.

The engine needs RESULT_LATENCY cycles for a digit, and a register lies before and one behind it. A
packet does not wait for that: it takes along what is there. So the packets for one result come in
one run without a gap, REPLY_OFFSET more of them than digits. Where results are `checked` there is
one more, of index `RESIDUE_INDEX`, which reports on the last digit, too, a wrong digit being
detected a cycle after it was read, and brings the residue.
"""

RESIDUE_INDEX = -1
"""Index of a RECEIVE that asks for the residue of a checked result: all ones, as no digit has."""


class PacketKind(enum.IntEnum):
    """What a packet is. Nothing but EMPTY and NOTICE is for nobody or for the end of the chain."""

    EMPTY = 0  # a free place, for a NOTICE
    SEND = 1  # write `data` to digit `index` of `operand`
    RECEIVE = 2
    """Ask for digit `index` of the result, and take along the one that was asked for before.

    Where results are `checked`, `operand` comes back as 1 once a digit was found wrong, else as 0,
    and RESIDUE_INDEX brings back the engine's residue in the same packet; after any other command
    than RSA_PRIVATE it is 0.
    """
    SET = 3  # give setting number `index` the value `data`
    START = 4  # start command `data`
    CANCEL = 5  # end the command that is running, if one is
    NOTICE = 6
    """From a core: its command has ended. Bits of `data` from below: the error, ERROR_BITS; 1 if
    there is a result. Another one, with FAULT, follows a result of which a digit was found wrong,
    when the core has wiped its memory."""


class PacketLayout(data.StructLayout):
    """A packet's fields.

    Raises ValueError for `cores` out of range.

    Parameters
    ----------
    capabilities (Capabilities): of the engines
    cores (int): 1 to MAX_CORES
    """

    def __init__(self, capabilities: Capabilities, cores: int):
        if cores not in range(1, MAX_CORES + 1):
            raise ValueError(f"cores must be in 1..{MAX_CORES}, not {cores}")
        widest = max(
            capabilities.digit_width + capabilities.checked,  # a residue has a bit more
            capabilities.count_bits,
            capabilities.length_bits,
            ERROR_BITS + 1,
            capabilities.command_bits,
        )
        fields = {
            "kind": bits_for(max(PacketKind)),
            "core": bits_for(cores - 1),
            "operand": capabilities.operand_bits,
            "index": max(capabilities.count_bits, bits_for(len(SETTINGS) - 1)),
            "data": widest,
        }
        super().__init__(fields)
