"""The step under way as the units see it, and the sizes of its operands."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Array, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from coprime.cells.wires import same_named
from coprime.operations.operation import among
from coprime.program.assembler import Program
from coprime.program.operands import Context

from ..contract import Capabilities
from .exponent_scanner import ExponentScanner
from .feature import Feature
from .length_check import LengthCheck
from .step_control import StepControl


class ShortPrime:
    """Numbers modulo P have fewer digits in some commands, where c of its scaled modulus is 1."""

    def __init__(self, program: Program, capabilities: Capabilities):
        self.commands = program.shortens
        self.digits_of_c = capabilities.headroom // capabilities.digit_width
        self.all_digits = Signal(capabilities.count_bits, name="all_digits")
        """Of the step's modulus, whatever its c is."""

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
        self.short_prime = ShortPrime(program, capabilities) if program.shortens else None

    def ports(self) -> Mapping[str, Any]:
        """That above."""
        return {"short": In(1)} if self.short_prime else {}

    def connect(self, m: Module, control: StepControl) -> None:
        """Select the counts and lengths by the contexts of the step."""
        step, ports, check, scanner = control.step, control.ports, self.length_check, self.scanner
        counts, lengths = (
            Array([each.modulus, each.p, each.q, Const(0, len(each.p))])
            for each in (ports.counts, ports.lengths)
        )
        m.submodules.length_check = check
        all_digits = ports.inner_digits
        if self.short_prime is not None:
            all_digits = self.short_prime.all_digits
            m.d.comb += all_digits.eq(counts[step.modulus])
        m.d.comb += [
            *same_named(ports, step, "x", "y", "destination", "modulus"),
            ports.operation.eq(step.kind),
            ports.inner_digits.eq(self._digits(ports, counts, step.modulus)),
            ports.outer_digits.eq(self._digits(ports, counts, step.outer)),
            check.modulus.eq(step.modulus),
            *same_named(check, ports, "command", "counts", "lengths"),
            check.inner_digits.eq(all_digits),
            scanner.length.eq(
                Mux(step.modulus == Context.WHOLE, ports.lengths.exponent, lengths[step.modulus])
            ),
            scanner.inner_digits.eq(all_digits),
            ports.rounds.eq(self._rounds(ports, lengths[step.outer])),
        ]

    def _digits(self, ports: Any, counts: Array, context: Value) -> Value:
        """Those of numbers modulo the context's modulus."""
        digits: Value = counts[context]
        if self.short_prime is None:
            return digits
        return digits - self.short_prime.fewer(ports, context)

    def _rounds(self, ports: Any, length: Value) -> Value:
        """Those of a product, whose y has a context's length."""
        headroom = self.capabilities.headroom
        if self.capabilities.round_bits == self.capabilities.digit_width:
            digits: Value = ports.outer_digits
            return digits
        return length + headroom if headroom else length
