"""An operation on numbers, on an accelerator or a cluster, and what an application gets."""

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

from coprime.bus import cluster_registers, registers
from coprime.catalog import CLUSTER, Choice, ClusterChoice
from coprime.device.accelerator import Accelerator
from coprime.device.base import Device, DeviceError
from coprime.device.cluster import Cluster
from coprime.device.faulty import FaultyDevice
from coprime.device.jobs import EngineDriver
from coprime.engine.contract import Command
from coprime.flow.parts import accelerator_verilog, cluster_verilog
from coprime.rsa.keys import RsaPrivateKey
from coprime.runs.execution import execute, predict_operation
from coprime.runs.numbers import Operands, expected_result, random_operands

from .another_key import difference_of_keys
from .fault_kinds import FaultKind
from .nonces import KNOWN_BITS, key_follows
from .subject import ACCESS_LIMIT, ANOTHER_SEED, RANDOM_BYTES, Judgement, Outcome

_OF_A_MESSAGE = {
    "ECDSA_SIGN": {"z"},
    "ECDSA_SIGN_WITH": {"z", "k"},
    "ED_FINISH": {"r", "h"},
}
"""The inputs that differ from signature to signature of a key."""


@dataclass(frozen=True)
class NumberSubject:
    """A Subject: an operation on one accelerator, with a key or operands, input and random bytes.

    All of these are drawn from a seed.

    Raises ValueError as `random_operands`, and for a second operation of one that has none.
    """

    choice: Choice | ClusterChoice  # what is built
    command: Command  # one that has a result
    bits: int  # length of the modulus
    seed: int  # of everything that is drawn
    draw: int = 0
    """Which random bytes the hardware gets of that seed: another operation of the same key."""
    number: int | None = None
    """1 for the first operation of a key, after one of another key; 2 for its second, of another
    input; None for 1 on curves, and 2 otherwise."""

    start: ClassVar[int] = registers.COMMAND.address
    step_registers: ClassVar[Sequence[str]] = (
        *("program_memory.pc", "current_context.current", "front_end.control.fsm_state"),
    )
    classes: ClassVar[Sequence[str]] = ("reveals", "another_input")

    def __post_init__(self) -> None:
        on_curve = self.command.operation.on_curve
        if self.number == 2 and on_curve and self.command.name not in _OF_A_MESSAGE:
            raise ValueError(
                f"{self.command.name} keeps nothing of a key for its second operation; choose"
                " --operation-number 1"
            )
        _ = self.operands

    @property
    def engine(self) -> Choice:
        """The family and parameters of the engine."""
        return self.choice.core

    @property
    def name(self) -> str:
        """The family, or `cluster`."""
        return CLUSTER if isinstance(self.choice, ClusterChoice) else self.choice.family.name

    @property
    def values(self) -> Mapping[str, Any]:
        """The parameters of the design."""
        return self.choice.values

    @property
    def operation(self) -> str:
        """The command's name."""
        return self.command.name

    @property
    def size(self) -> Mapping[str, Any]:
        """The length."""
        return {"bits": self.bits}

    @property
    def title(self) -> str:
        """What is run on what, in words."""
        return f"{self.command.name} of {self.bits:,} bits on {self.name}"

    @property
    def predicted_cycles(self) -> int:
        """In which the engine works, by its model."""
        return predict_operation(self.engine.design, self.command, self.operands).cycles

    @cached_property
    def operands(self) -> Operands:
        """What the operation works on."""
        own = self.engine.design.capabilities
        return random_operands(self.command, self.bits, self.seed, modulus=own.fixed_modulus)

    @cached_property
    def _before(self) -> Operands:
        drawn, generator = self.operands, random.Random(f"{self.seed} before")
        on_curve = self.command.operation.on_curve
        if self.number == 1 or (on_curve and self.number is None):
            own = self.engine.design.capabilities
            another = self.seed + ANOTHER_SEED
            return random_operands(self.command, self.bits, another, modulus=own.fixed_modulus)
        if on_curve:
            return self._with_other_message(generator)
        return drawn.with_(x=generator.randrange(drawn.modulus))

    def _with_other_message(self, generator: random.Random) -> Operands:
        """Of a signature, with the same key."""
        n = self.operands.numbers["n"]
        names = sorted(_OF_A_MESSAGE[self.command.name])
        return self.operands.with_(**{name: generator.randrange(1, n) for name in names})

    @property
    def counters(self) -> Sequence[str]:
        """One name; none of hardware for a single modulus, which has no program."""
        program = self.engine.design.capabilities.fixed_modulus is None
        return ["program_memory.pc"] if program else []

    @property
    def kinds(self) -> Sequence[FaultKind]:
        """The faults that the hardware can have."""
        return [kind for kind in FaultKind if self.counters or kind is not FaultKind.SKIP]

    @property
    def checked(self) -> bool:
        """Whether the hardware promises that a wrong result of this operation is never read."""
        return self.command in self.engine.design.capabilities.with_check

    @property
    def expected(self) -> int | None:
        """The right result, by Python's integers; None if it depends on what is drawn."""
        if self._draws:
            return None
        half_bits = self.engine.design.capabilities.half_bits
        return expected_result(self.command, self.operands, half_bits=half_bits)[0]

    @property
    def _draws(self) -> bool:
        return self.command.operation.is_right is not None

    def is_right(self, result: int) -> bool:
        """Whether it is the right number, or a valid signature."""
        return self.is_signature(result) if self._draws else result == self.expected

    def judge(self, result: int, before: int, others: Callable[[], Iterable[int]]) -> Judgement:
        """As of Subject: a signature with another nonce is as good unless that one follows."""
        if self.is_signature(result):
            follows = self.nonce_follows(result, before) or self.key_follows(
                [result, *filter(self.is_signature, others())]
            )
            return Judgement(reveals=True) if follows else Judgement(Outcome.RIGHT)
        return Judgement(
            reveals=self.reveals(result), another_input=self.is_of_another_input(result)
        )

    def another_draw(self, number: int) -> Self:
        """The same with other nonces."""
        return replace(self, draw=number)

    def text(self, result: int) -> str:
        """In hexadecimal digits."""
        return f"{result:x}"

    def is_signature(self, value: int) -> bool:
        """Whether a result of an operation that draws a nonce is right, with any nonce."""
        own = self.command.operation
        return own.is_right is not None and own.is_right(self._pair(value), **self.operands.numbers)

    def _pair(self, value: int) -> tuple[int, int]:
        upper, lower = divmod(value, 1 << self.engine.design.capabilities.half_bits)
        return lower, upper

    def _nonce(self, operands: Operands, value: int) -> int:
        """Of a signature, by the private key."""
        (r, s), own = self._pair(value), operands.numbers
        return (own["z"] + r * own["d"]) * pow(s, -1, own["n"]) % own["n"]

    def nonce_follows(self, value: int, before: int) -> bool:
        """Whether a signature's nonce, or a part of it that a lattice needs, is no secret.

        That is so if its highest or its lowest 16 bits are all the same, and if it is that of the
        signature `before`, or its negative.
        """
        n = self.operands.numbers["n"]
        nonce, last = self._nonce(self.operands, value), self._nonce(self._before, before)
        length, ones = n.bit_length() - KNOWN_BITS, (1 << KNOWN_BITS) - 1
        ends = {one >> length for one in (nonce, n - nonce)} | {nonce & ones}
        return not ends.isdisjoint({0, ones}) or nonce in (last, n - last)

    def key_follows(self, values: Sequence[int]) -> bool:
        """Whether the private key follows from signatures, of one fault on different draws."""
        own = self.operands.numbers
        return key_follows([self._pair(one) for one in values], own["z"], own["d"], own["n"])

    @property
    def command_line(self) -> str:
        """The command that assesses it, without options for its faults."""
        return (
            f"{self.choice.command('assess faults')} --operation {self.command.name}"
            f" --bits {self.bits} --seed {self.seed}{self._number_option}"
        )

    @property
    def _number_option(self) -> str:
        return "" if self.number is None else f" --operation-number {self.number}"

    def verilog(self) -> str:
        """Verilog of the whole design."""
        return accelerator_verilog(self.engine)

    def open(self) -> FaultyDevice:
        """Simulate the whole design. Raises as FaultyDevice."""
        device = FaultyDevice(self.verilog(), self.choice.module_name, access_limit=ACCESS_LIMIT)
        text = f"{self.seed} random bytes" + (f" {self.draw}" if self.draw else "")
        device.give_random(random.Random(text).randbytes(RANDOM_BYTES))
        return device

    def prepare(self, device: Device) -> tuple[EngineDriver, int]:
        """A driver that has given the result of an unrelated input, and that result.

        What is left of it is wrong for the operation.
        """
        accelerator = Accelerator(device)
        return accelerator, execute(accelerator, self.command, self._before).value

    def operate(self, driver: EngineDriver) -> int:
        """What the driver then gives to an application. Raises what the driver raises."""
        assert isinstance(driver, Accelerator)
        return execute(driver, self.command, self.operands).value

    def reveals(self, value: int) -> bool:
        """Whether a wrong result of RSA_PRIVATE or of ECDSA gives the key away.

        That is so if value^e - x has a factor in common with the modulus, but not all of it; and if
        a signature is valid for another key, of which the difference can be found.
        """
        if self._key is None:
            return self._is_of_near_key(value)
        e, n = self._key.e, self._key.n
        return 1 < math.gcd(pow(value, e, n) - self.operands.x, n) < n

    def _is_of_near_key(self, value: int) -> bool:
        own = self.operands.numbers
        names = ("z", "d", "gx", "gy", "a", "b", "p", "n")
        if not self._draws or not own.keys() >= set(names):
            return False
        numbers = {name: own[name] for name in names}
        return difference_of_keys(self._pair(value), **numbers) is not None

    def is_of_another_input(self, value: int) -> bool:
        """Whether a wrong result of RSA_PRIVATE is right for an input nearly like this one.

        They differ in no more than 32 bits beside each other, as after a fault in the input.
        """
        if self._key is None:
            return False
        difference = pow(value, self._key.e, self._key.n) ^ self.operands.x
        return bool(difference) and difference // (difference & -difference) < 1 << 32

    @property
    def _key(self) -> RsaPrivateKey | None:
        key = self.operands.key
        return key if isinstance(key, RsaPrivateKey) else None


