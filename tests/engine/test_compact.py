"""What only the compact engine has to show; see test_families.py for what every engine has."""

import dataclasses
import itertools
import math
import random

import pytest
from amaranth.sim import Simulator
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from coprime.bus import registers
from coprime.catalog import choose
from coprime.device.cluster import Cluster
from coprime.device.scheduler import Scheduler
from coprime.device.simulated import open_cluster
from coprime.engine.banked_lane import BankedLane
from coprime.engine.compact import compact
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.engine.layout import Layout
from coprime.operations.encodings.radix import Radix
from coprime.operations.encodings.rsa_key import private_operands
from coprime.program.operands import Core
from coprime.program.steps import Next
from coprime.rsa import operations
from coprime.rsa.keys import RsaPrivateKey, generate, parse_private
from coprime.rsa.padding import DecryptionError, Oaep, Pkcs1Signature
from tests.benches import open_bench
from tests.wycheproof import ODD_SIZES, vectors

pytestmark = pytest.mark.xdist_group("compact, 128 bits")


@pytest.fixture(scope="module")
def bench():
    bench = open_bench("compact", max_bits=128)
    yield bench
    bench.device.close()


def private(design, key, bits):
    """The prediction of a private operation."""
    half = bits // 2
    operands = private_operands(
        Radix.of(design.capabilities), key.n, (key.p, key.q), (key.dp, key.dq), bits, (half, half)
    )
    lengths = {Length.MODULUS: bits, Length.P: half, Length.Q: half}
    lengths[Length.EXPONENT] = key.e.bit_length()
    numbers = {**operands, Operand.E: key.e, Operand.X: key.n - 2}
    return design.predict(Command.RSA_PRIVATE, numbers, lengths)


@pytest.mark.proof(quick=1)
@pytest.mark.parametrize("m", [3, 5, 21, pytest.param(63, marks=pytest.mark.matrix)])
def test_exhaustive_small_moduli(bench, m):
    run = bench.accelerator.modmul
    for x in range(m):
        for y in range(m):
            assert run(x, y, m).value == x * y % m


@pytest.mark.matrix
def test_longest_of_a_full_count():
    """62 digits, with counts of 6 bits: no counter may wrap where it is not to."""
    bench = open_bench("compact", max_bits=1024)
    with bench.device:
        for m in ((1 << 1024) - 1, (1 << 1023) + 1):
            for x, y in ((1, 1), (m - 1, m - 2)):
                assert bench.accelerator.modmul(x, y, m).value == x * y % m
            assert bench.accelerator.modexp(m - 2, 5, m).value == pow(m - 2, 5, m)


def test_every_window(bench):
    """Exponents of every length, so that the first window is full or not, and starts anywhere."""
    m = (1 << 61) - 1
    generator = random.Random(4)
    for length in range(1, 60):
        e = generator.getrandbits(length) | 1 << (length - 1)
        assert bench.accelerator.modexp(3, e, m).value == pow(3, e, m)
        assert bench.accelerator.modexp(3, 1, m, exponent_length=length).value == 3


def test_cycles_tell_only_the_lengths(bench):
    """The same for every exponent, message and key of a size."""
    m = (1 << 64) - 59
    cycles = {
        bench.accelerator.modexp(x, e, m, exponent_length=64).cycles
        for e in (0, 1, (1 << 64) - 1, 0x8000_0000_0000_0000)
        for x in (0, 1, m - 1)
    }
    assert len(cycles) == 1
    cycles = set()
    for seed in range(4):
        key = generate(128, seed=seed)
        bench.accelerator.load_private(key)
        for x in (0, 1, key.n - 1):
            cycles.add(bench.accelerator.private(x).cycles)
    assert len(cycles) == 1


def unchecked(design):
    """The design without the steps from the check on, to count their cycles."""
    (program,) = design.programs
    first = next(k for k, step in enumerate(program.steps) if step.destination is Core.SUM)
    last = dataclasses.replace(program.steps[first - 1], destination=Core.RESULT, next=Next.JUMP)
    steps = (*program.steps[: first - 1], last, *program.steps[first:])
    targets = (*program.targets[: first - 1], 0, *program.targets[first:])
    short = dataclasses.replace(design)
    short.__dict__["programs"] = [dataclasses.replace(program, steps=steps, targets=targets)]
    return short


