"""The cluster: loading and collecting, and throughput."""

import random
import time

from rich.console import Console
from rich.progress import Progress

from coprime.catalog import ClusterChoice, choose, family_named
from coprime.device.cluster import Cluster
from coprime.device.jobs import PrivateNumbers
from coprime.device.scheduler import Scheduler
from coprime.device.simulated import SimulatedDevice, open_cluster
from coprime.engine.contract import Operand
from coprime.operations.encodings.rsa_key import WorstCaseNumbers
from coprime.rsa import keys

from .page import table, thousands


def cluster_of(cores: int, node: str = "full") -> ClusterChoice:
    choice = choose("cluster", {"cores": str(cores), "node": node})
    assert isinstance(choice, ClusterChoice)
    return choice


def watch(device: SimulatedDevice, progress: Progress, what: str, cycles: int) -> None:
    """Show the cycles of a simulation as they pass."""
    task = progress.add_task(what, total=cycles)
    device.progress = lambda passed: progress.update(task, advance=passed)


def moves(cores: int, bits: int) -> list[tuple[str, int]]:
    """Cycles to give every core something, and to take every result, all through the registers.

    The operation is short, so that all cores have ended when the last one was started.
    """
    generator = random.Random(bits)
    e, rows = 1, []
    with open_cluster(cluster_of(cores)) as device:
        cluster = Cluster(device)
        moduli = [generator.getrandbits(bits) | 1 << (bits - 1) | 1 for _ in range(cores)]
        for what in ("key and message", "message alone"):
            before = device.cycles
            expected = []
            for core, m in enumerate(moduli):
                x = generator.randrange(m)
                cluster.start(core, cluster.modexp_job(x, e, m), x)
                expected.append(x % m)
            rows.append((f"load and start, {what}", device.cycles - before))
            device.run(100_000)
            before = device.cycles
            for _ in range(cores):
                completion = cluster.completion()
                assert completion is not None
                assert completion.value == expected[completion.core]
            rows.append(("collect", device.cycles - before))
    return rows[:1] + rows[2:]


def throughput(
    progress: Progress,
    cores: int,
    bits: int,
    rounds: int,
    *,
    worst: bool = True,
    node: str = "full",
) -> tuple[int, int, float, float]:
    """Run `rounds` decryptions a core, each core with its own key and every message another one.

    Gives how many, the cycles, the part of N times one core's throughput, and seconds. In the worst
    case every exponent bit is 1; else keys are real. All keys are loaded first, which counts.
    """
    choice = cluster_of(cores, node)
    real = [keys.generate(bits, seed=seed) for seed in range(1, cores + 1)]
    numbers = [WorstCaseNumbers.of_key(key) if worst else key for key in real]
    generator = random.Random(bits)
    work = [(key, generator.randrange(key.n)) for key in numbers * rounds]
    with open_cluster(choice) as device:
        cluster = Cluster(device)
        worked = [engine_cycles(cluster, key, x) for key, x in (work[:1] if worst else work)]
        total = worked[0] * len(work) if worst else sum(worked)
        watch(device, progress, f"{cores} cores, {bits} bits", total // cores)
        scheduler = Scheduler(cluster, check=False)
        start, before = time.perf_counter(), device.cycles
        requests = [scheduler.private(key, x) for key, x in work]
        scheduler.run()
        cycles, seconds = device.cycles - before, time.perf_counter() - start
        for (key, x), request in zip(work, requests, strict=True):
            expected = key.private(x) if worst else pow(x, key.d, key.n)
            assert request.result.value == expected
        return len(work), cycles, total / cores / cycles, seconds


def engine_cycles(cluster: Cluster, key: PrivateNumbers, x: int) -> int:
    """What one engine works on a decryption, as its design predicts."""
    job = cluster.private_job(key, x)
    design = family_named("fdfm").choose({}).design
    return design.predict(job.command, {**job.operands, Operand.X: x}, job.lengths).cycles


def throughputs() -> str:
    rows = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for cores, node, bits, rounds, worst in (
            *((8, "full", 1024, 4, True), (32, "full", 512, 4, True)),
            *((64, "full", 256, 8, True), (320, "full", 256, 8, True)),
            *((320, "full", 1024, 1, False), (320, "lean", 1024, 1, True)),
        ):
            count, cycles, busy, seconds = throughput(
                progress, cores, bits, rounds, worst=worst, node=node
            )
            rows.append(
                (
                    *(cores, node, bits, "worst case" if worst else "real"),
                    *(count, thousands(cycles)),
                    *(f"{busy:.2%}", f"{cores * cycles / seconds / 1e6:.1f}"),
                )
            )
    head = ["cores", "nodes", "bits", "keys", "decryptions", "cycles", "of N times one core's"]
    return table([*head, "million core cycles a second"], rows)


def measure() -> dict[str, str]:
    """The cluster's parts of the page."""
    cores, bits = 320, 1024
    digits = -(-bits // 17)
    moved = [
        (what, thousands(cycles), f"{cycles / cores:.1f}", thousands(cores * digits))
        for what, cycles in moves(cores, bits)
    ]
    return {
        "cluster loading": table(["", "cycles", "a core", "FDFM"], moved),
        "cluster throughput": throughputs(),
    }
