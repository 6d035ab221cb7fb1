"""The theorem of `compact`: column by column, Montgomery's recurrence modulo c * M."""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import add

from coprime.model.compact import RADIX_BITS
from coprime.multipliers.compact.multiplication import CompactMultiplication
from coprime.multipliers.contract import Pair
from coprime.multipliers.multiplication import READ_LATENCY

from .execution import Memory, known
from .polynomials import Divisions, Polynomial
from .symbols import Rules, Symbol, Word
from .theorem import ONE, ZERO, Bench, Theorem, TheoremCase, check_zero, compare

WRITTEN_AFTER = 2  # cycles from `b_write` to its digit
LEFT = {Pair.FACTORS: "x", Pair.QUOTIENT: "scaled", Pair.MODULUS: "m"}
RIGHT = {Pair.FACTORS: "y", Pair.QUOTIENT: "q"}


def columns(
    divisions: Divisions,
    x: Sequence[Polynomial],
    y: Sequence[Polynomial],
    scaled: Sequence[Polynomial],
) -> tuple[list[Polynomial], list[Polynomial]]:
    """q and S: digits of the columns' sums

    carry + sum of x_i y_j over i + j = k + sum of q_i M'_j over i + j = k - 1,

    of which those of columns k < rounds are q_k, and the others S_(k-rounds).
    """

    def products(a: Sequence[Polynomial], b: Sequence[Polynomial], column: int) -> Polynomial:
        pairs = ((i, column - i) for i in range(len(a)) if 0 <= column - i < len(b))
        return reduce(add, (a[i] * b[j] for i, j in pairs), ZERO)

    inner, rounds = len(x), len(y)
    q: list[Polynomial] = []
    s: list[Polynomial] = []
    carry = ZERO
    for k in range(inner + rounds):
        total = carry + products(x, y, k) + products(q, scaled, k - 1)
        column = divisions.divide(total, RADIX_BITS)
        carry = column.high
        (q if k < rounds else s).append(column.low)
    return q, s


def digits_of(divisions: Divisions, totals: Sequence[Polynomial]) -> list[Polynomial]:
    """Digits of the sum of all total_k * 2^(17k)."""
    carry, digits = ZERO, []
    for total in totals:
        column = divisions.divide(carry + total, RADIX_BITS)
        carry = column.high
        digits.append(column.low)
    return digits


