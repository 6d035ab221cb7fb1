"""An engine's design: everything that is known of it before there is hardware."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from amaranth.lib import wiring

from coprime.cells.target import Target

from .contract import Capabilities, Command, Length, Operand
from .engine import Engine
from .layout import Layout
from .prediction import Lengths, Prediction, predict
from .program import Program

__all__ = ["EngineDesign", "Multiplier"]


class Multiplier(Protocol):
    """A class of multipliers: how to make one, and what one multiplication costs."""

    def __call__(self, count_bits: int, target: Target) -> wiring.Component:
        """Make the hardware."""
        ...

    def cycles(self, inner: int, outer: int) -> int:
        """Cycles of one multiplication of `inner` by `outer` digits."""
        ...

    def products(self, inner: int, outer: int) -> int:
        """Digit products of one multiplication that the algorithm needs."""
        ...


@dataclass(frozen=True)
class EngineDesign:
    """Capabilities, memory layout, program and multiplier; hardware and prediction from these."""

    capabilities: Capabilities
    layout: Layout
    program: Program
    multiplier: Multiplier

    def hardware(self, target: Target = Target.GENERIC) -> Engine:
        """Make the engine for a target."""
        multiplier = self.multiplier(self.capabilities.count_bits, target)
        return Engine(self.capabilities, multiplier, self.program, self.layout, target=target)

    def predict(
        self, command: Command, operands: Mapping[Operand, int], lengths: Mapping[Length, int]
    ) -> Prediction:
        """What a command does with these operands, of these lengths in bits: without hardware."""
        digits = {kind: self.capabilities.digits(length) for kind, length in lengths.items()}
        return predict(
            command,
            operands,
            Lengths(
                digits.get(Length.MODULUS, 0),
                digits.get(Length.EXPONENT, 0),
                digits.get(Length.P, 0),
                digits.get(Length.Q, 0),
            ),
            program=self.program,
            capabilities=self.capabilities,
            multiplier=self.multiplier,
            layout=self.layout,
        )
