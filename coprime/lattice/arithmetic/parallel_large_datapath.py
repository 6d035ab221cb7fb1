"""Polynomials modulo 8380417 on several lanes, each with a slice and a part of the memory.

Word w of a polynomial is in lane w modulo the number of lanes. All lanes do the same with the same
address, so that a step takes so many times fewer cycles, but where numbers come from bytes or go
there: these are one or two in a cycle. Layers of transforms whose butterflies are of words at one
address cross lanes: `crossing` says how, `large_lane` when. The first two lanes' slices also
multiply for what is rounded.

Cycles after its first slot in which results are written:

| | TRANSFORM, INVERSE | LAST | MULTIPLY | SUM | UNPACK |
|---|--:|--:|--:|--:|--:|
| lower word | 16 | 15 | 15; 16 if subtracted | 8; 9 | 3 |
| upper word | 17 | 17 | | | |

A word of a layer is read in the next one at the earliest in the cycle after its write, with 8 lanes
and a layer of 32 slots.
"""

from typing import NamedTuple

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.model.lattice.large_arithmetic import LAYERS
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

from . import crossing
from .high_low import WIDE
from .large_butterfly import NUMBER, Butterfly
from .large_bytes import LargeBytes
from .large_datapath import large_datapath_ports
from .large_lane import LargeLane, lane_depth
from .large_slots import LargeConstants
from .large_steps import LargeKind, Part
from .number_packer import HINT_BITS, ML_DSA_WIDTHS
from .number_pairs import PAIR_WORD_BITS
from .parallel_large_slots import ParallelLargeSlots
from .slot_counter import delayed

_TAKES = 3
"""Cycles from a butterfly's first slot to where both its words are there."""
_KEEPS, _GIVES = 14, 15
"""Cycles from it to where the sum is kept, and to where the first row is given back."""


class _Writes(NamedTuple):
    """What lanes write: each a word of a row; `is_second`: that of a butterfly's second result."""

    writes: Signal
    address: Signal
    is_second: Value


