"""Constant time, proved: no secret changes how long an engine works.

Two copies of an engine come out of a reset and get the same public inputs: commands, lengths, what
is written where and when, when random bytes come. What is secret is each copy's own: every digit
that is written, every random byte, and every word that is read from a memory, which may thus be any
word in any cycle. A solver proves that the copies' outputs are the same in every cycle, whatever
the inputs; or it finds inputs after which they differ.

Source: Barthe, D'Argenio and Rezk, "Secure information flow by self-composition" (2004), on
netlists, with property-directed reachability (Een, Mishchenko and Brayton 2011) in ABC. To prove
outputs alone takes the solver too long. So it has to prove first
which bits of registers are the same in both copies: all of them but those that differ in a
simulation with random secrets, then, each time it finds inputs after which one differs, all but
that. That is proved for each component by itself, with any values from the others, the same ones in
both copies where these are to be proved the same: by induction over the cycles all hold together.
The second copy's next state is computed from the first one's bits where they are to be the same:
until one of them differs for the first time, each has the same value in both. Then the outputs are
compared, with all of these bits shared.
"""

import math
import random
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Self

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.engine.contract import Capabilities, EngineSignature, Length, Operand
from coprime.engine.design import Design
from coprime.engine.engine import Engine
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import package_folder, run_tool, run_yosys
from coprime.flow.verilog import to_verilog
from coprime.operations.operation import among
from coprime.program.steps import StepKind

from .aiger import Graph

TOP = "coprime_two"
_EMPTY = re.compile(r"lat =\s+0\s+and =\s+0\s")
"""What ABC prints of a graph without registers and gates."""
_SHORT = 20  # part of the solver's time that the first tries have
_HELD = ("command", "counts", "lengths")
_YOSYS = (
    f"hierarchy -check -top {TOP}",
    "proc -norom",
    "flatten",
    "opt_clean",
    "memory_collect",
    "opt_clean",
    # What is read from a memory may be any word; those that nothing writes hold steps.
    "cutpoint t:$mem_v2 r:WR_PORTS>0 %i",
    "memory_map",
    "opt_clean -purge",
    "opt",
    "techmap",
    "opt",
    "dffunmap",
    "simplemap",
    "setundef -undriven -{0}",
    "setundef -{0}",
    "aigmap",
    "opt_clean -purge",
    "write_aiger -ascii -symbols -zinit two.aag",
)


@dataclass(frozen=True, kw_only=True)
class TimingProof:
    """What the solver says of an engine.

    Parameters
    ----------
    holds : whether every output is the same in every cycle, whatever the secrets
    cycle : if it does not hold, cycles from a reset until outputs differ
    same, other : registers that are the same whatever the secrets, and of which a bit may differ;
        of those from which a path leads to the outputs
    way : of an engine of byte strings, if it does not hold since secrets lead to an output: the
        registers on the way
    """

    holds: bool
    cycle: int | None
    same: tuple[str, ...]
    other: tuple[str, ...]
    way: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        bits: Iterable[str],
        other: Iterable[str],
        *,
        cycle: int | None,
        way: tuple[str, ...] = (),
    ) -> Self:
        """The proof, from all bits and those that may differ; it does not hold with a cycle, or a
        way."""
        every, differing = (
            {re.sub(r"\[\d+\]$", "", bit) for bit in some} for some in (bits, other)
        )
        same = tuple(sorted(every - differing))
        holds = cycle is None and not way
        return cls(holds=holds, cycle=cycle, same=same, other=tuple(sorted(differing)), way=way)


