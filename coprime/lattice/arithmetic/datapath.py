"""Polynomials in a memory of 1,024 pairs of coefficients, and the pipeline through one slice.

In every cycle one word is read, one is written, and the slice has one product. A slot's words are
read in its cycle and the next one, or later where a product is needed first, and are in registers
two cycles later. Then, in cycles after the slot:

| | TRANSFORM | INVERSE | LAST | PACK | others |
|---|--:|--:|--:|--:|--:|
| sums and differences begin | 7 | 3 | 3 | 3 | 7 |
| factors enter the slice | 2 | 5 | 6 | 6 | 2 |
| the product is reduced | 7 | 10 | 11 | | 7 |
| bits of the product are taken | | | | 10 | 7 |
| the word of sums is written | 10 | 6 | | | 10 |
| the word of differences or products is written | 12 | 12 | 12 | | 12 |

Of the two lanes of a word the second one is a cycle later (MULTIPLY: two cycles), so that the words
of sums and those of differences are written in different cycles.
"""

from collections.abc import Mapping

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.block_ram import BlockRam
from coprime.cells.dsp_slice import DspSlice
from coprime.cells.luts import choose_word
from coprime.cells.shared_slice import narrow_user
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.model.lattice.arithmetic import LAYERS

from .byte_streams import COUNT_BITS, ByteStreams
from .operands import PAIR, STAGES, SlotOperands
from .pipeline import P_BITS, Operands, Pipeline, address_constants
from .reduction import Reduction
from .results import DEPTH, OF_ROOTS, SlotResults
from .slot_counter import SLOT, SlotCounter, delayed
from .steps import STEP, Region
from .sums import LaneSums
from .table import TABLE_BITS, TABLE_WORDS
from .unpacker import WORD_BITS


def datapath_ports(
    constants: Mapping[str, wiring.Member],
    address_bits: int,
    sample: wiring.Member,
    word_bits: int = WORD_BITS,
) -> dict[str, wiring.Member]:
    """Those of Datapath but `slice`: with these for `constants`, and for samples; and so many bits
    that the byte memory reads or writes at once."""
    return {
        "step": In(STEP),
        "start": In(1),
        **dict.fromkeys(("busy", "done", "multiplying"), Out(1)),
        "table_address": Out(range(TABLE_WORDS)),
        **constants,
        "sample_address": Out(address_bits),
        "sample": sample,
        **dict.fromkeys(("use", "write"), Out(1)),
        "write_data": Out(word_bits),
        "read_data": In(word_bits),
        **dict.fromkeys(("clear", "wipe", "wiping"), In(1)),
        "wipe_address": In(range(DEPTH)),
        **dict.fromkeys(("differs", "agrees", "wrong"), Out(1)),
        "compared": Out(COUNT_BITS),
    }


