"""A cluster of lean nodes at its registers: what one of full nodes does, with one operation."""

import random
from dataclasses import replace

import pytest

from coprime.bus import cluster_registers as r
from coprime.cells.target import Target
from coprime.cluster.lean_packet import LeanPacketLayout, Setting
from coprime.device.cluster import Cluster
from coprime.device.jobs import EngineError
from coprime.device.scheduler import Scheduler, State
from coprime.device.simulated import SimulatedDevice, open_cluster
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.flow.mapping import map_design
from coprime.flow.parts import FRONT_END, NODE, cluster_verilog
from coprime.flow.simulation import Chain
from coprime.rsa import keys
from tests.cluster.bench import Bench, cluster_choice, open_bench
from tests.netlists import library, without_initial_contents

pytestmark = pytest.mark.matrix

LEAN = {"max_bits": 96, "node": "lean"}


@pytest.fixture(scope="module")
def opened():
    with open_bench("fdfm", 5, cycle_limit=200_000, **LEAN) as bench:
        yield bench


@pytest.fixture
def bench(opened):
    """A cluster after a reset; after the test there is no refusal that was not looked for."""
    opened.device.reset()
    yield opened
    assert opened.refusal() is Error.NONE


def changed(work, **operands):
    """The same work with other operands."""
    others = {Operand[name]: value for name, value in operands.items()}
    return replace(work, operands={**work.operands, **others})


def test_the_packet_of_the_paper():
    """Section 5.3: 1 bit for the direction, 9 for the core, 11 for the address, 18 of data."""
    capabilities = cluster_choice("fdfm", 320, node="lean").core.design.capabilities
    widths = {name: field.width for name, field in LeanPacketLayout(capabilities, 320)}
    assert widths == {"receive": 1, "core": 9, "address": 11, "data": 18}


@pytest.mark.matrix
def test_it_shows_the_operations_it_has(bench):
    shown = r.CAPABILITIES["COMMANDS"].of(bench.read(r.CAPABILITIES))
    assert shown == 1 << Command.RSA_PRIVATE | 1 << Command.WIPE
    for operand in Operand:
        bench.write(r.KEY_OPERAND, operand)
        known = operand in bench.own.required[Command.RSA_PRIVATE]
        assert bench.refusal() is (Error.LENGTH_ZERO if known else Error.ADDRESS) or (
            operand.length is Length.DIGIT
        )


@pytest.mark.parametrize("length", range(64, 97, 4))
def test_results_of_all_lengths(bench, length):
    core = length % bench.cores
    work = bench.private(length, length)
    assert bench.run(core, work) == work.ended
    bench.load(Operand.X, work.operands[Operand.X], length)
    bench.write(r.COMMAND, work.command)  # the same key
    assert bench.take() == (core, *work.ended)
    assert bench.idle()


def test_all_cores_at_once(bench):
    works = [bench.private(seed, 80 + seed) for seed in range(bench.cores)]
    for _ in range(2):
        for core, work in enumerate(works):
            bench.start(core, work)
        found = sorted(bench.take() for _ in works)
        assert found == [(core, *work.ended) for core, work in enumerate(works)]
    assert bench.idle()


@pytest.mark.parametrize("node", [pytest.param("full", marks=pytest.mark.matrix), "lean"])
def test_errors_are_the_same_of_both_nodes(node):
    """Of lengths, which the front end checks for a lean node, and of numbers."""
    with open_bench("fdfm", 2, cycle_limit=200_000, max_bits=96, node=node) as bench:
        work = bench.private(1, 80)
        m, p = work.operands[Operand.M], work.operands[Operand.P]
        cases = [
            (changed(work, M=m - 1), Error.MODULUS_EVEN),
            (changed(work, M=0), Error.MODULUS_ZERO),
            (changed(work, P=p - 1), Error.MODULUS_EVEN),
            (changed(work, Q=0), Error.MODULUS_ZERO),
            (changed(work, X=m), Error.OPERAND_RANGE),
            (changed(work, X=(1 << 80) - 1), Error.OPERAND_RANGE),
        ]
        for kind in (Length.MODULUS, Length.P, Length.Q):
            for length in (1, 15):
                lengths = {**work.lengths, kind: length}
                operands = {
                    one: value % (1 << length) if one.length is kind else value
                    for one, value in work.operands.items()
                }
                cases.append((replace(work, lengths=lengths, operands=operands), Error.LENGTH_ZERO))
        for wrong, error in cases:
            assert bench.run(1, wrong) == (error, 0, 0)
            assert bench.run(1, work) == work.ended  # and the core works
        bench.write(r.COMMAND, Command.RSA_PRIVATE)
        assert bench.take() == (1, Error.OPERAND_MISSING, 0, 0)
        bench.write(r.P_LENGTH, bench.own.max_prime_length + 1)
        bench.write(r.COMMAND, Command.RSA_PRIVATE)
        assert bench.take() == (1, Error.LENGTH_OVER, 0, 0)
        assert bench.refusal() is Error.NONE
        assert bench.idle()