class CompactTheorem(Theorem):
    """X * Y * 2^(-17*rounds) mod c * M of `CompactMultiplier`; with `descale`, mod M; and M'."""

    statement = "X * Y / 2^(17 rounds) modulo c * M, or M, and M'"
    addresses = ("a_role", "a_index", "b_index", "b_write", "b_quotient")

    def cases(self, digits: int) -> Iterator[TheoremCase]:
        """Equal lengths with every option, and other lengths; a preparation."""
        half = max(2, (digits + 1) // 2)
        for options in (
            *((), ("in_place",), ("squares",), ("multiplier_is_one",)),
            *(("descale",), ("descale", "multiplier_is_one", "in_place")),
        ):
            yield TheoremCase(digits, digits, frozenset(options))
        yield TheoremCase(digits, half)
        if half >= CompactMultiplication.min_digits:
            yield TheoremCase(half, digits)
        yield TheoremCase(digits, digits, frozenset({"prepare"}))

    def bench(self, rules: Rules, case: TheoremCase) -> Bench:
        """Of two banks."""
        return CompactBench(rules, case)


class CompactBench(Bench):
    """Two banks of memory, and what a multiplication or preparation has to write there."""

    trailing = WRITTEN_AFTER

    def __init__(self, rules: Rules, case: TheoremCase) -> None:
        self.rules, self.case, self.memory = rules, case, Memory()
        self.descale, self.prepares = (option in case.options for option in ("descale", "prepare"))
        multiplication = CompactMultiplication()
        self.command, self.result = "start", "result"
        self.cycles = multiplication.cycles(case.inner, case.rounds, descale=self.descale)
        if self.prepares:
            self.command, self.result = "prepare", "scaled"
            self.cycles = multiplication.prepare_cycles(case.inner)
        elif "in_place" in case.options:
            self.result = "x"
        flags = ("descale", "squares", "multiplier_is_one")
        self.held: dict[str, Word] = {
            "inner_digits": case.inner,
            "outer_digits": case.rounds,
            "rounds": case.rounds,
            **{name: int(name in case.options) for name in flags},
        }
        self.asked: list[tuple[Pair, int, int, int, int]] = []
        self._load(case.inner, case.rounds - self.descale)

    def _load(self, inner: int, rounds: int) -> None:
        """Operands that it may read, and no others."""
        self.x, self.m, self.scaled, self.y = (
            [self.rules.operand(f"{name}{k}", RADIX_BITS) for k in range(count)]
            for name, count in (("x", inner), ("m", inner), ("scaled", inner), ("y", rounds))
        )
        self.c = self.rules.operand("c", RADIX_BITS)
        loaded = {"m": self.m, "c": [self.c]}
        if not self.prepares:
            loaded |= {"x": self.x, "scaled": self.scaled}
        if "squares" in self.case.options:
            self.y = self.x[:rounds]
        elif "multiplier_is_one" in self.case.options:
            self.y = [ONE, *[ZERO] * (rounds - 1)]
        else:
            loaded["y"] = self.y
        for name, words in loaded.items():
            self.memory.put(name, [Symbol.of(word) for word in words])

    def inputs(self, cycle: int) -> dict[str, Word]:
        """Lengths, and what was asked for READ_LATENCY cycles ago."""
        then = cycle - READ_LATENCY
        found = dict(self.held)
        if then < 0:
            return found
        role, a_index, b_index, b_write, _ = self.asked[then]
        left = self.result if role is Pair.RESULT else LEFT[role]
        for port, index in (("a", a_index), ("b", b_index)):
            right = (RIGHT[role], index) if role in RIGHT else ("c", 0)
            if not (port == "b" and b_write):
                found[f"{port}_left"] = self.memory.read((left, index), then)
                found[f"{port}_right"] = self.memory.read(right, then)
        return found

    def observe(self, cycle: int, outputs: Mapping[str, Word]) -> None:
        """What is asked for, and the digit of a write that was asked for before."""
        role, a, b, write, quotient = known(outputs, *CompactTheorem.addresses)
        self.asked[cycle:] = [(Pair(role), a, b, write, quotient)]
        then = cycle - WRITTEN_AFTER
        if then < 0:
            return
        _, _, index, writes, of_quotient = self.asked[then]
        if writes:
            digit = self.rules.unsigned(outputs["b_write_data"], RADIX_BITS)
            self.memory.write(("q" if of_quotient else self.result, index), then, digit)

    def check(self) -> None:
        """The recurrence, and the last round modulo M or the preparation."""
        divisions, memory, c, m = self.rules.divisions, self.memory, self.c, self.m
        found = memory.words(self.result, self.case.inner)
        if self.prepares:
            # c * M + 1, whose lowest digit is 0: that of c * M is -1, so that 1 is carried.
            totals = [c * m[0], c * m[1] + ONE, *(c * digit for digit in m[2:]), ZERO]
            compare("M'", found, digits_of(divisions, totals)[1:])
            return
        q, s = columns(divisions, self.x, self.y, self.scaled)
        if not self.descale:  # that round writes its lowest digit over q_0
            compare("q", memory.words("q", len(q)), q)
        else:
            last = divisions.divide(s[0] * c, RADIX_BITS).low
            check_zero(divisions, s[0] + last * m[0], RADIX_BITS, (c, m[0]), s[0])
            totals = [*(a + last * b for a, b in zip(s, m, strict=True)), ZERO]
            s = digits_of(divisions, totals)[1:]
        compare("S", found, s)
