"""What only the compact engine has to show; see test_families.py for what every engine has."""

import itertools
import random

import pytest

from coprime.catalog import choose
from coprime.engine.banked_lane import BankedLane
from coprime.engine.compact import compact
from coprime.engine.contract import Command, Length, Operand
from coprime.engine.layout import BankedLayout, Layout
from coprime.engine.precomputation import Radix
from coprime.explore.measure import WorstCaseNumbers
from coprime.exponentiators.steps import Slot
from coprime.rsa.keys import generate
from tests.benches import open_bench


@pytest.fixture(scope="module")
def bench():
    bench = open_bench("compact", max_bits=128)
    yield bench
    bench.device.close()


def private(design, key, bits):
    """The prediction of a private operation."""
    half = bits // 2
    operands = Radix.of(design.capabilities).private_operands(
        key.n, (key.p, key.q), (key.dp, key.dq), bits, (half, half)
    )
    lengths = {Length.MODULUS: bits, Length.P: half, Length.Q: half}
    return design.predict(Command.RSA_PRIVATE, {**operands, Operand.X: key.n - 2}, lengths)


@pytest.mark.parametrize("m", [3, 5, 21, 63])
def test_exhaustive_small_moduli(bench, m):
    run = bench.accelerator.modmul
    for x in range(m):
        for y in range(m):
            assert run(x, y, m).value == x * y % m


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


@pytest.mark.parametrize(("bits", "most"), [(1024, 1_580_000), (2048, 10_600_000)])
def test_cycles_of_a_private_operation(bits, most):
    """Less than 2/5 of fdfm's where all bits of its exponents are 1."""
    key = WorstCaseNumbers.of_length(bits)
    predicted = private(compact(bits), key, bits)
    assert predicted.result == key.private(key.n - 2)
    assert predicted.cycles <= most
    assert 5 * predicted.cycles < 2 * private(choose("fdfm", {}).design, key, bits).cycles


def test_operands_fit_the_memory():
    for bits in range(64, 4097, 7):
        design = compact(bits)
        own, layout = design.capabilities, design.layout
        assert own.max_prime_length >= (bits + 1) // 2
        for right in (False, True):
            spans = []
            for slot, base in layout.bases.items():
                if layout.lies_right(slot) is not right or slot in (
                    Slot.ONE,
                    Slot.WINDOW,
                    Slot.ENTRY,
                ):
                    continue
                kind = Operand(slot).length if slot < len(Operand) else Length.MODULUS
                digits = {
                    Length.P: own.max_prime_digits,
                    Length.Q: own.max_prime_digits,
                    Length.DIGIT: 1,
                }.get(kind, own.max_digits)
                if Slot.T_0 <= slot <= Slot.T_15:
                    digits = own.max_prime_digits
                spans.append((base, base + digits))
            spans.sort()
            assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
            assert spans[-1][1] <= layout.depth
        # The whole modulus's table has every fourth entry.
        assert layout.base(Slot.T_4) - layout.base(Slot.T_0) >= own.max_digits


def test_memory_of_the_sizes_that_are_told():
    """Two banks of 1024 words are one RAMB36E1."""
    assert [compact(bits).layout.depth for bits in (1050, 1051, 2138, 2139)] == [
        1024,
        2048,
        2048,
        4096,
    ]


def test_banks_are_kept_to():
    design = compact(64)
    numbers = {**design.layout.numbers, Slot.X: design.layout.numbers[Slot.M_POWER]}
    wrong = BankedLayout(design.layout.bases, design.layout.depth, numbers)
    multiplier = design.multiplier_hardware()
    multiplier._MustUse__silence = True
    with pytest.raises(ValueError, match="are in the wrong banks"):
        BankedLane(design.capabilities, multiplier, design.programs[0], wrong)
    plain = Layout(design.layout.bases, design.layout.depth)
    with pytest.raises(TypeError, match="layout must be a BankedLayout"):
        BankedLane(design.capabilities, multiplier, design.programs[0], plain)


@pytest.mark.parametrize("bits", [63, 4097])
def test_bits_out_of_range(bits):
    with pytest.raises(ValueError, match=rf"max_bits must be in 64\.\.4096, not {bits}"):
        compact(bits)


@pytest.mark.slow
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
