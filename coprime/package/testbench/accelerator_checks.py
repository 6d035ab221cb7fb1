"""What the testbench of an accelerator does: every operation, one of each error, interrupts, WIPE.

Results are Python's: `pow` of the numbers of a key from a fixed seed.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from coprime.bus import registers
from coprime.bus.register_classes import Register
from coprime.engine.contract import Capabilities, Command, Error, Length, Operand
from coprime.engine.precomputation import Radix, private_operation
from coprime.rsa import keys

from ..description import Description
from .script import Script

__all__ = [
    "LENGTH_REGISTERS",
    "TOO_LONG",
    "UNKNOWN",
    "AcceleratorChecks",
    "SampleNumbers",
    "expect_identity",
    "numbers_of",
    "title_of",
]

SIZES = (512, 384, 256, 192, 128, 96, 64)
"""Bits of the keys, of which the testbench takes the longest that is quick enough."""
MOST_CYCLES = 40_000
"""Of one private operation: five to ten seconds in Icarus."""
LENGTH_REGISTERS = {
    Length.MODULUS: registers.MODULUS_LENGTH,
    Length.EXPONENT: registers.EXPONENT_LENGTH,
    Length.P: registers.P_LENGTH,
    Length.Q: registers.Q_LENGTH,
}
TOO_LONG = 0xFFFF
"""A length over every maximum."""
_NOT_AFTER_RESET = ("TIME",)
"""What changes by itself."""
UNKNOWN = 33
"""A code that is no command, though its lower bits are."""


@dataclass(frozen=True)
class SampleNumbers:
    """The numbers that the operations of an engine work on.

    Parameters
    ----------
    own : the engine's
    n : the modulus
    key : whose modulus it is; None if the engine has no RSA_PRIVATE, or no key is that short
    """

    own: Capabilities
    n: int
    key: keys.RsaPrivateKey | None

    @property
    def bits(self) -> int:
        """Length of the modulus."""
        return self.n.bit_length()

    @property
    def e(self) -> int:
        """A short exponent, shorter than the modulus: the key's public one, if there is one."""
        return self.key.e if self.key else min(65537, self.n - 1)

    @cached_property
    def x(self) -> int:
        """A message, below the modulus and of its length where that is possible."""
        return self.n - 2 if self.n > 2 else 0

    @cached_property
    def y(self) -> int:
        """A second factor."""
        return random.Random(2).randrange(self.n)

    @property
    def product(self) -> Command:
        """A command without an exponent, for what is the same with every command."""
        return self.own.products[0]

    @property
    def power(self) -> Command:
        """A command with an exponent."""
        return self.own.powers[0]

    @property
    def public(self) -> Command:
        """The command that STATUS starts, which takes a public key."""
        return self.own.public[0]

    @property
    def others(self) -> list[Command]:
        """All other commands that are given numbers."""
        known = {self.product, self.power, self.public, *self.own.private}
        return sorted(self.own.required.keys() - known)

    def operation(self, command: Command) -> tuple[list[tuple[Operand, int, int]], int]:
        """Operands of a command that is given numbers, but for X, with bits and values; its result.

        X and the first exponent are `x` and `e`. What belongs to the modulus is left out.
        """
        operation, generator = command.operation, random.Random(3)
        given: dict[str, int] = {}
        packed: dict[Operand, tuple[int, int]] = {}
        for one in operation.inputs:
            if one.is_modulus:
                value = self.n
            elif one.operand is Operand.X:
                value = self.x
            elif one.is_exponent:
                value = self.e if not one.offset else generator.randrange(self.e + 1)
            else:
                value = self.y
            given[one.name] = value
            if not one.is_modulus and one.operand is not Operand.X:
                bits = one.stride * max(1, self.e.bit_length()) if one.is_exponent else self.bits
                before = packed.get(one.operand, (bits, 0))[1]
                packed[one.operand] = bits, before | one.spread(value)
        assert operation.result is not None
        operands = [(operand, *bits_and_value) for operand, bits_and_value in packed.items()]
        return operands, operation.result(**given)

    def modulus_operands(self, n: int | None = None) -> list[tuple[Operand, int, int]]:
        """What belongs to the modulus, or to another one of its length: with bits and values."""
        found = Radix.of(self.own).modulus_operands(n or self.n, self.bits)
        return [
            (one, self.length(one), value)
            for one, value in found.items()
            if one in self.own.operands
        ]

    def private_operands(self) -> tuple[list[tuple[Operand, int, int]], Mapping[Length, int]]:
        """What RSA_PRIVATE reads, but for X, with bits and values; and the lengths."""
        assert self.key
        operands, lengths = private_operation(self.own, self.key)
        of_digit = {**lengths, Length.DIGIT: self.own.digit_width}
        return [(one, of_digit[one.length], value) for one, value in operands.items()], lengths

    def wrong_moduli(self) -> Iterator[tuple[int, Error, str]]:
        """Moduli that a command refuses, with its error and what is wrong."""
        n, bits = self.n, self.bits
        if self.own.fixed_modulus is not None:
            yield n ^ 1, Error.MODULUS_FIXED, "another modulus"
            return
        yield 0, Error.MODULUS_ZERO, "the modulus is 0"
        if self.own.montgomery:
            yield n ^ 1, Error.MODULUS_EVEN, "the modulus is even"
        if self.own.aligned and bits > 1:
            yield n & ~(1 << (bits - 1)) | 1, Error.MODULUS_SHORT, "its highest bit is 0"

    def length(self, operand: Operand) -> int:
        """Bits of an operand of the modulus, or of one digit."""
        return self.own.digit_width if operand.length is Length.DIGIT else self.bits


