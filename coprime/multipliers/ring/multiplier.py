"""Montgomery multiplication by products of differences of wide words, product after product.

What is computed, and why it is right: `model/ring.py`. The words of an operand lie in a ring of
D + 1 places, of which one is empty. In an exponentiation a product's result is a factor of the next
one, which begins with its lowest word while the other words are still made: each step has the same
number of products, and none waits for the last product's end.
"""

from amaranth.hdl import Module, Mux, Signal, Value, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import connect
from amaranth.utils import bits_for

from coprime.cells.target import Target
from coprime.cells.tiles.tile import Tile
from coprime.cells.wires import same_named

from ..contract import ModularMultiplier, OverlappingMultiplierSignature
from ..delays import history
from .multiplication import RingMultiplication
from .operands import Operands
from .phases import Phases
from .schedule import RingSchedule
from .sums import ColumnSums
from .word_places import WordPlaces

__all__ = ["RingMultiplier"]


class RingMultiplier(ModularMultiplier):
    """X * Y * 2^(-w*rounds) modulo c * M, not fully reduced; c = -M^-1 mod 2^w.

    X and c * M have `inner` words, Y has `rounds`; D is the greater of both. The result is below
    X*Y / 2^(w*rounds) + c*M, so below 2cM where X and Y are and 2^(w*rounds) > 4cM; it must fit in
    `inner` words. M is odd. Where `descale` is 1, the last round is modulo M itself.

    A product has 2D columns. Step s of a ring works on column s of the new product, and on column
    s + D + 1 of the old one, whose words from place s + 2 on have not been replaced yet. In step D
    the new product's column D, its first old one, is alone. Each slot is a cycle:

    ============ ============= ====================================================================
    slot         count
    ============ ============= ====================================================================
    OLD_XY       (D-2-s) / 2   pairs of X and Y, i + j = s + D + 1, inwards from (s + 2, D - 1)
    OLD_QM       (D-1-s) / 2   pairs of q and M', i + j = s + D, inwards from (s + 1, D - 1)
    OLD_CARRY    s = D - 2: 1  nothing: the old product's last column has no pair
    NEW_XY       (s + 1) / 2   pairs of X and Y, i + j = s, outwards to (0, s)
    NEW_QM       s / 2 - 1     pairs of q and M', i + j = s - 1, outwards to (1, s - 2)
    PAD                        nothing, until the newest word is in its ring
    DIAGONAL_XY  s < D: 1      x_s * y_s
    DIAGONAL_QM  0 < s < D: 1  q_(s-1) * M'_(s-1)
    NEWEST       s > 1: 1      (0, s - 1) of q and M'
    ============ ============= ====================================================================

    (halves without a remainder). Read in cycle t, words enter the tile in t + 1; their product is
    in its sum in t + 1 + latency, the column's word is in `sums.word` a cycle later, and can be
    read in its ring after another: `RingMultiplication.loop` cycles after the column's last slot.
    The only word that is urgent is q_(s-1), the last one of step s - 1. It is used by the last two
    slots of step s, so that a product takes D^2 + D cycles where D is at least `loop` + 2.

    Of these D^2 + D - 1 are products that the algorithm needs; the last one is OLD_CARRY.

    A product that follows another one without a break is `chained`: X is the result under way, with
    the same modulus and lengths. It must have been started when step D begins; then it is taken
    (`done`) as step D ends. If there is none, the old product's last columns are made with nothing
    beside them. Other products begin by reading X into its ring (`Phases`).

    Y's words are read one a step, through port B, except those of a square, which are X's. If
    `rounds` is less than D, or with `descale`, Y is shifted up by as many words as are missing: the
    first words of q are then 0. So all products have the same columns.

    A round modulo M, S' = (S + q*M) / 2^w with q = S_0 * c, is columns of the new product, of two
    slots: q * M_k and S_k * 1, after the slot S_0 * c. M and 1 are read into Y's ring for that. A
    preparation is a round with S = 1, and its result is M', in the ring of M'.

    Parameters
    ----------
    tile : Tile
    max_words : int
        Words of the longest modulus, scaled.
    count_bits : int
        Bits of a count of words.
    target : Target
    """

    multiplication: RingMultiplication

    def __init__(
        self, tile: Tile, max_words: int, count_bits: int, target: Target = Target.GENERIC
    ):
        self.tile = tile
        self.max_words = max(max_words, RingMultiplication.LEAST)
        self.count_bits = count_bits
        self.target = Target(target)
        self.multiplication = RingMultiplication(tile.WORD, tile.LATENCY)
        # A place that stays empty, and one for the 1 of a round.
        self.places = 1 << bits_for(self.max_words + 1)
        super().__init__(OverlappingMultiplierSignature(tile.WORD, count_bits))

    def elaborate(self, platform: object) -> Module:
        """Connect schedule, rings, tile and sums."""
        m = Module()
        width, bits = self.multiplication.digit_width, bits_for(self.places - 1)
        m.submodules.phases = phases = Phases(bits, self.count_bits, self.multiplication)
        m.submodules.schedule = schedule = RingSchedule(bits, self.multiplication.loop)
        m.submodules.operands = operands = Operands(width, self.places)
        m.submodules.tile = tile = self.tile
        m.submodules.sums = sums = ColumnSums(width, self.max_words, tile.sum_bits, self.target)
        slot, product = schedule.slot, operands.product
        connect(m, schedule.slot, phases.slot)
        for sink, source, names in (
            (phases, self, ("start", "prepare", "wipe", "descale", "chained", "squares")),
            (phases, self, ("inner_digits", "rounds", "longest_digits", "multiplier_is_one")),
            (schedule, phases, ("start_steps", "stop", "count")),
            (phases, schedule, ("stops",)),
            (tile, operands, ("x_0", "x_1", "y_0", "y_1", "first")),
            (sums, tile, ("sum",)),
            (sums, phases, ("clear",)),
            (self, phases, ("done", "busy", "takes", "turns", "a_role", "a_index", "b_role")),
        ):
            m.d.comb += [getattr(sink, name).eq(getattr(source, name)) for name in names]

        exists = self._make_products(m, slot, phases, product)
        m.d.comb += self.fault.eq(schedule.fault | phases.fault)

        # --- The slot's column, as its product is in the tile's sum ------------------------------
        age = 1 + tile.LATENCY

        def summed(name: str, value: ValueLike) -> list[Signal]:
            return history(m, name, value, age + 1, reset=True)

        is_old = summed("of_old", slot.of_old)
        ends_old = summed("ends_old", slot.ends_old)
        ends_new = summed("ends_new", slot.ends_new | phases.ends)
        turns = summed("turns", slot.ends_new & slot.is_last)
        last_old = summed("last_old", slot.last_old)
        results = summed("gives_result", slot.ends_old & exists | phases.gives_result)
        quotients = summed("gives_quotient", slot.ends_new | phases.gives_quotient)
        for name, value in (
            ("ends_old", ends_old[age]),
            ("ends_new", ends_new[age]),
            ("turns", turns[age]),
            ("last_old", last_old[age]),
            ("next_of_old", is_old[age - 1]),
            ("before", summed("before", slot.before)[age]),
            ("nothing_before", summed("nothing_before", slot.nothing_before)[age]),
            ("makes_diagonal", summed("makes_diagonal", slot.makes_diagonal)[age]),
        ):
            m.d.comb += getattr(sums.slot, name).eq(value)

        # --- Words to their rings and to the memory ----------------------------------------------
        m.submodules.places = places = WordPlaces(bits)
        m.d.comb += [
            *same_named(places, phases, "clear", "in_columns"),
            *same_named(places, sums.slot, "ends_old", "ends_new", "last_old"),
            places.quotient_ends.eq(ends_new[age + 1]),
            places.quotient_turns.eq(turns[age + 1]),
        ]
        place_result, next_result = places.result, places.next_result
        of_modulus = phases.preparing & phases.in_columns
        # Not the first column of a round, whose word is 0.
        written = results[age - 1] & phases.writes & (next_result < phases.inner)
        gives = results[age + 1] & ~place_result.all()
        m.d.comb += [
            operands.word.eq(sums.word),
            operands.write_x.eq(phases.loads_x | gives & ~of_modulus),
            operands.place_x.eq(Mux(phases.loads_x, phases.place, place_result)),
            operands.word_x.eq(
                Mux(phases.loads_x, Mux(phases.zero, phases.one, self.a_data), sums.word)
            ),
            operands.write_m.eq(gives & of_modulus | phases.wipes),
            operands.write_q.eq(quotients[age + 1] | phases.wipes),
            operands.place_q.eq(Mux(phases.wipes, phases.place, places.quotient)),
            sums.wipe.eq(phases.wipes),
            operands.write_y.eq(phases.loads_y | results[age + 1] & phases.squaring),
            operands.place_y.eq(Mux(phases.loads_y, phases.place_y, place_result + phases.shift)),
            operands.word_y.eq(
                Mux(
                    phases.loads_y,
                    Mux(phases.zero_y, phases.one_y, Mux(phases.y_of_a, self.a_data, self.b_data)),
                    sums.word,
                )
            ),
            phases.port_b_taken.eq(self.b_write),
            phases.inverse_is_odd.eq(self.b_data[0]),
            self.b_write.eq(written),
            self.b_index.eq(Mux(self.b_write, next_result, phases.b_index)),
            self.b_of_next.eq(phases.b_of_next),
            self.b_write_data.eq(sums.word),
        ]
        return m

    def _make_products(
        self,
        m: Module,
        slot: wiring.PureInterface,
        phases: Phases,
        product: wiring.PureInterface,
    ) -> Value:
        """The product of a slot, of a step or of a round; and whether a step's is needed."""
        of_q = slot.old_qm | slot.new_qm | slot.diagonal_qm | slot.newest
        pairs = slot.old_xy | slot.old_qm | slot.new_xy | slot.new_qm | slot.newest
        in_round = phases.crossed
        of_old = slot.of_old & ~slot.closing
        exists = Mux(of_old, phases.old_exists, phases.new_exists)
        m.d.comb += [
            product.i.eq(Mux(in_round, phases.i, slot.i)),
            product.j.eq(Mux(in_round, phases.j, slot.j)),
            product.of_q.eq(Mux(in_round, phases.of_q, of_q)),
            product.of_m.eq(of_q),
            product.pair.eq(pairs),
            product.diagonal.eq(slot.diagonal_xy | slot.diagonal_qm),
            product.crossed.eq(in_round),
            product.first.eq(Mux(in_round, phases.first, slot.first)),
            self.multiplying.eq((pairs | product.diagonal) & exists),
        ]
        return exists
