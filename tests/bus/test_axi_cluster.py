"""A cluster at its registers: each sentence of the register map, on real engines in simulation."""

import random
import re
from dataclasses import replace

import pytest

import coprime
from coprime.bus import cluster_registers as r
from coprime.bus.axi_cluster import AxiCluster, ChainEnds
from coprime.bus.cluster_front_end import ClusterFrontEnd
from coprime.bus.kinds import Bus
from coprime.bus.shared_registers import defined_cluster_registers
from coprime.device.base import BusError, InterruptTimeout
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.flow.parts import FRONT_END, NODE, cluster_verilog
from tests.benches import grouped
from tests.cluster.bench import LENGTHS, NO_CORE, TOO_LONG, Work, cluster_choice, open_bench
from tests.device import cluster_model

CONFIGURATIONS = {
    "fdfm, 5 cores": ("fdfm", 5, {"max_bits": 64}),
}
LONG_CONFIGURATIONS = {
    "compact, 2 cores": ("compact", 2, {"max_bits": 129}),
    "montgomery-1csa, 1 core": ("montgomery-1csa", 1, {"max_bits": 129, "word": 8}),
    "interleaved-csa, 2 cores": ("interleaved-csa", 2, {"max_bits": 129, "word": 24}),
    "fdfm, 3 cores, AXI4": ("fdfm", 3, {"max_bits": 64, "bus": Bus.AXI4}),
    "ring, 2 multipliers": ("ring", 2, {"max_bits": 129, "tile": "adk2x16", "multipliers": 2}),
    "fdfm, 3 cores, 2 registers more": ("fdfm", 3, {"max_bits": 64, "link_registers": 2}),
}
OF_A_CORE = [r.COMMAND, r.CANCEL, r.KEY_OPERAND, r.KEY_DATA, *LENGTHS.values()]
WHOLE_COMMANDS = [
    Command.MODMUL,
    Command.MODEXP,
    Command.RSA_PUBLIC,
    Command.RSA_PRIVATE,
]


@pytest.fixture(scope="module", params=grouped(CONFIGURATIONS, LONG_CONFIGURATIONS))
def opened(request):
    family, cores, settings = request.param
    with open_bench(family, cores, cycle_limit=100_000, **settings) as bench:
        yield bench


@pytest.fixture
def bench(opened):
    """A cluster after a reset; after the test there is no refusal that was not looked for."""
    opened.device.reset()
    yield opened
    assert opened.refusal() is Error.NONE


def work_for(bench, command, seed=1):
    if command is Command.MODMUL:
        return bench.modmul(seed)
    if command is Command.RSA_PRIVATE:
        return bench.private(seed, 64)
    return bench.modexp(seed, 64, command=command)


def snapshot(bench):
    """Everything that can be read of every core."""
    found = []
    for core in range(bench.cores):
        bench.select(core)
        found.append([bench.read(register) for register in (r.CORE, *LENGTHS.values())])
    return found


def changed(work, **changes):
    return Work(**{**work.__dict__, **changes})


# --- What it is ---------------------------------------------------------------------------------


def test_identification(bench):
    own = bench.own
    assert bench.read(r.IDENTIFICATION) == int.from_bytes(b"COPC", "big")
    version = bench.read(r.VERSION)
    numbers = [int(part) for part in coprime.__version__.split(".")[:3]]
    assert [version >> 16, version >> 8 & 0xFF, version & 0xFF] == numbers
    assert bench.read(r.FAMILY) == own.family_number
    capabilities = bench.read(r.CAPABILITIES)
    assert capabilities & 0xFF == 0b111110
    assert capabilities >> 8 & 1 == own.constant_time
    assert capabilities >> 9 & 1 == 0
    assert capabilities >> 10 & 0xF == own.multipliers
    assert capabilities >> 14 == own.checked << 4
    radix = own.round_bits if own.montgomery else 0
    assert bench.read(r.DIGITS) == own.digit_width | own.headroom << 8 | radix << 16
    assert bench.read(r.MAX_LENGTH) == own.max_length | own.max_prime_length << 16
    assert bench.read(r.MIN_LENGTH) == own.min_length
    assert bench.read(r.CORES) == bench.cores


def test_after_reset(bench):
    assert bench.read(r.CORE) == 0
    for register in (r.ERROR, r.INTERRUPT_ENABLE, r.COMPLETION, r.RESULT_LENGTH, r.RESULT):
        assert bench.read(register) == 0
    for core in range(bench.cores):
        bench.select(core)
        assert bench.read(r.CORE) == core
        assert [bench.read(register) for register in LENGTHS.values()] == [0] * 4


def test_undefined_accesses_are_refused_and_change_nothing(bench):
    bench.select(bench.cores - 1)
    bench.load_all(bench.modmul(1))
    before = snapshot(bench)
    defined = defined_cluster_registers(bench.own)
    readable = {register.address for register in defined if register.readable}
    writable = {register.address for register in defined if register.writable}
    for address in range(0, 4096, 4):
        if address not in readable:
            with pytest.raises(BusError):
                bench.device.read32(address)
        if address not in writable:
            with pytest.raises(BusError):
                bench.device.write32(address, 0xFFFF_FFFF)
    assert bench.refusal() is Error.NONE
    assert snapshot(bench) == before
    assert bench.idle()
    work = bench.modmul(1)
    bench.write(r.COMMAND, Command.MODMUL)
    assert bench.take() == (bench.cores - 1, *work.ended)


def test_time_counts_cycles(bench):
    for cycles in (0, 1, 1000):
        first, counted = bench.read(r.TIME), bench.device.cycles
        bench.device.run(cycles)
        second = bench.read(r.TIME)
        assert second - first == bench.device.cycles - counted
    bench.device.reset()
    assert bench.read(r.TIME) < 100


