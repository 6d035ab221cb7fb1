"""The driver of engines of byte strings: calls with inputs and outputs by the names of slots."""

import os
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from coprime.bus import registers
from coprime.bus.register_classes import Register
from coprime.calls.interface import (
    WIPE,
    WORD_BYTES,
    Call,
    CallOutcome,
    EngineInterface,
    Slot,
    Values,
)
from coprime.device.base import (
    Device,
    DeviceError,
    InterruptTimeout,
    read_block,
    write_block,
)
from coprime.device.jobs import EngineError, IdentificationError
from coprime.device.source import AcceleratorSource, Entropy
from coprime.engine.capabilities import Error

__all__ = ["CallAccelerator", "CallResult", "RunningCall"]

PART_BYTES = 1 << 16
"""Bytes of a part of a stream; a longer stream is sent in several. A multiple of 4."""
_BLOCK_BYTES = WORD_BYTES * registers.DATA_WINDOW.words
_MOST_POLLS = 10_000
_MORE = registers.SLOT_LENGTH["MORE"].mask
_DONE = registers.INTERRUPT_STATUS["DONE"].mask
PredictCall = Callable[[Call, str, Values], CallOutcome]


@dataclass(frozen=True)
class CallResult:
    """The result of a call.

    Parameters
    ----------
    outputs : those that can be read, by name; the repr does not show them
    cycles : clock cycles for which the engine worked
    products : of these, the cycles in which units worked, summed over all units
    predicted_cycles : the prediction of the engine's design; None without `predict`, or if an input
        is one that the engine already held
    units : that work in parallel, at least 1
    """

    outputs: Values = field(repr=False)
    cycles: int
    products: int
    predicted_cycles: int | None = None
    units: int = 1

    @property
    def utilization(self) -> float:
        """Fraction of the cycles in which the units worked: 0 to 1."""
        return self.products / (self.cycles * self.units) if self.cycles else 0.0


@dataclass(frozen=True)
class RunningCall:
    """A call that has been started, and not finished.

    Parameters
    ----------
    call : it
    outputs : the slots that are read after it
    lengths : bytes of those that are streams, by name
    predicted : as `CallResult.predicted_cycles`
    """

    call: Call
    outputs: Collection[Slot]
    lengths: Mapping[str, int]
    predicted: int | None


