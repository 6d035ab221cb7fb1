"""Everything that is known of a `lattice`: interface, hardware, cycles."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from coprime.calls.interface import Call, CallOutcome, EngineInterface, Values
from coprime.calls.masking import NONE, is_masked
from coprime.cells.target import Target
from coprime.engine.capabilities import Error
from coprime.model import trivium
from coprime.model.keccak import FUNCTIONS
from coprime.model.lattice import ml_dsa as ml_dsa_model
from coprime.model.lattice.ml_dsa_sets import HASH_BYTES, ML_DSA_SETS, SEED_BYTES, MlDsaSet
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS, MlKemSet

from . import interface as ml_kem
from . import ml_dsa_interface as ml_dsa
from .family import ALL_SETS, BOTH, ML_DSA, ML_KEM, PAIRS
from .programs.entries import RND, XI, D, LatticeRoutine, M, Z
from .schemes import lattice_interface

if TYPE_CHECKING:
    from .arithmetic.instructions import AssembledArithmetic
    from .arithmetic.large_instructions import AssembledLarge
    from .engine import LatticeEngine
    from .programs.programs import EnginePrograms
    from .twin import RoutineTrace

_Set = TypeVar("_Set", MlKemSet, MlDsaSet)


@dataclass(frozen=True)
class LatticeDesign:
    """An engine of ML-KEM, of ML-DSA, or of both.

    Parameters
    ----------
    ml_kem, ml_dsa : the parameter sets; of one scheme there may be none
    slices : of Keccak-f[1600] a cycle: 4, 8, 16, 32 or 64
    readable : dk and K, and sk, can be read
    verify_only : it has no private keys of ML-DSA
    check_signatures : a signature is verified before it can be read
    masked : Keccak's state is in two shares, with less than 64 slices
    dsp : DSP slices that compute at once: 1, or with one scheme 4 or 8
    """

    ml_kem: tuple[MlKemSet, ...] = ML_KEM_SETS
    ml_dsa: tuple[MlDsaSet, ...] = ()
    slices: int = 8
    readable: bool = False
    verify_only: bool = False
    check_signatures: bool = True
    masked: bool = False
    dsp: int = 1

    @cached_property
    def interface(self) -> EngineInterface:
        """Its slots and calls."""
        found = lattice_interface(
            *(self.ml_kem, self.ml_dsa),
            verify_only=self.verify_only,
            readable=self.readable,
            check_signatures=self.check_signatures,
        )
        return replace(found, masks=True) if self.masked else found

    @cached_property
    def programs(self) -> "EnginePrograms":
        """Both sides' programs."""
        from .programs.lattice import lattice_programs

        return lattice_programs(
            *(self.ml_kem, self.ml_dsa), verify_only=self.verify_only, parallel=self.dsp > 1
        )

    @property
    def step_names(self) -> Mapping[str, Callable[[int], str]]:
        """As of NamesSteps: of the sponge side by the state that has its program counter, of an
        arithmetic side by the word of the instruction."""
        programs = self.programs
        sponge = programs.sponge
        counter_mask = (1 << sponge.counter_bits) - 1

        def sponge_step(state: int) -> str:
            counter = state & counter_mask
            text = sponge.instructions[counter] if counter < len(sponge.instructions) else "END"
            return f"{text} (sponge {counter})"

        names: dict[str, Callable[[int], str]] = {"sponge.sequencer.state": sponge_step}
        if programs.ml_kem is not None:
            names["arithmetic.sequencer.field"] = _step_of(programs.ml_kem.arithmetic)
        if programs.ml_dsa is not None:
            side = "arithmetic" if programs.ml_kem is None else "large_arithmetic"
            names[f"{side}.sequencer.word"] = _step_of(programs.ml_dsa.arithmetic)
        return names

    def hardware(self, target: Target = Target.GENERIC) -> "LatticeEngine":
        """Make the engine for a target."""
        from .engine import LatticeEngine

        return LatticeEngine(
            *(self.ml_kem, self.ml_dsa, self.slices),
            verify_only=self.verify_only,
            readable=self.readable,
            check_signatures=self.check_signatures,
            masked=self.masked,
            lanes=self.dsp,
            target=target,
        )

    def predict(
        self, call: Call, parameter_set: str, inputs: Values, random: bytes = b""
    ) -> CallOutcome:
        """What a call does with these complete inputs; it draws its random bytes from `random`."""
        self.interface.check_set(call, parameter_set)
        number = self.interface.set_number(parameter_set)
        drawn = random[trivium.SEED_BYTES :] if self.masked else random
        return _Prediction(self, number, inputs, drawn).of(call)


