"""An operation to measure: its operands from a seed, its result by Python, its cycles predicted."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Self

from coprime.bus import registers
from coprime.bus.common import identity_fields
from coprime.bus.register_classes import Register
from coprime.device.accelerator import Accelerator, EngineError, Result
from coprime.device.base import Closing
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.engine.design import Design
from coprime.engine.prediction import Prediction

from .measure import Operands, WorstCaseNumbers, expected_result, random_operands, run_on

__all__ = ["EXPONENTS", "Workload", "has_exponent", "predict_workload"]

EXPONENTS = ("worst", "random")
"""Every bit of a secret exponent is 1; or the exponent, or the key, comes from the seed."""


def has_exponent(command: Command) -> bool:
    """Whether the operation's cycles may follow from a secret exponent."""
    return command in (Command.MODEXP, Command.RSA_PRIVATE)


@dataclass(frozen=True)
class Workload:
    """An operation with its operands.

    Parameters
    ----------
    command : MODMUL, MODEXP, RSA_PUBLIC or RSA_PRIVATE
    operands : as `coprime run --bits` makes them
    worst : the private key's exponents instead, all ones
    """

    command: Command
    operands: Operands
    worst: WorstCaseNumbers | None = None

    @classmethod
    def make(
        cls,
        command: Command,
        bits: int,
        exponents: str,
        seed: int,
        *,
        modulus: int | None = None,
        checked: bool = False,
    ) -> Self:
        """Operands of `bits` bits from a seed; `exponents` is one of EXPONENTS.

        `modulus` is that of an engine that has one only. `checked`, the engine checks a private
        operation, and does it in constant time: a key that belongs together is the worst case, too.
        Raises ValueError for a length that `random_operands` refuses.
        """
        operands = random_operands(command, bits, seed, modulus=modulus)
        private = command is Command.RSA_PRIVATE
        if exponents == "random" or not has_exponent(command) or (private and checked):
            return cls(command, operands)
        if private:
            worst = WorstCaseNumbers.of_length(bits, seed)
            return cls(command, Operands(operands.x), worst)
        return cls(command, Operands(operands.x, e=(1 << bits) - 1, m=operands.m))

    @property
    def identity(self) -> str:
        """Every number of it; the repr leaves secret ones out. No real key ever comes here."""
        return repr(astuple(self))

    @property
    def expected(self) -> int:
        """The result, by Python's integers."""
        if self.worst is not None:
            return self.worst.private(self.operands.x)
        return expected_result(self.command, self.operands)[0]

    def run(self, accelerator: Accelerator) -> Result:
        """Do it on an accelerator. Raises EngineError if that refuses."""
        if self.worst is not None:
            accelerator.load_private(self.worst)
            return accelerator.private(self.operands.x)
        return run_on(accelerator, self.command, self.operands)


def predict_workload(design: Design, workload: Workload) -> Prediction:
    """What the design's model says of a workload, without hardware or simulation.

    Raises EngineError if the hardware would refuse.
    """
    device = _PredictedDevice(design)
    workload.run(Accelerator(device, predict=device.predict))
    assert device.prediction is not None
    if device.prediction.error is not Error.NONE:
        raise EngineError(device.prediction.error)
    return device.prediction


class _PredictedDevice(Closing):
    """Answers the driver as an accelerator of a design does, and takes whatever is loaded."""

    def __init__(self, design: Design):
        self._design = design
        self.prediction: Prediction | None = None
        fields: Mapping[Register, Mapping[str, int]] = {
            registers.IDENTIFICATION: {"ID": registers.IDENTIFICATION["ID"].reset or 0},
            **identity_fields(design.capabilities),
            registers.INTERRUPT_STATUS: {"DONE": 1},
        }
        self._words = {
            register.address: sum(value << register[name].offset for name, value in values.items())
            for register, values in fields.items()
        }

    def predict(
        self, command: Command, operands: Mapping[Operand, int], lengths: Mapping[Length, int]
    ) -> Prediction:
        self.prediction = self._design.predict(command, operands, lengths)
        return self.prediction

    def read32(self, address: int) -> int:
        return self._words.get(address, 0)

    def write32(self, address: int, value: int) -> None:
        pass

    def wait_interrupt(self, timeout: float | None = None) -> None:
        pass

    def close(self) -> None:
        pass
