"""The order of a step's slots, and delays of what is known of them."""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.model.lattice.arithmetic import LAYERS

from .addresses import Addresses
from .steps import DRAIN, PREFETCH, STEP, StepType, last_layer

SLOT = data.StructLayout({"valid": 1, "phase": 2, "odd": 1, "first": 1, "block_ends": 1})
"""What the pipeline knows of a slot: its number in its word, or butterfly (of PAIR: in a pair of
words), whether the word is odd, whether the layer is the first one, and whether a constant is used
for the last time."""
FLAGS = data.StructLayout({step_type.name.lower(): 1 for step_type in StepType})
"""A step's kind, a bit for each."""


def last_phase(kind: StepType) -> int:
    """Slots of a word or butterfly, less 1."""
    return {StepType.PAIR: 0, StepType.LAST: 3, StepType.MULTIPLY: 3}.get(kind, 1)


def delayed(
    m: Module, value: Value, cycles: int, name: str, *, reset_less: bool = True
) -> list[Signal]:
    """A value, and what it was in the cycles before.

    Without a reset shift registers in LUTs are made of long delays on xc7; with one flip-flops, of
    which its slices have more than they need.
    """
    found = [Signal(value.shape(), name=f"{name}_0")]
    m.d.comb += found[0].eq(value)
    for k in range(1, cycles + 1):
        found.append(Signal(value.shape(), name=f"{name}_{k}", reset_less=reset_less))
        m.d.sync += found[k].eq(found[k - 1])
    return found


class SlotCounter(wiring.Component):
    """Counts a step's slots.

    Members
    -------
    step (in): stable from `start` to `done`
    start (1 bit, in): only while `busy` is 0
    wipe (1 bit, in): end the step
    busy, done (1 bit, out): from the next cycle on; `done` in the last busy cycle
    flags (out): of FLAGS
    slot (out): of SLOT
    lower, upper (7 bits, out): addresses of the slot's words, as of Addresses
    pair (6 bits, out): address of the slot's word in a row of products with roots
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "step": In(STEP),
                **dict.fromkeys(("start", "wipe"), In(1)),
                **dict.fromkeys(("busy", "done"), Out(1)),
                "flags": Out(FLAGS),
                "slot": Out(SLOT),
                **dict.fromkeys(("lower", "upper"), Out(LAYERS)),
                "pair": Out(LAYERS - 1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Slots begin after `start`, or what a step fetches. It is done a cycle before its
        last results are written."""
        m = Module()
        m.submodules.addresses = addresses = Addresses()
        kind, flags = self.step.kind, self.flags
        phase, word, layer = Signal(2), Signal(LAYERS), Signal(range(LAYERS))
        fetches, begins, valid, word_ends, layer_ends, last = (Signal() for _ in range(6))
        butterflies, layers, ones = Signal(), Signal(), Signal()
        final_phase = look_up([last_phase(step_type) for step_type in StepType], kind, 2)
        final_layer = look_up([last_layer(step_type) for step_type in StepType], kind, 3)
        m.d.comb += [
            *(flags[step_type.name.lower()].eq(kind == step_type.value) for step_type in StepType),
            layers.eq(flags.transform | flags.inverse),
            butterflies.eq(layers | flags.last),
            fetches.eq(flags.unpack | (flags.multiply & ~self.step.sample)),
            ones.eq(word[:-1].all()),
            word_ends.eq(phase == final_phase),
            layer_ends.eq(word_ends & ones & (butterflies | word[-1])),
            last.eq(valid & layer_ends & (layer == final_layer)),
            addresses.word.eq(word),
            addresses.butterflies.eq(butterflies),
            addresses.inverse.eq(flags.inverse),
            addresses.begin.eq(self.start),
            addresses.next_layer.eq(layer_ends & valid),
            self.lower.eq(addresses.lower),
            self.upper.eq(addresses.upper),
            self.pair.eq(word[1:]),
            self.slot.valid.eq(valid),
            self.slot.phase.eq(Cat(phase[0] | (flags.pair & word[0]), phase[1])),
            self.slot.odd.eq(word[0]),
            self.slot.first.eq(layer == 0),
            self.slot.block_ends.eq(
                valid & word_ends & (flags.pair | (layers & addresses.block_ends))
            ),
        ]
        # Counters as sums of bits: carry chains would take more LUTs.
        with m.If(valid):
            m.d.sync += phase.eq(Cat(~phase[0], phase[1] ^ phase[0]))
            with m.If(word_ends):
                m.d.sync += [
                    phase.eq(0),
                    *(word[k].eq(word[k] ^ word[:k].all()) for k in range(1, LAYERS - 1)),
                    word[0].eq(~word[0]),
                    word[-1].eq(word[-1] ^ ones),
                ]
            with m.If(layer_ends):
                m.d.sync += [
                    word.eq(0),
                    layer.eq(Cat(~layer[0], layer[1] ^ layer[0], layer[2] ^ layer[:2].all())),
                ]
        with m.If(self.start):
            m.d.sync += layer.eq(0)

        fetched = delayed(m, self.start & fetches, PREFETCH, "fetched", reset_less=False)[PREFETCH]
        drained = delayed(m, last, DRAIN, "drained", reset_less=False)[DRAIN]
        m.d.comb += [
            begins.eq((self.start & ~fetches) | (fetched & self.busy)),
            self.done.eq(drained & self.busy),
        ]
        with m.If(self.start):
            m.d.sync += self.busy.eq(1)
        with m.If(begins):
            m.d.sync += valid.eq(1)
        with m.If(last):
            m.d.sync += valid.eq(0)
        with m.If(self.done):
            m.d.sync += self.busy.eq(0)
        with m.If(self.wipe):
            m.d.sync += [self.busy.eq(0), valid.eq(0), phase.eq(0), word.eq(0)]
        return m
