"""The frame check sequence of the serial link, FCS-32."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.crc.catalog import CRC32_ISO_HDLC
from amaranth.lib.wiring import In, Out

CYCLES = 8  # clock cycles that a byte takes: at most one in as many may come


class Checksum(wiring.Component):
    """CRC-32/ISO-HDLC of bytes, bit by bit: few LUTs, and a UART is slower.

    Members
    -------
    clear (1 bit, in): begin anew. A byte that is under way must be complete.
    data (8 bits, in)
    valid (1 bit, in): takes `data`; the next byte may come after CYCLES cycles
    value (32 bits, out): of all bytes, CYCLES + 1 cycles after the last one
    matches (1 bit, out): the last four bytes were the checksum of those before, the least
        significant byte first
    """

    def __init__(self) -> None:
        super().__init__(
            {"clear": In(1), "data": In(8), "valid": In(1), "value": Out(32), "matches": Out(1)}
        )

    def elaborate(self, platform: object) -> Module:
        """Shift a byte into the bit-serial CRC, the least significant bit first."""
        m = Module()
        m.submodules.crc = crc = CRC32_ISO_HDLC(data_width=1).create()
        bits = Signal(8)
        left = Signal(range(CYCLES + 1))
        m.d.comb += [
            crc.start.eq(self.clear),
            crc.data.eq(bits[0]),
            crc.valid.eq(left != 0),
            self.value.eq(crc.crc),
            self.matches.eq(crc.match_detected),
        ]
        with m.If(self.valid):
            m.d.sync += [bits.eq(self.data), left.eq(CYCLES)]
        with m.Elif(left != 0):
            m.d.sync += [bits.eq(bits >> 1), left.eq(left - 1)]
        return m
