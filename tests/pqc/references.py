"""Stands in for an accelerator of ML-KEM where tests are about what software does around it."""

from dataclasses import dataclass, field

from coprime.lattice.interface import ml_kem_interface
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
        inputs = {one: self.held[one] for one in call.inputs}
        self.held.update(call.reference(parameter_set, inputs))
        for one in call.uses_up:
            del self.held[one]
        assert all(self.interface.slot[one].readable for one in read)
        return Result({one: self.held[one] for one in read})

    def wipe(self):
        self.held = {}
        self.wiped += 1
