"""A simulated device whose registers can be changed, to flip bits as radiation or an attack would.

It shows the effect of a fault on a circuit, and not how likely one is.
"""

import ctypes
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from coprime.flow.simulation import AT_CYCLE, show_registers

from .simulated import SimulatedDevice


@dataclass(frozen=True)
class StateElement:
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
    verilog, top, cycle_limit, access_limit: as in SimulatedDevice; `top` is a module's name

    Attributes
    ----------
    registers (mapping of str to StateElement): by name
    """

    registers: Mapping[str, StateElement]

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
        self._state_bytes: int = self._library.coprime_state_bytes(self._open())

    def flip(self, register: StateElement, word: int, bit: int) -> None:
        """Invert one bit, as if it had changed at the last clock edge.

        ValueError for a word or a bit that does not exist.
        """
        self._check(register, word)
        if bit not in range(register.width):
            raise ValueError(f"bit must be in 0..{register.width - 1}, not {bit}")
        self.poke(register, word, self.peek(register, word) ^ 1 << bit)

    def poke(self, register: StateElement, word: int, value: int) -> None:
        """Set a word, as if it had changed at the last clock edge.

        ValueError for a word that does not exist, or a value that does not fit.
        """
        self._check(register, word)
        if value not in range(1 << register.width):
            raise ValueError(f"value must be in 0..2**{register.width} - 1, not {value}")
        size = (register.width + 7) // 8
        data = value.to_bytes(size, "little")
        self._library.coprime_poke(self._open(), register.index, word, data, size)

    def peek(self, register: StateElement, word: int = 0) -> int:
        """The present value of a word of the register or memory."""
        self._check(register, word)
        size = (register.width + 7) // 8
        found = ctypes.create_string_buffer(size)
        self._library.coprime_peek(self._open(), register.index, word, found, size)
        return int.from_bytes(found.raw, "little")

    def save(self) -> bytes:
        """The present state: all registers and memories, and the position in the random bytes.

        It is complete between two accesses, not while a function of `call_at` is called.
        """
        state = ctypes.create_string_buffer(self._state_bytes)
        self._library.coprime_save(self._open(), state)
        return state.raw

    def restore(self, state: bytes, only: Collection[StateElement] | None = None) -> None:
        """Return to a state from this device's `save`; `cycles` keeps counting.

        With `only`, only the contents of these registers and memories are restored. ValueError for
        bytes of another length, or for another device's register.
        """
        self._check_state(state)
        chosen = None
        if only is not None:
            for register in only:
                self._check(register, 0)
            indices = {register.index for register in only}
            chosen = bytes(index in indices for index in range(len(self.registers)))
        self._library.coprime_restore(self._open(), state, chosen)

    def equals(self, state: bytes) -> bool:
        """Whether the present state is this one. ValueError for bytes of another length."""
        self._check_state(state)
        return bool(self._library.coprime_equals(self._open(), state))

    def call_at(self, cycle: int, function: Callable[[], int | None]) -> None:
        """Call a function when `cycles` reaches `cycle`; it replaces an earlier one.

        This may be in the middle of an access; no function is called for a cycle that has passed.
        The function returns the next cycle in which to call it, or None for no further call. It
        must not raise, access registers over the bus, or run the clock.
        """
        self._function = AT_CYCLE(lambda: function() or 0)
        self._library.coprime_call_at(self._open(), cycle, self._function)

    def _register(self, index: int) -> StateElement:
        width, words = ctypes.c_uint64(), ctypes.c_uint64()
        name = self._library.coprime_register(
            self._open(), index, ctypes.byref(width), ctypes.byref(words)
        )
        plain = name.decode().strip(" \\")
        return StateElement(plain, index, width.value, words.value)

    def _check_state(self, state: bytes) -> None:
        if len(state) != self._state_bytes:
            raise ValueError(f"state must have {self._state_bytes} bytes, not {len(state)}")

    def _check(self, register: StateElement, word: int) -> None:
        if self.registers.get(register.name) != register:
            raise ValueError(f"{register!r} is no register of this device")
        if word not in range(register.words):
            raise ValueError(f"word must be in 0..{register.words - 1}, not {word}")
