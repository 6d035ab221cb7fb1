"""A lane: its numbers of all polynomials, and its butterflies on one slice.

All lanes do the same at the same address; what follows from a step's slots comes from
`ParallelLargeDatapath`. Cycles after a butterfly's first slot:

| cycle | |
|--:|---|
| 0, 1 | both words are addressed; where words cross, both rows |
| 3 | both words are there: of this lane, or those that it takes of two lanes |
| 4 | the butterfly starts; of SUM in cycle 5 |
| 15 | sum and second result of a layer's butterflies are there, in all lanes |
| 16, 17 | both words are written; where words cross, both rows: each lane its own word of it |
"""

from amaranth.hdl import Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.luts import select_word
from coprime.cells.parity_ram import ParityRam
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.model.lattice.large_arithmetic import ACCUMULATOR_BITS, NUMBER_BITS, N

from .high_low import CONSTANT_BITS, FACTOR_BITS
from .large_butterfly import NUMBER, REDUCED, TOTAL, Butterfly, LargeButterfly
from .large_results import PAIR_BITS
from .large_steps import PAIR_SHIFT, Part
from .sample_checksum import SampleChecksum
from .shared_part import SharedPart
from .slot_counter import delayed

LARGE_LANE = data.StructLayout(
    {
        "from_sample": 1,
        "part": Part,
        "adds": 1,
        "adds_sample": 1,
        "uses_a": 1,
        "multiplies": 1,
        "takes": 1,
        "start": 1,
        "kind": Butterfly,
        "keeps_sum": 1,
        "waits": 1,
        "layers": 1,
        "gives": 1,
        "gives_second": 1,
        "unpacks_pair": 1,
        "choice": 2,
        "clear": 1,
        "counts": 1,
        "subtracts": 1,
    }
)
"""What all lanes do in a cycle.

from_sample : the word that enters is the sample
part : what is taken of the word that has entered
adds, adds_sample : a butterfly is a sum; of a sample
uses_a : a butterfly's first operand is not 0
multiplies : the constant is a word or, with adds_sample, the sample
takes : the butterfly's words are those of other lanes
start, kind : of LargeButterfly, with its operands
keeps_sum : a layer's sum waits for the other result
waits : that of INVERSE comes later
layers : what is written is a result of a layer
gives, gives_second : it is given back by another lane; it is the second word
unpacks_pair : UNPACK adds to the word
choice : of the total, what is unpacked, a product, and 0
clear, counts, subtracts : of SampleChecksum
"""
_TAKEN = 8
"""Cycles from a sum of INVERSE to that of TRANSFORM."""
assert TOTAL[Butterfly.FORWARD][0] - TOTAL[Butterfly.INVERSE][0] == _TAKEN
assert TOTAL[Butterfly.FORWARD][1] == REDUCED[Butterfly.INVERSE][0]


