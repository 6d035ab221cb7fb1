"""Everything that is known of a `lattice`: interface, hardware, cycles."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from coprime.calls.interface import Call, CallOutcome, EngineInterface, Values
from coprime.cells.target import Target
from coprime.engine.capabilities import Error
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS, MlDsaSet
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS, MlKemSet

from .family import ALL_SETS, ML_DSA, ML_KEM
from .interface import (
    CHECK_KEY_CODE,
    DECAPSULATE_CODE,
    ENCAPSULATE_CODE,
    KEY_PAIR_CODE,
    ml_kem_interface,
)
from .large_design import LargeDesign
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

if TYPE_CHECKING:
    from .engine import LatticeEngine
    from .programs.ml_kem import Programs
    from .twin import CallTrace

_Set = TypeVar("_Set", MlKemSet, MlDsaSet)
_ENTRIES = {
    KEY_PAIR_CODE: KEY_PAIR,
    ENCAPSULATE_CODE: ENCAPSULATE,
    DECAPSULATE_CODE: DECAPSULATE,
}


@dataclass(frozen=True)
class LatticeDesign:
    """An engine of ML-KEM.

    Parameters
    ----------
    sets : its parameter sets
    slices : of Keccak-f[1600] a cycle: 4, 8, 16, 32 or 64
    readable : dk and K can be read
    """

    sets: tuple[MlKemSet, ...] = ML_KEM_SETS
    slices: int = 8
    readable: bool = False

    @cached_property
    def interface(self) -> EngineInterface:
        """Its slots and calls."""
        return ml_kem_interface(self.sets, readable=self.readable)

    @cached_property
    def programs(self) -> "Programs":
        """Both sides' programs."""
        from .programs.ml_kem import ml_kem_programs

        return ml_kem_programs(self.sets)

    def hardware(self, target: Target = Target.GENERIC) -> "LatticeEngine":
        """Make the engine for a target."""
        from .engine import LatticeEngine

        return LatticeEngine(self.sets, self.slices, readable=self.readable, target=target)

    def trace(
        self, call: Call, parameter_set: str, inputs: Values, random: bytes = b""
    ) -> "CallTrace":
        """A call in integers. ValueError if a check has no key."""
        from .twin import run_call

        entry = _ENTRIES.get(call.code)
        if entry is None:
            kinds = {("ek",): CHECK_EK, ("dk",): CHECK_DK, ("ek", "dk"): CHECK_BOTH}
            found = tuple(name for name in ("ek", "dk") if name in inputs)
            if found not in kinds:
                raise ValueError(f"{call.name} needs ek, dk or both, and has {found}")
            entry = kinds[found]
        number = self.interface.parameter_sets.index(parameter_set)
        present = {D: "d", Z: "z", M: "m"}
        return run_call(*(self.programs, self.slices, entry, number, inputs, present, random))

    def predict(
        self, call: Call, parameter_set: str, inputs: Values, random: bytes = b""
    ) -> CallOutcome:
        """What a call does with these complete inputs; it draws its random bytes from `random`."""
        from .twin import bytes_at

        if call.code == CHECK_KEY_CODE and not {"ek", "dk"} & set(inputs):
            return CallOutcome(Error.OPERAND_MISSING, {}, 1)
        trace = self.trace(call, parameter_set, inputs, random)
        if trace.refused:
            return CallOutcome(Error.INVALID_KEY, {}, trace.cycles)
        number = self.interface.parameter_sets.index(parameter_set)
        outputs = {}
        for name in call.outputs:
            refused = name == "key" and not trace.genuine
            place = self.programs.places["refusal" if refused else name]
            outputs[name] = bytes_at(trace.memory, place, number)
        return CallOutcome(Error.NONE, outputs, trace.cycles)


def lattice(
    slices: str,
    sets: str,
    secrets: str,
    schemes: str = ML_KEM,
    verify_only: str = "0",
    check_signatures: str = "1",
) -> "LatticeDesign | LargeDesign":
    """The design of the family `lattice`. ValueError for parameter sets of another scheme, and for
    an engine of ML-KEM that only verifies."""
    readable = secrets == "readable"
    if schemes == ML_DSA:
        return LargeDesign(
            *(_chosen(ML_DSA_SETS, sets, schemes), int(slices), verify_only == "1", readable),
            check_signatures == "1",
        )
    if verify_only == "1":
        raise ValueError(f"verify_only=1 needs schemes={ML_DSA}: ML-KEM has no signatures")
    return LatticeDesign(_chosen(ML_KEM_SETS, sets, schemes), int(slices), readable)


def _chosen(of_scheme: tuple[_Set, ...], name: str, scheme: str) -> tuple[_Set, ...]:
    """The sets of a name, or all."""
    found = tuple(one for one in of_scheme if name in (ALL_SETS, one.name.lower()))
    if not found:
        known = ", ".join(one.name.lower() for one in of_scheme)
        raise ValueError(
            f"sets must be one of {ALL_SETS}, {known} with schemes={scheme}, not {name!r}"
        )
    return found
