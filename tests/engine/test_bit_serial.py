"""What only the engines that scan one bit a round have to show.

See test_families.py for what every engine has.
"""

import itertools
import random

import pytest

from coprime.engine import families
from coprime.engine.contract import Length, Operand
from tests.benches import open_bench

FAMILIES = {
    "montgomery-2csa": families.MONTGOMERY_2CSA.design,
    "montgomery-1csa": families.MONTGOMERY_1CSA.design,
    "interleaved-csa": families.INTERLEAVED_CSA.design,
    "montgomery-r2": families.MONTGOMERY_R2.design,
}

CARRY_SAVE = [
    pytest.param(name, marks=[pytest.mark.matrix] if name == "montgomery-r2" else [])
    for name in FAMILIES
]
# What is the same hardware around another multiplier, which has tests of its own.
one_family = pytest.mark.parametrize(
    "family",
    [
        pytest.param(name, marks=[pytest.mark.matrix] if name != "montgomery-1csa" else [])
        for name in FAMILIES
    ],
)
"""The carry-save families by default; to build the other one's engines for more takes long."""


@pytest.mark.matrix
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("max_bits", [2, 4, 5, 6])
def test_exhaustive_small_moduli(family, max_bits):
    """Every X and Y below every M, odd for Montgomery, of up to as many bits as the hardware's."""
    bench = open_bench(family, max_bits=max_bits, multipliers=1)
    with bench.device:
        run = bench.accelerator.modmul
        for m in range(1, 1 << max_bits, 2 if bench.design.capabilities.montgomery else 1):
            for x, y in itertools.product(range(m), repeat=2):
                assert run(x, y, m).value == x * y % m


@pytest.mark.proof
@one_family
@pytest.mark.parametrize("multipliers", [pytest.param(1, marks=pytest.mark.matrix), 2])
def test_exhaustive_small_powers(family, multipliers):
    bench = open_bench(family, max_bits=4, multipliers=multipliers)
    with bench.device:
        odd = bench.design.capabilities.montgomery
        for m in range(1, 16, 2 if odd else 1):
            for x, e in itertools.product(range(m), range(16)):
                assert bench.accelerator.modexp(x, e, m).value == pow(x, e, m)


@pytest.mark.matrix
@pytest.mark.parametrize("bits", [32, 33, 64, 100, 128])
@one_family
def test_longest_modulus_of_a_smaller_engine(family, bits):
    """At exactly `max_bits`, where every register and counter is full."""
    bench = open_bench(family, max_bits=bits, word=16)
    generator = random.Random(bits)
    with bench.device:
        for m in ((1 << bits) - 1, (1 << (bits - 1)) + 1, generator.getrandbits(bits) | 1):
            for x in (m - 1, generator.randrange(m)):
                assert bench.accelerator.modmul(x, x, m).value == x * x % m
                assert bench.accelerator.modexp(x, 65537, m).value == pow(x, 65537, m)


@pytest.mark.matrix
@pytest.mark.parametrize("max_bits", [6, 14, 22])
def test_one_multiplication_after_the_other(max_bits):
    """Words of X that were asked for in vain come when the next multiplication has begun."""
    bench = open_bench("montgomery-r2", max_bits=max_bits, word=8, multipliers=1)
    generator = random.Random(max_bits)
    with bench.device:
        for length in range(1, max_bits + 1):
            m = generator.getrandbits(length) | 1 << (length - 1) | 1
            for x in (m - 1, generator.randrange(m)):
                assert bench.accelerator.modmul(x, x, m).value == x * x % m
                assert bench.accelerator.modexp(x, 45, m).value == pow(x, 45, m)


@pytest.mark.matrix
@pytest.mark.parametrize("family", FAMILIES)
def test_longest_of_all(family):
    bench = open_bench(family, max_bits=4096, word=64, multipliers=1)
    generator = random.Random(1)
    with bench.device:
        for m in ((1 << 4096) - 1, generator.getrandbits(4096) | 1 << 4095 | 1):
            x, y = generator.randrange(m), m - 1
            assert bench.accelerator.modmul(x, y, m).value == x * y % m
            assert bench.accelerator.modexp(x, 17, m).value == pow(x, 17, m)


@pytest.mark.parametrize("family", FAMILIES)
def test_wrong_parameters(family):
    design, longest = FAMILIES[family], 4096 if family == "montgomery-r2" else 8192
    for name, values, error in (
        ("max_bits", (1, longest + 1), f"max_bits must be in 2..{longest}"),
        ("word", (7, 65), "word must be in 8..64"),
        ("multipliers", (0, 3), "multipliers must be in 1..2"),
    ):
        for value in values:
            with pytest.raises(ValueError, match=f"{error}, not {value}"):
                design(**{name: value})
        with pytest.raises(TypeError, match=f"{name} must be an int, not '8'"):
            design(**{name: "8"})


@pytest.mark.parametrize("family", [families.INTERLEAVED_CSA.design, families.MONTGOMERY_R2.design])
@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.matrix)])
def test_operands_fit_the_memory(family, step):
    for bits in [*range(2, 200, step), *range(200, 4097, 37 * step), 4096]:
        for word in (8, 24, 32, 64):
            design = family(bits, word=word)
            capabilities = design.capabilities
            digits = dict.fromkeys((Length.P, Length.Q), capabilities.max_prime_digits) | {
                Length.DIGIT: 1
            }
            spans = sorted(
                (base, base + digits.get(kind, capabilities.max_digits))
                for slot, base in design.layout.bases.items()
                for kind in [slot.length if isinstance(slot, Operand) else Length.MODULUS]
            )
            assert spans[0][0] == 0
            assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
            assert spans[-1][1] <= design.layout.depth
            assert capabilities.max_prime_length >= (bits + 1) // 2
