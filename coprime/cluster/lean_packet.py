"""Packets of a chain of lean nodes: a word is written, or a word is read.

Source: Ito, Nakano, Song (2011), section 5.3, Figure 9: a 1-bit send or receive flag, a 9-bit
core's number, an 11-bit address and 18 bits of data for 320 cores of up to 2176 bits. What differs:
the data's highest bit is not an operand's last digit, but says that the core is busy.
"""

import enum

from amaranth.lib import data
from amaranth.utils import bits_for

from coprime.engine.contract import Capabilities

from .packet import check_cores


class Setting(enum.IntEnum):
    """Words at the `free` addresses of a core's memory which are its node's, too."""

    CONTROL = 0
    """Written: 1 starts RSA_PRIVATE, 0 resets the core. Read: its error, and whether it is busy."""
    MODULUS_DIGITS = 1
    P_DIGITS = 2
    Q_DIGITS = 3


class LeanPacketLayout(data.StructLayout):
    """A packet's fields.

    `receive` is 1 to read the word at `address`, which a later packet returns: see REPLY_OFFSET. A
    packet to the core number `cores`, which no core has, is nobody's.

    Raises ValueError for `cores` out of range, TypeError for engines that are not bare.

    Parameters
    ----------
    capabilities (Capabilities): of the engines
    cores (int): 1 to MAX_CORES
    """

    def __init__(self, capabilities: Capabilities, cores: int):
        check_cores(cores)
        if capabilities.addresses is None:
            raise TypeError(f"lean nodes have bare engines, and {capabilities.family} is none")
        fields = {
            "receive": 1,
            "core": bits_for(cores),
            "address": capabilities.addresses.bits,
            "data": capabilities.digit_width + 1,
        }
        super().__init__(fields)
