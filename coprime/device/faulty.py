"""A simulated device whose registers can be changed: bits flip as radiation or an attacker would.

It shows what a circuit does with a fault, and nothing of how likely one is.
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
    name : the submodules that it is in, and its own name, with dots between
    index : its number in the simulation
    width : bits of a word
    words : 1, or words of the memory
    """

    name: str
    index: int
    width: int
    words: int

    @property
    def is_memory(self) -> bool:
        """Whether it has words."""
        return self.words > 1


class FaultyDevice(SimulatedDevice):
    """A SimulatedDevice of one module, with all registers at hand between two clock cycles.

    Parameters
    ----------
    verilog, top, cycle_limit, access_limit
        As of SimulatedDevice; `top` is a module's name.

    Attributes
    ----------
    registers : mapping of str to Register
        By their names.
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
        """Change one bit, as if it had been the other one in the last clock cycle.

        ValueError for a word or a bit that is not there.
        """
        self._check(register, word)
        if bit not in range(register.width):
            raise ValueError(f"bit must be in 0..{register.width - 1}, not {bit}")
        self._library.coprime_flip(self._open(), register.index, word, bit)

    def peek(self, register: Register, word: int = 0) -> int:
        """What a word of the register or memory is now."""
        self._check(register, word)
        size = (register.width + 7) // 8
        found = ctypes.create_string_buffer(size)
        self._library.coprime_peek(self._open(), register.index, word, found, size)
        return int.from_bytes(found.raw, "little")

    def save(self) -> bytes:
        """All registers and memories as they are now, between two accesses."""
        state = ctypes.create_string_buffer(self._library.coprime_state_bytes(self._open()))
        self._library.coprime_save(self._open(), state)
        return state.raw

    def restore(self, state: bytes) -> None:
        """Go back to what this device's `save` gave, with an idle bus. `cycles` counts on.

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
