"""Running calls of engines of byte strings in simulation, compared with their references."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random

from coprime.calls.interface import Call, Values
from coprime.catalog import CallChoice
from coprime.device.call_cores import CallCores
from coprime.device.call_scheduler import CallScheduler
from coprime.device.calls import CallAccelerator
from coprime.device.jobs import EngineError
from coprime.device.noise import NoiseModel
from coprime.device.simulated import SimulatedDevice, open_simulation
from coprime.device.source import AcceleratorSource
from coprime.engine.capabilities import Error
from coprime.model import trivium
from coprime.model.hash_drbg import HashDrbg
from coprime.random.kinds import RandomSource
from coprime.random.programs import SEED_LEAST
from coprime.random.seeder import START_SAMPLES, first_material
from coprime.random.steps import REQUEST_BYTES, WORD_BYTES

_FAST, _SLOW = 8, 50_000  # cycles from a sample of modelled noise to the next


@dataclass(frozen=True, kw_only=True)
class CallRun:
    """A call that was run in simulation; field names are those of `run --json`."""

    family: str
    parameters: Mapping[str, int | str]
    operation: str
    parameter_set: str
    outputs: Values = field(repr=False)
    """Those that can be read."""
    secret: frozenset[str]
    """Names of outputs whose values no report shows."""
    ok: bool  # every output equals the reference's
    cycles: int
    predicted_cycles: int
    utilization: float
    """Part of the cycles in which the units worked."""
    seconds: float  # wall time of the call with its transfers
    cycles_per_second: float  # simulated clock cycles a second

    def record(self) -> dict[str, object]:
        """The fields as JSON has them: outputs in hexadecimal digits, null for secrets."""
        outputs = {
            name: None if name in self.secret else data.hex() for name, data in self.outputs.items()
        }
        fields = {name: value for name, value in self.__dict__.items() if name != "secret"}
        return fields | {"parameters": dict(self.parameters), "outputs": outputs}


@dataclass(frozen=True, kw_only=True)
class CallsRun:
    """Calls that were run on several cores in simulation; field names are those of `run --json`."""

    family: str
    parameters: Mapping[str, int | str]
    operation: str
    parameter_set: str
    requests: int
    """How many calls."""
    ok: bool  # every output of each equals the reference's, and its cycles the prediction
    cycles: int
    """From the first access to the last one."""
    predicted_cycles: int
    """Sum of those in which the engines work, for each core."""
    busy: float
    """Part of the cycles in which each engine worked, on average."""
    calls_per_million_cycles: float
    seconds: float  # wall time
    cycles_per_second: float  # simulated clock cycles a second

    def record(self) -> dict[str, object]:
        """The fields as JSON has them."""
        return self.__dict__ | {"parameters": dict(self.parameters)}


def run_call(
    choice: CallChoice,
    call: Call,
    values: Values,
    *,
    parameter_set: str = "",
    seed: int = 1,
    trace: Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> CallRun:
    """Run one call, and compare its outputs with the reference.

    Inputs that are not in `values` are drawn from the seed. Of these the engine draws itself those
    that it can, from a random source that gives it the same bytes, or from one in the hardware
    that is seeded with bytes, or modelled noise, drawn from the seed, too. Raises EngineError,
    before anything is built, if the hardware would refuse.
    """
    design = choice.design
    interface = design.interface
    inputs = {**_drawn(call, parameter_set, seed, values), **values}
    drawn = [name for name in call.inputs if name in call.optional and name not in values]
    material = Random(seed).randbytes(SEED_LEAST * WORD_BYTES)
    noise = bytes(Random(seed).choices((0, 1), k=START_SAMPLES))
    if choice.source is RandomSource.TRNG:
        material = first_material(noise)
    # Masks take their seed before a call draws anything.
    of_masks = Random(seed).randbytes(trivium.SEED_BYTES if interface.masks else 0)
    if choice.source is not RandomSource.STREAM:
        source = _requests(material)
        of_masks = bytes(islice(source, len(of_masks)))
        inputs |= {name: bytes(islice(source, len(inputs[name]))) for name in drawn}
    random = of_masks + b"".join(inputs[name] for name in drawn)
    loaded = {name: inputs[name] for name in call.takes if name in inputs and name not in drawn}
    outcome = design.predict(call, parameter_set, loaded, random)
    if outcome.error is not Error.NONE:
        raise EngineError(outcome.error)
    with open_simulation(choice, trace=trace) as device:
        device.progress = progress
        device.give_random(random)
        driver = CallAccelerator(device, interface, entropy=lambda _: material)
        if choice.source is RandomSource.TRNG:
            seed_by_noise(device, noise)
        start, before = time.perf_counter(), device.cycles
        result = driver.call(call.name, loaded, parameter_set=parameter_set)
        seconds, clock = time.perf_counter() - start, device.cycles - before
    wanted = call.reference(parameter_set, inputs)
    return CallRun(
        family=choice.family.name,
        parameters=choice.values,
        operation=call.name,
        parameter_set=parameter_set,
        outputs=result.outputs,
        secret=frozenset(slot.name for slot in interface.slots if slot.secret),
        ok=all(data == wanted[name] for name, data in result.outputs.items()),
        cycles=result.cycles,
        predicted_cycles=outcome.cycles,
        utilization=result.utilization,
        seconds=seconds,
        cycles_per_second=clock / seconds,
    )


def seed_by_noise(device: SimulatedDevice, samples: bytes) -> None:
    """Let a TRNG seed itself with these START_SAMPLES samples, and hardly ever afterwards."""
    device.set_noise(NoiseModel(period=0))
    AcceleratorSource(device).restart()
    device.give_noise(samples)
    device.set_noise(NoiseModel(period=_FAST))
    device.run(_FAST * (START_SAMPLES + 1))
    device.set_noise(NoiseModel(period=_SLOW))


def _requests(material: bytes) -> Iterator[int]:
    """The bytes of the hardware's source, seeded with this material."""
    generator = HashDrbg(material)
    while True:
        yield from generator.generate(REQUEST_BYTES)


