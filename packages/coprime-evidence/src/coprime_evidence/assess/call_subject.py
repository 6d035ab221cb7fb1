"""A call of an engine of byte strings, and what an application gets: outputs, errors, secrets."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

from coprime.bus import registers
from coprime.calls.interface import (
    WORD_BYTES,
    Call,
    CallDesign,
    EngineInterface,
    OutputVerdict,
    Slot,
    Values,
)
from coprime.catalog import CallChoice
from coprime.device.base import Device, read_block
from coprime.device.calls import CallAccelerator
from coprime.device.faulty import FaultyDevice
from coprime.device.jobs import EngineError
from coprime.engine.capabilities import Error
from coprime.flow.parts import accelerator_verilog

from .fault_kinds import FaultKind
from .subject import ACCESS_LIMIT, ANOTHER_SEED, RANDOM_BYTES, Judgement, Outcome

SECRET_BYTES = 8
"""As many bytes of a secret in a row, where they were not asked for, reveal it."""
_WORDS = 4
"""Of each secret that cannot be read, so many are asked for after the call."""


@dataclass(frozen=True)
class CallAnswer:
    """What an application gets.

    Parameters
    ----------
    error : NONE, or that with which the call refuses these inputs without a fault, too
    outputs : by name; the repr does not show them
    leaks : whether slots that cannot be read gave bytes of secrets when they were asked
    """

    error: Error = Error.NONE
    outputs: Values = field(default_factory=dict, repr=False)
    leaks: bool = False


@dataclass(frozen=True)
class Client:
    """The driver, and the device, for accesses that no driver would make."""

    device: Device
    accelerator: CallAccelerator


@dataclass(frozen=True)
class CallSubject:
    """A Subject: a call on one accelerator, with inputs that are drawn from a seed, and loaded.

    After the call, with or without an error, the first words of each secret slot that cannot be
    read are asked for. A result is wrong if its outputs are, or if bytes of a secret are among
    these words.

    A wrong result reveals a secret if it has SECRET_BYTES in a row of one, of these inputs or the
    last ones, that are neither public nor asked for; if it gives zeros for a secret; and if it is
    that of refused inputs as if they were accepted (`InputRefusal`). `Call.judge` may say that a
    result is as good as the reference's, or that it reveals a secret, too.

    Raises ValueError for an unknown call or parameter set, and for `refused` of a call that accepts
    all inputs.
    """

    choice: CallChoice  # what is built
    operation: str  # the name of the call
    parameter_set: str
    seed: int  # of everything that is drawn
    refused: bool = False  # the inputs are some that the call must refuse
    draw: int = 0  # which random bytes the hardware gets of that seed

    start: ClassVar[int] = registers.COMMAND.address
    classes: ClassVar[Sequence[str]] = ("reveals", "refused")

    def __post_init__(self) -> None:
        call = self.call
        self.interface.check_set(call, self.parameter_set)
        if self.refused and call.refusal is None:
            raise ValueError(f"{self.operation} refuses no inputs that can be drawn")

    @cached_property
    def design(self) -> CallDesign:
        """The engine's design."""
        return self.choice.design

    @property
    def interface(self) -> EngineInterface:
        """Its slots and calls."""
        return self.design.interface

    @property
    def call(self) -> Call:
        """What is run."""
        return self.interface.named(self.operation)

    @property
    def name(self) -> str:
        """The family."""
        return self.choice.family.name

    @property
    def values(self) -> Mapping[str, Any]:
        """The parameters of the design."""
        return self.choice.values

    @property
    def size(self) -> Mapping[str, Any]:
        """The parameter set, and whether the inputs are refused ones."""
        return {"parameter_set": self.parameter_set, "refused_inputs": self.refused}

    @property
    def title(self) -> str:
        """What is run on what, in words."""
        of = f" of {self.parameter_set}" if self.parameter_set else ""
        refused = " with refused inputs" if self.refused else ""
        return f"{self.operation}{of}{refused} on {self.name}"

    @property
    def command_line(self) -> str:
        """The command that assesses it, without options for its faults."""
        return self.command("assess faults")

    def command(self, verb: str) -> str:
        """A command of this verb on it."""
        command = f"{self.choice.command(verb)} --operation {self.operation}"
        if len(self.interface.parameter_sets) > 1:
            command += f" --set {self.parameter_set}"
        return f"{command}{' --refused' if self.refused else ''} --seed {self.seed}"

    @property
    def counters(self) -> Sequence[str]:
        """Of the engine's programs."""
        return self.interface.program_counters

    @property
    def step_registers(self) -> Sequence[str]:
        """Program counters and states of all parts."""
        return (*self.counters, "fsm_state")

    @property
    def kinds(self) -> Sequence[FaultKind]:
        """The faults that the hardware can have."""
        return [kind for kind in FaultKind if self.counters or kind is not FaultKind.SKIP]

    @property
    def checked(self) -> bool:
        """Whether the hardware promises that wrong outputs of this call are never read."""
        return self.call.checked

    @property
    def predicted_cycles(self) -> int:
        """In which the engine works, by its model."""
        return self.design.predict(self.call, self.parameter_set, self.inputs).cycles

    # Values

    @cached_property
    def inputs(self) -> Values:
        """Those of the call that is assessed."""
        refusal = self.call.refusal
        draw = refusal.draw if self.refused and refusal else self.call.draw
        return draw(self.parameter_set, random.Random(self.seed))

    @cached_property
    def _before(self) -> Values:
        """Those of the call before it."""
        return self.call.draw(self.parameter_set, random.Random(self.seed + ANOTHER_SEED))

    @cached_property
    def expected(self) -> CallAnswer:
        """As the standard defines it; the error is the design's."""
        error = self.design.predict(self.call, self.parameter_set, self.inputs).error
        if error is not Error.NONE:
            return CallAnswer(error)
        return CallAnswer(
            outputs=self._asked_for(self.call.reference(self.parameter_set, self.inputs))
        )

    def _asked_for(self, outputs: Values) -> Values:
        slots = [self.interface.slot[name] for name in self.call.outputs]
        return {slot.name: outputs[slot.name] for slot in slots if slot.readable or slot.streamed}

    @property
    def _hidden(self) -> list[Slot]:
        """Secret slots that cannot be read."""
        slots = self.interface.slots
        return [slot for slot in slots if slot.secret and not slot.readable and not slot.streamed]

    @cached_property
    def _secrets(self) -> frozenset[bytes]:
        """All parts of secrets that nobody has asked for, SECRET_BYTES long."""
        secrets, known = set[bytes](), {bytes(SECRET_BYTES)}
        for inputs in (self.inputs, self._before):
            outputs = self.call.reference(self.parameter_set, inputs)
            asked_for = self._asked_for(outputs)
            for name, data in (*inputs.items(), *outputs.items()):
                public = not self.interface.slot[name].secret or name in asked_for
                (known if public else secrets).update(_parts(data))
        return frozenset(secrets - known)

    def has_secrets(self, data: bytes) -> bool:
        """Whether bytes have a part of a secret among them that was not asked for."""
        return not self._secrets.isdisjoint(_parts(data))

    # Runs

    def open(self) -> FaultyDevice:
        """Simulate the whole design. Raises as FaultyDevice."""
        verilog = accelerator_verilog(self.choice)
        device = FaultyDevice(verilog, self.choice.module_name, access_limit=ACCESS_LIMIT)
        text = f"{self.seed} random bytes {self.draw}"
        device.give_random(random.Random(text).randbytes(RANDOM_BYTES))
        return device

    def prepare(self, device: Device) -> tuple[Client, CallAnswer]:
        """As of Subject: the same call with other inputs."""
        client = Client(device, CallAccelerator(device, self.interface))
        return client, self._answer(client, self._before)

    def operate(self, driver: Client) -> CallAnswer:
        """As of Subject. Raises errors with which the call would not end without a fault."""
        return self._answer(driver, self.inputs)

    def _answer(self, client: Client, inputs: Values) -> CallAnswer:
        accelerator, failure = client.accelerator, None
        error, outputs = Error.NONE, dict[str, bytes]()
        try:
            result = accelerator.call(self.operation, inputs, parameter_set=self.parameter_set)
            outputs = dict(result.outputs)
        except EngineError as raised:
            error, failure = raised.code, raised
        leaks = self.has_secrets(self._ask_for_secrets(client.device))
        if failure is not None and error is not self.expected.error and not leaks:
            raise failure
        return CallAnswer(error, outputs, leaks)

    def _ask_for_secrets(self, device: Device) -> bytes:
        """The first words of all slots that must not be read."""
        words = []
        for slot in self._hidden:
            device.write32(registers.ERROR.address, 0)
            device.write32(registers.SLOT.address, slot.number)
            words += read_block(device, registers.DATA_WINDOW.address, _WORDS)
        return b"".join(word.to_bytes(WORD_BYTES, "little") for word in words)

    # Results

    def is_right(self, result: CallAnswer) -> bool:
        """Whether it is the standard's."""
        return result == self.expected

    def judge(
        self, result: CallAnswer, before: CallAnswer, others: Callable[[], Iterable[CallAnswer]]
    ) -> Judgement:
        """As of Subject: every result is wrong, unless the call says that it is as good."""
        refused, accepted = self._decisions
        verdict = self._verdict(result, before)
        return Judgement(
            Outcome.RIGHT if verdict.valid and not verdict.reveals else Outcome.WRONG,
            reveals=result.leaks
            or verdict.reveals
            or (result.error is Error.NONE and self.expected.error is not Error.NONE)
            or any(map(self.has_secrets, result.outputs.values()))
            or any(map(self._is_known, result.outputs, result.outputs.values()))
            or (self.refused and result.outputs == accepted),
            refused=not self.refused and result.outputs == refused,
        )

    def _verdict(self, result: CallAnswer, before: CallAnswer) -> OutputVerdict:
        """That of the call, on outputs other than the reference's that leave with nothing else."""
        judge = self.call.judge
        if judge is None or result.leaks or result.error is not Error.NONE:
            return OutputVerdict(valid=False, reveals=False)
        pairs = [(self.inputs, self.expected.outputs), (self._before, before.outputs)]
        return judge(self.parameter_set, self.inputs, result.outputs, pairs)

    def _is_known(self, name: str, data: bytes) -> bool:
        """Whether a secret is one that everybody knows: zeros."""
        return self.interface.slot[name].secret and bool(data) and not any(data)

    @cached_property
    def _decisions(self) -> Sequence[Values | None]:
        """What is read if the call refuses, and if it accepts; None where that is nothing."""
        refusal = self.call.refusal
        if refusal is None:
            return None, None
        every = (refusal.refused, refusal.accepted)
        found = [self._asked_for(case(self.parameter_set, self.inputs)) for case in every]
        return [asked or None for asked in found]

    def another_draw(self, number: int) -> Self:
        """The same with other random bytes."""
        return replace(self, draw=number)

    def text(self, result: CallAnswer) -> str:
        """Error or outputs, of secrets only how long they are."""
        parts = [
            f"{name}={f'{len(data)} bytes' if self.interface.slot[name].secret else data.hex()}"
            for name, data in result.outputs.items()
        ]
        return ", ".join(parts) if result.error is Error.NONE else result.error.name


def _parts(data: bytes) -> Iterable[bytes]:
    return (data[k : k + SECRET_BYTES] for k in range(len(data) - SECRET_BYTES + 1))
