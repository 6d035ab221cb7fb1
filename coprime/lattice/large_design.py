"""Everything that is known of a `lattice` of ML-DSA: interface, hardware, cycles."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from coprime.calls.interface import Call, CallOutcome, EngineInterface, Values
from coprime.cells.target import Target
from coprime.engine.capabilities import Error
from coprime.model.keccak import FUNCTIONS
from coprime.model.lattice import ml_dsa
from coprime.model.lattice.ml_dsa_sets import HASH_BYTES, ML_DSA_SETS, SEED_BYTES, MlDsaSet

from .ml_dsa_interface import (
    CHECK_KEY_CODE,
    KEY_PAIR_CODE,
    SIGN_CODE,
    VERIFY_CODE,
    ml_dsa_interface,
)
from .programs.ml_dsa_entries import RND, XI, MlDsaRoutine

if TYPE_CHECKING:
    from .large_engine import LargeEngine
    from .programs.ml_dsa import LargePrograms


@dataclass(frozen=True)
class LargeDesign:
    """An engine of ML-DSA.

    Parameters
    ----------
    sets : its parameter sets
    slices : of Keccak-f[1600] a cycle: 4, 8, 16, 32 or 64
    verify_only : it has no private keys
    readable : sk can be read
    check_signatures : a signature is verified before it can be read
    """

    sets: tuple[MlDsaSet, ...] = ML_DSA_SETS
    slices: int = 8
    verify_only: bool = False
    readable: bool = False
    check_signatures: bool = True

    @cached_property
    def interface(self) -> EngineInterface:
        """Its slots and calls."""
        return ml_dsa_interface(
            self.sets,
            verify_only=self.verify_only,
            readable=self.readable,
            check_signatures=self.check_signatures,
        )

    @cached_property
    def programs(self) -> "LargePrograms":
        """Both sides' programs."""
        from .programs.ml_dsa import ml_dsa_programs

        return ml_dsa_programs(self.sets, verify_only=self.verify_only)

    def hardware(self, target: Target = Target.GENERIC) -> "LargeEngine":
        """Make the engine for a target."""
        from .large_engine import LargeEngine

        return LargeEngine(
            self.sets,
            self.slices,
            verify_only=self.verify_only,
            readable=self.readable,
            check_signatures=self.check_signatures,
            target=target,
        )

    def predict(
        self, call: Call, parameter_set: str, inputs: Values, random: bytes = b""
    ) -> CallOutcome:
        """What a call does with these complete inputs; it draws its random bytes from `random`."""
        return _Prediction(self, self.interface.set_number(parameter_set), inputs, random).of(call)


class _Prediction:
    """A call, routine by routine."""

    def __init__(self, design: LargeDesign, number: int, inputs: Values, random: bytes):
        from .memory.places import words_needed

        self.design, self.number = design, number
        self.complete = dict(inputs)
        self.random, self.cycles = random, 0
        self.memory = [0] * words_needed(design.programs.places)
        for name, data in inputs.items():
            if not design.interface.slot[name].streamed:
                self.put(name, data)

    def put(self, name: str, data: bytes) -> None:
        """A slot is loaded."""
        from .twin import words_of

        start = self.design.programs.places[name].addresses[self.number]
        words = words_of(data)
        self.memory[start : start + len(words)] = words

    def get(self, name: str) -> bytes:
        """What a slot has become."""
        from .twin import bytes_at

        length = self.design.interface.slot[name].length(self.number)
        place = self.design.programs.places[name]
        return bytes_at(self.memory, place, self.number)[:length]

    def of(self, call: Call) -> CallOutcome:
        """The routines of a call, and its outputs."""
        error = {
            KEY_PAIR_CODE: self._key_pair,
            SIGN_CODE: self._sign,
            VERIFY_CODE: self._verify,
            CHECK_KEY_CODE: self._check_key,
        }[call.code]()
        names = () if error is not Error.NONE else call.outputs
        return CallOutcome(error, {name: self.get(name) for name in names}, self.cycles)

    def run(self, routine: MlDsaRoutine) -> bool:
        """A routine; whether what it checks is right."""
        from .large_call import run_routine

        present = ("xi" in self.complete) << XI | ("rnd" in self.complete) << RND
        design = self.design
        trace = run_routine(
            *(design.programs, design.slices, routine, self.number, self.memory),
            *(present, self.random),
        )
        self.random = trace.random
        self.cycles += trace.cycles
        return trace.valid

    def _mu(self, tr: bytes, *hashed: int) -> None:
        """The cycles in which the sponge computes for mu, after messages of so many bytes."""
        message = self.complete.get("message")
        if message is None or "mu" in self.complete:
            return
        from coprime.cells.keccak.twin import SpongeCycles

        function = next(one for one in FUNCTIONS if one.name == "SHAKE256")
        cycles = SpongeCycles(self.design.slices)
        for length in (*hashed, len(tr) + len(message)):
            self.cycles += cycles.one_pass + function.blocks(length) * cycles.permutation
        self.put("mu", ml_dsa.representative(tr, message))

    def _key_pair(self) -> Error:
        self.run(MlDsaRoutine.KEY_PAIR)
        return Error.NONE

    def _verify(self) -> Error:
        pk = self.get("pk")
        self._mu(ml_dsa.hashed(pk, HASH_BYTES), len(pk))
        return Error.NONE if self.run(MlDsaRoutine.VERIFY) else Error.SIGNATURE

    def _sign(self) -> Error:
        checks = self.design.check_signatures
        matches = not checks or ("pk" in self.complete and self.run(MlDsaRoutine.MATCH))
        if not matches and not self.run(MlDsaRoutine.CHECK_SK):
            return Error.INVALID_KEY
        self._mu(self.get("sk")[2 * SEED_BYTES :][:HASH_BYTES])
        self.run(MlDsaRoutine.SIGN)
        valid = not checks or self.run(MlDsaRoutine.VERIFY)
        return Error.NONE if valid else Error.FAULT

    def _check_key(self) -> Error:
        matches = "pk" not in self.complete or self.run(MlDsaRoutine.MATCH)
        return Error.NONE if matches and self.run(MlDsaRoutine.CHECK_SK) else Error.INVALID_KEY