# --- Results ------------------------------------------------------------------------------------


@pytest.mark.covering(2)
@pytest.mark.parametrize("length", [16, 17, 31, 32, 33, 47, 48, 63, 64])
def test_results_of_all_lengths(bench, length):
    for core in range(bench.cores):
        for seed in range(2):
            work = (
                bench.modmul(length + core, length)
                if seed
                else bench.modexp(core, length, exponent_length=5)
            )
            assert bench.run(core, work) == work.ended
    m = (1 << length) - 1
    for x, y in ((0, 0), (m - 1, m - 1), (1, m - 1)):
        work = bench.modmul(1, length, m=m, x=x, y=y)
        assert bench.run(length % bench.cores, work) == work.ended


@pytest.mark.matrix
def test_bursts():
    with open_bench("fdfm", 2, max_bits=64, bus=Bus.AXI4) as bench:
        lengths = [61, 62, 31, 32]
        bench.device.write_block(r.MODULUS_LENGTH.address, lengths)
        assert bench.device.read_block(r.MODULUS_LENGTH.address, 4) == lengths
        with pytest.raises(BusError):
            bench.device.read_block(r.MODULUS_LENGTH.address, 5)
        for core in (0, 1):
            work = bench.private(core, 64)
            assert bench.run(core, work) == work.ended
        assert bench.refusal() is Error.NONE


def test_all_cores_at_once(bench):
    """Each with its own key; they end in their own order, each one once."""
    for turn in range(3):
        works = [bench.any_work(100 * turn + core) for core in range(bench.cores)]
        for core, work in enumerate(works):
            bench.start(core, work)
        ended = {core: rest for core, *rest in (bench.take() for _ in works)}
        assert ended == {core: [*work.ended] for core, work in enumerate(works)}
    assert bench.idle()


def test_each_command(bench):
    for command in WHOLE_COMMANDS:
        work = work_for(bench, command)
        assert bench.run(bench.cores - 1, work) == work.ended


def test_completions_come_in_the_order_in_which_commands_end(bench):
    if bench.cores == 1:
        return
    bench.start(0, bench.private(1))
    short = bench.modmul(2, 24)
    bench.start(1, short)
    assert bench.take() == (1, *short.ended)
    assert bench.take() == (0, *bench.private(1).ended)


def test_engines_errors_come_with_the_completion(bench):
    good = bench.modmul(1, 64)
    m = good.operands[Operand.M]
    errors = {
        Error.MODULUS_ZERO: {Operand.M: 0},
        Error.OPERAND_RANGE: {Operand.X: m},
    }
    if bench.own.montgomery:
        errors[Error.MODULUS_EVEN] = {Operand.M: m - 1}
    else:
        errors[Error.MODULUS_SHORT] = {Operand.M: m >> 1}
    for core in range(bench.cores):
        for error, operands in errors.items():
            work = changed(good, operands=good.operands | operands)
            assert bench.run(core, work) == (error, 0, 0)
        assert bench.run(core, good) == good.ended


@pytest.mark.parametrize("code", [0, 6, 7])
def test_unknown_commands(bench, code):
    """Their completion tells; they need nothing, and nothing is lost but perhaps X."""
    core = bench.cores - 1
    bench.select(core)
    bench.write(r.COMMAND, code)
    assert bench.take() == (core, Error.UNSUPPORTED, 0, 0)
    work = bench.modmul(1)
    bench.load_all(work, without={Operand.X})
    bench.write(r.COMMAND, code)
    assert bench.take() == (core, Error.UNSUPPORTED, 0, 0)
    bench.load(Operand.X, work.operands[Operand.X], work.lengths[Length.MODULUS])
    bench.write(r.COMMAND, work.command)
    assert bench.take() == (core, *work.ended)


def test_bits_without_a_field_are_ignored(bench):
    work = bench.modmul(1)
    bench.select(0)
    for kind, length in work.lengths.items():
        bench.write(LENGTHS[kind], length)
    for operand, value in work.operands.items():
        bench.write(r.KEY_OPERAND, operand | 0xFFFF_FFC0)
        for place in range(0, bench.length_of(operand, work.lengths), 32):
            bench.write(r.KEY_DATA, value >> place & 0xFFFF_FFFF)
    bench.write(r.COMMAND, work.command | 0xFFFF_FFC0)
    assert bench.take() == (0, *work.ended)
    bench.write(r.INTERRUPT_ENABLE, 0xFFFF_FFFE)
    assert bench.read(r.INTERRUPT_ENABLE) == 0
    bench.write(r.INTERRUPT_ENABLE, 0xFFFF_FFFF)
    assert bench.read(r.INTERRUPT_ENABLE) == 1


# --- Cores and lengths --------------------------------------------------------------------------


def test_each_core_has_its_own_lengths(bench):
    own = bench.own
    generator = random.Random(1)
    limits = dict.fromkeys(LENGTHS, own.max_length)
    limits[Length.P] = limits[Length.Q] = own.max_prime_length
    expected = {}
    for core in [*range(bench.cores)] * 2:
        bench.select(core)
        for kind, register in LENGTHS.items():
            limit = limits[kind]
            value = generator.choice([0, 1, limit - 1, limit, limit + 1, 0xFFFE, 0xFFFF])
            bench.write(register, value)
            expected[core, kind] = value if value <= limit else TOO_LONG
    for core in range(bench.cores):
        bench.select(core)
        for kind, register in LENGTHS.items():
            assert bench.read(register) == expected[core, kind], (core, kind)


