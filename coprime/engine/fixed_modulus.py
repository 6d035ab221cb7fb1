"""The engine for one modulus: all operands in registers, around an exponentiator of one cycle.

Source: COMPRESSION (Vassoler 2023), section 4.2.1, figures 16 and 17. A product takes one cycle, so
that to read operands from a memory would cost several times as much. The exponentiators are in
`exponentiators/registers.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring

from coprime.cells.target import Target
from coprime.exponentiators.names import Exponentiator
from coprime.exponentiators.registers import (
    RegisterExponentiator,
    check_multipliers,
    register_exponentiator,
)
from coprime.model.moduli import modulus_of
from coprime.multipliers.fixed_modulus import (
    EXTRA_BITS,
    FixedModulus,
    Method,
    RegisteredProduct,
    RegisteredReduction,
)
from coprime.program.steps import COUNTER_BITS

from .contract import (
    ERROR_BITS,
    RESULT_LATENCY,
    Capabilities,
    Command,
    EngineSignature,
    Error,
    Length,
    Operand,
)
from .design import check_ranges
from .prediction import Prediction

__all__ = ["FixedModulusDesign", "FixedModulusEngine", "compression", "direct"]

POWERS = (Command.MODEXP, Command.RSA_PUBLIC)
CHECK_AND_END = 2
"""Cycles beside those of the exponentiator."""


@dataclass(frozen=True)
class FixedModulusDesign:
    """An engine for one modulus, and what it does, without hardware.

    Parameters
    ----------
    family, family_number : str, int
    arithmetic : FixedModulus
    word : int
        Bits of a digit, in which operands are written and the result is read: 8 to 64. A modulus
        that has fewer is one digit. An exponent has as many digits as the modulus, at the most.
    multipliers : int
        1, or 2 of which one squares: only right to left.
    which : Exponentiator
    window : int
        Bits of a window, 1 to 4, without meaning where the exponentiator has none.
    """

    family: str
    family_number: int
    arithmetic: FixedModulus
    word: int
    multipliers: int
    which: Exponentiator
    window: int

    @cached_property
    def capabilities(self) -> Capabilities:
        """What the engine can do."""
        modulus = self.arithmetic.modulus
        bits = modulus.bit_length()
        power = frozenset({Operand.X, Operand.E, Operand.M})
        always_alike = self.multipliers == 2 or self.which is Exponentiator.FIXED_WINDOW
        return Capabilities(
            family=self.family,
            family_number=self.family_number,
            digit_width=min(self.word, bits),
            headroom=0,
            round_bits=1,
            montgomery=False,
            multipliers=self.multipliers,
            min_length=bits,
            max_length=bits,
            max_prime_length=0,
            required={
                Command.MODMUL: frozenset({Operand.X, Operand.Y, Operand.M}),
                **dict.fromkeys(POWERS, power),
            },
            constant_time=always_alike,
            fixed_modulus=modulus,
        )

    @property
    def counts(self) -> bool:
        """Whether an exponent is counted, and may have COUNTER_BITS bits at the most."""
        return self.which is Exponentiator.REPEATED

    def exponentiator_hardware(self) -> RegisterExponentiator:
        """Make the exponentiator."""
        own = self.capabilities
        return register_exponentiator(
            self.which,
            self.arithmetic,
            multipliers=self.multipliers,
            window=self.window,
            digits=own.max_digits,
            digit_width=own.digit_width,
        )

    @cached_property
    def exponentiator(self) -> RegisterExponentiator:
        """One to ask in how many cycles it does what."""
        asked = self.exponentiator_hardware()
        asked._MustUse__silence = True  # it never becomes hardware, and Amaranth need not warn
        return asked

    def hardware(self, target: Target = Target.GENERIC) -> "FixedModulusEngine":
        """Make the engine; it is the same for each target."""
        return FixedModulusEngine(self)

    def multiplier_hardware(self, target: Target = Target.GENERIC) -> RegisteredProduct:
        """Make one multiplier between registers, to measure it by itself."""
        return RegisteredProduct(self.arithmetic)

    def reduction_hardware(self, words: int) -> RegisteredReduction:
        """Make what reduces a word, or the product of two, between registers: to measure it."""
        return RegisteredReduction(self.arithmetic, self.word, words)

    @property
    def wipe_cycles(self) -> int:
        """Cycles of the state WIPE: for each word of a table, and until a product is 0."""
        return max(self.exponentiator.table, self.exponentiator.each)

    def predict(
        self, command: Command, operands: Mapping[Operand, int], lengths: Mapping[Length, int]
    ) -> Prediction:
        """What a command does with these operands, of these lengths in bits: without hardware."""
        if command is Command.WIPE:
            return Prediction(None, Error.NONE, self.wipe_cycles + 1, 0)
        if command not in self.capabilities.required:
            return Prediction(None, Error.UNSUPPORTED, 1, 0)
        error = self._error(command, operands, lengths)
        if error is not Error.NONE:
            return Prediction(None, error, CHECK_AND_END, 0)
        m, x, own = self.arithmetic.modulus, operands[Operand.X], self.exponentiator
        if command is Command.MODMUL:
            result, cycles, products = x * operands[Operand.Y] % m, own.single_cycles, 1
        else:
            e, length = operands[Operand.E], lengths[Length.EXPONENT]
            result = pow(x, e, m)
            cycles, products = own.cycles(e, length), own.products(e, length)
        return Prediction(result, Error.NONE, cycles + CHECK_AND_END, products)

    def _error(
        self, command: Command, operands: Mapping[Operand, int], lengths: Mapping[Length, int]
    ) -> Error:
        own, m = self.capabilities, self.arithmetic.modulus
        digits = own.digits(lengths.get(Length.MODULUS, 0))
        if digits != own.max_digits:
            return Error.LENGTH_ZERO if digits < own.max_digits else Error.LENGTH_OVER
        if command in POWERS:
            exponent_digits = own.digits(lengths.get(Length.EXPONENT, 0))
            if exponent_digits == 0:
                return Error.EXPONENT_LENGTH
            if exponent_digits > own.max_digits:
                return Error.LENGTH_OVER
            if self.counts and operands[Operand.E] >> COUNTER_BITS:
                return Error.EXPONENT_LENGTH
        if operands[Operand.M] != m:
            return Error.MODULUS_FIXED
        factors = [Operand.X] if command in POWERS else [Operand.X, Operand.Y]
        return Error.OPERAND_RANGE if any(operands[one] >= m for one in factors) else Error.NONE


class FixedModulusEngine(wiring.Component):
    """An engine as `contract.py` tells, for one modulus.

    Registers: X and the result are the exponentiator's; Y and E. Of the modulus there is only
    whether each digit that was written is right. A command uses X up.

    ====== ===== =================================================================================
    cycles state what happens
    ====== ===== =================================================================================
    1      CHECK the lengths, the modulus, X < M, and Y < M for MODMUL
    ...    POWER the exponentiator works
    1      END   `done`
    ====== ===== =================================================================================

    Parameters
    ----------
    design : FixedModulusDesign
    """

    def __init__(self, design: FixedModulusDesign):
        self.design = design
        self.capabilities = own = design.capabilities
        held = own.max_digits * own.digit_width
        self.exponentiator = design.exponentiator_hardware()
        self.y = Signal(held, reset_less=True)
        self.e = Signal(held, reset_less=True)
        self.matches = Signal(own.max_digits)
        """Digits of the modulus that were written as they must be."""
        super().__init__(EngineSignature(own))

    def elaborate(self, platform: object) -> Module:
        """Registers, checks and states."""
        m = Module()
        own, modulus = self.capabilities, self.design.arithmetic.modulus
        width, digits = own.digit_width, range(own.max_digits)
        m.submodules.exponentiator = power = self.exponentiator
        single = self.command == Command.MODMUL

        # --- Operands in, result out ------------------------------------------------------------
        writes = self.write & ~self.busy
        m.d.comb += [
            power.write.eq(writes & (self.operand == Operand.X)),
            power.index.eq(self.index),
            power.digit.eq(self.digit),
        ]
        for k in digits:
            place = slice(width * k, width * (k + 1))
            right = modulus >> width * k & (1 << width) - 1
            with m.If(writes & (self.index == k)), m.Switch(self.operand):
                with m.Case(Operand.Y):
                    m.d.sync += self.y[place].eq(self.digit)
                with m.Case(Operand.E):
                    m.d.sync += self.e[place].eq(self.digit)
                with m.Case(Operand.M):
                    m.d.sync += self.matches[k].eq(self.digit == right)
        read = Signal(width)
        result = Cat(power.c[: modulus.bit_length()], Const(0, width))
        m.d.comb += read.eq(result.word_select(self.index, width))
        for _ in range(RESULT_LATENCY):
            staged = Signal(width, reset_less=True)
            m.d.sync += staged.eq(read)
            read = staged
        m.d.comb += self.result_digit.eq(read)

        # --- The exponentiator ------------------------------------------------------------------
        m.d.comb += [
            power.single.eq(single),
            power.y.eq(self.y),
            # Digits above its length are of an exponent before.
            power.exponent.eq(
                Cat(
                    self.e.word_select(k, width) & (self.counts.exponent > k).replicate(width)
                    for k in digits
                )
            ),
            power.length.eq(self.lengths.exponent),
            self.multiplying.eq(power.multiplying),
        ]

        # --- Checks -----------------------------------------------------------------------------
        error = Signal(ERROR_BITS)
        with m.If(self.counts.modulus < own.max_digits):
            m.d.comb += error.eq(Error.LENGTH_ZERO)
        with m.Elif(self.counts.modulus > own.max_digits):
            m.d.comb += error.eq(Error.LENGTH_OVER)
        with m.Elif(~single & (self.counts.exponent == 0)):
            m.d.comb += error.eq(Error.EXPONENT_LENGTH)
        with m.Elif(~single & (self.counts.exponent > own.max_digits)):
            m.d.comb += error.eq(Error.LENGTH_OVER)
        if self.design.counts:
            with m.Elif(~single & power.exponent[COUNTER_BITS:].any()):
                m.d.comb += error.eq(Error.EXPONENT_LENGTH)
        with m.Elif(~self.matches.all()):
            m.d.comb += error.eq(Error.MODULUS_FIXED)
        with m.Elif((power.x >= modulus) | (single & (self.y >= modulus))):
            m.d.comb += error.eq(Error.OPERAND_RANGE)

        # --- States -----------------------------------------------------------------------------
        wiped = Signal(range(self.design.wipe_cycles))
        m.d.comb += self.busy.eq(1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                with m.If(self.start):
                    m.d.sync += self.error.eq(Error.NONE)
                    with m.Switch(self.command):
                        with m.Case(*own.required):
                            m.next = "CHECK"
                        with m.Case(Command.WIPE):
                            m.next = "WIPE"
                        with m.Default():
                            m.d.sync += self.error.eq(Error.UNSUPPORTED)
                            m.next = "END"
            with m.State("CHECK"):
                m.d.sync += self.error.eq(error)
                m.next = "END"
                with m.If(error == Error.NONE):
                    m.d.comb += power.start.eq(1)
                    m.next = "POWER"
            with m.State("POWER"), m.If(power.done):
                m.next = "END"
            with m.State("WIPE"):
                m.d.comb += power.wipe.eq(1)
                m.d.sync += [
                    *(one.eq(0) for one in (self.y, self.e, self.matches)),
                    wiped.eq(wiped + 1),
                ]
                with m.If(wiped == self.design.wipe_cycles - 1):
                    m.d.sync += wiped.eq(0)
                    m.next = "END"
            with m.State("END"):
                m.d.comb += self.done.eq(1)
                m.next = "IDLE"
        return m


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
    method, family, family_number
        Which of the two families.
    modulus : str
        A name or a number, as `model.moduli.modulus_of` reads it; 3 or more.
    factor : int
        c, so that products are taken modulo c times the modulus: below 2^32. 0, for a compressor
        tree only, is the one of the least cost among those of up to `extra_bits` bits more, 0 to
        16.
    word, multipliers, exponentiator, window
        As of FixedModulusDesign.
    stages : int
        Registers on the way of a product: 0 to 16, and not more than its tree has levels, and one.

    Raises
    ------
    ValueError
        For a parameter out of its range.
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
    check_multipliers(Exponentiator(exponentiator), multipliers)
    arithmetic.check_stages(squares=multipliers == 2)
    return FixedModulusDesign(
        family=family,
        family_number=family_number,
        arithmetic=arithmetic,
        word=word,
        multipliers=multipliers,
        which=Exponentiator(exponentiator),
        window=window,
    )


compression = partial(_design, Method.COMPRESSION, "compression", 7)
direct = partial(_design, Method.DIRECT, "direct", 9)
