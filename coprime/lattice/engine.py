"""The engine `lattice`: ML-KEM on one DSP slice, with Keccak next to it.

Source: FIPS 203. Cycles: `LatticeDesign.predict`.
"""

from collections.abc import Iterable

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import connect, flipped

from coprime.calls.interface import WIPE
from coprime.calls.ports import CallSignature
from coprime.calls.timing import TimingPremises
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.engine.capabilities import Error
from coprime.model.lattice.ml_kem_sets import MlKemSet

from .arithmetic.arithmetic_side import ArithmeticSide
from .host_port import HostPort
from .interface import CHECK_KEY_CODE, KEY_PAIR_CODE, ml_kem_interface
from .memory.byte_memory import ByteMemory
from .memory.places import words_needed
from .memory.sample_buffer import SampleBuffer
from .memory.semaphore import Semaphore
from .programs.entries import (
    CHECK_BOTH,
    CHECK_DK,
    CHECK_EK,
    DECAPSULATE,
    ENCAPSULATE,
    KEY_PAIR,
    D,
    M,
    Z,
)
from .programs.ml_kem import ml_kem_programs
from .sponge_side.sponge_side import SpongeSide

_ENTRIES = (
    *(KEY_PAIR, ENCAPSULATE, DECAPSULATE, None),
    *(None, None, None, CHECK_EK),
    *(None, None, None, CHECK_DK),
    *(None, None, None, CHECK_BOTH),
)
"""By the call's place, then whether ek, then whether dk is complete."""