def numbers_of(own: Description) -> SampleNumbers:
    """The longest key of SIZES that the engine holds and that takes no more than MOST_CYCLES."""
    design = own.core.design
    engine = design.capabilities
    if engine.fixed_modulus is not None:
        return SampleNumbers(engine, engine.fixed_modulus, None)
    for bits in SIZES:
        if not engine.private or bits > engine.max_length:
            continue
        key = keys.generate(bits, seed=1)
        operands, lengths = private_operation(engine, key)
        if max(lengths[Length.P], lengths[Length.Q]) > engine.max_prime_length:
            continue
        done = design.predict(engine.private[0], {**operands, Operand.X: 2}, lengths)
        if done.error is Error.NONE and (done.cycles <= MOST_CYCLES or bits == SIZES[-1]):
            return SampleNumbers(engine, key.n, key)
    bits = min(engine.max_length, 64)
    return SampleNumbers(engine, random.Random(1).getrandbits(bits) | 1 << (bits - 1) | 1, None)


def title_of(command: Command) -> str:
    """What a check of the command's result prints, in ASCII."""
    return f"{command.name}: {command.operation.formula.replace('·', '*')}"


def expect_identity(own: Description, do: Script, enable: Register) -> None:
    """Every register after reset, and one of each access that answers SLVERR."""
    do.section("Registers after reset")
    for register in own.registers:
        if register.name not in _NOT_AFTER_RESET and register.readable:
            value = sum(own.reset(register, one) << one.offset for one in register.fields)
            do.expect_word(f"{register.name} after reset", register, value)
    do.section("Accesses that answer SLVERR")
    known = {one.address for one in own.registers}
    nowhere = next(f"12'h{a:03x}" for a in range(0, 0x100, 4) if a not in known)
    do.call("expect_read_refused", '"read of an undefined address"', nowhere)
    do.call("expect_write_refused", '"write to an undefined address"', nowhere, "4'hf")
    do.call("expect_read_refused", '"read of COMMAND, write-only"', "REG_COMMAND")
    identification = "REG_IDENTIFICATION"
    do.call("expect_write_refused", '"write to a read-only register"', identification, "4'hf")
    do.call("expect_write_refused", '"write of three bytes"', f"REG_{enable.name}", "4'h7")
    do.expect_word("... changes nothing", enable, 0)