def run_calls(
    choice: CallChoice,
    call: Call,
    values: Values,
    *,
    requests: int,
    parameter_set: str = "",
    seed: int = 1,
    trace: Path | None = None,
    progress: Callable[[int], None] = lambda requests: None,
) -> CallsRun:
    """Run a call so many times on all cores, and compare outputs and cycles.

    Inputs that are not in `values` are drawn: those of the first call from `seed`, those of the
    next one from the number after it, and so on. All are loaded. `progress` is called with the
    number of calls that have finished since last time. Raises EngineError, before anything is
    built, if the hardware would refuse one.
    """
    design = choice.design
    work = [
        {**_drawn(call, parameter_set, seed + place, values), **values} for place in range(requests)
    ]
    outcomes = [design.predict(call, parameter_set, inputs) for inputs in work]
    for outcome in outcomes:
        if outcome.error is not Error.NONE:
            raise EngineError(outcome.error)
    with open_simulation(choice, trace=trace) as device:
        scheduler = CallScheduler(CallCores(device, design.interface))
        start, before = time.perf_counter(), device.cycles
        every = [
            scheduler.submit(call.name, inputs, parameter_set=parameter_set) for inputs in work
        ]
        for request in scheduler.completed():
            request.result  # noqa: B018 -- raises what went wrong
            progress(1)
        seconds, cycles = time.perf_counter() - start, device.cycles - before
    wanted = [call.reference(parameter_set, inputs) for inputs in work]
    predicted = sum(outcome.cycles for outcome in outcomes) // choice.cores
    return CallsRun(
        family=choice.family.name,
        parameters=choice.values,
        operation=call.name,
        parameter_set=parameter_set,
        requests=requests,
        ok=all(
            request.result.cycles == outcome.cycles
            and all(data == right[name] for name, data in request.result.outputs.items())
            for request, outcome, right in zip(every, outcomes, wanted, strict=True)
        ),
        cycles=cycles,
        predicted_cycles=predicted,
        busy=predicted / cycles,
        calls_per_million_cycles=1e6 * requests / cycles,
        seconds=seconds,
        cycles_per_second=cycles / seconds,
    )


def _drawn(call: Call, parameter_set: str, seed: int, given: Values) -> Values:
    """Inputs from the seed, but those that a given one is an alternative to."""
    pairs = [*call.alternatives, *((second, first) for first, second in call.alternatives)]
    replaced = {first for first, second in pairs if second in given}
    values = call.draw(parameter_set, Random(seed))
    return {name: value for name, value in values.items() if name not in replaced}
