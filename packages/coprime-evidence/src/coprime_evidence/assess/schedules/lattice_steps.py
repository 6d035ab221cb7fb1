"""Steps on polynomials modulo q: what they are to make, and the proof that they do.

A case executes a datapath's steps from any state that the steps before can leave, with polynomials
of unknown coefficients in [-q, q), and compares the memory with polynomials in these coefficients.
"""

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any, Protocol

from amaranth.hdl import Module, Shape
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, connect, flipped

from coprime.cells.shared_slice import WIDE_USER, SharedSlice, narrow_user
from coprime.lattice.arithmetic.datapath import P_BITS, Datapath
from coprime.lattice.arithmetic.large_datapath import LargeDatapath

from .moved_numbers import Combination, MovedNumbers, Stage
from .moved_words import Bit, Bits, Form, Number, Place, added, form_of, multiplied, value_of
from .symbols import ProofError
from .theorem import ScheduleProof

_USERS = {"narrow": narrow_user(P_BITS), "wide": WIDE_USER}
DRAINS = 20
"""Idle cycles after which nothing is in a pipeline."""


class ExecutedStep(Protocol):
    """A step of a datapath."""

    @property
    def cycles(self) -> int:
        """From the cycle after `start` to the last busy one."""

    def fields(self) -> Mapping[str, object]:
        """Its fields; those that are missing may be anything."""


# --- Polynomials ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ring:
    """Polynomials of n coefficients, and what their transforms are.

    Parameters
    ----------
    q : the modulus
    size : n
    roots : z_i. A polynomial's transform is that modulo each X^d - z_i, d = n / len(roots)
    """

    q: int
    size: int
    roots: Sequence[int]

    @property
    def degree(self) -> int:
        """d."""
        return self.size // len(self.roots)

    def polynomial(self, first: int) -> list[Form]:
        """Unknown coefficients, from a symbol on."""
        return [{(first + k,): 1} for k in range(self.size)]

    def transform(self, f: Sequence[Form]) -> list[Form]:
        """f modulo each X^d - z_i."""
        d, q = self.degree, self.q
        found: list[Form] = []
        for root in self.roots:
            powers = [pow(root, j, q) for j in range(len(self.roots))]
            found += [self._weighted(f[k::d], powers) for k in range(d)]
        return found

    def inverse(self, f: Sequence[Form]) -> list[Form]:
        """The polynomial with this transform, as a formula."""
        d, q = self.degree, self.q
        found: list[Form] = []
        less = pow(len(self.roots), -1, q)
        for j in range(len(self.roots)):
            powers = [less * pow(root, -j, q) % q for root in self.roots]
            found += [self._weighted(f[k::d], powers) for k in range(d)]
        return found

    def product(self, f: Sequence[Form], g: Sequence[Form]) -> list[Form]:
        """f g modulo each X^d - z_i, of polynomials of degree d - 1."""
        d, q = self.degree, self.q
        found: list[Form] = []
        for i, root in enumerate(self.roots):
            sums: list[Form] = [{} for _ in range(d)]
            for j in range(d):
                for k in range(d):
                    term = multiplied(f[d * i + j], g[d * i + k], q)
                    at = (j + k) % d
                    sums[at] = added(sums[at], term, root if j + k >= d else 1, q)
            found += sums
        return found

    def scaled(self, f: Sequence[Form], factor: int) -> list[Form]:
        """factor f."""
        return [added({}, form, factor, self.q) for form in f]

    def sums(self, f: Sequence[Form], g: Sequence[Form], sign: int = 1) -> list[Form]:
        """f + sign g."""
        return [added(a, b, sign, self.q) for a, b in zip(f, g, strict=True)]

    def _weighted(self, forms: Sequence[Form], weights: Sequence[int]) -> Form:
        terms: dict[tuple[int, ...], int] = {}
        for form, weight in zip(forms, weights, strict=True):
            for monomial, x in form.items():
                terms[monomial] = (terms.get(monomial, 0) + x * weight) % self.q
        return {monomial: x for monomial, x in terms.items() if x}


