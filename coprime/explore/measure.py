"""One measurement: an operation in simulation, or a design's area and clock."""

import random
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from coprime.catalog import CLUSTER, Choice, ClusterChoice
from coprime.cells.target import Target
from coprime.device.accelerator import Accelerator, Result
from coprime.device.simulated import SimulatedDevice
from coprime.engine.contract import Command
from coprime.flow.ecp5 import DEFAULT_DEVICE, device_name, map_ecp5, route_ecp5
from coprime.flow.package import PARTS, accelerator_verilog, measured_verilog, part_verilog
from coprime.flow.unit_gate import estimate
from coprime.flow.xc7 import map_xc7
from coprime.padding.scheme import Padding
from coprime.rsa import keys

__all__ = [
    "Area",
    "GateRecord",
    "Operands",
    "Run",
    "WorstCaseNumbers",
    "estimate_gates",
    "expected_result",
    "measure_area",
    "open_simulation",
    "random_operands",
    "run_on",
    "run_operation",
]

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Operands:
    """What an operation works on: raw integers, or a key and an input; the repr shows no secret."""

    x: int = field(repr=False)
    y: int = field(default=0, repr=False)
    e: int = field(default=0, repr=False)
    m: int = 0
    key: keys.RsaPrivateKey | keys.RsaPublicKey | None = None

    def given_to(
        self,
        command: Command,
        *,
        private: Callable[[keys.RsaPrivateKey, int], Answer],
        public: Callable[[int, int, int], Answer],
        modexp: Callable[[int, int, int], Answer],
        modmul: Callable[[int, int, int], Answer],
    ) -> Answer:
        """Call the command's function: private(key, x), public(n, e, x), modexp(x, e, m) or
        modmul(x, y, m).

        A key comes before e and m. ValueError for RSA_PRIVATE without a private key.
        """
        if command is Command.RSA_PRIVATE:
            if not isinstance(self.key, keys.RsaPrivateKey):
                raise ValueError("RSA_PRIVATE needs a private key")
            return private(self.key, self.x)
        e, m = (self.e, self.m) if self.key is None else (self.key.e, self.key.n)
        if command is Command.RSA_PUBLIC:
            return public(m, e, self.x)
        if command is Command.MODEXP:
            return modexp(self.x, e, m)
        return modmul(self.x, self.y, m)


@dataclass(frozen=True)
class WorstCaseNumbers:
    """Two primes with exponents of nothing but ones, as the papers count their worst case.

    No public exponent belongs to them, so `e` is 0, and hardware that checks a private operation
    refuses them. The result is known from its two residues.
    """

    n: int
    d: int
    p: int
    q: int
    dp: int
    dq: int
    e: int = 0

    @classmethod
    def of_length(cls, bits: int, seed: int = 1) -> "WorstCaseNumbers":
        """For a modulus of `bits` bits, 64 or more."""
        key = keys.generate(bits, seed=seed)
        dp, dq = ((1 << prime.bit_length()) - 1 for prime in (key.p, key.q))
        return cls(key.n, (1 << bits) - 1, key.p, key.q, dp, dq)

    def private(self, x: int) -> int:
        """x^dp mod p and x^dq mod q, recombined modulo n."""
        p_part, q_part = pow(x, self.dp, self.p), pow(x, self.dq, self.q)
        coefficient = pow(self.q, -1, self.p)
        return (q_part + self.q * ((p_part - q_part) * coefficient % self.p)) % self.n


@dataclass(frozen=True)
class Run:
    """An operation that was run in simulation; field names are those of `run --json`."""

    family: str
    parameters: Mapping[str, int | str]
    operation: str
    bits: int
    result: int
    ok: bool
    """The result equals Python's."""
    cycles: int
    predicted_cycles: int
    utilization: float
    """Part of the cycles in which the multiplier did a product that the algorithm needs."""
    seconds: float
    """Wall time of the operation with its loading."""
    cycles_per_second: float
    """Clock cycles that the simulation did in a second."""

    def record(self) -> dict[str, object]:
        """The fields as JSON has them, the result in hex."""
        return self.__dict__ | {"parameters": dict(self.parameters), "result": f"{self.result:x}"}


