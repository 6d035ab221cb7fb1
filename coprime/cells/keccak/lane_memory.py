"""The state in LUT RAM, a word of each lane a cycle; rho and pi are addresses and wires.

Source: `../../model/keccak.py` for the offsets; the arrangement is our own. A rotation by q W + s
reads word z - q for word z of the result, and takes s bits from the word read one cycle before.
The address z counts up in every cycle and never jumps, so that the address of the lanes of one q is
that of the others a cycle later: registers, without logic.
"""

from itertools import pairwise

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.cells.luts import choose_word
from coprime.cells.target import Target
from coprime.model.keccak import LANE_BITS, LANES, ROTATIONS, moved

from .round_logic import signals


class LaneMemory(wiring.Component):
    """Two states, of which one is read while the other one is written.

    In a cycle all lanes of the half `half` are read, and the words that belong to the `place` of
    `delay` cycles before are written into the other half of the cycle before. Lanes with the same q
    are one memory.

    Parameters
    ----------
    width (int): bits of a word: 4, 8, 16 or 32
    delay (int): cycles from reading a word to writing it, 1 or 2

    Members
    -------
    half (1 bit, in): what is read
    fresh (1 bit, in): `half` differs from that of the cycle before, so that what is written is part
        of what is read
    place (out): the word, modulo 64 / width; the next one in every cycle
    written (25 words, in)
    moved (25 words, out): word `place` of each lane after rho and pi, if in the cycle before `half`
        was the same, or `fresh` is 1
    store (1 bit, in): with a delay of 2 only: the words are written

    Words of shares need `store`: of a word that was computed from wrong bits, and is replaced by
    the right one, the difference can be that of two values without a mask.
    """

    def __init__(self, width: int, target: Target = Target.GENERIC, delay: int = 1):
        self.width, self.words, self.target = width, LANE_BITS // width, target
        self.delay = delay
        super().__init__(
            {
                **dict.fromkeys(("half", "fresh"), In(1)),
                "place": Out(range(self.words)),
                "written": In(width).array(LANES),
                "moved": Out(width).array(LANES),
                **({"store": In(1)} if delay == 2 else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Memories, and a register for the bits that the next word takes."""
        m = Module()
        words = range(self.words)
        places = [Signal(words, name=f"place_{q}", init=-q % self.words) for q in words]
        written_half = Signal()
        m.d.comb += self.place.eq(places[0])
        m.d.sync += [
            places[0].eq(places[0] + 1),
            *(later.eq(earlier) for earlier, later in pairwise(places)),
            written_half.eq(~self.half),
        ]
        for q, place in enumerate(places):
            lanes = [lane for lane in range(LANES) if ROTATIONS[lane] // self.width == q]
            if not lanes:
                continue
            read_words = signals(self.width, f"word_{q}", len(lanes))
            memory = Memory(
                shape=self.width * len(lanes),
                depth=2 * self.words,
                init=[],
                # A word that is read while it is written is not used, but where `fresh` is 1.
                attrs={"ram_style": "distributed", "no_rw_check": 1},
            )
            m.submodules[f"lanes_{q}"] = memory
            read, write = memory.read_port(domain="comb"), memory.write_port()
            m.d.comb += [
                read.addr.eq(Cat(place, self.half)),
                Cat(read_words).eq(read.data),
                write.addr.eq(Cat(places[self.delay % self.words], written_half)),
                write.data.eq(Cat(self.written[lane] for lane in lanes)),
                write.en.eq(self.store if self.delay == 2 else 1),
            ]
            for lane, word in zip(lanes, read_words, strict=True):
                kept = ROTATIONS[lane] % self.width
                if not kept:
                    m.d.comb += self.moved[moved(lane)].eq(word)
                    continue
                held = Signal(kept, name=f"held_{lane}")
                late = word[self.width - kept :]
                if q == self.delay % self.words:  # the word that is written in this cycle
                    written = self.written[lane][self.width - kept :]
                    late = choose_word(m, self.fresh, written, late, self.target)
                m.d.sync += held.eq(late)
                m.d.comb += self.moved[moved(lane)].eq(Cat(held, word[: self.width - kept]))
        return m