def _step_of(program: "AssembledArithmetic | AssembledLarge") -> Callable[[int], str]:
    """What gives an instruction in words, from its word."""
    known = dict(zip(program.words, map(str, program.instructions), strict=True))
    return lambda word: known.get(word, "before the first instruction")


class _Prediction:
    """A call, routine by routine."""

    def __init__(self, design: LatticeDesign, number: int, inputs: Values, random: bytes):
        self.design, self.number = design, number
        self.places = design.programs.slots
        self.complete = dict(inputs)
        self.random, self.cycles, self.genuine = random, 0, True
        self.memory = [0] * design.programs.memory_words
        for name, data in inputs.items():
            if not design.interface.slot[name].streamed:
                self.put(name, data)

    def put(self, name: str, data: bytes) -> None:
        """A slot is loaded."""
        from .twin import words_of

        start = self.places[name].addresses[self.number]
        words = words_of(data)
        self.memory[start : start + len(words)] = words

    def get(self, name: str) -> bytes:
        """What a slot has become."""
        from .twin import bytes_at

        length = self.design.interface.slot[name].length(self.number)
        refused = name == "key" and not self.genuine
        place = self.places["refusal" if refused else name]
        return bytes_at(self.memory, place, self.number)[:length]

    def of(self, call: Call) -> CallOutcome:
        """The routines of a call, and its outputs."""
        steps: Mapping[int, Callable[[], Error]] = {
            ml_kem.KEY_PAIR_CODE: lambda: self._ml_kem(LatticeRoutine.KEM_KEY_PAIR),
            ml_kem.ENCAPSULATE_CODE: lambda: self._ml_kem(LatticeRoutine.ENCAPSULATE),
            ml_kem.DECAPSULATE_CODE: lambda: self._ml_kem(LatticeRoutine.DECAPSULATE),
            ml_kem.CHECK_KEY_CODE: self._check_ml_kem,
            ml_dsa.KEY_PAIR_CODE: self._key_pair,
            ml_dsa.SIGN_CODE: self._sign,
            ml_dsa.VERIFY_CODE: self._verify,
            ml_dsa.CHECK_KEY_CODE: self._check_key,
        }
        error = steps[call.code]()
        names = () if error is not Error.NONE else call.outputs
        return CallOutcome(error, {name: self.get(name) for name in names}, self.cycles)

    def trace(self, routine: LatticeRoutine) -> "RoutineTrace":
        """A routine, and where its cycles go."""
        from .twin import run_routine

        seeds = {"d": D, "z": Z, "m": M, "xi": XI, "rnd": RND}
        present = {bit for name, bit in seeds.items() if name in self.complete}
        design = self.design
        return run_routine(
            *(design.programs, design.slices, routine, self.number, self.memory),
            *(present, self.random),
            masked=design.masked,
            lanes=design.dsp,
        )

    def run(self, routine: LatticeRoutine) -> bool:
        """A routine; whether what it checks is right."""
        trace = self.trace(routine)
        self.random, self.genuine = trace.random, trace.genuine
        self.cycles += trace.cycles
        return trace.valid

    def _ml_kem(self, routine: LatticeRoutine) -> Error:
        return Error.NONE if self.run(routine) else Error.INVALID_KEY

    def _check_ml_kem(self) -> Error:
        has_ek, has_dk = ("ek" in self.complete, "dk" in self.complete)
        if not (has_ek or has_dk):
            self.cycles = 1
            return Error.OPERAND_MISSING
        if has_ek and has_dk:
            return self._ml_kem(LatticeRoutine.CHECK_BOTH)
        return self._ml_kem(LatticeRoutine.CHECK_EK if has_ek else LatticeRoutine.CHECK_DK)

    def _mu(self, tr: bytes, *hashed: int) -> None:
        """The cycles in which the sponge computes for mu, after messages of so many bytes."""
        message = self.complete.get("message")
        if message is None or "mu" in self.complete:
            return
        from coprime.cells.keccak.twin import SpongeCycles

        function = next(function for function in FUNCTIONS if function.name == "SHAKE256")
        cycles = SpongeCycles(self.design.slices, self.design.masked)
        for length in (*hashed, len(tr) + len(message)):
            self.cycles += cycles.one_pass + function.blocks(length) * cycles.permutation
        self.put("mu", ml_dsa_model.representative(tr, message))

    def _key_pair(self) -> Error:
        self.run(LatticeRoutine.KEY_PAIR)
        return Error.NONE

    def _verify(self) -> Error:
        pk = self.get("pk")
        self._mu(ml_dsa_model.hashed(pk, HASH_BYTES), len(pk))
        return Error.NONE if self.run(LatticeRoutine.VERIFY) else Error.SIGNATURE

    def _sign(self) -> Error:
        checks = self.design.check_signatures
        matches = not checks or ("pk" in self.complete and self.run(LatticeRoutine.MATCH))
        if not matches and not self.run(LatticeRoutine.CHECK_SK):
            return Error.INVALID_KEY
        self._mu(self.get("sk")[2 * SEED_BYTES :][:HASH_BYTES])
        self.run(LatticeRoutine.SIGN)
        valid = not checks or self.run(LatticeRoutine.VERIFY)
        return Error.NONE if valid else Error.FAULT

    def _check_key(self) -> Error:
        matches = "pk" not in self.complete or self.run(LatticeRoutine.MATCH)
        return Error.NONE if matches and self.run(LatticeRoutine.CHECK_SK) else Error.INVALID_KEY


