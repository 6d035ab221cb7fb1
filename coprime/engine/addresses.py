"""Addresses of digits: two cycles from a location and an index to an address of the memory.

Two stages, so that no path is long: what is asked for, and its address.
"""

from collections.abc import Sequence

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.tables import look_up
from coprime.multipliers.delays import past
from coprime.program.operands import Mode

from .layout import BankedLayout, Layout


class LocationAddress(wiring.Component):
    """Adds an index to a location's base.

    Parameters
    ----------
    dense (bool): subtracts the negative base from the index instead, which synthesis maps to one
        LUT a bit: the index, a register, is then the carry chain's other input

    Members
    -------
    location, index : the location's number, and which of its digits
    address : of that digit, two cycles later
    """

    def __init__(self, layout: Layout, *, dense: bool = False):
        self.layout, self.dense = layout, dense
        address = bits_for(layout.depth - 1)
        super().__init__(
            {"location": In(layout.number_bits), "index": In(address), "address": Out(address)}
        )

    def elaborate(self, platform: object) -> Module:
        """Look the base up, and add."""
        m = Module()
        location, index = (past(m, signal, 1) for signal in (self.location, self.index))
        found = Signal.like(self.address)
        bases = self.layout.bases_by_number
        if self.dense:
            negated = [-base % (1 << len(found)) for base in bases]
            m.d.comb += found.eq(index - look_up(negated, location, len(found)))
        else:
            m.d.comb += found.eq(look_up(bases, location, len(found)) + index)
        m.d.comb += [self.address.eq(past(m, found, 1))]
        return m


class BlockAddress(wiring.Component):
    """Concatenates a block of a bank and an index, without an adder.

    Parameters
    ----------
    modes (sequence of Mode): of WINDOW, ENTRY and THIRD: what names an entry of the table
    holds (bool): whether it can keep its address, so that a port that has nothing to do reads
        nothing else

    Members
    -------
    block, index : the block of a location, and which of its digits
    idle : only with `holds`: keep both as they were
    window, entry, third : blocks of the entries that these modes name, a cycle later; the last one
        only with THIRD
    address : of that digit, two cycles later
    """

    def __init__(
        self,
        layout: BankedLayout,
        index_bits: int,
        modes: Sequence[Mode] = (),
        *,
        holds: bool = False,
    ):
        self.layout, self.modes, self.holds = layout, modes, holds
        ports = {
            "block": In(layout.block_bits),
            "index": In(index_bits),
            **dict.fromkeys(("window", "entry"), In(layout.entry_bits)),
            **({"third": In(layout.entry_bits)} if Mode.THIRD in modes else {}),
            "address": Out(bits_for(layout.depth - 1)),
            **({"idle": In(1)} if holds else {}),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Put the entry in the mode's place."""
        m = Module()
        if self.holds:
            asked, index = Signal.like(self.block), Signal.like(self.index)
            with m.If(~self.idle):
                m.d.sync += [asked.eq(self.block), index.eq(self.index)]
        else:
            asked, index = (past(m, signal, 1) for signal in (self.block, self.index))
        block = Signal.like(self.window)
        m.d.comb += block.eq(asked)
        for mode in self.modes:
            with m.If(asked == self.layout.block_of(mode)):
                m.d.comb += block.eq(getattr(self, mode.name.lower()))
        # A number of two blocks has a 0 where its index has its highest bit; a wipe counts beyond
        # the indices.
        found = Signal.like(self.address)
        m.d.comb += [
            found.eq((block << bits_for(self.layout.block - 1)) ^ index),
            self.address.eq(past(m, found, 1)),
        ]
        return m
