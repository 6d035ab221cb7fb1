"""What a testbench checks of an engine of byte strings: vectors of its calls, and what is refused.

Inputs are those that the calls draw from a seed. Outputs are those of the calls' references, which
are not what the engine computes by; cycles and errors are those that the design predicts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from coprime.calls.interface import WIPE, Call, CallDesign, EngineInterface, Slot, Values
from coprime.engine.capabilities import COMMAND_BITS, Error
from coprime.random.kinds import RandomSource

from .random_bytes import random_bytes

_DRAWS = 2  # of each call with each parameter set
_STREAM = 61
"""Bytes of a stream that is drawn in place of its alternative."""
_SHORT = (0, 1, 3, 4, 5, 8)
"""Bytes of streams around words, besides those that are drawn."""
_REFUSED_LENGTHS = (-1, 1)
"""By which the lengths of slots are wrong, besides 0."""
MOST_CYCLES = 400_000
"""Of the calls of a draw: of those that take longer, only the first draw of a set is checked."""

Load = tuple[Slot, bytes]


@dataclass(frozen=True)
class CallVector:
    """A call with the values of its slots.

    Parameters
    ----------
    call : the call
    parameter_set : its name
    number : its number
    given : what is loaded before, or fed to streams: by slot
    drawn : names of the inputs that the engine draws
    outputs : of those that can be read, by slot
    cycles : predicted
    error : predicted
    kept : names of inputs that the call before has given
    """

    call: Call
    parameter_set: str
    number: int
    given: Sequence[Load]
    drawn: Sequence[str]
    outputs: Sequence[Load]
    cycles: int
    error: Error
    kept: frozenset[str] = frozenset()

    @property
    def title(self) -> str:
        """What its check prints."""
        streams = "".join(f", {len(data)} bytes" for slot, data in self.given if slot.streamed)
        by_set = f" with {self.parameter_set}" if self.parameter_set else ""
        return f"{self.call.name}{by_set}{streams}"

    @property
    def loads(self) -> list[Load]:
        """What is loaded before the call."""
        return [pair for pair in self.given if not pair[0].streamed]

    @property
    def streams(self) -> list[Load]:
        """What is fed while it runs."""
        return [pair for pair in self.given if pair[0].streamed]


class CallChecks:
    """What is checked of an engine of byte strings.

    Parameters
    ----------
    design : the engine's
    source : where the accelerator has random bytes from
    """

    def __init__(self, design: CallDesign, source: RandomSource = RandomSource.STREAM):
        self.design, self.source = design, source
        self.interface: EngineInterface = design.interface
        self._drawn: dict[tuple[str, int, int, bool], CallVector] = {}
        self.all_cycles = 0
        """The sum of the cycles of the vectors that were made, and of the words that they move."""
        self.most_cycles = 0
        """Of these vectors' calls."""

    @property
    def sets(self) -> list[tuple[int, str]]:
        """The parameter sets, with their numbers."""
        return list(enumerate(self.interface.parameter_sets))

    @property
    def unknown(self) -> list[int]:
        """Codes that are no commands: those that differ from one in a bit."""
        known = {WIPE, *(call.code for call in self.interface.calls)}
        near = {code ^ 1 << bit for code in known for bit in range(COMMAND_BITS)}
        return sorted(near - known)

    @property
    def no_slots(self) -> list[int]:
        """Numbers of no slots."""
        return sorted({*range(32)} - {slot.number for slot in self.interface.slots})

    @property
    def no_sets(self) -> list[int]:
        """Numbers of no parameter sets: the first, and the last that there is room for."""
        return sorted({len(self.interface.parameter_sets), 31})

    @property
    def loadable(self) -> list[Slot]:
        """Slots that are loaded before calls."""
        return [slot for slot in self.interface.slots if slot.name in self.interface.loadable]

    @property
    def only_given(self) -> list[Slot]:
        """Slots that calls give, and that cannot be loaded."""
        return [
            slot
            for slot in self.interface.slots
            if not slot.streamed and slot.name not in self.interface.loadable
        ]

    @property
    def streamed(self) -> list[Slot]:
        """Slots of streams."""
        return [slot for slot in self.interface.slots if slot.streamed]

    def together(self, cores: Sequence[int]) -> list[tuple[int, CallVector]]:
        """A call for each of these cores to make at the same time: none that draws random bytes,
        which could then come to another one."""
        every = [self.first(call) for call in self.interface.calls]
        able = [vector for vector in every if not vector.drawn]
        return [(core, able[place % len(able)]) for place, core in enumerate(cores) if able]

    def wrong_lengths(self, slot: Slot, number: int) -> list[int]:
        """Bytes that a slot does not have with a parameter set."""
        right = slot.length(number)
        others = {loadable.length(number) for loadable in self.loadable}
        near = {0, *(right + difference for difference in _REFUSED_LENGTHS), *others}
        return sorted(length for length in near if length >= 0 and length != right)

    def needed(self, call: Call) -> list[Slot]:
        """The slots without which a call is not started."""
        slots = [self.interface.slot[name] for name in call.inputs if name not in call.optional]
        return [slot for slot in slots if not slot.streamed]

    def vector(
        self,
        call: Call,
        number: int,
        values: Values,
        drawn: Sequence[str] = (),
        kept: frozenset[str] = frozenset(),
    ) -> CallVector:
        """A call with these values of all of its inputs."""
        name = self.interface.parameter_sets[number]
        random = b"".join(values[input_name] for input_name in drawn)
        given = {input_name: data for input_name, data in values.items() if input_name not in drawn}
        done = self.design.predict(call, name, given, random)
        slot = self.interface.slot
        right = call.reference(name, values) if done.error is Error.NONE else {}
        outputs = [
            (slot[output], right[output])
            for output in call.outputs
            if output in right and (slot[output].readable or slot[output].streamed)
        ]
        loads = [
            (slot[input_name], data) for input_name, data in given.items() if input_name not in kept
        ]
        made = CallVector(
            call, name, number, loads, list(drawn), outputs, done.cycles, done.error, kept
        )
        self._count(made)
        return made

    def _count(self, made: CallVector) -> None:
        self.most_cycles = max(self.most_cycles, made.cycles)
        words = sum(-(-len(data) // 4) for _, data in [*made.loads, *made.outputs])
        self.all_cycles += made.cycles + 8 * words

    def drawn_vector(
        self, call: Call, number: int, seed: int, *, streams: bool = False
    ) -> CallVector:
        """A call with values drawn from a seed, and with `streams` of a stream instead of its
        alternative."""
        key = call.name, number, seed, streams
        if key in self._drawn:
            self._count(self._drawn[key])
        else:
            self._drawn[key] = self.vector(call, number, self._draw(call, number, seed, streams))
        return self._drawn[key]

    def _draw(self, call: Call, number: int, seed: int, streams: bool = False) -> Values:
        name, random = self.interface.parameter_sets[number], Random(seed)
        if streams and call.draw_stream:
            return call.draw_stream(name, random, _STREAM)
        return call.draw(name, random)

    def first(self, call: Call) -> CallVector:
        """The first vector of a call."""
        return self.drawn_vector(call, self.first_set(call), 1)

    def first_set(self, call: Call) -> int:
        """The number of the first parameter set that a call has."""
        return self.interface.set_number(self.interface.sets_of(call)[0])

    def set_with(self, slot: Slot) -> int:
        """The number of the first parameter set with which a slot has bytes."""
        return next(number for number, _ in self.sets if slot.length(number))

    def sets_without(self, call: Call) -> list[int]:
        """The numbers of the parameter sets that a call does not have."""
        return [number for number, name in self.sets if name not in self.interface.sets_of(call)]

    @cached_property
    def vectors(self) -> list[CallVector]:
        """Calls with values that are drawn, with every parameter set."""
        return [
            vector
            for number, name in self.sets
            for call in self.interface.calls_of(name)
            for vector in self._of_call(call, number)
        ]

    def _of_call(self, call: Call, number: int) -> Iterator[CallVector]:
        first = self.drawn_vector(call, number, 1)
        yield first
        is_first = number == self.first_set(call)
        if not is_first and first.cycles > MOST_CYCLES:
            return
        for seed in range(2, _DRAWS + 1):
            yield self.drawn_vector(call, number, seed)
        if call.optional:
            yield self._with_random(call, number)
        if call.draw_stream:
            yield self.drawn_vector(call, number, 1, streams=True)
        if call.refusal:
            yield self.vector(
                call, number, call.refusal.draw(self.interface.parameter_sets[number], Random(1))
            )
        for slot, data in first.streams if is_first else ():
            values = self._draw(call, number, 1)
            for size in _SHORT:
                if size < len(data):
                    yield self.vector(call, number, {**values, slot.name: data[:size]})

    def _with_random(self, call: Call, number: int) -> CallVector:
        """With random bytes in place of all inputs that the engine can draw."""
        drawn = [name for name in call.inputs if name in call.optional]
        source = random_bytes(self.source)
        values = {
            **self._draw(call, number, 1),
            **{name: source(self.interface.slot[name].length(number)) for name in drawn},
        }
        return self.vector(call, number, values, drawn)

    @cached_property
    def chains(self) -> list[tuple[CallVector, CallVector]]:
        """Two calls, of which the second one takes what the first one has given."""
        found = []
        for second in self.interface.calls:
            for first in self.interface.calls:
                given = self.interface.loadable & {*first.outputs} & {*second.takes}
                if not given or first is second:
                    continue
                number = self.first_set(second)
                before = self.drawn_vector(first, number, 3)
                if before.error is not Error.NONE:
                    continue
                right = first.reference(before.parameter_set, self._draw(first, number, 3))
                own = self._draw(second, number, 3)
                values: Mapping[str, bytes] = {**own, **{name: right[name] for name in given}}
                found.append((before, self.vector(second, number, values, kept=frozenset(given))))
                break
        return found

    def complete(self, vector: CallVector) -> tuple[int, int]:
        """COMPLETE after a call without an error, and the bits of it that are known."""
        slot = self.interface.slot
        held = {loaded.name for loaded, _ in vector.loads} | vector.kept
        held |= {name for name in vector.call.outputs if not slot[name].streamed}
        held -= vector.call.uses_up
        # What the call before has left is known of slots of this one only.
        of_call = {*vector.call.takes, *vector.call.outputs} if vector.kept else {*slot}
        known = of_call - {*vector.drawn}
        mask, bits = (
            sum(1 << slot[name].number for name in names) for names in (held & known, known)
        )
        return mask, bits

    @property
    def with_stream(self) -> CallVector | None:
        """The shortest call that takes a stream of several words; None if there is no such."""
        found = [
            self.drawn_vector(call, self.first_set(call), seed, streams=True)
            for call in self.interface.calls
            if (seed := self._streams_with(call)) is not None
        ]
        return min(found, key=lambda vector: vector.cycles, default=None)

    def _streams_with(self, call: Call) -> int | None:
        """The first seed with which a call takes a stream of several words."""
        names = [name for name in call.takes if self.interface.slot[name].streamed]
        number = self.first_set(call)
        for seed in range(1, 20) if len(names) == 1 else ():
            if len(self._draw(call, number, seed, streams=True).get(names[0], b"")) > 12:
                return seed
        return None

    @property
    def resets(self) -> list[int]:
        """Cycles from the start of the first call on to a reset."""
        cycles = self.first(self.interface.calls[0]).cycles
        return sorted({1, cycles // 2, cycles})
