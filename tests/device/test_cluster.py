"""The cluster's driver against a model of the registers."""

import random
from dataclasses import replace

import pytest

from coprime.bus import cluster_registers as r
from coprime.bus import registers
from coprime.device.accelerator import Accelerator
from coprime.device.base import BusError, DeviceError, InterruptTimeout
from coprime.device.cluster import Cluster, Completion
from coprime.device.jobs import EngineError, IdentificationError
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.rsa.keys import generate

from .cluster_model import REQUIRED, ClusterModel, Fault
from .test_accelerator import FakeDevice

KEY = generate(512, seed=1)
OTHER = generate(512, seed=2)


@pytest.fixture
def device():
    return ClusterModel()


@pytest.fixture
def cluster(device):
    return Cluster(device)


def finish(cluster):
    """The next completion."""
    while (completion := cluster.completion()) is None:
        cluster.wait()
    return completion


def run(cluster, core, job, x=0):
    cluster.start(core, job, x)
    completion = finish(cluster)
    assert completion.core == core
    return completion


def error_of(call, *arguments, **named):
    with pytest.raises(EngineError) as caught:
        call(*arguments, **named)
    return caught.value.code


# --- What it is ---------------------------------------------------------------------------------


def test_the_registers_of_both_maps_agree():
    """Where their names are the same: the drivers share what they do with them."""
    own = {register.name: register for register in registers.REGISTERS}
    shared = [register for register in r.REGISTERS if register.name in own]
    assert len(shared) >= 16
    for register in shared:
        other = own[register.name]
        assert register.address == other.address, register.name
        fields = {field.name: (field.offset, field.width) for field in register.fields}
        others = {field.name: (field.offset, field.width) for field in other.fields}
        assert fields.items() <= others.items(), register.name


def test_reads_what_the_cluster_is(cluster):
    assert cluster.cores == 4
    assert cluster.family == 7
    assert cluster.commands == {*REQUIRED, Command.WIPE}
    assert cluster.constant_time
    assert not cluster.fixed_modulus
    assert (cluster.digit_width, cluster.headroom) == (17, 2)
    assert (cluster.radix_bits, cluster.multipliers) == (17, 1)
    assert cluster.min_length == 5
    assert (cluster.max_length, cluster.max_prime_length) == (2176, 1088)
    assert (cluster.occupied, cluster.resets) == (frozenset(), 0)


def test_another_device_is_refused():
    with pytest.raises(IdentificationError, match=r"itself as 0x12345678, .* 0x434F5043$"):
        Cluster(ClusterModel(identification=0x12345678))
    with pytest.raises(IdentificationError, match=r"itself as 0x12345678, .* 0x434F5052$"):
        Accelerator(FakeDevice(identification=0x12345678))


def test_the_other_driver_is_named():
    with pytest.raises(IdentificationError, match=r"0x434F5052: it is a Coprime cluster, and .*Cl"):
        Accelerator(ClusterModel())
    with pytest.raises(IdentificationError, match=r"a Coprime accelerator, and .*\.Accelerator is"):
        Cluster(FakeDevice())


@pytest.mark.parametrize("core", [0, 3])
def test_an_occupied_core_is_refused(device, core):
    device.write32(r.CORE.address, core)
    device.write32(r.COMMAND.address, Command.WIPE)
    assert error_of(Cluster, device) is Error.BUSY


