"""The families for one modulus, `compression` and `direct`: their engine, without hardware."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from coprime.cells.target import Target
from coprime.engine.capabilities import Capabilities, Error
from coprime.engine.outcome import Prediction
from coprime.exponentiators.names import Exponentiator
from coprime.model.moduli import modulus_of
from coprime.operations.commands import Command
from coprime.parameters import check_ranges
from coprime.program.operands import Length, Operand
from coprime.program.steps import COUNTER_BITS

from .arithmetic import FixedModulus, Method
from .families import EXTRA_BITS
from .register_exponentiation import RegisterExponentiation

if TYPE_CHECKING:
    from .fixed_engine import FixedModulusEngine
    from .products import RegisteredProduct, RegisteredReduction

CHECK_AND_END = 2  # cycles beside those of the exponentiator
_SHAPES = (
    frozenset({Operand.X, Operand.Y, Operand.M}),
    frozenset({Operand.X, Operand.E, Operand.M}),
)
"""The operands of a product, and of a power: the operations that such an engine has."""


@dataclass(frozen=True)
class FixedModulusDesign:
    """An engine for one modulus, and what it does, without hardware.

    Parameters
    ----------
    family, family_number (str, int)
    word (int): bits of a digit, in which operands are written and the result is read: 8 to 64. A
        modulus that has fewer is one digit. An exponent has at most as many digits as the modulus.
    """

    family: str
    family_number: int
    exponentiation: RegisterExponentiation
    word: int

    @property
    def arithmetic(self) -> FixedModulus:
        """Products modulo the modulus."""
        return self.exponentiation.arithmetic

    @cached_property
    def capabilities(self) -> Capabilities:
        """What the engine can do."""
        modulus = self.arithmetic.modulus
        bits = modulus.bit_length()
        return Capabilities(
            family=self.family,
            family_number=self.family_number,
            digit_width=min(self.word, bits),
            headroom=0,
            round_bits=1,
            montgomery=False,
            multipliers=self.exponentiation.multipliers,
            min_length=bits,
            max_length=bits,
            max_prime_length=0,
            required={
                command: command.operation.operands
                for command in Command
                if command.operation.operands in _SHAPES
            },
            constant_time=self.exponentiation.constant_time,
            fixed_modulus=modulus,
        )

    def hardware(self, target: Target = Target.GENERIC) -> "FixedModulusEngine":
        """Make the engine; it is the same for each target."""
        from .fixed_engine import FixedModulusEngine

        return FixedModulusEngine(self.capabilities, self.exponentiation)

    def multiplier_hardware(self, target: Target = Target.GENERIC) -> "RegisteredProduct":
        """Make one multiplier between registers, to measure it alone."""
        from .products import RegisteredProduct

        return RegisteredProduct(self.arithmetic)

    def reduction_hardware(self, words: int) -> "RegisteredReduction":
        """Make what reduces a word, or the product of two, between registers: to measure it."""
        from .products import RegisteredReduction

        return RegisteredReduction(self.arithmetic, self.word, words)

    def predict(
        self, command: Command, operands: Mapping[Operand, int], lengths: Mapping[Length, int]
    ) -> Prediction:
        """What a command does with these operands, of these lengths in bits: without hardware."""
        if not command.operation.computes:
            return Prediction(None, Error.NONE, self.exponentiation.wipe_cycles + 1, 0)
        if command not in self.capabilities.required:
            return Prediction(None, Error.UNSUPPORTED, 1, 0)
        error = self._error(command, operands, lengths)
        if error is not Error.NONE:
            return Prediction(None, error, CHECK_AND_END, 0)
        m, x, exponentiation = self.arithmetic.modulus, operands[Operand.X], self.exponentiation
        if command.operation.is_product:
            result, cycles, products = x * operands[Operand.Y] % m, exponentiation.single_cycles, 1
        else:
            e, length = operands[Operand.E], lengths[Length.EXPONENT]
            result = pow(x, e, m)
            cycles, products = exponentiation.cycles(e, length), exponentiation.products(e, length)
        return Prediction(result, Error.NONE, cycles + CHECK_AND_END, products)

    def _error(
        self, command: Command, operands: Mapping[Operand, int], lengths: Mapping[Length, int]
    ) -> Error:
        capabilities, m = self.capabilities, self.arithmetic.modulus
        digits = capabilities.digits(lengths.get(Length.MODULUS, 0))
        if digits != capabilities.max_digits:
            return Error.LENGTH_ZERO if digits < capabilities.max_digits else Error.LENGTH_OVER
        if command.operation.is_power:
            exponent_digits = capabilities.digits(lengths.get(Length.EXPONENT, 0))
            if exponent_digits == 0:
                return Error.EXPONENT_LENGTH
            if exponent_digits > capabilities.max_digits:
                return Error.LENGTH_OVER
            if self.exponentiation.counts_exponent and operands[Operand.E] >> COUNTER_BITS:
                return Error.EXPONENT_LENGTH
        if operands[Operand.M] != m:
            return Error.MODULUS_FIXED
        factors = command.operation.operands - {Operand.M, Operand.E}
        return (
            Error.OPERAND_RANGE if any(operands[factor] >= m for factor in factors) else Error.NONE
        )


def _design(
    method: Method,
    family: str,
    family_number: int,
    modulus: str,
    factor: int = 0,
    word: int = 32,
    multipliers: int = 2,
    exponentiator: str = Exponentiator.RIGHT_TO_LEFT.value,
    window: int = 2,
    stages: int = 0,
    extra_bits: int = EXTRA_BITS,
) -> FixedModulusDesign:
    """Design an engine for a modulus.

    Parameters
    ----------
    method, family, family_number: which of the two families
    modulus (str): a name or a number, as `model.moduli.modulus_of` reads it; 3 or more
    factor (int): c, so that products are taken modulo c times the modulus: below 2^32. 0, for a
        compressor tree only, is the cheapest among those of up to `extra_bits` bits more, 0 to 16.
    word: as of FixedModulusDesign
    multipliers, exponentiator, window: as of RegisterExponentiation
    stages (int): pipeline registers in a product: 0 to 16, and at most one more than its tree has
        levels

    Raises ValueError for a parameter out of its range.
    """
    check_ranges(
        factor=(factor, range(method is Method.DIRECT, 1 << 32)),
        extra_bits=(extra_bits, range(17)),
        word=(word, range(8, 65)),
        multipliers=(multipliers, range(1, 3)),
        window=(window, range(1, 5)),
        stages=(stages, range(17)),
    )
    arithmetic = FixedModulus(modulus_of(modulus), method, factor, stages, extra_bits)
    which = Exponentiator(exponentiator)
    exponentiation = RegisterExponentiation(which, arithmetic, multipliers, window)
    arithmetic.check_stages(squares=multipliers == 2)
    return FixedModulusDesign(family, family_number, exponentiation, word)


compression = partial(_design, Method.COMPRESSION, "compression", 7)
direct = partial(_design, Method.DIRECT, "direct", 9)
