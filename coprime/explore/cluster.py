"""One measurement of a cluster: many requests at once, in simulation."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coprime.catalog import CLUSTER, ClusterChoice
from coprime.device.cluster import Cluster
from coprime.device.scheduler import Scheduler
from coprime.device.simulated import SimulatedDevice
from coprime.engine.contract import Command, Operand
from coprime.flow.package import FRONT_END, NODE, cluster_verilog
from coprime.flow.simulation import Chain

from .measure import Operands, expected_result

__all__ = ["ClusterRun", "open_cluster", "predict_cluster", "run_cluster"]


@dataclass(frozen=True)
class ClusterRun:
    """Requests that were run on a simulated cluster; field names are those of `run --json`."""

    family: str
    parameters: Mapping[str, int | str]
    operation: str
    bits: int
    """Length of the longest modulus."""
    requests: int
    result: int
    """Of the first request."""
    ok: bool
    """Every result equals Python's."""
    cycles: int
    """From the first access for the first request to the last one for the last result."""
    predicted_cycles: int
    """What the engines work, spread evenly over the cores: the cycles that no cluster is under."""
    busy: float
    """predicted_cycles over cycles: the part of their time in which the engines worked."""
    utilization: float
    """Part of the cycles in which the multipliers did a product that the algorithm needs."""
    seconds: float
    cycles_per_second: float
    """Clock cycles that the simulation did in a second."""

    def record(self) -> dict[str, object]:
        """The fields as JSON has them, the result in hex."""
        return self.__dict__ | {"parameters": dict(self.parameters), "result": f"{self.result:x}"}


def open_cluster(
    choice: ClusterChoice, *, trace: Path | None = None, cycle_limit: int = 4_000_000_000
) -> SimulatedDevice:
    """Simulate the cluster that `coprime build cluster` writes: its two modules, as a chain.

    `cycle_limit` is for how long a wait may last; a scheduler looks after its limits that often.
    """
    chain = Chain(FRONT_END, NODE, choice.cores)
    return SimulatedDevice(cluster_verilog(choice), chain, trace=trace, cycle_limit=cycle_limit)


def predict_cluster(
    choice: ClusterChoice, cluster: Cluster, command: Command, work: Sequence[Operands]
) -> tuple[int, int]:
    """Cycles that engines work on all of this, and those of their cycles with a product."""
    design = choice.core.design
    cycles = products = 0
    for own in work:
        job = own.given_to(
            command,
            private=cluster.private_job,
            public=cluster.public_job,
            modexp=cluster.modexp_job,
            modmul=cluster.modmul_job,
        )
        one = design.predict(job.command, {**job.operands, Operand.X: own.x}, job.lengths)
        cycles, products = cycles + one.cycles, products + one.products
    return cycles, products


def run_cluster(
    choice: ClusterChoice,
    command: Command,
    work: Sequence[Operands],
    *,
    trace: Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> ClusterRun:
    """Run an operation on each of these operands, on all cores, and compare with Python's integers.

    `progress` is told when requests have finished, how many. Raises EngineError if the hardware
    refuses one.
    """
    with open_cluster(choice, trace=trace) as device:
        cluster = Cluster(device)
        engine_cycles, products = predict_cluster(choice, cluster, command, work)
        scheduler = Scheduler(cluster)
        start, before = time.perf_counter(), device.cycles
        requests = [
            own.given_to(
                command,
                private=scheduler.private,
                public=scheduler.public,
                modexp=scheduler.modexp,
                modmul=scheduler.modmul,
            )
            for own in work
        ]
        for request in scheduler.completed():
            request.result  # noqa: B018 -- raises what went wrong
            if progress is not None:
                progress(1)
        seconds, cycles = time.perf_counter() - start, device.cycles - before
    results = [request.result.value for request in requests]
    expected = [expected_result(command, own) for own in work]
    multipliers = choice.core.design.capabilities.multipliers
    predicted = -(-engine_cycles // choice.cores)
    return ClusterRun(
        family=CLUSTER,
        parameters=choice.values,
        operation=command.name,
        bits=max(bits for _, bits in expected),
        requests=len(work),
        result=results[0],
        ok=results == [value for value, _ in expected],
        cycles=cycles,
        predicted_cycles=predicted,
        busy=predicted / cycles,
        utilization=products / (cycles * choice.cores * multipliers),
        seconds=seconds,
        cycles_per_second=cycles / seconds,
    )
