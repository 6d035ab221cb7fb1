"""A simulated device whose registers can be changed: bits flip as by radiation or an attack.

It shows the effect of a fault on a circuit, and not how likely one is.
"""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass

from coprime.flow.simulation import show_registers

from .simulated import SimulatedDevice

__all__ = ["FaultyDevice", "Register"]


@dataclass(frozen=True)
class Register:
    """A register, or a memory.

    Parameters
    ----------
    name : the path of submodules and its own name, separated by dots
    index : its number in the simulation
    width : bits of a word
    words : number of words of a memory; 1 for a register
    """

    name: str
    index: int
    width: int
    words: int

    @property
    def is_memory(self) -> bool:
        """Whether it is a memory."""
        return self.words > 1


class FaultyDevice(SimulatedDevice):
    """A SimulatedDevice of one module, with access to all registers between two clock cycles.

    Parameters
    ----------
    verilog, top, cycle_limit, access_limit
        As in SimulatedDevice; `top` is a module's name.

    Attributes
    ----------
    registers : mapping of str to Register
        By name.
    """

    registers: Mapping[str, Register]

    def __init__(
        self,
        verilog: str,
        top: str,
        *,
        cycle_limit: int = 4_000_000_000,
        access_limit: int = 1_000_000,
    ):
        self._handle = None  # nothing to close if the Verilog has errors
        shown = show_registers(verilog, top)
        super().__init__(shown, top, cycle_limit=cycle_limit, access_limit=access_limit)
        found = [self._register(k) for k in range(self._library.coprime_registers(self._open()))]
        self.registers = {register.name: register for register in found}

    def flip(self, register: Register, word: int, bit: int) -> None:
        """Invert one bit, as if it had taken this value in the last clock cycle.

        ValueError for a word or a bit that does not exist.
        """
        self._check(register, word)
        if bit not in range(register.width):
            raise ValueError(f"bit must be in 0..{register.width - 1}, not {bit}")
        self._library.coprime_flip(self._open(), register.index, word, bit)

    def peek(self, register: Register, word: int = 0) -> int:
        """The present value of a word of the register or memory."""
        self._check(register, word)
        size = (register.width + 7) // 8
        found = ctypes.create_string_buffer(size)
        self._library.coprime_peek(self._open(), register.index, word, found, size)
        return int.from_bytes(found.raw, "little")

    def save(self) -> bytes:
        """The present state of all registers and memories, between two accesses."""
        state = ctypes.create_string_buffer(self._library.coprime_state_bytes(self._open()))
        self._library.coprime_save(self._open(), state)
        return state.raw

    def restore(self, state: bytes) -> None:
        """Return to a state from this device's `save`, with an idle bus. `cycles` keeps counting.

        ValueError for bytes of another length.
        """
        size = self._library.coprime_state_bytes(self._open())
        if len(state) != size:
            raise ValueError(f"state must have {size} bytes, not {len(state)}")
        self._library.coprime_restore(self._open(), state)

    def _register(self, index: int) -> Register:
        width, words = ctypes.c_uint64(), ctypes.c_uint64()
        name = self._library.coprime_register(
            self._open(), index, ctypes.byref(width), ctypes.byref(words)
        )
        plain = name.decode().strip(" \\")
        return Register(plain, index, width.value, words.value)

    def _check(self, register: Register, word: int) -> None:
        if self.registers.get(register.name) != register:
            raise ValueError(f"{register!r} is no register of this device")
        if word not in range(register.words):
            raise ValueError(f"word must be in 0..{register.words - 1}, not {word}")
