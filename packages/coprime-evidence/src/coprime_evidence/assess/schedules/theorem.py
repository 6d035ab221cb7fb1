"""What is proved of a multiplier: for all operands its schedule makes the recurrence's words."""

import gc
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from types import MappingProxyType
from typing import TypeVar

from coprime.engine.design import EngineDesign

from .execution import Execution, Memory, RegisterSet, known
from .netlist import Netlist
from .polynomials import Divisions, Polynomial
from .symbols import ANYTHING, ProofError, Rules, Word, polynomial_of

Result = TypeVar("Result")
ZERO, ONE = Polynomial.of(0), Polynomial.of(1)


@dataclass(frozen=True)
class TheoremCase:
    """A command with its lengths.

    Parameters
    ----------
    inner, rounds : words of X and M; of Y, or rounds
    options : inputs of the multiplier that are 1, and what the theorem of the family adds to them
    """

    inner: int
    rounds: int
    options: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return " ".join([f"{self.inner} x {self.rounds}", *sorted(self.options)])


class Bench(ABC):
    """What is around a multiplier while it executes a case: its memory, and what is expected.

    Attributes
    ----------
    command : the input that begins it
    cycles : how long it takes, if that is known before
    memory : what it reads and writes
    trailing : cycles after that in which words arrive that are written
    kept : numbers of registers that nothing but a preparation changes, and what it has put there
    """

    command: str
    cycles: int
    memory: Memory
    trailing = 0
    kept: Mapping[int, Word] = MappingProxyType({})

    def begins(self) -> dict[str, Word]:
        """Inputs in the cycle before the first one."""
        return {self.command: 1}

    @abstractmethod
    def inputs(self, cycle: int) -> dict[str, Word]:
        """In a cycle from 0 on, and in the trailing ones."""

    @abstractmethod
    def observe(self, cycle: int, outputs: Mapping[str, Word]) -> None:
        """The outputs of each cycle."""

    def ends(self, cycle: int, outputs: Mapping[str, Word]) -> bool:
        """Whether it is the last cycle; ProofError if that is another one than it should be."""
        last = cycle == self.cycles - 1
        if known(outputs, "done") != (last,):
            raise ProofError(f"done is {outputs['done']} in cycle {cycle} of {self.cycles}")
        return last

    def adjust(self, execution: Execution) -> None:  # noqa: B027
        """Between two cycles: give a name to what the registers hold."""

    def may_be_later(self, cycle: int) -> bool:
        """Whether the command that begins in this cycle may as well come at any later time.

        After other commands, too: then registers hold what is `kept`, and anything of `rest`.
        """
        return False

    def compared(self, cycle: int, names: Sequence[str]) -> Sequence[str]:
        """Of these outputs those that have a meaning in a cycle."""
        return names

    @abstractmethod
    def check(self) -> None:
        """Compare what was written with the recurrence; ProofError if it differs."""


class Theorem(ABC):
    """What a family's multiplier computes, to be proved case by case.

    Parameters
    ----------
    design : the engine's, whose multiplier is examined

    Attributes
    ----------
    statement : what it computes
    addresses : outputs of the multiplier that operands must not change
    flag_bits : bits of a register, at most, that has flags
    quiet : inputs that are 0 while nothing is under way
    wiping : cycles of a wipe after the one in which it is asked for
    """

    statement: str
    addresses: tuple[str, ...]
    flag_bits = 3
    quiet: tuple[str, ...] = ()
    wiping = 0

    def __init__(self, design: EngineDesign) -> None:
        self.design = design
        self.multiplier = design.multiplier_hardware()
        self.netlist = Netlist.read(self.multiplier)

    @classmethod
    def lengths(cls, design: EngineDesign) -> range:
        """Digits that a modulus may have."""
        least = design.capabilities.digits(design.capabilities.min_length)
        return range(least, design.capabilities.max_digits + 1)

    @abstractmethod
    def cases(self, digits: int) -> Iterator[TheoremCase]:
        """Those of moduli of so many words."""

    @abstractmethod
    def bench(self, rules: Rules, case: TheoremCase) -> Bench:
        """For a case."""


