"""An engine's design: everything that is known of it without elaborating hardware.

A design and what it is made of are imported without Amaranth; the functions that make hardware
import it, as `predict` does, which shares expressions with it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from coprime.cells.target import Target
from coprime.exponentiators.exponentiation import Exponentiation
from coprime.multipliers.multiplication import Multiplication
from coprime.operations.commands import Command
from coprime.operations.lane_programs import lane_programs
from coprime.operations.operation import Arithmetic, Machine
from coprime.program.assembler import Program
from coprime.program.operands import Length, Operand

from .capabilities import Capabilities
from .layout import BankedLayout, Banks, Layout
from .outcome import Prediction

if TYPE_CHECKING:
    from amaranth.lib import wiring

    from coprime.multipliers.contract import ModularMultiplier

    from .engine import Engine


class Design(Protocol):
    """Everything that is known of an engine without elaborating hardware, and the hardware."""

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do."""

    def hardware(self, target: Target = Target.GENERIC) -> "wiring.Component":
        """Make the engine, with the ports of EngineSignature, for a target."""

    def multiplier_hardware(self, target: Target = Target.GENERIC) -> "wiring.Component":
        """Make one multiplier, to measure it alone."""

    def predict(
        self, command: Command, operands: Mapping[Operand, int], lengths: Mapping[Length, int]
    ) -> Prediction:
        """What a command does with these operands, of these lengths in bits: without hardware."""


@dataclass(frozen=True)
class EngineDesign:
    """An engine of lanes: capabilities, memory and multiplication."""

    capabilities: Capabilities
    memory: Layout | Banks
    """Its size, and the places of its numbers, if they do not depend on the programs."""
    multiplication: Multiplication
    make_multiplier: "Callable[[Target], ModularMultiplier]"
    """Makes the multiplication's hardware for a target."""
    exponentiation: Exponentiation
    """Of a lane that works alone."""
    randomizes: bool = False
    """Multiples of points by secret scalars begin with random coordinates."""

    def with_operations(self, commands: Iterable[Command]) -> "EngineDesign":
        """The same with more operations."""
        capabilities = self.capabilities
        more = required_operands(self.multiplication, commands, checked=capabilities.checked)
        return replace(
            self, capabilities=replace(capabilities, required={**capabilities.required, **more})
        )

    def hardware(self, target: Target = Target.GENERIC) -> "Engine":
        """Make the engine for a target."""
        from .engine import Engine

        multipliers: list[ModularMultiplier | wiring.PureInterface]
        if self.multiplication.interleaved:
            shared = self.multiplier_hardware(target)
            multipliers = [shared, shared.other]
        else:
            multipliers = [self.multiplier_hardware(target) for _ in self.programs]
        return Engine(
            self.capabilities,
            self.multiplication,
            multipliers,
            self.programs,
            self.layout,
            target=target,
        )

    def multiplier_hardware(self, target: Target = Target.GENERIC) -> "ModularMultiplier":
        """Make one multiplier, as the engine has it."""
        return self.make_multiplier(target)

    @cached_property
    def programs(self) -> list[Program]:
        """The steps of each lane."""
        return list(_programs(self._machine, frozenset(self.capabilities.required)))

    @property
    def _machine(self) -> Machine:
        multiplication = self.multiplication
        lanes = 2 if multiplication.interleaved else self.capabilities.multipliers
        return Machine(
            multiplication,
            lanes,
            self.exponentiation,
            randomizes=self.randomizes,
            hardened=self.capabilities.blinds_scalars,
        )

    @cached_property
    def layout(self) -> Layout:
        """Where each number lies."""
        if isinstance(self.memory, Layout):
            return self.memory
        return _placed(self.memory, self._machine, frozenset(self.capabilities.required.items()))

    @property
    def depth(self) -> int:
        """Words of each memory."""
        return self.memory.depth

    @property
    def concurrent_sums(self) -> bool:
        """Whether the linear unit works while products are under way."""
        return self.multiplication.overlaps and any(program.sums for program in self.programs)

    def predict(
        self, command: Command, operands: Mapping[Operand, int], lengths: Mapping[Length, int]
    ) -> Prediction:
        """What a command does with these operands, of these lengths in bits: without hardware."""
        from .prediction import predict

        return predict(
            command,
            operands,
            lengths,
            programs=self.programs,
            capabilities=self.capabilities,
            multiplication=self.multiplication,
            depth=self.depth,
            numbers=self.layout.numbers if self.concurrent_sums else None,
        )


@lru_cache(maxsize=32)
def _programs(machine: Machine, commands: frozenset[Command]) -> tuple[Program, ...]:
    """The steps of each lane, which do not depend on the size of the numbers."""
    return tuple(lane_programs(machine, commands))


@lru_cache(maxsize=64)
def _placed(
    banks: Banks, machine: Machine, required: frozenset[tuple[Command, frozenset[Operand]]]
) -> BankedLayout:
    """Where the numbers of these programs lie in two banks; a search that takes seconds."""
    operands = dict(sorted(required))
    held = frozenset[Operand]().union(*operands.values())
    used_up = {command: command.operation.used_up(held) for command in operands}
    programs = _programs(machine, frozenset(operands))
    return banks.place(programs, machine.multiplication, operands, used_up)


def lane_capabilities(
    multiplication: Multiplication, max_bits: int, prime_digits: int, **others: Any
) -> Capabilities:
    """Capabilities of an engine of lanes.

    Parameters
    ----------
    max_bits (int): bits of the longest modulus
    prime_digits (int): digits of the longest prime that the memory holds
    others: the other fields of Capabilities
    """
    width, headroom = multiplication.digit_width, multiplication.headroom
    fields: dict[str, Any] = {
        "digit_width": width,
        "headroom": headroom,
        "round_bits": multiplication.round_bits,
        "montgomery": multiplication.montgomery,
        "aligned": multiplication.aligned,
        "max_length": max_bits,
        "max_prime_length": min(prime_digits * width - headroom, max_bits),
        "required": required_operands(
            multiplication, usual_commands(), checked=others.get("checked", False)
        ),
    }
    return Capabilities(**{**fields, **others})


def usual_commands() -> list[Command]:
    """The operations that every engine of lanes has."""
    return [
        command
        for command in Command
        if command.operation.computes and not command.operation.optional
    ]


def required_operands(
    multiplication: Multiplication,
    commands: Iterable[Command],
    *,
    checked: bool,
) -> Mapping[Command, frozenset[Operand]]:
    """The operands that each of these operations of an engine of lanes reads."""
    arithmetic = Arithmetic(
        inverses=multiplication.round_bits > 1,
        montgomery=multiplication.montgomery,
        checked=checked,
    )
    return {command: command.operation.required(arithmetic) for command in commands}
