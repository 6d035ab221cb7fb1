"""The engine `lattice`: ML-KEM, ML-DSA or both on one DSP slice, each alone also on 4 or 8.

Source: FIPS 203, FIPS 204. Cycles: `LatticeDesign.predict`.
"""

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import connect, flipped
from amaranth.utils import bits_for

from coprime.calls.interface import WIPE, WORD_BYTES
from coprime.calls.ports import CallSignature
from coprime.calls.timing import TimingPremises
from coprime.cells.shared_slice import SharedSlice
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.engine.capabilities import Error
from coprime.model.lattice.ml_dsa import ITERATIONS
from coprime.model.lattice.ml_dsa_sets import HASH_BYTES, MlDsaSet
from coprime.model.lattice.ml_kem_sets import MlKemSet

from .arithmetic.arithmetic_side import ArithmeticSide
from .arithmetic.large_side import LargeSide
from .arithmetic.pipeline import P_BITS
from .host_port import HostPort
from .memory.byte_memory import ByteMemory
from .memory.sample_buffer import SampleBuffer
from .memory.semaphore import Semaphore
from .order import RoutineOrder
from .programs.entries import RND, XI, D, LatticeRoutine, M, Z
from .programs.lattice import lattice_programs
from .schemes import lattice_interface
from .sponge_side.sponge_side import SpongeSide

_SEEDS = {0: ("d", "xi"), 1: ("z", "rnd"), 2: ("m",)}
"""By the bit of `present`: with a set of one scheme those of the other one are not complete."""
assert (D, Z, M) == (0, 1, 2) and (XI, RND) == (0, 1)
MOST_POSTS = 15
"""ML-DSA's arithmetic side is at most 8 rows ahead."""


class _Outcome(enum.Enum):
    """What decides a call's error."""

    WIPED = 0
    LACKING = 1
    FAULTY = 2
    CALLED = 3  # the order of routines


class _Control(NamedTuple):
    """What the states of the control share."""

    begins: Signal  # a routine begins
    wipes: Signal  # all memories begin to be cleared
    outcome: Signal
    ended: Signal  # in the cycle before, all sides had ended
    faulty: Signal  # in the cycle before, there was a fault