@pytest.mark.parametrize("code", [0, Command.MODMUL, Command.MODEXP, Command.RSA_PUBLIC, 6, 7, 63])
def test_other_commands_end_at_once(bench, code):
    work = bench.private(3)
    bench.start(0, work)
    bench.select(1)
    bench.load_all(work)
    bench.write(r.COMMAND, code)
    assert bench.take() == (1, Error.UNSUPPORTED, 0, 0)
    assert bench.take() == (0, *work.ended)
    bench.select(1)
    bench.write(r.COMMAND, work.command)  # all is there
    assert bench.take() == (1, *work.ended)
    assert bench.idle()


def duration(bench, core, work):
    """Cycles from the write of the command to the interrupt, all else being loaded."""
    bench.write(r.INTERRUPT_ENABLE, 1)
    bench.start(core, work)
    before = bench.device.cycles
    bench.device.wait_interrupt()
    cycles = bench.device.cycles - before
    assert bench.take() == (core, *work.ended)
    return cycles


def test_cancel_at_any_moment(bench):
    """One completion always, and the core, which has kept its key, works right afterwards."""
    core = bench.cores - 1
    work = bench.private(1, 64)
    cycles = duration(bench, core, work)
    generator = random.Random(1)
    moments = [*range(12), *(generator.randrange(cycles) for _ in range(40))]
    moments += range(cycles - 60, cycles + 10)
    answers = {Error.NONE: 0, Error.CANCELLED: 0}
    x, length = work.operands[Operand.X], work.lengths[Length.MODULUS]
    bench.select(core)
    for moment in moments:
        bench.load(Operand.X, x, length)
        bench.write(r.COMMAND, work.command)
        bench.device.run(moment)
        bench.write(r.CANCEL)
        ended = bench.take()
        answers[ended[1]] += 1
        assert ended in ((core, *work.ended), (core, Error.CANCELLED, 0, 0))
        assert (ended[1] is Error.CANCELLED) == (moment < cycles - 25) or moment > cycles - 60
        bench.write(r.COMMAND, work.command)
        assert bench.take() == (core, Error.OPERAND_MISSING, 0, 0)
        if moment % 3:
            bench.load(Operand.X, x, length)
            bench.write(r.COMMAND, work.command)
            assert bench.take() == (core, *work.ended), moment
    assert all(answers.values())
    assert bench.idle()


def test_a_cancel_is_of_the_command_that_runs(bench):
    """Neither without one, nor after its end, nor twice does it change anything."""
    work = bench.private(2)
    bench.select(0)
    bench.write(r.CANCEL)
    for moment in range(0, 60, 3):
        bench.start(0, work)
        bench.wait()
        bench.device.run(moment)  # while the result is fetched, and after
        bench.write(r.CANCEL)
        assert bench.take() == (0, *work.ended)
        bench.write(r.CANCEL)
    for core in range(bench.cores):
        bench.start(core, work)
    for _ in range(3):
        bench.write(r.CANCEL)
    assert bench.take() == (bench.cores - 1, Error.CANCELLED, 0, 0)
    rest = sorted(bench.take() for _ in range(bench.cores - 1))
    assert rest == [(core, *work.ended) for core in range(bench.cores - 1)]
    assert bench.idle()


def test_wipe(bench):
    """Accesses wait for its end; then nothing is loaded. Other cores are not touched."""
    works = [bench.private(seed) for seed in (4, 5)]
    for core, work in enumerate(works):
        assert bench.run(core, work) == work.ended
    bench.start(1, works[1])
    bench.select(0)
    before = bench.device.cycles
    bench.write(r.COMMAND, Command.WIPE)
    bench.read(r.CORE)
    assert bench.device.cycles - before > bench.own.addresses.words
    found = sorted([bench.take(), bench.take()])
    assert found == [(0, Error.NONE, 0, 0), (1, *works[1].ended)]
    bench.select(0)
    bench.write(r.COMMAND, Command.RSA_PRIVATE)
    assert bench.take() == (0, Error.OPERAND_MISSING, 0, 0)
    assert bench.run(0, works[0]) == works[0].ended
    assert bench.idle()


def test_reset_in_the_middle_of_traffic(bench):
    """Nothing of before comes afterwards, and everything works."""
    generator = random.Random(3)
    works = [bench.private(seed, 64 + seed) for seed in range(bench.cores)]
    cycles = duration(bench, 0, works[0])
    for turn in range(60):
        for core, work in enumerate(works):
            bench.start(core, work)
        if turn % 4 == 0:
            bench.write(r.CANCEL)
        if turn % 7 == 0:
            bench.select(turn % bench.cores)
            bench.write(r.COMMAND, Command.WIPE)
            assert bench.refusal() in (Error.BUSY, Error.NONE)
        bench.device.run(generator.randrange(cycles))
        bench.device.reset()
        core = turn % bench.cores
        assert bench.shown() is None
        if turn % 10 == 0:
            assert bench.idle()
        assert bench.run(core, works[core]) == works[core].ended
        assert bench.shown() is None
    assert bench.idle()


