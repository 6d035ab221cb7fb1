"""The cluster: loading and collecting, throughput, area, and the clock as cores are added."""

import random
import time

from rich.console import Console
from rich.progress import Progress

from coprime.catalog import ClusterChoice, family_named
from coprime.cells.target import Target
from coprime.device.cluster import Cluster
from coprime.device.jobs import PrivateNumbers
from coprime.device.scheduler import Scheduler
from coprime.device.simulated import SimulatedDevice, open_cluster
from coprime.engine.contract import Operand
from coprime.explore.measure import Area, measure_area
from coprime.papers import fdfm as paper
from coprime.rsa import keys
from coprime.runs.numbers import WorstCaseNumbers

from .page import table, thousands

CORES = (1, 8, 64, 320)
CLOCK_DEVICE = "LFE5U-85F"
CLOCK_CORES = (1, 8, 64)
"""The device has LUTs for 72 or more; nextpnr does not place and route those within 40 minutes, and
takes half an hour for 64."""


def cluster_of(cores: int, **settings: str) -> ClusterChoice:
    return ClusterChoice(family_named("fdfm").choose(settings), cores)


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
    progress: Progress, cores: int, bits: int, rounds: int, *, worst: bool = True
) -> tuple[int, int, float, float]:
    """Run `rounds` decryptions a core, each core with its own key and every message another one.

    Gives how many, the cycles, the part of N times one core's throughput, and seconds. In the worst
    case every exponent bit is 1; else keys are real. All keys are loaded first, which counts.
    """
    choice = cluster_of(cores)
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
        for cores, bits, rounds, worst in (
            *((8, 1024, 4, True), (32, 512, 4, True), (64, 256, 8, True), (320, 256, 8, True)),
            (320, 1024, 1, False),
        ):
            count, cycles, busy, seconds = throughput(progress, cores, bits, rounds, worst=worst)
            rows.append(
                (
                    *(cores, bits, "worst case" if worst else "real", count, thousands(cycles)),
                    *(f"{busy:.2%}", f"{cores * cycles / seconds / 1e6:.1f}"),
                )
            )
    head = ["cores", "bits", "keys", "decryptions", "cycles", "of N times one core's"]
    return table([*head, "million core cycles a second"], rows)


def rates(area: Area, one_core: int) -> str:
    """Mbit/s at 1024 bits, worst case, at the paper's clock and at ours."""
    rows = []
    assert area.fmax_mhz is not None
    for cores, megahertz, whose in (
        (1, paper.ONE_CORE["megahertz"], "the paper's, 1 core"),
        (320, paper.CORES_320["megahertz"], "the paper's, 320 cores"),
        (int(area.parameters["cores"]), area.fmax_mhz, f"ours, {area.device}"),
    ):
        rows.append(
            (
                *(cores, whose, f"{megahertz:.1f}"),
                f"{one_core / megahertz / 1e3:.3f}",
                f"{cores * 1024 / one_core * megahertz:.3f}",
            )
        )
    return table(["cores", "clock", "MHz", "ms for one", "Mbit/s"], rows)


def areas() -> tuple[str, str, Area]:
    """Area on xc7 and clock on ecp5 by the number of cores."""
    mapped = [measure_area(cluster_of(cores), Target.XC7) for cores in CORES]
    routed = [
        measure_area(cluster_of(cores), Target.ECP5, route=True, device=CLOCK_DEVICE)
        for cores in CLOCK_CORES
    ]
    head = ["cores", "LUTs", "a core", "flip-flops", "DSP48E1", "RAMB36E1", "slices at least"]
    area = table(
        head,
        (
            (
                *(one.parameters["cores"], thousands(one.lut)),
                f"{one.lut / int(one.parameters['cores']):.1f}",
                *(thousands(one.ff), one.dsp, f"{one.bram:g}", thousands(one.slices_estimate)),
            )
            for one in mapped
        ),
    )
    first = routed[0].fmax_mhz
    assert first is not None
    clock = table(
        ["cores", "LUTs", "flip-flops", "DSP", "block RAM", "MHz", "of one core's"],
        (
            (
                *(one.parameters["cores"], thousands(one.lut), thousands(one.ff), one.dsp),
                *(f"{one.bram:g}", f"{one.fmax_mhz:.1f}", f"{(one.fmax_mhz or 0) / first:.3f}"),
            )
            for one in routed
        ),
    )
    paths = "\n".join(f"* {one.parameters['cores']} cores: {one.critical_path}" for one in routed)
    return area, f"{clock}\nCritical paths after place and route:\n\n{paths}\n", routed[-1]


def measure() -> str:
    """The cluster's part of the page."""
    cores, bits = 320, 1024
    digits = -(-bits // 17)
    moved = [
        (what, thousands(cycles), f"{cycles / cores:.1f}", thousands(cores * digits))
        for what, cycles in moves(cores, bits)
    ]
    area, clock, largest = areas()
    with open_cluster(cluster_of(1)) as device:
        one_core = engine_cycles(
            Cluster(device), WorstCaseNumbers.of_key(keys.generate(1024, seed=1)), 1
        )
    return f"""## Many engines on a chain

`fdfm` with max_bits=2176 in every core. [cluster.md](cluster.md) explains how it works.

### Loading and collecting

{cores} cores, {bits} bits, every word through AXI4-Lite, in cycles. FDFM counts {cores} * d1 =
{thousands(cores * digits)} cycles to store all messages, a digit a cycle, without the bus that
brings them.

{table(["", "cycles", "a core", "FDFM"], moved)}
### Throughput

Decryptions with CRT through `Scheduler`, every core with another key and every message another one;
loading of all keys and messages, collecting, and the last core's end included. N times one core's
is N engines that never wait. With small keys and many cores the registers are what limits: an
AXI4-Lite access takes as long as it takes. Real keys differ in cycles, so that in the last row, one
decryption a core, most cores wait for the slowest one. One such run:
`coprime run cluster RSA_PRIVATE --bits 1024 --requests 32`.

{throughputs()}
At 1024 bits in the worst case, {thousands(one_core)} cycles each, with CRT, all cores at work:

{rates(largest, one_core)}
FDFM says 14.228 ms and 23.031 Mbit/s for 320 cores.

### Area by cores

`coprime synth cluster -p cores=320 --target xc7`: the node is mapped once, separately.

{area}
### Clock by cores

`coprime synth cluster -p cores={CLOCK_CORES[-1]} --target ecp5 --route --device {CLOCK_DEVICE}`.

{clock}
"""
