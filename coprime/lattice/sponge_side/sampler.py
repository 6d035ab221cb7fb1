"""Polynomials from the bytes of a sponge, a byte a cycle.

Source: FIPS 203, algorithms 7 and 8; the model is `../../model/lattice/sampling.py`.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.keccak.sponge_padding import BUS_WORD
from coprime.cells.luts import select_word
from coprime.cells.tables import place_table
from coprime.cells.target import Target
from coprime.lattice.memory.sample_buffer import LANE_BITS, PAIR
from coprime.model.lattice.sampling import Q

from .instructions import SMALL, Destination

CANDIDATE_BITS = 12
_BINOMIALS = [((row & 7).bit_count() - (row >> 3).bit_count()) & 7 for row in range(64)]
"""The sum of three bits less that of the other three, signed, of 3 bits."""


def sampler_ports(accepts: int = 1) -> dict[str, wiring.Member]:
    """Those of Sampler, with so many bits of `accepts`."""
    return {
        "enable": In(1),
        "destination": In(SMALL.destination),
        "words": In(stream.Signature(BUS_WORD)),
        "samples": Out(stream.Signature(PAIR)),
        "at_last": In(1),
        "ends": Out(1),
        "suffices": Out(1),
        "accepts": Out(accepts),
        "wipe": In(1),
    }


class Sampler(wiring.Component):
    """Pairs of coefficients: uniform, 0 to 3328, or of the centred binomial distribution.

    A word waits in a register while its bytes are used, one a cycle. A uniform polynomial, and one
    of eta = 3, takes three bytes for two numbers of 12 bits: a candidate, or a pair. With eta = 2
    each byte is a pair. A pair is in a register for a cycle. Words after a uniform polynomial's
    last pair are dropped, one a cycle.

    Parameters
    ----------
    target (Target): LUTs are placed on xc7
    uniform (bool): there are uniform polynomials, not only binomial ones

    Members
    -------
    enable (1 bit, in): there is a polynomial; 0 for a cycle at least before the next one
    destination (3 bits, in): of Destination, stable while `enable`
    words (in): words of a hash unit, all of 4 bytes
    samples (out): PAIR. Words are taken only while it is ready, and it must stay ready until the
        polynomial's last pair: so no pair waits. The payload is 0 from two cycles after `wipe`, or
        a reset, on
    at_last (1 bit, in): the next pair is the polynomial's last
    ends (1 bit, out): all bytes are used, and all pairs are taken
    suffices (1 bit, out): with `ends`: the polynomial is complete
    accepts (1 bit, out): a candidate of a uniform polynomial is below q: of all bytes, only these
        decisions change how long sampling takes
    wipe (1 bit, in): clear what has held a secret; `enable` is 0 in the next cycle
    """

    def __init__(self, target: Target = Target.GENERIC, *, uniform: bool = True):
        self.target, self.uniform = Target(target), uniform
        super().__init__(sampler_ports())

    def elaborate(self, platform: object) -> Module:
        """Bytes, then numbers of 12 bits, then pairs."""
        m = Module()
        held, full, used_up = Signal(BUS_WORD), Signal(), Signal()
        index, phase = Signal(2), Signal(range(3))
        before = Signal(8)  # the byte before, where a number begins in it
        byte, number = Signal(8), Signal(CANDIDATE_BITS)
        is_uniform, is_2 = Signal(), Signal()
        # Known a cycle before there are bytes, as what is taken follows from it.
        if self.uniform:
            m.d.sync += is_uniform.eq(self.destination == Destination.UNIFORM.value)
        m.d.sync += is_2.eq(self.destination == Destination.BINOMIAL_2.value)
        m.d.comb += [
            byte.eq(
                select_word(m, [held.data[k : k + 8] for k in range(0, 32, 8)], index, self.target)
            ),
        ]
        with m.If(is_2):  # in the places of eta = 3, of each three bits two
            m.d.comb += number.eq(Cat(Cat(byte[2 * k :][:2], 0) for k in range(4)))
        with m.Elif(phase == 1):
            m.d.comb += number.eq(Cat(before, byte[:4]))
        with m.Else():
            m.d.comb += number.eq(Cat(before[4:], byte))

        # Every other candidate that is accepted completes a pair; `even` is 0 unless uniform.
        even, odd_next, complete = Signal(CANDIDATE_BITS), Signal(), Signal()
        found, ends_pair, completes = Signal(), Signal(), Signal()
        is_candidate = Signal()
        empties, takes = Signal(), Signal()
        samples = self.samples
        m.d.comb += [
            is_candidate.eq(is_uniform & full & (phase != 0)),
            self.accepts.eq(is_candidate & (number < Q)),
            found.eq(is_2 | (~is_uniform & (phase != 0)) | self.accepts),
            ends_pair.eq(found & (~is_uniform | odd_next)),
            completes.eq(complete | (samples.valid & self.at_last & is_uniform)),
            empties.eq(full & (completes | (index == 3))),
            # The word after the last one is another message's.
            takes.eq(self.enable & ~used_up & (~full | (empties & ~held.last))),
            self.words.ready.eq(takes & (samples.ready | complete)),
            self.ends.eq(self.enable & used_up & ~samples.valid),
            self.suffices.eq(~is_uniform | complete),
        ]
        with m.If(empties):
            m.d.sync += [full.eq(0), used_up.eq(held.last)]
        with m.If(self.words.valid & self.words.ready):
            m.d.sync += [full.eq(1), held.eq(self.words.payload)]
        with m.If(full):
            m.d.sync += [
                index.eq(index + 1),
                phase.eq(Mux(phase == 2, 0, phase + 1)),
                before.eq(byte),
                odd_next.eq(odd_next ^ found),
            ]
            with m.If(is_uniform & found & ~odd_next):
                m.d.sync += even.eq(number)
        with m.If(samples.valid & self.at_last):
            m.d.sync += complete.eq(1)
        with m.If(~self.enable):
            m.d.sync += [
                *(
                    register.eq(0)
                    for register in (full, used_up, index, phase, even, odd_next, complete)
                )
            ]

        m.d.sync += samples.valid.eq(full & ends_pair & ~completes)
        self._form_pair(m, is_uniform, even, number)
        with m.If(self.wipe):  # zeros move into the pair
            m.d.sync += [
                *(register.eq(0) for register in (held, full, before, even, samples.valid))
            ]
        return m

    def _form_pair(self, m: Module, is_uniform: Value, even: Value, number: Value) -> None:
        """The register of the pair: two candidates, or both halves of a number as coefficients of
        the binomial distribution. Zeros move in after a reset, too."""
        pair = [
            Signal(CANDIDATE_BITS + 1, name=name, reset_less=True)
            for name in ("even_out", "odd_out")
        ]
        low, high = self._binomial(m, number[:6]), self._binomial(m, number[6:])
        payload = self.samples.payload
        m.d.comb += [
            lane.eq(Cat(coefficient, coefficient[-1].replicate(LANE_BITS - len(coefficient))))
            for lane, coefficient in zip((payload.even, payload.odd), pair, strict=True)
        ]
        m.d.sync += [
            pair[0].eq(Cat(Mux(is_uniform, even[:3], low), even[3:])),
            pair[1].eq(Mux(is_uniform, number, high.as_signed())),
        ]
        with m.If(~is_uniform & low[-1]):  # set, and so without a LUT for each bit
            m.d.sync += pair[0][3:].eq(-1)

    def _binomial(self, m: Module, bits: Value) -> Value:
        table = Module()
        m.submodules += table
        return place_table(table, _BINOMIALS, bits, 3, self.target)
