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
from coprime.lattice.arithmetic.parallel_datapath import ParallelDatapath
from coprime.lattice.arithmetic.parallel_large_datapath import ParallelLargeDatapath
from coprime.model.lattice.large_arithmetic import N as LARGE_N

from .moved_numbers import Combination, MovedNumbers, Stage
from .moved_words import (
    Bit,
    Bits,
    ChosenBit,
    Form,
    Number,
    Place,
    Value,
    added,
    form_of,
    multiplied,
    value_of,
)
from .symbols import ProofError
from .theorem import ScheduleProof

AnyDatapath = Datapath | LargeDatapath | ParallelDatapath | ParallelLargeDatapath
_USERS = {"narrow": narrow_user(P_BITS), "wide": WIDE_USER}
_Known = tuple[object, ...]
DRAINS = 20
"""Idle cycles after which nothing is in a pipeline."""


class ExecutedStep(Protocol):
    """A step of a datapath."""

    def cycles_on(self, lanes: int) -> int:
        """From the cycle after `start` to the last busy one, with so many lanes."""

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
class Following:
    """A step that may start before the one before it is done, from `follows` on.

    Parameters
    ----------
    step : what the datapath's `step` is from the cycle after `follows` on
    sample : the sampled polynomial, if one is taken; before the start, samples may be anything
    start : cycles from `follows` to its start; None: it does not start before the other one is done
    """

    step: ExecutedStep
    sample: Sequence[Form] | None
    start: int | None


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
    scratch : places of words, in each lane, that may be anything afterwards
    following : a step that may start before the last one is done
    """

    name: str
    steps: Sequence[ExecutedStep]
    words: Mapping[Any, Sequence[Form]]
    expected: Mapping[Any, Sequence[Form]]
    sample: Sequence[Form] | None = None
    scratch: frozenset[Place] = field(default_factory=frozenset)
    following: Following | None = None


@dataclass(frozen=True)
class ProvedDatapath:
    """A datapath, and how it is driven.

    Parameters
    ----------
    component, modules : as of MovedNumbers
    ring : of its polynomials
    layout : of its input `step`
    tables : the words of constants, by the input of each lane
    samples : the input of each lane
    numbers, number_bits : numbers of a word of the memory and of samples, and bits of each
    places : those of a region's words, the same in each lane
    every : steps that stand for all in what they leave in registers
    wipe : executes what a wipe can change in registers; each cycle after it is one of `rest`
    settles : cycles after `done` in which the last results are written
    idle : outputs that registers alone decide, and their values whenever a step begins
    follows_in : of a step that another one may follow before it is done the cycle of `follows`
    """

    component: wiring.Component
    modules: Sequence[type[Stage] | type[Combination]]
    ring: Ring
    layout: data.StructLayout
    tables: Mapping[str, Sequence[Bits]]
    samples: Sequence[str]
    numbers: int
    number_bits: int
    places: Callable[[Any], Sequence[Place]]
    every: Sequence[ExecutedStep]
    wipe: Callable[["Prover"], None]
    settles: int
    idle: Mapping[str, int] = field(default_factory=dict)
    follows_in: Callable[[ExecutedStep], int | None] = lambda step: None

    @property
    def lanes(self) -> int:
        """Word w of a polynomial is in lane w modulo their number."""
        return len(self.samples)

    def step_bits(self, fields: Mapping[str, object]) -> Bits:
        """An input `step`; fields that are not given may be anything, or be a number's bits, or
        some bits."""
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
            elif isinstance(value, tuple):
                found += value
            else:
                assert isinstance(value, int)
                found += constant(value, width)
        return tuple(found)

    def words(self, forms: Sequence[Form]) -> list[Bits]:
        """Numbers in [-q, q), as words of samples."""
        q, size, width = self.ring.q, self.numbers, self.number_bits
        numbers = [Number(-q, q - 1, form) for form in forms]
        return [
            tuple(bit for number in numbers[k : k + size] for bit in number.bits(width))
            for k in range(0, len(numbers), size)
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
        self.subject, self.tables = subject, dict(subject.tables)
        self.machine = MovedNumbers(subject.component, subject.modules, subject.ring.q)
        assert len(self.machine.memories) == subject.lanes
        self._number: Value | None = None
        self._place: Value | None = None
        self._at_follows: list[_Known] = []
        self._alone: dict[ExecutedStep, list[_Known]] = {}
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
        self._load(case.words)
        before, cycles = [dict(memory.words) for memory in self.machine.memories], 0
        for step in case.steps:
            is_last = step is case.steps[-1]
            cycles += self.execute(step, case.sample, case.following if is_last else None)
        self._compare(case, before)
        return cycles

    def check_chain(self, case: Case) -> None:
        """After a case with a step that follows: ProofError unless all cycles from now on are some
        of `rest`, and registers at its `follows` were as if it had started from `rest`, so that
        more of its kind may follow."""
        found = self._at_follows
        for _ in range(DRAINS + 1):
            if any(map(_differ, self.rest, self.machine.registers)):
                raise ProofError("registers hold what they do not after other steps")
            self.machine.step(QUIET | {"start": (0,)})
        following = case.following
        assert following is not None
        if following.start is None:
            return
        step = following.step
        if step not in self._alone:
            self._load(case.words)
            self.execute(step, following.sample)
            self._alone[step] = self._at_follows
        if any(map(_differ, self._alone[step], found)):
            raise ProofError("registers hold what they do not without the step before")

    def _load(self, regions: Mapping[Any, Sequence[Form]]) -> None:
        """Any state of `rest`, and a memory with these polynomials."""
        self.forget()
        for region, forms in regions.items():
            places, words = self.subject.places(region), self.subject.words(forms)
            for lane, memory in enumerate(self.machine.memories):
                own = zip(places, words[lane :: self.subject.lanes], strict=True)
                # Nothing is said of parity.
                memory.words |= {place: (*word, None) for place, word in own}

    def forget(self) -> None:
        """Any state of `rest`, and a memory that may hold anything."""
        self.machine.registers = list(self.rest)
        self.machine.forget()

    def execute(
        self,
        step: ExecutedStep,
        sample: Sequence[Form] | None = None,
        following: Following | None = None,
    ) -> int:
        """A step from `start` to its last results, and its cycles; ProofError if `done` comes at
        another time. With another step that starts before, both together."""
        subject = self.subject
        bits, cycles = subject.step_bits(step.fields()), step.cycles_on(subject.lanes)
        words = None if sample is None else subject.words(sample)
        follows_in = subject.follows_in(step)
        start = None if following is None else following.start
        self._cycle(bits, words, start=1)
        for cycle in range(cycles + subject.settles):
            outputs = self._cycle(bits, words)
            if outputs["done"] != (int(cycle == cycles - 1),):
                raise ProofError(f"done is {outputs['done']} in cycle {cycle} of {cycles}")
            if follows_in is None:
                continue
            if outputs["follows"] != (int(cycle == follows_in),):
                raise ProofError(f"follows is {outputs['follows']} in cycle {cycle} of {cycles}")
            if cycle == follows_in:
                self._at_follows = [tuple(map(_known, word)) for word in self.machine.registers]
                if following is not None:
                    bits, words = subject.step_bits(following.step.fields()), None
            if following is not None and start is not None and cycle + 1 == follows_in + start:
                return cycle + 2 + self.execute(following.step, following.sample)
        return cycles

    def _cycle(
        self, step: Bits, sample: Sequence[Bits] | None, *, start: int = 0
    ) -> Mapping[str, Bits]:
        """A cycle of a step, with the constants and samples that the last one has addressed."""
        inputs = QUIET | {"step": step, "start": (start,)}
        if isinstance(self._number, int) and not start:
            inputs |= {name: table[self._number] for name, table in self.tables.items()}
        if sample is not None and isinstance(self._place, int) and not start:
            row = self._place * self.subject.lanes
            inputs |= {name: sample[row + k] for k, name in enumerate(self.subject.samples)}
        outputs = self.machine.step(inputs)
        self._number, self._place = (
            value_of(outputs[name], signed=False) for name in ("table_address", "sample_address")
        )
        return outputs

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

    def _compare(self, case: Case, before: Sequence[Mapping[Place, Bits]]) -> None:
        """The memory afterwards."""
        subject, memories, free = self.subject, self.machine.memories, {*case.scratch}
        for region, forms in case.expected.items():
            places = subject.places(region)
            free |= {*places}
            self._compare_region(
                region,
                [memory.words.get(place) for place in places for memory in memories],
                forms,
            )
        for memory, words in zip(memories, before, strict=True):
            for place, word in memory.words.items():
                if word is not words.get(place) and place not in free:
                    raise ProofError(f"word {place[-1]} is written over")
            if memory.lost:
                raise ProofError("any word may be written over")

    def _compare_region(
        self, region: object, words: Sequence[Bits | None], expected: Sequence[Form]
    ) -> None:
        q, bits = self.subject.ring.q, self.subject.number_bits
        name = region.name if isinstance(region, enum.Enum) else region
        for k, form in enumerate(expected):
            word, at = words[k // self.subject.numbers], k % self.subject.numbers * bits
            value = None if word is None else value_of(word[at : at + bits])
            if value is None:
                raise ProofError(f"coefficient {k} of {name} may be anything")
            low, high = (value, value) if isinstance(value, int) else (value.low, value.high)
            if low < -q or high >= q:
                raise ProofError(f"coefficient {k} of {name} is in [{low}, {high}]")
            if added({}, form_of(value, q), 1, q) != form:
                raise ProofError(f"coefficient {k} of {name} is another one")


def _known(bit: Bit) -> object:
    """Of a number only its interval, and the bit's place."""
    if isinstance(bit, tuple):
        return bit[0].low, bit[0].high, bit[1]
    if isinstance(bit, ChosenBit):
        return bit.number.low, bit.number.high, bit.place, bit.zero, bit.one
    return bit


