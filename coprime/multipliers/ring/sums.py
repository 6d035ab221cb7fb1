"""The sums of `ring`: a column's words from the sums of the tiles."""

from itertools import pairwise

from amaranth.hdl import Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.adders import add_selected, add_three, add_two
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.model.ring import SumBits, sum_bits

from ..delays import history, past_value, stages
from .rings import small_memory
from .slot_signatures import COLUMN

CARRIES = ("base", "total", "difference", "running", "left")
"""The additions of a part; each carries into the next higher part."""
SUBTRACTS = frozenset({"difference", "left"})


class SumsPart(wiring.Component):
    """A range of the bits of S, and of its addends; `RingColumnSums` has one or two parts.

    Parameters
    ----------
    base, total, running : bits of the addend of the tiles' sums, of S, and of RS
    tile_bits : bits of the tiles' sums
    tiles, max_words, target, short_steps, in_block_ram : as in `RingColumnSums`
    lowest, highest : it is the lowest part, the highest one, or both

    Members
    -------
    slot, next_of_old, sums, clear, wipe : as in `RingColumnSums`
    carry_old, carry_new : in, the carries that are added to S
    carries_in, carries_out : carries from the next lower part's additions of the cycle before; of
        this part's additions of this cycle, to the next higher part
    total : out, S
    latest : out, S of the cycle before
    """

    def __init__(
        self,
        base: int,
        total: int,
        running: int,
        tile_bits: int,
        tiles: int,
        max_words: int,
        target: Target,
        *,
        short_steps: bool = False,
        in_block_ram: bool = False,
        lowest: bool = True,
        highest: bool = True,
    ):
        self.base, self.running, self.short_steps = base, running, short_steps
        self.in_block_ram, self.max_words = in_block_ram, max_words
        self.target, self.highest = target, highest
        self.whole = lowest and highest
        carries = wiring.Signature(dict.fromkeys(CARRIES, Out(1)))
        ports = {
            "slot": In(COLUMN),
            "sums": In(signed(tile_bits) if highest else tile_bits).array(tiles),
            **dict.fromkeys(("next_of_old", "clear", "wipe"), In(1)),
            **dict.fromkeys(("carry_old", "carry_new"), In(base)),
            "carries_in": In(carries),
            "carries_out": Out(carries),
            **dict.fromkeys(("total", "latest"), Out(total)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Build S, and RS of both products."""
        m = Module()
        slot, total, latest = self.slot, self.total, self.latest
        running_old, running_new = Signal(self.running), Signal(self.running)
        # The addend of the tiles' sums: no path has two additions.
        base = Signal(self.base, reset_less=True)
        new, old = (self.carry_new, running_new), (self.carry_old, running_old)
        m.d.sync += base.eq(self._add_selected(m, self.next_of_old, new, old))
        m.d.comb += total.eq(self._add_sums(m, base))
        m.d.sync += latest.eq(total)

        # --- R_k: computed, and D columns later subtracted from the last one ---------------------
        before = Signal.like(running_new, reset_less=True)
        with m.If(past_value(m, "was_before", slot.before, 1, reset=True)):
            m.d.sync += before.eq(latest)
        with m.If(past_value(m, "nothing_before", slot.nothing_before, 1) | self.wipe):
            m.d.sync += before.eq(0)
        made = history(m, "made", slot.makes_diagonal, 2, reset=True)
        # R_(D-1) is valid two cycles after its column, and is needed in the base of the next one, a
        # step later: steps of five cycles use it at once, longer ones have a cycle of slack.
        turned = history(m, "turned", slot.turns, 3 if self.short_steps else 4, reset=True)
        style = "block" if self.in_block_ram else "distributed"
        m.submodules.kept = kept = small_memory(self.running, self.max_words + 1, style)
        leaving, keep = kept.read_port(), kept.write_port()
        joins, leaves = Signal.like(keep.addr), Signal.like(leaving.addr)
        last = Signal.like(running_old, reset_less=True)
        m.d.comb += [
            keep.en.eq(made[2] | self.wipe),
            keep.addr.eq(joins),
            keep.data.eq(running_new),
            leaving.addr.eq(leaves),
        ]
        increased = self._increase(m, running_new, before)
        with m.If(made[1]):
            m.d.sync += running_new.eq(increased)
        with m.If(made[2]):
            m.d.sync += joins.eq(joins + 1)
        with m.If(turned[-2]):
            m.d.sync += last.eq(running_new)
        left = last - leaving.data if self.whole else self._add(m, "left", last, leaving.data)
        with m.If(turned[-1] | slot.ends_old):
            m.d.sync += running_old.eq(left)
            m.d.sync += leaves.eq(Mux(slot.ends_old & slot.last_old, 0, leaves + 1))
        with m.If(turned[-1] | self.clear):
            m.d.sync += [running_new.eq(0), joins.eq(0)]
        with m.If(self.wipe):
            sums = (running_old, running_new, last, latest)
            m.d.sync += [sum_.eq(0) for sum_ in sums]
            m.d.sync += [joins.eq(joins + 1), leaves.eq(leaves + 1)]
        return m

    def _add(self, m: Module, name: str, a: Value, b: Value, bits: int | None = None) -> Value:
        """The sum or difference of this name, with as many bits as `a` or with `bits`."""
        bits, subtract = bits or len(a), name in SUBTRACTS
        carry = getattr(self.carries_in, name)
        if self.highest:
            return add_two(m, a, b, bits, self.target, subtract=subtract, carry=carry)
        found = add_two(m, a, b, bits + 1, self.target, subtract=subtract, carry=carry)
        m.d.comb += getattr(self.carries_out, name).eq(found[bits] ^ subtract)
        return found[:bits]

    def _add_selected(
        self, m: Module, of_old: Value, new: tuple[Value, Value], old: tuple[Value, Value]
    ) -> Value:
        """A carry and an RS."""
        if self.whole:
            return add_selected(m, of_old, new, old, self.base, self.target)
        carry, running = (Mux(of_old, *pair) for pair in zip(old, new, strict=True))
        return self._add(m, "base", carry, running, self.base)

    def _add_sums(self, m: Module, base: Value) -> Value:
        """The addend without the tiles' sums, plus these."""
        if len(self.sums) > 1:
            return self._add_three(m, base, self.sums[0], self.sums[1], len(self.total))
        if self.whole:
            return base + self.sums[0]
        return self._add(m, "total", base, self.sums[0], len(self.total))

    def _increase(self, m: Module, running: Value, before: Value) -> Value:
        """RS with an e_k, the difference of two S."""
        if self.whole:
            return self._add_three(
                m, running, self.latest, before, self.running, subtract_last=True
            )
        difference = self._add(m, "difference", self.latest[: self.running], before)
        return self._add(m, "running", running, difference[: self.running])

    def _add_three(
        self, m: Module, a: Value, b: Value, c: Value, width: int, *, subtract_last: bool = False
    ) -> Value:
        """a + b + c, or a + b - c; modulo 2^width."""
        if self.target is not Target.ECP5:
            rows = ((a, 0), (b, 0), (c, 0))
            return add_three(m, rows, width, self.target, subtract_last=subtract_last)
        first = add_two(m, b, c, width, self.target, subtract=subtract_last)
        return add_two(m, a, first, width, self.target)


class RingColumnSums(wiring.Component):
    """S of column c: carry out of column c - 1, the running sum RS of its e_k, and the tiles' sums.

    e_k = x_k y_k + q_(k-1-d) M'_(k-1-d) is a difference of two S. S of column k already includes
    it, so it is added to RS after that column. It is subtracted at column k + D: with R_k = e_0 +
    ... + e_k, RS of column D + k is R_(D-1) - R_k, and all R_k are stored until then.

    A slot whose product is in `sums` in cycle t ends a column: `word` has its word in t + 1, and
    the next column may end in t + 1, if of the other product, or else in t + 2.

    With `skewed`, all of this has two parts, so that no carry passes through all bits in a cycle:
    in the higher part, the bits above a word, everything is a cycle later. Since this part is the
    carry into the next column of a product, that column may end in t + 3.

    Parameters
    ----------
    width, max_words : bits of a word; maximum of D
    tile_bits : bits of a tile's sum
    tiles : 1 or 2
    skewed (bool): two parts; for one tile
    short_steps (bool): steps may have fewer than 6 cycles, but at least 5
    in_block_ram (bool): all R_k are in block RAM; else in LUTs

    Members
    -------
    slot : COLUMN, in: the slot whose product is in `sums`
    next_of_old : the next slot belongs to a column of the old product
    sums : in, those of the tiles; with `skewed`, the bits above a word a cycle later
    clear : the carry into the next column of the new product, and RS, become 0
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
        *,
        skewed: bool = False,
        short_steps: bool = False,
        in_block_ram: bool = False,
    ):
        assert not skewed or tiles == 1
        self.width = width
        self.target = Target(target)
        self.max_words, self.skewed, self.in_block_ram = max_words, skewed, in_block_ram
        self.short_steps = short_steps
        self.bits: SumBits = sum_bits(max_words, width)
        ports = {
            "slot": In(COLUMN),
            "sums": In(signed(tile_bits)).array(tiles),
            **dict.fromkeys(("next_of_old", "clear", "wipe"), In(1)),
            "word": Out(width),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Instantiate the parts, and keep the carries of both products."""
        m = Module()
        parts = self._parts(m)
        lowest, highest, late = parts[0], parts[-1], len(parts) - 1
        m.d.comb += self.word.eq(lowest.latest)
        carry_old, carry_new = Signal(self.bits.carry), Signal(self.bits.carry)
        carry = Signal(self.bits.carry)
        m.d.comb += carry.eq(highest.total[0 if late else self.width :])
        slot = highest.slot
        with m.If(slot.ends_old | slot.turns):
            m.d.sync += carry_old.eq(carry)
        with m.If(slot.ends_new):
            m.d.sync += carry_new.eq(carry)
        with m.If(slot.turns | highest.clear):
            m.d.sync += carry_new.eq(0)
        with m.If(highest.wipe):
            m.d.sync += [carry_old.eq(0), carry_new.eq(0)]
        for k, part in enumerate(parts):
            above = k * self.width
            m.d.comb += [part.carry_old.eq(carry_old[above:]), part.carry_new.eq(carry_new[above:])]
        return m

    def _parts(self, m: Module) -> list[SumsPart]:
        """The parts, each with its inputs a cycle later than the next lower one."""
        bits, width, tile_bits = self.bits, self.width, len(self.sums[0])
        base = max(bits.running, bits.carry) + 1

        def part(low: int, high: int | None = None) -> SumsPart:
            """Return the part of the bits from `low` to before `high`."""
            base_bits, total, running, of_tile = (
                len(range(size)[low:high]) for size in (base, bits.total, bits.running, tile_bits)
            )
            return SumsPart(
                *(base_bits, total, running, of_tile),
                *(len(self.sums), self.max_words, self.target),
                short_steps=self.short_steps,
                in_block_ram=self.in_block_ram,
                lowest=low == 0,
                highest=high is None,
            )

        parts = [part(0, width), part(width)] if self.skewed else [part(0)]
        late = len(parts) - 1
        slots = stages(m, "slot", self.slot, late, reset=True)
        next_of_old = history(m, "next_of_old", self.next_of_old, late, reset=True)
        clear = history(m, "clear", self.clear, late, reset=True)
        wipe = history(m, "wipe", self.wipe, late, reset=True)
        for k, submodule in enumerate(parts):
            m.submodules[f"part_{k}"] = submodule
            m.d.comb += [
                submodule.slot.eq(slots[k]),
                submodule.next_of_old.eq(next_of_old[k]),
                submodule.clear.eq(clear[k]),
                submodule.wipe.eq(wipe[k]),
            ]
            for entering, total_of_tile in zip(submodule.sums, self.sums, strict=True):
                m.d.comb += entering.eq(total_of_tile[k * self.width :])
        for name in CARRIES:
            m.d.comb += getattr(parts[0].carries_in, name).eq(name in SUBTRACTS)
        for below, above in pairwise(parts):
            m.d.sync += same_named(above.carries_in, below.carries_out, *CARRIES)
        return parts
