"""Constant time of an engine of byte strings, proved.

Two copies of an engine come out of a reset and get the same public inputs: calls, parameter sets,
which slots are complete, when words and random bytes come, and how long they are. Each copy has its
own secrets: the bytes of all slots but those that hold a length, all random bytes, and every word
that is read from a memory, which may be any word in any cycle. Then all that can be seen from
outside is the same in every cycle: when the engine is busy, works, takes and gives words, how long
these are, and which slots are complete; also which errors there are, but for INVALID_KEY, which is
what a check of a key is for.

* A search of the netlist, bit by bit, finds every register that a path leads to from a secret: the
  others are the same in both copies, whatever the secrets. The search stops at the signals of the
  engine's `TimingPremises`. If an engine names some, nothing that is seen may be reached.
* A solver proves for the two copies, of which the second one reads the first one's registers where
  they are the same, that what is seen is the same, and so are those signals that the premises leave
  to it. Copies are compared until they differ in what the premises call public, or there is a
  fault. Until a register first differs, both read the same; and before it can differ, one of those
  signals has to.

Source: as `constant_time`, which has the solver.
"""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.calls.interface import CallDesign, EngineInterface
from coprime.calls.ports import CallSignature
from coprime.calls.timing import TimingPremises, timing_premises
from coprime.cells.tables import look_up
from coprime.engine.capabilities import Error
from coprime.flow.tool_errors import ToolError

from .aiger import Graph
from .constant_time import SimulatedCopies, TimingProof, counterexample, graph_of

_HELD = ("call", "parameter_set", "complete")
_SEEN = ("busy", "done", "working", "multiplying", "given")


class TwoCallCopies(wiring.Component):
    """Two copies of an engine with the same public inputs.

    What is `_HELD` stays as it is while the engines are busy, as CallSignature wants it.

    Members
    -------
    Those of the engine that are public inputs, without its streams; and
    load_valid, slot, index, bytes, last, length : of the words that are loaded; `length` is the
        data of slots that hold a length
    data_a, data_b : each copy's data of all other slots
    random_valid, random_a, random_b : random bytes, if the engine draws some
    takes : a word that is read is taken
    cut_a, cut_b : each copy's signals of the premises
    seen_a, seen_b : all that can be seen of each copy, but errors
    comparable : the copies have had the same `public` signals, and no fault, in all cycles so far
    wrong : they are comparable, and something that is seen differs, or a signal that is `proved`
    """

    def __init__(self, engines: tuple[wiring.Component, wiring.Component]):
        self.engines = engines
        self.interface: EngineInterface = engines[0].interface
        self.premises = tuple(map(timing_premises, engines))
        self.shared = {
            name: member
            for name, member in CallSignature(self.interface).members.items()
            if member.is_port and member.flow is In
        }
        load = engines[0].load.payload
        words = {
            "slot": In(len(load.slot)),
            "index": In(len(load.index)),
            "bytes": In(len(load.word.bytes)),
            **dict.fromkeys(("load_valid", "last", "takes"), In(1)),
            **dict.fromkeys(("length", "data_a", "data_b"), In(len(load.word.data))),
        }
        drawn = {"random_valid": In(1), "random_a": In(8), "random_b": In(8)}
        cut = sum(map(len, self._cut(0)))
        seen = len(self._seen(engines[0]))
        super().__init__(
            {
                **self.shared,
                **words,
                **(drawn if self.interface.draws else {}),
                **dict.fromkeys(("cut_a", "cut_b"), Out(cut)),
                **dict.fromkeys(("seen_a", "seen_b"), Out(seen)),
                **dict.fromkeys(("comparable", "wrong"), Out(1)),
            }
        )

    def _cut(self, which: int) -> Iterator[Signal]:
        found: TimingPremises = self.premises[which]
        yield from (*found.public, *found.faults, *found.proved)

    def elaborate(self, platform: object) -> Module:
        """Connect the copies, and compare them."""
        m = Module()
        for which, engine in zip("ab", self.engines, strict=True):
            m.submodules[which] = engine
            self._words(m, which, engine)
        busy = self.engines[0].busy
        for name in self.shared:
            value = getattr(self, name)
            if name in _HELD:
                before, held = (Signal.like(value, name=f"{name}_{end}") for end in ("was", "held"))
                m.d.comb += held.eq(Mux(busy, before, value))
                m.d.sync += before.eq(held)
                value = held
            m.d.comb += [getattr(engine, name).eq(value) for engine in self.engines]
        a, b = self.premises
        excused, apart = Signal(reset_less=True), Signal()
        m.d.comb += [
            self.seen_a.eq(self._seen(self.engines[0])),
            self.seen_b.eq(self._seen(self.engines[1])),
            self.cut_a.eq(Cat(*self._cut(0))),
            self.cut_b.eq(Cat(*self._cut(1))),
            apart.eq((Cat(*a.public) != Cat(*b.public)) | Cat(*a.faults, *b.faults).any()),
            self.comparable.eq(~excused & ~apart),
            self.wrong.eq(
                self.comparable
                & (
                    (Cat(*a.proved) != Cat(*b.proved))
                    | (self.seen_a != self.seen_b)
                    | self._errors_differ()
                )
            ),
        ]
        m.d.sync += excused.eq(excused | apart)
        return m

    def _words(self, m: Module, which: str, engine: wiring.Component) -> None:
        """The streams of a copy."""
        interface = self.interface
        numbers = {slot.number for slot in interface.slots if slot.number_of}
        is_length = look_up([int(k in numbers) for k in range(1 << len(self.slot))], self.slot, 1)
        load: stream.Interface = engine.load
        own = getattr(self, f"data_{which}")
        m.d.comb += [
            load.valid.eq(self.load_valid),
            load.payload.slot.eq(self.slot),
            load.payload.index.eq(self.index),
            load.payload.word.data.eq(Mux(is_length, self.length, own)),
            load.payload.word.bytes.eq(self.bytes),
            load.payload.word.last.eq(self.last),
            engine.output.ready.eq(self.takes),
        ]
        if interface.draws:
            random: stream.Interface = engine.random
            m.d.comb += [
                random.valid.eq(self.random_valid),
                random.payload.eq(getattr(self, f"random_{which}")),
            ]

    def _seen(self, engine: wiring.Component) -> Value:
        """All that can be seen from outside, but errors and the bytes themselves."""
        output: stream.Interface = engine.output
        size = Cat(output.payload.bytes, output.payload.last)
        parts = [
            *(getattr(engine, name) for name in _SEEN),
            engine.load.ready,
            output.valid,
            size & output.valid.replicate(len(size)),
        ]
        if self.interface.draws:
            parts.append(engine.random.ready)
        return Cat(*parts)

    def _errors_differ(self) -> Value:
        """An error that one copy has only, but INVALID_KEY."""
        shown = [
            Mux(engine.error == Error.INVALID_KEY, Const(0), engine.error)
            for engine in self.engines
        ]
        return shown[0] != shown[1]


