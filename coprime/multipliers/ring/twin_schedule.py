"""The schedule of `ring` for two tiles: the current slot and step of each.

The rows of the table in `TwinSchedule` are the slots here.
"""

from amaranth.hdl import Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.wires import same_named

from ..one_hot import OneHot
from .age import Age
from .column_steps import Steps
from .multiplication import RingMultiplication
from .slot_signatures import ProductSignature, RingSlotSignature
from .tile_pairs import TilePairs


class TwinSchedule(wiring.Component):
    """Counts the slots of steps 0 to D + d for two tiles: X * Y, and q * M'.

    With u = s for X and Y, and u = s - 1 - d for q and M', both have the same slots in step s:

    ========= ================= ==================================================================
    slot      count             product
    ========= ================= ==================================================================
    OLD       (D-2-d-s) / 2     pairs of X and Y, i + j = u + D + 1 + d, inwards from j = D - 1
              (D-1-s) / 2, 1    of q and M', or nothing: the old column ends with it
    NEW       (u + 1) / 2 - 1   pairs, i + j = u, outwards, except the last one
    PAD                         nothing, until the other tile is ready, and the newest word
    NEWEST    s > 0: 1          (0, u), the last pair
    DIAGONAL  s < D: 1          u, u
    ========= ================= ==================================================================

    (divisions by 2 are rounded down; minimum after the comma). NEWEST and DIAGONAL are in the same
    cycles for both tiles, so that e_s is the difference of two sums over both tiles. X * Y has the
    last pair of the old column in the same cycle as q * M', a cycle earlier, or has none.

    Parameters
    ----------
    place_bits : bits of a place
    multiplication : RingMultiplication, with two tiles

    Members
    -------
    As in `RingSchedule`.
    """

    def __init__(self, place_bits: int, multiplication: RingMultiplication):
        self.place_bits, self.multiplication = place_bits, multiplication
        ports = {
            **dict.fromkeys(("starts_steps", "stop"), In(1)),
            "count": In(place_bits),
            "slot": Out(RingSlotSignature()),
            "products": Out(ProductSignature(place_bits)).array(2),
            **dict.fromkeys(("stops", "fault"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Build the common part of both tiles, and the pairs of each."""
        m = Module()
        slot, ahead = self.slot, self.multiplication.ahead
        state = OneHot(("idle", "body", "newest", "diagonal"), "idle")
        now = state.now
        m.submodules.steps = steps = Steps(self.place_bits, ahead, 3 + ahead)
        ends, begins = Signal(), Signal()
        m.d.comb += [
            steps.count.eq(self.count),
            steps.idle.eq(now["idle"]),
            steps.ends.eq(ends),
            ends.eq(now["diagonal"] | now["newest"] & (steps.closing | self.stop)),
            self.stops.eq(ends & steps.last_old & self.stop),
            begins.eq(now["idle"] & self.starts_steps | ends & ~self.stops),
        ]
        m.d.sync += slot.begins.eq(begins)
        xy, qm = self._make_pairs(m, steps, begins, state)

        # --- The newest word may be used from `least_step` - 2 on, else a cycle later ------------
        m.submodules.age = age = Age(self.multiplication.least_step - 3)
        opening = ~steps.reached[0]
        m.d.comb += age.restart.eq(now["idle"] | ends | slot.begins & (opening | steps.closing))
        goes_on = Mux(self.stop, qm.old_ends, xy.ready & qm.ready & age.reached)
        state.change("idle", "body", self.starts_steps)
        state.change("body", "newest", goes_on & (~opening | self.stop))
        state.change("body", "diagonal", goes_on & opening & ~self.stop)
        state.change("newest", "diagonal", ~ends)
        for name in ("newest", "diagonal"):
            state.change(name, "body", ends & ~self.stops)
            state.change(name, "idle", self.stops)
        state.build(m)

        # --- Sums of columns ---------------------------------------------------------------------
        had_old = Signal()  # the old column has pairs of X and Y in this step
        with m.If(begins):
            m.d.sync += had_old.eq(xy.has_old)
        m.d.comb += [
            *same_named(slot, steps, "is_last", "is_turn", "closing", "last_old"),
            slot.of_old.eq(qm.old | steps.closing),
            slot.ends_old.eq(qm.old_ends | ends & steps.closing),
            slot.ends_new.eq(now["diagonal"]),
            slot.waits.eq(qm.old_ends & ~xy.old & had_old),
            slot.is_missing.eq(qm.old_ends & ~had_old),
            slot.turns.eq(ends & steps.is_last),
            slot.closes.eq(ends & steps.is_end),
            slot.before.eq(state.next["diagonal"]),
            slot.nothing_before.eq(opening),
            slot.makes_diagonal.eq(now["diagonal"]),
            self.fault.eq(~state.valid),
        ]
        return m

    def _make_pairs(
        self, m: Module, steps: Steps, begins: Signal, state: OneHot
    ) -> tuple[TilePairs, TilePairs]:
        """The pairs and products of both tiles."""
        bits, ahead = self.place_bits, self.multiplication.ahead
        m.submodules.xy = xy = TilePairs(bits, ahead)
        m.submodules.qm = qm = TilePairs(bits, ahead)
        # After the step's numbers are valid, and early enough for the next step.
        less, next_less = Signal(bits), Signal(bits)
        m.d.sync += next_less.eq(steps.next_s - ahead)
        with m.If(begins):
            m.d.sync += less.eq(next_less)
        goes_on, next_left = steps.goes_on, steps.next_left
        m.d.comb += [
            xy.sum.eq(steps.s),
            xy.next_sum.eq(steps.next_s),
            xy.has_old.eq(goes_on & next_left[1:].any()),
            xy.first_place.eq(steps.next_s + 1 + ahead),
            xy.pairs.eq(next_left >> 1),
            # Steps D and D + 1: places from 1 and from 2 on.
            xy.lowest.eq(Mux(steps.closing, Mux(steps.is_turn, 1, ahead), 0)),
            qm.sum.eq(less),
            qm.next_sum.eq(next_less),
            qm.has_old.eq(goes_on),
            qm.first_place.eq(steps.next_s + 1),
            qm.pairs.eq(next_left + ahead >> 1),
        ]
        for tile, first in ((xy, 0), (qm, ahead)):
            # u is 0 from step `first` on.
            reached = (Const(1), *steps.reached)
            product = self.products[tile is qm]
            m.d.comb += [
                *same_named(tile, self, "count", "stop"),
                tile.begins.eq(begins),
                tile.many.eq(reached[first + 3]),
                tile.next_many.eq(reached[first + 2]),
                tile.diagonal.eq(state.next["diagonal"]),
                *same_named(product, tile, "i", "j", "first"),
                product.pair.eq(
                    tile.old | tile.new | state.now["newest"] & reached[first + 1] & ~self.stop
                ),
                product.diagonal.eq(state.now["diagonal"] & reached[first]),
                product.of_old.eq(tile.old | steps.closing),
            ]
        return xy, qm
