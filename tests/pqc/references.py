"""Stand in for accelerators where tests are about what software does around them."""

from dataclasses import dataclass, field

from coprime.device.jobs import EngineError
from coprime.engine.capabilities import Error
from coprime.lattice.interface import ml_kem_interface
from coprime.lattice.ml_dsa_interface import ML_DSA_BY_NAME, ml_dsa_interface
from coprime.model.lattice import ml_dsa
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS


@dataclass(frozen=True)
class Result:
    outputs: dict


@dataclass
class ReferenceCalls:
    """The references of the calls, as FIPS 203 prints them, and the slots of an engine."""

    sets: tuple = ML_KEM_SETS
    readable: bool = True
    held: dict = field(default_factory=dict)
    called: list = field(default_factory=list)
    wiped: int = 0
    parameter_set: str = ""

    def __post_init__(self):
        self.interface = ml_kem_interface(self.sets, readable=self.readable)

    def call(self, name, values, *, parameter_set="", read=None):
        if parameter_set != self.parameter_set:
            self.held, self.parameter_set = {}, parameter_set
        call = self.interface.named(name)
        assert set(values) <= set(call.takes)
        self.interface.check(values, parameter_set)
        self.called.append((name, sorted(values)))
        self.held.update(values)
        assert {one for one in call.inputs if one not in call.optional} <= set(self.held)
        inputs = {one: self.held[one] for one in call.takes if one in self.held}
        self.held.update(self.outputs(call, parameter_set, inputs))
        for one in call.uses_up & set(self.held):
            del self.held[one]
        assert all(self.interface.slot[one].readable for one in read)
        return Result({one: self.held[one] for one in read})

    def outputs(self, call, parameter_set, inputs):
        return call.reference(parameter_set, inputs)

    def wipe(self):
        self.held = {}
        self.wiped += 1


@dataclass
class ReferenceSignatures(ReferenceCalls):
    """The same of ML-DSA, whose verification is that of the model."""

    sets: tuple = ML_DSA_SETS

    def __post_init__(self):
        self.interface = ml_dsa_interface(self.sets, verify_only=False, readable=self.readable)

    def outputs(self, call, parameter_set, inputs):
        if call.name == "ML_DSA_VERIFY":
            one = ML_DSA_BY_NAME[parameter_set]
            if not ml_dsa.verify(one, inputs["pk"], inputs["mu"], inputs["signature"]):
                raise EngineError(Error.SIGNATURE)
        return super().outputs(call, parameter_set, inputs)