class AcceleratorChecks:
    """Writes the checks of an accelerator into a script.

    Parameters
    ----------
    own : the design
    script : what is written to
    """

    def __init__(self, own: Description, script: Script):
        self.own = own
        self.script = script
        self.numbers = numbers_of(own)
        self.engine = self.numbers.own

    def write(self) -> None:
        """All checks but those of paddings."""
        expect_identity(self.own, self.script, registers.INTERRUPT_ENABLE)
        self.script.expect_error("a refused access is no error of a command")
        self._interrupts()
        self._refusals()
        self._powers()
        self._operand_errors()
        if self.numbers.key:
            self._private(self.numbers.key)
        self._wipe()
        self._reset()

    # --- Without operands -----------------------------------------------------------------------

    def _interrupts(self) -> None:
        do, status = self.script, registers.INTERRUPT_STATUS
        do.section("Interrupts, by WIPE as the first command")
        do.write(registers.COMMAND, "COMMAND_WIPE")
        do.call("words[0] = 0")
        do.call("while (words[0] === 0) read(REG_INTERRUPT_STATUS)")
        do.expect_word("INTERRUPT_STATUS after a command", status, 1)
        do.call("check", '"irq is 0 while it is not enabled"', "irq === 1'b0")
        do.write(registers.INTERRUPT_ENABLE, 1)
        do.call("@(negedge s_axi_aclk)")
        do.call("check", '"irq is 1 once it is enabled"', "irq === 1'b1")
        do.write(status, 1)
        do.expect_word("INTERRUPT_STATUS cleared by writing 1", status, 0)
        do.call("check", '"irq is 0 again"', "irq === 1'b0")
        do.expect_error("WIPE ends without an error")

    def _refusals(self) -> None:
        do, bits = self.script, self.numbers.bits
        do.section("Commands and accesses that are refused")
        do.call("run", UNKNOWN)
        do.expect_error("UNSUPPORTED: a code that is no command", Error.UNSUPPORTED)
        do.run(self.numbers.product)
        do.expect_error("LENGTH_ZERO: the modulus has no length", Error.LENGTH_ZERO)
        do.write(registers.KEY_OPERAND, "OPERAND_M")
        do.expect_error("LENGTH_ZERO: neither has an operand", refusal=Error.LENGTH_ZERO)
        do.write(registers.MODULUS_LENGTH, TOO_LONG)
        do.run(self.numbers.product)
        do.expect_error("LENGTH_OVER: the modulus is too long", Error.LENGTH_OVER)
        do.write(registers.KEY_OPERAND, "OPERAND_M")
        do.expect_error("LENGTH_OVER: and cannot be loaded", refusal=Error.LENGTH_OVER)
        do.write(registers.MODULUS_LENGTH, bits)
        do.run(self.numbers.power)
        do.expect_error("EXPONENT_LENGTH: the exponent has no length", Error.EXPONENT_LENGTH)
        do.run(self.numbers.product)
        do.expect_error("OPERAND_MISSING: nothing is loaded", Error.OPERAND_MISSING)
        do.write(registers.KEY_OPERAND, "OPERAND_X")
        do.expect_error("ADDRESS: X comes by the input buffer", refusal=Error.ADDRESS)
        do.write(registers.WRITE_ADDRESS, TOO_LONG)
        do.expect_error("ADDRESS: a word beyond the input buffer", refusal=Error.ADDRESS)
        do.write(registers.KEY_DATA, 0)
        do.expect_error("KEY_OVERRUN: a word without an operand", refusal=Error.KEY_OVERRUN)
        do.write(registers.EXPONENT_LENGTH, 1)
        do.load(Operand.E, 1, 3)
        do.expect_error("KEY_EXCESS: a bit above the length", refusal=Error.KEY_EXCESS)

    # --- Operations -----------------------------------------------------------------------------

    def _powers(self) -> None:
        """MODMUL, MODEXP and RSA_PUBLIC."""
        do, numbers = self.script, self.numbers
        n, bits, x, y, e = numbers.n, numbers.bits, numbers.x, numbers.y, numbers.e
        do.section(f"Operations with a modulus of {bits} bits")
        do.write(registers.EXPONENT_LENGTH, max(1, e.bit_length()))
        do.load_all(numbers.modulus_operands())
        do.load(Operand.E, max(1, e.bit_length()), e)
        do.load(Operand.Y, bits, y)
        do.expect_error("all operands are loaded")
        do.give(x, bits)
        do.run(self.numbers.product)
        do.expect_result("MODMUL: x * y mod m", x * y % n, bits)
        do.give(x - 1, bits)
        self._start_and_disturb(numbers.power)
        do.expect_word("STATUS after the command", registers.STATUS, 0)
        do.expect_error("BUSY: refused while a command runs", refusal=Error.BUSY)
        do.expect_result("MODEXP: x^e mod m, in spite of it", pow(x - 1, e, n), bits)
        do.give(x, bits)
        do.write(registers.STATUS, registers.STATUS["START"].mask)
        do.call("await_end")
        do.expect_result("RSA_PUBLIC, by STATUS: x^e mod m", pow(x, e, n), bits)
        do.write(registers.INPUT_LENGTH, TOO_LONG)
        do.run(self.numbers.public)
        do.expect_error("INPUT_CLIPPED: the input is too long", refusal=Error.INPUT_CLIPPED)
        do.expect_result("... and RSA_PUBLIC still right", pow(x, e, n), bits)
        for command in numbers.others:
            self._operation(command)

    def _operation(self, command: Command) -> None:
        """An operation that no other check has, with all its operands but the modulus's."""
        do, numbers = self.script, self.numbers
        operands, result = numbers.operation(command)
        for operand, bits, _ in operands:
            do.write(LENGTH_REGISTERS[operand.length], bits)
        do.load_all(numbers.modulus_operands())
        do.load_all(operands)
        do.give(numbers.x, numbers.bits)
        do.run(command)
        do.expect_result(title_of(command), result, numbers.bits)
        do.write(registers.EXPONENT_LENGTH, max(1, numbers.e.bit_length()))
        do.load(Operand.E, max(1, numbers.e.bit_length()), numbers.e)
        do.load(Operand.Y, numbers.bits, numbers.y)

    def _start_and_disturb(self, command: Command) -> None:
        """While a command runs nothing can be read, nor started, nor written; wait for its end."""
        do = self.script
        do.write(registers.COMMAND, f"COMMAND_{command.name}")
        do.write(registers.COMMAND, "COMMAND_WIPE")
        do.expect_word(
            "STATUS while a command runs", registers.STATUS, registers.STATUS["BUSY"].mask
        )
        do.call("await_end")

    def _operand_errors(self) -> None:
        do, numbers = self.script, self.numbers
        n, bits = numbers.n, numbers.bits
        do.section("Operands that are refused")
        do.give(n, bits)
        do.run(self.numbers.product)
        do.expect_error("OPERAND_RANGE: x is the modulus", Error.OPERAND_RANGE)
        do.expect_no_result("... and no result can be read", bits)
        do.give(0, bits)
        for modulus, error, title in numbers.wrong_moduli():
            do.load(Operand.M, bits, modulus)
            do.run(self.numbers.product)
            do.expect_error(f"{error.name}: {title}", error)
        do.load(Operand.M, bits, n)
        do.give(numbers.x, bits)
        do.run(self.numbers.product)
        do.expect_result("MODMUL after these errors", numbers.x * numbers.y % n, bits)

    def _private(self, key: keys.RsaPrivateKey) -> None:
        do, numbers = self.script, self.numbers
        operands, lengths = numbers.private_operands()
        do.section(f"RSA_PRIVATE with a key of {numbers.bits} bits")
        for length, bits in lengths.items():
            do.write(LENGTH_REGISTERS[length], bits)
        do.load_all(operands)
        do.expect_error("the key is loaded")
        x, bits = pow(numbers.x, key.e, key.n), numbers.bits
        do.give(x, bits)
        do.write(registers.COMMAND, "COMMAND_RSA_PRIVATE")
        do.expect_no_result("... while it runs", bits)
        do.call("await_end")
        do.expect_result("RSA_PRIVATE: x^d mod n", pow(x, key.d, key.n), bits)
        if self.engine.checked:
            do.load(Operand.E, lengths[Length.EXPONENT], key.e - 2)
            do.load_all(one for one in operands if one[0] is Operand.M_POWER)
            do.give(x, bits)
            do.run(*self.engine.private)
            do.expect_error("FAULT: the exponents do not belong together", Error.FAULT)
            do.expect_no_result("... and no result can be read", bits)

    # --- The end --------------------------------------------------------------------------------

    def _wipe(self) -> None:
        do, numbers = self.script, self.numbers
        do.section("WIPE")
        do.load_all(numbers.modulus_operands())
        do.load(Operand.Y, numbers.bits, numbers.y)
        do.give(numbers.x, numbers.bits)
        do.run(self.numbers.product)
        do.expect_result("MODMUL before WIPE", numbers.x * numbers.y % numbers.n, numbers.bits)
        do.run(*self.engine.wipes)
        do.expect_error("WIPE ends without an error")
        do.expect_no_result("... and no result can be read", numbers.bits)
        do.run(self.numbers.product)
        do.expect_error("OPERAND_MISSING: everything is forgotten", Error.OPERAND_MISSING)

    def _reset(self) -> None:
        do, numbers = self.script, self.numbers
        do.section("Reset while a command runs")
        do.load_all(numbers.modulus_operands())
        do.write(registers.EXPONENT_LENGTH, numbers.bits)
        do.load(Operand.E, numbers.bits, (1 << numbers.bits) - 1)
        do.give(numbers.x, numbers.bits)
        do.write(registers.COMMAND, "COMMAND_MODEXP")
        do.call("reset")
        do.expect_word("STATUS after reset", registers.STATUS, 0)
        do.expect_no_result("... and no result can be read", numbers.bits)
