"""Polynomials modulo 8380417 from bytes: uniform, short, and masks.

Source: FIPS 204, algorithms 14, 15, 30, 31 and 34; the model is
`../../model/lattice/ml_dsa_sampling.py`.
"""

import enum

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.lattice.memory.sample_buffer import NUMBER
from coprime.model.lattice.ml_dsa_sampling import short, uniform
from coprime.model.lattice.ml_dsa_sets import Q

COEFFICIENT = NUMBER


class Sample(enum.Enum):
    """What a polynomial is sampled from bytes as."""

    UNIFORM = 0  # numbers of 23 bits below q
    SHORT_2 = 2  # half bytes, to [-2, 2]
    SHORT_4 = 3  # half bytes, to [-4, 4]
    MASK_18 = 4  # 2^17 less numbers of 18 bits
    MASK_20 = 5  # 2^19 less numbers of 20 bits


PHASES = {Sample.UNIFORM: 3, Sample.MASK_18: 9, Sample.MASK_20: 5}
"""Bytes until a coefficient begins with a byte again."""
WIDTHS = {Sample.UNIFORM: 24, Sample.MASK_18: 18, Sample.MASK_20: 20}
"""Bits from a number's first bit to the next one's."""
_PHASE_BITS = 4
_NUMBER_BITS = 20
REFUSED = 8
"""Instead of a coefficient: a half byte is refused."""


def ends_of(sample: Sample) -> dict[int, int]:
    """Where a number's last bit is: the phase of its last byte, and where in this byte and the two
    before it begins."""
    found = {}
    for start in range(0, 8 * PHASES[sample], WIDTHS[sample]):
        last = (start + WIDTHS[sample] - 1) // 8
        found[last] = start - 8 * (last - 2)
    return found


def half_byte_words() -> list[int]:
    """Of a half byte, and a bit more that is 1 for eta = 4: the coefficient's 4 bits."""
    words = []
    for eta in (2, 4):
        for nibble in range(16):
            found = short(bytes([nibble | 0xF0]), eta)
            words.append(found[0] & 15 if found else REFUSED)
    return words


def finds(sample: Sample, data: bytes, step: int) -> bool:
    """Whether a coefficient is found in a step: with a byte, or a half byte of a short one."""
    if sample in (Sample.SHORT_2, Sample.SHORT_4):
        nibble = data[step // 2] >> 4 * (step % 2) & 15
        return half_byte_words()[(sample is Sample.SHORT_4) << 4 | nibble] != REFUSED
    if step % PHASES[sample] not in ends_of(sample):
        return False
    return sample is not Sample.UNIFORM or bool(uniform(data[step - 2 : step + 1]))


class CoefficientSampler(wiring.Component):
    """A coefficient a cycle at most: three bytes make a uniform one, every half byte a short one.

    A mask's coefficient of 18 or 20 bits begins at an even bit of a byte and ends in the second
    byte after it, so that it is selected from three bytes. A coefficient waits in a register.

    Members
    -------
    enable (1 bit, in): there is a polynomial; 0 for a cycle at least before the next one
    sample (in): of Sample, stable while `enable`
    bytes (in): a stream of bytes; ready for all until the polynomial is complete
    samples (out): signed 24 bits: 0 to q - 1, [-eta, eta], or (-gamma1, gamma1]
    at_last (1 bit, in): the next coefficient is the polynomial's last
    completes (1 bit, out): no more bytes are needed
    complete (1 bit, out): the last coefficient was taken
    wipe (1 bit, in): clear what has held a secret; `enable` is 0 in the next cycle
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "enable": In(1),
                "sample": In(Sample),
                "bytes": In(stream.Signature(8)),
                "samples": Out(stream.Signature(COEFFICIENT)),
                "at_last": In(1),
                **dict.fromkeys(("completes", "complete"), Out(1)),
                "wipe": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Three bytes, of which a number is a part."""
        m = Module()
        sample, samples, byte = Value.cast(self.sample), self.samples, self.bytes.payload
        is_short, is_mask = sample[1], sample[2]
        before, phase, is_upper = Signal(16), Signal(_PHASE_BITS), Signal()
        found, step, moves = Signal(), Signal(), Signal()
        offset, ends, wraps = self._phase(phase)
        number = (Cat(before, byte) >> (offset << 1))[:_NUMBER_BITS]
        candidate = Cat(before, byte[:-1])
        nibble = look_up(half_byte_words(), Cat(Mux(is_upper, byte[4:], byte[:4]), sample[0]), 4)
        m.d.comb += [
            found.eq(
                Mux(is_short, nibble != REFUSED, ends & (is_mask | (candidate < Q)))
                & self.bytes.valid
            ),
            moves.eq(~samples.valid | samples.ready),
            self.completes.eq(self.complete | (samples.valid & self.at_last)),
            step.eq(self.bytes.valid & ~self.completes & (~found | moves)),
            self.bytes.ready.eq(step & (is_upper | ~is_short)),
        ]
        with m.If(step):
            m.d.sync += is_upper.eq(~is_upper & is_short)
        with m.If(self.bytes.ready):
            m.d.sync += [before.eq(Cat(before[8:], byte)), phase.eq(Mux(wraps, 0, phase + 1))]
        with m.If(samples.valid & samples.ready & self.at_last):
            m.d.sync += self.complete.eq(1)
        with m.If(moves):
            m.d.sync += samples.valid.eq(found & ~self.completes)
            with m.If(is_short):
                m.d.sync += samples.payload.eq(nibble.as_signed())
            with m.Elif(is_mask):
                gamma1 = Mux(sample[0], 1 << 19, 1 << 17)
                width_mask = Mux(sample[0], (1 << 20) - 1, (1 << 18) - 1)
                m.d.sync += samples.payload.eq(gamma1 - (number & width_mask))
            with m.Else():
                m.d.sync += samples.payload.eq(candidate)
        with m.If(~self.enable):
            m.d.sync += [
                *(register.eq(0) for register in (phase, is_upper, self.complete, samples.valid)),
            ]
        with m.If(self.wipe):
            m.d.sync += [before.eq(0), samples.payload.eq(0)]
        return m

    def _phase(self, phase: Value) -> tuple[Value, Value, Value]:
        """Of the phase: half the bit at which a number begins; whether it ends; the last phase."""
        offsets, ends, wraps = ([0] * (8 << _PHASE_BITS) for _ in range(3))
        for sample, phases in PHASES.items():
            base = sample.value << _PHASE_BITS
            wraps[base + phases - 1] = 1
            for last, start in ends_of(sample).items():
                ends[base + last] = 1
                offsets[base + last] = start // 2
        address = Cat(phase, self.sample)
        return (
            look_up(offsets, address, 2),
            look_up(ends, address, 1),
            look_up(wraps, address, 1),
        )
