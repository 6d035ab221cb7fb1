"""The order of the slots of a step modulo 8380417, and of the constants that they use."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.model.lattice.large_arithmetic import LAYERS, N

from .large_addresses import LargeAddresses
from .large_steps import (
    DRAIN,
    PREFETCH,
    SLOTS_OF,
    TABLE_DEPTH,
    LargeKind,
    large_step_layout,
    large_table,
)
from .number_packer import ML_DSA_WIDTHS, interval
from .slot_counter import delayed

_IN_ORDER = frozenset(LargeKind) - {LargeKind.TRANSFORM, LargeKind.INVERSE, LargeKind.LAST}
"""Steps without butterflies."""


class LargeSlots(wiring.Component):
    """Counts a step's slots: what UNPACK fetches before them, and what drains after them.

    Members
    -------
    step (in): stable from the cycle after `start` to `done`
    next_kind (in): with `start`: what the step's kind will be
    start (1 bit, in), busy, done (1 bit, out): of LargeDatapath
    valid (1 bit, out): a slot
    phase (2 bits, out): the slot's number in its word, or butterfly
    is_upper (1 bit, out): the slot is its butterfly's second one; of others, an odd one
    in_order (1 bit, out): words one after the other, and no butterflies
    first_layer (1 bit, out): one of the first 256 slots
    word (8 bits, out): the slot's word
    block_ends (1 bit, out): the butterfly is the last one with its constant
    """

    def __init__(self, regions: int):
        super().__init__(
            {
                "step": In(large_step_layout(regions)),
                "next_kind": In(LargeKind),
                "start": In(1),
                **dict.fromkeys(("busy", "done", "valid", "is_upper", "in_order"), Out(1)),
                "phase": Out(2),
                "word": Out(LAYERS),
                **dict.fromkeys(("first_layer", "block_ends"), Out(1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """FETCH of UNPACK, SLOTS, then DRAIN."""
        m = Module()
        m.submodules.addresses = addresses = LargeAddresses()
        kind = self.step.kind
        bytewise = (kind == LargeKind.UNPACK) | (kind == LargeKind.PACK)
        last = kind == LargeKind.LAST
        number = Signal(range(max(SLOTS_OF.values())))
        narrow = look_up([interval(width) == 1 for width in ML_DSA_WIDTHS], self.step.width, 1)
        every = bytewise & narrow  # a word in every slot
        counts = [SLOTS_OF[step_kind] - 1 for step_kind in LargeKind]
        final = Mux(every, N - 1, look_up(counts, kind, len(number)))
        m.d.comb += [
            self.in_order.eq(look_up([step_kind in _IN_ORDER for step_kind in LargeKind], kind, 1)),
            self.is_upper.eq(number[0]),
            self.first_layer.eq(number[LAYERS:] == 0),
            self.phase.eq(Mux(every, 0, Mux(last, number[:2], number[0]))),
            addresses.ascends.eq(Mux(self.start, self.next_kind, kind) == LargeKind.INVERSE),
            addresses.begin.eq(self.start),
            addresses.butterfly.eq(Mux(last, number[2:], number[1:])),
            addresses.next_layer.eq(self.valid & number[:LAYERS].all() & ~last),
            self.block_ends.eq(addresses.block_ends),
            self.word.eq(
                Mux(
                    self.in_order,
                    Mux(every, number, number[1:]),
                    Mux(self.is_upper, addresses.upper, addresses.lower),
                )
            ),
        ]
        pause = Signal(range(DRAIN))
        with m.FSM():
            with m.State("IDLE"), m.If(self.start):
                m.d.sync += [number.eq(0), pause.eq(PREFETCH - 1)]
                m.next = "SLOTS"
                with m.If(self.next_kind == LargeKind.UNPACK):
                    m.next = "FETCH"
            with m.State("FETCH"):
                m.d.comb += self.busy.eq(1)
                m.d.sync += pause.eq(pause - 1)
                with m.If(pause == 0):
                    m.next = "SLOTS"
            with m.State("SLOTS"):
                m.d.comb += [self.busy.eq(1), self.valid.eq(1)]
                m.d.sync += [number.eq(number + 1), pause.eq(DRAIN - 1)]
                with m.If(number == final):
                    m.next = "DRAIN"
            with m.State("DRAIN"):
                m.d.comb += [self.busy.eq(1), self.done.eq(pause == 0)]
                m.d.sync += pause.eq(pause - 1)
                with m.If(self.done):
                    m.next = "IDLE"
        return m


class LargeConstants(wiring.Component):
    """Addresses of the table: a constant is addressed in the cycle before a butterfly takes it, or
    with several lanes two cycles before.

    Parameters
    ----------
    lanes (int): 1, 4 or 8

    Members
    -------
    start (1 bit, in), kind (in): of the step
    ends (1 bit, in): the slot is the last one that uses a constant
    second (1 bit, in): the slot is the third one of a butterfly of LAST, which has two constants
    address (9 bits, out)
    """

    def __init__(self, lanes: int = 1) -> None:
        self.table = large_table(lanes=lanes)
        super().__init__(
            {
                "start": In(1),
                "kind": In(LargeKind),
                **dict.fromkeys(("ends", "second"), In(1)),
                "address": Out(range(TABLE_DEPTH)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """A counter of the constants used."""
        m = Module()
        last, inverse = self.kind == LargeKind.LAST, self.kind == LargeKind.INVERSE
        used = Signal(range(TABLE_DEPTH))
        ends = delayed(m, self.ends, 5, "ends")
        second = delayed(m, last & self.second, 4, "second")
        m.d.comb += self.address.eq(used + second[4])
        with m.If(self.start):
            m.d.sync += used.eq(
                Mux(last, self.table.last_at, Mux(inverse, self.table.inverse_at, 0))
            )
        with m.Elif(Mux(inverse, ends[5], ends[2]) & ~last):
            m.d.sync += used.eq(used + 1)
        return m
