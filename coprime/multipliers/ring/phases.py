"""The phases of `ring`: the begin and end of products, and the rounds modulo M."""

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..delays import history
from ..multiplication import READ_LATENCY
from ..one_hot import OneHot
from .age import Age
from .multiplication import RingMultiplication
from .products import AskedSignature, UnderWaySignature
from .slot_signatures import RoundSignature

PHASES = (
    *("idle", "load_x", "steps", "settle"),
    *("load_c", "quotient", "load_m", "columns", "finish", "wipe_all"),
)
"""In their order; the rows of the table in `Phases`."""

LAST = -1  # the last place of a ring, not used by an operand: in a round, for q and c


class PhaseSignature(wiring.Signature):
    """The phase of a cycle, for the requests to memory and the sums.

    Members
    -------
    load_x, load_c, load_m : the phases of these names
    asks_m : in LOAD_M, a word of M is needed
    puts_one : the last cycle of LOAD_M, in which a 1 is written after M
    in_columns : COLUMNS, and FINISH
    clears : the sums start anew
    wipes : WIPE_ALL: zeros are written to place k of all rings
    k : place of the requested word, of the column, or to be wiped
    below : k is still below 0, where a shifted Y, or the square of X, is 0
    """

    def __init__(self, place_bits: int):
        flags = ("load_x", "load_c", "load_m", "asks_m", "puts_one", "in_columns", "clears")
        super().__init__(
            {**dict.fromkeys((*flags, "wipes", "below"), Out(1)), "k": Out(place_bits)}
        )