def test_no_core_selected(bench):
    """Everything of a core is refused and changes nothing, and the rest works."""
    work = bench.modmul(1)
    for core in range(bench.cores):
        bench.select(core)
        bench.load_all(work)
    before = snapshot(bench)
    power = 1 << (bench.cores - 1).bit_length()
    for number in (bench.cores, bench.cores + 1, power, 2 * power, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF):
        bench.select(number)
        assert bench.refusal() is Error.ADDRESS, number
        assert bench.read(r.CORE) == NO_CORE
        for register in OF_A_CORE:
            for value in (0, 1, 5):
                bench.write(register, value)
                assert bench.refusal() is Error.ADDRESS, register.name
        for register in LENGTHS.values():
            assert bench.read(register) == 0
        assert bench.read(r.CORE) == NO_CORE
        bench.write(r.NEXT)
        assert bench.refusal() is Error.NONE
    assert snapshot(bench) == before
    assert bench.idle()
    for core in range(bench.cores):
        bench.select(core)
        bench.write(r.COMMAND, work.command)
        bench.select(NO_CORE)
        assert bench.refusal() is Error.ADDRESS
        assert bench.take() == (core, *work.ended)


def test_occupied_until_the_completion_is_removed(bench):
    """Then everything but CANCEL is refused and changes nothing."""
    core = bench.cores - 1
    work = bench.private(3)
    bench.start(core, work)
    lengths = [bench.read(register) for register in LENGTHS.values()]

    def check_refusals():
        assert bench.occupied(core)
        assert bench.refusal() is Error.NONE
        for register in OF_A_CORE:
            if register is not r.CANCEL:
                for value in (0, 3, 5):
                    bench.write(register, value)
                    assert bench.refusal() is Error.BUSY, register.name
        assert [bench.read(register) for register in LENGTHS.values()] == lengths

    check_refusals()
    for other in range(bench.cores - 1):  # others are free
        assert not bench.occupied(other)
        assert bench.refusal() is Error.NONE
    bench.wait()
    check_refusals()
    bench.select(core)
    bench.write(r.CANCEL)
    assert bench.take() == (core, *work.ended)
    assert not bench.occupied(core)
    assert bench.run(core, work) == work.ended
    assert bench.idle()


def test_the_first_refusal_stays(bench):
    bench.select(bench.cores)
    bench.select(0)
    bench.write(r.KEY_DATA, 0)
    assert bench.read(r.ERROR) == Error.ADDRESS << 8
    assert bench.read(r.ERROR) == Error.ADDRESS << 8
    bench.write(r.ERROR, 0)
    assert bench.read(r.ERROR) == 0
    bench.write(r.KEY_DATA, 0)
    bench.select(bench.cores)
    assert bench.refusal() is Error.KEY_OVERRUN
    bench.select(0)
    bench.write(r.COMMAND, 1)  # how a command ends is no refusal
    assert bench.take()[1] is Error.LENGTH_ZERO
    assert bench.refusal() is Error.NONE


# --- Loading ------------------------------------------------------------------------------------


def test_operands_that_cannot_be_chosen(bench):
    own = bench.own
    bench.select(bench.cores - 1)

    def check(error, numbers):
        for number in numbers:
            bench.write(r.KEY_OPERAND, number)
            assert bench.refusal() is error, number
            bench.write(r.KEY_DATA, 1)  # no operand is chosen then
            assert bench.refusal() is Error.KEY_OVERRUN

    unknown = {*range(32)} - own.operands
    check(Error.ADDRESS, unknown)
    kinds = {one for one in own.operands if one.length is not Length.DIGIT}
    check(Error.LENGTH_ZERO, kinds)
    for register in LENGTHS.values():
        bench.write(register, own.max_length + 1)
    check(Error.LENGTH_OVER, kinds)
    check(Error.ADDRESS, unknown)
    for one in own.operands - kinds:
        bench.load(one, 1, own.digit_width)
    assert bench.refusal() is Error.NONE


def test_words_after_the_last(bench):
    work = bench.private(1)
    bench.select(0)
    bench.load_all(work, without={Operand.X})
    length = work.lengths[Length.MODULUS]
    for _ in range(2):
        bench.write(r.KEY_DATA, 1)
        assert bench.refusal() is Error.KEY_OVERRUN
    bench.load(Operand.X, work.operands[Operand.X], length)
    assert bench.refusal() is Error.NONE
    bench.write(r.KEY_DATA, 0xFFFF_FFFF)
    assert bench.refusal() is Error.KEY_OVERRUN
    bench.write(r.COMMAND, work.command)
    assert bench.take() == (0, *work.ended)


def test_what_ends_the_loading(bench):
    core = bench.cores - 1
    work = bench.modmul(1, 64)
    x = work.operands[Operand.X]

    def end(register, value):
        return lambda: bench.write(register, value)

    enders = [end(r.CORE, core), *(end(one, 64) for one in LENGTHS.values())]
    for ender in enders:
        bench.select(core)
        bench.load_all(work)
        bench.write(r.KEY_OPERAND, Operand.X)
        bench.write(r.KEY_DATA, x & 0xFFFF_FFFF)
        assert bench.refusal() is Error.NONE
        ender()
        bench.write(r.KEY_DATA, x >> 32)
        assert bench.refusal() is Error.KEY_OVERRUN
        bench.write(r.COMMAND, work.command)
        assert bench.take() == (core, Error.OPERAND_MISSING, 0, 0)
    # Another operand begins anew, and so does the same one.
    bench.load_all(work)
    for operand in (Operand.Y, Operand.X):
        bench.write(r.KEY_OPERAND, operand)
        bench.write(r.KEY_DATA, 0xFFFF_FFFF)
        bench.load(Operand.X, x, 64)
    bench.load(Operand.Y, work.operands[Operand.Y], 64)
    bench.write(r.KEY_OPERAND, Operand.E)
    bench.write(r.ERROR)
    bench.write(r.COMMAND, work.command)
    assert bench.take() == (core, *work.ended)
    bench.write(r.KEY_DATA, 0)
    assert bench.refusal() is Error.KEY_OVERRUN


