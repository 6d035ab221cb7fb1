"""Points of a curve over a prime field: operands and results that are two numbers each.

p is the field's prime, n the order of the points, also a prime; both in `half_bits` bits and less.
"""

from abc import abstractmethod
from collections.abc import Mapping
from random import Random

from coprime.model import montgomery
from coprime.model.scalar_blinding import ladder_bits
from coprime.model.widths import residue_modulus
from coprime.program.operands import Length, Operand

from ..lengths import Lengths
from ..operation import Arithmetic, Encoded, Encoding, InputRole, Numbers, Output, Source
from .radix import NumberEngine, Radix

Point = tuple[int, int]
POINT = (
    Output(name="x", meaning="coordinate x of the point"),
    Output(name="y", meaning="coordinate y of the point"),
)
"""The outputs of operations that give a point."""
_READS = Arithmetic(inverses=True, montgomery=True)


class Pairs(Encoding):
    """The inputs of an operation on a curve; a form of curves adds the table of the base point."""

    usual_number = 1

    def modulus(self, numbers: Numbers) -> int:
        """The field's prime."""
        return numbers["p"]

    def lengths(self, numbers: Numbers) -> Lengths:
        """Of p or n, the longer one, with a bit for the multiple of n that is added to a scalar."""
        return self.lengths_of(max(numbers["p"], numbers["n"]).bit_length())

    def lengths_of(self, bits: int) -> Lengths:
        """With an n that is no longer."""
        return Lengths(0, bits, bits + 1)

    def encode(
        self, numbers: Numbers, engine: NumberEngine, *, exponent_length: int | None = None
    ) -> Encoded:
        """Their operands, those that the operation reads.

        ValueError unless p and n are odd, and scalars below n.
        """
        radix, half, operation = Radix.of(engine), engine.half_bits, self.operation
        p, n = numbers["p"], numbers["n"]
        if p < 5 or n < 5 or p % 2 == 0 or n % 2 == 0:
            raise ValueError("p and n of a curve are primes of 5 or more")
        length = max(engine.min_length, p.bit_length(), n.bit_length())
        if radix.is_short(p):  # the digits that are left are those of the shortest modulus
            length = max(length, engine.min_length + radix.width * radix.scale_digits)
        operands = field_operands(radix, p, n, length)
        for input_ in operation.inputs:
            if input_.operand.length is Length.MODULUS:
                value = numbers[input_.name] << (half if input_.upper else 0)
                operands[input_.operand] = operands.get(input_.operand, 0) + value
        operands |= {
            input_.operand: numbers[input_.name] for input_ in operation.inputs if input_.is_secret
        }
        if Operand.TABLE_0 in operation.required(_READS):
            table, bits = self.table(numbers, length, engine)
        else:  # with bits for a multiple of n that is added
            longer = ladder_bits(length) if engine.blinds_scalars and operation.blinds else 0
            table = {Operand.M: 1 << n.bit_length() + longer}
            bits = length + longer + 1
        operands |= table
        lengths = {Length.MODULUS: half + length, Length.P: length, Length.Q: length}
        lengths[Length.EXPONENT] = bits
        scalars = {exponent.name: numbers[exponent.name] for exponent in operation.exponents}
        for name, scalar in scalars.items():
            if scalar >= n:
                raise ValueError(f"{name} must be below n, the order of the points")
        operands[Operand.E] = self.joined([*scalars.values()], bits)
        required = operation.required(_READS) - {Operand.X}
        needed = {operand: value for operand, value in operands.items() if operand in required}
        return Encoded(lengths, needed, operands.get(Operand.X, 0))

    def joined(self, scalars: list[int], bits: int) -> int:
        """The operand E of the scalars; 0 of a nonce that is drawn."""
        return scalars[0] if scalars else 0

    @abstractmethod
    def table(
        self, numbers: Numbers, length: int, engine: NumberEngine
    ) -> tuple[dict[Operand, int], int]:
        """The table of the base point, and what belongs to it; the length of E in bits."""

    @abstractmethod
    def is_on_curve(self, point: Point, lower: int, upper: int, p: int) -> bool:
        """Whether a point is on the curve with the two numbers of Y."""

    # Results

    def span(self, bits: int, half_bits: int) -> int:
        """Of two numbers."""
        return half_bits + bits

    def pack(self, outputs: Mapping[str, int], half_bits: int) -> int:
        """The second number is from bit `half_bits` on."""
        return sum(value << place * half_bits for place, value in enumerate(outputs.values()))

    def decode(self, value: int, half_bits: int) -> dict[str, int]:
        """Of `half_bits` each; the last one is all that is left, so that nothing is dropped."""
        *names, last = (output.name for output in self.operation.outputs)
        found = {}
        for name in names:
            value, found[name] = divmod(value, 1 << half_bits)
        return {**found, last: value}

    @property
    def gives_point(self) -> bool:
        """Whether its outputs are both coordinates of a point."""
        return self.operation.outputs == POINT

    def is_in_range(self, operands: Mapping[Operand, int], value: int, half_bits: int) -> bool:
        """Whether all numbers of a result are below p or n."""
        limit = max(operands.get(prime, 0) for prime in (Operand.P, Operand.Q))
        return all(number < limit for number in self.decode(value, half_bits).values())

    def residue(self, operands: Mapping[Operand, int], value: int, x: int, width: int) -> int:
        """Of S + X, as S is two numbers below their moduli."""
        return (value + x) % residue_modulus(width)

    def is_consistent(self, operands: Mapping[Operand, int], value: int, half_bits: int) -> bool:
        """RESIDUE does not detect digits that have changed places, nor a second number that has
        moved by a digit: so both must be in their range, and a point must be on its curve."""
        if not self.is_in_range(operands, value, half_bits):
            return False
        if not self.gives_point:
            return True
        x, y = self.decode(value, half_bits).values()
        upper, lower = divmod(operands[Operand.Y], 1 << half_bits)
        p = operands[Operand.P]
        return max(x, y) < p and self.is_on_curve((x, y), lower, upper, p)

    # Numbers from a generator

    def names(self, role: InputRole) -> list[str]:
        """Of a signature the key is SECRET; else the scalar is the key."""
        inputs = self.operation.inputs
        secret = [input_.name for input_ in inputs if input_.is_secret]
        scalars = [input_.name for input_ in inputs if input_.operand is Operand.E]
        nonces = [input_.name for input_ in inputs if input_.is_nonce]
        if role is InputRole.NONCE:
            return nonces
        if role is InputRole.MESSAGE:
            return [
                input_.name
                for input_ in inputs
                if input_.operand is Operand.X and input_.name not in nonces
            ]
        if secret:
            return secret if role is InputRole.KEY else []
        return scalars

    @property
    def of_a_message(self) -> list[str]:
        """What differs from one signature of a key to the next; none if nothing of a key stays."""
        if not any(input_.is_secret for input_ in self.operation.inputs):
            return []
        return sorted(self.names(InputRole.MESSAGE) + self.names(InputRole.NONCE))

    def another_message(self, numbers: Numbers, generator: Random) -> dict[str, int]:
        """Of another signature with the same key."""
        others = {name: generator.randrange(1, numbers["n"]) for name in self.of_a_message}
        return {**numbers, **others}

    def redrawn(self, numbers: Numbers, names: list[str], source: Source) -> dict[str, int]:
        """With others of these numbers, on the same curve."""
        drawn = self.drawn(source.domain(), source.generator)
        return {**numbers, **{name: drawn[name] for name in names}}


def field_operands(radix: Radix, p: int, n: int, length: int) -> dict[Operand, int]:
    """The prime p of a field and the prime n, the order of a curve's points, with constants.

    The length of both, in bits, is the one given to the engine. Exponents are those of inversions.
    Where c of p is 1, numbers modulo p have its digits less.
    """
    return {
        Operand.P: p,
        Operand.Q: n,
        Operand.P_INVERSE: montgomery.inverse(p, radix.width),
        Operand.Q_INVERSE: montgomery.inverse(n, radix.width),
        Operand.P_POWER: (1 << 2 * radix.exponent_of_field(p, length)) % p,
        Operand.Q_POWER: (1 << 2 * radix.exponent(length)) % n,
        Operand.DP: p - 2,
        Operand.DQ: n - 2,
        Operand.M: 1 << n.bit_length(),
    }
