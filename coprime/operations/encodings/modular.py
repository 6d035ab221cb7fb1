"""Numbers modulo M: factors, bases and exponents; the result is one number."""

from collections.abc import Mapping
from random import Random
from typing import Any

from coprime.model.widths import residue_modulus
from coprime.program.operands import Length, Operand

from ..lengths import Lengths
from ..operation import Encoded, Encoding, InputRole, Key, Numbers, Source
from .radix import NumberEngine, Radix

PUBLIC_EXPONENT = 65537
"""Of random numbers."""


class Modular(Encoding):
    """The inputs of a product or of powers, modulo the input `m`."""

    def modulus(self, numbers: Numbers) -> int:
        """That of the input `m`."""
        return numbers["m"]

    def too_large(self, numbers: Numbers) -> list[str]:
        """Those that are neither exponents nor the modulus."""
        below = [
            input_
            for input_ in self.operation.inputs
            if not input_.is_exponent and not input_.is_modulus
        ]
        return [input_.name for input_ in below if 0 < numbers["m"] <= numbers[input_.name]]

    def lengths(self, numbers: Numbers) -> Lengths:
        """Of the inputs: the exponent is as long as all of those in its operand."""
        bits = [(input_, numbers[input_.name].bit_length()) for input_ in self.operation.inputs]
        return Lengths(
            max(length for input_, length in bits if not input_.is_exponent),
            exponent=max(
                (input_.stride * length for input_, length in bits if input_.is_exponent), default=0
            ),
        )

    def lengths_of(self, bits: int) -> Lengths:
        """Of random numbers with a modulus of a length."""
        stride = max((exponent.stride for exponent in self.operation.exponents), default=0)
        return Lengths(bits, exponent=stride * self._exponent_bits(bits))

    def encode(
        self, numbers: Numbers, engine: NumberEngine, *, exponent_length: int | None = None
    ) -> Encoded:
        """Their operands. The modulus is as long as the longest number that is no exponent.

        Ranges: the modulus is odd unless `radix_bits` is 0, then 1 or more; exponents are 0 or
        more, others below the modulus. `exponent_length` is of each exponent, in bits; None: as
        many as the longest has, or 1 if all are 0. ValueError if one has more.
        """
        others = (
            numbers[input_.name] for input_ in self.operation.inputs if not input_.is_exponent
        )
        length = max(engine.min_length, *(other.bit_length() for other in others))
        operands = Radix.of(engine).modulus_operands(numbers["m"], length)
        lengths = {Length.MODULUS: length}
        if self.operation.exponents:
            given = self._exponent_length(numbers, length, exponent_length)
            lengths[Length.EXPONENT] = self.operation.exponents[0].stride * given
        for input_ in self.operation.inputs:
            if not input_.is_modulus and input_.operand is not Operand.X:
                spread = input_.spread(numbers[input_.name])
                operands[input_.operand] = operands.get(input_.operand, 0) | spread
        return Encoded(lengths, operands, numbers["x"])

    def _exponent_length(self, numbers: Numbers, length: int, given: int | None) -> int:
        """Of each exponent; that of a scalar is no shorter than the modulus."""
        longest = max(numbers[exponent.name].bit_length() for exponent in self.operation.exponents)
        if any(exponent.is_scalar for exponent in self.operation.exponents):
            longest = max(length, longest)
        if given is None:
            return max(1, longest)
        if longest > given:
            raise ValueError(
                f"exponent_length must be {longest} or more for this exponent, not {given}"
            )
        return given

    def of_key(self, key: Any) -> dict[str, int]:
        """Public exponent and modulus."""
        return {"e": key.e, "m": key.n}

    def as_power(self, numbers: Numbers) -> tuple[Numbers, int] | None:
        """The same numbers, of a public key."""
        if self.operation.key is not Key.PUBLIC:
            return None
        return numbers, max(1, numbers["e"].bit_length())

    def pack(self, outputs: Mapping[str, int], half_bits: int) -> int:
        """The only output."""
        (value,) = outputs.values()
        return value

    def decode(self, value: int, half_bits: int) -> dict[str, int]:
        """The only output."""
        (output,) = self.operation.outputs
        return {output.name: value}

    def is_in_range(self, operands: Mapping[Operand, int], value: int, half_bits: int) -> bool:
        """Whether a result is below M."""
        return value < operands[Operand.M]

    def residue(self, operands: Mapping[Operand, int], value: int, x: int, width: int) -> int:
        """Of 3 S - M + X, where S - M, below 0, is kept as if there was a borrow.

        A borrow is worth 2^(W*D), which is 1. S counts three times since software cuts off what S
        has above the modulus's length: with S - M, a bit there that M gets could be that of S + M,
        which would go unseen. Three times a power of two is none modulo 2^V - 1, for V over 2.
        """
        return (3 * value - operands[Operand.M] + 1 + x) % residue_modulus(width)

    # Numbers from a generator

    def drawn(self, domain: Numbers, generator: Random, *, worst: bool = False) -> dict[str, int]:
        """Numbers modulo the `m` of a domain; the secret exponents of the worst are all ones."""
        m = domain["m"]
        bits, numbers = self._exponent_bits(m.bit_length()), {}
        for exponent in self.operation.exponents:
            value = PUBLIC_EXPONENT if exponent.public else generator.getrandbits(bits)
            is_worst = worst and not exponent.public
            numbers[exponent.name] = (1 << bits) - 1 if is_worst else value | 1 << (bits - 1)
        if not self.operation.exponents:
            generator.getrandbits(m.bit_length())  # so that a seed has the same factors as a base
        for input_ in self.operation.inputs:
            if not input_.is_exponent:
                numbers[input_.name] = m if input_.is_modulus else generator.randrange(m)
        return numbers

    def _exponent_bits(self, bits: int) -> int:
        """Of each random exponent: as many as the modulus has, if none shares its operand."""
        stride = max((exponent.stride for exponent in self.operation.exponents), default=1)
        public = all(exponent.public for exponent in self.operation.exponents)
        return PUBLIC_EXPONENT.bit_length() if public else bits // stride

    def sample(self, given: Numbers, generator: Random) -> dict[str, int] | None:
        """A second exponent is below e."""
        return {
            input_.name: generator.randrange(given["e"] + 1)
            if input_.offset
            else given[input_.operand.name.lower()]
            for input_ in self.operation.inputs
        }

    def another_message(self, numbers: Numbers, generator: Random) -> dict[str, int]:
        """With another x."""
        return {**numbers, "x": generator.randrange(self.modulus(numbers))}

    def names(self, role: InputRole) -> list[str]:
        """Those of X, or of exponents; there is no nonce."""
        if role in (InputRole.KEY, InputRole.EXPONENT):
            return [exponent.name for exponent in self.operation.exponents]
        return ["x"] if role is InputRole.MESSAGE else []

    def comparable(self, numbers: Numbers, names: list[str], source: Source) -> dict[str, int]:
        """With an x that is below every modulus of this length."""
        return self.redrawn(numbers, ["x", *names], source)

    def redrawn(self, numbers: Numbers, names: list[str], source: Source) -> dict[str, int]:
        """With other exponents of the same lengths, and an x below every modulus of the length."""
        found = dict(numbers)
        for exponent in self.operation.exponents:
            if exponent.name in names:
                length = numbers[exponent.name].bit_length()
                found[exponent.name] = source.generator.getrandbits(length) | 1 << (length - 1)
        if "x" in names:
            found["x"] = source.generator.randrange(1 << (self.modulus(numbers).bit_length() - 1))
        return found
