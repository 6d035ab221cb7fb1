"""The check of a command's lengths: those that an engine refuses, and their errors."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.scalar_blinding import random_bits
from coprime.operations.operation import among
from coprime.program.assembler import Program
from coprime.program.operands import Context, Length
from coprime.program.steps import exponent_blinding_bits

from ..contract import ERROR_BITS, Capabilities, Command, Error, PerLength


@dataclass(frozen=True)
class LengthRules:
    """The rules for a context's lengths, for hardware and integers alike."""

    program: Program
    capabilities: Capabilities

    def refusals(
        self,
        *,
        command: Any,
        whole: Any,
        digits: Any,
        counts: Any,
        lengths: Any,
        choose: Callable[[Any, Any, Any], Any],
    ) -> Iterator[tuple[Any, Error]]:
        """Conditions with their errors: the first one that holds decides.

        `whole` is whether the context is WHOLE, `digits` the count of its modulus, `counts` and
        `lengths` have the fields of `PerLength`; `choose(test, one, other)` is `one` if `test`.
        """
        capabilities = self.capabilities
        too_short = digits < capabilities.digits(capabilities.min_length)
        if capabilities.equal_primes:
            too_short |= (whole == 0) & (lengths.p != lengths.q)
        yield too_short, Error.LENGTH_ZERO
        yield (
            choose(whole, digits > capabilities.max_digits, digits > capabilities.max_prime_digits),
            Error.LENGTH_OVER,
        )
        if self.program.blinds_exponents:  # a blinded exponent is no longer than the modulus
            longest = (
                digits
                + exponent_blinding_bits(capabilities.digit_width) // capabilities.digit_width
            )
            yield (whole == 0) & (longest > counts.modulus), Error.LENGTH_OVER
        power = among(command, capabilities.powers)
        yield power & (counts.exponent == 0), Error.EXPONENT_LENGTH
        yield power & (counts.exponent > capabilities.max_digits), Error.LENGTH_OVER
        if capabilities.scalars:
            yield (
                among(command, capabilities.scalars) & (lengths.exponent < lengths.modulus),
                (Error.EXPONENT_LENGTH),
            )
        if capabilities.on_curve:
            yield (
                among(command, capabilities.on_curve) & (lengths.exponent <= lengths.q),
                Error.EXPONENT_LENGTH,
            )
        if capabilities.lengthened:
            with_bits = lengths.q + random_bits(lengths.q)
            lengthened = among(command, capabilities.lengthened)
            yield lengthened & (lengths.exponent <= with_bits), Error.EXPONENT_LENGTH
            # M has a power of two of that length, and another number above.
            yield lengthened & (lengths.exponent > capabilities.half_bits), Error.LENGTH_OVER
        if self.program.checks:
            unfit = (counts.exponent == 0) | (counts.exponent > capabilities.max_prime_digits)
            yield among(command, capabilities.private) & unfit, Error.EXPONENT_LENGTH


class LengthCheck(wiring.Component):
    """The error of a step's lengths, NONE where they are allowed; combinational.

    Members
    -------
    command, counts, lengths : as in the engine's contract
    modulus, inner_digits : context of the step, and digits of its modulus
    """

    def __init__(self, program: Program, capabilities: Capabilities):
        self.rules = LengthRules(program, capabilities)
        super().__init__(
            {
                "command": In(capabilities.command_bits),
                "modulus": In(Context),
                "inner_digits": In(capabilities.count_bits),
                "counts": In(PerLength(capabilities.count_bits)),
                "lengths": In(PerLength(capabilities.length_bits)),
                "error": Out(ERROR_BITS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The first refusal's error."""
        m = Module()
        refusals = self.rules.refusals(
            command=self.command,
            whole=self.modulus == Context.WHOLE,
            digits=self.inner_digits,
            counts=self.counts,
            lengths=self.lengths,
            choose=Mux,
        )
        branch = m.If
        for refused, error in refusals:
            with branch(refused):
                m.d.comb += self.error.eq(error)
            branch = m.Elif
        return m


@dataclass(frozen=True)
class PerLengthNumbers:
    """A number for each length class, as `PerLength` has them."""

    modulus: int
    exponent: int
    p: int
    q: int


def length_error(
    program: Program,
    capabilities: Capabilities,
    command: Command,
    context: Context,
    length_of: Mapping[Length, int],
) -> Error:
    """The same, of lengths in bits."""
    lengths = PerLengthNumbers(
        **{
            length_class.field: length_of.get(length_class, 0)
            for length_class in Length
            if length_class is not Length.DIGIT
        }
    )
    counts = PerLengthNumbers(
        **{name: capabilities.digits(length) for name, length in vars(lengths).items()}
    )
    refusals = LengthRules(program, capabilities).refusals(
        command=command,
        whole=context is Context.WHOLE,
        digits=getattr(counts, context.length.field),
        counts=counts,
        lengths=lengths,
        choose=lambda test, one, other: one if test else other,
    )
    return next((error for refused, error in refusals if refused), Error.NONE)