@dataclass(frozen=True)
class ScheduleProof:
    """That the theorem holds.

    Parameters
    ----------
    cases, cycles : how many were executed
    registers, free : all registers, and those that may hold anything as a command begins
    seconds : of a processor
    """

    cases: int
    cycles: int
    registers: int
    free: int
    seconds: float


DRAINS = 20
"""Idle cycles after which nothing of a command is in a pipeline; it is checked that this holds."""


class _Prover:
    """Proves cases from the state `rest`, and that every idle state has the same effect.

    `rest` is what registers may hold after a reset, in any idle cycle from then on, and `DRAINS`
    cycles after a wipe or any command. `after` is what they may hold sooner after these: a set for
    each content of the narrow registers, which are the flags on their way in pipelines.
    """

    def __init__(self, theorem: Theorem) -> None:
        self.theorem, self.netlist = theorem, theorem.netlist
        self.rest = RegisterSet(list(self.netlist.registers.values()))
        self.after: dict[tuple[Word, ...], RegisterSet] = {}

    def rests(self) -> bool:
        """Whether an idle cycle, or a wipe, stays in `rest`; otherwise that is enlarged."""
        idle = self._execution(self.rest, Rules())
        wiped = idle.fork()
        idle.step({})
        same = self.rest.join(idle.registers)
        wiped.step({"wipe": 1})
        for _ in range(self.theorem.wiping):
            wiped.step({})
        return self._drains(wiped) and same

    def prove(self, case: TheoremCase) -> int | None:
        """The cycles of a case; None if its end was not expected, and `rest` or `after` has grown.

        Executions from each of `after` follow that from `rest` until they are the same.
        """
        rules = Rules()
        bench = self.theorem.bench(rules, case)
        execution, followers = self._starts(rules, {})
        for started in (execution, *followers):
            started.step(bench.begins())
        cycle = written = 0
        while True:
            inputs = bench.inputs(cycle)
            outputs = execution.step(inputs)
            bench.observe(cycle, outputs)
            ended = bench.ends(cycle, outputs)
            names = bench.compared(cycle, (*self.theorem.addresses, "done"))
            expected = {name: outputs[name] for name in names}
            followers = [
                follower
                for follower in followers
                if self._differs(follower, inputs, expected, execution)
            ]
            if followers and (ended or bench.memory.written > written):
                raise ProofError("a word of the command before may be written")
            cycle += 1
            if ended:
                break
            bench.adjust(execution)
            if bench.may_be_later(cycle):
                self._keeps(bench, rules)
                execution, followers = self._starts(rules, bench.kept)
                written = bench.memory.written
        for start in range(2):  # the next command may come at once
            trailing = execution.fork()
            for k in range(bench.trailing):
                outputs = trailing.step({"start": start} if k == 0 else {})
                bench.observe(cycle + k, outputs)
        bench.check()
        drained = self._drains(execution)
        _check_kept(bench, execution)
        return cycle if drained else None

    def _execution(self, registers: RegisterSet, rules: Rules) -> Execution:
        return Execution(self.netlist, registers.words, rules, self.theorem.quiet)

    def _starts(self, rules: Rules, kept: Mapping[int, Word]) -> tuple[Execution, list[Execution]]:
        """Executions from `rest`, and from each of `after`, but for registers that are `kept`."""
        found = [self._execution(state, rules) for state in (self.rest, *self.after.values())]
        for execution in found:
            for k, word in kept.items():
                execution.registers[k] = word
        return found[0], found[1:]

    def _differs(
        self,
        follower: Execution,
        inputs: Mapping[str, Word],
        outputs: Mapping[str, Word],
        execution: Execution,
    ) -> bool:
        """Whether it may still go on differently after this cycle; ProofError if it does now."""
        found = follower.step(inputs)
        if not _no_less_known([found[name] for name in outputs], [*outputs.values()]):
            raise ProofError("another schedule soon after another command")
        return not _no_less_known(follower.registers, execution.registers)

    def _keeps(self, bench: Bench, rules: Rules) -> None:
        """ProofError unless an idle cycle keeps what is kept."""
        idle, _ = self._starts(rules, bench.kept)
        idle.step({})
        _check_kept(bench, idle)

    def _drains(self, execution: Execution) -> bool:
        """Whether what registers hold after a command was expected."""
        same = True
        for _ in range(DRAINS):
            now = RegisterSet(execution.registers).words
            widths = self.netlist.register_widths
            flags = tuple(
                word
                for word, bits in zip(now, widths, strict=True)
                if bits <= self.theorem.flag_bits
            )
            same = flags in self.after and same
            same = self.after.setdefault(flags, RegisterSet(now)).join(now) and same
            execution.step({})
        return self.rest.join(execution.registers) and same