_NEAR = (1, 4)
"""Cycles before what is seen from which registers are kept as such, in the solver's first tries."""
_PUBLIC = (
    *("start", "call", "parameter_set", "complete", "read_slot", "read_restart"),
    *("load_valid", "slot", "index", "bytes", "last", "length", "random_valid", "takes"),
    *("clk", "rst"),
)


def _is_public(name: str) -> bool:
    return name.split("[")[0] in _PUBLIC


def prove_calls(design: CallDesign, *, seconds: int = 600) -> TimingProof:
    """Prove that an engine of byte strings is constant-time, or find out that it is not.

    The solver may take so many seconds for one try; the question has up to four. Raises ToolError
    where it takes longer.
    """
    return prove_engines((design.hardware(), design.hardware()), seconds=seconds)


def prove_engines(
    engines: tuple[wiring.Component, wiring.Component], *, seconds: int = 600
) -> TimingProof:
    """The same of two engines that are alike."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        graph = graph_of(TwoCallCopies(engines), folder, undefined="zero")
        return prove_graph(graph, folder, seconds)


def prove_graph(graph: Graph, folder: Path, seconds: int) -> TimingProof:
    """The same of two copies as a graph.

    Registers far from what is seen do not matter for most of the solver's proofs. So with premises
    it is first asked with all but the nearest ones as inputs, of any value in any cycle. Raises
    ToolError as `prove_calls`.
    """
    bits = SimulatedCopies(graph).bits
    reached = graph.led_to(_secrets(graph), _variables(graph, "cut_"))
    secret = {name for name, pair in bits.items() if not reached.keys().isdisjoint(pair)}
    premises = bool(_variables(graph, "cut_"))
    seen = [variable for variable in sorted(_variables(graph, "seen_")) if variable in reached]
    if premises and seen:
        return TimingProof.of(bits, secret, cycle=None, way=_way(graph, reached, seen[0]))
    merged = graph.merged({b: a for name, (a, b) in bits.items() if name not in secret})
    registers = {*range(1 + graph.inputs, 1 + graph.inputs + len(graph.nexts))}
    for cycles in (*_NEAR, None) if premises else (None,):
        kept = registers if cycles is None else merged.read_by("wrong", cycles)
        asked, _ = merged.freed({register: register for register in registers - kept})
        asked.asserting_equal((), "comparable", "wrong").write(folder / "equal.aig")
        trace = counterexample(folder, seconds)
        if trace is None:
            return TimingProof.of(bits, secret, cycle=None)
    comparison = SimulatedCopies(graph)
    for cycle, inputs in enumerate(trace or ()):
        if comparison.step(inputs)[2]:
            return TimingProof.of(bits, secret, cycle=cycle)
    raise ToolError("ABC's counterexample does not hold in a simulation")


def _secrets(graph: Graph) -> set[int]:
    """Variables of all inputs but the public ones: what is read from memories among them."""
    public = {number for name, number in graph.names.items() if _is_public(name)}
    return {*range(1, 1 + graph.inputs)} - public


def _variables(graph: Graph, prefix: str) -> set[int]:
    """Of the outputs whose names begin like that."""
    return {output >> 1 for name, output in graph.outputs.items() if name.startswith(prefix)}


def _way(graph: Graph, reached: Mapping[int, int], end: int) -> tuple[str, ...]:
    """Names of the registers on the way from a secret to a variable."""
    names = {number: name for name, number in graph.names.items()}
    found = []
    while end:
        if end in names:
            found.append(names[end])
        end = reached[end]
    return tuple(reversed(found))
