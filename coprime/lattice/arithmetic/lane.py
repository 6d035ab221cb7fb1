"""A lane: its words of all polynomials, and the pipeline through its slice.

It is the datapath of one slice but for addresses, bytes and constants, which all lanes share. What
follows a slot's operands is CROSSING cycles later than there. In these cycles both words of a
butterfly may come from other lanes:

| cycle after an even slot | of a layer whose words cross |
|--:|---|
| 0, 1 | both rows are addressed |
| 3 | UP and LOW are complete in all lanes: the lane takes the two words of its butterfly |
| 4, 5 | factors, as of another layer |
| 14, 15 | the first row is written, then the second one: each lane its own word of it |
"""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.block_ram import BlockRam
from coprime.cells.dsp_slice import DspSlice
from coprime.cells.target import Target
from coprime.cells.wires import same_named

from .operands import PAIR, STAGES, SlotOperands
from .pipeline import P_BITS, Operands, Pipeline
from .reduction import Reduction
from .results import ADDRESS_BITS, SlotResults
from .slot_counter import FLAGS, SLOT, delayed
from .steps import CROSSING, STEP
from .sums import LaneSums
from .table import TABLE_BITS
from .unpacker import NUMBER_BITS

LANE_STAGES = STAGES + CROSSING
WORD = PAIR.size + 1
"""Bits of a word of memory: a pair of coefficients and its parity."""
TAKES, GIVES = 3, STAGES - 1 + CROSSING
"""Cycles after an even slot in which both rows' words are there, and the first row is written."""
_BITS = 10 + CROSSING
"""Cycles from a slot of PACK to its number."""
PACKS = _BITS + 1
"""Cycles from the first slot of a word to where both its numbers are there."""