def _differ(known: Sequence[object], found: Sequence[object]) -> bool:
    """Whether a bit that is known is another one."""
    return any(a is not None and a != b for a, b in zip(known, found, strict=True))


def prove_cases(prover: Prover, cases: Iterable[Case], start: float) -> ScheduleProof:
    """Prove every case; ProofError with what does not hold. `start` is a time of the processor."""
    prover.close()
    cycles = count = 0
    for case in cases:
        try:
            cycles += prover.prove(case)
            if case.following is not None:
                prover.check_chain(case)
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

    def __init__(self, datapath: AnyDatapath, user: str) -> None:
        self.datapath, self.user = datapath, user
        self.shares_slice = isinstance(datapath, Datapath | LargeDatapath) and datapath.shares_slice
        members = datapath.signature.members.items()
        ports = {name: member for name, member in members if member.is_port}
        if self.shares_slice:
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
                if not member.dimensions:
                    inside, outside = [inside], [outside]
                for here, there in zip(inside, outside, strict=True):
                    m.d.comb += here.eq(there) if member.flow is In else there.eq(here)
        if self.shares_slice:
            m.submodules.slice = slice_ = self.slice
            m.d.comb += slice_.is_wide.eq(self.user == "wide")
            connect(m, datapath.slice, getattr(slice_, self.user))
            connect(m, flipped(self.other_user), getattr(slice_, self.other))
        return m


def constant(value: int, width: int) -> Bits:
    """A word that is known."""
    return tuple(value >> k & 1 for k in range(width))


def port_names(name: str, lanes: int) -> list[str]:
    """Of an input of each lane, which has an array of several ones."""
    return [name] if lanes == 1 else [f"{name}__{lane}" for lane in range(lanes)]


def slot_counter(lanes: int) -> tuple[str, int]:
    """The name of the register that counts slots of ML-DSA, and how many of its bits count those of
    a layer."""
    return "number" if lanes == 1 else "signal", (LARGE_N // lanes).bit_length() - 1
