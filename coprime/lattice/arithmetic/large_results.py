"""Results of steps modulo 8380417 become words of the memory of polynomials."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.luts import select_word
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.model.lattice.large_arithmetic import LAYERS, NUMBER_BITS, N

from .large_butterfly import NUMBER
from .large_steps import PAIR_SHIFT, LargeKind, large_step_layout
from .slot_counter import delayed

PAIR_BITS = 14
"""Of two numbers in [-4, 4] that share one."""
_NO_RESULT = (LargeKind.PACK, LargeKind.HINT)
_TWO_RESULTS = (LargeKind.TRANSFORM, LargeKind.INVERSE, LargeKind.LAST)


class LargeResults(wiring.Component):
    """Writes a word a cycle, as long after its slot as the table of `large_datapath` states: out of
    a register, since a block RAM wants its parity in the same cycle.

    Members
    -------
    step (in): of LargeDatapath
    valid, phase, word : of LargeSlots
    total, reduced (signed 24 bits, in): of LargeButterfly
    unpacked (signed 24 bits, in): of LargeBytes
    before (signed 24 bits, in): the word of the slot two cycles ago
    write (1 bit, out), address, data (out): of the memory
    wipe (1 bit, in): write zeros everywhere
    wiping (1 bit, out): this is under way, as after a reset
    """

    def __init__(self, regions: int, target: Target = Target.GENERIC):
        self.depth, self.target = regions * N, target
        super().__init__(
            {
                "step": In(large_step_layout(regions)),
                "valid": In(1),
                "phase": In(2),
                "word": In(LAYERS),
                **dict.fromkeys(("total", "reduced", "unpacked", "before"), In(NUMBER)),
                "write": Out(1),
                "address": Out(range(self.depth)),
                "data": Out(NUMBER_BITS),
                "wipe": In(1),
                "wiping": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Of two results of a butterfly the second one is written one or two cycles later."""
        m = Module()
        step, kind = self.step, self.step.kind
        bits = bits_for(len(LargeKind) - 1)

        def is_one_of(*kinds: LargeKind) -> Signal:
            found = Signal()
            rows = [LargeKind(number) in kinds for number in range(1 << bits)]
            m.d.comb += found.eq(look_up(rows, kind, 1))
            return found

        inverse, last = is_one_of(LargeKind.INVERSE), is_one_of(LargeKind.LAST)
        unpacks, adds = is_one_of(LargeKind.UNPACK), is_one_of(LargeKind.SUM)
        subtracts = step.subtract & is_one_of(LargeKind.SUM, LargeKind.MULTIPLY)
        lower, upper = (
            delayed(m, Cat(self.word, self.valid & (self.phase == phase)), 14, f"phase_{phase}")
            for phase in range(2)
        )
        late = Mux(subtracts, lower[14], lower[13])
        of_sum = Mux(subtracts, lower[7], lower[6])
        early = Mux(adds, of_sum, lower[5])
        first = Mux(unpacks, lower[2], Mux(inverse | adds, early, late))
        second = Mux(last, upper[14], upper[13])
        is_second = second[-1] & is_one_of(*_TWO_RESULTS)
        # Of a pair the first number is there, and the second one is unpacked.
        unpacked = delayed(m, self.unpacked, 1, "unpacked")[1]
        pair = (self.before + (unpacked << PAIR_SHIFT))[:PAIR_BITS].as_signed()
        cleared = Signal.like(self.address)
        wiping = Signal(init=1)
        found, taken = Signal(NUMBER), Signal(NUMBER)
        m.d.comb += [found.eq(Mux(step.add, pair, unpacked)), taken.eq(self.reduced)]
        takes_product = last | (inverse & is_second)
        words = [self.total, found, taken, Const(0, NUMBER_BITS)]
        choice = Cat(wiping | (unpacks & ~takes_product), wiping | takes_product)
        m.d.comb += self.wiping.eq(wiping)
        m.d.sync += [
            self.write.eq((first[-1] & ~is_one_of(*_NO_RESULT)) | is_second | wiping),
            self.address.eq(
                Mux(wiping, cleared, Cat(Mux(is_second, second[:-1], first[:-1]), step.into))
            ),
            self.data.eq(select_word(m, words, choice, self.target)),
        ]
        with m.If(wiping):
            m.d.sync += cleared.eq(cleared + 1)
            with m.If(cleared == self.depth - 1):
                m.d.sync += wiping.eq(0)
        with m.If(self.wipe):
            m.d.sync += [wiping.eq(1), cleared.eq(0)]
        return m