@pytest.mark.parametrize(("bits", "most"), [(1024, 1_580_000), (2048, 10_600_000)])
def test_cycles_of_a_private_operation(bits, most):
    """Before the check, and with it less than half of fdfm's."""
    key = generate(bits, seed=1)
    predicted = private(compact(bits), key, bits)
    assert predicted.result == pow(key.n - 2, key.d, key.n)
    assert private(unchecked(compact(bits)), key, bits).cycles <= most
    assert 2 * predicted.cycles < private(choose("fdfm", {}).design, key, bits).cycles


@pytest.mark.parametrize("step", [67, pytest.param(7, marks=pytest.mark.matrix)])
def test_operands_fit_the_memory(step):
    for bits in range(64, 4097, step):
        design = compact(bits)
        capabilities, layout = design.capabilities, design.layout
        assert capabilities.max_prime_length >= (bits + 1) // 2
        assert capabilities.max_prime_digits < layout.block
        assert capabilities.max_digits < 2 * layout.block
        for right in (False, True):
            # What the host writes, and what it reads: these stay until a command uses them up.
            spans = []
            for slot, base in layout.bases.items():
                held = slot is Core.RESULT or slot in capabilities.operands
                if not held or layout.lies_right(slot) is not right:
                    continue
                kind = slot.length if isinstance(slot, Operand) else Length.MODULUS
                digits = {
                    Length.P: capabilities.max_prime_digits,
                    Length.Q: capabilities.max_prime_digits,
                    Length.DIGIT: 1,
                }.get(kind, capabilities.max_digits)
                spans.append((base, base + digits))
            spans.sort()
            assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
            assert spans[-1][1] <= layout.depth


def test_memory_of_the_sizes_that_are_told():
    """Two banks of 1024 words are one RAMB36E1."""
    assert [compact(bits).layout.depth for bits in (1040, 2104, 2105, 4280, 4281, 8192)] == [
        1024,
        1024,
        2048,
        2048,
        4096,
        4096,
    ]


def test_the_host_writes_each_operand_to_its_place():
    """Those with numbers over 15, too."""
    plain = compact(64)
    own = plain.capabilities
    more = own.required[Command.MODMUL] | {Operand.SECRET, Operand.POINT, Operand.TABLE_7}
    own = dataclasses.replace(own, required={**own.required, Command.MODMUL: more})
    banks = dataclasses.replace(plain.memory, entry_bits=5, block_bits=5)
    design = dataclasses.replace(plain, capabilities=own, memory=banks)
    engine, layout = design.hardware(), design.layout
    assert len(engine.operand) == 6
    (lane,) = engine.lanes

    async def process(ctx):
        ctx.set(engine.write, 1)
        for operand in sorted(own.operands):
            ctx.set(engine.operand, operand)
            ctx.set(engine.digit, 100 + operand)
            await ctx.tick()
        ctx.set(engine.write, 0)
        await ctx.tick().repeat(4)
        for operand in own.operands:
            data = lane.memories[layout.lies_right(operand)].data
            assert ctx.get(data[layout.bases[operand]]) == 100 + operand, operand

    simulator = Simulator(engine)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()


def test_banks_are_kept_to():
    design = compact(64)
    numbers = {**design.layout.numbers, Operand.P_POWER: design.layout.numbers[Operand.Y]}
    wrong = dataclasses.replace(design.layout, numbers=numbers)
    parts = design.capabilities, design.multiplication, design.multiplier_hardware()
    with pytest.raises(ValueError, match="are in the wrong banks"):
        BankedLane(*parts, design.programs[0], wrong)
    plain = Layout(design.layout.bases, design.layout.depth, design.layout.numbers)
    with pytest.raises(TypeError, match="layout must be a BankedLayout"):
        BankedLane(*parts, design.programs[0], plain)


@pytest.mark.parametrize("bits", [63, 8193])
def test_bits_out_of_range(bits):
    with pytest.raises(ValueError, match=rf"max_bits must be in 64\.\.8192, not {bits}"):
        compact(bits)