class ClusterSubject(NumberSubject):
    """The same on the last core of a cluster, while the first one works on another input.

    What an application gets is the value of that core's completion.
    """

    start = cluster_registers.COMMAND.address

    def verilog(self) -> str:
        """Verilog of the whole design."""
        assert isinstance(self.choice, ClusterChoice)
        return cluster_verilog(self.choice)

    def prepare(self, device: Device) -> tuple[EngineDriver, int]:
        """As of NumberSubject: the cluster's driver, and the last core's result."""
        cluster = Cluster(device)
        self._submit(cluster, cluster.cores - 1, self._before)
        return cluster, self._completion_of(cluster, cluster.cores - 1)

    def operate(self, driver: EngineDriver) -> int:
        """As of NumberSubject."""
        assert isinstance(driver, Cluster)
        last = driver.cores - 1
        if last:
            self._submit(driver, 0, self._before)
        self._submit(driver, last, self.operands)
        return self._completion_of(driver, last)

    def _submit(self, cluster: Cluster, core: int, operands: Operands) -> None:
        job = operands.given_to(
            self.command,
            private=lambda key, x: cluster.private_job(key, x),
            public=lambda n, e, x: cluster.public_job(n, e, x),
            numbers=cluster.operation_job,
        )
        cluster.start(core, job, operands.x)

    def _completion_of(self, cluster: Cluster, core: int) -> int:
        while (done := cluster.completion()) is None or done.core != core:
            if done is None:
                cluster.wait()
        if done.error:
            raise cluster.error_of(done)
        if done.value is None:
            raise DeviceError("the core ended without an error and without a result")
        return done.value
