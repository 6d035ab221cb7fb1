"""Everything that is known of a `lattice` of ML-DSA: interface, hardware, cycles."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from coprime.calls.interface import Call, CallOutcome, EngineInterface, Values
from coprime.cells.target import Target
from coprime.engine.capabilities import Error
from coprime.model.keccak import FUNCTIONS
from coprime.model.lattice import ml_dsa
from coprime.model.lattice.ml_dsa_sets import HASH_BYTES, ML_DSA_SETS, MlDsaSet

from .ml_dsa_interface import KEY_PAIR_CODE, SIGN_CODE, VERIFY_CODE, ml_dsa_interface
from .programs.ml_dsa_entries import KEY_PAIR, RND, SIGN, VERIFY, XI

if TYPE_CHECKING:
    from .large_call import LargeTrace
    from .large_engine import LargeEngine
    from .programs.ml_dsa import LargePrograms

_ENTRIES = {KEY_PAIR_CODE: KEY_PAIR, SIGN_CODE: SIGN, VERIFY_CODE: VERIFY}


@dataclass(frozen=True)
class LargeDesign:
    """An engine of ML-DSA.

    Parameters
    ----------
    sets : its parameter sets
    slices : of Keccak-f[1600] a cycle: 4, 8, 16, 32 or 64
    verify_only : it has no private keys
    readable : sk can be read
    """

    sets: tuple[MlDsaSet, ...] = ML_DSA_SETS
    slices: int = 8
    verify_only: bool = False
    readable: bool = False

    @cached_property
    def interface(self) -> EngineInterface:
        """Its slots and calls."""
        return ml_dsa_interface(self.sets, verify_only=self.verify_only, readable=self.readable)

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
            target=target,
        )

    def trace(
        self, call: Call, parameter_set: str, inputs: Values, random: bytes = b""
    ) -> "LargeTrace":
        """A call in integers, once mu is known."""
        from .large_call import run_large_call

        number = self.interface.set_number(parameter_set)
        entry = _ENTRIES[call.code]
        present = ("xi" in inputs) << XI | ("rnd" in inputs) << RND
        return run_large_call(self.programs, self.slices, entry, number, inputs, present, random)

    def predict(
        self, call: Call, parameter_set: str, inputs: Values, random: bytes = b""
    ) -> CallOutcome:
        """What a call does with these complete inputs; it draws its random bytes from `random`."""
        from .twin import bytes_at

        cycles, values = 0, dict(inputs)
        message = values.pop("message", None)
        if message is not None and "mu" not in values:
            length = HASH_BYTES + len(message)
            if call.code == SIGN_CODE:
                cycles = self._hashing(length)
                values["mu"] = ml_dsa.representative(values["sk"][64:128], message)
            else:
                cycles = self._hashing(len(values["pk"]), length)
                values["mu"] = ml_dsa.representative_for(values["pk"], message)
        trace = self.trace(call, parameter_set, values, random)
        cycles += trace.cycles
        if call.code == VERIFY_CODE and not trace.valid:
            return CallOutcome(Error.SIGNATURE, {}, cycles)
        number = self.interface.set_number(parameter_set)
        outputs = {}
        for name in call.outputs:
            data = bytes_at(trace.memory, self.programs.places[name], number)
            outputs[name] = data[: self.interface.slot[name].length(number)]
        return CallOutcome(Error.NONE, outputs, cycles)

    def _hashing(self, *lengths: int) -> int:
        """Cycles in which the sponge computes for mu: messages of so many bytes."""
        from coprime.cells.keccak.twin import SpongeCycles

        function = next(one for one in FUNCTIONS if one.name == "SHAKE256")
        cycles = SpongeCycles(self.slices)
        return sum(
            cycles.one_pass + function.blocks(length) * cycles.permutation for length in lengths
        )
