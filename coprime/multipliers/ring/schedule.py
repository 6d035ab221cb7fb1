"""The schedule of `ring`: the current slot and step, and the pair of places.

The rows of the table in `RingMultiplier` are the slots here.
"""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.wires import same_named

from ..one_hot import OneHot
from .age import Age
from .column_steps import Steps
from .multiplication import RingMultiplication
from .slot_signatures import ProductSignature, RingSlotSignature

OLD = ("old_xy", "old_qm", "old_carry")
NEW = ("new_xy", "new_qm", "pad", "diagonal_xy", "diagonal_qm", "newest")
SLOTS = (*OLD, *NEW)  # of a step, in their order; the rows of the table in `RingMultiplier`


class RingSchedule(wiring.Component):
    """Counts steps 0 to D + d and their slots, one per cycle, for one tile.

    Step s has column s + D + 1 + d of the old product and column s of the new one. From step D on,
    whose places in the rings are empty, the new product's columns are alone, its first old ones.

    Parameters
    ----------
    place_bits : bits of D
    multiplication : RingMultiplication, with one tile

    Members
    -------
    starts_steps : begin with step 0 in the next cycle, while idle
    stop : there is no new product: a step has the old one's column and one PAD, or two with `skew`,
        so that columns end two or three cycles apart, and the last column is the end
    count : D, constant while not idle
    slot (RingSlotSignature, out)
    products (ProductSignature for each tile, out)
    stops : the last slot before it is idle
    fault : more than one slot is active, or none
    """

    def __init__(self, place_bits: int, multiplication: RingMultiplication):
        self.place_bits, self.multiplication = place_bits, multiplication
        ports = {
            **dict.fromkeys(("starts_steps", "stop"), In(1)),
            "count": In(place_bits),
            "slot": Out(RingSlotSignature()),
            "products": Out(ProductSignature(place_bits)).array(1),
            **dict.fromkeys(("stops", "fault"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Build the state machine, a flip-flop for each slot, and the counters."""
        m = Module()
        slot, i = self.slot, self.products[0].i
        state = OneHot(("idle", *SLOTS), "idle")
        now = state.now
        computes, delay = self.multiplication, self.multiplication.delay
        m.submodules.steps = steps = Steps(self.place_bits, computes.ahead, 4 + delay)
        closing = steps.closing
        # In step d + 1 q has its first word, in earlier steps none.
        opening, has_new_qm = ~steps.reached[0], steps.reached[3 + delay]
        has_no_q, has_q_0 = ~steps.reached[delay], steps.reached[delay] & ~steps.reached[1 + delay]
        # With d = 1 the pair of step 1, whose x_1 is as new as x_0, waits like a diagonal product.
        pair_waits: Value = steps.reached[0] & has_no_q if delay else Const(0)
        ends = Signal()
        # In the second cycle of a PAD, or with no skew in the first one.
        padded: Value = Const(1)
        if computes.skew:
            padded = Signal()
            m.d.sync += padded.eq(now["pad"] & ~padded)
        m.d.comb += [
            steps.count.eq(self.count),
            steps.idle.eq(now["idle"]),
            steps.ends.eq(ends),
            ends.eq(
                now["newest"]
                | now["diagonal_xy"] & has_no_q
                | now["diagonal_qm"] & has_q_0
                | now["pad"] & self.stop & padded
            ),
            self.stops.eq(ends & steps.last_old & self.stop),
        ]
        m.d.sync += slot.begins.eq(now["idle"] & self.starts_steps | ends & ~self.stops)

        waited = self._wait(m, now["idle"] | ends, (opening, pair_waits, has_q_0, slot.closing))

        # --- From slot to slot -------------------------------------------------------------------
        crosses = Signal()  # pairs of the old product: the next one inside would be none
        old_ends, early_ends = Signal(), Signal()
        # The outermost pair's i is 0; in step D it is 1, and in step D + 1 it is 2.
        outermost: Value = closing
        if delay:
            outermost = Mux(closing, Mux(steps.is_turn, 1, 2), 0)
        ends_xy = i == outermost
        m.d.comb += [
            old_ends.eq(now["old_qm"] & crosses | now["old_carry"]),
            early_ends.eq(
                old_ends & (has_no_q | self.stop)
                | now["new_xy"] & ends_xy & ~has_new_qm
                | now["new_qm"] & (i == 1)
                | now["pad"]
            ),
        ]
        begins = ends & ~self.stops
        state.change("idle", "old_xy", self.starts_steps)
        state.change("old_xy", "old_qm", crosses)
        for name in ("old_qm", "old_carry"):
            state.change(name, "new_xy", old_ends & ~has_no_q & ~self.stop)
        state.change("new_xy", "new_qm", ends_xy & has_new_qm)
        for name in ("old_qm", "old_carry", "new_xy", "new_qm", "pad"):
            goes_on_new = early_ends & waited & ~self.stop
            if name != "pad":
                state.change(name, "pad", early_ends & (self.stop | ~waited))
            if name == "new_xy" or not delay:
                state.change(name, "diagonal_xy", goes_on_new & ~closing)
            else:
                state.change(name, "diagonal_xy", goes_on_new & ~closing & ~pair_waits)
                state.change(name, "new_xy", goes_on_new & pair_waits)
            state.change(name, "newest", goes_on_new & closing)
        state.change("diagonal_xy", "diagonal_qm", ~has_no_q)
        state.change("diagonal_qm", "newest", ~has_q_0)
        self._change_to_next_step(state, steps, begins)
        state.build(m)
        self._count_pairs(m, state, steps, crosses)
        self._show(m, state, steps, ends, old_ends, (opening, has_no_q))
        return m

    def _show(
        self,
        m: Module,
        state: OneHot,
        steps: Steps,
        ends: Signal,
        old_ends: Signal,
        of_step: tuple[Value, Value],
    ) -> None:
        """The slot, and the product in it; `of_step` is whether it is the first, and has no q."""
        slot, product, now = self.slot, self.products[0], state.now
        closing, delay = steps.closing, self.multiplication.delay
        opening, has_no_q = of_step
        is_old = now["old_xy"] | now["old_qm"] | now["old_carry"]
        of_q = now["old_qm"] | now["new_qm"] | now["diagonal_qm"] | now["newest"]
        m.d.sync += product.first.eq(now["idle"] | ends | old_ends)
        m.d.comb += [
            product.of_q.eq(of_q),
            product.pair.eq(
                now["old_xy"] | now["old_qm"] | now["new_xy"] | now["new_qm"] | now["newest"]
            ),
            product.diagonal.eq(now["diagonal_xy"] | now["diagonal_qm"]),
            product.of_old.eq(slot.of_old),
            *same_named(slot, steps, "is_last", "is_turn", "closing", "last_old"),
            slot.of_old.eq(is_old | closing),
            slot.ends_old.eq(old_ends | (ends & closing if delay else slot.closes)),
            slot.ends_new.eq(ends & ~closing & ~self.stop),
            slot.turns.eq(ends & steps.is_last),
            slot.closes.eq(ends & (steps.is_end if delay else closing)),
            slot.before.eq(state.next["diagonal_xy"]),
            slot.nothing_before.eq(opening),
            slot.makes_diagonal.eq(now["diagonal_qm"] | now["diagonal_xy"] & has_no_q),
            self.fault.eq(~state.valid),
        ]

    def _change_to_next_step(self, state: OneHot, steps: Steps, begins: Value) -> None:
        """From the last slot of a step to the first one of the next step, or to the end."""
        delay = self.multiplication.delay
        next_left, goes_on = steps.next_left, steps.goes_on
        for name in ("diagonal_xy", "diagonal_qm", "newest", "pad"):
            state.change(name, "old_xy", begins & goes_on & next_left[1:].any())
            if delay:  # its column ends with pairs of zeros of M'
                state.change(name, "old_qm", begins & goes_on & (next_left[1:] == 0))
            else:
                state.change(name, "old_qm", begins & goes_on & (next_left == 1))
                state.change(name, "old_carry", begins & goes_on & (next_left == 0))
            state.change(name, "new_xy", begins & ~goes_on)
            state.change(name, "idle", self.stops)

    def _wait(self, m: Module, restart: Value, steps: Sequence[Value]) -> Value:
        """Whether the next slot can be the first one that may need a new word of q.

        `steps` are: it is step 0; its pair waits; it is step d + 1; D or a later one.
        """
        computes = self.multiplication
        opening, pair_waits, has_q_0, closing = steps
        # With d = 0, from cycle `loop` - 1 on the step may use the word of the last slot before it,
        # which the first diagonal product does not need, but in steps 0 and 1. With d = 1, three
        # slots after the body, or two, or one, make it as long as it has to be.
        first = computes.least_step - 3 if computes.delay else computes.loop - 2
        m.submodules.age = age = Age(first - 1)
        m.d.comb += age.restart.eq(restart)
        waited: list[Value] = [age.reached]
        for k in range(computes.ahead):
            longer = Signal(name=f"waited_{k}_longer" if k else "waited_longer")
            m.d.sync += longer.eq(waited[-1] & ~age.restart)
            waited.append(longer)
        if not computes.delay:
            return Mux(opening | has_q_0 | closing, waited[1], waited[0])
        with_two = Mux(pair_waits | has_q_0, waited[1], waited[0])
        return Mux(opening | closing, waited[2], with_two)

    def _count_pairs(self, m: Module, state: OneHot, steps: Steps, crosses: Signal) -> None:
        """The places of the next slot, in the step or the first one of the next step.

        Pairs of the old product go inwards from D - 1, those of the new one outwards: the one with
        the newest word is the last.
        """
        product, now, then = self.products[0], state.now, state.next
        i, j, s, next_s = product.i, product.j, steps.s, steps.next_s
        # The step has no other slot before these, so flip-flops select, not `ends`.
        in_step = {"old_qm": now["old_xy"], "new_xy": now["old_qm"] | now["old_carry"]}
        if self.multiplication.delay:
            in_step["new_xy"] |= now["pad"]
        last = self.count - 1
        less, next_less = (Signal(self.place_bits, name=name) for name in ("less", "next_less"))
        m.d.comb += [less.eq(s - 1), next_less.eq(next_s - 1)]
        ahead = self.multiplication.ahead
        newest, inner_qm = less, (s[1:] - 1, less[1:] + 1)  # of q; the innermost pair
        if ahead == 2:
            newest, inner_qm = Signal.like(less, name="newest"), (less[1:] - 1, s[1:])
            m.d.comb += newest.eq(s - 2)
        starts: dict[str, tuple[Value | int, Value | int]] = {
            "old_xy": (next_s + (1 + ahead), last),
            "old_qm": (Mux(in_step["old_qm"], s, next_s) + 1, last),
            "new_xy": (
                Mux(in_step["new_xy"], less[1:], next_less[1:]),
                Mux(in_step["new_xy"], s[1:], next_s[1:]) + 1,
            ),
            "new_qm": inner_qm,
            "diagonal_xy": (s, s),
            "diagonal_qm": (newest, newest),
            "newest": (0, newest),
        }
        # Whether the first pair is the only one: first + 2 >= last.
        alone = {
            "old_xy": next_s + (3 + ahead) >= last,
            "old_qm": Mux(in_step["old_qm"], s + 3 >= last, next_s + 3 >= last),
        }
        # At most one of these is 1, so none waits for another.
        cases = [
            (then[name] & ~now[name], first, second, alone.get(name, 0))
            for name, (first, second) in starts.items()
        ]
        inwards = now["old_xy"] & then["old_xy"] | now["old_qm"] & then["old_qm"]
        outwards = now["new_xy"] & then["new_xy"] | now["new_qm"] & then["new_qm"]
        cases += [(inwards, i + 1, j - 1, i + 4 >= j), (outwards, i - 1, j + 1, 0)]
        with m.If(Cat(case[0] for case in cases).any()):
            for register, column in ((i, 1), (j, 2), (crosses, 3)):
                m.d.sync += register.eq(
                    reduce(or_, (Mux(case[0], case[column], 0) for case in cases))
                )
