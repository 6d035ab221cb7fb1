"""Running operations: in simulation, compared with Python's integers, or only predicted.

One accelerator runs one operation (`run_operation`); a cluster runs many at once (`run_cluster`).
`predict_operation` needs no hardware at all.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coprime.bus import registers
from coprime.bus.register_classes import Register
from coprime.bus.shared_registers import identity_fields
from coprime.catalog import CLUSTER, Choice, ClusterChoice
from coprime.device.accelerator import Accelerator, EngineError, Result
from coprime.device.base import Closing
from coprime.device.cluster import Cluster
from coprime.device.jobs import Job
from coprime.device.scheduler import Scheduler
from coprime.device.simulated import SimulatedDevice, open_cluster, open_simulation
from coprime.engine.contract import Capabilities, Command, Error, Operand
from coprime.engine.design import Design
from coprime.engine.outcome import Prediction
from coprime.operations.operation import Numbers
from coprime.padding.scheme import Padding


@dataclass(frozen=True, kw_only=True)
class Run:
    """An operation that was run in simulation; field names are those of `run --json`."""

    family: str
    parameters: Mapping[str, int | str]
    operation: str
    bits: int  # length of the modulus; of the longest one for a cluster
    result: int  # for a cluster, that of the first request
    outputs: Numbers  # the numbers in it, by their names
    ok: bool  # every result equals Python's
    cycles: int
    predicted_cycles: int
    utilization: float
    """Part of the cycles in which the multipliers did a product that the algorithm needs."""
    seconds: float  # wall time of the operation with its loading
    cycles_per_second: float  # simulated clock cycles a second

    def record(self) -> dict[str, object]:
        """The fields as JSON has them, the result in hex."""
        fields = {name: value for name, value in self.__dict__.items() if name != "outputs"}
        return fields | {"parameters": dict(self.parameters), "result": f"{self.result:x}"}


@dataclass(frozen=True, kw_only=True)
class ClusterRun(Run):
    """Requests that were run on a simulated cluster.

    `cycles` are from the first access for the first request to the last one for the last result;
    `predicted_cycles` are the engines' work, spread evenly over the cores: a lower bound.
    """

    requests: int
    busy: float  # predicted_cycles over cycles: the part of their time in which the engines worked


# --- One accelerator ----------------------------------------------------------------------------


def run_operation(
    choice: Choice,
    command: Command,
    numbers: Numbers,
    *,
    trace: Path | None = None,
    progress: Callable[[int], None] | None = None,
    paddings: Collection[Padding] = (),
) -> Run:
    """Run one operation in simulation, and compare it with Python's integers.

    The operation is without padding, also where the hardware has `paddings`. `progress` is called
    with clock cycles as they pass. Raises EngineError, before anything is built, if the hardware
    would refuse.
    """
    predicted = predict_operation(choice.design, command, numbers)
    with open_simulation(choice, trace=trace, paddings=paddings) as device:
        device.progress = progress
        return run_on(device, choice, command, numbers, predicted)


def run_on(
    device: SimulatedDevice,
    choice: Choice,
    command: Command,
    numbers: Numbers,
    predicted: Prediction,
) -> Run:
    """Run one operation on an open simulation of a design, of which this was predicted.

    Raises EngineError if the hardware refuses.
    """
    accelerator = Accelerator(device)
    start, before = time.perf_counter(), device.cycles
    result = accelerator.operate(command, numbers)
    seconds, clock = time.perf_counter() - start, device.cycles - before
    return Run(
        family=choice.family.name,
        parameters=choice.values,
        operation=command.name,
        bits=command.operation.encoding.modulus(numbers).bit_length(),
        result=result.value,
        outputs=result.outputs,
        ok=command.operation.accepts(numbers, result.outputs),
        cycles=result.cycles,
        predicted_cycles=predicted.cycles,
        utilization=result.utilization,
        seconds=seconds,
        cycles_per_second=clock / seconds,
    )


def predict_operation(design: Design, command: Command, numbers: Numbers) -> Prediction:
    """The prediction of the design's model, without hardware or simulation.

    Raises EngineError if the hardware would refuse.
    """
    accelerator = _PredictingAccelerator(design)
    accelerator.operate(command, numbers)
    return accelerator.prediction


class Identity(Closing):
    """Answers as an accelerator of these capabilities says what it is, and accepts all writes.

    Every command has ended at once, without a result.
    """

    def __init__(self, capabilities: Capabilities):
        fields: Mapping[Register, Mapping[str, int]] = {
            registers.IDENTIFICATION: {"ID": registers.IDENTIFICATION["ID"].reset or 0},
            **identity_fields(capabilities),
            registers.INTERRUPT_STATUS: {"DONE": 1},
        }
        self._words = {
            register.address: sum(value << register[name].offset for name, value in values.items())
            for register, values in fields.items()
        }

    def read32(self, address: int) -> int:
        """Read a register that never changes; others are 0."""
        return self._words.get(address, 0)

    def write32(self, address: int, value: int) -> None:
        """Accept a write."""

    def wait_interrupt(self, timeout: float | None = None) -> None:
        """Do not wait."""

    def close(self) -> None:
        """Nothing is open."""


class _PredictingAccelerator(Accelerator):
    """The driver, which makes the jobs, with a design's model in place of a device."""

    prediction: Prediction  # of the last command

    def __init__(self, design: Design):
        super().__init__(Identity(design.capabilities))
        self._design = design

    def _run(self, job: Job, x: int) -> Result:
        operands = {**job.operands, Operand.X: x}
        found = self.prediction = self._design.predict(job.command, operands, job.lengths)
        if found.error is not Error.NONE:
            raise EngineError(found.error)
        assert found.result is not None
        outputs = self.outputs(job.command, found.result)
        return Result(found.result, found.cycles, found.products, outputs=outputs)