class LatticeEngine(wiring.Component):
    """The calls of ML-KEM, of ML-DSA, or of both. Ports: CallSignature.

    | states | action |
    |---|---|
    | CLEAR | after a reset, a fault, or for WIPE: all memories are cleared |
    | IDLE | slots are loaded and read |
    | MASKS | of a masked engine: masks get a seed |
    | REFUSE | a check of a key of ML-KEM without any; with both, a call of another scheme than \
the parameter set: OPERAND_MISSING |
    | RUN | both sides execute their programs, routine by routine, until there is a fault; a cycle \
later than both have ended, as a register shows faults |

    While a message is streamed those cycles count in which the sponge computes, so that their
    number does not depend on the stream's words.

    A fault is a word of a memory, or an instruction of an arithmetic side, with a wrong parity;
    comparisons that contradict each other, or are not complete; a memory that is cleared meanwhile;
    and REFUSE, which is a bit away from RUN, while a side works. With ML-KEM, also a call that
    gives a key without a decision on its ciphertext. With ML-DSA, a place that the sponge's bytes
    go to and that has changed; masks that were not the same when
    they were sampled again, and a signature of the engine that is wrong, or needs more than 814
    iterations. The call ends with FAULT after everything was cleared. So does the next call after a
    word with a wrong parity that the host would have read, and did not get.

    Each scheme has an arithmetic side of its own. Those of both share one DSP slice: a call uses
    one of them.

    Parameters
    ----------
    ml_kem, ml_dsa (tuples of MlKemSet, MlDsaSet): the parameter sets; of one scheme there may be
        none
    slices (int): of Keccak's state in a cycle: 4, 8, 16, 32 or 64
    verify_only (bool): of ML-DSA signatures are verified, and no private key can be loaded
    readable (bool): dk and K, and sk, can be read
    check_signatures (bool): a signature is verified before it can be read
    masked (bool): Keccak's state is in two shares; their masks get a seed in each call
    lanes (int): slices that compute at once: 1, or with one scheme 4 or 8
    target (Target): XC7 places LUTs and DSP48E1
    """

    def __init__(
        self,
        ml_kem: tuple[MlKemSet, ...],
        ml_dsa: tuple[MlDsaSet, ...],
        slices: int,
        *,
        verify_only: bool = False,
        readable: bool,
        check_signatures: bool = True,
        masked: bool = False,
        lanes: int = 1,
        target: Target = Target.GENERIC,
    ):
        self.masked = masked
        self.target = target = Target(target)
        self.sets, self.verify_only = ml_dsa, verify_only
        self.interface = lattice_interface(
            *(ml_kem, ml_dsa),
            verify_only=verify_only,
            readable=readable,
            check_signatures=check_signatures,
        )
        if masked:
            self.interface = replace(self.interface, masks=True)
        self.programs = lattice_programs(
            ml_kem, ml_dsa, verify_only=verify_only, parallel=lanes > 1
        )
        # Several lanes read or write two words at once.
        banks = 1 if lanes == 1 else 2
        self.memory = ByteMemory(self.programs.memory_words, target, banks=banks)
        bits = self.memory.address_bits
        self.samples = SampleBuffer(
            numbers=bool(ml_dsa), pairs=bool(ml_kem), lanes=lanes, target=target
        )
        self.sponge = SpongeSide(
            *(slices, self.programs.sponge, bits, target),
            masked=masked,
            samples_pairs=lanes > 1,
        )
        shared = bool(ml_kem and ml_dsa)
        self.ml_kem: ArithmeticSide | None = None
        self.ml_dsa: LargeSide | None = None
        if self.programs.ml_kem:
            program = self.programs.ml_kem.arithmetic
            self.ml_kem = ArithmeticSide(program, bits, target, shares_slice=shared, lanes=lanes)
        if self.programs.ml_dsa:
            large = self.programs.ml_dsa.arithmetic
            self.ml_dsa = LargeSide(
                *(large, bits, target),
                verify_only=verify_only,
                shares_slice=shared,
                lanes=lanes,
            )
        self.order = RoutineOrder(self.interface, check_signatures=check_signatures)
        self.host = HostPort(self.interface, self.programs.slots, bits, target)
        super().__init__(CallSignature(self.interface))

    @property
    def timing_premises(self) -> TimingPremises:
        """Of ML-KEM alone: cycles depend on which candidates of the matrix are accepted, and so on
        rho, as programs sample uniform polynomials from nothing else. What a comparison finds is
        secret; that one was made, and that its two accumulators do not contradict each other, is
        not."""
        if self.ml_kem is None or self.programs.ml_kem is None or self.ml_dsa:
            return TimingPremises()
        rho = [self.programs.ml_kem.places[name] for name in ("ek_rho", "dk_rho")]
        of_rho = {(place.addresses, place.words) for place in rho}
        sequencer, sampler = self.ml_kem.sequencer, self.sponge.router.sampler
        assert sampler
        is_public = self.programs.sponge.uniform_ranges <= of_rho
        return TimingPremises(
            public=(sampler.accepts,) if is_public else (),
            faults=(self.memory.wrong, self.ml_kem.datapath.wrong),
            proved=(sequencer.decided, sequencer.contradicts),
        )

    @property
    def _of_ml_kem(self) -> Value:
        """The parameter set is of ML-KEM."""
        count, sets = self.programs.ml_kem_sets, len(self.interface.parameter_sets)
        return look_up([number < count for number in range(sets)], self.parameter_set, 1)

    def elaborate(self, platform: object) -> Module:
        """Connect the parts, and control both sides."""
        m = Module()
        m.submodules.memory = memory = self.memory
        m.submodules.samples = samples = self.samples
        m.submodules.sponge = sponge = self.sponge
        m.submodules.host = host = self.host
        connect(m, flipped(self.load), host.load)
        connect(m, host.output, flipped(self.output))
        connect(m, host.loads, memory.loads)
        connect(m, sponge.writes, memory.writes)
        connect(m, sponge.samples, samples.samples)
        if self.interface.draws:
            connect(m, flipped(self.random), sponge.random)
        m.d.comb += [
            *same_named(host, self, "read_slot", "read_restart", "parameter_set", "complete"),
            *same_named(memory, host, "host_address"),
            *same_named(host, memory, "word", "wrong"),
            memory.address.eq(sponge.address),
            sponge.word.eq(memory.word),
            samples.restart.eq(sponge.restart),
            sponge.at_last.eq(samples.at_last),
            sponge.parameter_set.eq(self.parameter_set),
        ]
        self._connect_arithmetic(m)
        self._control(m)
        return m

    def _connect_arithmetic(self, m: Module) -> None:
        """An arithmetic side, or one of two, as the parameter set says."""
        memory, samples, sponge, host = self.memory, self.samples, self.sponge, self.host
        small, large = self.ml_kem, self.ml_dsa
        to_sponge = Semaphore(MOST_POSTS) if large else Semaphore()
        m.submodules.to_sponge = to_sponge
        is_small = self._of_ml_kem
        sides = [side for side in (small, large) if side]
        m.d.comb += [
            sponge.available.eq(to_sponge.available),
            to_sponge.take.eq(sponge.take),
            to_sponge.post.eq(Cat(side.post for side in sides).any()),
            samples.release.eq(Cat(side.release for side in sides).any()),
            self.multiplying.eq(Cat(side.multiplying for side in sides).any()),
        ]
        if small:
            m.submodules.arithmetic = small
            m.submodules.to_arithmetic = to_arithmetic = Semaphore()
            m.d.comb += [
                *same_named(host, small, "decided", "altered"),
                small.parameter_set.eq(self.parameter_set),
                small.wiping.eq(memory.wiping),
                small.wipe_address.eq(memory.wiped),  # which passes all of them
                to_arithmetic.post.eq(sponge.post),
                small.available.eq(to_arithmetic.available),
                to_arithmetic.take.eq(small.take),
            ]
        if large:
            m.submodules[f"{'large_' if small else ''}arithmetic"] = large
            connect(m, host.stream, sponge.stream)
            numbers = [max(0, k - self.programs.ml_kem_sets) for k in range(8)]
            m.d.comb += [
                sponge.rejected.eq(large.rejected),
                large.parameter_set.eq(
                    look_up(numbers, self.parameter_set, len(large.parameter_set))
                    if small
                    else self.parameter_set
                ),
            ]
        for side in sides:
            m.d.comb += [side.full.eq(samples.full), side.sample.eq(samples.word)]
        if not (small and large):
            (side,) = sides
            connect(m, side.bytes, memory.arithmetic)
            m.d.comb += samples.address.eq(side.sample_address)
            return
        m.submodules.slice = slice_ = SharedSlice(P_BITS, self.target)
        connect(m, small.slice, slice_.narrow)
        connect(m, large.slice, slice_.wide)
        access = memory.arithmetic
        m.d.comb += [
            slice_.is_wide.eq(~is_small),
            samples.holds_pairs.eq(is_small),
            samples.address.eq(Mux(is_small, small.sample_address, large.sample_address)),
            access.use.eq(Mux(is_small, small.bytes.use, large.bytes.use)),
            access.address.eq(Mux(is_small, small.bytes.address, large.bytes.address)),
            access.write.eq(Mux(is_small, small.bytes.write, large.bytes.write)),
            access.write_data.eq(Mux(is_small, small.bytes.write_data, large.bytes.write_data)),
            *(side.bytes.data.eq(access.data) for side in sides),
        ]

    def _control(self, m: Module) -> None:
        """CLEAR, IDLE and RUN."""
        sponge, small, large = self.sponge, self.ml_kem, self.ml_dsa
        m.submodules.order = order = self.order
        begins, wipes, idle, clears, refuses = (Signal() for _ in range(5))
        masks = Signal() if self.masked else None
        outcome, idles, ended, faulty = Signal(_Outcome), Signal(), Signal(), Signal()
        control = _Control(begins, wipes, outcome, ended, faulty)
        sides = [side for side in (small, large) if side]
        wiping = Cat(
            part.wiping for part in (self.memory, self.samples, sponge, large) if part
        ).any()
        m.d.comb += [
            sponge.entry.eq(_by_routine(sponge.program.entries, order.next)),
            sponge.start.eq(begins),
            *(part.wipe.eq(wipes) for part in (self.memory, self.samples, sponge, *sides)),
            self.host.idle.eq(idle),
            self.host.clears.eq(clears),
            self.memory.host_reads.eq(idle),
            *same_named(order, self, "call", "complete"),
            order.start.eq(idle if masks is None else idle | masks),
            order.begins.eq(begins),
            order.invalid.eq(self._invalid()),
            idles.eq(~Cat(sponge.busy, *(side.busy for side in sides)).any()),
        ]
        self._tell_seeds(m)
        wrong = [self.memory.wrong, wiping, *(side.fault for side in sides)]
        if small:
            wrong += self._control_ml_kem(m, small, begins, idles)
        if large:
            wrong += self._control_ml_dsa(m, large, begins, idles)
            if small:
                m.d.comb += self.samples.begin.eq(begins)
        lacks = order.lacks
        if small and large:
            lacks = lacks | (_is(order.next, lambda member: member.is_ml_kem) != self._of_ml_kem)
        self._tell_error(m, outcome)
        m.d.sync += ended.eq(idles & ~begins)
        with m.FSM(init="CLEAR"):
            with m.State("CLEAR"):
                m.d.comb += [clears.eq(1), self.busy.eq(1), self.working.eq(1)]
                m.d.comb += self.done.eq(~wiping)
                with m.If(~wiping):
                    m.next = "IDLE"
            with m.State("IDLE"):
                m.d.comb += idle.eq(1)
                m.d.sync += faulty.eq(0)
                with m.If(self.start):
                    self._start(m, control, lacks)
            if masks is not None:
                self._masks(m, masks, begins)
            if small:
                with m.State("REFUSE"):
                    m.d.comb += [self.busy.eq(1), self.working.eq(1), refuses.eq(1)]
                    with m.If(ended):
                        m.d.comb += self.done.eq(1)
                        m.next = "IDLE"
                    with m.Else():
                        m.d.comb += wipes.eq(1)
                        m.d.sync += outcome.eq(_Outcome.FAULTY)
                        m.next = "CLEAR"
            with m.State("RUN"):
                m.d.sync += faulty.eq(Cat(*wrong).any())
                self._run(m, control)
        m.d.comb += self.given.eq(Mux(clears, 0, Mux(refuses, self.complete, order.given)))

    def _start(self, m: Module, control: _Control, lacks: Value) -> None:
        """What follows the start of a call."""
        m.d.sync += control.outcome.eq(_Outcome.WIPED)
        with m.If(self.call == WIPE):
            m.d.comb += control.wipes.eq(1)
            m.next = "CLEAR"
        with m.Elif(self.host.spoilt):
            m.d.comb += control.wipes.eq(1)
            m.d.sync += control.outcome.eq(_Outcome.FAULTY)
            m.next = "CLEAR"
        if self.ml_kem:
            with m.Elif(lacks):
                m.d.sync += control.outcome.eq(_Outcome.LACKING)
                m.next = "REFUSE"
        with m.Else():
            m.d.comb += (self.sponge.reseed if self.masked else control.begins).eq(1)
            m.d.sync += control.outcome.eq(_Outcome.CALLED)
            m.next = "MASKS" if self.masked else "RUN"

    def _masks(self, m: Module, masks: Signal, begins: Signal) -> None:
        """The state in which masks get a seed; `masks` is 1 meanwhile."""
        with m.State("MASKS"):
            m.d.comb += [self.busy.eq(1), masks.eq(1)]
            with m.If(self.sponge.seeded):
                m.d.comb += begins.eq(1)
                m.next = "RUN"

    def _run(self, m: Module, control: _Control) -> None:
        """Routine by routine, until the last one has ended or there is a fault."""
        sponge, order, ended = self.sponge, self.order, control.ended
        works: Value = ~sponge.waits
        if self.ml_dsa:
            streams = _is(order.routine, lambda member: member.streams)
            works = Mux(streams, sponge.computes, works)
        m.d.comb += [self.busy.eq(1), self.working.eq(works)]
        with m.If(control.faulty | (ended & order.fails)):
            m.d.comb += control.wipes.eq(1)
            m.d.sync += control.outcome.eq(_Outcome.FAULTY)
            m.next = "CLEAR"
        with m.Elif(ended & order.follows):
            m.d.comb += control.begins.eq(1)
        with m.Elif(ended):
            m.d.comb += self.done.eq(1)
            m.next = "IDLE"

    def _tell_seeds(self, m: Module) -> None:
        """Seeds that are loaded are not drawn."""
        for bit, names in _SEEDS.items():
            slots = [self.interface.slot[name] for name in names if name in self.interface.slot]
            loaded = Cat(self.complete[slot.number] for slot in slots)
            m.d.comb += self.sponge.present[bit].eq(loaded.any())

    def _tell_error(self, m: Module, outcome: Signal) -> None:
        """What the last call has come to; 0 of one that has wiped."""
        with m.Switch(outcome):
            with m.Case(_Outcome.CALLED):
                m.d.comb += self.error.eq(self.order.error)
            with m.Case(_Outcome.LACKING):
                m.d.comb += self.error.eq(Error.OPERAND_MISSING)
            with m.Case(_Outcome.FAULTY):
                m.d.comb += self.error.eq(Error.FAULT)

    def _control_ml_kem(
        self, m: Module, side: ArithmeticSide, begins: Value, idles: Value
    ) -> list[Value]:
        """Start ML-KEM's side; faults of its own."""
        routine, following = self.order.routine, self.order.next
        is_own = _is(following, lambda member: member.is_ml_kem) if self.ml_dsa else Const(1)
        decides = _is(following, lambda member: member.decides)
        m.d.comb += [
            side.entry.eq(_by_routine(side.program.entries, following)),
            side.start.eq(begins & is_own),
            # Also of a key that is cleared by a fault.
            side.forget.eq((begins & decides) | self.memory.wiping),
        ]
        return [idles & _is(routine, lambda member: member.decides) & ~side.decided]

    def _control_ml_dsa(
        self, m: Module, side: LargeSide, begins: Value, idles: Value
    ) -> list[Value]:
        """Start ML-DSA's side; faults of its own."""
        routine, following = self.order.routine, self.order.next
        works = _is(following, lambda member: not member.is_ml_kem and not member.hashes_only)
        m.d.comb += [
            side.entry.eq(_by_routine(side.program.entries, following)),
            side.start.eq(begins & works),
            self.host.streams.eq(self.busy & _is(routine, lambda member: member.streams)),
        ]
        return [
            idles & self._contradicts(routine),
            idles & (routine == LatticeRoutine.SIGN) & ~side.cancels,
            self._is_endless(m, begins),
            self.sponge.wrong,
        ]

    def _invalid(self) -> Value:
        """The routine has found that something is wrong."""
        found = []
        if self.ml_kem:
            found.append(
                self.ml_kem.refused & _is(self.order.routine, lambda member: member.is_ml_kem)
            )
        if self.ml_dsa:
            works = _is(
                self.order.routine, lambda member: not member.is_ml_kem and not member.hashes_only
            )
            found += [self.sponge.differs, self.ml_dsa.exceeds & works]
        return Cat(found).any()

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
        words = [0] * self.programs.ml_kem_sets
        words += [parameter_set.challenge_bytes // WORD_BYTES for parameter_set in self.sets]
        challenge = look_up(words, self.parameter_set, len(sponge.compared))
        # MATCH compares tr, CHECK_SK also a hash of t0: 16 words each.
        tr = HASH_BYTES // WORD_BYTES
        count = (1 << len(sponge.compared)) - 1
        expected = Mux(
            routine == LatticeRoutine.VERIFY,
            challenge,
            Mux(routine == LatticeRoutine.MATCH, tr, 2 * tr & count),
        )
        compares = _is(routine, lambda member: member.compares)
        return compares & ((sponge.differs == sponge.agrees) | (sponge.compared != expected))


def _is(routine: Value, holds: Callable[[LatticeRoutine], bool]) -> Value:
    """Whether something holds for a routine."""
    return look_up(_rows(lambda member: int(holds(member))), Value.cast(routine), 1)


def _by_routine(entries: Mapping[str, int], routine: Value) -> Value:
    """Where a routine begins."""
    rows = _rows(lambda member: entries.get(member.name, 0))
    return look_up(rows, Value.cast(routine), max(1, bits_for(max(rows))))


def _rows(value: Callable[[LatticeRoutine], int]) -> Sequence[int]:
    """A row for each routine's number."""
    of_routine = {routine.value: value(routine) for routine in LatticeRoutine}
    return [of_routine.get(number, 0) for number in range(max(of_routine) + 1)]
