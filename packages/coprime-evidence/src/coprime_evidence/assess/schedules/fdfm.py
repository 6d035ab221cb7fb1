"""The theorem of `fdfm`: its schedule is Algorithm 3, as `model/fdfm.py` has it in integers."""

from collections.abc import Iterator, Mapping, Sequence

from coprime.model.fdfm import RADIX_BITS
from coprime.multipliers.contract import Role
from coprime.multipliers.fdfm_multiplication import FdfmMultiplication
from coprime.multipliers.multiplication import READ_LATENCY

from .execution import Memory, known
from .polynomials import Divisions, Polynomial
from .symbols import Rules, Symbol, Word
from .theorem import ONE, ZERO, Bench, Theorem, TheoremCase, check_zero, compare


def algorithm_3(
    divisions: Divisions,
    x: Sequence[Polynomial],
    y: Sequence[Polynomial],
    m: Sequence[Polynomial],
    inverse: Polynomial,
) -> list[Polynomial]:
    """S, after a round for each digit of y. C_alpha, C_beta and C_gamma are one carry, C.

    Raises ProofError unless q makes the lowest digit 0.
    """

    def divide(value: Polynomial) -> tuple[Polynomial, Polynomial]:
        found = divisions.divide(value, RADIX_BITS)
        return found.high, found.low

    d = len(x)
    x, m, s = [*x, ZERO], [*m, ZERO], [ZERO] * (d + 1)
    for y_i in y:
        first = divide(divide(x[0] * y_i)[1] + s[0])[1]
        q = divide(first * inverse)[1]
        carry = c_s = ZERO
        following = []
        for j in range(d + 1):
            carry, gamma = divide(carry + x[j] * y_i + q * m[j])
            c_s, digit = divide(gamma + s[j] + c_s)
            following.append(digit)
        lowest = x[0] * y_i + q * m[0] + s[0]
        check_zero(divisions, lowest, RADIX_BITS, (m[0], inverse), s[0])
        s = [*following[1:], ZERO]
    return s[:d]


class FdfmTheorem(Theorem):
    """X * Y * 2^(-17*outer) mod M by Algorithm 3, of `FdfmMultiplier`."""

    statement = "X * Y / 2^(17 rounds) modulo M, by Algorithm 3"
    addresses = ("a_role", "a_index", "b_index", "b_write")

    def cases(self, digits: int) -> Iterator[TheoremCase]:
        """Equal lengths, and those of the steps of RSA_PRIVATE; with a multiplier of 1."""
        half = max(FdfmMultiplication.min_digits, (digits + 1) // 2)
        for inner, rounds in {(digits, digits): 1, (digits, half): 1, (half, digits): 1}:
            yield TheoremCase(inner, rounds)
        yield TheoremCase(digits, digits, frozenset({"multiplier_is_one"}))

    def bench(self, rules: Rules, case: TheoremCase) -> Bench:
        """Of one memory."""
        return FdfmBench(rules, case)


class FdfmBench(Bench):
    """The memory, and what Algorithm 3 has to write there."""

    command = "start"

    def __init__(self, rules: Rules, case: TheoremCase) -> None:
        self.rules, self.case, self.memory = rules, case, Memory()
        self.cycles = FdfmMultiplication().cycles(case.inner, case.rounds)
        is_one = "multiplier_is_one" in case.options
        self.held: dict[str, Word] = {
            "inner_digits": case.inner,
            "outer_digits": case.rounds,
            "rounds": case.rounds,
            "multiplier_is_one": int(is_one),
        }
        self.asked: list[tuple[Role, int, int, int]] = []
        self.x, self.y, self.m, (self.inverse,) = (
            [rules.operand(f"{name}{k}", RADIX_BITS) for k in range(count)]
            for name, count in (
                *(("x", case.inner), ("y", case.rounds)),
                *(("m", case.inner), ("inverse", 1)),
            )
        )
        for role, words in (
            (Role.MULTIPLICAND, self.x),
            (Role.MULTIPLIER, [] if is_one else self.y),
            (Role.MODULUS, self.m),
            (Role.INVERSE, [self.inverse]),
        ):
            self.memory.put(role.name, [Symbol.of(word) for word in words])
        if is_one:
            self.y = [ONE, *[ZERO] * (case.rounds - 1)]

    def inputs(self, cycle: int) -> dict[str, Word]:
        """Lengths, and what was asked for READ_LATENCY cycles ago."""
        then = cycle - READ_LATENCY
        if then < 0:
            return self.held
        role, a_index, b_index, _ = self.asked[then]
        index = 0 if role is Role.INVERSE else a_index
        return self.held | {
            "a_data": self.memory.read((role.name, index), then),
            "b_data": self.memory.read(("S", b_index), then),
        }

    def observe(self, cycle: int, outputs: Mapping[str, Word]) -> None:
        """What is asked for; and a digit of S that is written."""
        role, a_index, b_index, writes = known(outputs, *FdfmTheorem.addresses)
        self.asked.append((Role(role), a_index, b_index, writes))
        if writes:
            digit = self.rules.unsigned(outputs["b_write_data"], RADIX_BITS)
            self.memory.write(("S", b_index), cycle, digit)

    def check(self) -> None:
        """Algorithm 3."""
        expected = algorithm_3(self.rules.divisions, self.x, self.y, self.m, self.inverse)
        compare("S", self.memory.words("S", self.case.inner), expected)
