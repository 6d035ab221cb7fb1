"""The operands of an engine's commands, with the constants that the host precomputes for a key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from coprime.model import edwards_points, montgomery
from coprime.model.combs import COMB_TEETH, jacobian_tooth, joint_tooth, tooth
from coprime.model.curve_points import comb_table
from coprime.model.scalar_blinding import comb_bits, ladder_bits
from coprime.operations.curve_form import WEIERSTRASS
from coprime.operations.operation import Arithmetic, Operation
from coprime.program.operands import PAIRS_OF_TABLE, POINTS, TABLE_T_COORDINATES, Length, Operand

from .capabilities import Capabilities

_OF_CURVES = Arithmetic(inverses=True, montgomery=True)


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
class Radix:
    """An engine's digits and its R: an operand of n bits has ceil((n + headroom) / width) digits.

    A multiplication takes `radix_bits` of such an operand in each round and divides by 2^radix_bits
    there, so R is 2^(radix_bits * ceil((n + headroom) / radix_bits)).

    Parameters
    ----------
    width : bits of a digit, at least 1
    headroom : bits of an operand beyond its length, at least 0
    radix_bits : bits of a round, at least 1; 0: the multiplication does not divide, and R is 1
    blinds_scalars : secret scalars of points are longer
    """

    width: int
    headroom: int
    radix_bits: int
    blinds_scalars: bool = False

    @classmethod
    def of(cls, capabilities: Capabilities) -> Self:
        """The digits and the R of an engine."""
        return cls(
            capabilities.digit_width,
            capabilities.headroom,
            capabilities.radix_bits,
            capabilities.blinds_scalars,
        )

    @property
    def scale_digits(self) -> int:
        """Digits of c where the multiplier works modulo c * M, in the headroom; else 0."""
        return self.headroom // self.width

    def exponent(self, length: int) -> int:
        """That of R, which is 2^exponent, for a modulus of `length` bits; 0 for length 0."""
        if not self.radix_bits:
            return 0
        return self.radix_bits * montgomery.digits(length, self.radix_bits, self.headroom)

    def modulus_operands(self, m: int, length: int) -> dict[Operand, int]:
        """The modulus with its constants. `length` in bits is the one given to the engine."""
        return {
            Operand.M: m,
            Operand.M_INVERSE: montgomery.inverse(m, self.width),
            Operand.M_POWER: montgomery.modulus_power(m, self.exponent(length)),
        }

    def curve_operands(self, p: int, n: int, length: int) -> dict[Operand, int]:
        """The prime p of a field and the prime n, the order of a curve's points, with constants.

        The length of both, in bits, is the one given to the engine. Exponents are those of
        inversions. Where c of p is 1, numbers modulo p have its digits less.
        """
        power = 2 * self.exponent(length)
        inverse = montgomery.inverse(p, self.width)
        of_p = 2 * self._exponent_of_field(p, length)
        return {
            Operand.P: p,
            Operand.Q: n,
            Operand.P_INVERSE: inverse,
            Operand.Q_INVERSE: montgomery.inverse(n, self.width),
            Operand.P_POWER: (1 << of_p) % p,
            Operand.Q_POWER: (1 << power) % n,
            Operand.DP: p - 2,
            Operand.DQ: n - 2,
            Operand.M: 1 << n.bit_length(),
        }

    def curve_operation(
        self,
        operation: Operation,
        numbers: Mapping[str, int],
        *,
        half_bits: int,
        min_length: int,
    ) -> tuple[dict[Operand, int], dict[Length, int]]:
        """The operands of an operation on a curve, X included, and all lengths.

        The numbers are its record's inputs, by their names; `half_bits` and `min_length` are the
        engine's. Raises ValueError unless p and n are odd, and scalars below n.
        """
        p, n = numbers["p"], numbers["n"]
        if p < 5 or n < 5 or p % 2 == 0 or n % 2 == 0:
            raise ValueError("p and n of a curve are primes of 5 or more")
        length = max(min_length, p.bit_length(), n.bit_length())
        if self.is_short(p):  # the digits that are left are those of the shortest modulus
            length = max(length, min_length + self.width * self.scale_digits)
        operands = self.curve_operands(p, n, length) | operand_pairs(operation, numbers, half_bits)
        operands |= {
            input_.operand: numbers[input_.name]
            for input_ in operation.inputs
            if input_.operand is Operand.SECRET
        }
        table, exponent_length = self._table_operands(operation, numbers, length, half_bits)
        operands |= table
        lengths = {Length.MODULUS: half_bits + length, Length.P: length, Length.Q: length}
        lengths[Length.EXPONENT] = exponent_length
        operands[Operand.E] = 0  # of a nonce that is drawn
        scalars = {exponent.name: numbers[exponent.name] for exponent in operation.exponents}
        for name, scalar in scalars.items():
            if scalar >= n:
                raise ValueError(f"{name} must be below n, the order of the points")
            operands[Operand.E] = scalar
        if operation.joins is not None:
            operands[Operand.E] = operation.joins(*scalars.values(), exponent_length // COMB_TEETH)
        required = operation.required(_OF_CURVES)
        return {one: value for one, value in operands.items() if one in required}, lengths

    def _table_operands(
        self, operation: Operation, numbers: Mapping[str, int], length: int, half: int
    ) -> tuple[dict[Operand, int], int]:
        """The table of a base point, if the operation has one, and the length of E in bits."""
        p, n = numbers["p"], numbers["n"]
        if Operand.TABLE_0 not in operation.required(_OF_CURVES):
            longer = ladder_bits(length) if self.blinds_scalars and operation.blinds else 0
            # For a multiple of n that is added.
            return {Operand.M: 1 << n.bit_length() + longer}, length + longer + 1
        base, a = (numbers["gx"], numbers["gy"]), numbers["a"]
        if operation.curve == WEIERSTRASS.name:
            return self.base_operands(base, a, p, n, length, half)
        d = numbers["d"]
        if operation.joins is None:
            return self.edwards_operands(base, (a, d), p, n, length, half)
        teeth = COMB_TEETH * joint_tooth(n, length, self.width, self.headroom)
        return self.edwards_table([base], d, p, length, half), teeth

    def _exponent_of_field(self, p: int, length: int) -> int:
        """That of R for the prime of a curve's field."""
        return self.exponent(length) - self.width * self.scale_digits * self.is_short(p)

    def is_short(self, p: int) -> bool:
        """Whether numbers modulo the prime of a field have fewer digits than their length says.

        They have where the multiplier works modulo a multiple of the modulus, for which the
        headroom has `scale_digits`, and this multiple is the modulus itself.
        """
        bits = self.width * self.scale_digits
        return bits > 0 and montgomery.inverse(p, bits) == 1

    def base_operands(
        self, g: tuple[int, int], a: int, p: int, n: int, length: int, half_bits: int
    ) -> tuple[dict[Operand, int], int]:
        """The table of a curve's base point g, and what belongs to it; the length of E in bits.

        It is that of a comb, or g alone where n is too short for one.
        """
        blinding_bits = comb_bits(length) if self.blinds_scalars else 0
        bits = jacobian_tooth(n, length, self.width, self.headroom, blinding_bits)
        points = comb_table(g, bits, a, p) if bits else None
        power = 1 << self._exponent_of_field(p, length)
        table = [x * power % p | (y * power % p) << half_bits for x, y in points or [g]]
        operands = {one: table[k % len(table)] for k, one in enumerate(PAIRS_OF_TABLE)}
        if points is None:
            return operands, length + blinding_bits + 1
        half = (1 << 2 * self.exponent(length)) * (n + 1) // 2 % n
        teeth = COMB_TEETH * bits
        return operands | {Operand.M: 1 << (teeth - 1) | half << half_bits}, teeth

    def edwards_operands(
        self, g: tuple[int, int], curve: tuple[int, int], p: int, n: int, length: int, half: int
    ) -> tuple[dict[Operand, int], int]:
        """The table of the base point g of an Edwards curve, a and d; the length of E in bits.

        `half` is the count of bits of an operand below its second number.
        """
        a, d = curve
        blinding_bits = comb_bits(length) if self.blinds_scalars else 0
        bits = tooth(length, self.width, self.headroom, blinding_bits)
        points = edwards_points.comb_table(g, bits, a, d, p)
        teeth = COMB_TEETH * bits
        power = (1 << 2 * self.exponent(length)) * (n + 1) // 2 % n
        scalars = {Operand.M: 1 << (teeth - 1) | power << half}
        return scalars | self.edwards_table(points, d, p, length, half), teeth

    def edwards_table(
        self, points: Sequence[tuple[int, int]], d: int, p: int, length: int, half: int
    ) -> dict[Operand, int]:
        """Points of an Edwards curve as a table has them, in Montgomery form."""
        power = 1 << self._exponent_of_field(p, length)
        numbers = [
            [one * power % p for one in edwards_points.of_table(point, d, p)] for point in points
        ]
        numbers += [[0, 0, 0]] * (POINTS - len(points))
        thirds = [third for *_, third in numbers]
        return {
            one: low | high << half
            for one, (low, high) in zip(
                (*PAIRS_OF_TABLE, *TABLE_T_COORDINATES),
                (*((u, v) for u, v, _ in numbers), *zip(thirds[::2], thirds[1::2], strict=True)),
                strict=True,
            )
        }

    def private_operands(
        self,
        n: int,
        primes: tuple[int, int],
        exponents: tuple[int, int],
        length: int,
        prime_lengths: tuple[int, int],
    ) -> dict[Operand, int]:
        """The modulus n, its primes p and q, the exponents modulo p - 1 and q - 1, the constants.

        The lengths of the modulus and of p and q, in bits, are those given to the engine.
        """
        (p, q), (dp, dq), width = primes, exponents, self.width
        own, own_p, own_q = map(self.exponent, (length, *prime_lengths))
        return {
            **self.modulus_operands(n, length),
            Operand.P: p,
            Operand.Q: q,
            Operand.DP: dp,
            Operand.DQ: dq,
            Operand.P_INVERSE: montgomery.inverse(p, width),
            Operand.Q_INVERSE: montgomery.inverse(q, width),
            Operand.P_POWER: montgomery.prime_power(p, own, own_p),
            Operand.Q_POWER: montgomery.prime_power(q, own, own_q),
            Operand.CRT_P: montgomery.crt_factor(p, q, n, own_p),
            Operand.CRT_Q: montgomery.crt_factor(q, p, n, own_q),
        }

    def private_operation(
        self,
        key: PrivateNumbers,
        length: int,
        *,
        min_length: int,
        equal_primes: bool,
        checked: bool,
    ) -> tuple[dict[Operand, int], dict[Length, int]]:
        """The operands of RSA_PRIVATE, but for X, and all lengths, for a modulus of `length` bits.

        The rest is as the engine's capabilities say. An engine that is `checked` needs e, too.
        """
        p_length = max(min_length, key.p.bit_length(), key.dp.bit_length())
        q_length = max(min_length, key.q.bit_length(), key.dq.bit_length())
        if equal_primes:
            p_length = q_length = max(p_length, q_length)
        operands = self.private_operands(
            key.n, (key.p, key.q), (key.dp, key.dq), length, (p_length, q_length)
        )
        lengths = {Length.MODULUS: length, Length.P: p_length, Length.Q: q_length}
        if checked:
            operands[Operand.E] = key.e
            lengths[Length.EXPONENT] = max(1, key.e.bit_length())
        return operands, lengths


def operand_pairs(
    operation: Operation, numbers: Mapping[str, int], half_bits: int
) -> dict[Operand, int]:
    """The operands of an operation on a curve that are two numbers each."""
    found: dict[Operand, int] = {}
    for input_ in operation.inputs:
        if input_.operand.length is Length.MODULUS:
            shift = half_bits if input_.upper else 0
            found[input_.operand] = found.get(input_.operand, 0) + (numbers[input_.name] << shift)
    return found


def private_operation(
    own: Capabilities, key: PrivateNumbers
) -> tuple[dict[Operand, int], dict[Length, int]]:
    """What an engine needs for RSA_PRIVATE, but for X: operands that it reads, and all lengths."""
    operands, lengths = Radix.of(own).private_operation(
        key,
        max(own.min_length, key.n.bit_length()),
        min_length=own.min_length,
        equal_primes=own.equal_primes,
        checked=own.checked,
    )
    (command,) = own.private
    required = own.required[command]
    return {one: value for one, value in operands.items() if one in required}, lengths
