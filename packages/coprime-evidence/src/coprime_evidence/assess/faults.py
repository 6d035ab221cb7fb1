"""Kinds of faults: what each does to a device, and how one is drawn."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Self

from coprime.device.faulty import FaultyDevice, StateElement

from .fault_kinds import FaultKind

_FIELDS: Mapping[FaultKind, tuple[str, ...]] = {
    FaultKind.BIT: ("word", "bit"),
    FaultKind.TWO_BITS: ("word", "bit", "other"),
    FaultKind.HOLD: (),
    FaultKind.SKIP: (),
    FaultKind.STUCK: ("word", "bit", "cycles"),
}
_MOST_STUCK = 64


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault.

    Parameters
    ----------
    kind : what happens
    cycle : clock cycles since the operation began; it is as if the registers had taken their
        changed values at the end of that cycle, the first being cycle 0
    name : of the register, the memory or the component
    word, bit : which bit; 0 where the kind has none
    other : the second of two bits
    cycles : for how many clock cycles it stays, at least 1
    """

    kind: FaultKind
    cycle: int
    name: str
    word: int = 0
    bit: int = 0
    other: int = 0
    cycles: int = 1

    def __str__(self) -> str:
        values = [getattr(self, name) for name in _FIELDS[self.kind]]
        return ",".join(map(str, (self.kind, self.cycle, self.name, *values)))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `str` gave. ValueError for anything else."""
        kind, *values = text.split(",")
        if kind not in set(FaultKind):
            raise ValueError(f"a fault begins with one of {', '.join(FaultKind)}, not {kind!r}")
        names = ("cycle", "name", *_FIELDS[FaultKind(kind)])
        form = ",".join((kind, *map(str.upper, names)))
        numbers = [value for name, value in zip(names, values, strict=False) if name != "name"]
        if len(values) != len(names) or not all(number.isdecimal() for number in numbers):
            raise ValueError(f"a fault of this kind is {form}, not {text!r}")
        given = {
            name: value if name == "name" else int(value)
            for name, value in zip(names, values, strict=True)
        }
        return cls(kind=FaultKind(kind), **given)  # type: ignore[arg-type]

    @property
    def duration(self) -> int:
        """Clock cycles after the first one in which it changes anything."""
        return {FaultKind.HOLD: 1, FaultKind.STUCK: self.cycles - 1}.get(self.kind, 0)

    def strike(self, device: FaultyDevice, targets: "Targets") -> Callable[[], int | None]:
        """What is to be called in `cycle`, as the function of `Replay`."""
        changes = self._changes(device, targets)
        return lambda: next(changes, None)

    def _changes(self, device: FaultyDevice, targets: "Targets") -> Iterator[int]:
        """Change the device; give the cycles after the first one in which that goes on."""
        if self.kind is FaultKind.HOLD:
            state = device.save()
            yield 1
            device.restore(state, only=targets.components[self.name])
            return
        register, bit = device.registers[self.name], 1 << self.bit
        word = device.peek(register, self.word)
        match self.kind:
            case FaultKind.STUCK:
                stuck = ~word & bit
                for passed in range(1, self.cycles):
                    device.poke(register, self.word, word & ~bit | stuck)
                    yield passed
                    word = device.peek(register, self.word)
                word = word & ~bit | stuck
            case FaultKind.SKIP:
                word = (word + 1) % (1 << register.width)
            case FaultKind.TWO_BITS:
                word ^= bit ^ 1 << self.other
            case _:
                word ^= bit
        device.poke(register, self.word, word)


class Targets:
    """What faults are drawn from: the registers, and the steps in the cycles of an operation.

    Every even fault of a kind is uniform: any bit of a register or a memory, in any cycle, all
    pairs with the same probability; for a hold, any component and any cycle; for a skip, any
    program counter and any cycle. What is said of an outcome's probability is from these.

    Every odd one is drawn so that what is small or short is hit as often as what is large or long:
    first a register or a memory, then a word and a bit of it; first a step, then one of the times
    that it was executed, then a cycle of these; all uniform. A step is what `steps` names the same.

    A second bit is any other bit of the word. A stuck bit is so for 2 to 64 cycles.

    Parameters
    ----------
    registers : all there are
    steps : in each cycle of the operation, what was executed
    counters : ends of the names of program counters
    """

    def __init__(
        self,
        registers: Mapping[str, StateElement],
        steps: Sequence[str],
        counters: Sequence[str],
    ):
        self.registers, self.steps, self._counters = registers, steps, tuple(counters)

    @cached_property
    def components(self) -> Mapping[str, Sequence[StateElement]]:
        """Paths of submodules, with the registers and memories in them and below."""
        found: dict[str, list[StateElement]] = {}
        for name, register in sorted(self.registers.items()):
            path = name.split(".")[:-1]
            for depth in range(1, len(path) + 1):
                found.setdefault(".".join(path[:depth]), []).append(register)
        return found

    @cached_property
    def counters(self) -> Sequence[StateElement]:
        """Program counters; none where an engine has no program."""
        named = sorted(self.registers.items())
        return [register for name, register in named if name.endswith(self._counters)]

    def check(self, fault: Fault) -> None:
        """Raise ValueError unless there is what the fault changes."""
        if fault.cycle >= len(self.steps):
            raise ValueError(
                f"the cycle of a fault must be in 0..{len(self.steps) - 1}, not {fault.cycle}"
            )
        if fault.kind is FaultKind.HOLD:
            if fault.name not in self.components:
                raise ValueError(f"there is no component {fault.name!r}")
            return
        register = self.registers.get(fault.name)
        if register is None:
            raise ValueError(f"there is no register {fault.name!r}")
        for what, value, count in (
            ("word", fault.word, register.words),
            ("bit", fault.bit, register.width),
            ("bit", fault.other, register.width),
        ):
            if value >= count:
                raise ValueError(
                    f"the {what} of {fault.name} must be in 0..{count - 1}, not {value}"
                )
        if fault.cycles not in range(1, _MOST_STUCK + 1):
            raise ValueError(
                f"the cycles of a fault must be in 1..{_MOST_STUCK}, not {fault.cycles}"
            )

    def draw(self, kind: FaultKind, number: int, seed: int) -> Fault:
        """Fault `number`, from 0 on, of a kind: the same for the same seed."""
        generator = random.Random(f"{seed} {kind} {number}")
        uniform = number % 2 == 0
        cycle = generator.randrange(len(self.steps)) if uniform else self._in_a_step(generator)
        if kind is FaultKind.HOLD:
            return Fault(kind=kind, cycle=cycle, name=generator.choice(list(self.components)))
        if kind is FaultKind.SKIP:
            return Fault(kind=kind, cycle=cycle, name=generator.choice(self.counters).name)
        two = kind is FaultKind.TWO_BITS
        registers, bits = self._drawn[two]
        if uniform:
            register = generator.choices(registers, bits)[0]
        else:
            register = generator.choice(registers)
        word = generator.randrange(register.words)
        bit, other = (
            generator.sample(range(register.width), 2)
            if two
            else (generator.randrange(register.width), 0)
        )
        cycles = generator.randint(2, _MOST_STUCK) if kind is FaultKind.STUCK else 1
        return Fault(
            kind=kind,
            cycle=cycle,
            name=register.name,
            word=word,
            bit=bit,
            other=other,
            cycles=cycles,
        )

    def _in_a_step(self, generator: random.Random) -> int:
        visits = generator.choice(self._visits)
        first, count = generator.choice(visits)
        return first + generator.randrange(count)

    @cached_property
    def _visits(self) -> Sequence[Sequence[tuple[int, int]]]:
        """For each step, the first cycle and the number of cycles of every execution."""
        found: dict[str, list[tuple[int, int]]] = {}
        first = 0
        for step, cycles in groupby(self.steps):
            count = sum(1 for _ in cycles)
            found.setdefault(step, []).append((first, count))
            first += count
        return list(found.values())

    @cached_property
    def _drawn(self) -> Mapping[bool, tuple[Sequence[StateElement], Sequence[int]]]:
        """All registers and memories with their bits; for True, those of words of two and more."""
        found = {}
        for wide in (False, True):
            own = [
                register for _, register in sorted(self.registers.items()) if register.width > wide
            ]
            found[wide] = own, [register.width * register.words for register in own]
        return found
