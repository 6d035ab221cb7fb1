"""Fresh random bits in every cycle, from a few random bytes: Trivium, many steps a cycle.

Source: `../../model/trivium.py`. That an unrolled Trivium suits masks: Cassiers, Masure, Momin,
Moos, Moradi, Standaert, "Randomness Generation for Secure Hardware Masking - Unrolled Trivium to
the Rescue" (2024). Key and vector enter from the shift registers' begins, as many bits in a cycle
as there are steps. What differs with 40 steps: 1,160 blank steps, 8 more than the specification's.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.model.trivium import (
    BLANK_STEPS,
    KEY_BITS,
    ONES,
    SEED_BYTES,
    STARTS,
    STATE_BITS,
    TAPS,
)

STEPS = (16, 40)
"""In a cycle: so many divide a key into whole parts, and no bit is used twice in a cycle."""


class FreshBits(wiring.Component):
    """Random bits that are new in every cycle once `ready` is 1.

    Parameters
    ----------
    count (int): bits in a cycle, 1 to 40

    Members
    -------
    reseed (1 bit, in): take a new seed of SEED_BYTES bytes; also in the middle of one
    random (in): bytes, of which none is taken while `ready` is 1
    ready (1 bit, out): the bits are of a whole seed; 0 after a reset
    bits (out): `count` bits, zeros while `ready` is 0

    Raises ValueError for another number.
    """

    def __init__(self, count: int):
        if count not in range(1, STEPS[-1] + 1):
            raise ValueError(f"count must be in 1..{STEPS[-1]}, not {count!r}")
        self.count = count
        self.steps = next(steps for steps in STEPS if steps >= count)
        self.parts = KEY_BITS // self.steps
        self.blank_cycles = -(-BLANK_STEPS // self.steps)
        super().__init__(
            {
                "reseed": In(1),
                "random": In(stream.Signature(8)),
                "ready": Out(1),
                "bits": Out(count),
            }
        )

    @property
    def cycles(self) -> int:
        """From `reseed` to `ready`, if no byte is waited for."""
        return SEED_BYTES + self.blank_cycles + 1

    def elaborate(self, platform: object) -> Module:
        """Gather a part of key and vector, shift it in; then blank steps; then output."""
        m = Module()
        # Parts of the key move what is after them to its place.
        state = Signal(STATE_BITS, init=sum(1 << place - KEY_BITS for place in ONES))
        size = 2 * self.steps // 8  # bytes of a part of both
        gathered = Signal(8 * (size - 1))
        byte, part = Signal(range(size)), Signal(range(self.parts))
        blank = Signal(range(self.blank_cycles))
        seeds, blanks, ready, loads = (Signal() for _ in range(4))
        entering = Cat(gathered, self.random.payload)
        leaving, output = self._steps(state)
        m.d.comb += [
            self.random.ready.eq(seeds),
            loads.eq(seeds & self.random.valid & (byte == size - 1)),
            self.ready.eq(ready),
            self.bits.eq(output[: self.count] & ready.replicate(self.count)),
        ]
        with m.If(seeds & self.random.valid):
            m.d.sync += [gathered.eq(entering[8:]), byte.eq(byte + 1)]
        with m.If(loads):
            m.d.sync += [byte.eq(0), part.eq(part + 1)]
            with m.If(part == self.parts - 1):
                m.d.sync += [seeds.eq(0), blanks.eq(1)]
        with m.If(blanks):
            m.d.sync += blank.eq(blank + 1)
            with m.If(blank == self.blank_cycles - 1):
                m.d.sync += [blanks.eq(0), ready.eq(1)]
        with m.If(loads | blanks | ready):
            ends = (*STARTS[1:], STATE_BITS)
            parts = (entering[: self.steps], entering[self.steps :], Const(0, self.steps))
            for place, (begin, end) in enumerate(zip(STARTS, ends, strict=True)):
                new = Mux(loads, parts[place], leaving[place - 1])
                m.d.sync += state[begin:end].eq(Cat(new, state[begin : end - self.steps]))
        with m.If(self.reseed):
            m.d.sync += [state.eq(state.init), seeds.eq(1)]
            m.d.sync += [
                register.eq(0) for register in (byte, part, blank, blanks, ready, gathered)
            ]
        return m

    def _steps(self, state: Value) -> tuple[list[Value], Value]:
        """The bits that leave each register for the next one, the first one the highest, and the
        output, the first bit the lowest: up to 66 steps do not depend on each other."""
        count = self.steps
        output, leaving = Const(0, count), []
        for first, second, third, fourth, fifth in TAPS:
            # Step k takes what is k below a tap.
            taps = (first, second, third, fourth, fifth)
            taken = {tap: state[tap - count + 1 : tap + 1] for tap in taps}
            output = output ^ taken[first] ^ taken[fourth]
            product = taken[second] & taken[third]
            leaving.append(taken[first] ^ product ^ taken[fourth] ^ taken[fifth])
        return leaving, output[::-1]
