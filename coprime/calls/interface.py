"""What an engine of byte strings can do: slots, calls, and the record of both; without hardware.

A call takes slots and gives slots. A slot is a byte string inside the engine. The host loads it, or
a call computes it; either way it is complete until a call uses it up, it is loaded again, or the
parameter set changes. So a call's outputs can be the next call's inputs without leaving the engine.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from coprime.cells.target import Target
from coprime.engine.error_codes import Error
from coprime.errors import hint

if TYPE_CHECKING:
    from amaranth.lib import wiring

WIPE = 5
"""The code of the command that clears an engine, of any kind."""
WORD_BYTES = 4
"""Bytes of the words in which slots are loaded and read, the first byte least significant."""
SHORT_OUTPUT = 32
"""Bytes of a streamed output, where its length is a choice and cycles are compared."""

Values = Mapping[str, bytes]
"""Byte strings by the names of their slots."""


@dataclass(frozen=True)
class Slot:
    """A byte string of an engine.

    Parameters
    ----------
    number : by which software selects it, 0 to 30
    name : as in tables, and on the command line with `-` for `_`
    summary : what it holds, one line
    lengths : its bytes, one number for each parameter set; (0,) if it is streamed
    secret : whether it depends on a secret; tables and reports show no value of it
    readable : whether software may read it once it is complete
    streamed : of any length, 0 to 2^31 - 1 bytes in a part: taken, or given, while the call runs
    number_of : the name of the streamed output whose length in bytes this slot holds, as a number;
        empty if it is none
    """

    number: int
    name: str
    summary: str
    lengths: tuple[int, ...]
    secret: bool = False
    readable: bool = False
    streamed: bool = False
    number_of: str = ""

    def length(self, parameter_set: int) -> int:
        """Its bytes with this parameter set."""
        return self.lengths[parameter_set if len(self.lengths) > 1 else 0]


@dataclass(frozen=True)
class CallOutcome:
    """What a call gives.

    Parameters
    ----------
    error : NONE if it gives its outputs
    outputs : by name; the repr does not show them
    cycles : in which the engine works, not counting those in which it waits for software
    """

    error: Error
    outputs: Values = field(repr=False)
    cycles: int


@dataclass(frozen=True)
class InputRefusal:
    """How a call refuses inputs that are complete, but not genuine: by an error, or by outputs.

    Parameters
    ----------
    draw : inputs that it must refuse, for a parameter set's name, from a seed
    refused : the outputs if it refuses, whatever the inputs are
    accepted : the outputs if it accepts, whatever the inputs are
    """

    draw: Callable[[str, Random], Values]
    refused: Callable[[str, Values], Values]
    accepted: Callable[[str, Values], Values]


@dataclass(frozen=True)
class OutputVerdict:
    """What outputs are that differ from the reference's.

    Parameters
    ----------
    valid : they are as good, such as another signature of the message
    reveals : a secret can be computed from them, and from the other ones
    """

    valid: bool
    reveals: bool


RedrawInput = Callable[[str, Random, Values], Values]
"""Of a parameter set's name, a seed, and inputs: another value of one of them, by its name, and of
those that follow from it."""
JudgeOutputs = Callable[[str, Values, Values, Sequence[tuple[Values, Values]]], OutputVerdict]


@dataclass(frozen=True)
class Call:
    """A command of an engine.

    Parameters
    ----------
    code : as software writes it to COMMAND, 17 to 63
    name : as on the command line
    summary : what it computes, one line
    inputs : names of the slots that it needs complete, or streams
    if_complete : names of further slots that it uses where they are complete
    alternatives : pairs of these, of which it uses one
    optional : of its inputs those that it draws as random bytes where they are not complete, in the
        order of `inputs`
    outputs : names of the slots that it gives
    uses_up : names of inputs that are no longer complete afterwards
    sizes : bytes of streamed outputs that have one length; that of others is in a slot
    checked : whether the engine checks the outputs before they can be read
    draw : all inputs, and `if_complete`, for a parameter set's name, from a seed; of alternatives
        the first one
    draw_stream : as `draw`, with a stream of so many bytes in place of its alternative; None
        without such
    varies : on what its cycles depend besides parameter set and lengths, and what this is in
        `draw`, a sentence; empty if on nothing
    reference : the outputs, from inputs and parameter set's name, as the standard defines them
        and not as the engine computes them
    refusal : how it refuses inputs; None if it accepts all
    sets : names of the parameter sets that it has; empty if it has all. Slots of other calls have
        no bytes with them
    redraws : what draws other values of an input alone, by its name; an input that must fit another
        one comes after it
    judge : the verdict on other outputs than the reference's, for a parameter set's name, of
        inputs, outputs, and other inputs with their outputs; None: all are wrong, and reveal
        nothing by themselves
    """

    code: int
    name: str
    summary: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    draw: Callable[[str, Random], Values]
    reference: Callable[[str, Values], Values]
    if_complete: tuple[str, ...] = ()
    alternatives: tuple[tuple[str, str], ...] = ()
    optional: frozenset[str] = frozenset()
    uses_up: frozenset[str] = frozenset()
    sizes: Mapping[str, int] = field(default_factory=dict)
    checked: bool = False
    draw_stream: Callable[[str, Random, int], Values] | None = None
    varies: str = ""
    refusal: InputRefusal | None = None
    sets: tuple[str, ...] = ()
    redraws: Mapping[str, RedrawInput] = field(default_factory=dict)
    judge: JudgeOutputs | None = None

    @property
    def takes(self) -> tuple[str, ...]:
        """Names of all slots that it can use."""
        return (*self.inputs, *self.if_complete)


@dataclass(frozen=True)
class EngineInterface:
    """Everything that the shell knows of an engine of byte strings.

    Parameters
    ----------
    family : its name
    family_number : FAMILY.NUMBER
    slots, calls : without WIPE, which every engine has
    parameter_sets : names, by number; a single one without parameter sets, ("",)
    units : that work in parallel; CYCLES times `units` is what PRODUCTS is measured against
    constant_time : no call's cycles depend on a secret
    program_counters : ends of the names of registers that count the steps of programs, as in
        `sequencer.counter`; empty without a program
    masks : it takes random bytes as masks, whatever its calls draw
    """

    family: str
    family_number: int
    slots: tuple[Slot, ...]
    calls: tuple[Call, ...]
    parameter_sets: tuple[str, ...] = ("",)
    units: int = 1
    constant_time: bool = True
    program_counters: tuple[str, ...] = ()
    masks: bool = False

    @cached_property
    def slot(self) -> Mapping[str, Slot]:
        """The slots by name."""
        return {slot.name: slot for slot in self.slots}

    @cached_property
    def call(self) -> Mapping[str, Call]:
        """The calls by name."""
        return {call.name: call for call in self.calls}

    def length(self, call: Call, name: str, parameter_set: str, values: Values) -> int:
        """Bytes of a call's output: of its slot, of the call, or as a slot in `values` says."""
        slot = self.slot[name]
        if not slot.streamed:
            return slot.length(self.parameter_sets.index(parameter_set))
        if name in call.sizes:
            return call.sizes[name]
        number = next(candidate.name for candidate in self.slots if candidate.number_of == name)
        return int.from_bytes(values[number], "little")

    def named(self, name: str) -> Call:
        """The call of a name; ValueError with the nearest one if there is none."""
        if name not in self.call:
            raise ValueError(f"{self.family} has no call {name!r}; {hint(name, self.call)}")
        return self.call[name]

    def set_number(self, name: str) -> int:
        """The number of a parameter set; ValueError with all of them for another name."""
        if name not in self.parameter_sets:
            known = ", ".join(self.parameter_sets)
            raise ValueError(
                f"{self.family} has the parameter sets {known}, not {name!r}"
                if known
                else f"{self.family} has no parameter sets, and {name!r} is given"
            )
        return self.parameter_sets.index(name)

    def sets_of(self, call: Call) -> tuple[str, ...]:
        """The parameter sets of a call."""
        return call.sets or self.parameter_sets

    def calls_of(self, parameter_set: str) -> list[Call]:
        """The calls that a parameter set has."""
        return [call for call in self.calls if parameter_set in self.sets_of(call)]

    def check_set(self, call: Call, parameter_set: str) -> None:
        """ValueError, with all that it has, if a call has no such parameter set."""
        self.set_number(parameter_set)
        if parameter_set not in self.sets_of(call):
            known = ", ".join(self.sets_of(call))
            raise ValueError(f"{call.name} has the parameter sets {known}, not {parameter_set!r}")

    def check(self, values: Values, parameter_set: str) -> None:
        """Raise TypeError for a value that is not bytes, ValueError for one of a wrong length.

        The messages do not show values.
        """
        number = self.set_number(parameter_set)
        for name, value in values.items():
            if not isinstance(value, bytes | bytearray | memoryview):
                raise TypeError(f"{name} must be bytes, not {type(value).__name__}")
            slot = self.slot[name]
            wanted = slot.length(number)
            if not slot.streamed and len(value) != wanted:
                where = f" with {parameter_set}" if parameter_set else ""
                raise ValueError(f"{name} must have {wanted} bytes{where}, not {len(value)}")

    def has_stream(self, call: Call) -> bool:
        """Whether a call takes a stream, so that its cycles depend on a length."""
        return any(self.slot[name].streamed for name in call.takes)

    def inputs(self, call: Call, parameter_set: str, random: Random, stream_bytes: int) -> Values:
        """Inputs drawn from a seed, streams of `stream_bytes`; streams that it gives are short."""
        values = dict(call.draw(parameter_set, random))
        for name in call.inputs:
            slot = self.slot[name]
            if slot.streamed:
                values[name] = random.randbytes(stream_bytes)
            elif slot.number_of:
                values[name] = SHORT_OUTPUT.to_bytes(len(values[name]), "little")
        return values

    @property
    def loadable(self) -> frozenset[str]:
        """Names of the slots that software may load before a call: what calls take, but streams."""
        taken = {name for call in self.calls for name in call.takes}
        return frozenset(name for name in taken if not self.slot[name].streamed)

    @property
    def draws(self) -> bool:
        """Whether the engine takes random bytes."""
        return self.masks or any(call.optional for call in self.calls)

    @property
    def slot_bits(self) -> int:
        """Width of a slot's number."""
        return max(1, max(slot.number for slot in self.slots).bit_length())

    @property
    def set_bits(self) -> int:
        """Width of a parameter set's number; 1 without sets."""
        return max(1, (len(self.parameter_sets) - 1).bit_length())

    @property
    def index_bits(self) -> int:
        """Width of the number of a word in a slot that is not streamed."""
        longest = max(max(slot.lengths) for slot in self.slots)
        return max(1, (-(-longest // WORD_BYTES) - 1).bit_length())


class CallDesign(Protocol):
    """Everything that is known of an engine of byte strings, and its hardware."""

    @property
    def interface(self) -> EngineInterface:
        """Its slots and calls."""

    def hardware(self, target: Target = Target.GENERIC) -> "wiring.Component":
        """Make the engine, with the ports of CallSignature, for a target."""

    def predict(
        self, call: Call, parameter_set: str, inputs: Values, random: bytes = b""
    ) -> CallOutcome:
        """What a call does with these complete inputs; it draws its random bytes from `random`."""


@runtime_checkable
class NamesSteps(Protocol):
    """A design whose hardware has programs, and shows what it executes."""

    @property
    def step_names(self) -> Mapping[str, Callable[[int], str]]:
        """Ends of the names of registers, each PART.NAME, with what gives the step that the part
        executes in words, from the register's value."""
