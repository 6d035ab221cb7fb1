"""Polynomials modulo 8380417 in a memory of their numbers, and butterflies on one slice.

In every cycle one word is read and one is written. A butterfly's lower word is read in its first
slot and the upper one in the second, and both enter the butterfly three cycles after the first; of
SUM four, as one of them may be a part of what was read.
Cycles after its first slot in which results are written:

| | TRANSFORM | INVERSE | LAST | MULTIPLY | SUM | UNPACK |
|---|--:|--:|--:|--:|--:|--:|
| lower word | 14 | 6 | 14 | 14; 15 if subtracted | 7; 8 | 3 |
| upper word | 15 | 15 | 16 | | | |

No word is read in the cycle in which it is written: it is read again in the next layer, at least
128 slots after its write.
"""

from collections.abc import Mapping

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Member, Out, connect, flipped

from coprime.cells.parity_ram import ParityRam
from coprime.cells.shared_slice import WIDE_USER
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.model.lattice.large_arithmetic import LAYERS, NUMBER_BITS, N
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

from .high_low import WIDE
from .large_butterfly import NUMBER, Butterfly, LargeButterfly
from .large_bytes import LargeBytes
from .large_results import LargeResults
from .large_slots import LargeConstants, LargeSlots
from .large_steps import TABLE_DEPTH, LargeKind, Part, large_step_layout
from .number_packer import HINT_BITS, ML_DSA_WIDTHS
from .number_packer import WORD_BITS as BYTES_WORD_BITS
from .sample_checksum import SampleChecksum
from .shared_part import SharedPart
from .slot_counter import delayed

_ENTERS = 3
"""Cycles from a butterfly's first slot to its start; with SUM one more."""


def large_datapath_ports(
    regions: int,
    follows: Mapping[str, Member],
    constants: Mapping[str, Member],
    addresses: Mapping[str, Member],
    sample: Member,
    *,
    hints: int = 1,
    word_bits: int = BYTES_WORD_BITS,
) -> dict[str, Member]:
    """Ports of a datapath: with these members for what may follow before `done`, for constants, for
    addresses of samples, and for a sample, or one of each lane; `hint`, and what the byte memory
    reads or writes at once, have so many bits."""
    return {
        "step": In(large_step_layout(regions)),
        "start": In(1),
        **dict.fromkeys(("busy", "done"), Out(1)),
        **follows,
        "table_address": Out(range(TABLE_DEPTH)),
        **constants,
        **addresses,
        "sample": sample,
        "parameter_set": In(2),
        "hint_step": Out(1),
        "hint": In(hints),
        "found": Out(stream.Signature(1, always_ready=True)),
        **dict.fromkeys(("use", "write"), Out(1)),
        "write_data": Out(word_bits),
        "read_data": In(word_bits),
        "byte": Out(stream.Signature(8, always_ready=True)),
        "clear": In(1),
        "exceeds": Out(1),
        "wipe": In(1),
        **dict.fromkeys(("wiping", "wrong", "cancels"), Out(1)),
    }


