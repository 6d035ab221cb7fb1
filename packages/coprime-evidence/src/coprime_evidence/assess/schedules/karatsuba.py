"""The theorem of `karatsuba`: its word-pipelined rounds, alone or two multiplications by turns.

Sessions are proved: a preparation, and products with the modulus that the multiplier then has.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from coprime.engine.design import EngineDesign
from coprime.multipliers.contract import Role
from coprime.multipliers.karatsuba.multiplication import ASK, KaratsubaMultiplication
from coprime.multipliers.karatsuba.multiplier import KaratsubaMultiplier
from coprime.multipliers.multiplication import READ_LATENCY

from .execution import Execution, Memory, known
from .polynomials import Divisions, Polynomial
from .symbols import ANYTHING, ProofError, Rules, Symbol, Word
from .theorem import DRAINS, ONE, ZERO, Bench, Theorem, TheoremCase, check_zero, compare

_LONGEST = 32
"""Bits of words, at most, whose products are of halves that are not halved again."""
KEEPING = ("modulus.memory[", "factors.inverse_2", "factors.inverse_other")
"""Where the words of M are kept, or of its multiple; and the inverse."""
CONTROL = (
    *("schedule.", "factors.slot_", "sums.slot_", "sums.reads", "sums.summed", "written"),
    *("quotient.slot_", "quotient.waits", "quotient.early_", "quotient.made_", "quotient.first_"),
    *("closes_", "ends_"),
)
"""Registers of the schedule, and of what is known of slots."""
_PORTS = ("a_role", "a_index", "b_index", "b_write", "b_multiplier")
_CHAIN_PORTS = ("accepts", "busy", "a_of_next", "b_of_next")


@dataclass(frozen=True)
class WordsStep:
    """A product of a session, the k-th: its result is the operand `r{k}`, or replaces a factor.

    Parameters
    ----------
    x, y : names of operands, x0, y0 and so on; of Y also "1"
    replaces : the factor that the result replaces, if any
    descale : the last round is modulo M
    gap : cycles from the last `done` to its start
    later (bool): it starts at any time after that, and after other products modulo this M
    follows (bool): it is asked for while the product before is under way, and follows that
    is_other (bool): X is the result of another multiplier, whose word 0 comes from there
    """

    x: str
    y: str
    replaces: str = ""
    descale: bool = False
    gap: int = 0
    later: bool = False
    follows: bool = False
    is_other: bool = False


SESSIONS: Mapping[str, Sequence[WordsStep]] = {
    "products": (
        WordsStep("x0", "y0"),
        WordsStep("r0", "r0"),  # a square of what was written last
        WordsStep("x1", "1", gap=3),
        WordsStep("x2", "y2", replaces="x2", later=True),
        WordsStep("x3", "y3", replaces="y3"),
        WordsStep("x3", "y3", later=True),
    ),
    "of other lengths": (WordsStep("x0", "y0"), WordsStep("x1", "1", later=True)),
    "that follow": (
        WordsStep("x0", "y0"),
        WordsStep("r0", "r0", follows=True),
        WordsStep("r1", "y1", follows=True),
        WordsStep("x1", "r2", follows=True),
        WordsStep("x2", "y2", follows=True),
        WordsStep("r4", "1", follows=True),
        WordsStep("x3", "1", follows=True),
        WordsStep("x4", "r6", is_other=True, follows=True),
        WordsStep("x5", "y1", is_other=True, follows=True),
        WordsStep("x6", "y6", replaces="y6", later=True),
        WordsStep("y6", "y3", replaces="y3", follows=True),
        WordsStep("y3", "y3", replaces="y3", follows=True),
        WordsStep("y3", "y3", replaces="y3", follows=True),
        WordsStep("x6", "y6", gap=2),
    ),
    "that follow, of other lengths": (
        WordsStep("x0", "y0"),
        WordsStep("r0", "y1", follows=True),
        WordsStep("x1", "1", follows=True),
        WordsStep("r2", "y1", follows=True),
    ),
    "modulo M": (
        WordsStep("x0", "y0", descale=True),
        WordsStep("x1", "1", descale=True, later=True),
        WordsStep("x2", "y2"),
    ),
}


@dataclass(frozen=True)
class Modulus:
    """What a multiplication works with: words of M, and -M^-1 modulo 2^w.

    Scaled, these are the words of a multiple with -1 as its lowest word, and 1; and of a last round
    modulo M, M's words and its own inverse.
    """

    words: Sequence[Polynomial]
    inverse: Polynomial


def rounds_of_words(
    divisions: Divisions,
    width: int,
    x: Sequence[Polynomial],
    y: Sequence[Polynomial],
    modulus: Modulus,
    last: Modulus | None = None,
) -> list[Polynomial]:
    """S -> (S + X y_i + q M) / 2^w, from 0 on, with q = S_0 M' + (X_0 M') y_i modulo 2^w.

    With `last`, one more round has that modulus, and adds no product of X. The word that q makes 0
    is not formed: 1 is carried unless S_0 is 0.
    """

    words = Words(divisions, width)
    x_0, s = words.low(x[0] * modulus.inverse), [ZERO] * len(x)
    for y_i in y:
        of_s, of_x = (a * b for a, b in ((s[0], modulus.inverse), (x_0, y_i)))
        if modulus.inverse == ONE:  # the product is kept, and cut before S_0 is added
            of_x = words.low(of_x)
        q = words.low(of_s + of_x)
        s = _round(words, s, [x_j * y_i for x_j in x], q, modulus)
    if last is not None:
        q = words.low(s[0] * last.inverse)
        s = _round(words, s, [ZERO] * len(x), q, last)
    return s


@dataclass(frozen=True)
class Words:
    """Sums of products, in words of `width` bits."""

    divisions: Divisions
    width: int

    def low(self, value: Polynomial) -> Polynomial:
        """Modulo 2^w."""
        return self.divisions.divide(value, self.width).low

    def high(self, value: Polynomial) -> Polynomial:
        """Divided by 2^w, rounded down."""
        return self.divisions.divide(value, self.width).high

    def added(
        self, lows: Sequence[Polynomial], highs: Sequence[Polynomial], carry: Polynomial
    ) -> list[Polynomial]:
        """Words of the sum of all low_j 2^(wj) and high_j 2^(wj), from word 0 on."""
        found = []
        for low, high in zip(lows, highs, strict=True):
            column = self.divisions.divide(low + high + carry, self.width)
            carry = column.high
            found.append(column.low)
        return found


def _round(
    words: Words,
    s: Sequence[Polynomial],
    products: Sequence[Polynomial],
    q: Polynomial,
    modulus: Modulus,
) -> list[Polynomial]:
    """(S + products + q M) / 2^w; ProofError unless that is an integer."""
    m, inverse = modulus.words, modulus.inverse
    of_m = [q * m_j for m_j in m]
    lows = [words.low(a) + words.low(b) for a, b in zip(products, of_m, strict=True)]
    highs = [words.high(a) + words.high(b) for a, b in zip(products, of_m, strict=True)]
    factors = {Polynomial.of(factor) for monomial in products[0].terms for factor in monomial}
    check_zero(words.divisions, lows[0] + s[0], words.width, (m[0], inverse), s[0], *factors)
    carry = words.high(lows[0]) + words.divisions.nonzero(s[0])
    sums = [a + b for a, b in zip(lows[1:], s[1:], strict=True)]
    return words.added([*sums, ZERO], highs, carry)


class KaratsubaTheorem(Theorem):
    """X * Y * 2^(-w*rounds) mod M of `KaratsubaMultiplier`; or mod a multiple of M, and then M.

    ValueError for longer words than the executor has rules for.
    """

    statement = "X * Y / 2^(w rounds) modulo M"
    quiet = ("descale",)

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(design)
        assert isinstance(self.multiplier, KaratsubaMultiplier)
        self.multiplication: KaratsubaMultiplication = self.multiplier.multiplication
        if self.multiplication.digit_width > _LONGEST:
            raise ValueError(
                f"the schedule of karatsuba is proved for words of {_LONGEST} bits at most, not"
                f" {self.multiplication.digit_width}"
            )
        self.wiping = self.multiplier.clear_cycles
        streams = ("", "other__")[: 1 + self.multiplication.interleaved]
        ports = (*_PORTS, *(_CHAIN_PORTS if self.multiplication.chains else ()))
        self.addresses = tuple(f"{stream}{port}" for stream in streams for port in ports)

    def cases(self, digits: int) -> Iterator[TheoremCase]:
        """Sessions of a multiplication alone, and of two by turns."""
        half = max(2, (digits + 1) // 2)
        sessions = [(digits, digits, "products"), (digits, half, "of other lengths")]
        if half != digits:
            sessions.append((half, digits, "of other lengths"))
        if self.multiplication.scaled:
            sessions.append((digits, digits, "modulo M"))
        if self.multiplication.chains:
            sessions.append((digits, digits, "that follow"))
            if half != digits:
                chain = "that follow, of other lengths"
                sessions += [(digits, half, chain), (half, digits, chain)]
        for inner, rounds, session in sessions:
            yield TheoremCase(inner, rounds, frozenset({session}))
            if self.multiplication.interleaved:
                yield TheoremCase(inner, rounds, frozenset({session, "together"}))

    def bench(self, rules: Rules, case: TheoremCase) -> Bench:
        """Of one memory for each multiplication."""
        return KaratsubaBench(rules, case, self.multiplication)


@dataclass(frozen=True)
class Span:
    """When a command is under way, in cycles.

    Parameters
    ----------
    started : in which `start` or `prepare` comes; from the next one on, lengths are there
    accepted : after which it is the one under way; it is asked for until then
    end : the one after its last
    """

    started: int
    accepted: int
    end: int


class KaratsubaBench(Bench):
    """The memories, and a preparation and products that are asked for, one after another.

    Where products follow each other, flags and counters are the same whenever one is accepted
    behind a product that has followed another: so a chain may go on like that.
    """

    command = "prepare"

    def __init__(
        self, rules: Rules, case: TheoremCase, multiplication: KaratsubaMultiplication
    ) -> None:
        self.rules, self.case, self.multiplication = rules, case, multiplication
        self.width, self.memory = multiplication.digit_width, Memory()
        rules.divisions.halves = True
        (name,) = case.options - {"together"}
        self.steps = SESSIONS[name]
        self.together = "together" in case.options
        self.streams = ("", "other__")[: 1 + self.together]
        end = multiplication.prepare_cycles(case.inner, together=self.together)
        self.preparation = Span(-1, -1, end)
        self.spans: list[Span] = []
        for step in self.steps:
            self.spans.append(self._span(step, self.spans[-1] if self.spans else self.preparation))
        self.cycles = self.spans[-1].end
        self.asked: list[dict[str, tuple[str, int] | None]] = []
        self.found: dict[tuple[str, int], list[Word]] = {}
        self.operands: dict[str, list[Polynomial]] = {}
        self.flags: list[Word] = []
        for stream in self.streams:
            self._load(stream)

    def _span(self, step: WordsStep, before: Span) -> Span:
        """Of a product after another command."""
        multiplication, inner, rounds = self.multiplication, self.case.inner, self.case.rounds
        if step.follows:
            last_round = before.end - inner - (multiplication.made + 1 - ASK)  # its slot 0
            return Span(
                before.accepted + 1,
                last_round + multiplication.succession(inner) - ASK - 1,
                before.end + multiplication.chained_cycles(inner, rounds),
            )
        started = before.end + (DRAINS if step.later else step.gap)
        cycles = multiplication.cycles(inner, rounds, together=self.together, descale=step.descale)
        return Span(started, started + multiplication.chains, started + 1 + cycles)

    def _load(self, stream: str) -> None:
        """M, its inverse, and factors; of Y that ends modulo M the highest word is 0."""
        sizes = {"m": self.case.inner, "c": 1}
        for step in self.steps:
            sizes |= {step.x: self.case.inner, step.y: self.case.rounds}
        for name, count in sizes.items():
            if name[0] in "mcxy":
                operand = [
                    self.rules.operand(f"{stream}{name}_{k}", self.width) for k in range(count)
                ]
                if any(step.y == name and step.descale for step in self.steps):
                    operand[-1] = ZERO
                self.operands[stream + name] = operand
                self.memory.put(stream + name, [_word(digit) for digit in operand])

    def _is_busy(self, cycle: int) -> bool:
        """Whether a command is asked for or under way."""
        return any(span.started < cycle < span.end for span in (self.preparation, *self.spans))

    def _under_way(self, cycle: int) -> list[int]:
        """The products under way, the oldest one first."""
        return [k for k, span in enumerate(self.spans) if span.accepted < cycle < span.end]

    def _asked(self, cycle: int) -> int | None:
        """The product that is asked for."""
        for k, span in enumerate(self.spans):
            if span.started < cycle <= span.accepted:
                return k
        return None

    def _result(self, product: int) -> str:
        """The operand that is its result."""
        return self.steps[product].replaces or f"r{product}"

    def inputs(self, cycle: int) -> dict[str, Word]:
        """A start; lengths and flags of what is asked for or under way; words asked for."""
        found: dict[str, Word] = {}
        asked, under_way = self._asked(cycle), self._under_way(cycle)
        starts = any(span.started == cycle for span in self.spans)
        for stream in self.streams:
            if starts:
                found[f"{stream}start"] = 1
            if self._is_busy(cycle):
                found |= {
                    f"{stream}inner_digits": self.case.inner,
                    f"{stream}outer_digits": self.case.rounds,
                    f"{stream}rounds": self.case.rounds,
                }
                step = None
                if asked is not None:
                    step = self.steps[asked]
                elif under_way and not self.multiplication.chains:
                    step = self.steps[under_way[0]]
                if step is not None:
                    found[f"{stream}multiplier_is_one"] = int(step.y == "1")
                if self.multiplication.scaled:
                    found[f"{stream}descale"] = int(step is not None and step.descale)
        if asked is not None and cycle > self.spans[asked].started + 1:
            found |= self._chain_inputs(asked)
        then = cycle - READ_LATENCY
        if then >= 0:
            for port, place in self.asked[then].items():
                if place is not None:
                    found[port] = self.memory.read(place, then)
        return found

    def _chain_inputs(self, product: int) -> dict[str, Word]:
        """Which factors of a product are results, and of whom."""
        step = self.steps[product]
        before = self._result(product - 1) if product else ""
        found: dict[str, Word] = {
            "x_is_result": int(step.x == before),
            "y_is_result": int(step.y == before),
            "x_is_other": int(step.is_other),
        }
        if step.is_other:
            found["other_result"] = _word(self.operands[step.x][0])
        return found

    def may_be_later(self, cycle: int) -> bool:
        """Whether a product begins that a step says this of."""
        return any(
            step.later and span.started == cycle
            for step, span in zip(self.steps, self.spans, strict=True)
        )

    def adjust(self, execution: Execution) -> None:
        """Some time after the preparation: what it has kept of M and its inverse.

        ProofError unless control is the same whenever a chain goes on.
        """
        cycle = len(self.asked)
        if cycle == self.preparation.end + DRAINS:
            names = enumerate(execution.netlist.registers)
            held = {k: execution.registers[k] for k, name in names if name.startswith(KEEPING)}
            self.kept = {k: word for k, word in held.items() if word is not ANYTHING}
        pairs = enumerate(pairwise(self.steps), 1)
        for k, (before, step) in pairs:
            if before.follows and step.follows and cycle == self.spans[k].accepted + 1:
                flags = [
                    word
                    for name, word in zip(
                        execution.netlist.registers, execution.registers, strict=True
                    )
                    if name.startswith(CONTROL)
                ]
                if any(isinstance(word, Symbol) for word in flags) or self.flags not in ([], flags):
                    raise ProofError("a chain does not go on as it has begun")
                self.flags = flags

    def compared(self, cycle: int, names: Sequence[str]) -> Sequence[str]:
        """Between two commands nothing is read."""
        if self._is_busy(cycle):
            return names
        return [name for name in names if name.endswith(("b_write", "done", "accepts", "busy"))]

    def begins(self) -> dict[str, Word]:
        """What begins the session."""
        return {f"{stream}{self.command}": 1 for stream in self.streams}

    def observe(self, cycle: int, outputs: Mapping[str, Word]) -> None:
        """Places that are asked for; and words that are written. ProofError if one is another."""
        asked: dict[str, tuple[str, int] | None] = {}
        busy, under_way = self._is_busy(cycle), self._under_way(cycle)
        for stream in self.streams:
            if not busy:
                if known(outputs, f"{stream}b_write") != (0,):
                    raise ProofError("a word is written between two commands")
                continue
            names = [f"{stream}{port}" for port in _PORTS]
            role, a_index, b_index, writes, of_y = known(outputs, *names)
            a_of_next = b_of_next = 0
            if self.multiplication.chains:
                a_of_next, b_of_next = known(outputs, "a_of_next", "b_of_next")
            of_a, of_b = (self._step(cycle, value) for value in (a_of_next, b_of_next))
            if role == Role.INVERSE:
                asked[f"{stream}a_data"] = (f"{stream}c", 0)
            else:
                name = "m" if role == Role.MODULUS else of_a.x if of_a else ""
                asked[f"{stream}a_data"] = (stream + name, a_index)
            asked[f"{stream}b_data"] = None
            if of_b is not None and of_y:
                asked[f"{stream}b_data"] = (stream + of_b.y, b_index)
            elif of_b is not None and b_of_next and not of_b.is_other:
                asked[f"{stream}b_data"] = (stream + of_b.x, b_index)
            if writes:
                if not under_way:
                    raise ProofError("a word is written that is not of a product")
                word = self.rules.unsigned(outputs[f"{stream}b_write_data"], self.width)
                place = stream + self._result(under_way[0]), b_index
                self.memory.write(place, cycle, word)
        self.asked[cycle:] = [asked]
        self._keep(cycle)

    def _step(self, cycle: int, is_next: int) -> WordsStep | None:
        """The product that is asked for, or the newest one under way, if there is one."""
        asked, under_way = self._asked(cycle), self._under_way(cycle)
        if is_next:
            return None if asked is None else self.steps[asked]
        return self.steps[under_way[-1]] if under_way else None

    def _keep(self, cycle: int) -> None:
        """As a product ends: its result, before another one may replace it."""
        for k, span in enumerate(self.spans):
            if cycle == span.end - 1:
                for stream in self.streams:
                    name = stream + self._result(k)
                    self.found[stream, k] = self.memory.words(name, self.case.inner)

    def ends(self, cycle: int, outputs: Mapping[str, Word]) -> bool:
        """`done` comes in the last cycle of each command, of both of them, else ProofError.

        So does `accepts` as a product becomes the one under way, and as the preparation ends.
        """
        expected = {"done": any(cycle == span.end - 1 for span in (self.preparation, *self.spans))}
        if self.multiplication.chains:
            accepted = any(cycle == span.accepted for span in self.spans)
            expected["accepts"] = accepted or cycle == self.preparation.end - 1
            expected["busy"] = self._is_busy(cycle)
        for stream in self.streams:
            for name, value in expected.items():
                if known(outputs, stream + name) != (value,):
                    raise ProofError(f"{stream}{name} is {not value} in cycle {cycle}")
        return cycle == self.cycles - 1

    def check(self) -> None:
        """The recurrence of each product, with what the products before have made."""
        for stream in self.streams:
            operands = {
                name.removeprefix(stream): words
                for name, words in self.operands.items()
                if name.startswith("other__") == (stream == "other__")
            }
            plain = Modulus(operands["m"], operands["c"][0])
            modulus = self._scaled(plain) if self.multiplication.scaled else plain
            for k, step in enumerate(self.steps):
                y = operands.get(step.y, [ONE, *[ZERO] * (self.case.rounds - 1)])
                s = rounds_of_words(
                    self.rules.divisions,
                    self.width,
                    operands[step.x],
                    y[: self.case.rounds - step.descale],
                    modulus,
                    plain if step.descale else None,
                )
                compare(f"{stream}product {k}: S", self.found[stream, k], s)
                operands[self._result(k)] = s

    def _scaled(self, plain: Modulus) -> Modulus:
        """c * M, whose lowest word is -1, with an inverse of 1."""
        words = Words(self.rules.divisions, self.width)
        products = [plain.inverse * m_j for m_j in plain.words]
        lows, highs = (
            [words.low(product) for product in products],
            [words.high(product) for product in products],
        )
        scaled = words.added(lows[1:], highs[:-1], ZERO)
        return Modulus([Polynomial.of((1 << self.width) - 1), *scaled], ONE)


def _word(value: Polynomial) -> Word:
    return Symbol.of(value) if value.terms else 0