def _check_kept(bench: Bench, execution: Execution) -> None:
    """ProofError if a register that is to be kept has been written."""
    if any(execution.registers[k] != word for k, word in bench.kept.items()):
        raise ProofError("what the preparation has made is written over")


def _no_less_known(words: Sequence[Word], others: Sequence[Word]) -> bool:
    """Whether words are the same as others, wherever these are known."""
    for word, other in zip(words, others, strict=True):
        if word is other or other is ANYTHING:
            continue
        try:
            polynomial = polynomial_of(other)
        except ProofError:
            continue  # it may be anything
        try:
            if polynomial_of(word) != polynomial:
                return False
        except ProofError:
            return False
    return True


def prove(theorem: Theorem, digits: Sequence[int]) -> ScheduleProof:
    """Prove every case; ProofError with the case that does not hold."""
    start = process_time()
    gc.freeze()  # what there is already is not looked through after each case
    gc.disable()  # all that a case makes lives as long as the case
    try:
        prover, proved = _proved(theorem, digits)
    finally:
        gc.enable()
        gc.unfreeze()
    free = sum(word is ANYTHING for word in prover.rest.words)
    registers, seconds = len(prover.rest.words), process_time() - start
    return ScheduleProof(len(proved), sum(proved.values()), registers, free, seconds)


def _proved(theorem: Theorem, digits: Sequence[int]) -> tuple[_Prover, Mapping[TheoremCase, int]]:
    """The prover that has proved every case, and the cycles of each."""
    prover = _Prover(theorem)
    # The least and the greatest lengths are those that leave registers with something new.
    ends = sorted({min(digits), max(digits)})
    cases = [
        case
        for count in (*ends, *(digit for digit in digits if digit not in ends))
        for case in theorem.cases(count)
    ]
    proved: dict[TheoremCase, int] = {}
    is_closed = False  # idle cycles and wipes lead to no new state
    while len(proved) < len(cases):
        for case in cases:
            while not is_closed:
                is_closed = prover.rests()
            if case in proved:
                continue
            cycles = _named(case, prover.prove)
            if cycles is None:  # what was proved before was proved for fewer states
                proved.clear()
                is_closed = False
            else:
                proved[case] = cycles
    return prover, proved


def _named(case: TheoremCase, prove_case: Callable[[TheoremCase], Result]) -> Result:
    """The case's name with its error; what it has made is thrown away."""
    try:
        return prove_case(case)
    except ProofError as error:
        raise ProofError(f"{case}: {error}") from None
    finally:
        gc.collect()


def compare(
    name: str, words: Sequence[Word], expected: Sequence[Polynomial], first: int = 0
) -> None:
    """ProofError with the first word that is not the one that is expected."""
    for k, (word, polynomial) in enumerate(zip(words, expected, strict=True), first):
        found = polynomial_of(word)
        if found != polynomial:
            raise ProofError(f"{name}_{k} is {_text(found)}, and not {_text(polynomial)}")


def _text(value: Polynomial) -> str:
    """With what is divided in place of its remainder."""
    for monomial, coefficient in value.terms.items():
        if len(value.terms) == len(monomial) == coefficient == 1 and monomial[0].division:
            return f"({monomial[0].division.whole}) mod 2^{monomial[0].division.bits}"
    return repr(value)


def check_zero(
    divisions: Divisions,
    total: Polynomial,
    bits: int,
    inverses: tuple[Polynomial, Polynomial],
    *kept: Polynomial,
) -> None:
    """ProofError unless total is 0 modulo 2^bits, as the product of the `inverses` is -1.

    `kept` are words that the total is not followed beyond.
    """
    (pair,) = (inverses[0] * inverses[1]).terms
    found = divisions.residue(total, bits, kept).replaced(pair, -1)
    if any(coefficient % (1 << bits) for coefficient in found.terms.values()):
        raise ProofError(f"{total} need not be 0 modulo 2^{bits}")
