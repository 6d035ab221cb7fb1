"""Montgomery multiplication by products of differences of wide words, product after product.

`model/ring.py` defines the computation and shows that it is correct. The words of an operand are in
a ring of D + 1 places, one of which is empty. In an exponentiation a product's result is a factor
of the next one, which begins with its lowest word while the other words are still being computed:
each step has the same number of products, and none waits for the end of the last product.
"""

from collections.abc import Sequence

from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import connect
from amaranth.utils import bits_for

from coprime.cells.target import Target
from coprime.cells.tiles.tile import Tile
from coprime.cells.wires import same_named

from ..contract import ModularMultiplier, OverlappingMultiplierSignature
from .loads import Loads
from .multiplication import RingMultiplication
from .operand_rings import OperandRings
from .phases import Phases
from .products import Products
from .results import Results
from .schedule import RingSchedule
from .twin_schedule import TwinSchedule


class RingMultiplier(ModularMultiplier):
    """X * Y * 2^(-w*rounds) modulo c * M, not fully reduced; c = -M^-1 mod 2^w, or 2^(w(1+d)).

    X and c * M have `inner` words, Y has `rounds`; D is the larger of the two. The result is below
    X*Y / 2^(w*rounds) + c*M, so it is below 2cM if X and Y are and 2^(w*rounds) > 4cM; it must fit
    in `inner` words. M is odd. If `descale` is 1, the last round is modulo M itself. The inverse
    read from memory is modulo 2^w.

    A product has 2D columns. Step s works on column s of the new product, and on column s + D + 1
    of the old one, whose words from place s + 2 on have not been replaced yet. In step D the new
    product's column D, its first old one, is alone. Each slot takes a cycle:

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

    (divisions by 2 are rounded down). Words that are read in cycle t enter the tile in t + 2; their
    product is in its sum in t + 2 + latency. The column's word is in `sums.word` a cycle later, and
    can be read from its ring another cycle later: `RingMultiplication.loop` cycles after the
    column's last slot. The only urgent word is q_(s-1), the last one of step s - 1. The last two
    slots of step s use it, so that a product takes D^2 + D cycles if D is at least `loop` + 1.

    Of these, D^2 + D - 1 are products that the algorithm needs; the remaining one is OLD_CARRY.

    q may be delayed: c then has 1 + d words, so that q_c is first used in column c + 1 + d, and the
    ring has D + 1 + d places. With one tile and d = 1, the old product has one pair of X and Y
    less, from (s + 3, D - 1); its last pair of q and M' consists of zeros, so that there is no
    OLD_CARRY. New pairs of q and M' have i + j = s - 2, the diagonal product is q_(s-2) * M'_(s-2),
    and NEWEST is (0, s - 2). Only q_(s-2), the last word of step s - 2, is urgent: two steps
    together take more than `loop` cycles, and PAD is as long as this requires. In step 1 PAD is
    before the pair of NEW_XY, since x_1 is the word of the last column before step 0.

    With two tiles, the slots are those of `TwinSchedule`.

    A product with the same modulus and lengths `follows` another one without a break. It must be
    started at least `ASKING` cycles before step D ends; it is accepted (`done`) at the end of the
    last step. Without such a product, the old product's last columns are computed alone. Other
    products begin by reading X into its ring (`Phases`, `Loads`).

    A factor of a product that follows may be the result in progress: its words are written to the
    factor's ring as they are computed. Other factors are read a word per step: X through port A, Y
    through port B. If `rounds` is less than D, or with `descale`, Y is shifted up by the number of
    missing words: the first words of q are then 0. So all products have the same columns. If a
    square begins in this way, each word of X is written to both rings.

    A round modulo M, S' = (S + q*M) / 2^w with q = S_0 * c, consists of columns of the new product
    with two slots each, q * M_k and S_k * 1, after the slot S_0 * c. For this, M, 1 and c are read
    into Y's ring; S is in X's ring, to which q is written, too. The last 1 + d rounds are modulo M.
    A preparation is 1 + d rounds from S = 1; its result is M', in the ring of M'.

    Parameters
    ----------
    tiles (sequence of Tile): one, or two of the same kind that hold sums: for X * Y, and for q * M'
    max_words (int): words of the longest modulus, scaled
    count_bits (int): bits of a count of words
    delay (int): d: 0 or 1
    slack (int): as of `RingMultiplication`
    beside_sums (bool): as of `Loads`
    """

    multiplication: RingMultiplication

    def __init__(
        self,
        tiles: Sequence[Tile],
        max_words: int,
        count_bits: int,
        target: Target = Target.GENERIC,
        delay: int = 0,
        slack: int = 2,
        *,
        beside_sums: bool = False,
    ):
        self.tiles = tuple(tiles)
        tile = self.tiles[0]
        self.multiplication = RingMultiplication(
            tile.WORD,
            tile.latency(holds=tile.holds),
            len(self.tiles),
            delay,
            int(tile.skewed),
            slack,
        )
        self.beside_sums = beside_sums
        self.max_words = max(max_words, self.multiplication.least)
        self.count_bits = count_bits
        self.target = Target(target)
        # D words, a place for the 1 of a round, and the last place for its q and c.
        self.places = 1 << bits_for(self.max_words + 1)
        signature = OverlappingMultiplierSignature(tile.WORD, count_bits, beside_sums=beside_sums)
        super().__init__(signature)

    def elaborate(self, platform: object) -> Module:
        """Connect products, phases, schedule, rings, tiles and results."""
        m = Module()
        computes, bits = self.multiplication, bits_for(self.places - 1)
        rings, keeps_sums = self._in_block_ram()
        schedule: RingSchedule | TwinSchedule
        if computes.tiles == 1:
            schedule = RingSchedule(bits, computes)
        else:
            schedule = TwinSchedule(bits, computes)
        m.submodules.schedule = schedule
        m.submodules.products = products = Products(bits, self.count_bits, computes)
        m.submodules.phases = phases = Phases(bits, computes, beside_sums=self.beside_sums)
        m.submodules.loads = loads = Loads(
            *(bits, self.count_bits, computes.digit_width),
            beside_sums=self.beside_sums,
            earlier=bool(computes.asks_earlier),
        )
        m.submodules.operands = operands = OperandRings(computes, self.places, rings)
        m.submodules.results = results = Results(
            *(computes, bits, self.max_words, self.tiles[0].sum_bits, self.target),
            in_block_ram=keeps_sums,
        )
        slot, under_way, phase = schedule.slot, products.under_way, phases.phase
        connect(m, slot, products.slot, loads.slot, results.slot)
        connect(m, products.asked, phases.asked, loads.asked)
        connect(m, under_way, phases.under_way, loads.under_way, results.under_way)
        connect(m, phase, loads.phase, results.phase)
        connect(m, phases.round, results.round)
        connect(m, loads.x, results.loads_x)
        connect(m, loads.y, results.loads_y)
        connect(m, results.x, operands.x)
        connect(m, results.y, operands.y)
        connect(m, results.q, operands.q)
        connect(m, results.m, operands.m)
        for part in (products, loads):
            m.d.comb += same_named(part.request, self, *part.request.signature.members)
        m.d.comb += [
            *same_named(products, self, "wipe"),
            *same_named(products, phases, "begins", "loaded"),
            products.leaves.eq(phase.load_c),
            *same_named(phases, self, "wipe"),
            *same_named(phases, schedule, "stops"),
            phases.inverse_is_odd.eq(self.a_data[0]),
            *same_named(schedule, phases, "starts_steps"),
            *same_named(schedule, under_way, "count"),
            schedule.stop.eq(~under_way.new_exists),
            *same_named(loads, self, "a_data", "b_data"),
            *same_named(loads, results, "x_taken"),
            *same_named(loads, self, "a_taken"),
            loads.port_b_taken.eq(results.b_taken | self.b_taken),
            self.wants_ports.eq(loads.wants_ports | results.b_taken | results.b_taken_later),
            *same_named(self, results, "ends_result"),
        ]
        if self.beside_sums:
            m.d.comb += phases.may_begin.eq(self.may_begin)
        self._multiply(m, schedule, phases.round, under_way, operands)
        m.d.comb += [
            *(total.eq(tile.sum) for total, tile in zip(results.tiles, self.tiles, strict=True)),
            *same_named(self, products, "takes"),
            *same_named(self, slot, "turns"),
            *same_named(self, loads, "a_role", "a_index", "a_of_next", "b_of_next"),
            self.b_write.eq(results.writes),
            self.b_index.eq(Mux(results.writes, results.place, loads.b_index)),
            self.b_write_data.eq(results.word),
            self.busy.eq(~phases.idle | products.asked.waits),
            self.done.eq(products.takes & ~products.asked.prepares & ~self.descale | phases.ends),
            self.fault.eq(schedule.fault | phases.fault),
        ]
        if computes.tiles == 2:
            m.d.comb += same_named(self.tiles[0], results, "keep", "clear")
        return m

    def _in_block_ram(self) -> tuple[str, bool]:
        """The rings that are in block RAM, and whether the R_k are.

        With tiles of one slice none are, so that there is one block RAM for one slice. If LUT
        memories are 16 deep, or do not exist, all rings of one tile are in block RAM; no other
        memory is, since it would have no register between block RAM and a carry chain.
        """
        if self.target not in (Target.GENERIC, Target.XC7):
            return ("xqym" if len(self.tiles) == 1 else "", False)
        if self.tiles[0].SLICES == 1:
            return "", False
        return ("xqym" if len(self.tiles) == 1 else "qm", True)

    def _multiply(
        self,
        m: Module,
        schedule: RingSchedule | TwinSchedule,
        in_round: wiring.PureInterface,
        under_way: wiring.PureInterface,
        operands: OperandRings,
    ) -> None:
        """The products of a slot: those of a step or, on the first tile, the one of a round."""
        for product, of_step in zip(operands.products, schedule.products, strict=True):
            m.d.comb += same_named(product, of_step, "i", "j", "of_q", "pair", "diagonal")
            m.d.comb += product.first.eq(of_step.first | in_round.exists)
        first = operands.products[0]
        with m.If(in_round.exists):
            m.d.comb += same_named(first, in_round, "i", "j", "first", "crossed")
        needed = Mux(schedule.products[0].of_old, under_way.old_exists, under_way.new_exists)
        m.d.comb += self.multiplying.eq((first.pair | first.diagonal) & needed)
        for k, (tile, factors) in enumerate(zip(self.tiles, operands.factors, strict=True)):
            m.submodules[f"tile_{k}"] = tile
            m.d.comb += same_named(tile, factors, "x_0", "x_1", "y_0", "y_1", "first")
