"""The ports of a multiplier that takes a product before the last one has ended."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from coprime.cells.wires import same_named
from coprime.multipliers.contract import Role
from coprime.multipliers.delays import past_value
from coprime.multipliers.multiplication import READ_LATENCY
from coprime.program.operands import OF_TABLE, SWAPPED_BY_BIT, Core, Mode
from coprime.program.steps import StepKind

from .bank_access import (
    INVERSES,
    MODULUS_OPERANDS,
    Blocks,
    Detour,
    ProductAccess,
    StepInBanks,
    is_right,
)

_NO = Const(0)
_PAIR = 2
"""In what the blocks of a pair of `SWAPPED_BY_BIT` differ."""


class ProductPlaces:
    """Where a product's multiplier and its result lie: what the sequencer had for it."""

    def __init__(self, blocks: Blocks, name: str):
        numbers, entries = blocks.layout.number_bits, blocks.layout.entry_bits
        self.multiplicand = Signal(numbers, name=f"{name}_multiplicand")
        self.multiplier = Signal(numbers, name=f"{name}_multiplier")
        self.destination = Signal(numbers, name=f"{name}_destination")
        self.window = Signal(entries, name=f"{name}_window")
        self.entry = Signal(entries, name=f"{name}_entry")
        self.third = Signal(entries, name=f"{name}_third")
        self.copies = Signal(name=f"{name}_copies")
        self.by_bit = Signal(name=f"{name}_by_bit")
        self.earlier = Signal(name=f"{name}_earlier")  # of an earlier bit than the step's

    def take(self, other: "ProductPlaces") -> list[Any]:
        """The assignments that make it the same as another one."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return [place.eq(of_other) for place, of_other in pairs]


class StreamPorts:
    """For `OverlappingMultiplierSignature`: a word of the multiplicand, and one of the multiplier.

    The sequencer is up to one product ahead of the new one, and the new one of the old one, whose
    result is written. So what the sequencer has had for both is kept here. A linear step, and the
    scan of an exponent, wait until no product is under way; but a sum or a move waits for the new
    product only, if that has a number of it (`conflicts`), and for each digit of the old one's
    result that it takes (`holds`).

    The multiplicand lies left, and the multiplier right, but for a square's; of a product that
    follows another one they are read a word a step, through ports A and B, and neither is if it is
    the result under way. The modulus lies left, and the inverse in either bank; they are read while
    nothing else is. An entry
    of the table is written left as well, to ACCUMULATOR: so each is the multiplicand of the next.

    Parameters
    ----------
    multiplier : the multiplier's ports
    longest_digits : the most digits that any modulus of the operation has
    keeps_scaled_modulus : as of `Multiplication`
    beside_sums : sums run beside products; and a square may follow any other product
    """

    def __init__(
        self,
        multiplier: wiring.PureInterface,
        blocks: Blocks,
        longest_digits: Value,
        *,
        keeps_scaled_modulus: bool = False,
        beside_sums: bool = False,
    ):
        self.multiplier, self.blocks = multiplier, blocks
        self.longest_digits = longest_digits
        self.keeps_scaled_modulus, self.beside_sums = keeps_scaled_modulus, beside_sums
        self.asked, self.new, self.old = (
            ProductPlaces(blocks, name) for name in ("asked", "new", "old")
        )
        numbers = blocks.layout.numbers
        self.entries = [numbers[mode] for mode in OF_TABLE if mode in numbers]
        self.pairs = [numbers[number] for number in SWAPPED_BY_BIT if number in numbers]
        self.conflicts = Signal(name="conflicts")
        """The linear step under way takes or overwrites the new product's result, or overwrites a
        factor of it."""
        self.holds = Signal(name="holds")
        """The ports are wanted, or the linear step's next digit is not written yet."""

    def connect(self, m: Module, step: StepInBanks, banks: Mapping[str, Value]) -> ProductAccess:
        """Connect the digits that the banks read; say what is asked of the ports."""
        multiplier, blocks = self.multiplier, self.blocks
        asked, new, old = self.asked, self.new, self.old
        self._keep_places(m, step)
        self._find_result(m, step)
        if self.beside_sums:
            self._find_conflicts(m, step)
        read = Mux(multiplier.b_of_next, asked.multiplier, new.multiplier)
        m.d.comb += [
            multiplier.squares.eq(~is_right(step.y)),
            multiplier.a_data.eq(self._a_data(m, banks)),
            multiplier.b_data.eq(self._b_data(m, banks, read)),
        ]
        left = Signal(blocks.layout.block_bits, name="multiplicand")
        m.d.comb += left.eq(Mux(multiplier.a_of_next, asked.multiplicand, new.multiplicand))
        with m.Switch(multiplier.a_role):
            with m.Case(Role.MODULUS):
                m.d.comb += left.eq(blocks.of_context(MODULUS_OPERANDS, step.modulus))
            with m.Case(Role.INVERSE):
                m.d.comb += left.eq(blocks.of_context(INVERSES, step.modulus))
        reads_inverse = multiplier.a_role == Role.INVERSE
        right, reads_right = step.x, Const(0)
        if not blocks.layout.inverses_left:
            right, reads_right = blocks.of_context(INVERSES, step.modulus), reads_inverse
        writes = multiplier.b_write
        written: Value = old.destination
        if self.keeps_scaled_modulus:
            preparing = Signal()  # the sequencer has PREPARE before the product ahead of it ends
            with m.If(multiplier.prepare | multiplier.done):
                m.d.sync += preparing.eq(multiplier.prepare)
            written = Mux(preparing, step.destination, written)
        window = Mux(multiplier.b_of_next, asked.window, new.window)
        third = Mux(multiplier.b_of_next, asked.third, new.third)
        return ProductAccess(
            a_left=left,
            a_right=right,
            a_index=multiplier.a_index,
            b_index=multiplier.b_index,
            reads_inverse=reads_inverse,
            location=Mux(writes, written, read),
            writes=writes,
            copies=old.copies,
            b_left=Detour(
                when=writes & (old.destination == blocks.of(Mode.ENTRY)),
                block=blocks.of(Core.ACCUMULATOR),
                writes=Const(1),
            ),
            b_right=Detour(when=Const(0), block=Const(0), writes=Const(0)),
            window=Mux(writes, old.window, window),
            entry=old.entry,
            third=third,
            takes_part={
                "a_right": reads_right,
                "b_left": ~is_right(read) if self.beside_sums else Const(0),
                "b_right": ~writes,
            },
        )

    def _a_data(self, m: Module, banks: Mapping[str, Value]) -> Value:
        """What port A has read for the multiplier; an inverse may lie right."""
        if self.blocks.layout.inverses_left:
            return banks["a_left"]
        of_inverse = self.multiplier.a_role == Role.INVERSE
        late = past_value(m, "of_inverse", of_inverse, READ_LATENCY)
        return Mux(late, banks["a_right"], banks["a_left"])

    def _b_data(self, m: Module, banks: Mapping[str, Value], read: Value) -> Value:
        """What port B has read for the multiplier; the factor of a square lies left."""
        if not self.beside_sums:
            return banks["b_right"]
        late = past_value(m, "of_square", ~is_right(read), READ_LATENCY)
        return Mux(late, banks["b_left"], banks["b_right"])

    def _keep_places(self, m: Module, step: StepInBanks) -> None:
        """Keep what the sequencer has for a product, as long as it is under way."""
        multiplier, asked, new = self.multiplier, self.asked, self.new
        m.d.comb += [
            asked.multiplicand.eq(step.x),
            asked.multiplier.eq(step.y),
            *same_named(asked, step, "destination", "window", "entry", "third", "copies", "by_bit"),
            multiplier.longest_digits.eq(self.longest_digits),
            multiplier.a_taken.eq(step.scans | step.uses_a),
            multiplier.b_taken.eq(step.uses_b),
        ]
        # The bit changes with the step whose product is taken, or later.
        m.d.comb += asked.earlier.eq(step.next_bit)
        with m.If(step.next_bit):
            m.d.sync += [new.earlier.eq(1), self.old.earlier.eq(1)]
        with m.If(multiplier.turns):
            m.d.sync += [*self.old.take(new), self.old.earlier.eq(new.earlier | step.next_bit)]
        with m.If(multiplier.takes):
            m.d.sync += new.take(asked)

    def _find_result(self, m: Module, step: StepInBanks) -> None:
        """Find out whether a product may follow the new one, and which factors are its result."""
        multiplier, blocks, new = self.multiplier, self.blocks, self.new
        modulus, rounds = Signal.like(step.modulus), Signal.like(step.rounds)
        with m.If(multiplier.takes):
            m.d.sync += [modulus.eq(step.modulus), rounds.eq(step.rounds)]
        makes_entry = new.destination == blocks.of(Mode.ENTRY)
        must_load = Const(0) if self.beside_sums else ~multiplier.x_is_result
        # Which entry of the table a window names is not looked at.
        may_be_entry = makes_entry & step.y.matches(*self.entries)
        m.d.comb += [
            multiplier.follows.eq(
                (step.kind == StepKind.MULTIPLY)
                & (step.modulus == modulus)
                & (step.rounds == rounds)
                & ~may_be_entry
                & ~(multiplier.squares & (multiplier.descale | must_load))
            ),
            multiplier.x_is_result.eq(
                (step.x == new.destination) | makes_entry & (step.x == blocks.of(Core.ACCUMULATOR))
            ),
            multiplier.y_is_result.eq(self._is_one(step.y, new.destination, new.copies)),
        ]

    def _find_conflicts(self, m: Module, step: StepInBanks) -> None:
        """Find out whether a linear step has to wait for products that are under way.

        It waits until the new product has read its factors, in step D, in which it becomes the old
        one. Of the old one's result it takes each digit as soon as it is written.
        """
        multiplier, new, old = self.multiplier, self.new, self.old
        reads, writes = Signal(), Signal()
        with m.If(multiplier.takes):  # a preparation, too, which reads none of them
            m.d.sync += reads.eq(step.kind == StepKind.MULTIPLY)
        with m.Elif(multiplier.turns):
            m.d.sync += reads.eq(0)
        with m.If(multiplier.turns):
            m.d.sync += writes.eq(1)
        with m.Elif(multiplier.ends_result):
            m.d.sync += writes.eq(0)
        written = Signal.like(multiplier.b_index)  # digits of the old product's result
        with m.If(multiplier.turns):
            m.d.sync += written.eq(0)
        with m.Elif(multiplier.b_write):
            m.d.sync += written.eq(multiplier.b_index + 1)

        def has(product: ProductPlaces, *others: Value) -> Value:
            """A number of the step is the product's result, or may be, or the step's result is one
            of the others."""
            result, copies = product.destination, product.copies
            either = product.earlier | (product.by_bit != step.by_bit)
            return Cat(
                result == self.blocks.of(Mode.ENTRY),
                self._is_one(step.x, result, copies, either),
                self._is_one(step.y, result, copies, either),
                self._is_one(step.destination, result, copies | step.copies, either),
                *(self._is_one(step.destination, other, step.copies, either) for other in others),
            ).any()

        takes_old = Signal()  # the sum under way takes a number of the old one, or writes one
        with m.If(multiplier.turns):
            m.d.sync += takes_old.eq(0)
        with m.Elif(step.starts):
            m.d.sync += takes_old.eq(has(old))
        late = writes & takes_old & (step.index >= written)
        m.d.comb += [
            self.conflicts.eq(reads & has(new, new.multiplicand, new.multiplier)),
            self.holds.eq(multiplier.wants_ports | late),
        ]

    def _is_one(self, number: Value, other: Value, copies: Value, either: Value = _NO) -> Value:
        """Whether two places are one; with `copies`, one of them is in both banks.

        With `either`, it is not looked at which one of a pair it is: where they have changed places
        by different bits, or only one of them by a bit, what waits is the same for each bit.
        """
        differs = number[:-1] ^ other[:-1]
        swapped = (differs == _PAIR) & either & number.matches(*self.pairs)
        return ((differs == 0) | swapped) & (copies | (is_right(number) == is_right(other)))
