"""Where a program's outputs go: to the byte memory, a comparison, or a sampler."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.keccak.sponge_padding import BUS_WORD
from coprime.cells.target import Target
from coprime.lattice.memory.byte_memory import WORD_BITS, addressed_word
from coprime.lattice.memory.sample_buffer import NUMBER_PAIR, PAIR

from .instructions import (
    DRAWN_WORDS,
    LARGEST_OUTPUT,
    REPEATS,
    SMALL,
    AssembledProgram,
    Destination,
    Format,
)
from .large_sampler import LargeSampler
from .number_pair_sampler import NumberPairSampler
from .pair_sampler import PairSampler
from .sampler import Sampler

REPEATS_BITS = (REPEATS - 1).bit_length()
"""Width of how often a polynomial is repeated with one more block."""


def destination_layout(
    widths: Format, address_bits: int, resume: data.StructLayout
) -> data.StructLayout:
    """A destination: the address of bytes, in units; for a polynomial that may need more bytes,
    what its program needs to sample it again, and how many more blocks than at first it is squeezed
    from."""
    return data.StructLayout(
        {
            "destination": widths.destination,
            "base": address_bits - widths.group_bits,
            "repeats": REPEATS_BITS,
            "resume": resume,
        }
    )


def samples_layout(program: AssembledProgram, *, samples_pairs: bool) -> data.StructLayout:
    """What the samples of a program are: ML-DSA's in pairs are wider than the others."""
    return NUMBER_PAIR if program.large and samples_pairs else PAIR


_LARGE_PORTS = {
    "copied": In(stream.Signature(BUS_WORD)),
    "start": In(1),
    **dict.fromkeys(("compares", "differs", "wiping", "wrong"), Out(1)),
    "word": In(WORD_BITS),
    "agrees": Out(1, init=1),
    "compared": Out(range(LARGEST_OUTPUT)),
}


