"""Montgomery multiplication by products of differences of wide words, product after product.

What is computed, and why it is right: `model/ring.py`. The words of an operand lie in a ring of
D + 1 places, of which one is empty. In an exponentiation a product's result is a factor of the next
one, which begins with its lowest word while the other words are still made: each step has the same
number of products, and none waits for the last product's end.
"""

from collections.abc import Callable, Sequence

from amaranth.hdl import Module, Mux, Signal, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import connect
from amaranth.utils import bits_for

from coprime.cells.target import Target
from coprime.cells.tiles.tile import Tile
from coprime.cells.wires import same_named

from ..contract import ModularMultiplier, OverlappingMultiplierSignature
from ..delays import history
from .aligned_sums import AlignedSums
from .multiplication import RingMultiplication
from .operand_rings import OperandRings
from .phases import Phases
from .schedule import RingSchedule
from .sums import RingColumnSums
from .twin_schedule import TwinSchedule
from .word_places import WordPlaces

__all__ = ["RingMultiplier"]


class RingMultiplier(ModularMultiplier):
    """X * Y * 2^(-w*rounds) modulo c * M, not fully reduced; c = -M^-1 mod 2^w, or 2^(w(1+d)).

    X and c * M have `inner` words, Y has `rounds`; D is the greater of both. The result is below
    X*Y / 2^(w*rounds) + c*M, so below 2cM where X and Y are and 2^(w*rounds) > 4cM; it must fit in
    `inner` words. M is odd. Where `descale` is 1, the last round is modulo M itself. The inverse
    that is read is that modulo 2^w.

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

    (halves without a remainder). Read in cycle t, words enter the tile in t + 2; their product is
    in its sum in t + 2 + latency, the column's word is in `sums.word` a cycle later, and can be
    read in its ring after another: `RingMultiplication.loop` cycles after the column's last slot.
    The only word that is urgent is q_(s-1), the last one of step s - 1. It is used by the last two
    slots of step s, so that a product takes D^2 + D cycles where D is at least `loop` + 1.

    Of these D^2 + D - 1 are products that the algorithm needs; the last one is OLD_CARRY.

    With two tiles, the slots are those of `TwinSchedule`, and q may be delayed: c has 1 + d words,
    so that q_c is first used in column c + 1 + d, and the ring has D + 1 + d places.

    A product that follows another one without a break is `chained`: X is the result under way, with
    the same modulus and lengths. It must have been started when step D begins; then it is taken
    (`done`) as step D ends. If there is none, the old product's last columns are made with nothing
    beside them. Other products begin by reading X into its ring (`Phases`).

    Y's words are read one a step, through port B, except those of a square, which are X's. If
    `rounds` is less than D, or with `descale`, Y is shifted up by as many words as are missing: the
    first words of q are then 0. So all products have the same columns.

    A round modulo M, S' = (S + q*M) / 2^w with q = S_0 * c, is columns of the new product, of two
    slots: q * M_k and S_k * 1, after the slot S_0 * c. M, 1 and c are read into Y's ring for that,
    S is in X's, and q goes there, too. The last 1 + d rounds are modulo M. A preparation is as many
    rounds from S = 1, and its result is M', in the ring of M'.

    Parameters
    ----------
    tiles : sequence of Tile
        One, or two of the same kind: for X * Y, and for q * M'.
    max_words : int
        Words of the longest modulus, scaled.
    count_bits : int
        Bits of a count of words.
    target : Target
    delay : int
        d: 0, or 1 with two tiles.
    """

    multiplication: RingMultiplication

    def __init__(
        self,
        tiles: Sequence[Tile],
        max_words: int,
        count_bits: int,
        target: Target = Target.GENERIC,
        delay: int = 0,
    ):
        self.tiles = tuple(tiles)
        tile = self.tiles[0]
        self.multiplication = RingMultiplication(
            tile.WORD, tile.LATENCY, len(self.tiles), delay, int(tile.skewed)
        )
        self.max_words = max(max_words, self.multiplication.least)
        self.count_bits = count_bits
        self.target = Target(target)
        # D words; a place for the 1 of a round, and the last one for its q and c.
        self.places = 1 << bits_for(self.max_words + 1)
        super().__init__(OverlappingMultiplierSignature(tile.WORD, count_bits))

    def elaborate(self, platform: object) -> Module:
        """Connect schedule, rings, tiles and sums."""
        m = Module()
        computes, bits = self.multiplication, bits_for(self.places - 1)
        width, tiles = computes.digit_width, computes.tiles
        m.submodules.phases = phases = Phases(bits, self.count_bits, computes)
        schedule: RingSchedule | TwinSchedule
        if tiles == 1:
            schedule = RingSchedule(bits, computes.loop, computes.skew)
        else:
            schedule = TwinSchedule(bits, computes)
        m.submodules.schedule = schedule
        rings, keeps_sums = self._in_block_ram()
        m.submodules.operands = operands = OperandRings(computes, self.places, rings)
        sum_bits = self.tiles[0].sum_bits
        # On XC7 a sum is added up in one part all the same.
        skewed = bool(computes.skew) and self.target is not Target.XC7
        m.submodules.sums = sums = RingColumnSums(
            *(width, self.max_words, sum_bits, tiles, self.target),
            skewed=skewed,
            in_block_ram=keeps_sums,
        )
        slot = schedule.slot
        connect(m, schedule.slot, phases.slot)
        for sink, source, names in (
            (phases, self, ("start", "prepare", "wipe", "descale", "chained", "squares")),
            (phases, self, ("inner_digits", "rounds", "longest_digits", "multiplier_is_one")),
            (schedule, phases, ("start_steps", "stop", "count")),
            (phases, schedule, ("stops",)),
            (sums, phases, ("clear",)),
            (self, phases, ("done", "busy", "takes", "turns", "a_role", "a_index")),
        ):
            m.d.comb += same_named(sink, source, *names)
        self._make_products(m, schedule, phases, operands)
        m.d.comb += self.fault.eq(schedule.fault | phases.fault)

        # --- The slot's column, as its product is in the tiles' sums -----------------------------
        age = computes.reading + computes.summing

        def summed(name: str, value: ValueLike) -> list[Signal]:
            return history(m, name, value, age + 1, reset=True)

        is_old = summed("of_old", slot.of_old)
        ends_old = summed("ends_old", slot.ends_old)
        ends_new = summed("ends_new", slot.ends_new | phases.ends)
        turns = summed("turns", slot.turns)
        last_old = summed("last_old", slot.last_old)
        results = summed(
            "gives_result",
            slot.ends_old & phases.old_exists | phases.gives_result | phases.gives_quotient,
        )
        for name, value in (
            ("ends_old", ends_old[age]),
            ("ends_new", ends_new[age]),
            ("turns", turns[age]),
            ("last_old", last_old[age]),
            ("next_of_old", is_old[age - 1]),
            *(
                (name, summed(name, getattr(slot, name))[age])
                for name in ("before", "nothing_before", "makes_diagonal")
            ),
        ):
            m.d.comb += getattr(sums.slot, name).eq(value)
        self._add_up(m, slot, operands, sums, summed)

        # --- Words to their rings and to the memory ----------------------------------------------
        m.submodules.places = places = WordPlaces(bits)
        m.d.comb += [
            *same_named(places, phases, "clear", "in_columns"),
            *same_named(places, sums.slot, "ends_old", "ends_new", "last_old"),
            places.quotient_ends.eq(ends_new[age + 1]),
            places.quotient_turns.eq(turns[age + 1]),
        ]
        place_result, next_result = places.result, places.next_result
        # Not the first column of a round, whose word is 0.
        written = results[age - 1] & phases.writes & (next_result < phases.inner)
        gives = results[age + 1] & ~(phases.in_columns & place_result.all())
        squared = results[age + 1] & phases.squaring & ~phases.preparing
        # What is read comes late in its cycle, and is written in the next one.
        loaded_a, loaded_b = (Signal(width, name=f"loaded_{k}", reset_less=True) for k in "ab")
        m.d.sync += loaded_a.eq(Mux(phases.zero, phases.one, self.a_data))
        m.d.sync += loaded_b.eq(Mux(phases.zero_b, phases.one_b, self.b_data))
        of_b = history(m, "y_of_b", phases.y_of_b, 1)[-1]
        for name, loads_it, place, loaded, gives_it, result_place in (
            ("x", phases.loads_x, phases.place, loaded_a, gives, place_result),
            (
                *("y", phases.loads_y, phases.place_y, Mux(of_b, loaded_b, loaded_a)),
                *(squared, place_result + phases.shift),
            ),
        ):
            loading = history(m, f"loads_{name}", loads_it, 1, reset=True)[-1]
            loaded_place = history(m, f"loaded_place_{name}", place, 1)[-1]
            m.d.comb += [
                getattr(operands, f"write_{name}").eq(loading | gives_it),
                getattr(operands, f"place_{name}").eq(Mux(loading, loaded_place, result_place)),
                getattr(operands, f"word_{name}").eq(Mux(loading, loaded, sums.word)),
            ]
        wipes = history(m, "wipes", phases.wipes, 1, reset=True)[-1]
        m.d.comb += [
            operands.word.eq(sums.word),
            operands.write_m.eq(gives & phases.preparing & phases.in_columns | wipes),
            operands.write_q.eq(summed("to_q", slot.ends_new)[age + 1] | wipes),
            operands.place_q.eq(Mux(wipes, operands.place_x, places.quotient)),
            sums.wipe.eq(phases.wipes),
            phases.port_b_taken.eq(self.b_write),
            phases.inverse_is_odd.eq(self.a_data[0]),
            self.b_write.eq(written),
            self.b_index.eq(Mux(self.b_write, next_result, phases.b_index)),
            self.b_of_next.eq(phases.b_of_next),
            self.b_write_data.eq(sums.word),
        ]
        return m

    def _in_block_ram(self) -> tuple[str, bool]:
        """The rings that are in block RAM, and whether the R_k are.

        With tiles of one slice none are, so that there is one block RAM for one slice. Where
        memories of LUTs are 16 deep, or there are none, one tile's rings are all the same; what
        else could be has no register between block RAM and a carry chain.
        """
        if self.target not in (Target.GENERIC, Target.XC7):
            return ("xqym" if len(self.tiles) == 1 else "", False)
        if self.tiles[0].SLICES == 1:
            return "", False
        return ("xqym" if len(self.tiles) == 1 else "qm", True)

    def _make_products(
        self,
        m: Module,
        schedule: RingSchedule | TwinSchedule,
        phases: Phases,
        operands: OperandRings,
    ) -> None:
        """The products of a slot, those of a step or, on the first tile, that of a round."""
        in_round, first = phases.in_round, operands.products[0]
        for product, of_step in zip(operands.products, schedule.products, strict=True):
            m.d.comb += same_named(product, of_step, "i", "j", "of_q", "pair", "diagonal")
            m.d.comb += product.first.eq(of_step.first | in_round)
        with m.If(in_round):
            m.d.comb += [
                *same_named(first, phases, "i", "j", "first", "crossed"),
            ]
        needed = Mux(schedule.products[0].of_old, phases.old_exists, phases.new_exists)
        m.d.comb += self.multiplying.eq((first.pair | first.diagonal) & needed)

    def _add_up(
        self,
        m: Module,
        slot: wiring.PureInterface,
        operands: OperandRings,
        sums: RingColumnSums,
        summed: Callable[[str, ValueLike], list[Signal]],
    ) -> None:
        """The tiles, and the sums of both, of which one may wait for the other."""
        for k, (tile, factors) in enumerate(zip(self.tiles, operands.factors, strict=True)):
            m.submodules[f"tile_{k}"] = tile
            m.d.comb += same_named(tile, factors, "x_0", "x_1", "y_0", "y_1", "first")
        if len(self.tiles) == 1:
            m.d.comb += sums.sums[0].eq(self.tiles[0].sum)
            return
        m.submodules.aligned = aligned = AlignedSums(self.tiles[0].sum_bits)
        in_tile = 1 + self.multiplication.latency
        m.d.comb += [
            *(getattr(aligned, f"tile_{k}").eq(tile.sum) for k, tile in enumerate(self.tiles)),
            *(sums.sums[k].eq(getattr(aligned, f"sum_{k}")) for k in range(2)),
            *(
                getattr(aligned, name).eq(summed(name, getattr(slot, name))[in_tile])
                for name in ("waits", "is_missing")
            ),
        ]
