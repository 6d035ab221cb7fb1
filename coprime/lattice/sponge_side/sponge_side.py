"""The sponge side: a program of messages, from bytes to bytes and sampled polynomials."""

from amaranth.hdl import Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.cells.keccak.hash_unit import HashUnit
from coprime.cells.keccak.sponge_padding import BUS_WORD
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.lattice.memory.byte_memory import WORD_BITS, addressed_word

from .absorber import Absorber
from .instructions import LARGEST_OUTPUT, AssembledProgram
from .output_router import OutputRouter, samples_layout
from .sequencer import PRESENT_BITS, SpongeSequencer, length_bits


class SpongeSideSignature(wiring.Signature):
    """Ports of the sponge side.

    Members
    -------
    start (1 bit, in): begin at instruction `entry`, with `row`, `column` and `nonce` 0; only while
        `busy` and `wiping` are 0
    entry (in), parameter_set (in): the latter stable while `busy`
    present (4 bits, in): DRAW of a bit that is 1 does nothing; stable while `busy`
    busy (1 bit, out): from the cycle after `start` to the one in which END is executed
    done (1 bit, out): END is executed: the last busy cycle
    waits (1 bit, out): nothing but a random byte is waited for in this cycle
    random (in): bytes for DRAW
    address, word (out, in): a word of the byte memory, a cycle after its address
    writes (out): of ByteMemory
    samples, restart, at_last, (out, out, in): of SampleBuffer; `samples` as of OutputRouter
    post (1 bit, out): POST is executed
    available, take (in, out): of the semaphore that AWAIT waits for
    wipe (1 bit, in): end, and clear whatever has held a secret
    wiping (1 bit, out): this is under way, as it is after a reset

    Of large programs only:

    stream (in): the rest of a message, its last word marked
    rejected (1 bit, in): what a LOOP over REJECTED asks for
    computes (1 bit, out): of a hash unit
    differs, agrees, compared (out): of OutputRouter, since `start`
    wrong (1 bit, out): of OutputRouter
    rejects (1 bit, out): of SpongeSequencer

    Of a masked hash unit only:

    reseed (1 bit, in), seeded (1 bit, out): of it; a seed is taken from `random` before `start`
    """

    def __init__(
        self,
        address_bits: int,
        program: AssembledProgram,
        *,
        masked: bool = False,
        samples_pairs: bool = False,
    ):
        samples = samples_layout(program, samples_pairs=samples_pairs)
        super().__init__(
            {
                "start": In(1),
                "entry": In(program.counter_bits),
                "parameter_set": In(program.set_bits),
                "present": In(PRESENT_BITS),
                **dict.fromkeys(("busy", "done", "waits"), Out(1)),
                "random": In(stream.Signature(8)),
                "address": Out(address_bits),
                "word": In(WORD_BITS),
                "writes": Out(stream.Signature(addressed_word(address_bits))),
                "samples": Out(stream.Signature(samples)),
                "restart": Out(1),
                "at_last": In(1),
                "post": Out(1),
                "available": In(1),
                "take": Out(1),
                "wipe": In(1),
                "wiping": Out(1),
                **(_LARGE_PORTS if program.large else {}),
                **({"reseed": In(1), "seeded": Out(1)} if masked else {}),
            }
        )


_LARGE_PORTS = {
    "stream": In(stream.Signature(BUS_WORD)),
    "rejected": In(1),
    **dict.fromkeys(("computes", "differs", "agrees", "rejects", "wrong"), Out(1)),
    "compared": Out(range(LARGEST_OUTPUT)),
}


