"""What a slot does between its operands and its results: the slice, sums, reduction, and bits."""

from typing import NamedTuple

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data

from coprime.cells.block_ram import BlockRam
from coprime.cells.chains import add_table
from coprime.cells.dsp_slice import ADD_C, Accumulate, DspSlice
from coprime.cells.luts import select_word
from coprime.cells.parity_ram import lut_parities
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.model.lattice.arithmetic import (
    COMPRESSION_SHIFT,
    LANE_BITS,
    LEFT,
    WIDTHS,
    Q,
    compression_offset,
    expansion_offset,
    expansion_shift,
    splits,
)

from .reduction import Reduction
from .slot_counter import delayed
from .steps import BYTE_WIDTHS, StepType
from .sums import LaneSums
from .table import BASES, PLAIN_SHIFT, TABLE_BITS
from .unpacker import NUMBER_BITS, WIDTH_MASKS

LANE = signed(LANE_BITS)
P_BITS = 36
_PLAIN = len(WIDTHS)
"""The number of the width of 12 bits, which are not compressed."""


class Operands(NamedTuple):
    """What a pipeline reads of SlotOperands."""

    first: Value
    second: Value
    low: Value
    loaded: Value


class Pipeline:
    """Parts of a component with these attributes, in the cycles of the table of `datapath`."""

    target: Target
    memory: BlockRam
    step: data.View
    table_word: Signal
    wrong: Signal

    def _compute(
        self,
        m: Module,
        flags: data.View,
        slots: list[data.View],
        operands: Operands,
        slice_: DspSlice,
        reduction: Reduction,
        sums: LaneSums,
    ) -> tuple[list[Signal], Signal]:
        """Differences, of this and the cycles before, and the bits that are packed."""
        # LaneSums and differences come before the slice, or after it.
        sums_first = flags.inverse | flags.last | flags.pack
        before = Signal(LANE)
        exact = Signal(LANE)  # the sum, not negative
        differences = delayed(m, sums.difference, 3, "difference")
        bits, expanded = Signal(LANE_BITS), Signal(LANE_BITS)
        m.d.sync += [
            before.eq(operands.first),
            exact.eq(add_table(m, sums.sum, [0, Q], sums.sum[-1:], self.target)),
            expanded.eq(bits),
        ]
        is_expanded = flags.unpack & (self.step.width != _PLAIN)
        with m.If(~is_expanded):
            m.d.sync += expanded.eq(0)
        m.d.comb += [
            reduction.clear.eq(is_expanded),
            sums.x.eq(operands.low),
            sums.before.eq(before),
            sums.reduced.eq(reduction.reduced),
            sums.expanded.eq(expanded),
            sums.later.eq(~sums_first),
        ]

        self._multiply(m, flags, slots, operands, slice_, exact, differences)
        m.d.comb += reduction.t.eq(slice_.p)
        self._round(m, flags, exact, slice_, bits)
        return differences, bits

    def _multiply(
        self,
        m: Module,
        flags: data.View,
        slots: list[data.View],
        operands: Operands,
        slice_: DspSlice,
        exact: Signal,
        differences: list[Signal],
    ) -> None:
        """The slice's factors: b varies; a is a constant, d a coefficient of the vector."""
        table = Signal(TABLE_BITS)
        m.d.sync += table.eq(self.table_word)
        takes_difference = flags.inverse | (flags.last & slots[6].phase[1])
        takes_exact = flags.pack | (flags.last & ~slots[6].phase[1])
        factor = Signal(LANE)
        m.d.comb += [
            factor.eq(
                select_word(
                    m,
                    [operands.first, exact, differences[0], differences[3]],
                    Cat(
                        takes_exact | (takes_difference & flags.last),
                        takes_difference,
                    ),
                    self.target,
                )
            ),
            slice_.b.eq(factor),
            slice_.a.eq(table.as_signed()),
            slice_.d.eq(operands.second.as_signed()),
            slice_.takes_d.eq(flags.multiply),
            slice_.product.eq(1),
            slice_.accumulate.eq(
                Mux(
                    flags.multiply,
                    Mux(slots[2].phase[0], Accumulate.ADD.value, Accumulate.LOAD.value),
                    Mux(
                        flags.pack | flags.unpack,
                        ADD_C,
                        Accumulate.LOAD.value,
                    ),
                )
            ),
        ]

    def _check(self, m: Module, operands: Operands) -> None:
        """Of the words that are loaded the parity, by one LUT before a register and one after it.
        Those words are not written in the cycle in which they are read."""
        parts = lut_parities(self.memory.a_data)
        parities, loaded = Signal(len(parts)), Signal()
        m.d.sync += [parities.eq(parts), loaded.eq(operands.loaded)]
        m.d.comb += self.wrong.eq(loaded & parities.xor())

    def _round(
        self, m: Module, flags: data.View, exact: Signal, slice_: DspSlice, bits: Signal
    ) -> None:
        """What is added to products that are compressed or expanded, and their bits."""
        width = self.step.width
        left = Signal.like(exact)
        is_split = look_up(
            [width_bits in WIDTHS and splits(width_bits) for width_bits in BYTE_WIDTHS], width, 1
        )
        m.d.sync += left.eq(exact)
        with m.If(~(flags.pack & is_split)):
            m.d.sync += left.eq(0)
        compressions = [*(compression_offset() for _ in WIDTHS), 0]
        expansions = [*map(expansion_offset, WIDTHS), 0]
        rows = [*expansions, *[0] * (8 - len(expansions)), *compressions]
        offset = look_up(rows, Cat(width, flags.pack), LEFT)
        shifts = (COMPRESSION_SHIFT, expansion_shift(WIDTHS[0]), PLAIN_SHIFT)
        high, low, plain = (slice_.p[shift:][:NUMBER_BITS] for shift in shifts)
        compresses = flags.pack & (width != _PLAIN)
        is_small = [expansion_shift(width_bits) == shifts[1] for width_bits in WIDTHS]
        expands_small = flags.unpack & look_up(is_small, width, 1)
        m.d.comb += slice_.c.eq(Cat(offset, left, 0))
        m.d.sync += bits.eq(
            select_word(m, [plain, high, low, low], Cat(compresses, expands_small), self.target)
        )
        for place, is_in in enumerate(look_up(WIDTH_MASKS, width, NUMBER_BITS)):
            with m.If(flags.pack & ~is_in):
                m.d.sync += bits[place].eq(0)


def address_constants(
    m: Module,
    step: data.View,
    start: Value,
    flags: data.View,
    slots: list[data.View],
    table_address: Signal,
) -> None:
    """The address of the constant, which is in its register two cycles later."""
    bases = look_up([BASES[step_type] for step_type in StepType], step.kind, len(table_address))
    numbered = Mux(flags.pack | flags.unpack, step.width, 0)
    address = Signal.like(table_address)
    with m.If(start):
        m.d.sync += address.eq(bases | numbered)
    with m.Elif(Mux(flags.inverse, slots[3].block_ends, slots[0].block_ends)):
        m.d.sync += address.eq(address + 1)
    m.d.comb += table_address.eq(address | (flags.last & slots[4].phase[1]))