@dataclass(frozen=True)
class Area:
    """A mapped design; field names are those of `synth --json`. `fmax_mhz` needs routing."""

    family: str
    parameters: Mapping[str, int | str]
    part: str
    target: str
    device: str
    lut: int
    lutram: int
    ff: int
    carry: int
    dsp: int
    bram: float
    slices_estimate: int
    fmax_mhz: float | None
    critical_path: str | None
    tools: Mapping[str, str]

    def record(self) -> dict[str, object]:
        """The fields as JSON has them."""
        return self.__dict__ | {"parameters": dict(self.parameters), "tools": dict(self.tools)}


def open_simulation(
    choice: Choice,
    *,
    target: Target = Target.GENERIC,
    trace: Path | None = None,
    paddings: Collection[Padding] = (),
) -> SimulatedDevice:
    """Simulate the accelerator that `coprime build` writes."""
    verilog = accelerator_verilog(choice, target, paddings=paddings)
    return SimulatedDevice(verilog, choice.module_name, trace=trace)


def random_operands(
    command: Command, bits: int, seed: int, *, modulus: int | None = None
) -> Operands:
    """Operands of a length from a seed: a modulus with its top bit set, or a key.

    With a `modulus` they are below that one. The key of a seed is no secret: for measurements only.
    Raises ValueError for a length outside 2..65535 bits, under 64 for a key, or not the modulus's.
    """
    if modulus is not None and modulus.bit_length() != bits:
        raise ValueError(f"the modulus has {modulus.bit_length()} bits, and not {bits}")
    generator = random.Random(seed)
    if command is Command.RSA_PRIVATE:
        key = keys.generate(bits, seed=seed)
        return Operands(generator.randrange(key.n), key=key)
    if not 2 <= bits <= keys.MAX_BITS:
        raise ValueError(f"bits must be in 2..{keys.MAX_BITS}, not {bits}")
    m = modulus or generator.getrandbits(bits) | 1 << (bits - 1) | 1
    e = 65537 if command is Command.RSA_PUBLIC else generator.getrandbits(bits) | 1 << (bits - 1)
    return Operands(generator.randrange(m), generator.randrange(m), e, m)


def run_operation(
    choice: Choice,
    command: Command,
    operands: Operands,
    *,
    trace: Path | None = None,
    progress: Callable[[int], None] | None = None,
    paddings: Collection[Padding] = (),
) -> Run:
    """Run one operation in simulation, and compare it with Python's integers.

    The operation is without padding, also where the hardware has `paddings`. `progress` is told
    clock cycles as they pass. Raises EngineError if the hardware refuses.
    """
    design = choice.design
    with open_simulation(choice, trace=trace, paddings=paddings) as device:
        device.progress = progress
        accelerator = Accelerator(device, predict=design.predict)
        start, before = time.perf_counter(), device.cycles
        result = run_on(accelerator, command, operands)
        seconds, clock = time.perf_counter() - start, device.cycles - before
    expected, bits = expected_result(command, operands)
    assert result.predicted_cycles is not None
    return Run(
        family=choice.family.name,
        parameters=choice.values,
        operation=command.name,
        bits=bits,
        result=result.value,
        ok=result.value == expected,
        cycles=result.cycles,
        predicted_cycles=result.predicted_cycles,
        utilization=result.utilization,
        seconds=seconds,
        cycles_per_second=clock / seconds,
    )


def expected_result(command: Command, own: Operands) -> tuple[int, int]:
    """What Python's integers say that the result is, and the modulus's length in bits."""
    return own.given_to(
        command,
        private=lambda key, x: (pow(x, key.d, key.n), key.bits),
        public=lambda n, e, x: _power(x, e, n),
        modexp=_power,
        modmul=lambda x, y, m: (x * y % m if m else 0, m.bit_length()),
    )


