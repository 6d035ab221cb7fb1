"""The registers of the words that were read for a slot, and the lanes that are used of them."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.luts import choose_word, select_word
from coprime.cells.target import Target
from coprime.model.lattice.arithmetic import LANE_BITS

from .slot_counter import FLAGS, SLOT

PAIR = data.ArrayLayout(LANE_BITS, 2)
"""A word: the even coefficient, then the odd one; each of 13 bits with its sign."""
STAGES = 13
"""Of the slots that the pipeline knows: the current one and those of up to 12 cycles before."""


class SlotOperands(wiring.Component):
    """What enters the slice and the adders.

    A word of memory or of a sample is in its register in the second cycle after its address. UP is
    the word of a butterfly that is multiplied first, or that of a vector; LOW the other one, or an
    old value; FACTOR the sample, or numbers of bytes.

    Parameters
    ----------
    target (Target)
    of_lane (bool): there are outputs `up_word` and `low_word`, and no `number`: numbers of bytes
        come like a sample

    Members
    -------
    flags, slots (in): the kind, and the slots of this and the cycles before
    sample, keeps (1 bit, in): of the step: it takes a sample; UNPACK and MULTIPLY add to old values
    low_loads (1 bit, in): in this cycle LOW's address was given
    word, sampled (in), number (12 bits, in): of the memory and the sample buffer, of the address of
        the cycle before; a number of bytes
    first, second (13 bits, out): factors of the slot of two cycles before; `second` of MULTIPLY
    low (13 bits, out): the old value for a sum
    loaded (1 bit, out): `word` is one that a slot reads
    wipe (1 bit, in): clear all registers
    up_word, low_word (out): the registers UP and LOW; with `of_lane` only
    """

    def __init__(self, target: Target, *, of_lane: bool = False):
        self.target, self.of_lane = target, of_lane
        super().__init__(
            {
                "flags": In(FLAGS),
                "slots": In(SLOT).array(STAGES),
                **dict.fromkeys(("sample", "keeps", "low_loads", "wipe"), In(1)),
                **dict.fromkeys(("word", "sampled"), In(PAIR)),
                **({} if of_lane else {"number": In(12)}),
                **dict.fromkeys(("first", "second", "low"), Out(LANE_BITS)),
                "loaded": Out(1),
                **(dict.fromkeys(("up_word", "low_word"), Out(PAIR)) if of_lane else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Load, then select."""
        m = Module()
        flags, slots = self.flags, self.slots
        up, low, low_sample = (Signal(PAIR, name=name) for name in ("up", "low", "low_sample"))
        factor = Signal(PAIR)

        loads = Signal()
        m.d.sync += loads.eq(self.low_loads)
        with m.If(loads):
            m.d.sync += [low.eq(self.word), low_sample.eq(self.sampled)]
        with m.If(flags.pair | ((flags.multiply | flags.unpack) & ~self.keeps)):
            m.d.sync += low.eq(0)
        phase = slots[1].phase
        loads_up = flags.pair | ~Mux(flags.multiply, phase[1], phase[0])
        with m.If(loads_up):
            m.d.sync += up.eq(self.word)
        m.d.comb += self.loaded.eq(loads | (loads_up & slots[1].valid))

        self._load_factor(m, factor)
        with m.If(flags.pack & ~self.sample):
            m.d.sync += factor.eq(0)

        with m.If(self.wipe):
            m.d.sync += [word.eq(0) for word in (up, low, low_sample, factor)]

        if self.of_lane:
            m.d.comb += [self.up_word.eq(up), self.low_word.eq(low)]
        phase = slots[2].phase
        lane, is_factor, late_lane = Signal(), Signal(), Signal()
        early, late = slots[3].phase, slots[7].phase
        sums_first = flags.inverse | flags.last | flags.pack
        is_odd = Signal()
        by_number = Const(0) if self.of_lane else flags.unpack
        m.d.comb += [
            is_odd.eq(Mux(phase == 0, slots[2].odd, phase == 2)),
            is_factor.eq(
                flags.pack
                | flags.unpack
                | flags.multiply
                | (flags.transform & self.sample & slots[2].first)
            ),
            lane.eq(
                Mux(
                    flags.multiply,
                    phase[0] == phase[1],
                    (phase[0] | flags.pair) & ~by_number,
                )
            ),
            self.first.eq(select_word(m, [*up, *factor], Cat(lane, is_factor), self.target)),
            self.second.eq(choose_word(m, is_odd, up[1], up[0], self.target)),
            late_lane.eq(Mux(sums_first, early[0], Mux(flags.multiply, late[1], late[0]))),
            self.low.eq(
                select_word(
                    m,
                    [*low, *low_sample],
                    Cat(late_lane, flags.transform & self.sample & slots[7].first),
                    self.target,
                )
            ),
        ]
        return m

    def _load_factor(self, m: Module, factor: data.View) -> None:
        """Samples come two cycles after their slot, numbers of bytes one by one."""
        flags, phase = self.flags, self.slots[0].phase
        second_phase = Mux(flags.multiply, phase == 1, phase[0])
        if self.of_lane:
            with m.If(second_phase):
                m.d.sync += factor.eq(self.sampled)
            return
        bytes_ = Signal()
        m.d.comb += bytes_.eq((flags.multiply | flags.unpack) & ~self.sample)
        number = Cat(self.number, 0)
        found = choose_word(m, bytes_, Cat(number, number), self.sampled.as_value(), self.target)
        with m.If(Mux(bytes_, flags.unpack | (phase == 0), second_phase)):
            m.d.sync += factor[0].eq(found[:LANE_BITS])
        with m.If(second_phase):
            m.d.sync += factor[1].eq(found[LANE_BITS:])
