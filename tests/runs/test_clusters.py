"""Clusters as a user has them: the scheduler on simulated hardware, with faults in it."""

import random
import re

import pytest

from coprime.catalog import choose
from coprime.device.cluster import Cluster
from coprime.device.jobs import EngineError
from coprime.device.scheduler import RequestFailed, Scheduler, State
from coprime.device.simulated import SimulatedDevice, open_cluster
from coprime.engine.contract import Command, Error
from coprime.flow.parts import NODE, cluster_verilog
from coprime.rsa import keys
from coprime.runs.execution import run_cluster
from coprime.runs.numbers import random_numbers

SMALL = {"cores": "16", "max_bits": "96"}


def mixed(scheduler, generator, pool):
    """Submit a small request of any kind; give it with what `pow` says."""
    kind = generator.choice(["modmul", "modexp", "public", "private"])
    if kind in ("public", "private"):
        key = generator.choice(pool)
        x = generator.randrange(key.n)
        if kind == "private":
            return scheduler.private(key, x), pow(x, key.d, key.n)
        return scheduler.public(key.n, key.e, x), pow(x, key.e, key.n)
    bits = generator.randrange(16, 97)
    m = generator.getrandbits(bits) | 1 | 1 << (bits - 1)
    x, y = generator.randrange(m), generator.randrange(m)
    if kind == "modmul":
        return scheduler.modmul(x, y, m), x * y % m
    e = generator.getrandbits(generator.randrange(1, 13))
    return scheduler.modexp(x, e, m), pow(x, e, m)


@pytest.fixture(scope="module")
def pool():
    return [keys.generate(bits, 3, seed=bits) for bits in range(64, 97, 4)]


@pytest.mark.fuzz
@pytest.mark.xdist_group("cluster of 16")
def test_ten_thousand_small_requests(pool):
    """In random order, one in fifty cancelled: none lost, none answered twice."""
    generator = random.Random(1)
    with open_cluster(choose("cluster", SMALL), cycle_limit=1_000_000) as device:
        scheduler = Scheduler(Cluster(device))
        submitted = [mixed(scheduler, generator, pool) for _ in range(9_000)]
        expected = {request.number: value for request, value in submitted}
        delivered, cancelled = [], set()
        for request in scheduler.completed():
            delivered.append(request.number)
            if request.state is State.CANCELLED:
                assert request.number in cancelled
                with pytest.raises(EngineError):
                    _ = request.result
            else:
                assert request.result.value == expected[request.number]
            if len(expected) < 10_000 and generator.random() < 0.2:  # more, while it works
                more, value = mixed(scheduler, generator, pool)
                submitted.append((more, value))
                expected[more.number] = value
            if generator.random() < 0.02:
                victim, _ = submitted[generator.randrange(len(submitted))]
                if scheduler.cancel(victim):
                    cancelled.add(victim.number)
        assert len(expected) == 10_000
        assert len(cancelled) > 50
        assert sorted(delivered) == sorted(expected)
        assert not scheduler.failed_cores


def with_faulty_node(verilog, number, fault):
    """Replace a node of the text by one with a fault.

    "dead" passes packets on and does nothing else; "endless" never starts its engine, so that its
    commands never end, and answers to CANCEL.
    """
    found = re.search(rf"^module {NODE} \(.*?^endmodule$", verilog, re.MULTILINE | re.DOTALL)
    faulty = found[0].replace(f"module {NODE} (", "module faulty_node (")
    if fault == "dead":
        ports = faulty[: faulty.index(");") + 2]
        ports = re.sub(
            r"output reg (.*?)(?: = [^,\n]*)?(,?)$", r"output wire \1\2", ports, flags=re.M
        )
        faulty = "\n".join(
            [
                ports,
                "  reg [$bits(packet_in)-1:0] packet = 0; reg reset = 1;",
                "  always @(posedge clk) begin packet <= packet_in; reset <= reset_in; end",
                "  assign packet_out = packet; assign reset_out = reset;",
                "endmodule",
            ]
        )
    else:
        faulty, count = re.subn(r"\.start\(start\)", ".start(1'b0)", faulty)
        assert count == 1
    changed = verilog.replace(f"  {NODE} node_{number} (", f"  faulty_node node_{number} (")
    assert changed != verilog
    return f"{changed}\n{faulty}\n"


@pytest.mark.matrix
@pytest.mark.xdist_group("faulty nodes")
@pytest.mark.parametrize("fault", ["dead", "endless"])
def test_a_core_that_never_finishes(pool, fault):
    """Its requests are done by the others, and it is taken out of service."""
    choice = choose("cluster", {"cores": "3", "max_bits": "96"})
    verilog = with_faulty_node(cluster_verilog(choice), 1, fault)
    generator = random.Random(fault)
    with SimulatedDevice(verilog, choice.module_name, cycle_limit=20_000) as device:
        scheduler = Scheduler(Cluster(device), limit=lambda job: 40_000, grace=2_000)
        submitted = [mixed(scheduler, generator, pool) for _ in range(90)]
        delivered = list(scheduler.completed())
        assert len(delivered) == len(set(delivered)) == 90
        assert all(request.result.value == value for request, value in submitted)
        assert set(scheduler.failed_cores) == {1}
        assert {request.result.core for request, _ in submitted} == {0, 2}
        assert max(request.attempts for request, _ in submitted) > 1


@pytest.mark.xdist_group("faulty nodes")
def test_no_core_is_left():
    choice = choose("cluster", {"cores": "1", "max_bits": "96"})
    verilog = with_faulty_node(cluster_verilog(choice), 0, "dead")
    with SimulatedDevice(verilog, choice.module_name, cycle_limit=20_000) as device:
        scheduler = Scheduler(Cluster(device), limit=lambda job: 10_000, grace=2_000)
        requests = [scheduler.modmul(2, 3, 101) for _ in range(3)]
        scheduler.run()
        for request in requests:
            with pytest.raises(RequestFailed):
                _ = request.result


def test_run_cluster():
    choice = choose("cluster", {"cores": "2", "max_bits": "64"})
    work = [random_numbers(Command.RSA_PRIVATE, 64, seed) for seed in (1, 2, 3)]
    told = []
    run = run_cluster(choice, Command.RSA_PRIVATE, work, progress=told.append)
    assert run.ok
    assert run.result == pow(work[0]["x"], work[0]["d"], work[0]["n"])
    assert (run.requests, run.bits, sum(told)) == (3, 64, 3)
    assert run.predicted_cycles < run.cycles
    assert 0 < run.utilization < run.busy < 1
    record = run.record()
    assert record["family"] == "cluster"
    assert record["parameters"]["engine"] == "fdfm"
    assert record["result"] == f"{run.result:x}"


def test_run_cluster_with_bad_numbers():
    choice = choose("cluster", {"cores": "2", "max_bits": "64"})
    with pytest.raises(EngineError) as caught:
        run_cluster(choice, Command.MODMUL, [{"x": 1, "y": 2, "m": m} for m in (4, 5)])
    assert caught.value.code is Error.MODULUS_EVEN
