"""The classes that describe registers: fields, registers, windows of registers.

`coprime.bus.registers` and `coprime.bus.cluster_registers` are generated instances of them.
"""

from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True)
class Field:
    """A field: consecutive bits of a register."""

    name: str
    offset: int  # position of the least significant bit
    width: int  # bits
    access: str  # R, W, RW, or RW1C: writing 1 clears
    reset: int | None  # value after reset; None if it depends on the engine
    doc: str

    @property
    def mask(self) -> int:
        """The field's bits in the register."""
        return ((1 << self.width) - 1) << self.offset

    def of(self, word: int) -> int:
        """Return the field's value in the register value `word`."""
        return (word & self.mask) >> self.offset


@dataclass(frozen=True)
class Register:
    """A register: 32 bits at an address."""

    name: str
    address: int  # bytes from the start of the address space; a multiple of 4
    access: str  # R, W, RW, or RW1C: writing 1 clears
    doc: str
    fields: tuple[Field, ...]

    def __getitem__(self, name: str) -> Field:
        """Return the field of that name; KeyError if there is none."""
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(f"register {self.name} has no field {name!r}")

    def without(self, *names: str) -> Self:
        """The register without some of its fields."""
        return replace(
            self, fields=tuple(field for field in self.fields if field.name not in names)
        )

    @property
    def readable(self) -> bool:
        """Whether a read answers OKAY."""
        return "R" in self.access

    @property
    def writable(self) -> bool:
        """Whether a write answers OKAY."""
        return "W" in self.access


@dataclass(frozen=True)
class Window(Register):
    """Consecutive registers of one kind, 4 bytes apart; `address` is that of the first."""

    words: int
    """Number of registers: a power of 2; `address` is a multiple of the window's size in bytes."""
