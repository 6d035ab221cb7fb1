"""The datapath on several lanes, each with a slice and a part of the memory.

Word w of a polynomial is in lane w modulo the number of lanes. All lanes do the same with the same
address, so that a step takes so many times fewer cycles, but where numbers come from bytes or go
there: two, of a word, in a cycle. Layers of transforms whose butterflies are of words at one
address cross lanes: `crossing` says how, `lane` when.
"""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from coprime.cells.target import Target
from coprime.cells.wires import same_named

from . import crossing
from .byte_pairs import BytePairs
from .datapath import datapath_ports
from .lane import GIVES, LANE_STAGES, PACKS, TAKES, PolynomialLane
from .number_pairs import PAIR_WORD_BITS
from .operands import PAIR
from .parallel_slots import ParallelSlotCounter
from .pipeline import address_constants
from .results import OF_ROOTS
from .slot_counter import SLOT, delayed
from .steps import CROSSING, Region
from .table import TABLE_BITS


class ParallelDatapath(wiring.Component):
    """Executes steps.

    Parameters
    ----------
    lanes (int): 4 or 8
    target (Target): XC7 places LUTs and a DSP48E1 for each lane

    Members
    -------
    table_words (in), sample (in): a word of Datapath for each lane
    write_data, read_data (64 bits, out, in): two words of bytes
    others : as of Datapath, `sample_address` with fewer bits
    """

    def __init__(self, lanes: int, target: Target = Target.GENERIC):
        self.target, self.count = Target(target), lanes
        self.control = ParallelSlotCounter(lanes)
        self.lanes = [PolynomialLane(self.control.lane_bits, self.target) for _ in range(lanes)]
        constants = {"table_words": In(signed(TABLE_BITS)).array(lanes)}
        samples = In(PAIR).array(lanes)
        super().__init__(datapath_ports(constants, self.control.bits, samples, PAIR_WORD_BITS))

    def elaborate(self, platform: object) -> Module:
        """The lanes, and what they share."""
        m = Module()
        m.submodules.control = control = self.control
        m.submodules.streams = streams = BytePairs()
        for number, lane in enumerate(self.lanes):
            m.submodules[f"lane_{number}"] = lane
        step, flags = self.step, control.flags
        slots = [
            data.View(SLOT, slot)
            for slot in delayed(m, control.slot.as_value(), LANE_STAGES - 1, "slot")
        ]
        crosses = delayed(m, control.crosses & control.slot.valid, LANE_STAGES - 1, "crosses")
        distance = delayed(m, control.distance, LANE_STAGES - 1, "distance")
        m.d.comb += [
            *same_named(control, self, "step", "start", "wipe"),
            *same_named(self, control, "busy", "done"),
            self.multiplying.eq(control.slot.valid),
            self.wrong.eq(Cat(lane.wrong for lane in self.lanes).any()),
        ]
        for number, lane in enumerate(self.lanes):
            m.d.comb += [
                lane.step.eq(step),
                lane.flags.eq(flags),
                lane.crossed.eq(Cat(crosses)),
                lane.table_word.eq(self.table_words[number]),
                *same_named(lane, self, "wipe", "wiping"),
                lane.wipe_address.eq(self.wipe_address),
            ]
            m.d.comb += [port.eq(slot) for port, slot in zip(lane.slots, slots, strict=True)]
        self._cross(m, slots, distance)
        self._addresses(m)
        address_constants(m, step, self.start, flags, slots[CROSSING:], self.table_address)
        self._gather(m, streams)
        self._connect_streams(m, streams)
        return m

    def _cross(self, m: Module, slots: list[data.View], distance: list[Signal]) -> None:
        """Words that lanes take from each other, and give back."""
        # UP is of the row whose address comes first.
        rows = (
            [lane.up_word.as_value() for lane in self.lanes],
            [lane.low_word.as_value() for lane in self.lanes],
        )
        found = ([lane.sum_word for lane in self.lanes], [lane.other_word for lane in self.lanes])
        for number, lane in enumerate(self.lanes):
            lower, upper = crossing.taken(*rows, number, distance[TAKES])
            words = crossing.given(*found, number, distance[GIVES])
            m.d.comb += [
                lane.lower.as_value().eq(lower),
                lane.upper.as_value().eq(upper),
                lane.given.eq(Mux(slots[GIVES].phase[0], words[1], words[0])),
            ]

    def _addresses(self, m: Module) -> None:
        """As of Datapath. LOW is also read at once where words cross."""
        control, step, flags, slot = self.control, self.step, self.control.flags, self.control.slot
        reads = slot.valid & Mux(flags.multiply, slot.phase == 2, slot.phase[0] & ~flags.pair)
        lower = Mux(flags.pair, control.pair, control.lower)
        sums_first = flags.inverse | flags.last | flags.pack
        at_once = sums_first | control.crosses
        later = delayed(m, Cat(lower, reads & ~at_once), 4, "lower", reset_less=False)[4]
        reads_later, reads_low = later[-1], Signal()
        low = Signal(control.bits)
        m.d.comb += [
            low.eq(Mux(reads_later, later[:-1], lower)),
            reads_low.eq(reads_later | (reads & at_once)),
        ]
        written = Mux(sums_first, lower, later[:-1])
        of_sum = delayed(m, written, 6 + CROSSING, "of_sum", reset_less=False)[-1]
        is_lower = Mux(flags.last, ~slot.phase[1], control.crosses & slot.phase[0])
        of_other = Mux(is_lower, control.lower, control.upper)
        of_other = delayed(m, of_other, 12 + CROSSING, "of_other", reset_less=False)[-1]
        result, old = Signal(3), Signal(3)
        roots = Cat(step.region[:2], OF_ROOTS)
        takes_roots = flags.multiply & (slot.phase == 0) & ~reads_low
        address = Signal(len(self.lanes[0].a_address))
        m.d.comb += [
            result.eq(Mux(flags.multiply, Region.ACCUMULATOR.value, step.region)),
            old.eq(Mux(flags.exact_sum, Region.EXTRA.value, result)),
            self.sample_address.eq(Mux(reads_low, low, control.upper)),
            address.eq(
                Mux(
                    takes_roots,
                    Cat(control.pair, roots),
                    Cat(self.sample_address, Mux(reads_low, old, step.region)),
                )
            ),
        ]
        for lane in self.lanes:
            m.d.comb += [
                lane.a_address.eq(address),
                lane.low_loads.eq(reads_low),
                lane.sum_address.eq(
                    Cat(of_sum[:-1], Mux(flags.pair, roots, Cat(of_sum[-1], result)))
                ),
                lane.other_address.eq(Cat(of_other, step.region)),
            ]

    def _gather(self, m: Module, streams: BytePairs) -> None:
        """Numbers of bytes, until there is a word of each lane."""
        control = self.control
        for number, lane in enumerate(self.lanes):
            word = Signal(PAIR, name=f"gathered_{number}")
            with m.If(control.takes & (control.place == number)):
                m.d.sync += [word[0].eq(Cat(streams.number, 0)), word[1].eq(Cat(streams.second, 0))]
            with m.If(self.wiping):
                m.d.sync += word.eq(0)
            m.d.comb += lane.sampled.eq(Mux(control.gathers, word, self.sample[number]))

    def _connect_streams(self, m: Module, streams: BytePairs) -> None:
        """Bytes: numbers are unpacked, and the bits of products packed or compared, a word's two
        numbers after those of the other one. The first lane's second number comes when its first
        one is sent."""
        control, lanes = self.control, self.lanes
        place = delayed(m, control.place, PACKS, "place")[PACKS]
        puts = delayed(m, control.gives, PACKS, "gives", reset_less=False)[PACKS]
        second = [lanes[0].second_comes, *(lane.second_packed for lane in lanes[1:])]
        m.d.comb += [
            streams.flags.eq(control.flags),
            streams.take.eq(control.takes),
            streams.put.eq(puts),
            streams.packed.eq(Array(lane.packed for lane in lanes)[place]),
            streams.second_packed.eq(Array(second)[place]),
            *same_named(streams, self.step, "sample", "compare", "width"),
            *same_named(streams, self, "start", "clear", "read_data"),
            *same_named(self, streams, "use", "write", "write_data"),
            *same_named(self, streams, "differs", "agrees", "compared"),
            streams.wipe.eq(self.wiping),
        ]
