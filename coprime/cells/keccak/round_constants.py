"""Iota's constants, which also count the rounds.

Source: FIPS 202, algorithms 5 and 6. What differs: the register holds the next eight bits of the
sequence and moves by seven bits a round. It is 0, and so is the constant, in the pass before the
first round.
"""

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.keccak import CONSTANT_BITS, FEEDBACK, ROUNDS, constant_sequence

_BITS = 8
_STEP = len(CONSTANT_BITS)
_ALL = constant_sequence(_STEP * ROUNDS + 1)


def _number(round_number: int) -> int:
    """The register in a round."""
    bits = _ALL[_STEP * round_number : _STEP * round_number + _BITS]
    return sum(bit << k for k, bit in enumerate(bits))


class RoundConstants(wiring.Component):
    """The constant of a round.

    Members
    -------
    restart, clear, advance : at the end of this cycle round 0 follows, no round, the next round;
        the first of them that is 1 counts
    bits (7 bits, out): the constant at the places of `CONSTANT_BITS`
    none (1 bit, out): it is no round's
    last (1 bit, out): it is that of round 23
    """

    def __init__(self) -> None:
        super().__init__(
            {
                **dict.fromkeys(("restart", "clear", "advance"), In(1)),
                "bits": Out(_STEP),
                "none": Out(1, init=1),
                "last": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Step the sequence."""
        m = Module()
        window = Signal(_BITS)
        # Which of the register's bits each later bit is the sum of.
        terms = [{k} for k in range(_BITS)]
        for k in range(_STEP):
            total: set[int] = set()
            for tap in FEEDBACK:
                total ^= terms[k + tap]
            terms.append(total)
        m.d.comb += self.bits.eq(window[:_STEP])
        with m.If(self.restart):
            m.d.sync += [window.eq(_number(0)), self.none.eq(0), self.last.eq(0)]
        with m.Elif(self.clear):
            m.d.sync += [window.eq(0), self.none.eq(1), self.last.eq(0)]
        with m.Elif(self.advance):
            m.d.sync += [
                *(
                    window[k].eq(_sum([window[term] for term in sorted(terms[k + _STEP])]))
                    for k in range(_BITS)
                ),
                self.last.eq(window == _number(ROUNDS - 2)),
            ]
        return m

    def word(self, width: int, place: Value) -> dict[int, Value]:
        """Bits of word `place` of the constant by their place in it; the others are 0."""
        found: dict[int, Value] = {}
        for k, bit in enumerate(CONSTANT_BITS):
            here = self.bits[k] & (place == bit // width) if len(place) else self.bits[k]
            found[bit % width] = found[bit % width] | here if bit % width in found else here
        return found


def _sum(bits: list[Value]) -> Value:
    total = bits[0]
    for bit in bits[1:]:
        total ^= bit
    return total