# --- Cases ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Steps that are executed one after another, and what they are to make.

    Parameters
    ----------
    name : for errors
    steps : of the datapath
    words : polynomials that the memory holds before, by their region
    expected : polynomials that it holds afterwards; all other words are what they were
    sample : the sampled polynomial, if one is taken
    scratch : places of words that may be anything afterwards
    """

    name: str
    steps: Sequence[ExecutedStep]
    words: Mapping[Any, Sequence[Form]]
    expected: Mapping[Any, Sequence[Form]]
    sample: Sequence[Form] | None = None
    scratch: frozenset[Place] = field(default_factory=frozenset)


@dataclass(frozen=True)
class ProvedDatapath:
    """A datapath, and how it is driven.

    Parameters
    ----------
    component, modules : as of MovedNumbers
    ring : of its polynomials
    layout : of its input `step`
    table : the words of constants
    lanes, lane_bits : numbers of a word of the memory and of samples, and bits of each
    places : those of a region's words
    every : steps that stand for all in what they leave in registers
    wipe : executes what a wipe can change in registers; each cycle after it is one of `rest`
    settles : cycles after `done` in which the last results are written
    idle : outputs that registers alone decide, and their values whenever a step begins
    """

    component: wiring.Component
    modules: Sequence[Stage | Combination]
    ring: Ring
    layout: data.StructLayout
    table: Sequence[Bits]
    lanes: int
    lane_bits: int
    places: Callable[[Any], Sequence[Place]]
    every: Sequence[ExecutedStep]
    wipe: Callable[["Prover"], None]
    settles: int
    idle: Mapping[str, int] = field(default_factory=dict)

    def step_bits(self, fields: Mapping[str, object]) -> Bits:
        """An input `step`; fields that are not given may be anything, or be a number's bits."""
        found: list[Bit] = []
        for name, layout in self.layout:
            width = Shape.cast(layout.shape).width
            value = fields.get(name)
            if isinstance(value, enum.Enum):
                value = value.value
            if value is None:
                found += [None] * width
            elif isinstance(value, Number):
                found += [(value, k) for k in range(width)]
            else:
                assert isinstance(value, int)
                found += constant(value, width)
        return tuple(found)

    def words(self, forms: Sequence[Form]) -> list[Bits]:
        """Numbers in [-q, q), as words of samples."""
        q, lanes = self.ring.q, self.lanes
        numbers = [Number(-q, q - 1, form) for form in forms]
        return [
            tuple(bit for number in numbers[k : k + lanes] for bit in number.bits(self.lane_bits))
            for k in range(0, len(numbers), lanes)
        ]


# --- The proof ------------------------------------------------------------------------------------

QUIET: dict[str, Bits] = dict.fromkeys(("rst", "wipe", "wiping", "clear"), (0,))
"""Inputs that are 0 but in a wipe."""


