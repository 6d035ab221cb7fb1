"""Which step of the program an engine executes in each cycle of a trace."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coprime.device.faulty import StateElement
from coprime.engine.design import Design, EngineDesign
from coprime.program.assembler import Program
from coprime.program.operands import Context

from .power import PowerDevice

_COUNTER = "program_memory.pc"
_CONTEXT = "current_context.current"
_BEFORE, _AFTER, _WHOLE = "input, before the first step", "output, after the last step", "operation"


@dataclass(frozen=True, order=True)
class Place:
    """A step of a program, or what comes before and after all of them."""

    address: int  # of the step, from 1 on; 0 where there is none
    step: str  # what it computes
    modulus: str = ""  # P or Q if it belongs to one of the primes, else empty

    def __str__(self) -> str:
        return f"{self.step} (mod {self.modulus})" if self.modulus else self.step


@dataclass(frozen=True)
class Places:
    """The place in each cycle of a trace, of each part of the engine that has a program."""

    lanes: Sequence[tuple[str, Sequence[Place]]]
    """For each part the path of its instance, with the dot after it, and its places."""

    def of(self, component: str) -> Sequence[Place]:
        """The places of a component's part; of the first one for what is in none."""
        for path, places in self.lanes:
            if f"{component}.".startswith(path):
                return places
        return self.lanes[0][1]


def places_of_program(
    design: Design, device: PowerDevice, run: Callable[[], object], first: int = 1
) -> Places:
    """Run a command of an engine of numbers, and look at the program counters in every cycle, from
    the `first` one on.

    That is 1 or more, and no later than the trace begins.
    """
    found = [counter for counter in device.registers.values() if counter.name.endswith(_COUNTER)]
    context_of = [
        device.registers.get(counter.name.removesuffix(_COUNTER) + _CONTEXT) for counter in found
    ]
    watched = [
        *found,
        *(known_context for known_context in context_of if known_context is not None),
    ]
    values = watch(device, watched, run, first)
    counters, contexts = values[: len(found)], values[len(found) :]
    if not found or not isinstance(design, EngineDesign):
        return Places([("", [Place(0, _WHOLE)] * len(device.trace))])
    of_lanes = iter(contexts)
    lanes = []
    for register, context, addresses, program in zip(
        found, context_of, counters, design.programs, strict=True
    ):
        whole = [Context.WHOLE.value] * len(addresses)
        moduli = whole if context is None else next(of_lanes)
        path = register.name.removesuffix(f"sequencer.{_COUNTER}")
        lanes.append((path, _named(program, list(zip(addresses, moduli, strict=True)))))
    return Places(lanes)


def watch(
    device: PowerDevice,
    registers: Sequence[StateElement],
    run: Callable[[], object],
    first: int = 1,
) -> list[list[int]]:
    """Run a command, and give the values of each register in the cycles of its trace.

    `run` is called from the `first` cycle on, 1 or more, no later than the trace begins.
    """
    seen: dict[int, list[int]] = {}

    def look() -> int:
        seen[device.cycles] = [device.peek(register) for register in registers]
        return device.cycles + 1

    device.call_at(device.cycles + first, look)
    run()
    device.call_at(0, lambda: None)
    cycles = range(device.begins, device.begins + len(device.trace))
    return [[seen[cycle][k] for cycle in cycles] for k in range(len(registers))]


def _named(program: Program, states: Sequence[tuple[int, int]]) -> list[Place]:
    begun = False
    places = []
    for address, current in states:
        if address:
            begun = True
            step = program.steps[address - 1]
            context = Context(current) if step.modulus is Context.CURRENT else step.modulus
            modulus = context.name if context in (Context.P, Context.Q) else ""
            places.append(Place(address, step.note, modulus))
        else:
            places.append(Place(0, _AFTER if begun else _BEFORE))
    return places
