"""Polynomials modulo 8380417 in a memory of words of 36 bits, and butterflies on one slice.

In every cycle one word is read and one is written. A butterfly's lower word is read in its first
slot and the upper one in the second, and both enter the butterfly three cycles after the first.
Cycles after its first slot in which results are written:

| | TRANSFORM | INVERSE | LAST | MULTIPLY | SUM | UNPACK |
|---|--:|--:|--:|--:|--:|--:|
| lower word | 13 | 5 | 13 | 13; 14 if subtracted | 5; 6 | 1 |
| upper word | 14 | 14 | 15 | | | |

No word is read in the cycle in which it is written: it is read again in the next layer, at least
128 slots after its write.
"""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.block_ram import BlockRam
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.model.lattice.large_arithmetic import LAYERS, NUMBER_BITS, N
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

from .high_low import WIDE
from .large_addresses import LargeAddresses
from .large_butterfly import NUMBER, Butterfly, LargeButterfly
from .large_bytes import LargeBytes
from .large_steps import (
    DRAIN,
    INVERSE_AT,
    LAST_AT,
    PREFETCH,
    SLOTS_OF,
    TABLE_DEPTH,
    LargeKind,
    large_step_layout,
)
from .number_packer import ML_DSA_WIDTHS, interval
from .number_packer import WORD_BITS as BYTES_WORD_BITS
from .slot_counter import delayed

WORD_BITS = 36
_ENTERS = 3
"""Cycles from a butterfly's first slot to its start."""


