"""What is proved of a multiplier: for all operands its schedule makes the recurrence's words."""

import gc
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
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
    """

    command: str
    cycles: int
    memory: Memory
    trailing = 0

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
    any_state : whether cases are proved for any state of an idle multiplier; else after a reset
    """

    statement: str
    addresses: tuple[str, ...]
    flag_bits = 3
    quiet: tuple[str, ...] = ()
    wiping = 0
    any_state = True

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

    `rest` is what registers may hold after a reset, in any idle cycle from then on, after a wipe,
    and `DRAINS` cycles after any command. `after` is what they may hold sooner after a command: a
    set for each content of the narrow registers, which are the flags on their way in pipelines.
    """

    def __init__(self, theorem: Theorem) -> None:
        self.theorem, self.netlist = theorem, theorem.netlist
        self.rest = RegisterSet(list(self.netlist.registers.values()))
        self.after: dict[tuple[Word, ...], RegisterSet] = {}
        self.cycles = 0

    def rests(self) -> bool:
        """Whether an idle cycle, or a wipe, stays in `rest`; otherwise that is enlarged."""
        same = True
        for wipe in range(2):
            idle = self._execution(self.rest, Rules())
            idle.step({"wipe": wipe})
            for _ in range(self.theorem.wiping if wipe else 0):
                idle.step({})
            same = self.rest.join(idle.registers) and same
        return same

    def multiply(self, case: TheoremCase) -> bool:
        """Execute and check a case; whether its end was expected in `rest`."""
        rules = Rules()
        bench = self.theorem.bench(rules, case)
        execution = self._execution(self.rest, rules)
        execution.step(bench.begins())
        cycle = 0
        while not self._cycle(execution, bench, cycle):
            bench.adjust(execution)
            cycle += 1
        for start in range(2):  # the next command may come at once
            trailing = execution.fork()
            for k in range(bench.trailing):
                outputs = trailing.step({"start": start} if k == 0 else {})
                bench.observe(cycle + 1 + k, outputs)
        bench.check()
        if not self.theorem.any_state:
            return True
        for _ in range(DRAINS):
            now = RegisterSet(execution.registers).words
            widths = self.netlist.register_widths
            flags = tuple(
                word
                for word, bits in zip(now, widths, strict=True)
                if bits <= self.theorem.flag_bits
            )
            self.after.setdefault(flags, RegisterSet(now)).join(now)
            execution.step({})
        return self.rest.join(execution.registers)

    def compare_starts(self, case: TheoremCase) -> None:
        """That it makes no difference if the case begins sooner after another command."""
        for registers in self.after.values():
            rules = Rules()
            bench = self.theorem.bench(rules, case)
            rested = self._execution(self.rest, rules)
            other = self._execution(registers, rules)
            for one in (rested, other):
                one.step(bench.begins())
            cycle, same = 0, False
            while not same:
                others = other.step(bench.inputs(cycle))
                rested_outputs = rested.step(bench.inputs(cycle))
                self.cycles += 1
                bench.observe(cycle, rested_outputs)
                ended = bench.ends(cycle, rested_outputs)
                names = (*self.theorem.addresses, "done")
                if not _no_less_known(
                    *([one[n] for n in names] for one in (others, rested_outputs))
                ):
                    raise ProofError("another schedule at once after another command")
                if ended or bench.memory.written:
                    raise ProofError("a word of the command before may be written")
                same = _no_less_known(other.registers, rested.registers)
                cycle += 1

    def _execution(self, registers: RegisterSet, rules: Rules) -> Execution:
        return Execution(self.netlist, registers.words, rules, self.theorem.quiet)

    def _cycle(self, execution: Execution, bench: Bench, cycle: int) -> bool:
        """Execute a cycle; whether it is the last one."""
        outputs = execution.step(bench.inputs(cycle))
        bench.observe(cycle, outputs)
        self.cycles += 1
        return bench.ends(cycle, outputs)


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
    gc.disable()  # all that a case makes lives as long as the case
    try:
        prover, cases = _proved(theorem, digits)
    finally:
        gc.enable()
    free = sum(one is ANYTHING for one in prover.rest.words)
    registers, seconds = len(prover.rest.words), process_time() - start
    return ScheduleProof(cases, prover.cycles, registers, free, seconds)


def _proved(theorem: Theorem, digits: Sequence[int]) -> tuple[_Prover, int]:
    """The prover that has proved every case, and how many these are."""
    prover = _Prover(theorem)
    cases = [case for count in digits for case in theorem.cases(count)]
    while True:
        while theorem.any_state and not prover.rests():
            pass
        prover.cycles = 0
        # If a case has enlarged `rest`, those before it are proved again.
        if all(_named(case, prover.multiply) for case in cases):
            break
    for case in cases if theorem.any_state else ():
        _named(case, prover.compare_starts)
    return prover, len(cases)


def _named(case: TheoremCase, prove_case: Callable[[TheoremCase], Result]) -> Result:
    """The case's name with its error; what it has made is thrown away."""
    try:
        return prove_case(case)
    except ProofError as error:
        raise ProofError(f"{case}: {error}") from None
    finally:
        gc.collect()


def compare(name: str, words: Sequence[Word], expected: Sequence[Polynomial]) -> None:
    """ProofError with the first word that is not the one that is expected."""
    for k, (word, polynomial) in enumerate(zip(words, expected, strict=True)):
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
    if any(one % (1 << bits) for one in found.terms.values()):
        raise ProofError(f"{total} need not be 0 modulo 2^{bits}")