class PolynomialLane(Pipeline, wiring.Component):
    """One of several lanes.

    Parameters
    ----------
    lane_bits (int): logarithm of the number of lanes
    target (Target): XC7 places LUTs and one DSP48E1

    Members
    -------
    step, flags (in): of ParallelSlotCounter
    slots (in), crossed (15 bits, in): slots of this and the cycles before, and whether their words
        cross
    low_loads (1 bit, in): the address is of LOW
    a_address (in): what is read
    sum_address, other_address (in): of SlotResults
    table_word (signed 18 bits, in): of Datapath
    sampled (in): of SlotOperands
    up_word, low_word (out): the rows' words, complete in cycle 3 after an even slot
    lower, upper (in): in that cycle, the words of the lane's butterfly
    sum_word, other_word (27 bits, out): what this has become, with parities, in cycles 14 and 15
    given (27 bits, in): in these, the lane's word of the first row, and of the second one
    packed, second_packed (12 bits, out): of PACK: a word's two numbers, from PACKS cycles after its
        first slot on until the next word's come; the second one a cycle later
    second_comes (12 bits, out): the second one in the cycle before that
    wrong, wipe, wiping, wipe_address : of Datapath
    """

    def __init__(self, lane_bits: int, target: Target):
        self.target = target
        self.address_bits = bits = ADDRESS_BITS - lane_bits
        self.memory = BlockRam(WORD, 1 << bits, target=target)
        super().__init__(
            {
                "step": In(STEP),
                "flags": In(FLAGS),
                "slots": In(SLOT).array(LANE_STAGES),
                "crossed": In(LANE_STAGES),
                **dict.fromkeys(("low_loads", "wipe", "wiping"), In(1)),
                **dict.fromkeys(
                    ("a_address", "sum_address", "other_address", "wipe_address"), In(bits)
                ),
                "table_word": In(signed(TABLE_BITS)),
                "sampled": In(PAIR),
                **dict.fromkeys(("up_word", "low_word"), Out(PAIR)),
                **dict.fromkeys(("lower", "upper"), In(PAIR)),
                **dict.fromkeys(("sum_word", "other_word"), Out(WORD)),
                "given": In(WORD),
                **dict.fromkeys(("packed", "second_packed", "second_comes"), Out(NUMBER_BITS)),
                "wrong": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The pipeline, stage by stage."""
        m = Module()
        flags, step = self.flags, self.step
        m.submodules.memory = memory = self.memory
        m.submodules.operands = operands = SlotOperands(self.target, of_lane=True)
        slice_ = DspSlice(P_BITS, self.target, adds_c=True, chooses=True)
        m.submodules.slice = slice_
        m.submodules.reduction = reduction = Reduction(self.target)
        m.submodules.sums = sums = LaneSums(self.target)
        m.submodules.results = results = SlotResults(self.target, self.address_bits, shows=True)
        slots = [self.slots[k] for k in range(LANE_STAGES)]
        late = slots[CROSSING:]
        factors = self._cross(m, operands)
        self._check(m, factors)
        differences, bits = self._compute(m, flags, late, factors, slice_, reduction, sums)
        m.d.comb += [
            operands.flags.eq(flags),
            *(port.eq(slot) for port, slot in zip(operands.slots, slots[:STAGES], strict=True)),
            operands.sample.eq(step.sample),
            operands.keeps.eq(step.add | step.subtract),
            operands.word.eq(memory.a_data[:-1]),
            *same_named(operands, self, "low_loads", "sampled"),
            operands.wipe.eq(self.wiping),
            memory.a_address.eq(self.a_address),
            results.subtract.eq(step.subtract),
            results.product.eq(reduction.reduced),
            *same_named(results, self, "sum_address", "other_address"),
            *same_named(results, self, "wipe", "wiping", "wipe_address"),
        ]
        self._keep(m, bits)
        self._give(m, late, sums, differences, reduction, results)
        return m

    def _cross(self, m: Module, operands: SlotOperands) -> Operands:
        """The operands of a slot, CROSSING cycles later, or those of the lane's butterfly."""
        slots, crossed, inverse = self.slots, self.crossed, self.flags.inverse
        upper, lower = Signal(PAIR), Signal(PAIR)
        takes = crossed[TAKES] & ~slots[TAKES].phase[0]
        with m.If(takes):
            m.d.sync += [upper.eq(self.upper), lower.eq(self.lower)]
        with m.If(self.wiping):
            m.d.sync += [upper.eq(0), lower.eq(0)]
        odd = slots[TAKES + 1].phase[0]
        of_upper, of_lower = Mux(odd, upper[1], upper[0]), Mux(odd, lower[1], lower[0])
        # LOW is used a cycle later in an inverse, 5 cycles later in a transform.
        later = delayed(m, of_lower, 5, "of_lower")
        first, second, low = (
            delayed(m, value, CROSSING, name)[CROSSING]
            for value, name in (
                (operands.first, "first"),
                (operands.second, "second"),
                (operands.low, "kept_low"),
            )
        )
        m.d.comb += [
            self.up_word.eq(operands.up_word),
            self.low_word.eq(operands.low_word),
        ]
        return Operands(
            Mux(crossed[TAKES + 1], of_upper, first),
            second,
            Mux(
                Mux(inverse, crossed[TAKES + 2], crossed[TAKES + 6]),
                Mux(inverse, later[1], later[5]),
                low,
            ),
            operands.loaded,
        )

    def _keep(self, m: Module, bits: Signal) -> None:
        """A word's numbers, until it is the lane's turn to pack them."""
        slot = self.slots[_BITS]
        with m.If(slot.valid & ~slot.phase[0]):
            m.d.sync += self.packed.eq(bits)
        with m.If(slot.valid & slot.phase[0]):
            m.d.sync += self.second_packed.eq(bits)
        with m.If(self.wiping):
            m.d.sync += [self.packed.eq(0), self.second_packed.eq(0)]
        m.d.comb += self.second_comes.eq(bits)

    def _give(
        self,
        m: Module,
        late: list[data.View],
        sums: LaneSums,
        differences: list[Signal],
        reduction: Reduction,
        results: SlotResults,
    ) -> None:
        """Words that do not cross are written as by one lane. Of those that do, sums wait for the
        other results, also in an inverse: as in a transform."""
        flags, inverse = self.flags, self.flags.inverse
        crossed = self.crossed[CROSSING:]
        waits = Signal()
        m.d.comb += [
            waits.eq(inverse & self.crossed.any()),
            results.flags.eq(flags),
            results.flags.inverse.eq(inverse & ~waits),
            results.flags.transform.eq(flags.transform | waits),
            results.sum.eq(Mux(waits, delayed(m, sums.sum, 4, "sum")[4], sums.sum)),
            results.difference.eq(Mux(inverse, reduction.reduced, differences[1])),
        ]
        for k, slot in enumerate(late):
            m.d.comb += [
                results.slots[k].eq(slot),
                results.slots[k].valid.eq(slot.valid & ~crossed[k]),
            ]
        total, other = Signal(WORD), Signal(WORD)
        with m.If(~late[11].phase[0]):
            m.d.sync += total.eq(results.total_word)
        with m.If(~late[12].phase[0]):
            m.d.sync += other.eq(results.other_word)
        with m.If(self.wiping):
            m.d.sync += [total.eq(0), other.eq(0)]
        crosses = late[12].valid & crossed[12]
        m.d.comb += [
            self.sum_word.eq(total),
            self.other_word.eq(Mux(late[12].phase[0], other, results.other_word)),
            self.memory.b_write.eq(results.write | crosses),
            self.memory.b_address.eq(Mux(crosses, self.other_address, results.address)),
            self.memory.b_write_data.eq(Mux(crosses, self.given, Cat(results.word, results.odd))),
        ]
