"""The engine `lattice` of ML-DSA: one DSP slice, with Keccak next to it.

Source: FIPS 204. Cycles: `LargeDesign.predict`.
"""

from collections.abc import Callable, Mapping

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import connect, flipped
from amaranth.utils import bits_for

from coprime.calls.interface import WIPE, WORD_BYTES
from coprime.calls.ports import CallSignature
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.engine.capabilities import Error
from coprime.model.lattice.large_arithmetic import N
from coprime.model.lattice.ml_dsa import ITERATIONS
from coprime.model.lattice.ml_dsa_sets import HASH_BYTES, MlDsaSet

from .arithmetic.large_side import LargeSide
from .large_host_port import LargeHostPort
from .large_order import RoutineOrder
from .memory.byte_memory import ByteMemory
from .memory.places import words_needed
from .memory.sample_buffer import SampleBuffer
from .memory.semaphore import Semaphore
from .ml_dsa_interface import ml_dsa_interface
from .programs.ml_dsa import ml_dsa_programs
from .programs.ml_dsa_entries import RND, XI, MlDsaRoutine
from .sponge_side.sponge_side import SpongeSide

MOST_POSTS = 15
"""The arithmetic side is at most 8 rows ahead."""


class LargeEngine(wiring.Component):
    """Key pairs, signatures and their verification. Ports: CallSignature.

    | states | action |
    |---|---|
    | CLEAR | after a reset, a fault, or for WIPE: all memories are cleared |
    | IDLE | slots are loaded and read |
    | RUN | both sides execute their programs, routine by routine, until there is a fault |

    While a message is streamed those cycles count in which the sponge computes, so that their
    number does not depend on the stream's words.

    A fault is a word of the byte memory, or an instruction of the arithmetic side, with a wrong
    parity; comparisons that contradict each other, or are not complete; masks that were not the
    same when they were sampled again; a signature of the engine that is wrong, or needs more than
    814 iterations; and a memory that is cleared meanwhile. The call ends with FAULT after
    everything was cleared.

    Parameters
    ----------
    sets (tuple of MlDsaSet): the parameter sets
    slices (int): of Keccak's state in a cycle: 4, 8, 16, 32 or 64
    verify_only (bool): signatures are verified, and no private key can be loaded
    readable (bool): sk can be read
    check_signatures (bool): a signature is verified before it can be read
    target (Target): XC7 places LUTs and one DSP48E1
    """

    def __init__(
        self,
        sets: tuple[MlDsaSet, ...],
        slices: int,
        *,
        verify_only: bool,
        readable: bool,
        check_signatures: bool,
        target: Target = Target.GENERIC,
    ):
        self.sets, self.target, self.verify_only = sets, Target(target), verify_only
        self.interface = ml_dsa_interface(sets, verify_only=verify_only, readable=readable)
        self.programs = ml_dsa_programs(sets, verify_only=verify_only)
        self.memory = ByteMemory(words_needed(self.programs.places), self.target)
        bits = self.memory.address_bits
        self.samples = SampleBuffer(polynomial_words=N, target=self.target)
        self.sponge = SpongeSide(slices, self.programs.sponge, bits, self.target)
        self.arithmetic = LargeSide(
            self.programs.arithmetic, bits, self.target, verify_only=verify_only
        )
        self.order = RoutineOrder(self.interface, check_signatures=check_signatures)
        self.host = LargeHostPort(self.interface, self.programs.places, bits)
        super().__init__(CallSignature(self.interface))

    def elaborate(self, platform: object) -> Module:
        """Connect the parts, and control both sides."""
        m = Module()
        m.submodules.memory = memory = self.memory
        m.submodules.samples = samples = self.samples
        m.submodules.sponge = sponge = self.sponge
        m.submodules.arithmetic = arithmetic = self.arithmetic
        m.submodules.host = host = self.host
        m.submodules.to_sponge = to_sponge = Semaphore(MOST_POSTS)
        connect(m, flipped(self.load), host.load)
        connect(m, host.output, flipped(self.output))
        connect(m, host.stream, sponge.stream)
        connect(m, host.loads, memory.loads)
        connect(m, sponge.writes, memory.writes)
        connect(m, arithmetic.bytes, memory.arithmetic)
        connect(m, sponge.samples, samples.samples)
        if self.interface.draws:
            connect(m, flipped(self.random), sponge.random)
        m.d.comb += [
            *same_named(host, self, "read_slot", "read_restart", "parameter_set", "complete"),
            *same_named(memory, host, "host_address"),
            *same_named(host, memory, "word"),
            memory.address.eq(sponge.address),
            sponge.word.eq(memory.word),
            samples.restart.eq(sponge.restart),
            sponge.at_last.eq(samples.at_last),
            samples.address.eq(arithmetic.sample_address),
            samples.release.eq(arithmetic.release),
            arithmetic.full.eq(samples.full),
            arithmetic.sample.eq(samples.word),
            sponge.rejected.eq(arithmetic.rejected),
            to_sponge.post.eq(arithmetic.post),
            sponge.available.eq(to_sponge.available),
            to_sponge.take.eq(sponge.take),
            *(side.parameter_set.eq(self.parameter_set) for side in (sponge, arithmetic)),
            self.multiplying.eq(arithmetic.multiplying),
        ]
        self._control(m)
        return m

    def _control(self, m: Module) -> None:
        """CLEAR, IDLE and RUN."""
        sponge, arithmetic = self.sponge, self.arithmetic
        m.submodules.order = order = self.order
        begins, wipes, idle, clears = (Signal() for _ in range(4))
        faulty, error = Signal(), Signal(Error)
        routine = order.routine
        parts = (self.memory, self.samples, sponge, arithmetic)
        wiping = Cat(part.wiping for part in parts).any()
        m.d.comb += [
            sponge.entry.eq(_by_routine(sponge.program.entries, order.next)),
            arithmetic.entry.eq(_by_routine(arithmetic.program.entries, order.next)),
            sponge.start.eq(begins),
            arithmetic.start.eq(begins & ~_is(order.next, lambda one: one.hashes_only)),
            *(part.wipe.eq(wipes) for part in parts),
            self.host.idle.eq(idle),
            self.memory.host_reads.eq(idle),
            self.host.streams.eq(self.busy & _is(routine, lambda one: one.streams)),
            *same_named(order, self, "call", "complete"),
            order.start.eq(idle),
            order.begins.eq(begins),
            order.invalid.eq(
                sponge.differs | (arithmetic.exceeds & ~_is(routine, lambda one: one.hashes_only))
            ),
        ]
        for bit, name in ({} if self.verify_only else {XI: "xi", RND: "rnd"}).items():
            m.d.comb += sponge.present[bit].eq(self.complete[self.interface.slot[name].number])
        ended = ~sponge.busy & ~arithmetic.busy
        wrong = Cat(
            *(arithmetic.fault, self.memory.wrong, wiping),
            ended & self._contradicts(routine),
            ended & (routine == MlDsaRoutine.SIGN) & ~arithmetic.cancels,
            self._is_endless(m, begins),
        ).any()
        m.d.comb += self.error.eq(Mux(faulty, Error.FAULT, error))
        with m.FSM(init="CLEAR"):
            with m.State("CLEAR"):
                m.d.comb += [clears.eq(1), self.busy.eq(1), self.working.eq(1)]
                m.d.comb += self.done.eq(~wiping)
                with m.If(~wiping):
                    m.next = "IDLE"
            with m.State("IDLE"):
                m.d.comb += idle.eq(1)
                with m.If(self.start):
                    m.d.sync += [faulty.eq(0), error.eq(Error.NONE)]
                    m.next = "RUN"
                    m.d.comb += begins.eq(self.call != WIPE)
                    with m.If(self.call == WIPE):
                        m.d.comb += wipes.eq(1)
                        m.next = "CLEAR"
            with m.State("RUN"):
                streams = _is(routine, lambda one: one.streams)
                m.d.comb += [
                    self.busy.eq(1),
                    self.working.eq(Mux(streams, sponge.computes, ~sponge.waits)),
                ]
                with m.If(wrong | (ended & order.fails)):
                    m.d.comb += wipes.eq(1)
                    m.d.sync += faulty.eq(1)
                    m.next = "CLEAR"
                with m.Elif(ended & order.follows):
                    m.d.comb += begins.eq(1)
                with m.Elif(ended):
                    m.d.comb += [self.done.eq(1), self.error.eq(order.error)]
                    m.d.sync += error.eq(order.error)
                    m.next = "IDLE"
        m.d.comb += self.given.eq(Mux(clears, 0, order.given))

    def _is_endless(self, m: Module, begins: Value) -> Value:
        """As many iterations of a signature were rejected as never are."""
        rejections = Signal(range(ITERATIONS + 1))
        with m.If(self.sponge.rejects):
            m.d.sync += rejections.eq(rejections + 1)
        with m.If(begins):
            m.d.sync += rejections.eq(0)
        return rejections == ITERATIONS

    def _contradicts(self, routine: Value) -> Value:
        """Comparisons contradict each other, or are not all there."""
        sponge = self.sponge
        words = [one.challenge_bytes // WORD_BYTES for one in self.sets]
        challenge = look_up(words, self.parameter_set, len(sponge.compared))
        # MATCH compares tr, CHECK_SK also a hash of t0: 16 words each.
        tr = HASH_BYTES // WORD_BYTES
        count = (1 << len(sponge.compared)) - 1
        expected = Mux(
            routine == MlDsaRoutine.VERIFY,
            challenge,
            Mux(routine == MlDsaRoutine.MATCH, tr, 2 * tr & count),
        )
        compares = _is(routine, lambda one: one.compares)
        return compares & ((sponge.differs == sponge.agrees) | (sponge.compared != expected))


def _is(routine: Value, holds: Callable[[MlDsaRoutine], bool]) -> Value:
    """Whether something holds for a routine."""
    return look_up([holds(one) for one in MlDsaRoutine], routine, 1)


def _by_routine(entries: Mapping[str, int], routine: Value) -> Value:
    """Where a routine begins."""
    rows = [entries.get(one.name, 0) for one in MlDsaRoutine]
    return look_up(rows, routine, max(1, bits_for(max(rows))))