def test_long_public_exponents(bench):
    """As long as a prime; the right half of the key follows from them."""
    for seed in range(3):
        key = generate(128, seed=seed)
        e = next(
            e
            for e in range((1 << 63) + 1, 1 << 64, 2)
            if math.gcd(e, (key.p - 1) * (key.q - 1)) == 1
        )
        key = RsaPrivateKey.from_primes(key.p, key.q, e)
        bench.accelerator.load_private(key)
        assert bench.accelerator.private(12345).value == pow(12345, key.d, key.n)


def test_a_private_operation_uses_up_what_it_tells(bench):
    """Y and M_POWER lie where its table does; E stays."""
    key = generate(128, seed=1)
    accelerator, device = bench.accelerator, bench.device
    accelerator.load_private(key)
    accelerator.load_public(key.n, key.e)
    assert accelerator.public(3).value == pow(3, key.e, key.n)
    assert accelerator.private(5).value == pow(5, key.d, key.n)
    for command in (Command.RSA_PUBLIC, Command.MODMUL):
        device.write32(registers.COMMAND.address, command)
        device.wait_interrupt()
        code = device.read32(registers.ERROR.address)
        assert registers.ERROR["CODE"].of(code) == Error.OPERAND_MISSING
        device.write32(registers.INTERRUPT_STATUS.address, 1)
    # The driver loads it again.
    assert accelerator.public(3).value == pow(3, key.e, key.n)


@pytest.mark.matrix
def test_as_the_core_of_a_cluster():
    """On each core private operations by turns with others, which need what these use up."""
    key, generator = generate(128, seed=2), random.Random(2)
    choice = choose("cluster", {"engine": "compact", "cores": "2", "max_bits": "128"})
    with open_cluster(choice) as device:
        scheduler = Scheduler(Cluster(device))
        expected = []
        for _ in range(6):
            x, y = generator.randrange(key.n), generator.randrange(key.n)
            expected += [
                (scheduler.private(key, x), pow(x, key.d, key.n)),
                (scheduler.public(key.n, key.e, x), pow(x, key.e, key.n)),
                (scheduler.modmul(x, y, key.n), x * y % key.n),
            ]
        scheduler.run()
        assert all(request.result.value == value for request, value in expected)


@pytest.mark.matrix
def test_agrees_with_fdfm():
    """On the same keys and messages, whatever the lengths of the primes."""
    benches = [open_bench("compact", max_bits=1024), open_bench("fdfm", max_bits=1024)]
    for bits, p_bits in ((64, 32), (100, 45), (512, 256), (521, 260), (1024, 512), (1000, 490)):
        key = generate(bits, p_bits=p_bits, seed=bits)
        for x in (0, 1, key.n - 1, random.Random(bits).randrange(key.n)):
            values = set()
            for one in benches:
                one.accelerator.load_private(key)
                values.add(one.accelerator.private(x).value)
            assert values == {pow(x, key.d, key.n)}


def test_key_of_another_library():
    """A key that `cryptography` makes signs the same there and here."""
    theirs = rsa.generate_private_key(65537, 1024)
    pem = theirs.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    expected = theirs.sign(b"message", padding.PKCS1v15(), hashes.SHA256())
    bench = open_bench("compact", max_bits=1024)
    with bench.device:
        key = parse_private(pem)
        found = operations.sign(bench.accelerator, key, b"message", Pkcs1Signature("sha256"))
    assert found == expected, pem.decode()


@pytest.mark.matrix
def test_wycheproof_of_odd_sizes():
    """OAEP with keys of 2688, 3104 and 4032 bits."""
    sizes = {2688: 0, 3104: 0, 4032: 0}
    bench = open_bench("compact", max_bits=4096)
    with bench.device:
        for vector in vectors(ODD_SIZES):
            if vector.n.bit_length() not in sizes:
                continue
            sizes[vector.n.bit_length()] += 1
            padded = Oaep(vector.hash, vector.mgf_hash, vector.label)
            try:
                message = operations.decrypt(bench.accelerator, vector.key, vector.data, padded)
            except DecryptionError:
                assert not vector.valid, vector.name
            else:
                assert vector.valid, vector.name
                assert message == vector.message, vector.name
    assert all(sizes.values()), sizes