class CallAccelerator:
    """The driver of one accelerator for byte strings, which a device accesses.

    A call is given inputs by the names of their slots. Inputs that are not given are those that the
    engine holds: loaded before, or the outputs of a call. Streams are moved while the call runs, a
    long one in parts. Everything that does not fit is refused by the hardware, whose errors raise
    EngineError.

    Not for use from two threads at once, nor by two drivers of one device.

    Parameters
    ----------
    device : access to the registers
    interface : that of the engine's design
    timeout : seconds that a call may take on hardware without moving a word; None: no limit
    predict : `predict` of the engine's design, for `predicted_cycles` next to the measured ones
    entropy : what a random source in the hardware is seeded from; the operating system by default

    Attributes
    ----------
    source : the random source in the hardware, if there is one

    Raises
    ------
    IdentificationError: the device is something else
    """

    def __init__(
        self,
        device: Device,
        interface: EngineInterface,
        *,
        timeout: float | None = None,
        predict: PredictCall | None = None,
        entropy: Entropy = os.urandom,
    ):
        self._device = device
        self.interface = interface
        self._timeout = timeout
        self._predict = predict
        self._set: str | None = None
        self._identify()
        self.source = AcceleratorSource(device, entropy)

    def call(
        self,
        name: str,
        values: Values,
        *,
        parameter_set: str = "",
        read: Collection[str] | None = None,
    ) -> CallResult:
        """Load inputs, run a call, and read its outputs, or only those named in `read`.

        With another parameter set than that of the call before, the engine forgets all slots.

        Raises ValueError for an unknown call, parameter set or output, and for an input that the
        call does not take; EngineError if the hardware refuses; InterruptTimeout; DeviceError for a
        slot of another length than the interface says.
        """
        running = self.start(name, values, parameter_set=parameter_set, read=read)
        return self.finish(running)

    def check(
        self,
        name: str,
        values: Values,
        *,
        parameter_set: str = "",
        read: Collection[str] | None = None,
    ) -> None:
        """Raise ValueError, or TypeError, where `call` would without an access of the device."""
        call = self.interface.named(name)
        self._check(call, values, parameter_set)
        self._readable(call, read)

    def start(
        self,
        name: str,
        values: Values,
        *,
        parameter_set: str = "",
        read: Collection[str] | None = None,
        forget: bool = False,
    ) -> "RunningCall":
        """The first part of `call`: load inputs, start the call, and send its streams.

        With `forget` the engine first forgets all slots that it holds. Raises as `call`.
        """
        call = self.interface.named(name)
        self._check(call, values, parameter_set)
        outputs = self._readable(call, read)
        self._prepare(parameter_set, forget=forget)
        given = [self.interface.slot[slot_name] for slot_name in call.takes if slot_name in values]
        for slot in [slot for slot in given if not slot.streamed]:
            self._load(slot, values[slot.name])
        self._raise_errors()
        self.source.prepare()
        self._write(registers.INTERRUPT_STATUS, _DONE)
        self._write(registers.COMMAND, call.code)
        for slot in [slot for slot in given if slot.streamed]:
            self._send(slot, values[slot.name])
        lengths = {
            output.name: self.interface.length(call, output.name, parameter_set, values)
            for output in outputs
            if output.streamed
        }
        predicted = self._predicted(call, parameter_set, values)
        return RunningCall(call, outputs, lengths, predicted)

    def finish(self, running: "RunningCall") -> CallResult:
        """The second part of `call`: wait for its end, and read its outputs.

        Raises as `call`: EngineError with FAULT, too, if a word of an output has changed since.
        """
        found = {}
        for slot in [output for output in running.outputs if output.streamed]:
            found[slot.name] = self._receive(slot, running.lengths[slot.name])
        self._wait()
        for slot in [output for output in running.outputs if not output.streamed]:
            found[slot.name] = self._fetch(slot)
        try:
            self._raise_errors()
        except EngineError as error:
            if error.code != Error.NOT_READY:
                raise
            # A word of a complete slot has changed since it was written.
            self.wipe()
            raise EngineError(Error.FAULT) from None
        cycles, products = self._read(registers.CYCLES), self._read(registers.PRODUCTS)
        return CallResult(found, cycles, products, running.predicted, self.interface.units)

    def load(self, values: Values, *, parameter_set: str = "") -> None:
        """Load slots, for a later call. Raises ValueError for what is none, and as `call`."""
        loadable = self.interface.loadable
        for name in values:
            if name not in loadable:
                raise ValueError(f"{self.interface.family} has no slot {name!r} to load")
        self.interface.check(values, parameter_set)
        self._prepare(parameter_set)
        for name, data in values.items():
            self._load(self.interface.slot[name], data)
        self._raise_errors()

    def complete(self) -> frozenset[str]:
        """The names of the slots that the engine holds."""
        marks = self._read(registers.COMPLETE)
        return frozenset(slot.name for slot in self.interface.slots if marks >> slot.number & 1)

    def wipe(self) -> None:
        """Clear all slots; a call that is busy is given up."""
        if not self._read(registers.INTERRUPT_ENABLE):
            self._await_reset()
        self._write(registers.INTERRUPT_ENABLE, registers.INTERRUPT_ENABLE["DONE"].mask)
        self._write(registers.ERROR, 0)
        self._write(registers.INTERRUPT_STATUS, _DONE)
        self._write(registers.COMMAND, WIPE)
        self._wait()

    def cycles(self) -> int:
        """The clock cycles for which the engine has worked on the last command, so far."""
        return self._read(registers.CYCLES)

    # Checks

    def _identify(self) -> None:
        """Check that the device is this engine."""
        found = self._read(registers.IDENTIFICATION)
        expected = registers.IDENTIFICATION["ID"].reset
        if found != expected:
            raise IdentificationError(
                f"the device identifies itself as 0x{found:08X}, while a Coprime accelerator would"
                f" as 0x{expected:08X}"
            )
        slots = registers.CAPABILITIES["SLOTS"].of(self._read(registers.CAPABILITIES))
        family = self._read(registers.FAMILY)
        if not slots or family != self.interface.family_number:
            raise IdentificationError(
                f"the accelerator is of family {family}, and {self.interface.family} is"
                f" {self.interface.family_number}"
            )
        codes = self._read(registers.COMMANDS) | self._read(registers.COMMANDS_HIGH) << 32
        missing = [call.name for call in self.interface.calls if not codes >> call.code & 1]
        if missing:
            raise IdentificationError(f"the accelerator has no {', '.join(missing)}")

    def _check(self, call: Call, values: Values, parameter_set: str) -> None:
        for name in values:
            if name not in call.takes:
                raise ValueError(f"{call.name} takes {', '.join(call.takes)}, not {name!r}")
        self.interface.check_set(call, parameter_set)
        self.interface.check(values, parameter_set)
        for name in call.inputs:
            if self.interface.slot[name].streamed and name not in values:
                raise ValueError(f"{call.name} needs {name}, which no engine holds")

    def _readable(self, call: Call, names: Collection[str] | None) -> list[Slot]:
        """The outputs to read; streams are read in any case."""
        slots = [self.interface.slot[name] for name in call.outputs]
        able = [slot for slot in slots if slot.readable or slot.streamed]
        if names is None:
            return able
        for name in names:
            if name not in [slot.name for slot in able]:
                raise ValueError(f"{call.name} gives no {name!r} to read")
        return [slot for slot in able if slot.streamed or slot.name in names]

    def _predicted(self, call: Call, parameter_set: str, values: Values) -> int | None:
        # What is left out is drawn, or has been kept from an earlier call: neither is known here.
        if self._predict is None or not {*call.takes} <= values.keys():
            return None
        return self._predict(call, parameter_set, values).cycles

    # Accesses

    def _prepare(self, parameter_set: str, *, forget: bool = False) -> None:
        """Clear errors, enable the interrupt, detect a reset, and set the parameter set."""
        if not self._read(registers.INTERRUPT_ENABLE):
            self._await_reset()
            self._set = None
            self._write(registers.INTERRUPT_ENABLE, registers.INTERRUPT_ENABLE["DONE"].mask)
        elif self._is_busy():
            raise EngineError(Error.BUSY)
        self._write(registers.ERROR, 0)
        if forget or self._set != parameter_set:
            number = self.interface.set_number(parameter_set)
            if forget or self._set is not None or self._read(registers.PARAMETER_SET) != number:
                self._write(registers.PARAMETER_SET, number)
            self._raise_errors()
            self._set = parameter_set

    def _await_reset(self) -> None:
        """Wait until the engine has cleared itself after a reset."""
        for _ in range(_MOST_POLLS):
            if not self._is_busy():
                return
        raise EngineError(Error.BUSY)

    def _load(self, slot: Slot, data: bytes) -> None:
        self._announce(slot, len(data))
        for place in range(0, len(data), _BLOCK_BYTES):
            self._put(data[place : place + _BLOCK_BYTES])

    def _fetch(self, slot: Slot) -> bytes:
        self._write(registers.SLOT, slot.number)
        found = self._read(registers.SLOT_LENGTH)
        length = slot.length(self.interface.set_number(self._set or ""))
        if found != length:
            self._raise_errors()
            raise DeviceError(f"SLOT_LENGTH of {slot.name} reads as {found}, not {length}")
        blocks = [
            self._get(min(_BLOCK_BYTES, length - place)) for place in range(0, length, _BLOCK_BYTES)
        ]
        return b"".join(blocks)

    def _send(self, slot: Slot, data: bytes) -> None:
        """Send a stream in parts."""
        for start in range(0, max(1, len(data)), PART_BYTES):
            part = data[start : start + PART_BYTES]

            def put(place: int, size: int, part: bytes = part) -> None:
                self._put(part[place : place + size])

            self._announce(slot, len(part), more=start + len(part) < len(data))
            if not self._move(slot, len(part), put):
                return

    def _receive(self, slot: Slot, length: int) -> bytes:
        """Read a stream of so many bytes."""
        found = bytearray()

        def get(place: int, size: int) -> None:
            found[place:] = self._get(size)

        self._announce(slot, length)
        self._move(slot, length, get)
        return bytes(found)

    def _move(self, slot: Slot, length: int, block: Callable[[int, int], None]) -> bool:
        """Move so many bytes of a stream; False if the call ends before, with an error.

        `block` moves a number of bytes from a place on. Words that the engine has not taken, or not
        given, in time are moved again.
        """
        place, since = 0, time.monotonic()
        while place < length:
            size = min(length - place, _BLOCK_BYTES)
            block(place, size)
            refusal = registers.ERROR["REFUSAL"].of(self._read(registers.ERROR))
            if refusal == Error.NONE:
                place, since = place + size, time.monotonic()
                continue
            if refusal != Error.NOT_READY or not self._is_busy():
                return False
            moved = length - self._read(registers.SLOT_LENGTH)
            if moved > place:
                place, since = moved, time.monotonic()
            elif self._timeout is not None and time.monotonic() - since > self._timeout:
                raise InterruptTimeout(
                    f"the accelerator has neither taken nor given a word of {slot.name} in"
                    f" {self._timeout} seconds"
                )
            self._write(registers.ERROR, 0)
        return True

    def _announce(self, slot: Slot, length: int, *, more: bool = False) -> None:
        self._write(registers.SLOT, slot.number)
        self._write(registers.SLOT_LENGTH, length | (_MORE if more else 0))

    def _put(self, data: bytes) -> None:
        """Write the words of a block."""
        parts = [data[place : place + WORD_BYTES] for place in range(0, len(data), WORD_BYTES)]
        words = [int.from_bytes(part, "little") for part in parts]
        write_block(self._device, registers.DATA_WINDOW.address, words)

    def _get(self, size: int) -> bytes:
        """Read the words of a block."""
        words = read_block(self._device, registers.DATA_WINDOW.address, -(-size // WORD_BYTES))
        return b"".join(word.to_bytes(WORD_BYTES, "little") for word in words)[:size]

    def _wait(self) -> None:
        """Wait for the end of a command, and raise its error."""
        while not self._read(registers.INTERRUPT_STATUS):
            self._device.wait_interrupt(self._timeout)
        self._write(registers.INTERRUPT_STATUS, _DONE)
        self._raise_errors()

    def _is_busy(self) -> bool:
        return bool(registers.STATUS["BUSY"].of(self._read(registers.STATUS)))

    def _raise_errors(self) -> None:
        """Raise the accelerator's error: the command's, or else that of a refused access."""
        word = self._read(registers.ERROR)
        code = registers.ERROR["CODE"].of(word) or registers.ERROR["REFUSAL"].of(word)
        if code:
            if code not in set(Error):
                raise DeviceError(f"ERROR reads as 0x{word:08X}, which is no accelerator's error")
            raise EngineError(Error(code))

    def _read(self, register: Register) -> int:
        return self._device.read32(register.address)

    def _write(self, register: Register, value: int) -> None:
        self._device.write32(register.address, value)
