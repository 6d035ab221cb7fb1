"""The step under way as the units see it, and the sizes of its operands."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Array, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from coprime.cells.wires import same_named
from coprime.operations.operation import among
from coprime.program.assembler import Program
from coprime.program.operands import Context

from ..contract import ERROR_BITS, Capabilities
from .exponent_scanner import ExponentScanner
from .feature import Feature
from .length_check import LengthCheck
from .step_control import StepControl


class ShortPrime:
    """Numbers modulo P have fewer digits in some commands, where c of its scaled modulus is 1."""

    def __init__(self, program: Program, capabilities: Capabilities):
        self.commands = program.shortens
        self.digits_of_c = capabilities.headroom // capabilities.digit_width

    def fewer(self, ports: Any, context: Value) -> Value:
        """Digits that numbers of a context have less."""
        shortens = among(ports.command, self.commands)
        is_short: Value = ports.short & shortens & (context == Context.P)
        return is_short if self.digits_of_c == 1 else Mux(is_short, self.digits_of_c, 0)


class StepSizes(Feature):
    """Digits and rounds of the step under way, for the units, the scanner and the length check. On
    integers they are `LaneModel.digits` and `rounds`.

    Ports
    -----
    short : c of the modulus P is 1; only if any command has fewer digits then
    """

    def __init__(self, program: Program, capabilities: Capabilities, scanner: ExponentScanner):
        self.capabilities, self.scanner = capabilities, scanner
        self.length_check = LengthCheck(program, capabilities)
        self.length_error = Signal(ERROR_BITS)
        """Of the step under way, from its second cycle on."""
        self.short_prime = ShortPrime(program, capabilities) if program.shortens else None

    def ports(self) -> Mapping[str, Any]:
        """That above."""
        return {"short": In(1)} if self.short_prime else {}

    def connect(self, m: Module, control: StepControl) -> None:
        """Show the step, and check the lengths of the one that is fetched."""
        step, ports = control.step, control.ports
        m.submodules.length_check = check = self.length_check
        m.d.comb += [
            *same_named(ports, step, "x", "y", "destination", "modulus"),
            ports.operation.eq(step.kind),
            check.modulus.eq(step.modulus),
            *same_named(check, ports, "command", "counts", "lengths"),
            check.inner_digits.eq(self.scanner.inner_digits),
        ]
        m.d.sync += self.length_error.eq(check.error)

    @staticmethod
    def _by_context(ports: Any) -> tuple[Array, Array]:
        """Counts of digits, and lengths in bits."""
        counts, lengths = (
            Array([each.modulus, each.p, each.q, Const(0, len(each.p))])
            for each in (ports.counts, ports.lengths)
        )
        return counts, lengths

    def at_fetch(self, m: Module, control: StepControl) -> None:
        """Keep what the units and the scanner compare with: it is there as the step begins."""
        fetched, ports, scanner = control.fetched, control.ports, self.scanner
        counts, lengths = self._by_context(ports)
        is_whole = fetched.modulus == Context.WHOLE
        outer_digits = self._digits(ports, counts, fetched.outer)
        m.d.sync += [
            ports.inner_digits.eq(self._digits(ports, counts, fetched.modulus)),
            ports.outer_digits.eq(outer_digits),
            ports.rounds.eq(self._rounds(outer_digits, lengths[fetched.outer])),
            scanner.length.eq(Mux(is_whole, ports.lengths.exponent, lengths[fetched.modulus])),
            scanner.inner_digits.eq(counts[fetched.modulus]),
        ]

    def _digits(self, ports: Any, counts: Array, context: Value) -> Value:
        """Those of numbers modulo the context's modulus."""
        digits: Value = counts[context]
        if self.short_prime is None:
            return digits
        return digits - self.short_prime.fewer(ports, context)

    def _rounds(self, digits: Value, length: Value) -> Value:
        """Those of a product, whose y has so many digits or bits."""
        headroom = self.capabilities.headroom
        if self.capabilities.round_bits == self.capabilities.digit_width:
            return digits
        return length + headroom if headroom else length