class OutputRouter(wiring.Component):
    """A queue of two destinations, of which the first one takes its output.

    A word for the byte memory takes two cycles, in the first of which the memory takes it. A random
    word takes a cycle for each byte and these two. A word of a comparison takes two; only one
    destination of a comparison or a copy is in the queue, and nobody else reads the byte memory
    meanwhile.

    Parameters
    ----------
    program (AssembledProgram): whose destinations these are
    address_bits (int): of the byte memory
    resume : layout of what a program needs to go on from an instruction
    target (Target): LUTs are placed on xc7
    samples_pairs (bool): uniform pairs of ML-KEM come up to one a cycle, and so do all samples of
        ML-DSA, two numbers each; not of programs of both

    Members
    -------
    next (in): a stream of destinations; ready while there is none but the first one
    words (in): outputs of a hash unit, all of whole words of 4 bytes
    random (in): bytes
    writes (out): of ByteMemory
    samples, restart, at_last (out, out, in): of SampleBuffer: a pair, or of ML-DSA a number of
        signed 24 bits in the low bits, 0 above; with `samples_pairs` of ML-DSA, NUMBER_PAIR
    idle (1 bit, out): there is no destination
    waits (1 bit, out): a random byte is missing
    fails (1 bit, out): a polynomial's bytes did not suffice; both destinations are forgotten, and
        the words of the polynomial with `restart`
    first (out): the first destination, valid with `fails`
    wipe (1 bit, in): forget all destinations, and clear what has held a secret

    Of large programs only:

    copied (in): words of a range that is copied
    start (1 bit, in): nothing is compared yet
    compares (1 bit, out): a word is compared, and `address` read; before, its message is absorbed
    address (out), word (in): of the byte memory; the word a cycle after its address
    differs, agrees (1 bit each, out): since `start`, some compared word differed; all were equal;
        there in the second cycle in which the router is idle
    compared (5 bits, out): words that were compared since, at the same time
    wiping (1 bit, out): a sampler's memory is cleared, as it is after a reset
    wrong (1 bit, out): an address or a destination has changed since the program gave it: bytes
        that are written elsewhere leave a seed as it was before, and so a mask that is known
    """

    def __init__(
        self,
        program: AssembledProgram,
        address_bits: int,
        resume: data.StructLayout,
        target: Target = Target.GENERIC,
        *,
        samples_pairs: bool = False,
    ):
        self.widths, self.large = program.format, program.large
        assert not (samples_pairs and self.large) or all(program.large_sets)
        kind = PairSampler if samples_pairs else Sampler
        self.sampler = None if all(program.large_sets) else kind(Target(target))
        """Of ML-KEM."""
        large_kind = NumberPairSampler if samples_pairs else LargeSampler
        self.large_sampler = large_kind() if self.large else None
        """Of ML-DSA."""
        samples = samples_layout(program, samples_pairs=samples_pairs)
        self.complement = Signal(address_bits)  # of `address`
        layout = destination_layout(self.widths, address_bits, resume)
        super().__init__(
            {
                "next": In(stream.Signature(layout)),
                "words": In(stream.Signature(BUS_WORD)),
                "random": In(stream.Signature(8)),
                "writes": Out(stream.Signature(addressed_word(address_bits))),
                "samples": Out(stream.Signature(samples)),
                "restart": Out(1),
                "at_last": In(1),
                **dict.fromkeys(("idle", "waits", "fails"), Out(1)),
                "first": Out(layout),
                "wipe": In(1),
                **({"address": Out(address_bits)} | _LARGE_PORTS if self.large else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The first destination, and the one after it."""
        m = Module()
        first = self.first
        second = Signal.like(self.next.payload)
        active, waiting, ends, moves = Signal(), Signal(), Signal(), Signal()
        known = [
            destination
            for destination in Destination
            if destination.value < Destination.UNIFORM.value
        ]
        into = {destination: Signal() for destination in (known if self.large else known[:2])}
        m.d.comb += [
            self.idle.eq(~active & ~waiting),
            self.next.ready.eq(~waiting),
            *(
                found.eq(active & (first.destination == destination.value))
                for destination, found in into.items()
            ),
        ]
        ended = self._sample(m, active)
        address, last = self._address(m, into[Destination.DRAWN], active, waiting, second, moves)
        self._move(m, into, moves, address)
        m.d.comb += ends.eq(ended | (moves & last))
        with m.If(ends):
            m.d.sync += active.eq(0)
        with m.If(~active & waiting):
            m.d.sync += [active.eq(1), waiting.eq(0), first.eq(second)]
        with m.If(self.next.valid & self.next.ready):
            m.d.sync += [waiting.eq(1), second.eq(self.next.payload)]
        with m.If(self.fails | self.wipe):
            m.d.sync += [active.eq(0), waiting.eq(0)]
        if self.large:
            self._check(m, active, waiting, second)
            # What a mask is made of zeros is not 0.
            with m.If(self.wipe):
                m.d.sync += first.destination.eq(Destination.BYTES.value)
        return m

    def _address(
        self,
        m: Module,
        is_drawn: Value,
        active: Value,
        waiting: Value,
        second: Signal,
        moves: Value,
    ) -> tuple[Value, Value]:
        """The address of a word, and whether it is the destination's last one."""
        words, first = self.words.payload, self.first
        if not self.large:
            # Two seeds begin at a multiple of two.
            count = Signal(SMALL.group_bits + 1)
            with m.If(moves):
                m.d.sync += count.eq(count + 1)
            with m.If(~active):
                m.d.sync += count.eq(0)
            address = Cat(count[:-1], first.base[0] | count[-1], first.base[1:])
            return address, Mux(is_drawn, count == DRAWN_WORDS - 1, words.last)
        address, complement, base = self.address, self.complement, Signal.like(self.address)
        m.d.comb += base.eq(Cat(Const(0, self.widths.group_bits), second.base))
        with m.If(moves):
            m.d.sync += [address.eq(address + 1), complement.eq(complement - 1)]
        with m.If(~active & waiting):
            m.d.sync += [address.eq(base), complement.eq(~base)]
        drawn_last = address[: DRAWN_WORDS.bit_length() - 1].all()
        is_copied = first.destination == Destination.COPIED.value
        last = Mux(is_copied, self.copied.payload.last, words.last)
        return address, Mux(is_drawn, drawn_last, last)

    def _check(self, m: Module, active: Value, waiting: Value, second: Signal) -> None:
        """The address beside its complement, and the parities of both destinations."""
        given, first_parity, second_parity = self.next.payload, Signal(), Signal()
        with m.If(self.next.valid & self.next.ready):
            m.d.sync += second_parity.eq(Cat(given.base, given.destination).xor())
        with m.If(~active & waiting):
            m.d.sync += first_parity.eq(second.destination.xor())
        m.d.comb += self.wrong.eq(
            (waiting & (Cat(second.base, second.destination).xor() ^ second_parity))
            | (active & (self.first.destination.xor() ^ first_parity))
            | (active & (self.address != ~self.complement))
        )

    def _sample(self, m: Module, active: Value) -> Value:
        """Words become polynomials; whether one has ended."""
        kind, samples = self.first.destination, self.samples
        fails, ends = [], []
        payload: Value = Const(0, len(samples.payload.as_value()))
        samplers = [source for source in (self.sampler, self.large_sampler) if source]
        if self.sampler is not None:
            m.submodules.sampler = sampler = self.sampler
            is_own = kind[2] & ~kind[3] if self.large else kind[2]
            payload = sampler.samples.payload.as_value()
            m.d.comb += [
                sampler.enable.eq(active & is_own),
                sampler.destination.eq(kind[: len(sampler.destination)]),
            ]
            fails.append(sampler.ends & ~sampler.suffices)
            ends.append(sampler.ends)
        if self.large_sampler is not None:
            # A destination is 8 more than its Sample, or one of three challenges: 14, 15 and 9.
            name = "large_sampler" if self.sampler else "sampler"
            m.submodules[name] = large = self.large_sampler
            numbers = Value.cast(large.samples.payload)
            payload = (
                Mux(kind[3], numbers.as_unsigned(), payload)
                if self.sampler
                else numbers.as_unsigned()
            )
            m.d.comb += [
                large.enable.eq(active & kind[3]),
                # Only while it is active, so that samples are 0 while the buffer is wiped.
                large.is_ball.eq(active & ((kind[1:] == 7) | (kind == Destination.BALL_60.value))),
                Value.cast(large.sample).eq(kind[:3]),
                large.tau.eq(Mux(kind[1], kind[0], 2)),
                self.wiping.eq(large.wiping),
            ]
            fails.append(active & large.ends & ~large.suffices)
            ends.append(active & large.ends)
        for source in samplers:
            m.d.comb += [
                source.words.payload.eq(self.words.payload),
                source.words.valid.eq(self.words.valid),
                source.at_last.eq(self.at_last),
                source.wipe.eq(self.wipe),
                source.samples.ready.eq(samples.ready),
            ]
        m.d.comb += [
            samples.valid.eq(Cat(source.samples.valid for source in samplers).any()),
            samples.payload.as_value().eq(payload),
            self.fails.eq(Cat(fails).any()),
            self.restart.eq(self.fails | self.wipe),
        ]
        return Cat(ends).any()

    def _move(
        self, m: Module, into: dict[Destination, Signal], moves: Signal, address: Value
    ) -> None:
        """Words for the byte memory, or compared with it, in two cycles each."""
        words, writes = self.words, self.writes
        is_drawn = into[Destination.DRAWN]
        drawn, gathered = Signal(WORD_BITS), Signal(3)  # 4: there is a word
        is_second, offers = Signal(), Signal()
        hashed, compares, copies = into[Destination.BYTES], Const(0), Const(0)
        found = words.payload.data
        if self.large:
            hashed = hashed | into[Destination.COMPARED]
            compares, is_copied = self.compares, into[Destination.COPIED]
            copies = is_copied & self.copied.valid
            found = Mux(is_copied, self.copied.payload.data, found)
            m.d.comb += [
                compares.eq(into[Destination.COMPARED] & words.valid),
                self.copied.ready.eq(is_copied & moves),
            ]
            self._compare(m, compares & moves)
        m.d.comb += [
            offers.eq((is_drawn & gathered[2]) | copies | (hashed & words.valid)),
            self.random.ready.eq(is_drawn & ~gathered[2]),
            self.waits.eq(self.random.ready & ~self.random.valid),
            writes.valid.eq(offers & ~is_second & ~compares),
            writes.payload.address.eq(address),
            writes.payload.data.eq(
                Mux(self.first.destination == Destination.DRAWN.value, drawn, found)
            ),
            moves.eq(offers & is_second),
            words.ready.eq(
                (hashed & moves)
                | Cat(
                    source.words.ready for source in (self.sampler, self.large_sampler) if source
                ).any()
            ),
        ]
        with m.If(offers & (writes.ready | compares)):
            m.d.sync += is_second.eq(1)
        with m.If(moves):
            m.d.sync += is_second.eq(0)
            with m.If(is_drawn):
                m.d.sync += gathered.eq(0)
        with m.If(self.random.ready & self.random.valid):
            m.d.sync += [
                drawn.eq(drawn >> 8 | self.random.payload << WORD_BITS - 8),
                gathered.eq(gathered + 1),
            ]
        with m.If(self.wipe):
            m.d.sync += [register.eq(0) for register in (drawn, gathered, is_second)]

    def _compare(self, m: Module, compares: Value) -> None:
        """Two accumulators, complementary from the first comparison on, two cycles after a word: a
        block RAM gives it late in its cycle, so that pairs of its bits are compared first."""
        hashed, pairs = self.words.payload.data, range(0, WORD_BITS, 2)
        was_compared, equal = Signal(), Signal(len(pairs))
        m.d.sync += [
            was_compared.eq(compares),
            equal.eq(Cat(hashed[k : k + 2] == self.word[k : k + 2] for k in pairs)),
        ]
        with m.If(was_compared):
            m.d.sync += [
                self.differs.eq(self.differs | ~equal.all()),
                self.agrees.eq(self.agrees & equal.all()),
                self.compared.eq(self.compared + 1),
            ]
        with m.If(self.start | self.wipe):
            m.d.sync += [self.differs.eq(0), self.agrees.eq(1), self.compared.eq(0)]
            m.d.sync += was_compared.eq(0)