@pytest.mark.matrix
@pytest.mark.parametrize("link_registers", [0, pytest.param(2, marks=pytest.mark.matrix)])
def test_the_scheduler_with_cancelled_requests(link_registers):
    """On 16 cores: none lost, none answered twice, each result right; other operations refused."""
    generator = random.Random(1)
    pool = [keys.generate(bits, 3, seed=bits) for bits in range(64, 97, 4)]
    choice = cluster_choice("fdfm", 16, link_registers=link_registers, **LEAN)
    with open_cluster(choice, cycle_limit=1_000_000) as device:
        scheduler = Scheduler(Cluster(device))
        expected, submitted = {}, []
        for _ in range(300):
            key = generator.choice(pool)
            x = generator.randrange(key.n)
            submitted.append(scheduler.private(key, x))
            expected[submitted[-1].number] = pow(x, key.d, key.n)
        delivered, cancelled = [], 0
        for request in scheduler.completed():
            delivered.append(request.number)
            if request.state is not State.CANCELLED:
                assert request.result.value == expected[request.number]
            if generator.random() < 0.2:
                cancelled += scheduler.cancel(generator.choice(submitted))
        assert sorted(delivered) == sorted(expected)
        assert cancelled > 20
        assert not scheduler.failed_cores
        public = scheduler.public(pool[0].n, 3, 5)
        scheduler.run()
        with pytest.raises(EngineError, match="does not implement the command"):
            _ = public.result
        assert not scheduler.failed_cores
        cluster = Cluster(device)
        cluster.wipe_all()
        assert cluster.completion() is None


@pytest.mark.matrix
def test_the_whole_module_is_the_chain_cycle_for_cycle():
    def record(bench):
        works = [bench.private(seed) for seed in range(3)]
        for core, work in enumerate(works):
            bench.start(core, work)
        seen = [(*bench.take(), bench.device.cycles) for _ in works]
        bench.start(2, works[0])
        bench.device.run(500)
        bench.write(r.CANCEL)
        seen.append((*bench.take(), bench.device.cycles))
        bench.write(r.COMMAND, Command.WIPE)
        seen.append((*bench.take(), bench.device.cycles))
        assert {error for _, error, *_ in seen} == {Error.NONE, Error.CANCELLED}
        return seen

    with open_bench("fdfm", 3, **LEAN) as bench:
        chain = record(bench)
    with open_bench("fdfm", 3, whole=True, **LEAN) as bench:
        assert record(bench) == chain


@pytest.mark.matrix
def test_xc7_netlist_of_the_node_decrypts():
    """In AMD's cells, as Yosys models them: same results in the same cycles, and no LUT RAM."""
    choice = cluster_choice("fdfm", 3, node="lean")
    behaviour = cluster_verilog(choice)
    mapped = map_design(Target.XC7, cluster_verilog(choice, Target.XC7), NODE)
    assert (mapped.dsp, mapped.bram, mapped.lutram) == (1, 1, 0)
    front_end = behaviour[: behaviour.index(f"module {NODE} (")]
    netlist = without_initial_contents(mapped.netlist) + library(Target.XC7)
    seen = []
    for text in (behaviour, front_end + netlist):
        with SimulatedDevice(text, Chain(FRONT_END, NODE, 3), cycle_limit=3_000_000) as device:
            bench = Bench(choice, device)
            works = [bench.private(seed, length) for seed, length in enumerate((64, 100, 256))]
            for core, work in enumerate(works):
                bench.start(core, work)
            found = [(*bench.take(), device.cycles) for _ in works]
            assert sorted(one[:-1] for one in found) == [
                (core, *work.ended) for core, work in enumerate(works)
            ]
            seen.append(found)
    assert seen[0] == seen[1]


def test_settings_are_at_free_addresses():
    """No number of RSA_PRIVATE is there, in any memory."""
    for bits in (64, 65, 96, 100, 255, 256, 1000, 1024, 2048, 2176, 4096, 8192):
        design = cluster_choice("fdfm", 1, max_bits=bits, node="lean").core.design
        addresses, capabilities = design.capabilities.addresses, design.capabilities
        used = {Operand.Y: 0, Operand.E: 0}
        bases = design.layout.bases
        taken = set()
        for number, base in bases.items():
            if number in used:
                continue
            length = getattr(number, "length", Length.MODULUS)
            digits = {
                Length.DIGIT: 1,
                Length.P: capabilities.max_prime_digits,
                Length.Q: capabilities.max_prime_digits,
            }.get(length, capabilities.max_digits)
            taken |= {*range(base, base + digits)}
        assert addresses.free % 4 == 0
        assert not taken & {addresses.free + one for one in Setting}
        assert max(taken) < addresses.words
        assert addresses.operands[Operand.X] == 0
