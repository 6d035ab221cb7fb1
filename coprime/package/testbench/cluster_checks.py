"""What the testbench of a cluster does: operations on two of its cores, one of each error, WIPE."""

from coprime.bus import cluster_registers as registers
from coprime.bus.register_classes import Register
from coprime.engine.contract import Error, Length, Operand

from ..description import Description
from .accelerator_checks import TOO_LONG, UNKNOWN, expect_identity, numbers_of, title_of
from .script import Script

__all__ = ["ClusterChecks"]

_LENGTH_REGISTERS: dict[Length, Register] = {
    Length.MODULUS: registers.MODULUS_LENGTH,
    Length.EXPONENT: registers.EXPONENT_LENGTH,
    Length.P: registers.P_LENGTH,
    Length.Q: registers.Q_LENGTH,
}


class ClusterChecks:
    """Writes the checks of a cluster into a script.

    Parameters
    ----------
    own : the design
    script : what is written to
    """

    def __init__(self, own: Description, script: Script):
        self.own = own
        self.script = script
        self.numbers = numbers_of(own)
        self.last = own.reset(registers.CORES, registers.CORES["COUNT"]) - 1

    def write(self) -> None:
        """All checks."""
        expect_identity(self.own, self.script, registers.INTERRUPT_ENABLE)
        self.script.write(registers.INTERRUPT_ENABLE, 1)
        self._refusals()
        self._operations()
        self._cancel()
        self._operand_errors()
        if self.numbers.key:
            self._private()
        self._wipe()

    def _refusal(self, title: str, error: Error) -> None:
        self.script.call("expect_refusal", f'"{title}"', f"ERROR_{error.name}")

    def _completion(
        self, title: str, error: Error = Error.NONE, *, core: int = 0, result: int | None = None
    ) -> None:
        bits = 0 if result is None else self.numbers.bits
        value = self.script.number(result or 0, max(bits, 1))
        size = (bits + 7) // 8
        self.script.call(
            "expect_completion", f'"{title}"', core, f"ERROR_{error.name}", size, value
        )

    def _start(self, command: int) -> None:
        self.script.write(registers.COMMAND, int(command))

    def _load_x(self, value: int) -> None:
        self.script.load(Operand.X, self.numbers.bits, value)

    def _refusals(self) -> None:
        do, bits = self.script, self.numbers.bits
        do.section("Commands and accesses that are refused")
        self._start(UNKNOWN)
        self._completion("UNSUPPORTED: a code that is no command", Error.UNSUPPORTED)
        self._start(self.numbers.product)
        self._completion("LENGTH_ZERO: the modulus has no length", Error.LENGTH_ZERO)
        do.write(registers.KEY_OPERAND, "OPERAND_M")
        self._refusal("LENGTH_ZERO: neither has an operand", Error.LENGTH_ZERO)
        do.write(registers.MODULUS_LENGTH, TOO_LONG)
        self._start(self.numbers.product)
        self._completion("LENGTH_OVER: the modulus is too long", Error.LENGTH_OVER)
        do.write(registers.KEY_OPERAND, "OPERAND_M")
        self._refusal("LENGTH_OVER: and cannot be loaded", Error.LENGTH_OVER)
        do.write(registers.MODULUS_LENGTH, bits)
        self._start(self.numbers.power)
        self._completion("EXPONENT_LENGTH: the exponent has no length", Error.EXPONENT_LENGTH)
        self._start(self.numbers.product)
        self._completion("OPERAND_MISSING: nothing is loaded", Error.OPERAND_MISSING)
        do.write(registers.CORE, self.last + 1)
        self._refusal("ADDRESS: there is no such core", Error.ADDRESS)
        do.write(registers.CORE, 0)
        do.write(registers.KEY_OPERAND, 31)
        self._refusal("ADDRESS: there is no such operand", Error.ADDRESS)
        do.write(registers.KEY_DATA, 0)
        self._refusal("KEY_OVERRUN: a word without an operand", Error.KEY_OVERRUN)
        do.write(registers.EXPONENT_LENGTH, 1)
        do.load(Operand.E, 1, 3)
        self._refusal("KEY_EXCESS: a bit above the length", Error.KEY_EXCESS)

    def _load(self, core: int) -> None:
        do, numbers = self.script, self.numbers
        do.write(registers.CORE, core)
        do.write(registers.MODULUS_LENGTH, numbers.bits)
        do.write(registers.EXPONENT_LENGTH, max(1, numbers.e.bit_length()))
        do.load_all(numbers.modulus_operands())
        do.load(Operand.E, max(1, numbers.e.bit_length()), numbers.e)
        do.load(Operand.Y, numbers.bits, numbers.y)

    def _operations(self) -> None:
        do, numbers = self.script, self.numbers
        n, x, y, e = numbers.n, numbers.x, numbers.y, numbers.e
        do.section(f"Operations with a modulus of {numbers.bits} bits")
        for core in sorted({0, self.last}):
            self._load(core)
            self._load_x(x)
        self._refusal("all operands are loaded", Error.NONE)
        self._start(self.numbers.product)
        self._completion("MODMUL on the last core: x * y mod m", core=self.last, result=x * y % n)
        do.write(registers.CORE, 0)
        if not self.last:
            self._load_x(x)
        self._start(self.numbers.power)
        self._start(self.numbers.product)
        do.expect_word("CORE while a command runs", registers.CORE, 1 << 31)
        self._completion("MODEXP on core 0: x^e mod m", result=pow(x, e, n))
        self._refusal("BUSY: refused while a command runs", Error.BUSY)
        do.expect_word("no completion is left", registers.COMPLETION, 0)
        do.call("check", '"irq is 0 again"', "irq === 1'b0")
        self._load_x(x)
        self._start(self.numbers.public)
        self._completion("RSA_PUBLIC: x^e mod m", result=pow(x, e, n))
        for command in numbers.others:
            operands, result = numbers.operation(command)
            for operand, bits, _ in operands:
                do.write(_LENGTH_REGISTERS[operand.length], bits)
            do.load_all(numbers.modulus_operands())
            do.load_all(operands)
            self._load_x(x)
            self._start(command)
            self._completion(title_of(command), result=result)
            self._load(0)

    def _cancel(self) -> None:
        do = self.script
        do.section("CANCEL")
        self._load_x(self.numbers.x)
        self._start(self.numbers.power)
        do.write(registers.CANCEL, 0)
        self._completion("CANCELLED: a command is cancelled", Error.CANCELLED)

    def _operand_errors(self) -> None:
        do, numbers = self.script, self.numbers
        n, bits = numbers.n, numbers.bits
        do.section("Operands that are refused")
        self._load(0)
        self._load_x(n)
        self._start(self.numbers.product)
        self._completion("OPERAND_RANGE: x is the modulus", Error.OPERAND_RANGE)
        for modulus, error, title in numbers.wrong_moduli():
            do.load(Operand.M, bits, modulus)
            self._load_x(0)
            self._start(self.numbers.product)
            self._completion(f"{error.name}: {title}", error)
        do.load(Operand.M, bits, n)
        self._load_x(numbers.x)
        self._start(self.numbers.product)
        self._completion("MODMUL after these errors", result=numbers.x * numbers.y % n)

    def _private(self) -> None:
        do, numbers = self.script, self.numbers
        key = numbers.key
        assert key
        operands, lengths = numbers.private_operands()
        do.section(f"RSA_PRIVATE with a key of {numbers.bits} bits")
        for length, bits in lengths.items():
            do.write(_LENGTH_REGISTERS[length], bits)
        do.load_all(operands)
        x = pow(numbers.x, key.e, key.n)
        self._load_x(x)
        self._refusal("the key is loaded", Error.NONE)
        self._start(*self.numbers.own.private)
        self._completion("RSA_PRIVATE: x^d mod n", result=pow(x, key.d, key.n))
        if numbers.own.checked:
            do.load(Operand.E, lengths[Length.EXPONENT], key.e - 2)
            do.load_all(one for one in operands if one[0] is Operand.M_POWER)
            self._load_x(x)
            self._start(*self.numbers.own.private)
            self._completion("FAULT: the exponents do not belong together", Error.FAULT)

    def _wipe(self) -> None:
        do = self.script
        do.section("WIPE and reset")
        self._load(0)
        self._load_x(self.numbers.x)
        self._start(*self.numbers.own.wipes)
        self._completion("WIPE ends without an error or a result")
        self._start(self.numbers.product)
        self._completion("OPERAND_MISSING: everything is forgotten", Error.OPERAND_MISSING)
        self._load(0)
        self._load_x(self.numbers.x)
        self._start(self.numbers.power)
        do.call("reset")
        do.expect_word("CORE after reset", registers.CORE, 0)
        do.expect_word("no completion after reset", registers.COMPLETION, 0)