# --- Commands -----------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [5, 32, 33, 61, 64, 128, *range(1023, 1032), 1536, 2047])
def test_modmul_and_modexp(cluster, length):
    source = random.Random(length)
    m = source.getrandbits(length) | 1 << (length - 1) | 1
    for core, (x, y) in enumerate(((0, m - 1), (1, m - 2), (m - 1, m - 1), (m // 3, m // 2))):
        assert run(cluster, core, cluster.modmul_job(x, y, m), x).value == x * y % m
        for e in (0, 1, 2, 17):
            assert run(cluster, core, cluster.modexp_job(x, e, m), x).value == pow(x, e, m)


@pytest.mark.parametrize("radix", [0, 1, 17])
@pytest.mark.parametrize(("bits", "p_bits"), [(64, None), (515, 220), (1031, None)])
def test_rsa(radix, bits, p_bits):
    cluster = Cluster(ClusterModel(radix=radix))
    key = generate(bits, p_bits=p_bits, seed=bits)
    public, private = cluster.public_job(key.n, key.e), cluster.private_job(key)
    assert (public.command, private.command) == (Command.RSA_PUBLIC, Command.RSA_PRIVATE)
    for core, x in enumerate((0, key.p, key.n - 1, key.n // 3)):
        assert run(cluster, core, public, x).value == pow(x, key.e, key.n)
        assert run(cluster, core, private, x).value == pow(x, key.d, key.n)


def test_without_crt():
    held = REQUIRED[Command.MODEXP]
    cluster = Cluster(ClusterModel(commands=(Command.MODEXP,), held=held, greatest_prime=0))
    job = cluster.private_job(KEY)
    assert job.command is Command.MODEXP
    assert job.lengths[Length.EXPONENT] == KEY.bits
    assert run(cluster, 1, job, 5).value == pow(5, KEY.d, KEY.n)
    assert run(cluster, 1, cluster.public_job(KEY.n, 3), 5).value == pow(5, 3, KEY.n)


def test_all_cores_at_once_and_in_any_order(device, cluster):
    """Each with its own key; completions come in the order in which the commands end."""
    keys = [generate(64 + 32 * core, seed=core) for core in range(4)]
    for core, key in enumerate(keys):
        cluster.start(core, cluster.private_job(key), core + 2)
    assert cluster.occupied == {0, 1, 2, 3}
    done = [finish(cluster) for _ in keys]
    assert {completion.core for completion in done} == {0, 1, 2, 3}
    assert [completion.core for completion in done] != sorted(range(4))
    for completion in done:
        key = keys[completion.core]
        assert completion == Completion(
            completion.core, Error.NONE, pow(completion.core + 2, key.d, key.n)
        )
    assert cluster.occupied == frozenset()
    assert cluster.completion() is None
    cluster.wait()  # for nothing


def test_words_and_order(device, cluster):
    device.writes.clear()
    x, y, m = (1 << 65) + 5, (1 << 33) + 7, (1 << 66) - 1
    cluster.start(2, cluster.modmul_job(x, y, m), x)
    operands, current = {}, None
    for register, value in device.writes:
        if register is r.KEY_OPERAND:
            current = operands.setdefault(Operand(value), [])
        elif register is r.KEY_DATA:
            current.append(value)
    assert operands[Operand.X] == [5, 0, 2]
    assert operands[Operand.Y] == [7, 2, 0]
    assert operands[Operand.M] == [0xFFFF_FFFF, 0xFFFF_FFFF, 3]
    assert operands[Operand.M_INVERSE] == [1]
    names = [register.name for register, _ in device.writes]
    assert names[:3] == ["CORE", "ERROR", "MODULUS_LENGTH"]
    assert names[-1] == "COMMAND"
    assert device.written(r.CORE) == [2]


def test_loads_only_what_changed(device, cluster):
    private = cluster.private_job(KEY)
    run(cluster, 1, private, 5)
    assert cluster.holds(1, private)
    assert not cluster.holds(0, private)
    device.writes.clear()
    before = device.accesses
    run(cluster, 1, cluster.private_job(replace(KEY)), 6)
    assert device.written(r.KEY_OPERAND) == [Operand.X]
    assert not device.written(r.MODULUS_LENGTH)
    assert not device.written(r.CORE)
    words = KEY.bits // 32
    # Enable, X's number and words, refusal, command; completion once or twice, length, result, next
    assert device.accesses - before <= 2 * words + 8
    device.writes.clear()
    run(cluster, 1, cluster.public_job(KEY.n, KEY.e), 7)
    assert device.written(r.KEY_OPERAND) == [Operand.E, Operand.X]
    device.writes.clear()
    job = cluster.modmul_job(3, 4, OTHER.n)  # as long, so that only the modulus' operands change
    assert run(cluster, 1, job, 3).value == 12
    assert set(device.written(r.KEY_OPERAND)) == {
        Operand.M,
        Operand.M_INVERSE,
        Operand.M_POWER,
        Operand.Y,
        Operand.X,
    }
    assert not cluster.holds(1, private)
    assert run(cluster, 1, private, 7).value == pow(7, KEY.d, KEY.n)
    run(cluster, 1, cluster.modmul_job(3, 4, 35), 3)  # another length clears the CRT factors too
    assert run(cluster, 1, private, 7).value == pow(7, KEY.d, KEY.n)


def test_holding_a_modulus_is_not_a_matter_of_other_operands(cluster):
    run(cluster, 0, cluster.modexp_job(3, 5, 35), 3)
    assert cluster.holds(0, cluster.modexp_job(4, 1000, 35))
    assert cluster.holds(0, cluster.modmul_job(4, 9, 35))
    assert not cluster.holds(0, cluster.modmul_job(4, 9, 37))
    assert not cluster.holds(0, cluster.modmul_job(4, 900, 35))  # has another length
    cluster.forget(0)
    assert not cluster.holds(0, cluster.modmul_job(4, 9, 35))


def test_forget_loads_anew(device, cluster):
    job = cluster.private_job(KEY)
    run(cluster, 1, job, 5)
    device.cores[1].operands.clear()
    assert run(cluster, 1, job, 5) == Completion(1, Error.OPERAND_MISSING, None)
    assert run(cluster, 1, job, 5).value == pow(5, KEY.d, KEY.n)  # an error forgets too
    device.cores[1].operands.clear()
    cluster.forget(1)
    assert run(cluster, 1, job, 5).value == pow(5, KEY.d, KEY.n)


def test_prediction():
    class Prediction:
        cycles = 1234

    asked = []

    def predict(command, operands, lengths):
        asked.append((command, dict(operands), dict(lengths)))
        return Prediction

    cluster = Cluster(ClusterModel(), predict=predict)
    assert run(cluster, 0, cluster.modmul_job(3, 4, 35), 3).predicted_cycles == 1234
    command, operands, lengths = asked.pop()
    assert (command, lengths) == (Command.MODMUL, {Length.MODULUS: 6})
    assert (operands[Operand.X], operands[Operand.Y], operands[Operand.M]) == (3, 4, 35)
    cluster.wipe(0)
    assert finish(cluster) == Completion(0, Error.NONE, None)
    assert run(cluster, 0, cluster.modmul_job(3, 4, 36), 3).predicted_cycles is None
    assert not asked


def test_time(device, cluster):
    before = cluster.time()
    device.wait_interrupt = None
    for _ in range(10):
        cluster.completion()
    assert cluster.time() == before + 11


# --- Errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "x", "code"),
    [
        (lambda c: c.modmul_job(3, 4, 0x10), 3, Error.MODULUS_EVEN),
        (lambda c: c.modmul_job(16, 4, 0), 16, Error.MODULUS_ZERO),
        (lambda c: c.modmul_job(0, 0, 0), 0, Error.MODULUS_ZERO),
        (lambda c: c.modmul_job(35, 4, 35), 35, Error.OPERAND_RANGE),
        (lambda c: c.modmul_job(4, 35, 35), 4, Error.OPERAND_RANGE),
        (lambda c: c.modmul_job(4, 1 << 1000, 35), 4, Error.OPERAND_RANGE),
        (lambda c: c.modexp_job(1 << 1000, 3, 35), 1 << 1000, Error.OPERAND_RANGE),
        (lambda c: c.modexp_job(3, 3, (1 << 2177) - 1), 3, Error.LENGTH_OVER),
        (lambda c: c.modexp_job(3, 3, (1 << 70000) - 1), 3, Error.LENGTH_OVER),
        (lambda c: c.modexp_job(3, 1 << 2176, 35), 3, Error.LENGTH_OVER),
        (lambda c: c.modexp_job(3, 0, 35, exponent_length=0), 3, Error.EXPONENT_LENGTH),
        (lambda c: c.public_job(KEY.n, 3), KEY.n, Error.OPERAND_RANGE),
        (lambda c: c.public_job(KEY.n, 3, KEY.n << 9), KEY.n << 9, Error.OPERAND_RANGE),
        (lambda c: c.private_job(KEY, KEY.n << 9), KEY.n << 9, Error.OPERAND_RANGE),
    ],
)
def test_the_hardwares_own_error(device, cluster, make, x, code):
    completion = run(cluster, 3, make(cluster), x)
    assert completion == Completion(3, code, None)
    error = cluster.error_of(completion)
    assert isinstance(error, EngineError)
    assert error.code is code
    assert ("2176 bits" in str(error)) == (code is Error.LENGTH_OVER)
    assert device.refusal == Error.NONE
    assert run(cluster, 3, cluster.modmul_job(4, 10, 35), 4).value == 5


def test_an_unknown_command():
    cluster = Cluster(ClusterModel(commands=(Command.MODMUL,)))
    assert run(cluster, 0, cluster.modexp_job(3, 5, 35), 3).error is Error.UNSUPPORTED


def test_an_error_that_does_not_exist():
    cluster = Cluster(ClusterModel(faults={0: (Fault.STRANGE, 0)}))
    completion = run(cluster, 0, cluster.modexp_job(3, 5, 35), 3)
    assert completion.error == 31
    with pytest.raises(DeviceError, match="core 0 ended with error 31, which does not exist"):
        raise cluster.error_of(completion)


@pytest.mark.parametrize("core", [-1, 4, 1023, 70000])
@pytest.mark.parametrize("call", ["start", "cancel", "wipe", "forget", "wipe_all"])
def test_a_wrong_core_number(device, cluster, core, call):
    device.writes.clear()
    arguments = {"start": (core, cluster.modmul_job(1, 2, 35), 1), "wipe_all": ([0, core],)}
    with pytest.raises(ValueError, match=rf"core must be in 0\.\.3, not {core}"):
        getattr(cluster, call)(*arguments.get(call, (core,)))
    assert not device.writes
    with pytest.raises(TypeError, match="core must be an int, not '1'"):
        cluster.cancel("1")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda c: c.modmul_job(-1, 2, 35), ValueError, "x must be 0 or more"),
        (lambda c: c.modexp_job(1, -2, 35), ValueError, "e must be 0 or more"),
        (lambda c: c.modexp_job(1, 5, 35, exponent_length=2), ValueError, "must be 3 or more"),
        (lambda c: c.public_job(35, 3, True), TypeError, "x must be an int, not bool"),
        (lambda c: c.private_job(replace_numbers(dq=-1)), ValueError, "dq must be 0 or more"),
        (
            lambda c: c.start(0, c.modmul_job(1, 2, 35), 64),
            ValueError,
            "x must have at most 6 bits",
        ),
        (lambda c: c.start(0, c.modmul_job(1, 2, 35), -1), ValueError, "x must be 0 or more"),
    ],
)
def test_numbers_that_no_register_can_say(device, cluster, call, error, text):
    device.writes.clear()
    with pytest.raises(error, match=text):
        call(cluster)
    assert not device.writes


def replace_numbers(**numbers):
    class Numbers:
        n, d, p, q, dp, dq = 35, 5, 7, 5, 5, 1

    for name, value in numbers.items():
        setattr(Numbers, name, value)
    return Numbers


def test_a_refusal_starts_nothing(device, cluster):
    job = cluster.private_job(KEY)
    cluster.start(1, job, 5)
    started = len(device.started)
    assert error_of(cluster.start, 1, job, 6) is Error.BUSY
    assert error_of(cluster.wipe, 1) is Error.BUSY
    long = cluster.modexp_job(3, 3, (1 << 2177) - 1)
    assert error_of(cluster.start, 1, long, 3) is Error.BUSY
    other = cluster.private_job(OTHER)
    assert error_of(cluster.start, 1, other, 3) is Error.BUSY
    assert not cluster.holds(1, other)
    assert len(device.started) == started
    assert finish(cluster).value == pow(5, KEY.d, KEY.n)
    assert run(cluster, 1, job, 6).value == pow(6, KEY.d, KEY.n)
    assert run(cluster, 0, job, 6).value == pow(6, KEY.d, KEY.n)


def test_a_command_that_loads_nothing_is_refused_too(device, cluster):
    cluster.start(1, cluster.modmul_job(1, 2, 35), 1)
    cluster._running.clear()  # as if another driver had started it
    assert error_of(cluster.wipe, 1) is Error.BUSY
    assert cluster.occupied == frozenset()


@pytest.mark.parametrize("good", range(0, 120, 4))
def test_after_a_bus_error_nothing_half_loaded_is_used(device, cluster, good):
    run(cluster, 1, cluster.private_job(KEY), 5)
    write32 = device.write32
    left = good

    def failing(address, value):
        nonlocal left
        if left == 0:
            raise BusError(address, True)
        left -= 1
        write32(address, value)

    device.write32 = failing
    with pytest.raises(BusError):
        cluster.start(1, cluster.private_job(OTHER), 5)
    device.write32 = write32
    assert cluster.occupied == frozenset()
    assert run(cluster, 1, cluster.private_job(KEY), 5).value == pow(5, KEY.d, KEY.n)


@pytest.mark.parametrize("good", range(2 + KEY.bits // 32 + 1))
def test_a_result_is_read_on_after_a_bus_error(device, cluster, good):
    cluster.start(1, cluster.private_job(KEY), 5)
    cluster.wait()
    read32, write32 = device.read32, device.write32
    left = good

    def failing(access, write):
        def call(address, *value):
            nonlocal left
            left -= 1
            if left == -1:
                raise BusError(address, write)
            return access(address, *value)

        return call

    device.read32, device.write32 = failing(read32, False), failing(write32, True)
    with pytest.raises(BusError):
        cluster.completion()
    assert finish(cluster).value == pow(5, KEY.d, KEY.n)
    assert cluster.completion() is None
    assert run(cluster, 1, cluster.private_job(KEY), 6).value == pow(6, KEY.d, KEY.n)


def test_a_result_whose_reading_a_reset_ended(device, cluster):
    job = cluster.private_job(KEY)
    cluster.start(1, job, 5)
    cluster.wait()
    read32, left = device.read32, iter(range(8))

    def read(address):
        if next(left, None) is None:
            raise BusError(address, False)
        return read32(address)

    device.read32 = read
    with pytest.raises(BusError):
        cluster.completion()
    device.read32 = read32
    device.reset()
    assert run(cluster, 1, job, 6).value == pow(6, KEY.d, KEY.n)


# --- Cancelling, wiping, resets -----------------------------------------------------------------


def test_cancel(device, cluster):
    job = cluster.private_job(KEY)
    cluster.start(2, job, 5)
    cluster.start(1, job, 6)
    cluster.cancel(2)
    assert finish(cluster) == Completion(2, Error.CANCELLED, None)
    assert finish(cluster).value == pow(6, KEY.d, KEY.n)
    assert not cluster.holds(2, job)
    assert run(cluster, 2, job, 7).value == pow(7, KEY.d, KEY.n)
    with pytest.raises(EngineError, match="the command was cancelled before it had a result"):
        raise cluster.error_of(Completion(2, Error.CANCELLED, None))


def test_cancel_too_late_or_for_nothing(device, cluster):
    cluster.cancel(3)
    assert cluster.completion() is None
    cluster.start(2, cluster.private_job(KEY), 5)
    cluster.wait()
    cluster.cancel(2)
    assert finish(cluster).value == pow(5, KEY.d, KEY.n)
    assert cluster.completion() is None


def test_waiting_has_an_end():
    cluster = Cluster(ClusterModel(faults={0: (Fault.STUCK, 0)}))
    cluster.start(0, cluster.modmul_job(3, 4, 35), 3)
    with pytest.raises(InterruptTimeout):
        cluster.wait()
    cluster.cancel(0)
    assert finish(cluster).error is Error.CANCELLED


def test_wipe(device, cluster):
    job = cluster.private_job(KEY)
    run(cluster, 1, job, 5)
    run(cluster, 2, job, 5)
    cluster.wipe(1)
    assert not cluster.holds(1, job)
    assert finish(cluster) == Completion(1, Error.NONE, None)
    assert not device.cores[1].operands
    assert device.cores[2].operands
    cluster.wipe_all()
    assert not any(core.operands for core in device.cores)
    assert not cluster.holds(2, job)
    assert cluster.completion() is None
    assert device.started[-4:] == [(core, Command.WIPE) for core in range(4)]
    assert run(cluster, 2, job, 5).value == pow(5, KEY.d, KEY.n)


def test_wipe_some_while_others_work(device, cluster):
    job = cluster.private_job(KEY)
    for core in (0, 3):
        cluster.start(core, job, core)
    assert error_of(cluster.wipe_all) is Error.BUSY
    assert error_of(cluster.wipe_all, [1, 3]) is Error.BUSY
    assert not cluster.occupied & {1, 2}
    while not device.completions:
        device.pass_cycles()
    cluster.wipe_all([1, 2])
    assert cluster.occupied == {0, 3}
    cluster.wait()
    results = {completion.core: completion for completion in (finish(cluster), finish(cluster))}
    assert all(results[core].value == pow(core, KEY.d, KEY.n) for core in (0, 3))


def test_a_wipe_that_fails():
    device = ClusterModel(faults={1: (Fault.STRANGE, 0)})
    cluster = Cluster(device)
    with pytest.raises(DeviceError, match="core 1 ended with error 31"):
        cluster.wipe_all()
    assert cluster.occupied == frozenset()
    device.faults = {2: (Fault.STUCK, 0)}
    with pytest.raises(InterruptTimeout):
        cluster.wipe_all()
    assert cluster.occupied == {2}
    cluster.wipe_all({0, 1, 3})


def test_a_reset_is_noticed(device, cluster):
    job = cluster.private_job(KEY)
    run(cluster, 3, job, 5)
    device.reset()
    assert run(cluster, 3, job, 5).value == pow(5, KEY.d, KEY.n)
    assert cluster.resets == 1
    cluster.start(2, job, 5)
    assert not cluster.notice_reset()
    device.reset()
    assert cluster.occupied == {2}
    assert cluster.notice_reset()
    assert not cluster.notice_reset()
    assert (cluster.occupied, cluster.resets) == (frozenset(), 2)
    assert cluster.completion() is None
    assert run(cluster, 2, job, 5).value == pow(5, KEY.d, KEY.n)


def test_a_reset_while_wiping(device, cluster):
    write32 = device.write32

    def resetting(address, value):
        write32(address, value)
        if (address, value) == (r.COMMAND.address, Command.WIPE) and device.selected == 2:
            device.reset()

    device.write32 = resetting
    with pytest.raises(DeviceError, match="reset while its cores were wiped"):
        cluster.wipe_all()


def test_no_secret_in_a_repr(cluster):
    job = cluster.private_job(KEY)
    completion = run(cluster, 0, job, 12345)
    value = pow(12345, KEY.d, KEY.n)
    text = repr(cluster) + repr(job) + repr(completion) + repr(vars(cluster)["_memories"])
    assert completion.value == value
    for secret in (KEY.d, KEY.p, KEY.dp, value):
        assert str(secret) not in text
