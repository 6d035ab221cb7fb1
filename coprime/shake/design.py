"""Everything that is known of a `shake`: interface, hardware, cycles."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coprime.calls.interface import Call, CallOutcome, EngineInterface, Values
from coprime.calls.masking import NONE, is_masked
from coprime.cells.target import Target
from coprime.engine.capabilities import Error
from coprime.model.keccak import FUNCTIONS, digest

from .interface import FIRST_CODE, INTERFACE, MASKED_INTERFACE, MESSAGE, OUTPUT

if TYPE_CHECKING:
    from .engine import ShakeEngine


@dataclass(frozen=True)
class ShakeDesign:
    """An engine that computes so many slices of Keccak-f[1600] a cycle: 4, 8, 16, 32 or, if it is
    not `masked`, 64.

    The cycles of a call are those of the passes over the state, during which words enter and leave:
    one for the first block, and 24 for each permutation.
    """

    slices: int
    masked: bool = False

    @property
    def interface(self) -> EngineInterface:
        """Its slots and calls."""
        return MASKED_INTERFACE if self.masked else INTERFACE

    def hardware(self, target: Target = Target.GENERIC) -> "ShakeEngine":
        """Make the engine for a target."""
        from .engine import ShakeEngine

        return ShakeEngine(self.slices, target, masked=self.masked)

    def predict(
        self, call: Call, parameter_set: str, inputs: Values, random: bytes = b""
    ) -> CallOutcome:
        """What a call does with these inputs."""
        from coprime.cells.keccak.twin import SpongeCycles

        function = FUNCTIONS[call.code - FIRST_CODE]
        message = inputs[MESSAGE.name]
        length = self.interface.length(call, OUTPUT.name, parameter_set, inputs)
        if length == 0:
            return CallOutcome(Error.SLOT_LENGTH, {}, 0)
        permutations = function.blocks(len(message)) + function.output_blocks(length) - 1
        cycles = SpongeCycles(self.slices, self.masked)
        return CallOutcome(
            error=Error.NONE,
            outputs={OUTPUT.name: digest(function, message, length)},
            cycles=cycles.one_pass + permutations * cycles.permutation,
        )


def shake(slices: str, masked: str = NONE) -> ShakeDesign:
    """The design of the family `shake`. ValueError for 64 slices in two shares."""
    return ShakeDesign(int(slices), is_masked(masked, slices))