def test_what_does_not_end_the_loading(bench):
    """Reads, the other registers, CANCEL without a command."""
    work = bench.modmul(1, 64)
    x = work.operands[Operand.X]
    bench.select(0)
    bench.load_all(work, without={Operand.X})
    bench.write(r.KEY_OPERAND, Operand.X)
    for word in (x & 0xFFFF_FFFF, x >> 32):
        for register in (r.CANCEL, r.NEXT, r.INTERRUPT_ENABLE, r.ERROR):
            bench.write(register)
        for register in defined_cluster_registers(bench.own):
            if register.readable:
                bench.read(register)
        bench.write(r.KEY_DATA, word)
    bench.write(r.COMMAND, work.command)
    assert bench.take() == (0, *work.ended)


def test_bits_above_the_length(bench):
    """Told right after the last word; the operand stays incomplete."""
    core = bench.cores - 1
    for length in (24, 33, 47, 63):
        work = bench.modmul(length, length)
        bench.select(core)
        bench.load_all(work)
        for operand in sorted(work.operands):
            bits = bench.length_of(operand, work.lengths)
            for place in range(bits, -(-bits // 32) * 32, 5):
                bench.load(operand, work.operands[operand] | 1 << place, bits)
                assert bench.refusal() is Error.KEY_EXCESS, (length, operand, place)
            if bits % 32 == 0:
                continue
            bench.write(r.COMMAND, work.command)
            assert bench.take() == (core, Error.OPERAND_MISSING, 0, 0)
            bench.load(operand, work.operands[operand], bits)
            assert bench.refusal() is Error.NONE
        bench.load(Operand.X, work.operands[Operand.X], length)
        bench.write(r.COMMAND, work.command)
        assert bench.take() == (core, *work.ended)


@pytest.mark.parametrize("command", WHOLE_COMMANDS)
def test_every_operand_must_be_loaded(bench, command):
    work = work_for(bench, command)
    for core, operand in enumerate(sorted(work.operands)):
        core %= bench.cores
        bench.select(core)
        bench.write(r.COMMAND, Command.WIPE)
        assert bench.take() == (core, Error.NONE, 0, 0)
        bench.start(core, work, without={operand})
        assert bench.occupied(core)
        assert bench.take() == (core, Error.OPERAND_MISSING, 0, 0), operand
        bench.select(core)
        bench.load(operand, work.operands[operand], bench.length_of(operand, work.lengths))
        bench.load(Operand.X, work.operands[Operand.X], bench.length_of(Operand.X, work.lengths))
        # Choosing an operand makes it incomplete.
        bench.write(r.KEY_OPERAND, operand)
        bench.write(r.COMMAND, command)
        assert bench.take() == (core, Error.OPERAND_MISSING, 0, 0), operand
        bench.load(operand, work.operands[operand], bench.length_of(operand, work.lengths))
        bench.load(Operand.X, work.operands[Operand.X], bench.length_of(Operand.X, work.lengths))
        bench.write(r.COMMAND, command)
        assert bench.take() == (core, *work.ended)


def test_x_is_loaded_anew_for_each_command(bench):
    for command in WHOLE_COMMANDS:
        work = work_for(bench, command)
        core = command % bench.cores
        assert bench.run(core, work) == work.ended
        bench.select(core)
        bench.write(r.COMMAND, command)
        assert bench.take() == (core, Error.OPERAND_MISSING, 0, 0)
        length = work.lengths[Length.MODULUS]
        bench.load(Operand.X, work.operands[Operand.X], length)
        bench.write(r.COMMAND, command)  # and all else is there still
        assert bench.take() == (core, *work.ended)


def test_a_length_clears_the_marks_of_its_class_only(bench):
    core = bench.cores - 1
    for command in WHOLE_COMMANDS:
        work = work_for(bench, command)
        for kind, length in work.lengths.items():
            bench.select(core)
            bench.load_all(work)
            bench.write(LENGTHS[kind], length)  # the same as before
            of_class = [one for one in sorted(work.operands) if one.length is kind]
            for operand in of_class:
                bench.write(r.COMMAND, command)
                assert bench.take() == (core, Error.OPERAND_MISSING, 0, 0), (kind, operand)
                bench.load(operand, work.operands[operand], length)
            x = work.operands[Operand.X]
            bench.load(Operand.X, x, work.lengths[Length.MODULUS])
            bench.write(r.COMMAND, command)
            assert bench.take() == (core, *work.ended), (command, kind)


@pytest.mark.parametrize("command", WHOLE_COMMANDS)
def test_lengths_that_a_command_needs(bench, command):
    """Absent, or too long: its completion tells, and the lengths that it does not need may be."""
    core = bench.cores - 1
    work = work_for(bench, command)
    for kind, register in LENGTHS.items():
        for length in (0, bench.own.max_length + 1, 0xFFFF):
            bench.select(core)
            bench.load_all(work)
            bench.write(register, length)
            bench.write(r.COMMAND, command)
            expected = Error.LENGTH_OVER
            if length == 0:
                exponent = kind is Length.EXPONENT
                expected = Error.EXPONENT_LENGTH if exponent else Error.LENGTH_ZERO
            if kind in work.lengths:
                assert bench.take() == (core, expected, 0, 0), (kind, length)
            else:
                assert bench.take() == (core, *work.ended), (kind, length)


def test_cores_do_not_share_operands(bench):
    if bench.cores == 1:
        return
    work = bench.modmul(1)
    bench.select(0)
    bench.load_all(work)
    for core in range(1, bench.cores):
        bench.select(core)
        bench.write(r.COMMAND, work.command)
        assert bench.take() == (core, Error.LENGTH_ZERO, 0, 0)
        bench.write(r.MODULUS_LENGTH, work.lengths[Length.MODULUS])
        bench.write(r.COMMAND, work.command)
        assert bench.take() == (core, Error.OPERAND_MISSING, 0, 0)
        other = bench.modmul(core)
        assert bench.run(core, other) == other.ended
    bench.select(0)
    bench.write(r.COMMAND, work.command)
    assert bench.take() == (0, *work.ended)


def test_wipe(bench):
    core = bench.cores - 1
    work = bench.private(1, 64)
    for length in (None, 64):  # with lengths, and without any
        if length is not None:
            bench.select(core)
            bench.load_all(work)
        bench.select(core)
        bench.write(r.COMMAND, Command.WIPE)
        assert bench.occupied(core)
        assert bench.take() == (core, Error.NONE, 0, 0)
    lengths = {kind: bench.read(register) for kind, register in LENGTHS.items()}
    assert {kind: lengths[kind] for kind in work.lengths} == work.lengths
    for operand in sorted(work.operands):
        bench.write(r.COMMAND, work.command)
        assert bench.take() == (core, Error.OPERAND_MISSING, 0, 0), operand
        bench.load(operand, work.operands[operand], bench.length_of(operand, work.lengths))
    bench.load(Operand.X, work.operands[Operand.X], work.lengths[Length.MODULUS])
    bench.write(r.COMMAND, work.command)
    assert bench.take() == (core, *work.ended)


# --- Completions --------------------------------------------------------------------------------


def test_results_are_read_once(bench):
    core = bench.cores - 1
    work = bench.modmul(1)
    bench.start(core, work)
    bench.wait()
    for _ in range(3):
        assert bench.shown() == (core, Error.NONE)
        assert bench.read(r.RESULT_LENGTH) == work.ended[2]
    value, _ = bench.result()
    assert value == work.result
    for _ in range(5):
        assert bench.read(r.RESULT) == 0
    assert bench.shown() == (core, Error.NONE)
    assert bench.read(r.RESULT_LENGTH) == work.ended[2]
    bench.write(r.NEXT)
    assert bench.idle()


def test_results_that_are_not_read(bench):
    """Or not to the end: the next result is not disturbed."""
    for turn in range(bench.cores * 4):
        core, words = turn % bench.cores, turn % 4
        work = bench.modmul(turn, 64)
        bench.start(core, work)
        bench.wait()
        for place in range(words):
            expected = work.result >> 32 * place & 0xFFFF_FFFF
            assert bench.read(r.RESULT) == expected
        bench.write(r.NEXT)
        assert bench.shown() is None
    works = [bench.modmul(seed, 64) for seed in range(bench.cores)]
    for core, work in enumerate(works):
        bench.start(core, work)
    bench.device.run(4000)
    for _ in works:  # all are there; one word is read of each
        core, error = bench.shown()
        assert error is Error.NONE
        assert bench.read(r.RESULT) == works[core].result & 0xFFFF_FFFF
        bench.write(r.NEXT)
    assert bench.idle()


def test_next_without_a_completion(bench):
    work = bench.private(1)
    bench.start(0, work)
    bench.write(r.NEXT)
    bench.write(r.NEXT)
    assert bench.occupied(0)
    assert bench.take() == (0, *work.ended)
    bench.write(r.NEXT)
    assert bench.idle()


def test_interrupt(bench):
    core = bench.cores - 1
    assert bench.read(r.INTERRUPT_ENABLE) == 0
    bench.write(r.INTERRUPT_ENABLE, 1)
    assert bench.read(r.INTERRUPT_ENABLE) == 1
    with pytest.raises(InterruptTimeout):
        bench.device.wait_interrupt()
    bench.start(core, bench.modmul(1))
    bench.device.wait_interrupt()
    assert bench.shown() is not None
    bench.device.wait_interrupt()  # as long as it is there
    bench.write(r.INTERRUPT_ENABLE, 0)
    with pytest.raises(InterruptTimeout):
        bench.device.wait_interrupt()
    bench.write(r.INTERRUPT_ENABLE, 1)
    bench.device.wait_interrupt()
    bench.write(r.NEXT)
    with pytest.raises(InterruptTimeout):
        bench.device.wait_interrupt()


def test_completions_wait_for_software(bench):
    """More than there are places for results: nothing is lost, and all keep their order."""
    for turn in range(2):
        works = [bench.modmul(10 * turn + core, 64) for core in range(bench.cores)]
        for core, work in enumerate(works):
            bench.start(core, work)
            bench.device.run(2000)
        bench.device.run(10_000)
        ended = [bench.take() for _ in works]
        assert ended == [(core, *work.ended) for core, work in enumerate(works)]
    assert bench.idle()


# --- CANCEL -------------------------------------------------------------------------------------


def duration(bench, core, work):
    """Cycles from the write of the command to the interrupt, all else being loaded."""
    bench.write(r.INTERRUPT_ENABLE, 1)
    bench.start(core, work)
    before = bench.device.cycles
    bench.device.wait_interrupt()
    cycles = bench.device.cycles - before
    assert bench.take() == (core, *work.ended)
    return cycles


@pytest.mark.parametrize("command", [Command.MODMUL, Command.RSA_PRIVATE])
def test_cancel_at_any_moment(bench, command):
    """One completion always, and the core works right afterwards.

    It has kept its operands, unless it is checked.
    """
    core = bench.cores - 1
    work = bench.modmul(1, 33) if command is Command.MODMUL else bench.private(1, 64)
    cycles = duration(bench, core, work)
    generator = random.Random(1)
    moments = [*range(12), *(generator.randrange(cycles) for _ in range(40))]
    moments += range(cycles - 50, cycles + 10)
    answers = {Error.NONE: 0, Error.CANCELLED: 0}
    x, length = work.operands[Operand.X], work.lengths[Length.MODULUS]
    bench.select(core)
    for moment in moments:
        bench.load(Operand.X, x, length)
        bench.write(r.COMMAND, command)
        bench.device.run(moment)
        bench.write(r.CANCEL)
        ended = bench.take()
        answers[ended[1]] += 1
        assert ended in ((core, *work.ended), (core, Error.CANCELLED, 0, 0))
        assert (ended[1] is Error.CANCELLED) == (moment < cycles - 25) or moment > cycles - 50
        # X has been read.
        bench.write(r.COMMAND, command)
        assert bench.take() == (core, Error.OPERAND_MISSING, 0, 0)
        if bench.own.checked and ended[1] is Error.CANCELLED:
            bench.load(Operand.X, x, length)
            bench.write(r.COMMAND, command)
            assert bench.take() == (core, Error.OPERAND_MISSING, 0, 0)
            bench.load_all(work, without={Operand.X})
        if moment % 3:
            bench.load(Operand.X, x, length)
            bench.write(r.COMMAND, command)
            assert bench.take() == (core, *work.ended), moment
    assert all(answers.values())
    assert bench.idle()


def test_cancel_without_a_command(bench):
    core = bench.cores - 1
    work = bench.modmul(1)
    bench.select(core)
    bench.write(r.CANCEL)
    bench.load_all(work)
    bench.write(r.CANCEL)
    assert bench.shown() is None
    bench.write(r.COMMAND, work.command)
    assert bench.take() == (core, *work.ended)
    # A command that was refused has ended.
    bench.write(r.COMMAND, work.command)
    bench.write(r.CANCEL)
    assert bench.take() == (core, Error.OPERAND_MISSING, 0, 0)
    assert bench.idle()


def test_cancel_more_than_once(bench):
    core = bench.cores - 1
    work = bench.private(1)
    for other in range(bench.cores):
        bench.start(other, work)
    bench.select(core)
    for _ in range(3):
        bench.write(r.CANCEL)
    assert bench.take() == (core, Error.CANCELLED, 0, 0)
    bench.write(r.CANCEL)
    rest = sorted(bench.take() for _ in range(bench.cores - 1))
    assert rest == [(other, *work.ended) for other in range(bench.cores - 1)]
    assert bench.idle()


def test_cancelled_wipe(bench):
    work = bench.modmul(1)
    for moment in (0, 1, 5, 20, 50):
        bench.select(0)
        bench.load_all(work)
        bench.write(r.COMMAND, Command.WIPE)
        bench.device.run(moment)
        bench.write(r.CANCEL)
        assert bench.take() in ((0, Error.CANCELLED, 0, 0), (0, Error.NONE, 0, 0))
        bench.write(r.COMMAND, work.command)
        assert bench.take() == (0, Error.OPERAND_MISSING, 0, 0)
        assert bench.run(0, work) == work.ended


# --- Traffic ------------------------------------------------------------------------------------


def test_traffic(bench):
    """Cores are loaded, started and cancelled while others end: each command ends once, rightly."""
    generator = random.Random(2)
    running = {}
    free = [*range(bench.cores)]
    works = [bench.any_work(seed) for seed in range(12)]
    left, ended = 500, 0
    while left or running:
        deed = generator.random()
        if left and free and deed < 0.5:
            core = free.pop(generator.randrange(len(free)))
            work = generator.choice(works)
            without = ()
            if generator.random() < 0.1:  # the lengths do not make a single digit incomplete
                lost = [one for one in work.operands if one.length is not Length.DIGIT]
                without = {generator.choice(lost)}
            bench.start(core, work, without=without)
            running[core] = work, bool(without), False
            left -= 1
        elif running and deed < 0.6:
            core = generator.choice([*running])
            bench.select(core)
            bench.write(r.CANCEL)
            running[core] = *running[core][:2], True
        elif bench.shown() is not None:
            core, error = bench.shown()
            work, missing, cancelled = running.pop(core)
            result = bench.result() if generator.random() < 0.8 else None
            bench.write(r.NEXT)
            free.append(core)
            ended += 1
            if missing:
                assert error is Error.OPERAND_MISSING
            elif not cancelled or error is not Error.CANCELLED:
                assert error is Error.NONE
            expected = (0, 0) if error else work.ended[1:]
            assert result in (None, expected)
        else:
            bench.device.run(generator.randrange(300))
    assert ended == 500
    assert bench.idle()


def test_reset_in_the_middle_of_traffic(bench):
    """Nothing of before comes afterwards, and everything works."""
    generator = random.Random(3)
    works = [bench.modmul(seed, 24 + seed) for seed in range(bench.cores)]
    cycles = duration(bench, 0, works[0])
    for turn in range(200):
        for core, work in enumerate(works):
            bench.start(core, work)
        if turn % 3 == 0:
            bench.write(r.KEY_OPERAND, Operand.M)
        if turn % 4 == 0:
            bench.write(r.CANCEL)
        bench.write(r.INTERRUPT_ENABLE, turn % 2)
        bench.device.run(generator.randrange(cycles))
        if turn % 5 == 0 and bench.shown() is not None:
            bench.read(r.RESULT)
        bench.device.reset()
        core = turn % bench.cores
        assert bench.read(r.CORE) == 0
        assert bench.read(r.INTERRUPT_ENABLE) == 0
        assert bench.shown() is None
        if turn % 10 == 0:
            assert bench.idle()
        bench.select(core)
        assert not bench.occupied(core)
        assert [bench.read(register) for register in LENGTHS.values()] == [0] * 4
        bench.write(r.MODULUS_LENGTH, works[core].lengths[Length.MODULUS])
        bench.write(r.COMMAND, Command.MODMUL)  # no operand is left
        assert bench.take() == (core, Error.OPERAND_MISSING, 0, 0)
        assert bench.run(core, works[core]) == works[core].ended
        assert bench.shown() is None
    assert bench.idle()


# --- Against a model of the registers -----------------------------------------------------------


class Model(cluster_model.ClusterModel):
    """Of engines that may do a private operation without the constants of the whole modulus."""

    def check_constants(self, own, modulus, inverse, power):
        if {inverse, power} & self.held <= own.operands.keys():
            super().check_constants(own, modulus, inverse, power)


class Both:
    """The same accesses to the hardware and to the model, which must read the same.

    After each of them the hardware has time to end what it does: when, the model does not tell.
    """

    def __init__(self, bench):
        own = bench.own
        self.bench = bench
        self.model = Model(
            bench.cores,
            width=own.digit_width,
            headroom=own.headroom,
            radix=own.radix_bits,
            least=own.min_length,
            greatest=own.max_length,
            greatest_prime=own.max_prime_length,
            commands=tuple(own.required),
            held=own.operands,
        )

    def write(self, register, value=0):
        self.bench.write(register, value)
        self.model.write32(register.address, value)
        if register is r.COMMAND:
            self.bench.device.run(20_000)
            self.model.pass_cycles(20_000)

    def read(self, register):
        value = self.bench.read(register)
        assert value == self.model.read32(register.address), register.name
        return value

    def compare(self):
        for register in (r.ERROR, r.CORE, r.COMPLETION, r.RESULT_LENGTH, *LENGTHS.values()):
            self.read(register)


def choose_values(bench, generator):
    """A modulus with its constants and other operands; now and then one that engines refuse."""
    length = generator.randint(bench.own.min_length, bench.own.max_length)
    if generator.random() < 0.3:
        work = bench.private(generator.randrange(3), 64)
        return work.operands, work.lengths
    m = bench.modulus(generator, length)
    operands = bench.radix.modulus_operands(m, length)
    exponent_length = generator.randint(1, 40)
    fault = generator.random()
    if fault < 0.1:
        operands[Operand.M] = generator.choice([0, m - 1])
    operands |= {
        Operand.X: generator.randrange(m) if fault < 0.8 else min(m + 2, (1 << length) - 1),
        Operand.Y: generator.randrange(m) if fault < 0.9 else m,
        Operand.E: generator.getrandbits(exponent_length),
    }
    operands = {one: value for one, value in operands.items() if one in bench.own.operands}
    return operands, {Length.MODULUS: length, Length.EXPONENT: exponent_length}


@pytest.mark.fuzz
def test_random_accesses_against_the_model(opened, monkeypatch):
    """Valid and invalid ones in random order."""
    bench = opened
    monkeypatch.setattr(cluster_model, "REQUIRED", bench.own.required)
    if not bench.own.montgomery or bench.own.checked:
        return  # the model knows no MODULUS_SHORT, and no FAULT
    bench.device.reset()
    both = Both(bench)
    generator = random.Random(7)
    ends = dict.fromkeys(Error, 0)
    refusals = dict.fromkeys(Error, 0)

    def load(operand, value, bits):
        both.write(r.KEY_OPERAND, operand)
        for place in range(0, bits, 32):
            both.write(r.KEY_DATA, value >> place & 0xFFFF_FFFF)

    def write_length():
        register = generator.choice([*LENGTHS.values()])
        limit = generator.choice([bench.own.max_length, bench.own.max_prime_length])
        both.write(register, generator.choice([0, limit, limit + 1, 0xFFFF]))

    def load_whole():
        if generator.random() < 0.8:
            remove()
        operands, lengths = choose_values(bench, generator)
        for kind, length in lengths.items():
            both.write(LENGTHS[kind], length)
        order = [*operands]
        generator.shuffle(order)
        for operand in order[: generator.choice([99, 99, 99, 3])]:
            load(operand, operands[operand], bench.length_of(operand, lengths))
        if generator.random() < 0.4:
            write_length()
        private = Operand.P in operands
        both.write(r.COMMAND, 4 if private else generator.choice([1, 2, 3]))

    def load_badly():
        if generator.random() < 0.5:
            remove()
            write_length()
        operand = generator.choice([generator.randrange(32), *sorted(bench.own.operands)])
        both.write(r.KEY_OPERAND, operand)
        for _ in range(generator.randrange(4)):
            # Whoever takes the last word whole finds a bit above the length, or 32 * k bits.
            both.write(r.KEY_DATA, generator.getrandbits(32) | 1 << 31)
        if operand in bench.own.operands:
            both.write(r.KEY_OPERAND, operand)  # it is incomplete again

    def command():
        both.write(r.COMMAND, generator.randrange(8))

    def remove():
        shown = both.read(r.COMPLETION)
        ends[Error(shown >> 16 & 0xFF)] += shown >> 31
        if generator.random() < 0.8:
            size = both.read(r.RESULT_LENGTH)
            for _ in range(-(-size // 4) + generator.randrange(-1, 3)):
                both.read(r.RESULT)
        both.write(r.NEXT)
        if shown >> 31:
            # The model takes X with a command that was refused, too.
            core = both.read(r.CORE) & 0xFFFF
            both.write(r.CORE, shown & 0xFFFF)
            both.write(r.KEY_OPERAND, Operand.X)
            both.write(r.CORE, core)

    deeds = {
        lambda: both.write(r.CORE, generator.randrange(bench.cores)): 20,
        lambda: both.write(r.CORE, generator.choice([bench.cores, NO_CORE, 1 << 31])): 2,
        lambda: both.write(r.CANCEL): 3,
        lambda: both.write(r.KEY_DATA, generator.getrandbits(32) & 1): 2,
        write_length: 2,
        load_whole: 20,
        load_badly: 15,
        command: 5,
        remove: 10,
    }
    for _ in range(600):
        generator.choices([*deeds], [*deeds.values()])[0]()
        both.compare()
        if generator.random() < 0.7:
            refusals[Error(both.read(r.ERROR) >> 8)] += 1
            both.write(r.ERROR)
    # Everything has occurred that can.
    known = {Error.NONE, Error.UNSUPPORTED, Error.OPERAND_MISSING, Error.MODULUS_EVEN}
    known |= {Error.LENGTH_ZERO, Error.LENGTH_OVER, Error.EXPONENT_LENGTH, Error.OPERAND_RANGE}
    assert all(ends[error] for error in known), ends
    known = {Error.NONE, Error.ADDRESS, Error.BUSY, Error.KEY_OVERRUN, Error.KEY_EXCESS}
    known |= {Error.LENGTH_ZERO, Error.LENGTH_OVER}
    assert all(refusals[error] for error in known), refusals
    bench.write(r.ERROR)


# --- The whole text, and many cores -------------------------------------------------------------


@pytest.mark.matrix
@pytest.mark.xdist_group("whole cluster")
def test_the_whole_module_is_the_chain_cycle_for_cycle():
    """What is built is what is simulated: each access takes the same cycles and gives the same."""

    def record(bench):
        device = bench.device
        seen = []
        # Each access is kept with the cycle in which it has ended.
        read32, write32 = device.read32, device.write32

        def read(address):
            value = read32(address)
            seen.append((device.cycles, address, value))
            return value

        def write(address, value):
            write32(address, value)
            seen.append((device.cycles, address, value))

        device.read32, device.write32 = read, write
        works = [bench.private(1), bench.modexp(2), bench.modmul(3)]
        for core, work in enumerate(works):
            bench.start(core, work)
        for _ in works:
            core, *rest = bench.take()
            assert (*rest,) == works[core].ended
        bench.start(2, works[0])
        device.run(1000)
        bench.write(r.CANCEL)
        assert bench.take() == (2, Error.CANCELLED, 0, 0)
        bench.start(1, works[1])
        device.run(500)
        device.reset()
        assert bench.run(0, works[2]) == works[2].ended
        bench.read(r.TIME)
        return seen

    with open_bench("fdfm", 3, max_bits=64) as bench:
        chain = record(bench)
    with open_bench("fdfm", 3, max_bits=64, whole=True) as bench:
        assert record(bench) == chain


@pytest.mark.xdist_group("cluster of fdfm, 320 cores")
@pytest.mark.matrix
def test_320_keys_on_320_cores():
    with open_bench("fdfm", 320, max_bits=64) as bench:
        works = [bench.private(seed) for seed in range(320)]
        assert len({work.operands[Operand.M] for work in works}) == 320
        for core, work in enumerate(works):
            bench.start(core, work)
        found = {}
        for _ in works:
            core, *rest = bench.take()
            assert core not in found
            found[core] = (*rest,)
        assert found == {core: work.ended for core, work in enumerate(works)}
        assert bench.refusal() is Error.NONE
        assert bench.shown() is None


@pytest.mark.matrix
def test_1024_bits_on_8_cores():
    with open_bench("fdfm", 8, max_bits=1024, cycle_limit=20_000_000) as bench:
        works = [bench.private(seed) for seed in range(8)]
        for core, work in enumerate(works):
            bench.start(core, work)
        found = {core: (*rest,) for core, *rest in (bench.take() for _ in works)}
        assert found == {core: work.ended for core, work in enumerate(works)}
        assert bench.refusal() is Error.NONE
        assert bench.idle()


@pytest.mark.parametrize("cores", [70, pytest.param(1023, marks=pytest.mark.matrix)])
def test_many_cores_can_be_written(cores):
    """Every number once, as a constant of its node, and the chain through all of them."""
    choice = cluster_choice("fdfm", cores, max_bits=64)
    text = cluster_verilog(choice)
    instance = (
        rf"{NODE} \w+ \(\s*\.clk\(s_axi_aclk\),\s*\.number\({cores.bit_length()}'h(\w+)\),"
        r"\s*\.packet_in\(packet_(\d+)\),\s*\.reset_in\(reset_(\d+)\),"
        r"\s*\.packet_out\(packet_(\d+)\),\s*\.reset_out\((\w+)\)\s*\);"
    )
    nodes = {int(number, 16): wires for number, *wires in re.findall(instance, text)}
    nodes[cores - 1][3] = f"reset_{cores}"  # which leads nowhere, and has a name of its own
    assert nodes == {k: [f"{k}", f"{k}", f"{k + 1}", f"reset_{k + 1}"] for k in range(cores)}
    (ends,) = re.findall(rf"{FRONT_END} front_end \((.*?)\);", text, re.DOTALL)
    for wire in (f".packet_in(packet_{cores})", ".packet_out(packet_0)", ".reset_out(reset_0)"):
        assert wire in ends
    assert text.count(f"module {NODE} (") == text.count(f"module {FRONT_END} (") == 1


@pytest.mark.parametrize("cores", [0, 1024, -1])
def test_other_counts_of_cores_are_refused(cores):
    capabilities = cluster_choice("fdfm", 1, max_bits=64).core.design.capabilities
    message = rf"cores must be (an integer )?in 1\.\.1023, not '?{cores}'?"
    for make in (
        lambda: cluster_choice("fdfm", cores),
        lambda: ClusterFrontEnd(capabilities, cores),
        lambda: ChainEnds(capabilities, cores),
        lambda: AxiCluster(capabilities, cores, ends=FRONT_END, node=NODE),
    ):
        with pytest.raises(ValueError, match=message):
            make()


def test_lengths_that_no_register_can_tell_are_refused():
    capabilities = cluster_choice("fdfm", 1, max_bits=64).core.design.capabilities
    for length in (0, 65535):
        with pytest.raises(ValueError, match=rf"max_length must be 1 to 65534, not {length}"):
            ClusterFrontEnd(replace(capabilities, max_length=length), 1)