# --- A cluster ----------------------------------------------------------------------------------


def run_cluster(
    choice: ClusterChoice,
    command: Command,
    work: Sequence[Numbers],
    *,
    trace: Path | None = None,
    progress: Callable[[int], None] = lambda requests: None,
) -> ClusterRun:
    """Run an operation on each of these operands, on all cores, and compare with Python's integers.

    `progress` is called with the number of requests that have finished since its last call. Raises
    EngineError, before anything is built, if the hardware would refuse one.
    """
    design = choice.core.design
    predictions = [predict_operation(design, command, numbers) for numbers in work]
    with open_cluster(choice, trace=trace) as device:
        # Python's integers check all results, of worst-case exponents, too, which have no e.
        scheduler = Scheduler(Cluster(device), check=False)
        start, before = time.perf_counter(), device.cycles
        requests = [scheduler.operate(command, numbers) for numbers in work]
        for request in scheduler.completed():
            request.result  # noqa: B018 -- raises what went wrong
            progress(1)
        seconds, cycles = time.perf_counter() - start, device.cycles - before
    results, operation = [request.result for request in requests], command.operation
    multipliers = design.capabilities.multipliers
    predicted = -(-sum(prediction.cycles for prediction in predictions) // choice.cores)
    products = sum(prediction.products for prediction in predictions)
    return ClusterRun(
        family=CLUSTER,
        parameters=choice.values,
        operation=command.name,
        bits=max(operation.encoding.modulus(numbers).bit_length() for numbers in work),
        requests=len(work),
        result=results[0].value,
        outputs=results[0].outputs,
        ok=all(
            operation.accepts(numbers, result.outputs)
            for numbers, result in zip(work, results, strict=True)
        ),
        cycles=cycles,
        predicted_cycles=predicted,
        busy=predicted / cycles,
        utilization=products / (cycles * choice.cores * multipliers),
        seconds=seconds,
        cycles_per_second=cycles / seconds,
    )
