"""A self-test of an engine of byte strings: stored calls, whose outputs are compared with stored
ones.

Nothing is needed beside the design: a read-only memory has what is to be done, a word in each step.
Seeds and keys in it come from a seed that anyone can read here: they are TEST KEYS.
"""

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from coprime.calls.interface import WORD_BYTES, Call, CallDesign, EngineInterface, Slot, Values
from coprime.calls.ports import WORD, CallSignature, interface_of
from coprime.calls.without_random import wired_without_random
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.engine.capabilities import Error
from coprime.random.kinds import RandomSource

from .self_test import SelfTestingEngine

STREAM_BYTES = 200
"""Of the streams that calls take: two blocks of SHA-3."""
_SEED = 1
_LATE = 4
"""Times the cycles that the calls take, after which the test fails; and with each word as many."""
_WORD_CYCLES = 4  # of a word, two of which are for its step
_CLEARING = 1 << 16
"""Cycles more, in which an engine clears itself."""


@dataclass(frozen=True)
class KnownCall:
    """A call with its inputs, in the order in which the calls are made, and outputs.

    Parameters
    ----------
    call : the call
    loaded : inputs that no call before has given, streams too
    kept : names of the inputs that are complete already
    compared : outputs that are compared
    cycles : predicted
    """

    call: Call
    loaded: Values
    kept: frozenset[str]
    compared: Values
    cycles: int


def known_calls(design: CallDesign) -> list[KnownCall]:
    """Every call of an engine's first parameter set once: each takes what others gave, and
    the same streams.

    Outputs that no later call takes are compared, where they can be read; all that can be read
    where that is none. Those are the references', not the prediction's. A call that refuses what it
    is given is left out.
    """
    interface = design.interface
    parameter_set, random = interface.parameter_sets[0], Random(_SEED)
    known: dict[str, bytes] = {}
    streams: dict[str, bytes] = {}
    found: list[tuple[KnownCall, Values]] = []
    for call in interface.calls_of(parameter_set):
        drawn = interface.inputs(call, parameter_set, random, STREAM_BYTES)
        kept = {name: known[name] for name in call.takes if name in known}
        streams = {name: drawn[name] for name in drawn if interface.slot[name].streamed} | streams
        inputs = {**drawn, **{name: streams[name] for name in drawn if name in streams}, **kept}
        outcome = design.predict(call, parameter_set, inputs)
        if outcome.error is not Error.NONE:
            continue
        outputs = call.reference(parameter_set, inputs)
        loaded = {name: inputs[name] for name in inputs if name not in kept}
        known_call = KnownCall(call, loaded, frozenset(kept), {}, outcome.cycles)
        found.append(
            (known_call, {name: outputs[name] for name in call.outputs if _shows(interface, name)})
        )
        given = {**kept, **loaded, **outputs}
        known |= {name: value for name, value in given.items() if not interface.slot[name].streamed}
        known = {name: value for name, value in known.items() if name not in call.uses_up}
    made = [known_call.call for known_call, _ in found]
    last = [_taken_by_none(outputs, made[k + 1 :]) for k, (_, outputs) in enumerate(found)]
    chosen = last if any(last) else [outputs for _, outputs in found]
    return [
        KnownCall(known_call.call, known_call.loaded, known_call.kept, outputs, known_call.cycles)
        for (known_call, _), outputs in zip(found, chosen, strict=True)
    ]


def _shows(interface: EngineInterface, name: str) -> bool:
    return interface.slot[name].readable or interface.slot[name].streamed


def _taken_by_none(outputs: Values, calls: Sequence[Call]) -> Values:
    taken = {name for call in calls for name in call.takes}
    return {name: value for name, value in outputs.items() if name not in taken}


def self_testing_calls(
    design: CallDesign,
    target: Target = Target.GENERIC,
    source: RandomSource = RandomSource.STREAM,
) -> SelfTestingEngine:
    """An engine of byte strings with its self-test, which draws nothing: it loads all inputs. With
    a STREAM the engine has no source of random bytes.
    """
    engine = design.hardware(Target(target))
    if source is RandomSource.STREAM:
        engine = wired_without_random(engine)
    return SelfTestingEngine(engine, CallSelfTest(interface_of(engine), *known_calls(design)))


