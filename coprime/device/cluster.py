"""The driver of a cluster: commands are started core by core and end in any order."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from coprime.bus import cluster_registers as registers
from coprime.device.base import Device, DeviceError
from coprime.device.jobs import EngineContents, EngineDriver, Job, Predict, check_naturals, value_of
from coprime.engine.contract import Command, Error, Length, Operand

__all__ = ["Cluster", "Completion"]

_WIPE = Job(Command.WIPE, {}, {})
_ERRORS = {int(error): error for error in Error}


@dataclass(frozen=True)
class Completion:
    """The end of a core's command.

    Parameters
    ----------
    core : number of the core
    error : an Error, NONE if the command succeeded; a plain number if the hardware returned one
        that is no Error. FAULT comes from the core, which has wiped its memory, or from the driver:
        results are checked, and the one read is not the one that the core has checked for this
        command.
    value : the result, below the modulus; None after an error and after WIPE. The repr does not
        show it, since it may be a secret.
    predicted_cycles : that of the engine's design; None without `predict`, and after an error
    """

    core: int
    error: int
    value: int | None = field(repr=False)
    predicted_cycles: int | None = None


class Cluster(EngineDriver):
    """The driver of a cluster of engines, which a device accesses.

    `start` starts a command on a core, which produces exactly one completion; `completion` takes
    it. The core is occupied until then. Only operands that a core does not hold yet are loaded, and
    always X. A reset of the device is detected, since the interrupt enable, which this driver sets
    once, then reads as 0: running commands are lost without a completion.

    Not for use from two threads at once, nor by two drivers of one device. The attributes of
    `EngineDriver` describe each engine; `modmul_job` and the like create jobs.

    Parameters
    ----------
    device : access to the registers
    predict : of the engine's design, to have `predicted_cycles` in the completions

    Attributes
    ----------
    cores (int): number of cores, 1 to 1023, numbered from 0
    resets (int): number of resets of the device that were detected

    Raises
    ------
    IdentificationError: the device is something else
    EngineError: BUSY: a core is already occupied
    """

    def __init__(self, device: Device, *, predict: Predict | None = None):
        super().__init__(device, registers.IDENTIFICATION)
        self._predict = predict
        self.cores = registers.CORES["COUNT"].of(self._read(registers.CORES))
        self.resets = 0
        self._memories = [EngineContents() for _ in range(self.cores)]
        self._running: dict[int, tuple[Job, int]] = {}  # with X, by core
        self._kept: deque[Completion] = deque()  # taken while other cores were being wiped
        self._words: list[int] = []  # of the result being read
        self._selected: int | None = None
        self._clean = False  # whether ERROR is known to show no earlier refusal
        for core in reversed(range(self.cores)):
            self._select(core)
            if registers.CORE["OCCUPIED"].of(self._read(registers.CORE)):
                raise self._error(Error.BUSY)
        self._held = frozenset(self._probe())
        self._enable_interrupt()

    @property
    def occupied(self) -> frozenset[int]:
        """The cores whose completion has not been taken."""
        return frozenset(self._running) | {completion.core for completion in self._kept}

    def start(self, core: int, job: Job, x: int | None = None) -> None:
        """Load X and the operands that the core does not hold yet, and start the command.

        Range: x in [0, modulus); None: that of the job. If it is not below the modulus, but fits
        the job's modulus length, the completion has the error. WIPE has no X.

        Raises
        ------
        ValueError: there is no such core, or `x` is longer than the job's modulus length
        EngineError: the hardware refused an access: nothing was started, and the next command loads
            the core again. BUSY: the core is occupied.
        """
        self._check_core(core)
        x = job.x if x is None else x
        check_naturals(x=x)
        if x.bit_length() > job.modulus_length:
            raise ValueError(f"x must have at most {job.modulus_length} bits for this job")
        self.notice_reset()
        memory = self._memories[core]
        try:
            self._select(core)
            if not self._clean:
                self._write(registers.ERROR, 0)
            self._clean = False
            if not job.command.operation.computes:
                memory.forget()
            self._load(job, memory)
            takes_x = Length.MODULUS in job.lengths and self._fits(Length.MODULUS, job)
            if takes_x:
                self._load_operand(Operand.X, x, job.modulus_length)
            if job.operands:
                self._raise_refusal()
            self._write(registers.COMMAND, job.command)
            if not takes_x:  # otherwise X was refused for the same reason
                self._raise_refusal()
        except Exception:
            memory.forget()
            raise
        self._clean = True
        self._running[core] = job, x

    def completion(self) -> Completion | None:
        """Take the oldest completion, which releases its core; None if there is none.

        After an error the next command loads the core again. If a bus error interrupts the reading
        of a result, the next call continues it.
        """
        return self._kept.popleft() if self._kept else self._take()

    def cancel(self, core: int) -> None:
        """End the command that runs on the core: its completion has the error CANCELLED.

        If it has ended in the meantime, its completion is unaffected; without a command nothing
        happens. ValueError: there is no such core.
        """
        self._check_core(core)
        if not self.notice_reset():
            self._select(core)
            self._write(registers.CANCEL, 0)

    def wait(self, timeout: float | None = None) -> None:
        """Return when there is a completion, and at once if no core is occupied.

        `timeout` and InterruptTimeout are as in `Device.wait_interrupt`. This also waits for
        commands that a reset of the device has ended, unless `notice_reset` has detected it.
        """
        if self._running and not self._kept:
            self._device.wait_interrupt(timeout)

    def time(self) -> int:
        """Clock cycles since the device's reset, modulo 2**32."""
        return self._read(registers.TIME)

    def wipe(self, core: int) -> None:
        """Start overwriting a core's memory, and forget its contents; raises as `start` does."""
        self.start(core, _WIPE)

    def wipe_all(self, cores: Iterable[int] | None = None, *, timeout: float | None = None) -> None:
        """Overwrite the memories of these cores (None: of all) and wait for the end.

        Completions of other cores that arrive meanwhile are kept for `completion`.

        Raises
        ------
        ValueError: there is no such core
        EngineError: BUSY: one of them is occupied, none was wiped; others: a core failed to wipe
        InterruptTimeout: a core did not end in `timeout` seconds; its completion is outstanding
        DeviceError: the device was reset meanwhile, so memories may not have been wiped
        """
        left = set(range(self.cores) if cores is None else cores)
        for core in left:
            self._check_core(core)
        if left & self.occupied:
            raise self._error(Error.BUSY)
        resets = self.resets
        for core in sorted(left):
            self.wipe(core)
        failed: Completion | None = None
        while left:
            completion = self._take()
            if completion is None:
                if self.notice_reset() or self.resets != resets:
                    raise DeviceError("the device was reset while its cores were wiped")
                self._device.wait_interrupt(timeout)
            elif completion.core in left:
                left.remove(completion.core)
                failed = completion if completion.error else failed
            else:
                self._kept.append(completion)
        if failed is not None:
            raise self.error_of(failed)

    def holds(self, core: int, job: Job) -> bool:
        """Whether the core already holds all operands of the job's modulus or private key."""
        return self._holds_modulus(job, self._memories[core])

    def forget(self, core: int) -> None:
        """Load everything again with this core's next command. ValueError: no such core."""
        self._check_core(core)
        self._memories[core].forget()

    def notice_reset(self) -> bool:
        """Whether the device was reset since the last call; `start` and `cancel` call this too.

        If so, nothing is loaded, and commands that were running produce no completion. At most one
        core is occupied, by a command that was being started at that time.
        """
        if self._read(registers.INTERRUPT_ENABLE):
            return False
        self.resets += 1
        for memory in self._memories:
            memory.forget()
        self._running.clear()
        self._words.clear()
        self._selected = None
        self._enable_interrupt()
        word = self._read(registers.CORE)
        if registers.CORE["OCCUPIED"].of(word):  # a command was being started
            self._running[registers.CORE["NUMBER"].of(word)] = _WIPE, 0
        return True

    def error_of(self, completion: Completion) -> Exception:
        """The exception for a completion with an error: EngineError, or DeviceError."""
        return self._exception(completion.error, f"core {completion.core} ended with")

    # Accesses

    def _take(self) -> Completion | None:
        word = self._read(registers.COMPLETION)
        if not registers.COMPLETION["VALID"].of(word):
            return None
        core = registers.COMPLETION["CORE"].of(word)
        code = registers.COMPLETION["ERROR"].of(word)
        value = None
        if not code:
            count = (
                registers.RESULT_LENGTH["BYTES"].of(self._read(registers.RESULT_LENGTH)) + 3
            ) // 4
            while len(self._words) < count:  # each word can be read once
                self._words.append(self._read(registers.RESULT))
            if count:
                value = value_of(self._words)
        residue = self._read(registers.RESIDUE) if self.checked else 0
        self._write(registers.NEXT, 0)
        self._words.clear()
        job, x = self._running.pop(core, (_WIPE, 0))
        if not code and not self._is_sound(job, x, value, residue):
            code, value = Error.FAULT, None
        if code and core < self.cores:
            self._memories[core].forget()
        predicted = None
        if value is not None and job is not _WIPE:
            predicted = self._predicted(self._predict, job, x)
        return Completion(core, _ERRORS.get(code, code), value, predicted)

    def _is_sound(self, job: Job, x: int, value: int | None, residue: int) -> bool:
        """Whether the core has checked this result, for the job and the x that were sent to it.

        Otherwise a bit has changed in a transfer, or the result is of another command.
        """
        if not self.checked or not job.command.operation.has_check:
            return True
        if value is None:
            return False
        return self.is_sound(job, value, x, residue)

    def _enable_interrupt(self) -> None:
        self._write(registers.INTERRUPT_ENABLE, registers.INTERRUPT_ENABLE["DONE"].mask)

    def _select(self, core: int) -> None:
        if self._selected != core:
            self._selected = None
            self._write(registers.CORE, core)
            self._selected = core

    def _raise_refusal(self) -> None:
        code = registers.ERROR["REFUSAL"].of(self._read(registers.ERROR))
        if code:
            raise self._exception(code, "an access was refused with")

    def _exception(self, code: int, what: str) -> Exception:
        if code in _ERRORS:
            return self._error(_ERRORS[code])
        return DeviceError(f"{what} error {code}, which does not exist")

    def _check_core(self, core: int) -> None:
        if isinstance(core, bool) or not isinstance(core, int):
            raise TypeError(f"core must be an int, not {core!r}")
        if core not in range(self.cores):
            raise ValueError(f"core must be in 0..{self.cores - 1}, not {core}")
