"""The sums of `ring`: a column's words out of what the tiles have added up."""

from amaranth.hdl import Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.adders import add_selected, add_three, add_two
from coprime.cells.target import Target
from coprime.model.ring import SumBits, sum_bits

from ..delays import history
from .memory import WordRing

__all__ = ["ColumnSums", "SumSignature"]


class SumSignature(wiring.Signature):
    """What a slot is for the sums, in the cycle in which its product is in the tiles' sums.

    Members
    -------
    ends_old, ends_new : a column of the old product, of the new one, has all its products
    turns : with `ends_new`, the new product's column D - 1; all its other columns are old ones
    last_old : with `ends_old`, the old product's column 2D - 1
    next_of_old : the next slot belongs to a column of the old product
    before : the next product is the first diagonal one
    nothing_before : the column is column 0, which has no other product
    makes_diagonal : the last diagonal product has been added
    """

    def __init__(self) -> None:
        flags = ("ends_old", "ends_new", "turns", "last_old", "next_of_old")
        super().__init__(
            dict.fromkeys((*flags, "before", "nothing_before", "makes_diagonal"), Out(1))
        )


class ColumnSums(wiring.Component):
    """S of column c: carry out of column c - 1, the running sum RS of its e_k, and the tiles' sums.

    e_k = x_k y_k + q_(k-1-d) M'_(k-1-d) is a difference of two S, in which it is already in column
    k; so it joins RS behind that column. It leaves RS at column k + D: with R_k = e_0 + ... + e_k,
    RS of column D + k is R_(D-1) - R_k, and all R_k are kept until then.

    A slot whose product is in `sums` in cycle t ends a column: `word` has its word in t + 1, and
    the next column may end in t + 1, if of the other product, or else in t + 2.

    Parameters
    ----------
    width, max_words : bits of a word; D at the most
    tile_bits : bits of a tile's sum
    tiles : 1 or 2
    target : Target

    Members
    -------
    slot : SumSignature, in
    sums : in, those of the tiles
    clear : there is no carry into the next column of the new product, nor an RS
    wipe : everything becomes 0, an R_k in each cycle
    word : out, the word of the column that ended in the cycle before
    """

    def __init__(
        self,
        width: int,
        max_words: int,
        tile_bits: int,
        tiles: int = 1,
        target: Target = Target.GENERIC,
    ):
        self.width = width
        self.target = Target(target)
        self.max_words = max_words
        self.bits: SumBits = sum_bits(max_words, width)
        super().__init__(
            {
                "slot": In(SumSignature()),
                "sums": In(signed(tile_bits)).array(tiles),
                "clear": In(1),
                "wipe": In(1),
                "word": Out(width),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build S, and the carry and RS of both products."""
        m = Module()
        slot, bits = self.slot, self.bits
        carry_old, carry_new = Signal(bits.carry), Signal(bits.carry)
        running_old, running_new = Signal(bits.running), Signal(bits.running)
        # What the tiles' sums are added to: no path has two additions.
        base = Signal(max(bits.running, bits.carry) + 1, reset_less=True)
        new, old = (carry_new, running_new), (carry_old, running_old)
        m.d.sync += base.eq(add_selected(m, slot.next_of_old, new, old, len(base), self.target))
        total, carry = Signal(bits.total), Signal(bits.carry)
        m.d.comb += carry.eq(total[self.width :])
        if len(self.sums) == 1:
            m.d.comb += total.eq(base + self.sums[0])
        else:
            m.d.comb += total.eq(self._add(m, base, self.sums[0], self.sums[1], bits.total))
        latest = Signal.like(total, reset_less=True)
        m.d.sync += latest.eq(total)
        m.d.comb += self.word.eq(latest)
        with m.If(slot.ends_old | slot.turns):
            m.d.sync += carry_old.eq(carry)
        with m.If(slot.ends_new):
            m.d.sync += carry_new.eq(carry)

        # --- R_k: made, and D columns later taken from the last one ------------------------------
        before = Signal.like(running_new, reset_less=True)
        with m.If(history(m, "was_before", slot.before, 1, reset=True)[-1]):
            m.d.sync += before.eq(latest)
        with m.If(history(m, "nothing_before", slot.nothing_before, 1)[-1] | self.wipe):
            m.d.sync += before.eq(0)
        made = history(m, "made", slot.makes_diagonal, 2, reset=True)
        turned = history(m, "turned", slot.turns, 4, reset=True)
        m.submodules.kept = kept = WordRing(bits.running, self.max_words + 1)
        joins, leaves = Signal.like(kept.place), Signal.like(kept.place)
        last, leaving = (
            Signal.like(running_old, name=name, reset_less=True) for name in ("last", "leaving")
        )
        m.d.comb += [
            kept.write.eq(made[2] | self.wipe),
            kept.place.eq(joins),
            kept.word.eq(running_new),
            kept.i.eq(leaves),
        ]
        m.d.sync += leaving.eq(kept.at_i)
        increased = self._add(m, running_new, latest, before, bits.running, subtract_last=True)
        with m.If(made[1]):
            m.d.sync += running_new.eq(increased)
        with m.If(made[2]):
            m.d.sync += joins.eq(joins + 1)
        with m.If(turned[3]):
            m.d.sync += last.eq(running_new)
        with m.If(turned[4] | slot.ends_old):
            m.d.sync += running_old.eq(last - leaving)
            m.d.sync += leaves.eq(Mux(slot.ends_old & slot.last_old, 0, leaves + 1))
        with m.If(turned[4] | self.clear):
            m.d.sync += [running_new.eq(0), joins.eq(0)]
        with m.If(slot.turns | self.clear):
            m.d.sync += carry_new.eq(0)
        with m.If(self.wipe):
            sums = (carry_old, carry_new, running_old, running_new, last, latest)
            m.d.sync += [one.eq(0) for one in sums]
            m.d.sync += [joins.eq(joins + 1), leaves.eq(leaves + 1)]
        return m

    def _add(
        self, m: Module, a: Value, b: Value, c: Value, width: int, *, subtract_last: bool = False
    ) -> Value:
        """a + b + c, or a + b - c; modulo 2^width."""
        if self.target is not Target.ECP5:
            rows = ((a, 0), (b, 0), (c, 0))
            return add_three(m, rows, width, self.target, subtract_last=subtract_last)
        first = add_two(m, b, c, width, self.target, subtract=subtract_last)
        return add_two(m, a, first, width, self.target)
