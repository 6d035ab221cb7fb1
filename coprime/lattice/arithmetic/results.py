"""Words of results, and when and where they are written."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.luts import choose_word
from coprime.cells.target import Target
from coprime.model.lattice.arithmetic import LANE_BITS

from .operands import PAIR, STAGES
from .slot_counter import FLAGS, SLOT

DEPTH = 1024
ADDRESS_BITS = 10
OF_ROOTS = Const(0b10, 2)
"""The upper bits of the addresses of products with roots."""


class SlotResults(wiring.Component):
    """Assembles sums, and products or differences, to words, and gives them to the memory.

    The word of sums is complete in the 10th cycle after its last slot (INVERSE: the 6th), the other
    one in the 12th after its first slot (LAST: after its second): never in the same cycle.

    Parameters
    ----------
    target (Target)
    address_bits (int): 10 of a whole memory's
    shows (bool): there are outputs `total_word` and `other_word`

    Members
    -------
    flags, slots (in): the kind, and the slots of this and the cycles before
    subtract (1 bit, in): the step's results are differences
    sum, difference, product (13 bits, in): of the adders, the latter in the cycle after them, and
        of the reduction
    sum_address, other_address (10 bits, in): in the cycles of writing
    write (1 bit, out), address (10 bits, out), word (out), odd (1 bit, out): the latter is the
        parity of the word, as its lanes had it when they were computed
    wipe, wiping, wipe_address (1, 1, 10 bits, in): of Datapath
    total_word, other_word (out): the registers of both words, each with its parity as its highest
        bit; with `shows` only
    """

    def __init__(
        self,
        target: Target = Target.GENERIC,
        address_bits: int = ADDRESS_BITS,
        *,
        shows: bool = False,
    ) -> None:
        self.target, self.shows = target, shows
        super().__init__(
            {
                "flags": In(FLAGS),
                "slots": In(SLOT).array(STAGES),
                "subtract": In(1),
                **dict.fromkeys(("sum", "difference", "product"), In(LANE_BITS)),
                **dict.fromkeys(("sum_address", "other_address"), In(address_bits)),
                "write": Out(1),
                "address": Out(address_bits),
                "word": Out(PAIR),
                "odd": Out(1),
                **dict.fromkeys(("wipe", "wiping"), In(1)),
                "wipe_address": In(address_bits),
                **(
                    dict.fromkeys(("total_word", "other_word"), Out(PAIR.size + 1)) if shows else {}
                ),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Registers of two words, and a multiplexer."""
        m = Module()
        flags, slots = self.flags, self.slots
        total, other = Signal(PAIR), Signal(PAIR)
        total_odd, other_odd = Signal(2), Signal(2)  # the parity of each lane
        inverse, last = flags.inverse, flags.last
        early, late = slots[5].phase, slots[9].phase
        lane = Signal()
        m.d.comb += lane.eq(Mux(inverse, early[0], Mux(flags.multiply, late[1], late[0])))
        other_lane = Mux(last, slots[11].phase[0], slots[10].phase[0])
        found = Signal(LANE_BITS)
        m.d.comb += found.eq(
            choose_word(m, inverse | last, self.product, self.difference, self.target)
        )
        for number in range(2):
            with m.If(lane == number):
                m.d.sync += [total[number].eq(self.sum), total_odd[number].eq(self.sum.xor())]
            with m.If(other_lane == number):
                m.d.sync += [other[number].eq(found), other_odd[number].eq(found.xor())]

        early, late = slots[6], slots[10]
        sums = Mux(
            inverse,
            early.valid & early.phase[0],
            late.valid & late.phase[0] & (late.phase[1] | ~flags.multiply),
        )
        others = slots[12].valid & (slots[12].phase[0] == last)
        writes_sum, writes_other = Signal(), Signal()
        wiping = self.wiping
        m.d.comb += [
            writes_sum.eq(sums & ~(flags.pack | last | self.subtract)),
            writes_other.eq(others & (flags.transform | inverse | last | self.subtract)),
            self.write.eq(writes_sum | writes_other | wiping),
            self.address.eq(
                Mux(
                    wiping,
                    self.wipe_address,
                    Mux(writes_other, self.other_address, self.sum_address),
                )
            ),
            # Both are 0 while this wipes.
            self.word.eq(
                choose_word(m, writes_other, other.as_value(), total.as_value(), self.target)
            ),
            self.odd.eq(Mux(writes_other, other_odd.xor(), total_odd.xor())),
        ]
        with m.If(wiping | self.wipe):
            m.d.sync += [register.eq(0) for register in (total, other, total_odd, other_odd)]
        if self.shows:
            m.d.comb += [
                self.total_word.eq(Cat(total, total_odd.xor())),
                self.other_word.eq(Cat(other, other_odd.xor())),
            ]
        return m
