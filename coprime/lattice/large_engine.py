"""The engine `lattice` of ML-DSA: one DSP slice, with Keccak next to it.

Source: FIPS 204. Cycles: `LargeDesign.predict`.
"""

from collections.abc import Iterable, Mapping

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import connect, flipped
from amaranth.utils import bits_for

from coprime.calls.interface import WIPE
from coprime.calls.ports import CallSignature
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.engine.capabilities import Error
from coprime.model.lattice.large_arithmetic import N
from coprime.model.lattice.ml_dsa_sets import MlDsaSet

from .arithmetic.large_side import LargeSide
from .large_host_port import LargeHostPort
from .memory.byte_memory import ByteMemory
from .memory.places import words_needed
from .memory.sample_buffer import SampleBuffer
from .memory.semaphore import Semaphore
from .ml_dsa_interface import KEY_PAIR_CODE, SIGN_CODE, VERIFY_CODE, ml_dsa_interface
from .programs.ml_dsa import ml_dsa_programs
from .programs.ml_dsa_entries import KEY_PAIR, MU_OF_PK, MU_OF_SK, RND, SIGN, VERIFY, XI
from .sponge_side.sponge_side import SpongeSide

MOST_POSTS = 15
"""Rows that the arithmetic side may be ahead, at most 8, fit."""


class LargeEngine(wiring.Component):
    """Key pairs, signatures and their verification. Ports: CallSignature.

    | states | action |
    |---|---|
    | CLEAR | after a reset, a fault, or for WIPE: all memories are cleared |
    | IDLE | slots are loaded and read |
    | MESSAGE | mu is not complete: the sponge side hashes the message that is streamed |
    | RUN | both sides execute their programs, until both have ended or there is a fault |

    In MESSAGE the cycles count in which the sponge computes, so that their number does not depend
    on the stream's words.

    A fault is a word of the byte memory, or an instruction of the arithmetic side, with a wrong
    parity; comparisons that contradict each other, or are not complete; and a memory that is
    cleared meanwhile. The call ends with FAULT after everything was cleared.

    Parameters
    ----------
    sets (tuple of MlDsaSet): the parameter sets
    slices (int): of Keccak's state in a cycle: 4, 8, 16, 32 or 64
    verify_only (bool): signatures are verified, and no private key can be loaded
    readable (bool): sk can be read
    target (Target): XC7 places LUTs and one DSP48E1
    """

    def __init__(
        self,
        sets: tuple[MlDsaSet, ...],
        slices: int,
        *,
        verify_only: bool,
        readable: bool,
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
        """CLEAR, IDLE, MESSAGE and RUN."""
        sponge, arithmetic = self.sponge, self.arithmetic
        number = {one.name: one.number for one in self.interface.slots}
        hashes, begins, wipes, idle = Signal(), Signal(), Signal(), Signal()
        clears, call, streams = Signal(), Signal.like(self.call), Signal()
        faulty, verifies, which = Signal(), Signal(), Signal(2)
        parts = (self.memory, self.samples, sponge, arithmetic)
        wiping = Cat(part.wiping for part in parts).any()
        m.d.comb += [
            which.eq(Mux(idle, self.call, call) - KEY_PAIR_CODE),
            sponge.entry.eq(self._entry(sponge.program.entries, Cat(which, hashes))),
            sponge.start.eq(hashes | begins),
            arithmetic.entry.eq(self._entry(arithmetic.program.entries, Cat(which, Const(0, 1)))),
            arithmetic.start.eq(begins),
            *(part.wipe.eq(wipes) for part in parts),
            self.host.idle.eq(idle),
            self.memory.host_reads.eq(idle),
            self.host.streams.eq(streams),
        ]
        for bit, name in ({} if self.verify_only else {XI: "xi", RND: "rnd"}).items():
            m.d.comb += sponge.present[bit].eq(self.complete[number[name]])
        ended = ~sponge.busy & ~arithmetic.busy
        wrong = arithmetic.fault | self.memory.wrong | wiping
        contradicts = verifies & (
            (sponge.differs == sponge.agrees)
            | (
                sponge.compared
                != look_up(
                    [one.challenge_bytes // 4 for one in self.sets],
                    self.parameter_set,
                    len(sponge.compared),
                )
            )
        )
        with m.If(faulty):
            m.d.comb += self.error.eq(Error.FAULT)
        with m.Elif(verifies & (sponge.differs | arithmetic.exceeds)):
            m.d.comb += self.error.eq(Error.SIGNATURE)
        with m.FSM(init="CLEAR"):
            with m.State("CLEAR"):
                m.d.comb += [clears.eq(1), self.busy.eq(1), self.working.eq(1)]
                m.d.comb += self.done.eq(~wiping)
                with m.If(~wiping):
                    m.next = "IDLE"
            with m.State("IDLE"):
                m.d.comb += idle.eq(1)
                with m.If(self.start):
                    m.d.sync += [call.eq(self.call), faulty.eq(0)]
                    with m.If(self.call == WIPE):
                        m.d.comb += wipes.eq(1)
                        m.next = "CLEAR"
                    with m.Elif(self.complete[number["mu"]] | (self.call == KEY_PAIR_CODE)):
                        m.d.comb += begins.eq(1)
                        m.next = "RUN"
                    with m.Else():
                        m.d.comb += hashes.eq(1)
                        m.next = "MESSAGE"
            with m.State("MESSAGE"):
                m.d.comb += [self.busy.eq(1), self.working.eq(sponge.computes), streams.eq(1)]
                with m.If(wrong):
                    m.d.comb += wipes.eq(1)
                    m.d.sync += faulty.eq(1)
                    m.next = "CLEAR"
                with m.Elif(~sponge.busy):
                    m.d.comb += begins.eq(1)
                    m.next = "RUN"
            with m.State("RUN"):
                m.d.comb += [self.busy.eq(1), self.working.eq(~sponge.waits)]
                with m.If(wrong | (ended & contradicts)):
                    m.d.comb += wipes.eq(1)
                    m.d.sync += faulty.eq(1)
                    m.next = "CLEAR"
                with m.Elif(ended):
                    m.d.comb += self.done.eq(1)
                    m.next = "IDLE"

        def numbers(names: Iterable[str]) -> int:
            return sum(1 << number[name] for name in names)

        calls = {one.code - KEY_PAIR_CODE: one for one in self.interface.calls}
        uses_up, outputs = (
            look_up(
                [numbers(getattr(calls[k], of)) if k in calls else 0 for k in range(4)],
                which,
                len(self.given),
            )
            for of in ("uses_up", "outputs")
        )
        m.d.comb += [
            verifies.eq(call == VERIFY_CODE),
            self.given.eq(Mux(clears, 0, self.complete & ~uses_up | outputs)),
        ]

    @staticmethod
    def _entry(entries: Mapping[str, int], which: Value) -> Value:
        """Where a call begins, or after all of them the hash of its message."""
        names = {
            KEY_PAIR_CODE: (KEY_PAIR, None),
            SIGN_CODE: (SIGN, MU_OF_SK),
            VERIFY_CODE: (VERIFY, MU_OF_PK),
        }
        rows = [
            entries.get(names.get(KEY_PAIR_CODE + k, (None, None))[hashes] or "", 0)
            for hashes in range(2)
            for k in range(4)
        ]
        return look_up(rows, which, bits_for(max(rows)))