class LargeDatapath(wiring.Component):
    """Executes steps.

    Parameters
    ----------
    regions (int): polynomials in the memory
    target (Target): XC7 places one DSP48E1
    verify_only (bool): as of LargeBytes

    Members
    -------
    step (in): of `large_step_layout`; stable from `start` to `done`
    start (1 bit, in): only while `busy` is 0
    busy, done (1 bit, out): from the next cycle on; `done` in the last busy cycle
    table_address (9 bits, out), table_word (signed 24 bits, in): a constant, a cycle later
    sample_address (8 bits, out), sample (signed 24 bits, in): a number of the sampled polynomial, a
        cycle later
    parameter_set (2 bits, in): the number of a set, stable while `busy`
    hint_step, hint, use, write, write_data, read_data, clear, exceeds : of LargeBytes
    wipe (1 bit, in): write zeros everywhere; `start` is 0 until this is done
    wiping (1 bit, out): this is under way, as after a reset
    """

    def __init__(self, regions: int, target: Target = Target.GENERIC, *, verify_only: bool = False):
        self.target, self.verify_only = Target(target), verify_only
        self.memory = BlockRam(WORD_BITS, regions * N, target=self.target)
        super().__init__(
            {
                "step": In(large_step_layout(regions)),
                "start": In(1),
                **dict.fromkeys(("busy", "done"), Out(1)),
                "table_address": Out(range(TABLE_DEPTH)),
                "table_word": In(NUMBER),
                "sample_address": Out(LAYERS),
                "sample": In(NUMBER),
                "parameter_set": In(2),
                "hint_step": Out(1),
                "hint": In(1),
                **dict.fromkeys(("use", "write"), Out(1)),
                "write_data": Out(BYTES_WORD_BITS),
                "read_data": In(BYTES_WORD_BITS),
                "clear": In(1),
                "exceeds": Out(1),
                "wipe": In(1),
                "wiping": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Slots, words that enter, the butterfly, words that leave."""
        m = Module()
        m.submodules.memory = memory = self.memory
        m.submodules.addresses = addresses = LargeAddresses()
        m.submodules.butterfly = butterfly = LargeButterfly(self.target)
        m.submodules.bytes = bytes_ = LargeBytes(verify_only=self.verify_only)
        step, kind = self.step, self.step.kind
        is_ = {one: Signal(name=f"is_{one.name.lower()}") for one in LargeKind}
        m.d.comb += [found.eq(kind == one) for one, found in is_.items()]
        multiplies, last, adds = (
            is_[one] for one in (LargeKind.MULTIPLY, LargeKind.LAST, LargeKind.SUM)
        )
        unpacks, packs = is_[LargeKind.UNPACK], is_[LargeKind.PACK]
        in_order, every = Signal(), Signal()  # one word after the other; one in every slot
        narrow = look_up([interval(one) == 1 for one in ML_DSA_WIDTHS], step.width, 1)
        m.d.comb += [
            in_order.eq(multiplies | adds | unpacks | packs),
            every.eq((unpacks | packs) & narrow),
        ]
        ascends = is_[LargeKind.INVERSE] | last

        slots, number = Signal(), Signal(range(max(SLOTS_OF.values())))
        phase = Mux(every, 0, Mux(last, number[:2], number[0]))
        self._count(m, slots, number, is_, every)
        m.d.comb += [
            addresses.ascends.eq(is_[LargeKind.INVERSE]),
            addresses.begin.eq(self.start),
            addresses.butterfly.eq(Mux(last, number[2:], number[1:])),
            addresses.next_layer.eq(slots & number[:LAYERS].all() & ~last),
        ]

        # 0: addresses. Of MULTIPLY the lower word is P's, the upper one g's.
        is_upper, word = number[0], Signal(LAYERS)
        region = Mux((multiplies | adds) & is_upper, step.other, step.region)
        m.d.comb += [
            word.eq(
                Mux(
                    in_order,
                    Mux(every, number, number[1:]),
                    Mux(is_upper, addresses.upper, addresses.lower),
                )
            ),
            memory.a_address.eq(Cat(word, region)),
        ]
        begins = delayed(m, slots & (phase == 0), _ENTERS, "begins")
        first_layer = delayed(m, number[LAYERS:] == 0, 2, "first_layer")
        words = delayed(m, word, 2, "word_at")
        m.d.comb += self.sample_address.eq(Mux(in_order, words[1], word))

        # 2 and 3: words enter; 3: a butterfly starts.
        entering = Signal(NUMBER)
        from_sample = is_[LargeKind.TRANSFORM] & step.sample & first_layer[1]
        m.d.sync += entering.eq(Mux(from_sample, self.sample, memory.a_data[:NUMBER_BITS]))
        before = delayed(m, entering, 1, "entering")[1]
        sample = delayed(m, self.sample, 1, "sample_at")[1]
        uses_p = ~multiplies | step.add
        constant = Mux(multiplies, Mux(step.sample, sample, before), self.table_word)
        m.d.comb += [
            butterfly.start.eq(begins[_ENTERS] & ~unpacks & ~packs),
            butterfly.a.eq(Mux(uses_p, before, 0)),
            butterfly.b.eq(Mux(packs, bytes_.factor, Mux(adds & step.sample, sample, entering))),
            butterfly.constant.eq(Mux(packs, bytes_.constant, constant)),
            bytes_.product.eq(butterfly.p),
            butterfly.kind.eq(
                Mux(
                    last,
                    Butterfly.LAST,
                    Mux(is_[LargeKind.INVERSE] | adds, Butterfly.INVERSE, Butterfly.FORWARD),
                )
            ),
        ]

        # Constants: one is addressed in the cycle before a butterfly takes it.
        used = Signal(range(TABLE_DEPTH))
        ends = delayed(m, slots & addresses.block_ends & is_upper, 5, "ends")
        base = Mux(ascends, Mux(last, LAST_AT, INVERSE_AT), 0)
        second = delayed(m, last & (phase == 2), 4, "second")
        m.d.comb += self.table_address.eq(used + second[4])
        with m.If(self.start):
            m.d.sync += used.eq(base)
        with m.Elif(Mux(is_[LargeKind.INVERSE], ends[5], ends[2]) & ~last):
            m.d.sync += used.eq(used + 1)

        # Words leave.
        lower = delayed(m, addresses_of(word, slots & (phase == 0)), 14, "lower_at")
        upper = delayed(m, addresses_of(word, slots & (phase == 1)), 14, "upper_at")
        is_inverse = is_[LargeKind.INVERSE]
        late = Mux(multiplies & step.subtract, lower[14], lower[13])
        early = Mux(adds & step.subtract, lower[6], lower[5])
        of_lower = Mux(unpacks, lower[1], Mux(is_inverse | adds, early, late))
        of_upper = Mux(last, upper[14], upper[13])
        writes_upper = of_upper[-1] & ~in_order
        value = Mux(
            last | (is_inverse & writes_upper),
            butterfly.reduced,
            Mux(unpacks, bytes_.unpacked, butterfly.total),
        )

        # Bytes.
        m.d.comb += [
            *same_named(
                bytes_, self, "parameter_set", "start", "hint", "read_data", "clear", "wipe"
            ),
            *same_named(self, bytes_, "hint_step", "use", "write", "write_data", "exceeds"),
            bytes_.few_parts.eq(self.parameter_set != ML_DSA_SETS.index(WIDE)),
            bytes_.width.eq(step.width),
            bytes_.form.eq(step.form),
            bytes_.unpacks.eq(unpacks),
            bytes_.take.eq(slots & unpacks & (phase == 0)),
            bytes_.r.eq(entering),
            bytes_.put.eq(begins[2] & packs),
        ]
        cleared, wiping = Signal.like(memory.b_address), Signal(init=1)
        m.d.comb += [
            self.wiping.eq(wiping),
            memory.b_write.eq((of_lower[-1] & ~packs) | writes_upper | wiping),
            memory.b_address.eq(
                Mux(
                    wiping,
                    cleared,
                    Cat(Mux(writes_upper, of_upper[:-1], of_lower[:-1]), step.region),
                )
            ),
            memory.b_write_data.eq(Mux(wiping, 0, value[:NUMBER_BITS])),
        ]
        with m.If(wiping):
            m.d.sync += cleared.eq(cleared + 1)
            with m.If(cleared == self.memory.depth - 1):
                m.d.sync += wiping.eq(0)
        with m.If(self.wipe):
            m.d.sync += [wiping.eq(1), cleared.eq(0)]
        return m

    def _count(
        self, m: Module, slots: Signal, number: Signal, is_: dict[LargeKind, Signal], every: Signal
    ) -> None:
        """FETCH of UNPACK, SLOTS, then DRAIN."""
        final = Signal.like(number)
        for kind, count in SLOTS_OF.items():
            with m.If(is_[kind]):
                m.d.comb += final.eq(count - 1)
        with m.If(every):
            m.d.comb += final.eq(N - 1)
        pause = Signal(range(DRAIN))
        with m.FSM():
            with m.State("IDLE"), m.If(self.start):
                m.d.sync += [number.eq(0), pause.eq(PREFETCH - 1)]
                m.next = "SLOTS"
                with m.If(is_[LargeKind.UNPACK]):
                    m.next = "FETCH"
            with m.State("FETCH"):
                m.d.comb += self.busy.eq(1)
                m.d.sync += pause.eq(pause - 1)
                with m.If(pause == 0):
                    m.next = "SLOTS"
            with m.State("SLOTS"):
                m.d.comb += [self.busy.eq(1), slots.eq(1)]
                m.d.sync += [number.eq(number + 1), pause.eq(DRAIN - 1)]
                with m.If(number == final):
                    m.next = "DRAIN"
            with m.State("DRAIN"):
                m.d.comb += [self.busy.eq(1), self.done.eq(pause == 0)]
                m.d.sync += pause.eq(pause - 1)
                with m.If(self.done):
                    m.next = "IDLE"


def addresses_of(word: Signal, valid: Signal) -> Signal:
    """An address, and whether there is one."""
    return Cat(word, valid)