class SpongeSide(wiring.Component):
    """A hash unit with two blocks, and the program that feeds it. Ports: SpongeSideSignature.

    Cycles: `SpongeSideTwin`, to the cycle.

    Parameters
    ----------
    slices (int): of Keccak's state in a cycle: 4, 8, 16, 32 or 64
    program (AssembledProgram)
    address_bits (int): of the byte memory
    target (Target): LUTs are placed on xc7
    masked (bool): the hash unit computes in two shares
    samples_pairs (bool): as of OutputRouter; messages are then read a word a cycle
    """

    def __init__(
        self,
        slices: int,
        program: AssembledProgram,
        address_bits: int,
        target: Target = Target.GENERIC,
        *,
        masked: bool = False,
        samples_pairs: bool = False,
    ):
        self.hash_unit = HashUnit(
            *(slices, 2, length_bits(program), target), whole_outputs=True, masked=masked
        )
        self.program, self.address_bits, self.target = program, address_bits, Target(target)
        self.samples_pairs = samples_pairs
        self.sequencer = SpongeSequencer(program, address_bits, self.target)
        self.router = OutputRouter(
            *(program, address_bits, self.sequencer.resume, self.target),
            samples_pairs=samples_pairs,
        )
        super().__init__(
            SpongeSideSignature(address_bits, program, masked=masked, samples_pairs=samples_pairs)
        )

    def elaborate(self, platform: object) -> Module:
        """Connect the parts."""
        m = Module()
        m.submodules.hash_unit = hash_unit = self.hash_unit
        m.submodules.sequencer = sequencer = self.sequencer
        m.submodules.absorber = absorber = Absorber(
            *(self.program.format, self.address_bits, self.target),
            every_cycle=self.samples_pairs,
        )
        m.submodules.router = router = self.router
        connect(m, sequencer.commands, hash_unit.command)
        connect(m, sequencer.destinations, router.next)
        connect(m, sequencer.ranges, absorber.ranges)
        connect(m, sequencer.tails, absorber.tails)
        connect(m, hash_unit.output, router.words)
        if hash_unit.masked:
            m.d.comb += [
                *same_named(hash_unit, self, "reseed"),
                *same_named(self, hash_unit, "seeded"),
                hash_unit.random.payload.eq(self.random.payload),
                hash_unit.random.valid.eq(self.random.valid),
                router.random.payload.eq(self.random.payload),
                router.random.valid.eq(self.random.valid & ~hash_unit.random.ready),
                self.random.ready.eq(hash_unit.random.ready | router.random.ready),
            ]
        else:
            connect(m, flipped(self.random), router.random)
        connect(m, router.writes, flipped(self.writes))
        connect(m, router.samples, flipped(self.samples))
        m.d.comb += [
            *same_named(
                sequencer, self, "start", "entry", "parameter_set", "present", "available", "wipe"
            ),
            *same_named(self, sequencer, "busy", "done", "post", "take"),
            *same_named(absorber, self, "word", "wipe"),
            *same_named(router, self, "at_last", "wipe"),
            *same_named(self, router, "waits", "restart"),
            *same_named(sequencer, router, "fails"),
            sequencer.settled.eq(router.idle),
            sequencer.failed.eq(router.first),
            sequencer.forgotten.eq(~hash_unit.wiping),
            absorber.forget.eq(router.fails),
            hash_unit.wipe.eq(self.wipe | router.fails),
        ]
        if self.program.large:
            self._connect_large(m)
        else:
            connect(m, absorber.message, hash_unit.message)
            m.d.comb += [
                self.address.eq(absorber.address),
                self.wiping.eq(hash_unit.wiping & ~sequencer.busy),
            ]
        return m

    def _connect_large(self, m: Module) -> None:
        """What large programs have besides."""
        sequencer, router, absorber = self.sequencer, self.router, m.submodules.absorber
        connect(m, flipped(self.stream), absorber.stream)
        m.d.comb += [
            # A hash unit takes no message without a command, and a copy has none.
            self.hash_unit.message.payload.eq(absorber.message.payload),
            self.hash_unit.message.valid.eq(absorber.message.valid),
            router.copied.payload.eq(absorber.message.payload),
            router.copied.valid.eq(absorber.message.valid),
            absorber.message.ready.eq(self.hash_unit.message.ready | router.copied.ready),
            *same_named(sequencer, self, "rejected"),
            *same_named(router, self, "start", "word"),
            *same_named(self, router, "differs", "agrees", "compared", "wrong"),
            *same_named(self, self.hash_unit, "computes"),
            *same_named(self, sequencer, "rejects"),
            self.address.eq(Mux(router.compares, router.address, absorber.address)),
            self.wiping.eq((self.hash_unit.wiping | router.wiping) & ~sequencer.busy),
        ]