class LargeLane(wiring.Component):
    """One of several lanes.

    Parameters
    ----------
    depth (int): numbers of its memory
    target (Target): XC7 places one DSP48E1
    splits (bool): its slice also multiplies for LargeBytes

    Members
    -------
    control (in): of LARGE_LANE
    read_address, write_address (in), write (1 bit, in): of the memory
    constant, sample, unpacked (signed 24 bits, in): of the table, of the sample buffer, of bytes
    entering, before (signed 24 bits, out): the word that has entered, and a part of the one before
    lower, upper (signed 24 bits, in): what the lane takes instead
    sum_word, other_word (signed 24 bits, out): both results of a butterfly
    given (signed 24 bits, in): what is given back to this lane
    wiping (1 bit, in): zeros are written
    cancels (1 bit, out): of SampleChecksum
    wrong (1 bit, out): a number has another parity than it was written with

    With `splits` only:

    split (1 bit, in): the slice multiplies the next two
    factor, split_constant (in), p (out): as of LargeBytes
    """

    def __init__(self, depth: int, target: Target, *, splits: bool):
        self.target, self.splits = target, splits
        self.memory = ParityRam(NUMBER_BITS, depth, streams=True, target=target)
        self.butterfly = LargeButterfly(target)
        numbers_in = ("constant", "sample", "unpacked", "lower", "upper", "given")
        numbers_out = ("entering", "before", "sum_word", "other_word")
        of_bytes = {
            "split": In(1),
            "factor": In(FACTOR_BITS),
            "split_constant": In(CONSTANT_BITS),
            "p": Out(signed(ACCUMULATOR_BITS)),
        }
        super().__init__(
            {
                "control": In(LARGE_LANE),
                **dict.fromkeys(("read_address", "write_address"), In(range(depth))),
                **dict.fromkeys(("write", "wiping"), In(1)),
                **dict.fromkeys(numbers_in, In(NUMBER)),
                **dict.fromkeys(numbers_out, Out(NUMBER)),
                **dict.fromkeys(("cancels", "wrong"), Out(1)),
                **(of_bytes if splits else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Words that enter, the butterfly, words that leave."""
        m = Module()
        m.submodules.memory = memory = self.memory
        m.submodules.butterfly = butterfly = self.butterfly
        m.submodules.part = part = SharedPart()
        control, entering, before = self.control, self.entering, self.before
        samples = delayed(m, self.sample, 2, "sample_at")
        sum_a = Signal(NUMBER)
        m.d.comb += [
            memory.a_address.eq(self.read_address),
            part.number.eq(entering),
            part.part.eq(control.part),
            self.wrong.eq(memory.wrong),
        ]
        m.d.sync += [
            entering.eq(Mux(control.from_sample, self.sample, memory.a_data.as_signed())),
            before.eq(part.found),
            sum_a.eq(before),
        ]
        a, b, constant = Signal(NUMBER), Signal(NUMBER), Signal(NUMBER)
        own_a = Mux(control.adds, sum_a, Mux(control.uses_a, before, 0))
        own_b = Mux(control.adds, Mux(control.adds_sample, samples[2], before), entering)
        other = Mux(control.adds_sample, samples[1], before)
        m.d.sync += [
            a.eq(Mux(control.takes, self.lower, own_a)),
            b.eq(Mux(control.takes, self.upper, own_b)),
            constant.eq(Mux(control.multiplies, other, self.constant)),
        ]
        m.d.comb += [
            butterfly.start.eq(control.start),
            butterfly.kind.eq(control.kind),
            butterfly.a.eq(a),
            butterfly.b.eq(b),
            butterfly.constant.eq(constant),
        ]
        if self.splits:
            with m.If(self.split):
                m.d.comb += [
                    butterfly.b.eq(self.factor),
                    butterfly.constant.eq(self.split_constant),
                ]
            m.d.comb += self.p.eq(butterfly.p)
        m.submodules.checksum = checksum = SampleChecksum(self.target)
        m.d.comb += [
            checksum.clear.eq(control.clear),
            checksum.number.eq(self.sample),
            checksum.subtract.eq(control.subtracts),
            checksum.counts.eq(control.counts),
            *same_named(self, checksum, "cancels"),
        ]
        self._leave(m)
        return m

    def _leave(self, m: Module) -> None:
        """Words are written, of a layer both in one way, whether they cross or not."""
        control, butterfly, memory = self.control, self.butterfly, self.memory
        total = delayed(m, butterfly.total, _TAKEN, "total")
        second, other = Signal(NUMBER), Signal(NUMBER)
        with m.If(control.keeps_sum):
            m.d.sync += self.sum_word.eq(Mux(control.waits, total[_TAKEN], total[0]))
        m.d.sync += other.eq(second)
        # Of a pair the first number is there, and the second one is unpacked.
        unpacked = delayed(m, self.unpacked, 1, "unpacked")[1]
        pair = (self.entering + (unpacked << PAIR_SHIFT))[:PAIR_BITS].as_signed()
        found, taken = Signal(NUMBER), Signal(NUMBER)
        words: list[Value] = [butterfly.total, found, taken, Const(0, NUMBER_BITS)]
        word = Signal(NUMBER)
        m.d.comb += [
            second.eq(Mux(control.waits, butterfly.reduced, butterfly.total)),
            self.other_word.eq(Mux(control.gives_second, other, second)),
            found.eq(Mux(control.unpacks_pair, pair, unpacked)),
            taken.eq(butterfly.reduced),
            memory.b_write.eq(self.write),
            memory.b_address.eq(self.write_address),
            memory.b_write_data.eq(word),
        ]
        alone = select_word(m, words, control.choice, self.target)
        own = Mux(control.gives_second, self.other_word, self.sum_word)
        of_layer = Mux(control.gives, self.given, own)
        m.d.sync += word.eq(Mux(control.layers, of_layer, alone))
        with m.If(self.wiping):
            m.d.sync += self.sum_word.eq(0)


def lane_depth(regions: int, lanes: int) -> int:
    """Numbers of so many polynomials in each lane."""
    return regions * N // lanes