def lattice(
    slices: str,
    sets: str,
    secrets: str,
    schemes: str = ML_KEM,
    verify_only: str = "0",
    check_signatures: str = "1",
    masked: str = NONE,
    dsp: str = "1",
) -> LatticeDesign:
    """The design of the family `lattice`. ValueError for parameter sets of another scheme, for an
    engine of ML-KEM that only verifies, for 64 slices in two shares, and for both schemes on
    several DSP slices."""
    if schemes == BOTH and sets not in (ALL_SETS, *PAIRS):
        raise ValueError(
            f"sets must be {ALL_SETS}, or one of each scheme as in {PAIRS[0]}, with schemes={BOTH},"
            f" not {sets!r}"
        )
    if schemes == ML_KEM and verify_only == "1":
        raise ValueError(f"verify_only=1 needs schemes={ML_DSA}: ML-KEM has no signatures")
    if schemes == BOTH and dsp != "1":
        raise ValueError(f"dsp={dsp} needs schemes={ML_KEM} or {ML_DSA}: both share one DSP slice")
    return LatticeDesign(
        _chosen(ML_KEM_SETS, sets, schemes) if schemes != ML_DSA else (),
        _chosen(ML_DSA_SETS, sets, schemes) if schemes != ML_KEM else (),
        int(slices),
        readable=secrets == "readable",
        verify_only=verify_only == "1",
        check_signatures=check_signatures == "1",
        masked=is_masked(masked, slices),
        dsp=int(dsp),
    )


def _chosen(of_scheme: tuple[_Set, ...], sets: str, schemes: str) -> tuple[_Set, ...]:
    """The sets of a scheme that are named, or all."""
    known: list[str] = [parameter_set.name.lower() for parameter_set in of_scheme]
    if schemes != BOTH and sets not in (ALL_SETS, *known):
        raise ValueError(
            f"sets must be one of {ALL_SETS}, {', '.join(known)} with schemes={schemes}, not"
            f" {sets!r}"
        )
    if sets == ALL_SETS:
        return of_scheme
    return tuple(
        parameter_set
        for parameter_set in of_scheme
        if parameter_set.name.lower() in sets.split("+")
    )