class Prover:
    """Proves cases from the state `rest`.

    Attributes
    ----------
    rest : what registers hold after a reset and a wipe, after every kind of step whatever its
        options and operands are, and in idle cycles; None where they may hold anything
    """

    def __init__(self, subject: ProvedDatapath) -> None:
        self.subject, self.table = subject, list(subject.table)
        self.machine = MovedNumbers(subject.component, subject.modules, subject.ring.q)
        self._assume_idle()
        self.rest = list(self.machine.registers)

    def close(self) -> None:
        """Enlarge `rest` until it is closed; ProofError if a step's end depends on operands."""
        before: list[Bits] = []
        while before != self.rest:
            before = list(self.rest)
            self.subject.wipe(self)
            for step in self.subject.every:
                self.forget()
                self.execute(step)
                self.idle()

    def prove(self, case: Case) -> int:
        """Its cycles; ProofError if it makes anything else."""
        self.forget()
        subject, machine = self.subject, self.machine
        for region, forms in case.words.items():
            words = subject.words(forms)
            # Nothing is said of parity.
            machine.memory |= {
                place: (*word, None)
                for place, word in zip(subject.places(region), words, strict=True)
            }
        before, cycles = dict(machine.memory), 0
        for step in case.steps:
            self.execute(step, None if case.sample is None else subject.words(case.sample))
            cycles += step.cycles
        free = {*case.scratch}
        for region, forms in case.expected.items():
            places = subject.places(region)
            free |= {*places}
            self._compare(region, [machine.memory.get(place) for place in places], forms)
        changed = [
            place
            for place, word in machine.memory.items()
            if word is not before.get(place) and place not in free
        ]
        if changed:
            raise ProofError(f"word {changed[0][-1]} is written over")
        if machine.lost:
            raise ProofError("any word may be written over")
        return cycles

    def forget(self) -> None:
        """Any state of `rest`, and a memory that may hold anything."""
        self.machine.registers = list(self.rest)
        self.machine.forget()

    def execute(self, step: ExecutedStep, sample: Sequence[Bits] | None = None) -> None:
        """A step from `start` to its last results; ProofError if `done` comes at another time."""
        number = place = None
        bits, cycles = self.subject.step_bits(step.fields()), step.cycles
        for cycle in range(-1, cycles + self.subject.settles):
            inputs = QUIET | {"step": bits, "start": (int(cycle == -1),)}
            if isinstance(number, int):
                inputs["table_word"] = self.table[number]
            if sample is not None and isinstance(place, int):
                inputs["sample"] = sample[place]
            outputs = self.machine.step(inputs)
            number, place = (
                value_of(outputs[name], signed=False)
                for name in ("table_address", "sample_address")
            )
            if cycle >= 0 and outputs["done"] != (int(cycle == cycles - 1),):
                raise ProofError(f"done is {outputs['done']} in cycle {cycle} of {cycles}")

    def forget_registers(self) -> None:
        """Any state at all in which a step may begin."""
        self.forget()
        self.machine.registers = [(None,) * len(word) for word in self.rest]
        self._assume_idle()

    def _assume_idle(self) -> None:
        for output, value in self.subject.idle.items():
            self.machine.assume(output, value)

    def idle(self) -> None:
        """All cycles from now on are some of `rest`."""
        self._join()
        for _ in range(DRAINS):
            self.machine.step(QUIET | {"start": (0,)})
            self._join()

    def _join(self) -> None:
        self.rest = [
            tuple(
                a if isinstance(a, int) and a == b else None for a, b in zip(own, now, strict=True)
            )
            for own, now in zip(self.rest, self.machine.registers, strict=True)
        ]

    def _compare(
        self, region: object, words: Sequence[Bits | None], expected: Sequence[Form]
    ) -> None:
        q, bits = self.subject.ring.q, self.subject.lane_bits
        name = region.name if isinstance(region, enum.Enum) else region
        for k, form in enumerate(expected):
            word, at = words[k // self.subject.lanes], k % self.subject.lanes * bits
            value = None if word is None else value_of(word[at : at + bits])
            if value is None:
                raise ProofError(f"coefficient {k} of {name} may be anything")
            low, high = (value, value) if isinstance(value, int) else (value.low, value.high)
            if low < -q or high >= q:
                raise ProofError(f"coefficient {k} of {name} is in [{low}, {high}]")
            if added({}, form_of(value, q), 1, q) != form:
                raise ProofError(f"coefficient {k} of {name} is another one")


def prove_cases(prover: Prover, cases: Iterable[Case], start: float) -> ScheduleProof:
    """Prove every case; ProofError with what does not hold. `start` is a time of the processor."""
    prover.close()
    cycles = count = 0
    for case in cases:
        try:
            cycles += prover.prove(case)
        except ProofError as error:
            raise ProofError(f"{case.name}: {error}") from None
        count += 1
    free = sum(set(word) == {None} for word in prover.rest)
    return ScheduleProof(count, cycles, len(prover.rest), free, process_time() - start)


class Top(wiring.Component):
    """A datapath as a top module. Streams lead nowhere.

    Parameters
    ----------
    datapath : of an engine
    user : as which it uses a slice that it shares with another one, `narrow` or `wide`; what the
        other one does may be anything
    """

    def __init__(self, datapath: Datapath | LargeDatapath, user: str) -> None:
        self.datapath, self.user = datapath, user
        members = datapath.signature.members.items()
        ports = {name: member for name, member in members if member.is_port}
        if datapath.shares_slice:
            self.slice = SharedSlice(P_BITS)
            self.other = "narrow" if user == "wide" else "wide"
            ports["other_user"] = In(_USERS[self.other])
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Connect them."""
        m = Module()
        m.submodules.datapath = datapath = self.datapath
        for name, member in datapath.signature.members.items():
            if member.is_port:
                inside, outside = getattr(datapath, name), getattr(self, name)
                leads_in = member.flow is In
                m.d.comb += inside.eq(outside) if leads_in else outside.eq(inside)
        if datapath.shares_slice:
            m.submodules.slice = slice_ = self.slice
            m.d.comb += slice_.is_wide.eq(self.user == "wide")
            connect(m, datapath.slice, getattr(slice_, self.user))
            connect(m, flipped(self.other_user), getattr(slice_, self.other))
        return m


def constant(value: int, width: int) -> Bits:
    """A word that is known."""
    return tuple(value >> k & 1 for k in range(width))