def _power(x: int, e: int, m: int) -> tuple[int, int]:
    return pow(x, e, m) if m else 0, m.bit_length()


def run_on(accelerator: Accelerator, command: Command, own: Operands) -> Result:
    """Load what the command needs, and run it. Raises EngineError if the hardware refuses."""

    def private(key: keys.RsaPrivateKey, x: int) -> Result:
        accelerator.load_private(key)
        return accelerator.private(x)

    def public(n: int, e: int, x: int) -> Result:
        accelerator.load_public(n, e)
        return accelerator.public(x)

    return own.given_to(
        command,
        private=private,
        public=public,
        modexp=accelerator.modexp,
        modmul=accelerator.modmul,
    )


def measure_area(
    choice: Choice | ClusterChoice,
    target: Target,
    *,
    part: str | None = None,
    route: bool = False,
    device: str = DEFAULT_DEVICE,
    paddings: Collection[Padding] = (),
) -> Area:
    """Map a part of a design to a target; on ecp5, place and route it.

    `part` is one of `coprime.flow.package.PARTS`, None is the engine; a cluster is mapped as a
    whole, its node and its front end once each. `device` is one of `coprime.flow.ecp5.DEVICES`;
    `paddings` are those of the accelerator.
    Raises ValueError for another part or device, for a target without mapping, or for routing on
    another than ecp5; ToolError if the design does not fit the device.
    """
    if target is Target.GENERIC:
        raise ValueError("target must be xc7 or ecp5: generic Verilog has no area")
    if route and target is not Target.ECP5:
        raise ValueError(f"place and route knows ecp5 only, not {target.value}")
    device_name(device)  # before the minutes that mapping may take
    if isinstance(choice, ClusterChoice):
        if part is not None:
            raise ValueError(f"a cluster is measured as a whole: leave out the part {part}")
        family, part = CLUSTER, CLUSTER
    else:
        family, part = choice.family.name, part or PARTS[0]
    verilog, top, repeated = measured_verilog(choice, part, target, paddings)
    map_to = map_xc7 if target is Target.XC7 else map_ecp5
    mapped = map_to(verilog, top, repeated=repeated)
    routed = route_ecp5(verilog, top, device=device, repeated=repeated) if route else None
    return Area(
        family=family,
        parameters=choice.values,
        part=part,
        target=target.value,
        device=routed.device if routed else mapped.device,
        lut=mapped.lut,
        lutram=mapped.lutram,
        ff=mapped.ff,
        carry=mapped.carry,
        dsp=mapped.dsp,
        bram=mapped.bram,
        slices_estimate=mapped.slices_estimate,
        fmax_mhz=routed.fmax_mhz if routed else None,
        critical_path=str(routed.critical_path) if routed else None,
        tools=routed.tools if routed else mapped.tools,
    )


@dataclass(frozen=True)
class GateRecord:
    """An engine in unit gates, as `coprime.flow.unit_gate` counts; `target` is "unit-gate"."""

    family: str
    parameters: Mapping[str, int | str]
    part: str
    target: str
    area: int
    delay: int
    flip_flops: int
    memory_bits: int
    tools: Mapping[str, str]

    def record(self) -> dict[str, object]:
        """The fields as JSON has them."""
        return self.__dict__ | {"parameters": dict(self.parameters), "tools": dict(self.tools)}


def estimate_gates(choice: Choice) -> GateRecord:
    """Count the engine's generic Verilog in unit gates; its multipliers are gates too."""
    gates = estimate(*part_verilog(choice, "engine"))
    return GateRecord(
        family=choice.family.name,
        parameters=choice.values,
        part="engine",
        target="unit-gate",
        area=gates.area,
        delay=gates.delay,
        flip_flops=gates.flip_flops,
        memory_bits=gates.memory_bits,
        tools=gates.tools,
    )
