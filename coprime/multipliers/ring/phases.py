"""The phases of `ring`: what is read, when products begin, and the rounds modulo M."""

from amaranth.hdl import Const, Module, Mux, Signal, Value, ValueLike, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.wires import same_named

from ..contract import READ_LATENCY, Role
from ..delays import history
from ..one_hot import OneHot
from .age import Age
from .multiplication import RingMultiplication
from .product_request import ProductRequest
from .products import Products
from .slot_signatures import RingSlotSignature

__all__ = ["Phases"]

PHASES = (
    *("idle", "load_x", "steps", "settle"),
    *("load_c", "quotient", "load_m", "columns", "finish", "wipe_all"),
)
"""In their order; the rows of the table in `Phases`."""

LAST = -1
"""The last place of a ring, which no word of an operand has: in a round, of q and c."""


class Phases(wiring.Component):
    """Reads operands into the rings, starts the schedule, and makes the slots of a round.

    ========== ==================================================================================
    phase      what it does
    ========== ==================================================================================
    LOAD_X     X into its ring, also into Y's for a square; for a preparation 1, then zeros
    STEPS      the schedule has the slots; Y is read, a word a step
    SETTLE     the last words go to their rings; then the end, or a round
    LOAD_C     c into Y's ring, into the last place
    QUOTIENT   the slot q = S_0 * c; q goes to the last place of X's ring
    LOAD_M     M into Y's ring, and behind it a 1; q is made
    COLUMNS    two slots a column: q * M_k, S_k * 1; with `skew` a third one, without use
    FINISH     the last words go to their rings; then the end, or with d = 1 a second round, from
               QUOTIENT on, with M and c where they are
    WIPE_ALL   zeros into all places of all rings, each for two cycles
    ========== ==================================================================================

    Parameters
    ----------
    place_bits : bits of a place
    multiplication : RingMultiplication

    Members
    -------
    start, prepare, wipe, descale, chained, squares, inner_digits, rounds, longest_digits,
    multiplier_is_one, takes, turns, done, busy, a_role, a_index, b_of_next
        As in `OverlappingMultiplierSignature`.
    slot : RingSlotSignature, in; stops : in, of the schedule
    start_steps, stop, count : out, for the schedule
    inner, shift : words of the result; places by which Y is higher than its words
    old_exists, new_exists : the schedule's products are no padding
    writes : the old product's words are a result for the memory
    squaring : the new product is a square
    preparing : M' is made
    in_columns : COLUMNS, and FINISH
    in_round, crossed, first, i, j : it is a round's slot; its product
    ends, gives_quotient, gives_result : it ends a column, whose word is q, or one of the result
    clear : the sums begin anew
    wipes : zeros go to place `place` of all rings
    loads_x, place : a word of port A comes for X's ring, and where it goes
    loads_y, place_y, y_of_b : the same for Y's ring; it is of port B, if so
    zero, one : in place of port A's word there is `one`, if `zero` is 1
    zero_b, one_b : the same of port B
    port_b_taken : port B writes; nothing can be read
    inverse_is_odd : what port A reads is odd
    b_index : the word of Y that is asked for
    fault : c is even, or more than one phase is under way
    """

    def __init__(self, place_bits: int, count_bits: int, multiplication: RingMultiplication):
        self.place_bits = place_bits
        self.multiplication = multiplication
        inputs = ("start", "prepare", "wipe", "descale", "chained", "squares", "multiplier_is_one")
        counts = ("inner_digits", "rounds", "longest_digits")
        flags = (
            *("takes", "turns", "done", "busy", "b_of_next", "start_steps", "stop"),
            *("old_exists", "new_exists", "writes", "squaring", "preparing", "in_columns"),
            *(
                "in_round",
                "crossed",
                "first",
                "ends",
                "gives_quotient",
                "gives_result",
                "clear",
                "wipes",
            ),
            *("loads_x", "zero", "one", "loads_y", "zero_b", "one_b", "y_of_b", "fault"),
        )
        places = ("count", "inner", "shift", "i", "j", "place", "place_y")
        super().__init__(
            {
                **dict.fromkeys((*inputs, "stops", "port_b_taken", "inverse_is_odd"), In(1)),
                **dict.fromkeys(counts, In(count_bits)),
                "slot": In(RingSlotSignature()),
                **dict.fromkeys(flags, Out(1)),
                **dict.fromkeys(places, Out(place_bits)),
                "a_role": Out(Role),
                "a_index": Out(count_bits),
                "b_index": Out(count_bits),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the phases, a flip-flop for each, and their counters."""
        m = Module()
        phase = OneHot(PHASES, "idle")
        now = phase.now
        slot, bits = self.slot, self.place_bits
        computes = self.multiplication

        # --- The product that is wanted, and those under way -------------------------------------
        m.submodules.request = request = ProductRequest(bits, len(self.rounds), computes)
        m.submodules.products = products = Products(bits, len(self.rounds))
        joining = Signal()
        k = Signal(bits)
        below = Signal()  # k is still below 0, where a square's Y is 0
        leaves_load = now["load_x"] & (k == self.count) & ~below
        m.d.comb += [
            joining.eq(
                slot.begins
                & slot.is_turn
                & request.asked
                & self.chained
                & self.new_exists
                & ~products.descales
            ),
            self.start_steps.eq(leaves_load & ~self.preparing),
            self.takes.eq(leaves_load | slot.closes & products.joins),
            self.turns.eq(slot.turns),
            self.stop.eq(~self.new_exists),
            self.busy.eq(~now["idle"] | request.waits),
        ]
        # After a fault the sequencer may wipe while a product is under way.
        must_wipe, wiped_soon = Signal(), Signal()
        m.d.comb += must_wipe.eq(self.wipe | wiped_soon)
        m.d.sync += wiped_soon.eq(must_wipe & ~now["idle"])
        begins = now["idle"] & request.asked & ~must_wipe
        self._connect_products(m, request, products, begins, joining, now["load_c"])

        # --- The phases --------------------------------------------------------------------------
        loaded = Signal()
        # D and the words of M have long been known where this is used.
        words_of_m = Signal(bits)
        m.d.sync += words_of_m.eq(self.count + 1)
        m.d.comb += loaded.eq(k == words_of_m)
        waits = now["settle"] | now["finish"] | now["load_m"] & loaded
        m.submodules.age = age = Age(computes.loop)
        m.d.comb += age.restart.eq(~waits)
        settled = age.reached
        got_c = history(m, "got_c", now["load_c"], READ_LATENCY + 1, reset=True)
        is_last_round: Value = Const(1, 1)
        if computes.ahead == 2:
            is_last_round = Signal()
            with m.If(now["load_c"] | now["finish"] & settled):
                m.d.sync += is_last_round.eq(now["finish"])
        second = Signal()  # the second cycle of a column, or of a place that is wiped
        third = Signal()  # of a column, whose slot is then the next one's first slot
        last_column = second & (k == self.count)
        ends_load_m = now["load_m"] & settled  # `age` counts where M is loaded
        phase.change("idle", "load_x", begins)
        phase.change("idle", "wipe_all", must_wipe)
        phase.change("wipe_all", "idle", k.all() & second)
        phase.change("load_x", "steps", leaves_load & ~self.preparing)
        phase.change("load_x", "settle", leaves_load & self.preparing)
        phase.change("steps", "settle", self.stops)
        phase.change("settle", "load_c", settled & (products.descales | self.preparing))
        phase.change("settle", "idle", settled & ~products.descales & ~self.preparing)
        phase.change("load_c", "quotient", got_c[-1])
        phase.change("quotient", "load_m")
        phase.change("load_m", "columns", ends_load_m)
        phase.change("columns", "finish", last_column)
        phase.change("finish", "idle", settled & is_last_round)
        phase.change("finish", "quotient", settled & ~is_last_round)
        phase.build(m)
        m.d.sync += second.eq((now["columns"] | now["wipe_all"]) & ~second & ~third)
        if computes.skew:
            m.d.sync += third.eq(now["columns"] & second)
        counts = now["load_x"] | now["load_m"] & ~loaded
        with m.If(counts | (now["columns"] | now["wipe_all"]) & second):
            m.d.sync += k.eq(k + 1)
        with m.If(begins | must_wipe | now["load_c"] | ends_load_m):
            m.d.sync += [k.eq(0), below.eq(0)]
        with m.Elif(k.all()):
            m.d.sync += below.eq(0)
        with m.If(begins & ~request.prepares):
            m.d.sync += [k.eq(-request.shift), below.eq(request.shift != 0)]
        m.d.comb += [
            self.done.eq(
                self.takes & ~request.prepares & ~self.descale
                | now["finish"] & settled & is_last_round
            ),
            self.in_columns.eq(now["columns"] | now["finish"]),
            self.wipes.eq(now["wipe_all"]),
            self.clear.eq(now["idle"] | now["load_x"] | now["quotient"] | ends_load_m),
            self.writes.eq(Mux(self.in_columns, ~self.preparing, ~products.old_descales)),
        ]
        self._request(
            m,
            now,
            k,
            below,
            loaded,
            ends_load_m,
            got_c,
            request.shift,
            products.is_one,
            begins & ~request.prepares,
            joining,
        )
        self._make_slots(m, now, k, second)
        even = Signal()  # what is read comes late in its cycle
        m.d.sync += even.eq(got_c[READ_LATENCY] & self.preparing & ~self.inverse_is_odd)
        m.d.comb += self.fault.eq(~phase.valid | even)
        return m

    def _connect_products(
        self,
        m: Module,
        request: ProductRequest,
        products: Products,
        begins: Value,
        joining: Signal,
        leaves: Signal,
    ) -> None:
        """What is asked for, and what becomes of it."""
        m.d.comb += [
            *same_named(request, self, "start", "prepare", "takes", "descale"),
            *same_named(request, self, "inner_digits", "rounds", "longest_digits"),
            request.drops.eq(self.wipe),
        ]
        m.d.comb += [
            products.begins.eq(begins),
            products.joining.eq(joining),
            *same_named(products, self.slot, "turns", "closes"),
            products.leaves.eq(leaves),
            products.asked_count.eq(request.count),
            products.asked_shift.eq(request.shift),
            products.asked_inner.eq(self.inner_digits),
            products.prepares.eq(request.prepares),
            *same_named(products, self, "squares", "descale", "multiplier_is_one"),
            *same_named(self, products, "count", "inner", "shift", "preparing", "squaring"),
            *same_named(self, products, "old_exists", "new_exists"),
        ]

    def _make_slots(self, m: Module, now: dict[str, Signal], k: Signal, second: Signal) -> None:
        """The slots of a round: S_0 * c; then q * M_k and S_k * 1."""
        columns, quotient = now["columns"], now["quotient"]
        m.d.comb += [
            self.in_round.eq(quotient | columns),
            # No q * M_D: there is the 1.
            self.crossed.eq(quotient | second | columns & (k != self.count)),
            self.first.eq(~second),
            self.i.eq(Mux(second, k, Mux(quotient, 0, LAST))),
            self.j.eq(Mux(second, self.count, Mux(quotient, LAST, k))),
            self.ends.eq(quotient | columns & second),
            self.gives_quotient.eq(quotient),
            self.gives_result.eq(columns & second),
        ]

    def _request(
        self,
        m: Module,
        now: dict[str, Signal],
        k: Signal,
        below: Signal,
        loaded: Signal,
        puts_one: Value,
        got_c: list[Signal],
        shift: Signal,
        is_one: Signal,
        begins: Value,
        joining: Signal,
    ) -> None:
        """What is asked of the memory, and the words that come READ_LATENCY cycles later."""
        slot, bits = self.slot, self.place_bits
        loads_m = now["load_m"] & ~loaded
        beyond = (k >= self.inner) | below
        # --- Port A: X, M or c ------------------------------------------------------------------
        m.d.comb += [
            self.a_role.eq(Role.MULTIPLICAND),
            self.a_index.eq(k),
        ]
        with m.If(now["load_m"]):
            m.d.comb += self.a_role.eq(Role.MODULUS)
        with m.If(now["load_c"]):
            m.d.comb += self.a_role.eq(Role.INVERSE)

        def came(name: str, value: ValueLike) -> Signal:
            return history(m, name, value, READ_LATENCY, reset=True)[-1]

        came_x, came_m = came("asks_x", now["load_x"]), came("asks_m", loads_m)
        came_below = came("below", below)
        place_a = came("asked_place", k)
        zero_a = came("beyond", beyond | now["load_x"] & self.preparing)
        is_0 = came("is_0", now["load_x"] & self.preparing & (k == 0))
        m.d.comb += [
            self.loads_x.eq(came_x & ~came_below | self.wipes),
            self.place.eq(Mux(self.wipes, k, place_a)),
        ]
        # --- Port B: Y --------------------------------------------------------------------------
        wants, asks = Signal(), Signal()
        index, place = Signal(signed(bits + 1)), Signal(bits)
        of_new = slot.begins & ~slot.closing & ~slot.is_last & self.new_exists & ~self.squaring
        m.d.comb += [
            asks.eq(wants & ~self.port_b_taken),
            self.b_index.eq(index),
            self.b_of_next.eq(place == 0),
        ]
        first_word = begins | joining
        with m.If(first_word & ~self.squares):
            m.d.sync += [wants.eq(1), place.eq(0)]
            m.d.sync += index.eq(-shift)
        with m.Elif(of_new):
            m.d.sync += wants.eq(1)
        with m.Elif(asks):
            m.d.sync += [wants.eq(0), place.eq(place + 1), index.eq(index + 1)]
        is_one = Mux(place == 0, self.multiplier_is_one, is_one)
        came_y, came_place = came("asks_y", asks), came("asked_place_y", place)
        generated = came("y_is_zero", (index < 0) | is_one)
        y_one = came("y_is_one", is_one & (index == 0))
        came_c = got_c[READ_LATENCY]
        shifted = self.place + Mux(came_x, self.shift, 0)
        m.d.comb += [
            self.loads_y.eq(
                came_y | came_m | came_x & self.squaring | came_c | puts_one | self.wipes
            ),
            self.place_y.eq(
                Mux(
                    came_y,
                    came_place,
                    Mux(came_c, LAST, Mux(puts_one, self.count, shifted)),
                )
            ),
            self.zero.eq(zero_a & ~came_c | puts_one | self.wipes),
            self.one.eq(is_0 | puts_one),
            self.zero_b.eq(generated),
            self.one_b.eq(y_one),
            self.y_of_b.eq(came_y),
        ]
