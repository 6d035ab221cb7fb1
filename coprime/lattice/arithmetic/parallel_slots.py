"""The order of a step's slots on several lanes.

Word w of a polynomial is in lane w modulo the number of lanes, at an address of its own lane. A
slot is one of all lanes, or, of UNPACK and PACK, of one lane after the other: numbers come and go
one a cycle. MULTIPLY by bytes begins a word of each lane when the numbers of all of them are there.
"""

from collections.abc import Callable

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.model.lattice.arithmetic import LAYERS

from .addresses import Addresses
from .slot_counter import FLAGS, SLOT, delayed, last_phase
from .steps import (
    CROSSING,
    DRAIN,
    LAST_WORD,
    PAUSE,
    PREFETCH,
    STEP,
    StepType,
    crosses,
    last_layer,
    pauses_after,
)


class ParallelSlotCounter(wiring.Component):
    """Counts a step's slots.

    Parameters
    ----------
    lanes (int): 4 or 8

    Members
    -------
    step, start, wipe, busy, done, flags, slot : as of SlotCounter
    valid (out): the slot is one of this lane; a bit for each
    number (out): of SLOT: of a number of bytes, its word's `valid` and `phase`
    place (out): the lane of this word
    lower, upper, pair (out): as of SlotCounter, of fewer bits
    crosses (1 bit, out): the two words of a butterfly are in two lanes at one address; `lower` and
        `upper` are those of two butterflies
    distance (out): the logarithm of the number of lanes from one of them to the other one
    """

    def __init__(self, lanes: int) -> None:
        self.lanes, self.lane_bits = lanes, lanes.bit_length() - 1
        self.bits = LAYERS - self.lane_bits
        super().__init__(
            {
                "step": In(STEP),
                **dict.fromkeys(("start", "wipe"), In(1)),
                **dict.fromkeys(("busy", "done"), Out(1)),
                "flags": Out(FLAGS),
                "slot": Out(SLOT),
                "valid": Out(lanes),
                "number": Out(SLOT),
                "place": Out(self.lane_bits),
                **dict.fromkeys(("lower", "upper"), Out(self.bits)),
                "pair": Out(self.bits - 1),
                "crosses": Out(1),
                "distance": Out(range(self.lane_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """As SlotCounter, with the lane in the lowest bits of a word's number."""
        m = Module()
        m.submodules.addresses = addresses = Addresses(self.bits)
        kind, flags, below = self.step.kind, self.flags, self.lane_bits
        phase, word, layer = Signal(2), Signal(LAYERS), Signal(range(LAYERS))
        begins, valid, word_ends, layer_ends, last = (Signal() for _ in range(5))
        butterflies, layers, gathers, by_lane = (Signal() for _ in range(4))
        final_phase = look_up([last_phase(step_type) for step_type in StepType], kind, 2)
        final_layer = look_up([last_layer(step_type) for step_type in StepType], kind, 3)
        passed = Signal(LAYERS)
        m.d.comb += [
            *(flags[step_type.name.lower()].eq(kind == step_type.value) for step_type in StepType),
            layers.eq(flags.transform | flags.inverse),
            butterflies.eq(layers | flags.last),
            gathers.eq(flags.multiply & ~self.step.sample),
            by_lane.eq(flags.unpack | flags.pack | gathers),
            # A slot of all lanes passes over the bits of the lane.
            passed.eq(word | Mux(by_lane, 0, self.lanes - 1)),
            word_ends.eq(Mux(gathers, phase[0], phase == final_phase)),
            layer_ends.eq(word_ends & passed[:-1].all() & (butterflies | word[-1])),
            last.eq(valid & layer_ends & (layer == final_layer)),
            self.place.eq(word[:below]),
            self.number.valid.eq(valid),
            self.number.phase.eq(phase),
            self.crosses.eq(self._by_layer(layer, crosses)),
            self.distance.eq(Mux(flags.inverse, layer, LAYERS - 1 - layer)),
            addresses.butterflies.eq(butterflies),
            addresses.inverse.eq(flags.inverse),
            addresses.begin.eq(self.start),
            # Where words cross, addresses are one apart.
            addresses.next_layer.eq(layers & layer_ends & valid & ~(flags.inverse & self.crosses)),
        ]
        with m.If(valid):
            m.d.sync += phase.eq(phase + 1)
            with m.If(word_ends):
                m.d.sync += [
                    phase.eq(0),
                    *(word[k].eq(word[k] ^ passed[:k].all()) for k in range(below, LAYERS)),
                    word[:below].eq(word[:below] + by_lane),
                ]
            with m.If(layer_ends):
                m.d.sync += [word.eq(0), layer.eq(layer + 1)]
        with m.If(self.start):
            m.d.sync += layer.eq(0)
        gathered = valid & gathers & phase[0] & word[:below].all()
        self._tell(m, addresses, Cat(phase, valid, layer == 0), word, gathered)
        m.d.comb += self.slot.block_ends.eq(
            valid & word_ends & (flags.pair | (layers & addresses.block_ends))
        )

        fetches, pauses = flags.unpack | gathers, Signal()
        m.d.comb += pauses.eq(layer_ends & valid & self._by_layer(layer, pauses_after))
        waited = [
            delayed(m, event, cycles, name, reset_less=False)[cycles]
            for event, cycles, name in (
                (self.start & fetches, PREFETCH, "fetched"),
                (pauses, PAUSE, "paused"),
            )
        ]
        after = delayed(m, last & gathers, LAST_WORD, "after", reset_less=False)[LAST_WORD]
        ends, drain = (last & ~gathers) | after, DRAIN + CROSSING
        drained = delayed(m, ends, drain, "drained", reset_less=False)[drain]
        m.d.comb += [
            begins.eq((self.start & ~fetches) | (Cat(waited).any() & self.busy)),
            self.done.eq(drained & self.busy),
        ]
        with m.If(self.start):
            m.d.sync += self.busy.eq(1)
        with m.If(begins):
            m.d.sync += valid.eq(1)
        with m.If(last | pauses):
            m.d.sync += valid.eq(0)
        with m.If(self.done):
            m.d.sync += self.busy.eq(0)
        with m.If(self.wipe):
            m.d.sync += [self.busy.eq(0), valid.eq(0), phase.eq(0), word.eq(0)]
        return m

    def _by_layer(self, layer: Value, holds: Callable[[StepType, int, int], bool]) -> Value:
        """Whether something holds for the step's layer."""
        rows = [
            holds(kind, number, self.lanes)
            for kind in (StepType.TRANSFORM, StepType.INVERSE)
            for number in range(8)
        ]
        found = look_up(rows, Cat(layer, self.flags.inverse), 1)
        return found & (self.flags.transform | self.flags.inverse)

    def _tell(
        self, m: Module, addresses: Addresses, slot: Value, word: Value, gathered: Value
    ) -> None:
        """The slot of the lanes. Of a word whose numbers have been gathered there are four, of
        which the first one comes with the last number."""
        flags, below = self.flags, self.lane_bits
        phase, valid, first = slot[:2], slot[2], slot[3]
        gathers = flags.multiply & ~self.step.sample
        since = delayed(m, gathered, LAST_WORD, "gathered", reset_less=False)
        kept = Signal(self.bits)
        with m.If(gathered):
            m.d.sync += kept.eq(word[below:])
        m.d.comb += [
            addresses.word.eq(Mux(gathers & ~gathered, kept, word[below:])),
            self.lower.eq(addresses.lower),
            self.upper.eq(addresses.upper),
            self.pair.eq(addresses.word[1:]),
            self.slot.valid.eq(Mux(gathers, Cat(since).any(), valid)),
            self.slot.phase.eq(
                Mux(
                    gathers,
                    Cat(since[1] | since[3], since[2] | since[3]),
                    Cat(phase[0] | (flags.pair & addresses.word[0]), phase[1]),
                )
            ),
            self.slot.odd.eq(addresses.word[0]),
            self.slot.first.eq(first),
            *(
                self.valid[lane].eq(
                    Mux(
                        flags.unpack | flags.pack,
                        valid & (word[:below] == lane),
                        self.slot.valid,
                    )
                )
                for lane in range(self.lanes)
            ),
        ]