class LatticeEngine(wiring.Component):
    """Key pairs, encapsulation, decapsulation, checks of keys. Ports: CallSignature.

    | states | action |
    |---|---|
    | CLEAR | after a reset, a fault, or for WIPE: all memories are cleared |
    | IDLE | slots are loaded and read |
    | REFUSE | a check of a key without any: OPERAND_MISSING |
    | RUN | both sides execute their programs, until both have ended or there is a fault |

    A fault is a word of a memory, or an instruction of the arithmetic side, with a wrong parity; a
    decision on a ciphertext without all of its comparisons, or of comparisons that contradict each
    other; a call that gives a key without a decision; a memory that is cleared meanwhile; and
    REFUSE, which is a bit away from RUN, while a side works. The call ends with FAULT after
    everything was cleared.

    Parameters
    ----------
    sets (tuple of MlKemSet): the parameter sets
    slices (int): of Keccak's state in a cycle: 4, 8, 16, 32 or 64
    readable (bool): dk and K can be read
    target (Target): XC7 places LUTs and one DSP48E1
    """

    def __init__(
        self,
        sets: tuple[MlKemSet, ...],
        slices: int,
        *,
        readable: bool,
        target: Target = Target.GENERIC,
    ):
        self.target = Target(target)
        self.interface = ml_kem_interface(sets, readable=readable)
        self.programs = ml_kem_programs(sets)
        self.memory = ByteMemory(words_needed(self.programs.places), self.target)
        bits = self.memory.address_bits
        self.samples = SampleBuffer(target=self.target)
        self.sponge = SpongeSide(slices, self.programs.sponge, bits, self.target)
        self.arithmetic = ArithmeticSide(self.programs.arithmetic, bits, self.target)
        places = self.programs.places
        difference = places["refusal"].addresses[0] ^ places["key"].addresses[0]
        self.host = HostPort(
            *(self.interface, places, bits, difference.bit_length() - 1, self.target)
        )
        super().__init__(CallSignature(self.interface))

    @property
    def timing_premises(self) -> TimingPremises:
        """Cycles depend on which candidates of the matrix are accepted, and so on rho, as programs
        sample uniform polynomials from nothing else. What a comparison finds is secret; that one
        was made, and that its two accumulators do not contradict each other, is not."""
        rho = [self.programs.places[name] for name in ("ek_rho", "dk_rho")]
        of_rho = {(one.addresses, one.words) for one in rho}
        sequencer = self.arithmetic.sequencer
        return TimingPremises(
            public=(self.sponge.router.sampler.accepts,)
            if self.programs.sponge.uniform_ranges <= of_rho
            else (),
            faults=(self.memory.wrong, self.arithmetic.datapath.wrong),
            proved=(sequencer.decided, sequencer.contradicts),
        )

    def elaborate(self, platform: object) -> Module:
        """Connect the parts, and control both sides."""
        m = Module()
        m.submodules.memory = memory = self.memory
        m.submodules.samples = samples = self.samples
        m.submodules.sponge = sponge = self.sponge
        m.submodules.arithmetic = arithmetic = self.arithmetic
        m.submodules.host = host = self.host
        m.submodules.to_sponge = to_sponge = Semaphore()
        m.submodules.to_arithmetic = to_arithmetic = Semaphore()
        for name in ("load", "random"):
            sink = host.load if name == "load" else sponge.random
            connect(m, flipped(getattr(self, name)), sink)
        connect(m, host.output, flipped(self.output))
        connect(m, host.loads, memory.loads)
        connect(m, sponge.writes, memory.writes)
        connect(m, arithmetic.bytes, memory.arithmetic)
        connect(m, sponge.samples, samples.samples)
        m.d.comb += [
            *same_named(host, self, "read_slot", "read_restart", "parameter_set", "complete"),
            *same_named(memory, host, "host_address"),
            *same_named(host, memory, "word"),
            *same_named(host, arithmetic, "decided", "altered"),
            memory.address.eq(sponge.address),
            sponge.word.eq(memory.word),
            arithmetic.wiping.eq(memory.wiping),
            arithmetic.wipe_address.eq(memory.wiped),  # which passes all of them
            samples.restart.eq(sponge.restart),
            sponge.at_last.eq(samples.at_last),
            samples.address.eq(arithmetic.sample_address),
            samples.release.eq(arithmetic.release),
            arithmetic.full.eq(samples.full),
            arithmetic.sample.eq(samples.word),
            to_arithmetic.post.eq(sponge.post),
            arithmetic.available.eq(to_arithmetic.available),
            to_arithmetic.take.eq(arithmetic.take),
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
        number = {one.name: one.number for one in self.interface.slots}
        begins, wipes, idle, missing = Signal(), Signal(), Signal(), Signal()
        keys = Cat(self.complete[number["ek"]], self.complete[number["dk"]])
        checks = self.call == CHECK_KEY_CODE
        which = Cat((self.call - KEY_PAIR_CODE)[:2], Mux(checks, keys, 0))
        for side in (sponge, arithmetic):
            rows = [side.program.entries[name] if name else 0 for name in _ENTRIES]
            m.d.comb += [
                side.entry.eq(look_up(rows, which, len(side.entry))),
                side.start.eq(begins),
                side.wipe.eq(wipes),
            ]
        m.d.comb += [
            # Of encapsulations and decapsulations, whose codes are the two between the others; and
            # of a key that is cleared by a fault.
            arithmetic.forget.eq(
                (begins & (self.call - KEY_PAIR_CODE)[:2].xor()) | self.memory.wiping
            ),
            self.memory.wipe.eq(wipes),
            self.samples.wipe.eq(wipes),
            self.memory.host_reads.eq(idle),
            self.host.idle.eq(idle),
        ]
        for bit, name in {D: "d", Z: "z", M: "m"}.items():
            m.d.comb += sponge.present[bit].eq(self.complete[number[name]])

        parts = (self.memory, self.samples, sponge)
        wiping = Cat(part.wiping for part in parts).any()
        clears, call = Signal(), Signal(2)
        faulty, ended = Signal(), Signal()
        m.d.comb += ended.eq(~sponge.busy & ~arithmetic.busy)
        with m.If(faulty):
            m.d.comb += self.error.eq(Error.FAULT)
        with m.Elif(missing):
            m.d.comb += self.error.eq(Error.OPERAND_MISSING)
        with m.Elif(arithmetic.refused):
            m.d.comb += self.error.eq(Error.INVALID_KEY)
        with m.FSM(init="CLEAR"):
            with m.State("CLEAR"):
                m.d.comb += [clears.eq(1), self.busy.eq(1), self.working.eq(1)]
                m.d.comb += self.done.eq(~wiping)
                with m.If(~wiping):
                    m.next = "IDLE"
            with m.State("IDLE"):
                m.d.comb += idle.eq(1)
                with m.If(self.start):
                    m.d.sync += [call.eq(self.call - KEY_PAIR_CODE), missing.eq(0), faulty.eq(0)]
                    with m.If(self.call == WIPE):
                        m.d.comb += wipes.eq(1)
                        m.next = "CLEAR"
                    with m.Elif(checks & ~keys.any()):
                        m.d.sync += missing.eq(1)
                        m.next = "REFUSE"
                    with m.Else():
                        m.d.comb += begins.eq(1)
                        m.next = "RUN"
            with m.State("REFUSE"):
                m.d.comb += [self.busy.eq(1), self.working.eq(1)]
                with m.If(ended):
                    m.d.comb += self.done.eq(1)
                    m.next = "IDLE"
                with m.Else():
                    m.d.comb += wipes.eq(1)
                    m.d.sync += faulty.eq(1)
                    m.next = "CLEAR"
            with m.State("RUN"):
                undecided = call.xor() & ~arithmetic.decided
                m.d.comb += [self.busy.eq(1), self.working.eq(~sponge.waits)]
                wrong = arithmetic.fault | self.memory.wrong | wiping
                with m.If(wrong | (ended & undecided)):
                    m.d.comb += wipes.eq(1)
                    m.d.sync += faulty.eq(1)
                    m.next = "CLEAR"
                with m.Elif(ended):
                    m.d.comb += self.done.eq(1)
                    m.next = "IDLE"

        def numbers(names: Iterable[str]) -> int:
            return sum(1 << number[name] for name in names)

        calls = {one.code - KEY_PAIR_CODE: one for one in self.interface.calls}
        width = len(self.given)
        used = look_up([numbers(calls[k].uses_up) for k in range(len(calls))], call, width)
        outputs = look_up([numbers(calls[k].outputs) for k in range(len(calls))], call, width)
        m.d.comb += self.given.eq(
            Mux(clears, 0, Mux(missing, self.complete, self.complete & ~used | outputs))
        )
