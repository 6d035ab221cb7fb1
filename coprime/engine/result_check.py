"""Compares a private result, as it is read, with the number that was checked."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.luts import at_least
from coprime.cells.target import Target
from coprime.multipliers.delays import past, past_value

from .contract import RESULT_LATENCY


class ResultCheck(wiring.Component):
    """Detects a fault between the check and the last digit that is read.

    The result lies in one bank, and what was checked in the other, at the same address: both come
    in the same cycle. A write by the host, or a start, ends the comparison. What lies beyond the
    result's digits is not compared.

    Parameters
    ----------
    width, count_bits (int): bits of a digit and of a count

    Members
    -------
    succeeds : a private operation ends without error
    ends : the host starts a command
    busy, write, index : the host reads digit `index` while `busy` and `write` are 0
    count : digits of the result
    read, checked : both digits, RESULT_LATENCY cycles after the index
    differs : they differ; a cycle later
    """

    def __init__(self, width: int, count_bits: int, target: Target = Target.GENERIC):
        self.target = target
        ports = {
            **dict.fromkeys(("succeeds", "ends", "busy", "write"), In(1)),
            **dict.fromkeys(("index", "count"), In(count_bits)),
            **dict.fromkeys(("read", "checked"), In(width)),
            "differs": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Which digits are compared, and the comparison."""
        m = Module()
        fresh = Signal()
        with m.If(self.ends | self.write | self.differs):
            m.d.sync += fresh.eq(0)
        with m.Elif(self.succeeds):
            m.d.sync += fresh.eq(1)
        # A block RAM's output comes late in the cycle: it is taken before it is compared.
        read, checked = (past(m, digit, 1) for digit in (self.read, self.checked))
        beyond = at_least(m, self.index, self.count, self.target)
        asks = fresh & ~self.write & ~self.busy & ~beyond
        asked = past_value(m, "asked", asks, RESULT_LATENCY + 1)
        m.d.comb += self.differs.eq(asked & (read != checked))
        return m