class Datapath(Pipeline, wiring.Component):
    """Executes steps.

    Parameters
    ----------
    target (Target): XC7 places LUTs and one DSP48E1
    shares_slice (bool): the slice is not inside: `slice` leads to it

    Members
    -------
    step (in), start, busy, done : as of SlotCounter
    multiplying (1 bit, out): a slot
    table_address (9 bits, out), table_word (signed 18 bits, in): a constant, a cycle later
    sample_address (7 bits, out), sample (in): a word of the sampled polynomial, a cycle later
    use, write (1 bit, out): a word of bytes is read or written; never in two consecutive cycles
    write_data, read_data (32 bits, out, in): it; what was read a cycle later
    clear (1 bit, in): begin new comparisons
    differs, agrees (1 bit, out): some, or no number has differed since
    compared (out): how many have been compared since, modulo 2^11
    wrong (1 bit, out): a word of the memory has another parity than it was written with
    wipe (1 bit, in): end the step, and clear memory and registers
    wiping (1 bit, in): this is under way, from the cycle after `wipe` on
    wipe_address (10 bits, in): the word that is cleared; each word must be
    slice (out): with `shares_slice` only: of SharedSlice, its narrow user
    """

    def __init__(self, target: Target = Target.GENERIC, *, shares_slice: bool = False):
        self.target, self.shares_slice = Target(target), shares_slice
        self.memory = BlockRam(PAIR.size + 1, DEPTH, target=self.target)
        super().__init__(
            {
                **datapath_ports({"table_word": In(signed(TABLE_BITS))}, LAYERS, In(PAIR)),
                **({"slice": Out(narrow_user(P_BITS))} if shares_slice else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The pipeline, stage by stage."""
        m = Module()
        m.submodules.memory = memory = self.memory
        m.submodules.control = control = SlotCounter()
        m.submodules.operands = operands = SlotOperands(self.target)
        if self.shares_slice:
            slice_: DspSlice = self.slice
        else:
            slice_ = DspSlice(P_BITS, self.target, adds_c=True, chooses=True)
            m.submodules.slice = slice_
        m.submodules.reduction = reduction = Reduction(self.target)
        m.submodules.sums = sums = LaneSums(self.target)
        m.submodules.results = results = SlotResults(self.target)
        m.submodules.streams = streams = ByteStreams(self.target)
        step, flags = self.step, control.flags
        slots = [
            data.View(SLOT, slot)
            for slot in delayed(m, control.slot.as_value(), STAGES - 1, "slot")
        ]
        m.d.comb += [
            *same_named(control, self, "step", "start", "wipe"),
            *same_named(self, control, "busy", "done"),
            self.multiplying.eq(control.slot.valid),
            *(part.flags.eq(flags) for part in (operands, results, streams)),
            *(
                port.eq(slot)
                for part in (operands, results)
                for port, slot in zip(part.slots, slots, strict=True)
            ),
        ]
        self._addresses(m, control, operands, results)
        read = Operands(operands.first, operands.second, operands.low, operands.loaded)
        self._check(m, read)

        differences, bits = self._compute(m, flags, slots, read, slice_, reduction, sums)
        address_constants(m, step, self.start, flags, slots, self.table_address)

        m.d.comb += [
            operands.sample.eq(step.sample),
            operands.keeps.eq(step.add | step.subtract),
            operands.word.eq(memory.a_data[:-1]),
            operands.sampled.eq(self.sample),
            operands.number.eq(streams.number),
            results.subtract.eq(step.subtract),
            results.sum.eq(sums.sum),
            results.difference.eq(differences[1]),
            results.product.eq(reduction.reduced),
            memory.b_write.eq(results.write),
            memory.b_address.eq(results.address),
            memory.b_write_data.eq(Cat(results.word, results.odd)),
            *same_named(results, self, "wipe", "wiping", "wipe_address"),
            operands.wipe.eq(self.wiping),
        ]
        self._connect_streams(m, streams, slots, bits)
        return m

    def _connect_streams(
        self, m: Module, streams: ByteStreams, slots: list[data.View], bits: Value
    ) -> None:
        """Bytes: numbers are unpacked, and the bits of products packed or compared."""
        m.d.comb += [
            streams.slot.eq(slots[0]),
            streams.next_slot.eq(slots[1]),
            streams.packed_slot.eq(slots[10]),
            *same_named(streams, self.step, "sample", "compare", "width"),
            *same_named(streams, self, "start", "clear", "read_data"),
            *same_named(self, streams, "use", "write", "write_data"),
            *same_named(self, streams, "differs", "agrees", "compared"),
            streams.packed.eq(bits),
            streams.wipe.eq(self.wiping),
        ]

    def _addresses(
        self, m: Module, control: SlotCounter, operands: SlotOperands, results: SlotResults
    ) -> None:
        """Of the memory and the sample buffer. LOW is read at once, or 4 cycles later where a
        product is needed first; its address is that of the sum, 6 cycles after that."""
        step, flags, slot = self.step, control.flags, control.slot
        reads = slot.valid & Mux(flags.multiply, slot.phase == 2, slot.phase[0] & ~flags.pair)
        lower = Mux(flags.pair, control.pair, control.lower)
        later = delayed(m, Cat(lower, reads), 4, "lower", reset_less=False)
        sums_first = flags.inverse | flags.last | flags.pack
        chosen = Signal(LAYERS + 1)
        m.d.comb += chosen.eq(choose_word(m, sums_first, later[0], later[4], self.target))
        low, reads_low = chosen[:-1], chosen[-1]
        of_sum = delayed(m, low, 6, "of_sum", reset_less=False)[6]
        is_lower = flags.last & ~slot.phase[1]
        of_other = choose_word(m, is_lower, control.lower, control.upper, self.target)
        of_other = delayed(m, of_other, 12, "of_other", reset_less=False)[12]

        accumulates = flags.multiply
        result, old = Signal(3), Signal(3)
        m.d.comb += [
            result.eq(Mux(accumulates, Region.ACCUMULATOR.value, step.region)),
            old.eq(Mux(flags.exact_sum, Region.EXTRA.value, result)),
        ]
        roots = Cat(step.region[:2], OF_ROOTS)
        takes_roots = flags.multiply & (slot.phase == 0) & ~reads_low
        m.d.comb += [
            self.sample_address.eq(choose_word(m, reads_low, low, control.upper, self.target)),
            self.memory.a_address.eq(
                Mux(
                    takes_roots,
                    Cat(control.pair, roots),
                    Cat(self.sample_address, Mux(reads_low, old, step.region)),
                )
            ),
            operands.low_loads.eq(reads_low),
            results.sum_address.eq(
                Cat(of_sum[:-1], Mux(flags.pair, roots, Cat(of_sum[-1], result)))
            ),
            results.other_address.eq(Cat(of_other, step.region)),
        ]