class Phases(wiring.Component):
    """Starts the schedule, makes the slots of a round, and selects the requests to memory.

    ========== ==================================================================================
    phase      action
    ========== ==================================================================================
    LOAD_X     X into its ring, also into Y's for a square; for a preparation 1, then zeros
    STEPS      the schedule supplies the slots; Y is read, a word per step
    SETTLE     the last words are written to their rings; then the end, or a round
    LOAD_C     c into Y's ring, into the last place
    QUOTIENT   the slot q = S_0 * c; q is written to the last place of X's ring
    LOAD_M     M into Y's ring, followed by a 1, while q is computed
    COLUMNS    two slots per column: q * M_k, S_k * 1; with `skew` a third, unused one
    FINISH     the last words are written to their rings; then the end, or with d = 1 a second
               round, from QUOTIENT on, with the same M and c
    WIPE_ALL   zeros into all places of all rings, each for two cycles
    ========== ==================================================================================

    Parameters
    ----------
    place_bits : bits of a place
    beside_sums (bool): as of `Loads`

    Members
    -------
    asked, under_way : of `Products`, in
    may_begin : as in `OverlappingMultiplierSignature`; only `beside_sums`
    wipe : as in `OverlappingMultiplierSignature`
    stops : the schedule's last slot
    inverse_is_odd : the word that port A reads is odd
    begins : the requested product begins; it is taken with `loaded`, or at a preparation's end
    loaded : all words of X have been requested; with a product's `starts_steps` the schedule begins
    ends : the last cycle of a preparation, or of a product with rounds modulo M
    idle : nothing is in progress
    phase : PhaseSignature, out
    round : RoundSignature, out
    fault : c is even, or more than one phase is active
    """

    def __init__(
        self, place_bits: int, multiplication: RingMultiplication, *, beside_sums: bool = False
    ):
        self.multiplication, self.beside_sums = multiplication, beside_sums
        outputs = ("begins", "loaded", "starts_steps", "ends", "idle", "fault")
        ports = {
            "asked": In(AskedSignature(place_bits)),
            "under_way": In(UnderWaySignature(place_bits)),
            **dict.fromkeys(("wipe", "stops", "inverse_is_odd"), In(1)),
            **({"may_begin": In(1)} if beside_sums else {}),
            **dict.fromkeys(outputs, Out(1)),
            "phase": Out(PhaseSignature(place_bits)),
            "round": Out(RoundSignature(place_bits)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Build the phases, a flip-flop for each, and their counters."""
        m = Module()
        state = OneHot(PHASES, "idle")
        now, shown, under_way, computes = state.now, self.phase, self.under_way, self.multiplication
        k, below, count = shown.k, shown.below, under_way.count
        m.d.comb += [
            self.idle.eq(now["idle"]),
            self.loaded.eq(now["load_x"] & (k == count) & ~below),
            self.starts_steps.eq(self.loaded & ~under_way.preparing),
        ]
        # After a fault the sequencer may wipe while a product is in progress.
        must_wipe, wiped_soon = Signal(), Signal()
        m.d.comb += must_wipe.eq(self.wipe | wiped_soon)
        m.d.sync += wiped_soon.eq(must_wipe & ~now["idle"])
        begins = now["idle"] & self.asked.ready & ~must_wipe
        m.d.comb += self.begins.eq(begins & self.may_begin if self.beside_sums else begins)

        # --- From phase to phase -----------------------------------------------------------------
        # D and the words of M have long been known where this is used.
        words_of_m = Signal.like(k)
        m.d.sync += words_of_m.eq(count + 1)
        loaded_m = k == words_of_m
        m.submodules.age = age = Age(computes.loop)
        waits = now["settle"] | now["finish"] | now["load_m"] & loaded_m
        m.d.comb += age.restart.eq(~waits)
        settled = age.reached
        got_c = history(m, "got_c", now["load_c"], READ_LATENCY + 1, reset=True)
        is_last_round = self._find_last_round(m, now["load_c"], now["finish"], settled)
        second = Signal()  # the second cycle of a column, or of a place that is wiped
        has_rounds = under_way.descales | under_way.preparing
        ends_load_m = now["load_m"] & settled  # `age` counts where M is loaded
        state.change("idle", "load_x", self.begins)
        state.change("idle", "wipe_all", must_wipe)
        state.change("wipe_all", "idle", k.all() & second)
        state.change("load_x", "steps", self.starts_steps)
        state.change("load_x", "settle", self.loaded & under_way.preparing)
        state.change("steps", "settle", self.stops)
        state.change("settle", "load_c", settled & has_rounds)
        state.change("settle", "idle", settled & ~has_rounds)
        state.change("load_c", "quotient", got_c[-1])
        state.change("quotient", "load_m")
        state.change("load_m", "columns", ends_load_m)
        state.change("columns", "finish", second & (k == count))
        state.change("finish", "idle", settled & is_last_round)
        state.change("finish", "quotient", settled & ~is_last_round)
        state.build(m)

        # --- Places, and the cycles of a column --------------------------------------------------
        by_pairs = now["columns"] | now["wipe_all"]
        third = Signal()  # third cycle of a column, with the first slot of the next one
        m.d.sync += second.eq(by_pairs & ~second & ~third)
        if computes.skew:
            m.d.sync += third.eq(now["columns"] & second)
        with m.If(now["load_x"] | now["load_m"] & ~loaded_m | by_pairs & second):
            m.d.sync += k.eq(k + 1)
        with m.If(self.begins | must_wipe | now["load_c"] | ends_load_m):
            m.d.sync += [k.eq(0), below.eq(0)]
        with m.Elif(k.all()):
            m.d.sync += below.eq(0)
        with m.If(self.begins & ~self.asked.prepares):
            m.d.sync += [k.eq(-self.asked.shift), below.eq(self.asked.shift != 0)]
        m.d.comb += [
            self.ends.eq(now["finish"] & settled & is_last_round),
            shown.load_x.eq(now["load_x"]),
            shown.load_c.eq(now["load_c"]),
            shown.load_m.eq(now["load_m"]),
            shown.asks_m.eq(now["load_m"] & ~loaded_m),
            shown.puts_one.eq(ends_load_m),
            shown.in_columns.eq(now["columns"] | now["finish"]),
            shown.clears.eq(now["idle"] | now["load_x"] | now["quotient"] | ends_load_m),
            shown.wipes.eq(now["wipe_all"]),
        ]
        self._make_slots(m, now["quotient"], now["columns"], second)
        even = Signal()  # the word read is valid late in its cycle
        m.d.sync += even.eq(got_c[READ_LATENCY] & under_way.preparing & ~self.inverse_is_odd)
        m.d.comb += self.fault.eq(~state.valid | even)
        return m

    def _find_last_round(self, m: Module, load_c: Value, finish: Value, settled: Value) -> Value:
        """Whether the round is the last one: of two with d = 1, otherwise the only one."""
        if self.multiplication.ahead != 2:
            return Const(1, 1)
        is_last_round = Signal()
        with m.If(load_c | finish & settled):
            m.d.sync += is_last_round.eq(finish)
        return is_last_round

    def _make_slots(self, m: Module, quotient: Value, columns: Value, second: Value) -> None:
        """The slots of a round: S_0 * c; then q * M_k and S_k * 1."""
        slot, k, count = self.round, self.phase.k, self.under_way.count
        m.d.comb += [
            slot.exists.eq(quotient | columns),
            # No q * M_D: there is the 1.
            slot.crossed.eq(quotient | second | columns & (k != count)),
            slot.first.eq(~second),
            slot.i.eq(Mux(second, k, Mux(quotient, 0, LAST))),
            slot.j.eq(Mux(second, count, Mux(quotient, LAST, k))),
            slot.ends.eq(quotient | columns & second),
            slot.gives_quotient.eq(quotient),
            slot.gives_result.eq(columns & second),
        ]
