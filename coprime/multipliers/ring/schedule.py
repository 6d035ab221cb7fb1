"""The schedule of `ring`: which slot of which step is under way, and which pair of places.

The rows of the table in `RingMultiplier` are the slots here.
"""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..one_hot import OneHot
from .age import Age

__all__ = ["SLOTS", "RingSchedule", "SlotSignature"]

OLD = ("old_xy", "old_qm", "old_carry")
NEW = ("new_xy", "new_qm", "pad", "diagonal_xy", "diagonal_qm", "newest")
SLOTS = (*OLD, *NEW)
"""Of a step, in their order; the rows of the table in `RingMultiplier`."""


class SlotSignature(wiring.Signature):
    """The slot of a cycle, and the step that it is in, seen from the schedule.

    Members
    -------
    old_xy, old_qm, old_carry, new_xy, new_qm, pad, diagonal_xy, diagonal_qm, newest, idle
        Exactly one is 1: the slot, or none is under way.
    i, j : the pair's places; of a diagonal product i alone
    begins : the first slot of a step
    first : the first slot of a column's sum
    of_old : the slot belongs to the old product's column
    ends_old, ends_new : the last slot of the old product's column, of the new one's
    before, nothing_before : the next slot is the first diagonal one; it is the first of its sum
    makes_diagonal : the last diagonal one
    is_last, closing : the step is D - 1, D
    opening : the step is 0
    last_old : the old product's last column, 2D - 1
    closes : the last slot of step D; the new product becomes the old one
    """

    def __init__(self, count_bits: int):
        flags = ("begins", "first", "of_old", "ends_old", "ends_new", "before", "nothing_before")
        steps = ("makes_diagonal", "is_last", "closing", "opening", "last_old", "closes")
        super().__init__(
            {
                "idle": Out(1, init=1),
                **{name: Out(1) for name in (*SLOTS, *flags, *steps)},
                "i": Out(count_bits),
                "j": Out(count_bits),
            }
        )


