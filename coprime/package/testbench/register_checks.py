"""What a testbench checks of registers: their values after reset, what they keep, and no others."""

from collections.abc import Iterator
from itertools import groupby

from coprime.bus.register_classes import Register, Window

from ..description import Description

_ADDRESS_BITS = 12
_WORDS = (0xFFFFFFFF, 0x0000A5A5, 0x00010000, 0x00005A5A)


class RegisterChecks:
    """The registers of a design as its testbench goes through them.

    Parameters
    ----------
    own : the design
    """

    def __init__(self, description: Description):
        self.own = description

    @property
    def after_reset(self) -> list[tuple[Register, int]]:
        """Those that can be read, with the value after reset."""
        return [
            (register, self.own.register_reset(register))
            for register in self.own.registers
            if register.readable and register.name not in self.own.kind.changing
        ]

    @property
    def identification(self) -> int:
        """IDENTIFICATION, which is no other register's value."""
        return {register.name: value for register, value in self.after_reset}["IDENTIFICATION"]

    @property
    def write_only(self) -> list[tuple[Register, int]]:
        """Those whose reads answer SLVERR; of a window, the first and the last address."""
        return [
            (register, place)
            for register in self.own.registers
            if not register.readable
            for place in _ends(register)
        ]

    @property
    def read_only(self) -> list[tuple[Register, int]]:
        """Those whose writes answer SLVERR, likewise."""
        return [
            (register, place)
            for register in self.own.registers
            if not register.writable
            for place in _ends(register)
        ]

    @property
    def undefined(self) -> list[tuple[int, int]]:
        """Addresses that differ from a register's in one bit and are none: first and last of each
        run of words."""
        known = {
            register.address + 4 * word
            for register in self.own.registers
            for word in range(register.words if isinstance(register, Window) else 1)
        }
        near = {
            register.address ^ 1 << bit
            for register in self.own.registers
            for bit in range(2, _ADDRESS_BITS)
        }
        runs = groupby(enumerate(sorted(near - known)), lambda indexed: indexed[1] - 4 * indexed[0])
        found = [[address for _, address in run] for _, run in runs]
        return [(each[0], each[-1]) for each in found]

    @property
    def stored(self) -> Iterator[tuple[Register, int, int]]:
        """A write of a word to a register that keeps it, and what is read after it."""
        for register in self.own.registers:
            kept = [(word, self.own.kind.kept(register, word)) for word in _WORDS]
            yield from ((register, word, value) for word, value in kept if value is not None)


def _ends(register: Register) -> tuple[int, ...]:
    if isinstance(register, Window):
        return register.address, register.address + 4 * (register.words - 1)
    return (register.address,)
