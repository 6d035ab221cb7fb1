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

    def __init__(self, own: Description):
        self.own = own

    @property
    def after_reset(self) -> list[tuple[Register, int]]:
        """Those that can be read, with the value after reset."""
        return [
            (one, self.own.register_reset(one))
            for one in self.own.registers
            if one.readable and one.name not in self.own.kind.changing
        ]

    @property
    def identification(self) -> int:
        """IDENTIFICATION, which is no other register's value."""
        return {one.name: value for one, value in self.after_reset}["IDENTIFICATION"]

    @property
    def write_only(self) -> list[tuple[Register, int]]:
        """Those whose reads answer SLVERR; of a window, the first and the last address."""
        return [
            (one, place) for one in self.own.registers if not one.readable for place in _ends(one)
        ]

    @property
    def read_only(self) -> list[tuple[Register, int]]:
        """Those whose writes answer SLVERR, likewise."""
        return [
            (one, place) for one in self.own.registers if not one.writable for place in _ends(one)
        ]

    @property
    def undefined(self) -> list[tuple[int, int]]:
        """Addresses that differ from a register's in one bit and are none: first and last of each
        run of words."""
        known = {
            one.address + 4 * word
            for one in self.own.registers
            for word in range(one.words if isinstance(one, Window) else 1)
        }
        near = {
            one.address ^ 1 << bit for one in self.own.registers for bit in range(2, _ADDRESS_BITS)
        }
        runs = groupby(enumerate(sorted(near - known)), lambda one: one[1] - 4 * one[0])
        found = [[address for _, address in run] for _, run in runs]
        return [(each[0], each[-1]) for each in found]

    @property
    def stored(self) -> Iterator[tuple[Register, int, int]]:
        """A write of a word to a register that keeps it, and what is read after it."""
        for one in self.own.registers:
            kept = [(word, self.own.kind.kept(one, word)) for word in _WORDS]
            yield from ((one, word, value) for word, value in kept if value is not None)


def _ends(register: Register) -> tuple[int, ...]:
    if isinstance(register, Window):
        return register.address, register.address + 4 * (register.words - 1)
    return (register.address,)
