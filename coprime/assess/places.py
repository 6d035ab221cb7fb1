"""Which step of the program an engine executes in each cycle of a trace."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    """The place in each cycle of a trace, of each lane."""

    lanes: Sequence[tuple[str, Sequence[Place]]]
    """For each lane the path of its instance, with the dot after it, and its places."""

    def of(self, component: str) -> Sequence[Place]:
        """The places of a component's lane; of the first lane for what is in none."""
        for path, places in self.lanes:
            if f"{component}.".startswith(path):
                return places
        return self.lanes[0][1]


def places_of(
    design: Design, device: PowerDevice, run: Callable[[], object], first: int = 1
) -> Places:
    """Run a command, and look at the program counters in every cycle, from the `first` one on.

    That is 1 or more, and no later than the trace begins.
    """
    counters = [one for one in device.registers.values() if one.name.endswith(_COUNTER)]
    contexts = [
        device.registers.get(one.name.removesuffix(_COUNTER) + _CONTEXT) for one in counters
    ]
    seen: dict[int, list[tuple[int, int]]] = {}

    def look() -> int:
        seen[device.cycles] = [
            (device.peek(one), Context.WHOLE if context is None else device.peek(context))
            for one, context in zip(counters, contexts, strict=True)
        ]
        return device.cycles + 1

    device.call_at(device.cycles + first, look)
    run()
    device.call_at(0, lambda: None)
    cycles = range(device.begins, device.begins + len(device.trace))
    if not counters or not isinstance(design, EngineDesign):
        return Places([("", [Place(0, _WHOLE)] * len(cycles))])
    return Places(
        [
            (
                counter.name.removesuffix(f"sequencer.{_COUNTER}"),
                _named(program, [seen[cycle][lane] for cycle in cycles]),
            )
            for lane, (counter, program) in enumerate(zip(counters, design.programs, strict=True))
        ]
    )


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
