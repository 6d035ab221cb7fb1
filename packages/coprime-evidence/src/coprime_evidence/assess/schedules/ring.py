"""The theorem of `ring`: products one after another, column by column, with q delayed by d words.

Sessions are proved: a preparation, and products of which some follow others without a break, with
results as factors on their way from one product to the next.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from operator import add

from coprime.engine.design import EngineDesign
from coprime.multipliers.contract import Role
from coprime.multipliers.multiplication import READ_LATENCY
from coprime.multipliers.ring.multiplication import RingMultiplication
from coprime.multipliers.ring.multiplier import RingMultiplier

from .execution import Execution, Memory, known
from .polynomials import Divisions, Polynomial
from .symbols import ProofError, Rules, Symbol, Word, made, polynomial_of
from .theorem import DRAINS, ONE, ZERO, Bench, Theorem, TheoremCase, check_zero, compare

FLAGS = (
    *("multiplier_is_one", "descale", "squares"),
    *("follows", "x_is_result", "y_is_result"),
)
WRITTEN_AFTER = 2  # cycles from `b_write` to its word
RINGS = "operands."
RINGS_OF_M = ("operands.m.", "operands.ym.")
"""Where the words of M' are kept: the memory of `OperandRings` that has that ring."""


@dataclass(frozen=True)
class RingStep:
    """A product of a session, k-th of its kind: its result is the operand `r{k}`.

    Parameters
    ----------
    x, y : names of operands: x0, y0 and so on, or a result; of Y also "1"
    follows : without a break after the product before
    descale : it ends modulo M
    gap : cycles from the last `done` to its start
    later (bool): it starts at any time after that, and after other products modulo this M
    """

    x: str
    y: str
    follows: bool = False
    descale: bool = False
    gap: int = 0
    later: bool = False


SESSIONS: Mapping[str, Sequence[RingStep]] = {
    "products": (
        RingStep("x0", "y0"),
        RingStep("r0", "r0", follows=True),  # both factors are the result
        RingStep("r1", "y1", follows=True),  # X is the result, Y is read
        RingStep("x1", "r2", follows=True),  # Y is the result, X is read
        RingStep("x2", "y2", follows=True),  # both are read
        RingStep("x3", "x3", follows=True),  # a square of another number
        RingStep("r5", "1", follows=True),
    ),
    "of other lengths": (
        RingStep("x0", "y0"),
        RingStep("x1", "1", descale=True, later=True),
        RingStep("x2", "y1", descale=True),
        RingStep("r2", "y2", follows=True),
    ),
    "single products": (
        RingStep("x0", "x0", later=True),
        RingStep("x1", "y0", gap=3),
        RingStep("r1", "1", descale=True),
        RingStep("x2", "y1", descale=True, later=True),
        RingStep("r3", "r3"),
        RingStep("x0", "y1", later=True),
    ),
}


def ring_columns(
    divisions: Divisions,
    width: int,
    ahead: int,
    x: Sequence[Polynomial],
    y: Sequence[Polynomial],
    scaled: Sequence[Polynomial],
) -> list[Polynomial]:
    """S: words of the sums of columns c = 0 to 2D - 1,

    carry + sum of x_i y_j over i + j = c + sum of q_i M'_j over i + j = c - 1 - d,

    of which those of columns below D are q_c, and the others S_(c-D).
    """

    def products(a: Sequence[Polynomial], b: Sequence[Polynomial], column: int) -> Polynomial:
        pairs = ((i, column - i) for i in range(len(a)) if 0 <= column - i < len(b))
        return reduce(add, (a[i] * b[j] for i, j in pairs), ZERO)

    q: list[Polynomial] = []
    s: list[Polynomial] = []
    carry = ZERO
    for c in range(2 * len(x)):
        total = carry + products(x, y, c) + products(q, scaled, c - ahead)
        column = divisions.divide(total, width)
        carry = column.high
        (q if c < len(x) else s).append(divisions.word(column.low))
    return s