class SelfTestStep(enum.IntEnum):
    """What a stored word is for."""

    LOAD = 0
    """It is offered to its slot until the engine takes it."""
    START = 1
    """The call begins."""
    SELECT = 2
    """The slot is read from its first word on."""
    COMPARE = 3
    """It must be the engine's next word."""
    WAIT = 4
    """The call must end without an error."""
    END = 5
    """The test has passed."""


class CallSelfTest(wiring.Component):
    """Let an engine make stored calls, one after the other, and judge its outputs.

    The test fails at the first word that differs, if a call ends with an error, and if the engine
    is late. It ends in any case, and stays as it ended until the next start or reset.

    | state | action | cycles |
    |---|---|---|
    | IDLE | | |
    | CLEAR | the engine clears itself after a reset | the engine's |
    | FETCH | the memory gives a word | 1 |
    | STEP | what the word is for, see SelfTestStep | until the engine has taken it |

    Parameters
    ----------
    interface : the engine's, which draws no random bytes
    calls : those of `known_calls`

    Members
    -------
    start (1 bit, in): starts the test, which must not be running
    engine (CallSignature): to be connected to the engine while `running` is 1
    running, passed, failed (1 bit each, out): at most one of them is 1
    """

    def __init__(self, interface: EngineInterface, *calls: KnownCall):
        self.interface, self.calls = interface, calls
        super().__init__(
            {
                "start": In(1),
                "engine": In(CallSignature(interface)),
                **dict.fromkeys(("running", "passed", "failed"), Out(1)),
            }
        )
        self._call = Signal.like(self.engine.call, name="started_call")

    def elaborate(self, platform: object) -> Module:
        """Connect engine and memory by a state machine that does one step in each state."""
        m = Module()
        engine, words = self.engine, list(self._words())
        m.submodules.stored = stored = Memory(shape=self._layout(), depth=len(words), init=words)
        read = stored.read_port()
        word = read.data
        late = Signal((self._most_cycles() - 1).bit_length() + 1)
        m.d.comb += [
            engine.load.payload.slot.eq(word.slot),
            engine.load.payload.index.eq(word.index),
            engine.load.payload.word.eq(word.word),
        ]
        ended, failed = Signal(), Signal()
        m.d.comb += engine.call.eq(self._call)  # while the call runs, too
        m.d.sync += [late.eq(late + 1), engine.read_restart.eq(0)]
        with m.If(engine.done):
            m.d.sync += [ended.eq(1), failed.eq(engine.error != Error.NONE)]
            m.d.sync += engine.complete.eq(engine.given)
        address = Signal(range(len(words)))
        m.d.comb += read.addr.eq(address)

        def end(outcome: Signal) -> None:
            m.d.sync += outcome.eq(1)
            m.next = "IDLE"

        with m.FSM() as states:
            with m.State("IDLE"), m.If(self.start):
                m.d.sync += [address.eq(0), late.eq(0), engine.complete.eq(0)]
                m.d.sync += [self.passed.eq(0), self.failed.eq(0)]
                m.next = "CLEAR"
            with m.State("CLEAR"):
                with m.If(late[-1]):
                    end(self.failed)
                with m.Elif(~engine.busy):
                    m.next = "FETCH"
            with m.State("FETCH"):
                m.next = "STEP"
            with m.State("STEP"):
                made, wrong, passed = self._step(m, word, ended, failed)
                with m.If(late[-1] | wrong):
                    end(self.failed)
                with m.Elif(passed):
                    end(self.passed)
                with m.Elif(made):
                    m.d.sync += address.eq(address + 1)
                    m.next = "FETCH"
        m.d.comb += self.running.eq(~states.ongoing("IDLE"))
        return m

    def _step(
        self, m: Module, word: data.View, ended: Signal, failed: Signal
    ) -> tuple[Signal, Signal, Signal]:
        """Do what a word is for; whether that is made, has gone wrong, was the last one."""
        engine = self.engine
        made, wrong, passed = Signal(), Signal(), Signal()
        streamed = Signal()
        found = engine.output.payload
        # Bytes after the last one have no meaning.
        counted = Mux(word.word.last, word.word.bytes, WORD_BYTES)
        differs = Cat(
            ((found.data ^ word.word.data).word_select(k, 8) != 0) & (k < counted)
            for k in range(WORD_BYTES)
        ).any() | (found.last != word.word.last)
        differs |= word.word.last & (found.bytes != word.word.bytes)
        m.d.comb += streamed.eq(
            look_up([int(slot.streamed) for slot in self._by_number()], word.slot, 1)
        )
        with m.Switch(word.step):
            with m.Case(SelfTestStep.LOAD):
                m.d.comb += [engine.load.valid.eq(1), made.eq(engine.load.ready)]
                with m.If(made & word.word.last & ~streamed):
                    m.d.sync += engine.complete.bit_select(word.slot, 1).eq(1)
            with m.Case(SelfTestStep.START):
                m.d.comb += [engine.start.eq(1), engine.call.eq(word.word.data), made.eq(1)]
                m.d.sync += [ended.eq(0), self._call.eq(word.word.data)]
            with m.Case(SelfTestStep.SELECT):
                m.d.sync += [engine.read_slot.eq(word.slot), engine.read_restart.eq(1)]
                m.d.comb += made.eq(1)
            with m.Case(SelfTestStep.COMPARE):
                m.d.comb += [engine.output.ready.eq(1), made.eq(engine.output.valid)]
                m.d.comb += wrong.eq(made & differs)
            with m.Case(SelfTestStep.WAIT):
                m.d.comb += [made.eq(ended), wrong.eq(ended & failed)]
            with m.Default():
                m.d.comb += passed.eq(1)
        return made, wrong, passed

    def _by_number(self) -> list[Slot]:
        """The slots, with one in the place of each number that none has."""
        interface = self.interface
        numbers = {slot.number: slot for slot in interface.slots}
        return [numbers.get(k, interface.slots[0]) for k in range(1 << interface.slot_bits)]

    def _most_cycles(self) -> int:
        """After which the engine is late, roughly."""
        calls = sum(known_call.cycles for known_call in self.calls)
        return _LATE * (calls + _WORD_CYCLES * len(list(self._words()))) + _CLEARING

    def _layout(self) -> data.StructLayout:
        interface = self.interface
        fields = {
            "step": range(len(SelfTestStep)),
            "slot": interface.slot_bits,
            "index": interface.index_bits,
            "word": WORD,
        }
        return data.StructLayout(fields)

    def _words(self) -> Iterator[dict[str, object]]:
        """A stored word for each step."""
        for known_call in self.calls:
            streams = [name for name in known_call.loaded if self.interface.slot[name].streamed]
            for name in known_call.loaded:
                if name not in streams:
                    yield from self._each_word(SelfTestStep.LOAD, name, known_call.loaded[name])
            yield {"step": SelfTestStep.START, "word": {"data": known_call.call.code}}
            for name in streams:
                yield from self._each_word(SelfTestStep.LOAD, name, known_call.loaded[name])
            given = [name for name in known_call.compared if self.interface.slot[name].streamed]
            yield from self._compared(known_call, given)
            yield {"step": SelfTestStep.WAIT}
            yield from self._compared(
                known_call, [name for name in known_call.compared if name not in given]
            )
        yield {"step": SelfTestStep.END}

    def _compared(self, known_call: KnownCall, names: Sequence[str]) -> Iterator[dict[str, object]]:
        for name in names:
            yield {"step": SelfTestStep.SELECT, "slot": self.interface.slot[name].number}
            yield from self._each_word(SelfTestStep.COMPARE, name, known_call.compared[name])

    def _each_word(
        self, step: SelfTestStep, name: str, value: bytes
    ) -> Iterator[dict[str, object]]:
        parts = [value[k : k + WORD_BYTES] for k in range(0, len(value), WORD_BYTES)] or [b""]
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            yield {
                "step": step,
                "slot": self.interface.slot[name].number,
                "index": 0 if self.interface.slot[name].streamed else index,
                "word": {"data": int.from_bytes(part, "little"), "bytes": len(part), "last": last},
            }
