"""Traces of calls on byte strings: what is drawn for each of them."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from coprime.calls.interface import NamesSteps, Values
from coprime.device.calls import CallAccelerator
from coprime.flow.parts import accelerator_verilog

from .call_subject import CallSubject
from .places import Place, Places, watch
from .power import PowerDevice
from .traces import DrawnTrace

NOTHING = "nothing"
"""A test that is a control, in which nothing must be found."""
_RANDOM_BYTES = 4096
"""For a call: more than it takes."""


@dataclass(frozen=True)
class CallTraces:
    """A TraceSource: a call with inputs in slots, on one accelerator.

    The slot that is tested is fixed in one group. In both groups the inputs before it, in the order
    of `Call.redraws`, are fixed, and those after it are random: a ciphertext is tested with one
    key, and a key with ciphertexts for it. In a control all inputs but the first one are random.
    """

    subject: CallSubject
    test: str = NOTHING  # name of a slot, or NOTHING

    @property
    def seed(self) -> int:
        """Of all draws."""
        return self.subject.seed

    @property
    def settings(self) -> Mapping[str, Any]:
        """As of TraceSource."""
        subject = self.subject
        return {
            "family": subject.name,
            "parameters": dict(subject.values),
            "operation": subject.operation,
            "parameter_set": subject.parameter_set,
            "test": self.test,
            "seed": subject.seed,
        }

    @property
    def title(self) -> str:
        """What is run on what, in words."""
        return self.subject.title

    @property
    def command_line(self) -> str:
        """The command that assesses it, without options for its traces."""
        return f"{self.subject.command('assess leakage')} --test {self.test}"

    @property
    def module_name(self) -> str:
        """The module of `verilog`."""
        return self.subject.choice.module_name

    @property
    def predicted_cycles(self) -> int:
        """Of the fixed inputs."""
        return self.subject.predicted_cycles

    @property
    def varies(self) -> bool:
        """Whether the cycles depend on more than lengths."""
        return bool(self.subject.call.varies)

    def verilog(self) -> str:
        """Of the whole design."""
        return accelerator_verilog(self.subject.choice)

    def check(self) -> None:
        """Raise ValueError unless the call has inputs that vary, and the one that is tested."""
        call, names = self.subject.call, self._inputs
        if not names:
            raise ValueError(
                f"{call.name} on {self.subject.name} has no inputs in slots that vary by themselves"
            )
        if self.test not in (*names, NOTHING):
            raise ValueError(
                f"{call.name} has no input {self.test!r}: choose --test {', '.join(names)} or"
                f" {NOTHING}"
            )

    @cached_property
    def reference(self) -> DrawnTrace:
        """What the trace follows from that others are compared with."""
        return DrawnTrace(True, self.subject.inputs, self._random_bytes("reference"))

    def draw(self, number: int) -> DrawnTrace:
        """What the trace of this number follows from."""
        generator = random.Random(f"{self.seed} {number}")
        fixed = bool(generator.getrandbits(1))
        names = self._inputs
        place = 0 if self.test == NOTHING else names.index(self.test)
        if fixed or self.test == NOTHING:
            place += 1
        values = dict(self.subject.inputs)
        for name in names[place:]:
            redraw = self.subject.call.redraws[name]
            values |= redraw(self.subject.parameter_set, generator, values)
        return DrawnTrace(fixed, values, self._random_bytes(str(number)))

    def _random_bytes(self, name: str) -> bytes:
        return random.Random(f"{self.seed} bytes {name}").randbytes(_RANDOM_BYTES)

    def input_bytes(self, values: Values) -> bytes:
        """What is tested; of a control the last input."""
        return values[self._inputs[-1] if self.test == NOTHING else self.test]

    def driver(self, device: PowerDevice) -> Callable[[DrawnTrace], Values]:
        """As of TraceSource; a call's streams are sent after its start, which no trace may have."""
        subject = self.subject

        def run(drawn: DrawnTrace) -> Values:
            accelerator = CallAccelerator(device, subject.interface)
            done = accelerator.call(
                subject.operation, drawn.values, parameter_set=subject.parameter_set
            )
            return done.outputs

        return run

    def is_right(self, result: Values) -> bool:
        """Whether it is the reference's."""
        return dict(result) == dict(self.subject.expected.outputs)

    def places(self, device: PowerDevice, run: Callable[[], object], first: int) -> Places:
        """What each side of the engine executes, by the registers that hold its instructions."""
        design = self.subject.design
        names = design.step_names if isinstance(design, NamesSteps) else {}
        registers = device.registers.values()
        found = {
            end: next(candidate for candidate in registers if candidate.name.endswith(f".{end}"))
            for end in names
        }
        values = watch(device, list(found.values()), run, first)
        lanes = []
        for (end, register), of_register in zip(found.items(), values, strict=True):
            path = register.name.removesuffix(end.partition(".")[2])
            lanes.append((path, [Place(value, names[end](value)) for value in of_register]))
        return Places(lanes or [("", [Place(0, "call")] * len(device.trace))])

    @property
    def _inputs(self) -> Sequence[str]:
        """Names of the inputs that can be drawn again."""
        return list(self.subject.call.redraws)