def rounds_modulo(
    divisions: Divisions,
    width: int,
    rounds: int,
    s: Sequence[Polynomial],
    m: Sequence[Polynomial],
    c: Polynomial,
) -> Sequence[Polynomial]:
    """S -> (S + q * M) / 2^w with q = S_0 * c, in rounds; c * M is -1 modulo 2^w."""
    for _ in range(rounds):
        q = divisions.word(divisions.divide(s[0] * c, width).low)
        check_zero(divisions, s[0] + q * m[0], width, (c, m[0]), s[0])
        carry, words = ZERO, []
        for s_k, m_k in zip([*s, ZERO], [*m, ZERO], strict=True):
            column = divisions.divide(carry + s_k + q * m_k, width)
            carry = column.high
            words.append(divisions.word(column.low))
        s = words[1:]
    return s


class RingTheorem(Theorem):
    """X * Y * 2^(-w*rounds) mod c * M, or M, of `RingMultiplier`; and M'."""

    statement = "X * Y / 2^(w rounds) modulo c * M, or M, and M'"
    addresses = (
        *("takes", "turns", "b_write", "busy"),
        *("a_role", "a_index", "a_of_next", "b_index", "b_of_next"),
    )

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(design)
        assert isinstance(self.multiplier, RingMultiplier)
        self.multiplication: RingMultiplication = self.multiplier.multiplication
        self.wiping = 2 * self.multiplier.places

    @classmethod
    def lengths(cls, design: EngineDesign) -> range:
        """D, from the least one on."""
        assert isinstance(design.multiplication, RingMultiplication)
        return range(design.multiplication.least, design.capabilities.max_digits + 1)

    def cases(self, digits: int) -> Iterator[TheoremCase]:
        """Sessions with D words and rounds, and with fewer of each."""
        for session in ("products", "single products"):
            yield TheoremCase(digits, digits, frozenset({session}))
        few = max(self.multiplication.ahead + 1, digits // 2)
        for inner, rounds in ((digits, few), (few, digits)):
            yield TheoremCase(inner, rounds, frozenset({"of other lengths"}))

    def bench(self, rules: Rules, case: TheoremCase) -> Bench:
        """Of one memory with two ports."""
        return RingBench(rules, case, self.multiplication)


class RingBench(Bench):
    """The memory, and the products that are asked for, one after another."""

    command = "prepare"
    trailing = WRITTEN_AFTER

    def __init__(self, rules: Rules, case: TheoremCase, multiplication: RingMultiplication) -> None:
        self.rules, self.case, self.multiplication = rules, case, multiplication
        self.width, self.memory = multiplication.digit_width, Memory()
        rules.divisions.part = self.width * multiplication.skew
        self.count = multiplication.words(case.inner, case.rounds)
        (name,) = case.options
        self.steps = SESSIONS[name]
        # Flags have no meaning to a preparation; but they are 0 or 1.
        self.flags = int(name != "products")
        self.operands = {"m": self._operand("m", case.inner), "c": self._operand("c", 1)}
        for step in self.steps:
            for operand, count in ((step.x, case.inner), (step.y, case.rounds)):
                if operand[0] in "xy" and operand not in self.operands:
                    self.operands[operand] = self._operand(operand, count)
        # M' is at most M, and c * M has D words, so that M' has no more than either leaves.
        words = min(case.inner, self.count - multiplication.ahead)
        self.scaled = [*self._operand("M'", words), *[ZERO] * (self.count - words)]
        self.is_named = False
        self.rings: Sequence[int] = []
        self.in_rings: dict[int, Word] = {}
        self.asked_for = -1  # the number of the product, -1 of the preparation
        self.is_asking = True
        self.next_start = -1  # after done; -1 if it is not known yet
        self.new: int | None = None
        self.old: int | None = None
        self.places: list[tuple[tuple[str, int] | None, tuple[str, int] | None, bool]] = []

    def _operand(self, name: str, count: int) -> list[Polynomial]:
        words = [self.rules.operand(f"{name}_{k}", self.width) for k in range(count)]
        self.memory.put(name, [Symbol.of(word) for word in words])
        return words

    def inputs(self, cycle: int) -> dict[str, Word]:
        """A start; lengths and flags of what is asked for; and words that were asked for."""
        found: dict[str, Word] = {"a_taken": 0, "b_taken": 0}
        if self.is_asking:
            found |= self._held()
        elif cycle == self.next_start:
            found["start"] = 1
        then = cycle - READ_LATENCY
        if then >= 0:
            a_place, b_place, writes = self.places[then]
            if a_place is not None:
                found["a_data"] = self.memory.read(a_place, then)
            if b_place is not None and not writes:
                found["b_data"] = self.memory.read(b_place, then)
        return found

    def _held(self) -> dict[str, Word]:
        lengths: dict[str, Word] = {
            "inner_digits": self.case.inner,
            "longest_digits": self.count,
            "rounds": self.case.rounds,
        }
        if self.asked_for < 0:
            return lengths | dict.fromkeys(FLAGS, self.flags)
        step, last = self.steps[self.asked_for], f"r{self.new}"
        return lengths | {
            "multiplier_is_one": int(step.y == "1"),
            "descale": int(step.descale),
            "squares": int(step.x == step.y),
            "follows": int(step.follows),
            "x_is_result": int(step.x == last),
            "y_is_result": int(step.y == last),
        }

    def observe(self, cycle: int, outputs: Mapping[str, Word]) -> None:
        """Places that are asked for; words that are written; products that are taken and turn."""
        takes, turns, writes, done = known(outputs, "takes", "turns", "b_write", "done")
        a_place, b_place = self._place_a(outputs), self._place_b(outputs, bool(writes))
        self.places[cycle:] = [(a_place, b_place, bool(writes))]
        then = cycle - WRITTEN_AFTER
        if then >= 0 and self.places[then][2]:
            self.memory.write(self.places[then][1], then, self._word(outputs["b_write_data"]))
        if turns:
            self.old = self.new
        if takes:
            self.new = self.asked_for
        if self.is_asking and done:
            self.is_asking, self.next_start = False, -1
        following = self.steps[self.asked_for + 1 : self.asked_for + 2]
        for step in following if not self.is_asking else ():
            if cycle == self.next_start:
                self.is_asking = True
                self.asked_for += 1
            elif self.next_start < 0 and not step.later:
                self.next_start = cycle + 1 + step.gap
            elif self.next_start < 0 and known(outputs, "busy") == (0,):
                self.next_start = cycle + 1 + DRAINS

    def _place_a(self, outputs: Mapping[str, Word]) -> tuple[str, int] | None:
        """Of the word that port A reads, if it is one of an operand."""
        role, index = outputs["a_role"], outputs["a_index"]
        if isinstance(role, Symbol) or isinstance(index, Symbol):
            return None
        if role == Role.INVERSE:
            return "c", 0
        if role == Role.MODULUS:
            return "m", index
        step = self._step(outputs["a_of_next"])
        return None if step is None else (step.x, index)

    def _place_b(self, outputs: Mapping[str, Word], writes: bool) -> tuple[str, int] | None:
        """Of the word that port B reads or writes."""
        if writes:
            (index,) = known(outputs, "b_index")
            return f"r{self.old}", index
        step, where = self._step(outputs["b_of_next"]), outputs["b_index"]
        return None if step is None or isinstance(where, Symbol) else (step.y, where)

    def _step(self, of_next: Word) -> RingStep | None:
        """The product that is asked for, or the new one."""
        number = self.asked_for if of_next == 1 else self.new
        if isinstance(of_next, Symbol) or number is None or number < 0:
            return None
        return self.steps[number]

    def ends(self, cycle: int, outputs: Mapping[str, Word]) -> bool:
        """Nothing is under way after the last product. Raises ProofError if that takes too long."""
        if cycle > 100 * self.multiplication.cycles(self.count, self.count):
            raise ProofError("a product does not end")
        last = self.asked_for == len(self.steps) - 1 and not self.is_asking
        return last and known(outputs, "busy") == (0,)

    def may_be_later(self, cycle: int) -> bool:
        """Whether a product begins that a step says this of."""
        return cycle == self.next_start and self.steps[self.asked_for + 1].later

    def adjust(self, execution: Execution) -> None:
        """After the preparation its words are M', of which the highest ones are 0.

        Raises ProofError if a word is missing.
        """
        if self.multiplication.skew:
            self._name_words(execution)
        if self.is_named or self.is_asking or self.asked_for != -1:
            return
        self.is_named = True
        one = [ONE, *[ZERO] * (self.count - 1)]
        m = [*self.operands["m"], *[ZERO] * (self.count - self.case.inner)]
        ahead, (c,) = self.multiplication.ahead, self.operands["c"]
        scaled = rounds_modulo(self.rules.divisions, self.width, ahead, one, m, c)
        place = self._place_of(scaled[0], execution)
        kept: dict[int, Word] = {}
        for k, (expected, name) in enumerate(zip(scaled, self.scaled, strict=True)):
            compare(
                "the preparation: M'", [self._word(execution.registers[place + k])], [expected], k
            )
            kept[place + k] = execution.registers[place + k] = Symbol.of(name)
        self.kept = kept

    def _word(self, word: Word) -> Word:
        """What a word of this width is, once it is made."""
        return made(self.rules.divisions.word, self.rules.unsigned(word, self.width))

    def _name_words(self, execution: Execution) -> None:
        """What a ring has is a word, from now on, and not a part of the sum that it was."""
        if not self.rings:
            names = enumerate(execution.netlist.registers)
            self.rings = [k for k, name in names if name.startswith(RINGS) and name.endswith("]")]
        for k in self.rings:
            word = execution.registers[k]
            if isinstance(word, Symbol) and word is not self.in_rings.get(k):
                with suppress(ProofError):  # it may be anything
                    found = polynomial_of(self._word(word))
                    if found != word.polynomial:
                        self.rules.named[word] = execution.registers[k] = Symbol.of(found)
                self.in_rings[k] = execution.registers[k]

    def _place_of(self, word: Polynomial, execution: Execution) -> int:
        """The number of the register of a ring that has M'_0; ProofError if it is in none."""
        for number, name in enumerate(execution.netlist.registers):
            if name.startswith(RINGS_OF_M):
                with suppress(ProofError):  # it may be anything
                    if polynomial_of(self._word(execution.registers[number])) == word:
                        return number
        raise ProofError("the preparation does not make M'_0")

    def check(self) -> None:
        """The recurrence, and rounds modulo M, of each product."""
        ahead, (c,) = self.multiplication.ahead, self.operands["c"]
        divisions, width = self.rules.divisions, self.width
        m = [*self.operands["m"], *[ZERO] * (self.count - self.case.inner)]
        for k, step in enumerate(self.steps):
            shift = self.multiplication.shift(self.case.rounds, self.count, step.descale)
            x = [*self.operands[step.x], *[ZERO] * (self.count - self.case.inner)]
            y = [ONE] if step.y == "1" else self.operands[step.y]
            y = [*[ZERO] * shift, *y][: self.count]
            s: Sequence[Polynomial] = ring_columns(divisions, width, ahead, x, y, self.scaled)
            if step.descale:
                s = rounds_modulo(divisions, width, ahead, s, m, c)
            s = list(s)[: self.case.inner]
            compare(f"product {k}: S", self.memory.words(f"r{k}", self.case.inner), s)
            self.operands[f"r{k}"] = s