class RingSchedule(wiring.Component):
    """Counts steps 0 to D, and goes through the slots of each, a cycle each.

    Step s has column s + D + 1 of the old product and column s of the new one. In step D, whose
    place in the rings is empty, the new product's column D is there alone, and its first old one.

    Parameters
    ----------
    count_bits : bits of D, which is 5 or more
    loop : cycles from a column's last slot to the first one that may use its word

    Members
    -------
    start_steps : begin with step 0 in the next cycle, while idle
    stop : there is no new product: a step has the old one's column and one PAD, so that columns end
        two cycles apart, and the last column is the end
    count : D, constant while not idle
    slot : SlotSignature, out
    stops : the last slot before it is idle
    fault : more than one slot is under way, or none
    """

    def __init__(self, count_bits: int, loop: int):
        self.count_bits = count_bits
        self.loop = loop
        super().__init__(
            {
                "start_steps": In(1),
                "stop": In(1),
                "count": In(count_bits),
                "slot": Out(SlotSignature(count_bits)),
                "stops": Out(1),
                "fault": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the state machine, a flip-flop for each slot, and the counters."""
        m = Module()
        slot, count, i = self.slot, self.count, self.slot.i
        state = OneHot(("idle", *SLOTS), "idle")
        now = state.now
        for name, flag in now.items():
            m.d.comb += getattr(slot, name).eq(flag)

        # --- The step: s, and D - 2 - s pairs of the old product ---------------------------------
        s, left = Signal(self.count_bits), Signal(self.count_bits)
        is_1, has_new_qm = Signal(), Signal()
        ends, restarts = Signal(), Signal()  # a step; of a product, with step 0
        # What s and `left` are in the next step, a cycle later than it is known: no step has one.
        next_s, next_left = Signal.like(s), Signal.like(left)
        starts_over = now["idle"] | slot.closing
        m.d.sync += [
            next_s.eq(Mux(starts_over, 0, s + 1)),
            next_left.eq(Mux(starts_over, count - 2, left - 1)),
        ]
        m.d.comb += [
            ends.eq(
                now["newest"]
                | now["diagonal_xy"] & slot.opening
                | now["diagonal_qm"] & is_1
                | now["pad"] & self.stop
            ),
            slot.closes.eq(ends & slot.closing),
            restarts.eq(now["idle"] | slot.closes),
            self.stops.eq(ends & slot.last_old & self.stop),
        ]
        has_old = Signal()
        goes_on = restarts | has_old & (left != 0)  # the next step has a column of the old product
        with m.If(restarts | ends):
            m.d.sync += [
                s.eq(next_s),
                left.eq(next_left),
                has_old.eq(goes_on),
                slot.opening.eq(restarts),
                is_1.eq(slot.opening & ~restarts),
                has_new_qm.eq(next_s[2:].any()),
                slot.last_old.eq(goes_on & (next_left == 0)),
                slot.is_last.eq(next_s + 1 == count),
                slot.closing.eq(next_s == count),
            ]
        m.d.sync += slot.begins.eq(now["idle"] & self.start_steps | ends & ~self.stops)

        # --- From `loop` - 1 on the step may use the word of the last slot before it -------------
        m.submodules.age = age = Age(self.loop - 2)
        m.d.comb += age.restart.eq(restarts | ends)
        waited = age.reached

        # --- From slot to slot -------------------------------------------------------------------
        crosses = Signal()  # pairs of the old product: the next one inside would be none
        old_ends, early_ends = Signal(), Signal()
        m.d.comb += [
            old_ends.eq(now["old_qm"] & crosses | now["old_carry"]),
            early_ends.eq(
                old_ends & (slot.opening | self.stop)
                | now["new_xy"] & (i == slot.closing) & ~has_new_qm
                | now["new_qm"] & (i == 1)
                | now["pad"]
            ),
        ]
        begins = ends & ~self.stops
        state.change("idle", "old_xy", self.start_steps)
        state.change("old_xy", "old_qm", crosses)
        for name in ("old_qm", "old_carry"):
            state.change(name, "new_xy", old_ends & ~slot.opening & ~self.stop)
        state.change("new_xy", "new_qm", (i == slot.closing) & has_new_qm)
        for name in ("old_qm", "old_carry", "new_xy", "new_qm", "pad"):
            goes_on_new = early_ends & waited & ~self.stop
            if name != "pad":
                state.change(name, "pad", early_ends & (self.stop | ~waited))
            state.change(name, "diagonal_xy", goes_on_new & ~slot.closing)
            state.change(name, "newest", goes_on_new & slot.closing)
        state.change("diagonal_xy", "diagonal_qm", ~slot.opening)
        state.change("diagonal_qm", "newest", ~is_1)
        for name in ("diagonal_xy", "diagonal_qm", "newest", "pad"):
            state.change(name, "old_xy", begins & goes_on & next_left[1:].any())
            state.change(name, "old_qm", begins & goes_on & (next_left == 1))
            state.change(name, "old_carry", begins & goes_on & (next_left == 0))
            state.change(name, "new_xy", begins & ~goes_on)
            state.change(name, "idle", self.stops)
        state.build(m)
        self._count_pairs(m, state, s, next_s, restarts | ends, crosses)
        is_old = slot.old_xy | slot.old_qm | slot.old_carry
        m.d.sync += slot.first.eq(restarts | ends | old_ends)
        m.d.comb += [
            slot.of_old.eq(is_old | slot.closing),
            slot.ends_old.eq(old_ends | slot.closes),
            slot.ends_new.eq(ends & ~slot.closing & ~self.stop),
            slot.before.eq(state.next["diagonal_xy"] & ~is_old),
            slot.nothing_before.eq(state.next["diagonal_xy"] & is_old),
            slot.makes_diagonal.eq(now["diagonal_qm"] | now["diagonal_xy"] & slot.opening),
            self.fault.eq(~state.valid),
        ]
        return m

    def _count_pairs(
        self,
        m: Module,
        state: OneHot,
        s: Value,
        next_s: Value,
        next_step: Value,
        crosses: Signal,
    ) -> None:
        """The places of the next slot, in step `s` or, with `next_step`, the first one of `next_s`.

        Pairs of the old product go inwards from D - 1, those of the new one outwards: the one with
        the newest word is the last.
        """
        i, j, now, then = self.slot.i, self.slot.j, state.now, state.next
        last = self.count - 1
        less, next_less = (Signal(self.count_bits, name=name) for name in ("less", "next_less"))
        m.d.comb += [less.eq(s - 1), next_less.eq(next_s - 1)]
        starts: dict[str, tuple[Value | int, Value | int]] = {
            "old_xy": (next_s + 2, last),
            "old_qm": (Mux(next_step, next_s + 1, s + 1), last),
            "new_xy": (
                Mux(next_step, next_less[1:], less[1:]),
                Mux(next_step, next_s[1:] + 1, s[1:] + 1),
            ),
            "new_qm": (s[1:] - 1, less[1:] + 1),
            "diagonal_xy": (s, s),
            "diagonal_qm": (less, less),
            "newest": (0, less),
        }
        # Whether the first pair is the only one: first + 2 >= last.
        alone = {
            "old_xy": next_s + 4 >= last,
            "old_qm": Mux(next_step, next_s + 3 >= last, s + 3 >= last),
        }
        for name, (first, second) in starts.items():
            with m.If(then[name] & ~now[name]):
                m.d.sync += [i.eq(first), j.eq(second)]
                if name in alone:
                    m.d.sync += crosses.eq(alone[name])
        with m.If(now["old_xy"] & then["old_xy"] | now["old_qm"] & then["old_qm"]):
            m.d.sync += [i.eq(i + 1), j.eq(j - 1), crosses.eq(i + 4 >= j)]
        with m.If(now["new_xy"] & then["new_xy"] | now["new_qm"] & then["new_qm"]):
            m.d.sync += [i.eq(i - 1), j.eq(j + 1)]