class LargeDatapath(wiring.Component):
    """Executes steps.

    Parameters
    ----------
    regions (int): polynomials in the memory
    target (Target): XC7 places one DSP48E1
    verify_only (bool): as of LargeBytes
    shares_slice (bool): as of LargeButterfly, and `slice`

    Members
    -------
    step (in): of `large_step_layout`; stable from `start` to `done`
    start (1 bit, in): only while `busy` is 0
    busy, done (1 bit, out): from the next cycle on; `done` in the last busy cycle
    table_address (9 bits, out), table_word (signed 24 bits, in): a constant, a cycle later
    sample_address (8 bits, out), sample (signed 24 bits, in): a number of the sampled polynomial, a
        cycle later
    parameter_set (2 bits, in): the number of a set, stable while `busy`
    hint_step, hint, found, use, write, write_data, read_data, clear, exceeds : of LargeBytes
    byte (out): what is unpacked of 8 bits, also as a stream
    wipe (1 bit, in): write zeros everywhere; `start` is 0 until this is done
    wiping (1 bit, out): this is under way, as after a reset
    cancels (1 bit, out): samples that TRANSFORM has read since `clear`, and that SUM has, both with
        `add`, have the same sum
    wrong (1 bit, out): a number has another parity than it was written with
    """

    def __init__(
        self,
        regions: int,
        target: Target = Target.GENERIC,
        *,
        verify_only: bool = False,
        shares_slice: bool = False,
    ):
        self.target, self.verify_only, self.regions = Target(target), verify_only, regions
        self.butterfly = LargeButterfly(self.target, shares_slice=shares_slice)
        self.shares_slice = shares_slice
        self.memory = ParityRam(NUMBER_BITS, regions * N, streams=True, target=self.target)
        constants = {"table_word": In(NUMBER)}
        super().__init__(
            large_datapath_ports(
                regions, {}, constants, {"sample_address": Out(LAYERS)}, In(NUMBER)
            )
            | ({"slice": Out(WIDE_USER)} if shares_slice else {})
        )

    def elaborate(self, platform: object) -> Module:
        """Slots, words that enter, the butterfly, words that leave."""
        m = Module()
        m.submodules.memory = memory = self.memory
        m.submodules.slots = slots = LargeSlots(self.regions)
        m.submodules.constants = LargeConstants()
        m.submodules.butterfly = butterfly = self.butterfly
        m.submodules.results = LargeResults(self.regions, self.target)
        m.submodules.bytes = bytes_ = LargeBytes(verify_only=self.verify_only)
        if self.shares_slice:
            connect(m, butterfly.slice, flipped(self.slice))
        # A decoder of instructions gives a step late in a cycle: only slots begin with it.
        step, started = Signal.like(self.step), Signal()
        m.d.sync += [step.eq(self.step), started.eq(self.start)]
        is_ = {step_kind: Signal(name=f"is_{step_kind.name.lower()}") for step_kind in LargeKind}
        m.d.comb += [found.eq(step.kind == step_kind) for step_kind, found in is_.items()]
        multiplies, last, adds = (
            is_[step_kind] for step_kind in (LargeKind.MULTIPLY, LargeKind.LAST, LargeKind.SUM)
        )
        unpacks, packs, hints = (
            is_[step_kind] for step_kind in (LargeKind.UNPACK, LargeKind.PACK, LargeKind.HINT)
        )
        word = slots.word
        m.d.comb += [
            slots.step.eq(step),
            slots.next_kind.eq(self.step.kind),
            *same_named(slots, self, "start"),
            *same_named(self, slots, "busy", "done"),
        ]

        # 0: addresses. Of MULTIPLY the lower word is P's, the upper one g's.
        region = Mux((multiplies | adds | hints) & slots.is_upper, step.other, step.region)
        m.d.comb += memory.a_address.eq(Cat(word, region))
        begins = delayed(m, slots.valid & (slots.phase == 0), _ENTERS + 1, "begins")
        first_layer = delayed(m, slots.first_layer, 1, "first_layer")
        is_upper = delayed(m, slots.is_upper, 2, "is_upper")
        words = delayed(m, word, 2, "word_at")
        m.d.comb += self.sample_address.eq(Mux(multiplies | adds, words[1], word))

        # 2 and 3: words enter; 3: a butterfly starts; 4: a sum starts.
        entering, before, sum_a = Signal(NUMBER), Signal(NUMBER), Signal(NUMBER)
        from_sample = step.sample & (packs | (is_[LargeKind.TRANSFORM] & first_layer[1]))
        m.submodules.part = part = SharedPart()
        m.d.comb += [
            part.number.eq(entering),
            part.part.eq(Mux(adds & (is_upper[2] ^ step.sample), step.part, Part.WHOLE)),
        ]
        m.d.sync += [
            entering.eq(Mux(from_sample, self.sample, memory.a_data.as_signed())),
            before.eq(part.found),
            sum_a.eq(before),
        ]
        samples = delayed(m, self.sample, 2, "sample_at")
        sample, sum_b = samples[1], Mux(step.sample, samples[2], before)
        uses_p = ~multiplies | step.add
        splits = packs | hints
        constant = Mux(multiplies, Mux(step.sample, sample, before), self.table_word)
        m.d.comb += [
            butterfly.start.eq(Mux(adds, begins[-1], begins[_ENTERS]) & ~unpacks & ~splits),
            butterfly.a.eq(Mux(adds, sum_a, Mux(uses_p, before, 0))),
            butterfly.b.eq(Mux(splits, bytes_.factor, Mux(adds, sum_b, entering))),
            butterfly.constant.eq(Mux(splits, bytes_.constant, constant)),
            bytes_.product.eq(butterfly.p),
            butterfly.kind.eq(
                Mux(
                    last,
                    Butterfly.LAST,
                    Mux(is_[LargeKind.INVERSE] | adds, Butterfly.INVERSE, Butterfly.FORWARD),
                )
            ),
        ]

        self._sum_samples(m, slots, step, adds, is_[LargeKind.TRANSFORM])

        self._connect_constants(m, step, started)
        self._connect_results(m, step, entering)
        self._connect_bytes(m, step, started, entering, begins[2] & splits, unpacks, hints)
        return m

    def _sum_samples(
        self, m: Module, slots: LargeSlots, step: data.View, adds: Value, transforms: Value
    ) -> None:
        """A checksum of samples that are read twice: by a transform, and by a sum."""
        m.submodules.checksum = checksum = SampleChecksum(self.target)
        counts = step.sample & step.add & slots.valid
        at_transform = delayed(m, counts & transforms & slots.first_layer, 1, "first")
        at_sum = delayed(m, counts & adds & ~slots.is_upper, 2, "second")
        m.d.comb += [
            checksum.clear.eq(self.clear),
            checksum.number.eq(self.sample),
            checksum.subtract.eq(adds),
            checksum.counts.eq(at_transform[1] | at_sum[2]),
            self.cancels.eq(checksum.cancels),
        ]

    def _connect_constants(self, m: Module, step: data.View, started: Value) -> None:
        """The table's address, which changes where a block of slots ends."""
        slots, constants = m.submodules.slots, m.submodules.constants
        m.d.comb += [
            constants.start.eq(started),
            constants.kind.eq(step.kind),
            constants.ends.eq(slots.valid & slots.block_ends & slots.is_upper),
            constants.second.eq(slots.phase == 2),
            self.table_address.eq(constants.address),
        ]

    def _connect_results(self, m: Module, step: data.View, entering: Value) -> None:
        """Words leave."""
        memory, butterfly = self.memory, self.butterfly
        slots, results, bytes_ = m.submodules.slots, m.submodules.results, m.submodules.bytes
        m.d.comb += [
            *same_named(results, slots, "valid", "phase", "word"),
            *same_named(results, butterfly, "total", "reduced"),
            *same_named(results, bytes_, "unpacked"),
            results.step.eq(step),
            results.before.eq(entering),
            results.wipe.eq(self.wipe),
            self.wiping.eq(results.wiping),
            memory.b_write.eq(results.write),
            memory.b_address.eq(results.address),
            memory.b_write_data.eq(results.data),
            self.wrong.eq(memory.wrong),
        ]

    def _connect_bytes(
        self,
        m: Module,
        step: data.View,
        started: Value,
        entering: Value,
        puts: Value,
        unpacks: Value,
        hints: Value,
    ) -> None:
        """Numbers from and to bytes."""
        slots, bytes_ = m.submodules.slots, m.submodules.bytes
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
            bytes_.take.eq(slots.valid & unpacks & (slots.phase == 0)),
            bytes_.r.eq(entering),
            bytes_.put.eq(puts),
            bytes_.compares.eq(hints),
        ]
