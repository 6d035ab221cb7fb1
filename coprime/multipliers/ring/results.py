"""The results of `ring`: the columns' words and their destinations."""

from amaranth.hdl import Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.target import Target
from coprime.cells.wires import same_named

from ..delays import past_value, stages
from ..multiplication import WRITES_LATER
from .loads import LOADING
from .multiplication import RingMultiplication
from .phases import PhaseSignature
from .products import UnderWaySignature
from .rings import WriteSignature
from .slot_signatures import COLUMN, RingSlotSignature, RoundSignature
from .sums import RingColumnSums


class Results(wiring.Component):
    """Adds up each column, and writes its word to the rings and to the memory.

    The properties of a slot's column follow the slot's product through these stages, this many
    cycles after the slot:

    ====== =================== ===================================================================
    stage  cycles              contents
    ====== =================== ===================================================================
    coming summed - 1          with two tiles, the sum of the first, if it has to wait
    summed `reading` + `summing` the sums of all tiles; S
    made   summed + 1          the column's word
    ====== =================== ===================================================================

    Parameters
    ----------
    place_bits, max_words : bits of a place; maximum of D
    tile_bits : bits of a tile's sum
    target, in_block_ram : as of `RingColumnSums`

    Members
    -------
    slot, round, phase, under_way : in, of the schedule, of `Phases`, of `Products`
    tiles : in, the sums of the tiles
    loads_x, loads_y : WriteSignature, in: words of the memory, for the rings of X and Y
    keep, clear : with two tiles: the sum of the first one is kept for a cycle, or becomes 0,
        because its last slot of the column was a cycle before that of the second, or it had none
    x, y, q, m : WriteSignature, out: words for all rings
    x_taken : a word of X that is requested now would reach its ring together with one of q
    b_taken, b_taken_later : a word for the memory is present in the next cycle, or WRITES_LATER; it
        is written if it belongs to the result
    ends_result : the same for the old product's last word
    writes, place, word : the old product's word `place` is present in the next cycle, for the
        memory; the word of a column
    """

    def __init__(
        self,
        multiplication: RingMultiplication,
        place_bits: int,
        max_words: int,
        tile_bits: int,
        target: Target,
        *,
        in_block_ram: bool,
    ):
        self.multiplication = computes = multiplication
        # On XC7 a sum is nevertheless added in one part.
        self.sums = RingColumnSums(
            *(computes.digit_width, max_words, tile_bits, computes.tiles, target),
            skewed=bool(computes.skew) and target is not Target.XC7,
            short_steps=computes.least_step < 6,
            in_block_ram=in_block_ram,
        )
        write = WriteSignature(computes.digit_width, place_bits)
        ports = {
            "slot": In(RingSlotSignature()),
            "round": In(RoundSignature(place_bits)),
            "phase": In(PhaseSignature(place_bits)),
            "under_way": In(UnderWaySignature(place_bits)),
            "tiles": In(signed(tile_bits)).array(computes.tiles),
            **dict.fromkeys(("loads_x", "loads_y"), In(write)),
            **dict.fromkeys("xyqm", Out(write)),
            **dict.fromkeys(("x_taken", "b_taken", "b_taken_later"), Out(1)),
            **dict.fromkeys(("ends_result", "writes"), Out(1)),
            **dict.fromkeys(("keep", "clear") if computes.tiles == 2 else (), Out(1)),
            "place": Out(place_bits),
            "word": Out(computes.digit_width),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Follow the column, count the words, and write them."""
        m = Module()
        m.submodules.sums = sums = self.sums
        slot, in_round, phase, under_way = self.slot, self.round, self.phase, self.under_way
        column = Signal(COLUMN)
        m.d.comb += [
            *same_named(column, slot, "of_old", "ends_old", "turns", "last_old", "before"),
            *same_named(column, slot, "nothing_before", "makes_diagonal", "waits", "is_missing"),
            column.ends_new.eq(slot.ends_new | in_round.ends),
            column.gives_quotient.eq(slot.ends_new),
            column.gives_result.eq(
                slot.ends_old & under_way.old_exists
                | in_round.gives_result
                | in_round.gives_quotient
            ),
        ]
        age = self.multiplication.reading + self.multiplication.summing
        assert age > WRITES_LATER, "a result is foreseen before its write is asked for"
        columns = stages(m, "column", column, age + 1, reset=True)
        *_, coming, summed, made = columns
        m.d.comb += [
            self.x_taken.eq(columns[-1 - LOADING].gives_quotient),
            self.b_taken.eq(coming.gives_result),
            self.b_taken_later.eq(columns[age - 1 - WRITES_LATER].gives_result),
            self.ends_result.eq(coming.gives_result & coming.last_old),
            sums.slot.eq(summed),
            sums.next_of_old.eq(coming.of_old),
            sums.clear.eq(phase.clears),
            sums.wipe.eq(phase.wipes),
            self.word.eq(sums.word),
            *(total.eq(tile) for total, tile in zip(sums.sums, self.tiles, strict=True)),
        ]
        if self.multiplication.tiles == 2:
            m.d.comb += [self.keep.eq(coming.waits), self.clear.eq(coming.is_missing)]

        # --- Places of the present word: of a result, which has one more, and of q ---------------
        result, quotient = (Signal.like(self.place, name=name) for name in ("result", "quotient"))
        with m.If(phase.clears):
            m.d.sync += [self.place.eq(-1), quotient.eq(0)]
        with m.Elif(summed.ends_old | phase.in_columns & summed.ends_new):
            again = summed.ends_old & summed.last_old
            m.d.sync += self.place.eq(Mux(again, 0, self.place + 1))
        with m.If(made.ends_new):
            m.d.sync += quotient.eq(Mux(made.turns, 0, quotient + 1))
        m.d.sync += result.eq(self.place)

        # --- To the memory, and to the rings -----------------------------------------------------
        # Not the first column of a round, whose word is 0.
        gives = made.gives_result & ~(phase.in_columns & result.all())
        of_round = Const(1) if self.multiplication.keeps_scaled_modulus else ~under_way.preparing
        keeps = Mux(phase.in_columns, of_round, ~under_way.old_descales)
        to_x, to_y = gives & ~under_way.x_streams, made.gives_result & under_way.y_is_result
        wipes = past_value(m, "wipes", phase.wipes, 1, reset=True)
        m.d.comb += [
            self.writes.eq(coming.gives_result & keeps & (self.place < under_way.inner)),
            self.q.enable.eq(made.gives_quotient | wipes),
            self.q.place.eq(Mux(wipes, self.x.place, quotient)),
            self.m.enable.eq(gives & under_way.preparing & phase.in_columns | wipes),
            self.m.place.eq(self.x.place),
            *(port.word.eq(self.word) for port in (self.q, self.m)),
        ]
        for ring, loads, enable, place in (
            (self.x, self.loads_x, to_x, result),
            (self.y, self.loads_y, to_y, result + under_way.shift),
        ):
            m.d.comb += [
                ring.enable.eq(loads.enable | enable),
                ring.place.eq(Mux(loads.enable, loads.place, place)),
                ring.word.eq(Mux(loads.enable, loads.word, self.word)),
            ]
        return m
