"""The order of a step's slots on several lanes.

Word w of a polynomial is in lane w modulo the number of lanes, at an address of its own lane. A
slot is one of all lanes. Numbers of bytes come and go one word a cycle, of one lane after the
other: UNPACK, and MULTIPLY by bytes, begin with a word of each lane when the numbers of all of them
are there; PACK begins with one when the numbers of the words before are about to have left.
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
    AFTER_PAIRS,
    CROSSING,
    DRAIN,
    LAYERED,
    PAIR_PREFETCH,
    STEP,
    StepType,
    crosses,
    last_layer,
    pause_after,
)


def _pauses(lanes: int) -> list[int]:
    """Cycles of all pauses that there are."""
    found = {pause_after(kind, layer, lanes) for kind in LAYERED for layer in range(LAYERS)}
    return sorted(found - {0})


class ParallelSlotCounter(wiring.Component):
    """Counts a step's slots.

    Parameters
    ----------
    lanes (int): 4 or 8

    Members
    -------
    step, start, wipe, busy, done, flags, slot : as of SlotCounter
    gathers (1 bit, out): the step is one that takes bytes
    takes (1 bit, out): a word's two numbers come in this cycle
    gives (1 bit, out): a word's two numbers go, as many cycles later as after the word's first slot
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
                **dict.fromkeys(("gathers", "takes", "gives"), Out(1)),
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
        butterflies, layers, by_lane = Signal(), Signal(), Signal()
        gathers = self.gathers
        final_phase = look_up([last_phase(step_type) for step_type in StepType], kind, 2)
        final_layer = look_up([last_layer(step_type) for step_type in StepType], kind, 3)
        passed = Signal(LAYERS)
        m.d.comb += [
            *(flags[step_type.name.lower()].eq(kind == step_type.value) for step_type in StepType),
            layers.eq(flags.transform | flags.inverse),
            butterflies.eq(layers | flags.last),
            gathers.eq(flags.unpack | (flags.multiply & ~self.step.sample)),
            by_lane.eq(flags.pack | gathers),
            # A slot of all lanes passes over the bits of the lane.
            passed.eq(word | Mux(by_lane, 0, self.lanes - 1)),
            word_ends.eq(by_lane | (phase == final_phase)),
            layer_ends.eq(word_ends & passed[:-1].all() & (butterflies | word[-1])),
            last.eq(valid & layer_ends & (layer == final_layer)),
            self.place.eq(word[:below]),
            self.takes.eq(valid & gathers),
            self.gives.eq(valid & flags.pack),
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
        gathered = valid & gathers & word[:below].all()
        self._tell(m, addresses, Cat(phase, valid, layer == 0), word, gathered)
        m.d.comb += self.slot.block_ends.eq(
            valid & word_ends & (flags.pair | (layers & addresses.block_ends))
        )

        waited, pauses = self._wait(m, layer, layer_ends & valid)
        drained = self._drain(m, last, by_lane)
        m.d.comb += [
            begins.eq((self.start & ~gathers) | (waited & self.busy)),
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

    def _wait(self, m: Module, layer: Value, ended: Value) -> tuple[Value, Value]:
        """Whether slots begin after numbers were fetched, or a pause; and, in the last slot of a
        layer, whether a pause begins."""
        events, pauses = [(self.start & self.gathers, PAIR_PREFETCH, "fetched")], []
        for cycles in _pauses(self.lanes):
            pause = Signal(name=f"pauses_{cycles}")
            is_next = self._by_layer(layer, lambda *of, cycles=cycles: pause_after(*of) == cycles)
            m.d.comb += pause.eq(ended & is_next)
            pauses.append(pause)
            events.append((pause, cycles, f"paused_{cycles}"))
        waited = [
            delayed(m, event, cycles, name, reset_less=False)[cycles]
            for event, cycles, name in events
        ]
        return Cat(waited).any(), Cat(pauses).any()

    def _drain(self, m: Module, last: Value, by_lane: Value) -> Value:
        """Whether the step's last results are written in the next cycle."""
        after = delayed(m, last, max(AFTER_PAIRS.values()), "after", reset_less=False)
        ends: Value = last
        for step_type, cycles in AFTER_PAIRS.items():
            is_kind = self.flags[step_type.name.lower()]
            ends = Mux(by_lane & is_kind, after[cycles], ends)
        drain = DRAIN + CROSSING
        return delayed(m, ends, drain, "drained", reset_less=False)[drain]

    def _by_layer(self, layer: Value, holds: Callable[[StepType, int, int], bool]) -> Value:
        """Whether something holds for the step's layer."""
        rows = [holds(kind, number, self.lanes) for kind in LAYERED for number in range(8)]
        found = look_up(rows, Cat(layer, self.flags.inverse), 1)
        return found & (self.flags.transform | self.flags.inverse)

    def _tell(
        self, m: Module, addresses: Addresses, slot: Value, word: Value, gathered: Value
    ) -> None:
        """The slot of the lanes. Of words whose numbers have been gathered there are two or four,
        of which the first one comes with the last number; of words that are packed two."""
        flags, below, gathers = self.flags, self.lane_bits, self.gathers
        phase, valid, first = slot[:2], slot[2], slot[3]
        since = delayed(m, gathered, 3, "gathered", reset_less=False)
        late = Cat(since[2:]) & flags.multiply.replicate(2)
        kept = Signal(self.bits)
        with m.If(gathered):
            m.d.sync += kept.eq(word[below:])
        m.d.comb += [
            addresses.word.eq(Mux(gathers & ~gathered, kept, word[below:])),
            self.lower.eq(addresses.lower),
            self.upper.eq(addresses.upper),
            self.pair.eq(addresses.word[1:]),
            self.slot.odd.eq(addresses.word[0]),
            self.slot.first.eq(first),
            # Whatever the kind is, there is none while nothing is counted.
            self.slot.valid.eq(
                Mux(
                    gathers,
                    since[0] | since[1] | late.any(),
                    Mux(flags.pack, valid & ~word[1:below].any(), valid),
                )
            ),
            self.slot.phase.eq(
                Mux(
                    gathers,
                    Cat(since[1] | late[1], late.any()),
                    Mux(
                        flags.pack,
                        word[0],
                        Cat(phase[0] | (flags.pair & addresses.word[0]), phase[1]),
                    ),
                )
            ),
        ]