class TwoCopies(wiring.Component):
    """Two copies of an engine with the same public inputs.

    `command`, `counts` and `lengths` stay as they are while the engines are busy, as the engine
    contract wants it.

    Members
    -------
    Those of the engine that are public inputs; and
    digit_a, digit_b, random_a, random_b : each copy's digits that are written, and random bytes
    comparable : no check has ended one copy's command with an error and not the other's, and both
        have read the same public exponent
    wrong : the outputs differ although they are comparable
    """

    def __init__(self, design: Design):
        self.capabilities = capabilities = design.capabilities
        self.copies = (design.hardware(), design.hardware())
        self._rests: dict[str, Value] = {}
        self.shared = {
            name: member
            for name, member in EngineSignature(capabilities).members.items()
            if member.is_port and member.flow is In and name != "digit"
        }
        random_bytes = {"random_a": In(8), "random_b": In(8), "random_valid": In(1)}
        ports = {
            **self.shared,
            **dict.fromkeys(("digit_a", "digit_b"), In(capabilities.digit_width)),
            **(random_bytes if capabilities.draws else {}),
            **dict.fromkeys(("comparable", "wrong"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Connect the copies, and compare them."""
        m = Module()
        busy = self.copies[0].busy
        for name in self.shared:
            value: Value = Value.cast(getattr(self, name))
            if name in _HELD:
                before = Signal(len(value), name=f"{name}_before")
                held = Signal(len(value), name=f"{name}_held")
                m.d.comb += held.eq(Mux(busy, before, value))
                m.d.sync += before.eq(held)
                value = held
            m.d.comb += [Value.cast(getattr(copy, name)).eq(value) for copy in self.copies]
        for which, copy in zip("ab", self.copies, strict=True):
            m.submodules[which] = copy
            self._rests[which] = self._where_one_rests(m, copy)
            m.d.comb += copy.digit.eq(getattr(self, f"digit_{which}"))
            if self.capabilities.draws:
                m.d.comb += [
                    copy.random.valid.eq(self.random_valid),
                    copy.random.payload.eq(getattr(self, f"random_{which}")),
                ]
        excused, apart = Signal(reset_less=True), Signal()
        m.d.comb += [
            apart.eq(self._differ(self._errors) | self._differ(self._public_digits)),
            self.comparable.eq(~excused & ~apart),
            self.wrong.eq(self.comparable & self._differ(self._observed)),
        ]
        m.d.sync += excused.eq(excused | apart)
        return m

    def _differ(self, values: Callable[[wiring.Component], Iterator[Value]]) -> Value:
        a, b = (Cat(*values(copy)) for copy in self.copies)
        return a != b

    def _where_one_rests(self, m: Module, copy: wiring.Component) -> Value:
        """Whether the product under way is one that a lane leaves out where a bit is 0.

        Of two multipliers side by side one rests there in MODEXP: that takes no cycle, but the
        count of products shows it. Where products chain, the sequencer may be at the next one.
        """
        if not isinstance(copy, Engine):
            two = self.capabilities.multipliers == 2
            return among(copy.command, self.capabilities.powers) if two else Const(0)
        conditional = []
        for lane in copy.lanes:
            is_conditional: Value = lane.sequencer.step.conditional
            if lane.multiplication.chains:
                kept = Signal()
                with m.If(lane.multiplier.accepts):
                    m.d.sync += kept.eq(is_conditional)
                is_conditional = kept
            conditional.append(is_conditional)
        return Cat(*conditional).any()

    def _observed(self, copy: wiring.Component) -> Iterator[Value]:
        """All that can be measured outside, but for the products of a lane that may rest."""
        yield from (copy.busy, copy.done)
        if self.capabilities.draws:
            yield copy.random.ready
        rests = self._rests["a" if copy is self.copies[0] else "b"]
        yield copy.multiplying & (~rests).replicate(len(copy.multiplying))

    def _errors(self, copy: wiring.Component) -> Iterator[Value]:
        """What a check has found: a lane's error, which may not be an output before the end."""
        yield copy.error
        if isinstance(copy, Engine):
            yield from (lane.sequencer.code for lane in copy.lanes)

    def _public_digits(self, copy: wiring.Component) -> Iterator[Value]:
        """Digits of the public exponent, in the cycle in which they are taken."""
        for lane in copy.lanes if isinstance(copy, Engine) else ():
            if StepKind.SCAN_PUBLIC in lane.program.kinds:
                sequencer = lane.sequencer
                digits = Cat(sequencer.exponent_data, sequencer.exponent_other)
                takes = sequencer.scanner.take & sequencer.scanner.public
                yield digits & takes.replicate(len(digits))


class SimulatedCopies:
    """The two copies as a graph, simulated in many runs at once.

    Parameters
    ----------
    graph : of TwoCopies
    runs : how many runs at once
    bits : variables of the bits that are compared, by their names; all of both copies if None
    """

    def __init__(
        self, graph: Graph, runs: int = 1, bits: Mapping[str, tuple[int, int]] | None = None
    ):
        self.graph = graph
        if bits is not None:
            self.bits = bits
        self.ones = (1 << runs) - 1
        self._step = graph.compiled()
        self._state = [0] * len(graph.nexts)
        self._first = 1 + graph.inputs

    @cached_property
    def bits(self) -> Mapping[str, tuple[int, int]]:
        """Variables of every register's bit in both copies, by its name."""
        found = {}
        for name, variable in self.graph.names.items():
            other = self.graph.names.get("b." + name[2:])
            if name.startswith("a.") and other is not None and variable >= self._first:
                found[name[2:]] = (variable, other)
        return found

    def restart(self, runs: int) -> None:
        """Bring some runs back to their start."""
        self._state = [value & ~runs for value in self._state]

    def step(self, inputs: list[int]) -> tuple[set[str], int, int]:
        """A cycle: bits that differ in it; runs that are comparable; runs that are wrong."""
        before = self._state
        self._state, outputs = self._step(before, inputs, self.ones)
        of = dict(zip(self.graph.outputs, outputs, strict=True))
        comparable, first = of["comparable"], self._first
        differing = {
            name
            for name, (a, b) in self.bits.items()
            if (before[a - first] ^ before[b - first]) & comparable
        }
        return differing, comparable, of["wrong"]


class RandomRuns:
    """Runs of the two copies with random secrets: operands are written, then commands are run."""

    RUNS = 256

    def __init__(self, graph: Graph, capabilities: Capabilities, seed: int = 1):
        self.capabilities = capabilities
        self.comparison = SimulatedCopies(graph, self.RUNS)
        self.random = random.Random(seed)
        self.names = {name: k - 1 for name, k in graph.names.items() if k <= graph.inputs}
        public = {k for name, k in self.names.items() if not re.match("digit_|random_[ab]", name)}
        self.secret = sorted({*range(graph.inputs)} - public)
        self.differing: set[str] = set()
        self.wrong_in: int | None = None
        """Cycles after a reset in which the outputs differed in one of the runs; None: in none."""
        self._cycles_of = [0] * self.RUNS

    def run(self, cycles: int) -> set[str]:
        """Bits that ever differ, in so many cycles of each command, or until outputs do."""
        capabilities = self.capabilities
        count = dict.fromkeys(Length, capabilities.max_length)
        primes = min(capabilities.max_prime_length, math.ceil(capabilities.max_length / 2))
        count |= {Length.P: primes, Length.Q: primes}
        classes = [length for length in Length if length is not Length.DIGIT]
        lengths = sum(
            count[length] << capabilities.length_bits * k for k, length in enumerate(classes)
        )
        counts = sum(
            capabilities.digits(count[length]) << capabilities.count_bits * k
            for k, length in enumerate(classes)
        )
        public = {"lengths": lengths, "counts": counts, "random_valid": 1}
        for operand in capabilities.operands:
            for k in range(capabilities.max_digits):
                written = {"write": 1, "operand": operand, "index": k}
                if operand is Operand.M and capabilities.fixed_modulus is not None:
                    digit = (
                        capabilities.fixed_modulus >> k * capabilities.digit_width
                        & (1 << capabilities.digit_width) - 1
                    )
                    written |= {"digit_a": digit, "digit_b": digit}
                self._cycle({**public, **written})
        for command in capabilities.required:
            self.comparison.restart(self.comparison.ones)
            self._cycles_of = [0] * self.RUNS
            for _ in range(cycles):
                self._cycle({**public, "command": command, "start": 1})
                if self.wrong_in is not None:
                    return self.differing
        return self.differing

    def _cycle(self, public: Mapping[str, int]) -> None:
        """A cycle; runs that cannot be compared any more start again."""
        inputs, runs = [0] * self.comparison.graph.inputs, self.RUNS
        draw = self.random.getrandbits
        # Most words are the same in both copies, so that most checks find the same, too.
        apart, kept, half = 0, 0, len(self.secret) // 2
        for a, b in zip(self.secret[:half], self.secret[half:], strict=False):
            if not self.random.randrange(8):
                apart = draw(runs) & draw(runs) & draw(runs)
                kept = draw(runs) | draw(runs)  # some words are 0
            inputs[a] = draw(runs) & kept
            inputs[b] = inputs[a] ^ (draw(runs) & apart)
        for name, value in public.items():
            if name in self.names:
                inputs[self.names[name]] = self.comparison.ones if value else 0
            for k in range(max(int(value).bit_length(), 1) + 64):
                if f"{name}[{k}]" in self.names:
                    bit = self.comparison.ones if value >> k & 1 else 0
                    inputs[self.names[f"{name}[{k}]"]] = bit
        differing, comparable, wrong = self.comparison.step(inputs)
        self.differing |= differing
        if wrong:
            self.wrong_in = self._cycles_of[wrong.bit_length() - 1]
        self.comparison.restart(self.comparison.ones ^ comparable)
        self._cycles_of = [
            cycles + 1 if comparable >> k & 1 else 0 for k, cycles in enumerate(self._cycles_of)
        ]


class Registers:
    """The registers of the two copies, and the bits of them that are the same in both.

    Parameters
    ----------
    graph : of TwoCopies
    differing : names of bits that are known to differ

    Attributes
    ----------
    bits : variables of every bit in both copies, by its name
    same : names of the bits that are the same, as far as is known
    """

    def __init__(self, graph: Graph, differing: Iterable[str]):
        self.graph = graph
        self.bits = SimulatedCopies(graph).bits
        self.same = self.bits.keys() - set(differing)
        of_copies = {variable for pair in self.bits.values() for variable in pair}
        self._unchanged = {
            *range(1 + graph.inputs, 1 + graph.inputs + len(graph.nexts))
        } - of_copies
        self._excusing = graph.read_by("comparable")

    @property
    def components(self) -> list[str]:
        """The engine's parts, to a depth of two names."""
        return sorted({self._component(name) for name in self.bits})

    @staticmethod
    def _component(name: str) -> str:
        return ".".join(name.split(".")[:-1][:2])

    def settle(self, folder: Path, seconds: int) -> None:
        """Leave in `same` only bits of which each component is proved to keep its own the same.

        What comes from another component is any value there: the same one in both copies of a bit
        that is in `same`, two of any other. By induction over the cycles all hold together.
        """
        before = None
        while before != self.same:
            before = set(self.same)
            for component in self.components:
                while differing := self._that_differ(component, folder, seconds):
                    self.same -= differing

    def with_shared_state(self) -> Graph:
        """The graph in which the second copy follows from the first one's bits of `same`."""
        return self._following([self.bits[name] for name in self.same])

    def _following(self, pairs: Iterable[tuple[int, int]]) -> Graph:
        """What tells that the copies cannot be compared any more is as before."""
        return self.graph.following({b: a for a, b in pairs}, self._unchanged)

    def _is_one(self, name: str) -> bool:
        """Whether a bit of another component is the same in both copies: an error, by which they
        are no longer comparable, may differ at any time."""
        return name in self.same and self._excusing.isdisjoint(self.bits[name])

    def _that_differ(self, component: str, folder: Path, seconds: int) -> set[str]:
        """Bits of a component that the solver makes differ; none if it proves that none does."""
        own = {name for name in self.bits if self._component(name) == component}
        pairs = {name: self.bits[name] for name in sorted(own & self.same)}
        if not pairs:
            return set()
        free = {
            variable: self.bits[name][0] if self._is_one(name) else variable
            for name in self.bits.keys() - own
            for variable in self.bits[name]
        }
        graph, at = self._following(pairs.values()).freed(free)
        moved = {name: (at[a], at[b]) for name, (a, b) in pairs.items()}
        graph.asserting_equal(moved.values(), "comparable").write(folder / "equal.aig")
        trace = counterexample(folder, seconds)
        if trace is None:
            return set()
        comparison = SimulatedCopies(graph, bits=moved)
        for inputs in trace:
            differing, _, _ = comparison.step(inputs)
            if differing:
                return differing
        raise ToolError("ABC's counterexample does not hold in a simulation")


def graph_of(copies: wiring.Component, folder: Path, *, undefined: str = "anyseq") -> Graph:
    """Two copies as a graph: what they read from memories that are written becomes inputs.

    What is `undefined` may be anything in each copy and cycle (`anyseq`), or is `zero`.
    """
    (folder / "two.v").write_text(to_verilog(copies, TOP), encoding="utf-8")
    begin = () if undefined == "anyseq" else (f"setundef -init -{undefined}",)
    commands = [command.format(undefined) for command in _YOSYS[:-1]]
    run_yosys(["read_verilog two.v", *commands, *begin, _YOSYS[-1]], folder)
    return Graph.read(folder / "two.aag")


def prove(design: Design, *, cycles: int = 1000, seconds: int = 600) -> TimingProof:
    """Prove that an engine is constant-time, or find out that it is not.

    The simulation before has so many cycles of each command. The solver may take so many seconds
    for one try; a question has up to four. Raises ToolError where it takes longer.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        graph = graph_of(TwoCopies(design), folder)
        runs = RandomRuns(graph, design.capabilities)
        registers = Registers(graph, runs.run(cycles))
        if runs.wrong_in is not None:
            other = registers.bits.keys() - registers.same
            return TimingProof.of(registers.bits, other, cycle=runs.wrong_in)
        registers.settle(folder, seconds)
        shared = registers.with_shared_state()
        shared.asserting_equal((), "comparable", "wrong").write(folder / "equal.aig")
        trace = counterexample(folder, seconds)
        other = registers.bits.keys() - registers.same
        if trace is None:
            return TimingProof.of(registers.bits, other, cycle=None)
        comparison = SimulatedCopies(graph)
        for cycle, inputs in enumerate(trace):
            if comparison.step(inputs)[2]:
                return TimingProof.of(registers.bits, other, cycle=cycle)
        raise ToolError("ABC's counterexample does not hold in a simulation")


def counterexample(folder: Path, seconds: int) -> list[list[int]] | None:
    """Inputs of each cycle after which equal.aig's output is 1; None if there are none.

    Raises ToolError if the solver has not decided in time.
    """
    trace = folder / "trace.cex"
    abc = package_folder("pyosys") / "yosys-abc"
    # Some questions take seconds with the sweep `scorr` and hours without it, some the other way
    # round: each way has a short try first.
    for limit, sweep in product((math.ceil(seconds / _SHORT), seconds), ("scorr; ", "")):
        commands = f"read_aiger equal.aig; {sweep}dc2; print_stats; pdr -T {limit}"
        commands += f"; write_cex -a {trace.name}"
        log = run_tool("ABC", [abc, "-s", "-c", commands], folder=folder)
        # Of an output that is simplified to the constant 0 there is nothing left to prove.
        if "Property proved." in log or ("All outputs solved" in log and _EMPTY.search(log)):
            return None
        if "was asserted in frame" in log:
            lines = trace.read_text("ascii").splitlines()
            return [[int(bit) for bit in line] for line in lines[1 : lines.index("# DONE")]]
    raise ToolError(f"ABC has not decided within {seconds} s whether the engine is constant-time")
