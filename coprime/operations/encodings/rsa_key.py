"""Numbers modulo a key's modulus, with the numbers of the private key."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Protocol, Self

from coprime.model import montgomery
from coprime.program.operands import Length, Operand

from ..lengths import Lengths
from ..operation import Encoded, InputRole, Numbers, Source
from .modular import PUBLIC_EXPONENT, Modular
from .radix import NumberEngine, Radix

SHORTEST = 64
"""Bits of the shortest modulus of a key."""
NAMES = ("n", "d", "p", "q", "dp", "dq")
"""Numbers of a private key that an engine needs; one that is `checked` needs e as well."""
_ONES = 8
"""Ones in the 17 bits of public exponents that are drawn: there are 5005 such odd numbers."""


class PrivateNumbers(Protocol):
    """The numbers of a private key that an engine needs; names as in RFC 8017."""

    @property
    def n(self) -> int:
        """Modulus."""

    @property
    def d(self) -> int:
        """Private exponent."""

    @property
    def p(self) -> int:
        """First prime."""

    @property
    def q(self) -> int:
        """Second prime."""

    @property
    def dp(self) -> int:
        """Private exponent modulo p - 1."""

    @property
    def dq(self) -> int:
        """Private exponent modulo q - 1."""

    @property
    def e(self) -> int:
        """Public exponent; asked for only where the hardware checks a private operation."""


@dataclass(frozen=True)
class WorstCaseNumbers:
    """Two primes with all-ones exponents, as the papers count their worst case.

    No public exponent belongs to them, so `e` is 0, and hardware that checks a private operation
    refuses them. The result is known from its two residues.
    """

    n: int
    d: int = field(repr=False)
    p: int = field(repr=False)
    q: int = field(repr=False)
    dp: int = field(repr=False)
    dq: int = field(repr=False)
    e: int = 0

    @classmethod
    def of_key(cls, key: PrivateNumbers) -> Self:
        """With the primes of a key."""
        dp, dq = ((1 << prime.bit_length()) - 1 for prime in (key.p, key.q))
        return cls(key.n, (1 << key.n.bit_length()) - 1, key.p, key.q, dp, dq)


def key_numbers(key: PrivateNumbers, names: Iterable[str] = (*NAMES, "e")) -> dict[str, int]:
    """The numbers of a private key by their names."""
    return {name: getattr(key, name) for name in names}


def private_power(
    x: int, n: int, d: int, p: int, q: int, dp: int, dq: int, e: int = PUBLIC_EXPONENT
) -> int:
    """x^d mod n; without a public exponent, x^dp mod p and x^dq mod q, recombined modulo n."""
    if e:
        return pow(x, d, n)
    p_part, q_part = pow(x, dp, p), pow(x, dq, q)
    return (q_part + q * ((p_part - q_part) * pow(q, -1, p) % p)) % n


class RsaKey(Modular):
    """A message x, and the numbers of a private key."""

    least_bits = SHORTEST

    def check_names(self, numbers: Numbers) -> None:
        """x and NAMES, and maybe e. ValueError for others."""
        if numbers.keys() | {"e"} != {"x", "e", *NAMES}:
            raise ValueError(f"{self.operation.name} needs a private key")

    def modulus(self, numbers: Numbers) -> int:
        """That of the key."""
        return numbers["n"]

    def lengths(self, numbers: Numbers) -> Lengths:
        """Of the key; the modulus is as long as x is, if that is longer."""
        bits = {name: value.bit_length() for name, value in numbers.items()}
        return Lengths(max(bits["n"], bits["x"]), max(bits["p"], bits["q"]), bits.get("e", 0))

    def lengths_of(self, bits: int) -> Lengths:
        """Of a random key with two primes of half the length."""
        return Lengths(bits, (bits + 1) // 2, PUBLIC_EXPONENT.bit_length())

    def of_key(self, key: PrivateNumbers) -> dict[str, int]:
        """All of its numbers."""
        return key_numbers(key)

    def as_power(self, numbers: Numbers) -> tuple[Numbers, int] | None:
        """With d, which is as long as the modulus, whatever its length is."""
        power = {"x": numbers["x"], "e": numbers["d"], "m": numbers["n"]}
        return power, max(numbers[name].bit_length() for name in ("n", "d"))

    def private_key(self, numbers: Numbers) -> WorstCaseNumbers | None:
        """The numbers but for x."""
        return WorstCaseNumbers(**{name: number for name, number in numbers.items() if name != "x"})

    def encode(
        self, numbers: Numbers, engine: NumberEngine, *, exponent_length: int | None = None
    ) -> Encoded:
        """The numbers with the constants of their three moduli; e for an engine that is checked.

        A modulus is as long as the longest of n and x, a prime as it or its exponent. What an
        engine that is checked would use up is left out. ValueError without the e that it needs.
        """
        if engine.checked and "e" not in numbers:
            raise ValueError("the engine checks its results with the public exponent e")
        length = max(engine.min_length, *(numbers[name].bit_length() for name in ("n", "x")))
        p_length, q_length = (
            max(engine.min_length, *(numbers[name].bit_length() for name in names))
            for names in (("p", "dp"), ("q", "dq"))
        )
        if engine.equal_primes:
            p_length = q_length = max(p_length, q_length)
        n, p, q, dp, dq = (numbers[name] for name in ("n", "p", "q", "dp", "dq"))
        operands = private_operands(
            Radix.of(engine), n, (p, q), (dp, dq), length, (p_length, q_length)
        )
        lengths = {Length.MODULUS: length, Length.P: p_length, Length.Q: q_length}
        if engine.checked:
            del operands[Operand.M_POWER]
            operands[Operand.E] = numbers["e"]
            lengths[Length.EXPONENT] = max(1, numbers["e"].bit_length())
        return Encoded(lengths, operands, numbers["x"])

    def identity(self, numbers: Numbers) -> tuple[object, ...]:
        """x, and the key in the order of RFC 8017, or with an e of 0 at the end."""
        if not numbers["e"]:
            return {"x": numbers["x"]}, tuple(numbers[name] for name in (*NAMES, "e"))
        key = [numbers[name] for name in ("n", "e", *NAMES[1:])]
        return {"x": numbers["x"]}, (*key, pow(numbers["q"], -1, numbers["p"]))

    # Numbers from a generator

    def drawn(self, domain: Numbers, generator: Random, *, worst: bool = False) -> dict[str, int]:
        """A message for the key that a domain is."""
        key = {name: domain[name] for name in (*NAMES, "e")}
        x = generator.randrange(key["n"])
        if worst:
            key = key_numbers(WorstCaseNumbers.of_key(WorstCaseNumbers(**key)))
        return {"x": x, **key}

    def sample(self, given: Numbers, generator: Random) -> None:
        """There are no primes among them."""

    def names(self, role: InputRole) -> list[str]:
        """All of a key; or its exponents, which the public one determines."""
        if role in (InputRole.KEY, InputRole.EXPONENT):
            return [*NAMES, "e"] if role is InputRole.KEY else ["e", "d", "dp", "dq"]
        return super().names(role)

    def redrawn(self, numbers: Numbers, names: list[str], source: Source) -> dict[str, int]:
        """With the key of another domain, or with other exponents of this one; and another x."""
        found = dict(numbers)
        if "n" in names:
            found |= source.domain()
        elif "e" in names:
            found |= _with_other_exponent(numbers, source.generator)
        return super().redrawn(found, names, source)


def _with_other_exponent(numbers: Numbers, generator: Random) -> dict[str, int]:
    """Another private exponent, by a public one of the same length and count of ones."""
    p_1, q_1 = numbers["p"] - 1, numbers["q"] - 1
    while True:
        places = generator.sample(range(1, 16), _ONES - 2)
        e = 1 << 16 | 1 | sum(1 << place for place in places)
        if math.gcd(e, p_1 * q_1) == 1:
            d = pow(e, -1, math.lcm(p_1, q_1))
            return {"e": e, "d": d, "dp": d % p_1, "dq": d % q_1}


def private_operands(
    radix: Radix,
    n: int,
    primes: tuple[int, int],
    exponents: tuple[int, int],
    length: int,
    prime_lengths: tuple[int, int],
) -> dict[Operand, int]:
    """The modulus n, its primes p and q, the exponents modulo p - 1 and q - 1, the constants.

    The lengths of the modulus and of p and q, in bits, are those given to the engine.
    """
    (p, q), (dp, dq) = primes, exponents
    own, own_p, own_q = map(radix.exponent, (length, *prime_lengths))
    return {
        **radix.modulus_operands(n, length),
        Operand.P: p,
        Operand.Q: q,
        Operand.DP: dp,
        Operand.DQ: dq,
        Operand.P_INVERSE: montgomery.inverse(p, radix.width),
        Operand.Q_INVERSE: montgomery.inverse(q, radix.width),
        Operand.P_POWER: montgomery.prime_power(p, own, own_p),
        Operand.Q_POWER: montgomery.prime_power(q, own, own_q),
        Operand.CRT_P: montgomery.crt_factor(p, q, n, own_p),
        Operand.CRT_Q: montgomery.crt_factor(q, p, n, own_q),
    }