class ParallelLargeDatapath(wiring.Component):
    """Executes steps.

    Parameters
    ----------
    regions (int): polynomials in the memory
    lanes (int): 4 or 8
    target (Target): XC7 places a DSP48E1 for each lane
    verify_only (bool): as of LargeBytes

    Members
    -------
    table_words, sample (in): a constant, and a number, of LargeDatapath for each lane
    sample_address (6 or 5 bits, out): of a row of the sampled polynomial
    number_address (8 bits, out): of PACK with `sample`: the number that is taken of that row
    follows (1 bit, out): of ParallelLargeSlots
    write_data, read_data (64 bits, out, in): two words of bytes
    others : as of LargeDatapath
    """

    def __init__(
        self,
        regions: int,
        lanes: int,
        target: Target = Target.GENERIC,
        *,
        verify_only: bool = False,
    ):
        self.target, self.verify_only, self.regions = Target(target), verify_only, regions
        self.depth = lane_depth(regions, lanes)
        self.slots = ParallelLargeSlots(regions, lanes)
        self.lanes = [LargeLane(self.depth, self.target, splits=k < 2) for k in range(lanes)]
        row = Out(self.slots.row_bits)
        super().__init__(
            large_datapath_ports(
                *(regions, {"follows": Out(1)}, {"table_words": In(NUMBER).array(lanes)}),
                {"sample_address": row, "number_address": Out(LAYERS)},
                In(NUMBER).array(lanes),
                hints=2,
                word_bits=PAIR_WORD_BITS,
            )
        )

    def elaborate(self, platform: object) -> Module:
        """The lanes, and what they share."""
        m = Module()
        m.submodules.slots = slots = self.slots
        m.submodules.constants = LargeConstants(len(self.lanes))
        m.submodules.bytes = LargeBytes(verify_only=self.verify_only, takes_pairs=True)
        for number, lane in enumerate(self.lanes):
            m.submodules[f"lane_{number}"] = lane
        # A decoder of instructions gives a step late in a cycle: only slots begin with it.
        step, started = Signal.like(self.step), Signal()
        m.d.sync += [step.eq(self.step), started.eq(self.start)]
        is_ = {step_kind: Signal(name=f"is_{step_kind.name.lower()}") for step_kind in LargeKind}
        control = Signal(self.lanes[0].control.shape())
        m.d.comb += [
            *(found.eq(step.kind == step_kind) for step_kind, found in is_.items()),
            slots.step.eq(step),
            slots.next_kind.eq(self.step.kind),
            *same_named(slots, self, "start"),
            *same_named(self, slots, "busy", "done", "follows"),
            self.wrong.eq(Cat(lane.wrong for lane in self.lanes).any()),
            self.cancels.eq(Cat(lane.cancels for lane in self.lanes).all()),
        ]
        self._address(m, step, is_)
        self._start(m, control, step, is_)
        writes = self._results(m, control, step, is_)
        self._cross(m, writes)
        self._connect_constants(m, step, started)
        self._connect_bytes(m, step, started, is_)
        bytes_ = m.submodules.bytes
        for number, lane in enumerate(self.lanes):
            is_second = slots.pairs if number % 2 else 0
            m.d.comb += [
                lane.control.eq(control),
                lane.write.eq(writes.writes[number]),
                lane.write_address.eq(writes.address),
                lane.constant.eq(self.table_words[number]),
                lane.sample.eq(self.sample[number]),
                lane.unpacked.eq(Mux(is_second, bytes_.second_unpacked, bytes_.unpacked)),
                lane.wiping.eq(self.wiping),
            ]
        return m

    def _address(self, m: Module, step: data.View, is_: dict[LargeKind, Signal]) -> None:
        """Words that are read. Of MULTIPLY the lower word is P's, the upper one g's."""
        slots = self.slots
        has_other = is_[LargeKind.MULTIPLY] | is_[LargeKind.SUM] | is_[LargeKind.HINT]
        region = Mux(has_other & slots.is_upper, step.other, step.region)
        row = delayed(m, slots.row, 1, "row")
        later = is_[LargeKind.MULTIPLY] | is_[LargeKind.SUM]
        m.d.comb += [
            *(lane.read_address.eq(Cat(slots.row, region)) for lane in self.lanes),
            self.sample_address.eq(Mux(later, row[1], slots.row)),
            self.number_address.eq(Cat(slots.place, slots.row)),
        ]

    def _start(
        self, m: Module, control: data.View, step: data.View, is_: dict[LargeKind, Signal]
    ) -> None:
        """Words that enter butterflies, and samples that are summed."""
        slots = self.slots
        multiplies, adds = is_[LargeKind.MULTIPLY], is_[LargeKind.SUM]
        first = slots.valid & (slots.phase == 0)
        begins = delayed(m, first & ~slots.by_number, _TAKES + 2, "begins", reset_less=False)
        first_layer = delayed(m, slots.first_layer, 1, "first_layer")
        is_upper = delayed(m, slots.is_upper, 2, "is_upper")
        takes = delayed(m, slots.crosses, _TAKES, "takes")
        kind = Signal(Butterfly)
        with m.If(is_[LargeKind.LAST]):
            m.d.comb += kind.eq(Butterfly.LAST)
        with m.Elif(is_[LargeKind.INVERSE] | adds):
            m.d.comb += kind.eq(Butterfly.INVERSE)
        counts = step.sample & step.add & slots.valid
        at_transform = delayed(
            m, counts & is_[LargeKind.TRANSFORM] & slots.first_layer, 1, "first_sample"
        )
        at_sum = delayed(m, counts & adds & ~slots.is_upper, 2, "second_sample")
        m.d.comb += [
            control.from_sample.eq(
                step.sample & (is_[LargeKind.PACK] | (is_[LargeKind.TRANSFORM] & first_layer[1]))
            ),
            control.part.eq(Mux(adds & (is_upper[2] ^ step.sample), step.part, Part.WHOLE)),
            control.adds.eq(adds),
            control.adds_sample.eq(step.sample),
            control.uses_a.eq(~multiplies | step.add),
            control.multiplies.eq(multiplies),
            control.takes.eq(takes[_TAKES]),
            control.start.eq(Mux(adds, begins[_TAKES + 2], begins[_TAKES + 1])),
            control.kind.eq(kind),
            control.clear.eq(self.clear),
            control.counts.eq(at_transform[1] | at_sum[2]),
            control.subtracts.eq(adds),
        ]

    def _results(
        self, m: Module, control: data.View, step: data.View, is_: dict[LargeKind, Signal]
    ) -> _Writes:
        """Of two results of a butterfly the second one is written one or two cycles later."""
        slots = self.slots
        inverse, last = is_[LargeKind.INVERSE], is_[LargeKind.LAST]
        unpacks, layers = is_[LargeKind.UNPACK], inverse | is_[LargeKind.TRANSFORM]
        adds, subtracts = is_[LargeKind.SUM], step.subtract
        # Each kind has results of its own age: a step begins while slots of another one are older.
        butterflies = layers | last | is_[LargeKind.MULTIPLY]
        first_slot = slots.valid & (slots.phase == 0)
        lower, upper = (
            delayed(
                m,
                Cat(slots.row, slots.crosses, butterflies & slots.valid & (slots.phase == phase)),
                _GIVES,
                f"phase_{phase}",
                reset_less=False,
            )
            for phase in range(2)
        )
        unpacked = delayed(m, first_slot & unpacks, 2, "unpacks", reset_less=False)
        summed = delayed(m, first_slot & adds, 8, "sums", reset_less=False)
        place = delayed(m, slots.place, 2, "place")
        of_sum = Mux(subtracts, Cat(lower[8][:-1], summed[8]), Cat(lower[7][:-1], summed[7]))
        of_product = Mux(subtracts & is_[LargeKind.MULTIPLY], lower[_GIVES], lower[_GIVES - 1])
        first = Mux(
            unpacks,
            Cat(lower[2][:-1], unpacked[2]),
            Mux(layers, lower[_GIVES], Mux(adds, of_sum, of_product)),
        )
        second = upper[_GIVES]
        is_second = second[-1] & (layers | last)
        writes, wiping = Signal(len(self.lanes)), Signal(init=1)
        address = Signal(range(self.depth))
        cleared = Signal.like(address)
        is_write = first[-1] | is_second | wiping
        row = Mux(is_second, second[:-2], first[:-2])
        m.d.comb += [
            self.wiping.eq(wiping),
            control.keeps_sum.eq(lower[_KEEPS][-1]),
            control.waits.eq(inverse),
            control.layers.eq(layers & ~wiping),
            control.gives.eq(Mux(is_second, second[-2], first[-2])),
            control.gives_second.eq(is_second),
            control.unpacks_pair.eq(step.add),
            control.choice.eq(Cat(wiping | unpacks, wiping | last)),
        ]
        m.d.sync += [
            *(
                writes[number].eq(is_write & (wiping | ~unpacks | self._is_of(place[2], number)))
                for number in range(len(self.lanes))
            ),
            address.eq(Mux(wiping, cleared, Cat(row, step.into))),
        ]
        with m.If(wiping):
            m.d.sync += cleared.eq(cleared + 1)
            with m.If(cleared == self.depth - 1):
                m.d.sync += wiping.eq(0)
        with m.If(self.wipe):
            m.d.sync += [wiping.eq(1), cleared.eq(0)]
        return _Writes(writes, address, is_second)

    def _is_of(self, place: Value, number: int) -> Value:
        """A number, or one of two, is of this lane."""
        first = number & ~1
        return (place == number) | (self.slots.pairs & (place == first))

    def _cross(self, m: Module, writes: _Writes) -> None:
        """Words that lanes take from each other, and give back."""
        lanes = self.lanes
        distance = delayed(m, self.slots.distance, _GIVES + 1, "distance")
        rows = ([lane.before for lane in lanes], [lane.entering for lane in lanes])
        found = ([lane.sum_word for lane in lanes], [lane.other_word for lane in lanes])
        for number, lane in enumerate(lanes):
            lower, upper = crossing.taken(*rows, number, distance[_TAKES])
            words = crossing.given(*found, number, distance[_GIVES])
            m.d.comb += [
                lane.lower.eq(lower),
                lane.upper.eq(upper),
                lane.given.eq(Mux(writes.is_second, words[1], words[0])),
            ]

    def _connect_constants(self, m: Module, step: data.View, started: Value) -> None:
        """The table's address, which changes where a block of slots ends."""
        slots, constants = self.slots, m.submodules.constants
        m.d.comb += [
            constants.start.eq(started),
            constants.kind.eq(step.kind),
            constants.ends.eq(slots.valid & slots.block_ends & slots.is_upper),
            constants.second.eq(slots.phase == 2),
            self.table_address.eq(constants.address),
        ]

    def _connect_bytes(
        self, m: Module, step: data.View, started: Value, is_: dict[LargeKind, Signal]
    ) -> None:
        """Numbers from and to bytes: that of the slot's lane, or of two lanes."""
        slots, bytes_ = self.slots, m.submodules.bytes
        unpacks, hints = is_[LargeKind.UNPACK], is_[LargeKind.HINT]
        splits = is_[LargeKind.PACK] | hints
        first = slots.valid & (slots.phase == 0)
        puts = delayed(m, first & splits, 3, "puts", reset_less=False)
        place = delayed(m, slots.place, 2, "leaves_at")[2]
        entered = [each.entering for each in self.lanes]
        leaving, second = Signal(NUMBER), Signal(NUMBER)
        m.d.sync += [
            leaving.eq(Array(entered)[place]),
            second.eq(Array(entered[1::2])[place[1:]]),
        ]
        m.d.comb += [
            *same_named(bytes_, self, "parameter_set", "hint", "read_data", "clear", "wipe"),
            bytes_.start.eq(started),
            *same_named(self, bytes_, "hint_step", "use", "write"),
            self.found.valid.eq(bytes_.found.valid),
            self.found.payload.eq(bytes_.found.payload),
            *same_named(self, bytes_, "write_data", "exceeds"),
            self.byte.payload.eq(bytes_.number),
            self.byte.valid.eq(bytes_.take & (step.width == ML_DSA_WIDTHS.index(HINT_BITS))),
            bytes_.few_parts.eq(self.parameter_set != ML_DSA_SETS.index(WIDE)),
            bytes_.width.eq(step.width),
            bytes_.form.eq(step.form),
            bytes_.unpacks.eq(unpacks),
            bytes_.take.eq(first & unpacks),
            bytes_.pairs.eq(slots.pairs),
            bytes_.r.eq(leaving),
            bytes_.second_r.eq(second),
            bytes_.put.eq(puts[3]),
            bytes_.compares.eq(hints),
            self.lanes[0].factor.eq(bytes_.factor),
            self.lanes[1].factor.eq(bytes_.second_factor),
            bytes_.product.eq(self.lanes[0].p),
            bytes_.second_product.eq(self.lanes[1].p),
        ]
        for lane in self.lanes[:2]:
            m.d.comb += [lane.split.eq(splits), lane.split_constant.eq(bytes_.constant)]
