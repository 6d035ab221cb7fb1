"""What a testbench does: calls of the tasks of `testbench.v`, as text."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from coprime.bus.register_classes import Register
from coprime.engine.contract import Command, Error, Operand
from coprime.model.padding_formats import bytes_of

__all__ = ["Script"]


def _literal(value: int, bits: int) -> str:
    return f"{max(bits, 1)}'h{value:x}"


@dataclass
class Script:
    """The statements of a testbench, in order.

    Parameters
    ----------
    longest : bits of the longest number that a statement has, at least 32
    """

    longest: int = 32
    _lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All statements, indented for the body of `initial`."""
        return "\n".join(f"    {line}".rstrip() for line in self._lines)

    def section(self, title: str) -> None:
        """Begin a new part, which the simulation prints."""
        self._lines += ["", f'$display("{title}");']

    def note(self, text: str) -> None:
        """A comment."""
        self._lines.append(f"// {text}")

    def call(self, task: str, *arguments: object) -> None:
        """Call a task of the testbench; texts that begin with a quote are strings."""
        self._lines.append(
            f"{task}({', '.join(map(str, arguments))});" if arguments else f"{task};"
        )

    def number(self, value: int, bits: int) -> str:
        """A number of so many bits, which the tasks take."""
        self.longest = max(self.longest, -(-bits // 32) * 32)
        return _literal(value, bits)

    # --- Registers ------------------------------------------------------------------------------

    def write(self, register: Register, value: int | str) -> None:
        """A write that the register accepts."""
        self.call("write", f"REG_{register.name}", value)

    def expect_word(self, title: str, register: Register, value: int) -> None:
        """A read."""
        self.call("expect_word", f'"{title}"', f"REG_{register.name}", _literal(value, 32))

    def load(self, operand: Operand, bits: int, value: int) -> None:
        """Load an operand of so many bits; the value may have more."""
        width = max(bits, value.bit_length(), 1)
        self.call("load", f"OPERAND_{operand.name}", bits, self.number(value, width))

    def load_all(self, operands: Iterable[tuple[Operand, int, int]]) -> None:
        """Load several operands: each with its bits and its value."""
        for operand, bits, value in operands:
            self.load(operand, bits, value)

    # --- Commands -------------------------------------------------------------------------------

    def give(self, value: int, bits: int) -> None:
        """The input, as long as a number of so many bits."""
        size = bytes_of(bits)
        self.call("give", size, self.number(value, 8 * size))

    def run(self, command: Command) -> None:
        """Start a command and wait for its interrupt."""
        self.call("run", f"COMMAND_{command.name}")

    def expect_error(
        self, title: str, code: Error = Error.NONE, *, refusal: Error = Error.NONE
    ) -> None:
        """How a command ended, and why an access was refused; both are cleared."""
        self.call("expect_error", f'"{title}"', f"ERROR_{refusal.name}", f"ERROR_{code.name}")

    def expect_result(self, title: str, value: int, bits: int) -> None:
        """A result as long as a modulus of so many bits, without an error."""
        size = bytes_of(bits)
        self.call("expect_result", f'"{title}"', size, self.number(value, 8 * size))

    def expect_no_result(self, title: str, bits: int) -> None:
        """Nothing can be read where a result of so many bits would be."""
        size = bytes_of(bits)
        self.number(0, 8 * size)
        self.call("expect_no_result", f'"{title}"', size)
