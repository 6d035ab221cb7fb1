"""Every family through its registers: results, cycles, errors. All against `pow`.

The bench compares each command's result, cycles and products with the prediction, too.
"""

import random

import pytest

from coprime.bus import registers
from coprime.device.accelerator import EngineError
from coprime.engine.contract import Command, Error
from coprime.operations.encodings.rsa_key import WorstCaseNumbers, key_numbers, private_power
from coprime.rsa.keys import generate
from tests.benches import grouped, open_bench

CONFIGURATIONS = {
    "fdfm": ("fdfm", {}),
    "montgomery-r2, 2 multipliers": ("montgomery-r2", {"max_bits": 129}),
    "compact": ("compact", {"max_bits": 257}),
    "ring": ("ring", {"max_bits": 257, "tile": "one17"}),
}
LONG_CONFIGURATIONS = {
    "karatsuba, scaled, interleaved": (
        "karatsuba",
        {"max_bits": 257, "word": 32, "multipliers": 1, "scaled": 1, "interleaved": 1},
    ),
    "interleaved-csa, 2 multipliers": ("interleaved-csa", {"max_bits": 129}),
    "karatsuba, 2 multipliers": ("karatsuba", {"max_bits": 257, "word": 16, "latency": 3}),
    "ring, 2 multipliers": ("ring", {"max_bits": 257, "tile": "adk2x16", "multipliers": 2}),
    "ring, 2 tiles": ("ring", {"max_bits": 257, "tile": "one17", "tiles": 2}),
    "montgomery-1csa, 2 multipliers": ("montgomery-1csa", {"max_bits": 129, "word": 8}),
    "interleaved-csa, 257 bits, 2 multipliers": ("interleaved-csa", {"max_bits": 257}),
    "fdfm, 2 multipliers": ("fdfm", {"max_bits": 1031, "multipliers": 2}),
    "montgomery-2csa, 2 multipliers": ("montgomery-2csa", {"max_bits": 257}),
    "interleaved-csa": ("interleaved-csa", {"max_bits": 129, "word": 24, "multipliers": 1}),
    **{
        f"ring, {tile}": ("ring", {"max_bits": bits, "tile": tile})
        for tile, bits in (*(("kara95", 1024), ("bal50", 1031), ("adk2x16", 515)),)
    },
    **{
        f"ring, {tile}, 2 multipliers": (
            "ring",
            {"max_bits": bits, "tile": tile, "multipliers": 2},
        )
        for tile, bits in (("kara95", 2048), ("bal50", 1031), ("one17", 515))
    },
    **{
        f"ring, 2 tiles of {tile}": ("ring", {"max_bits": bits, "tile": tile, "tiles": 2})
        for tile, bits in (*(("kara95", 1024), ("bal50", 1031), ("adk2x16", 515)),)
    },
    **{
        f"ring, 2 multipliers of 2 tiles, {bits} bits": (
            "ring",
            {"max_bits": bits, "tiles": 2, "multipliers": 2},
        )
        for bits in (1024, 2048)
    },
    "compact, 2176 bits": ("compact", {"max_bits": 2176}),
    "karatsuba": ("karatsuba", {"max_bits": 129, "word": 64, "multipliers": 1}),
    "montgomery-2csa": ("montgomery-2csa", {"max_bits": 129, "word": 16, "multipliers": 1}),
    "montgomery-1csa": ("montgomery-1csa", {"max_bits": 257, "word": 64, "multipliers": 1}),
    "montgomery-r2": ("montgomery-r2", {"max_bits": 257, "word": 24, "multipliers": 1}),
    **{
        f"{family}, {bits} bits, {multipliers} multipliers": (
            family,
            {"max_bits": bits, "multipliers": multipliers},
        )
        for family in ("montgomery-2csa", "montgomery-1csa", "interleaved-csa", "montgomery-r2")
        for bits, multipliers in ((1024, 2), (2048, 1))
    },
    "karatsuba, scaled": ("karatsuba", {"max_bits": 257, "word": 16, "latency": 2, "scaled": 1}),
    "karatsuba, interleaved": (
        "karatsuba",
        {"max_bits": 1031, "word": 64, "multipliers": 1, "interleaved": 1},
    ),
    "karatsuba, words of 128 bits": (
        "karatsuba",
        {"max_bits": 2048, "word": 128, "multipliers": 1, "scaled": 1, "interleaved": 1},
    ),
    "karatsuba, bit by bit": (
        "karatsuba",
        {"max_bits": 1031, "word": 32, "exponentiator": "left-to-right"},
    ),
    **{
        f"karatsuba, 2048 bits, {multipliers} multipliers": (
            "karatsuba",
            {"max_bits": 2048, "word": 64, "multipliers": multipliers},
        )
        for multipliers in (1, 2)
    },
}
LENGTHS = [*(2, 3, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 255, 256, 257)]
LONG_LENGTHS = [511, 512, 513, *range(1023, 1032), 2047, 2048, 2175, 2176]
SOME_LENGTHS = pytest.mark.parametrize(
    "lengths",
    [
        pytest.param([2, 3, 17, 32, 33, 64, 129, 257], id="some"),
        pytest.param(LENGTHS, id="all", marks=pytest.mark.matrix),
    ],
)


@pytest.fixture(scope="module", params=grouped(CONFIGURATIONS, LONG_CONFIGURATIONS))
def bench(request):
    family, settings = request.param
    bench = open_bench(family, **settings)
    yield bench
    bench.device.close()


def fitting(bench, lengths):
    capabilities = bench.design.capabilities
    return [
        length for length in lengths if capabilities.min_length <= length <= capabilities.max_length
    ]


def moduli(bench, generator, length):
    """All ones, sparse, random; even ones for who takes them."""
    top = 1 << (length - 1)
    yield from ((1 << length) - 1, top + 1, generator.getrandbits(length) | top | 1)
    if not bench.design.capabilities.montgomery:
        yield from (top, (generator.getrandbits(length) | top) & ~1)


# --- Results ------------------------------------------------------------------------------------


@pytest.mark.matrix(quick=2)
@pytest.mark.covering(2)
@SOME_LENGTHS
def test_modmul(bench, lengths):
    some = LONG_LENGTHS if lengths is LENGTHS else [1023, 1024, 1025, 2048]
    for length in fitting(bench, [*lengths, *some]):
        generator = random.Random(length)
        for m in moduli(bench, generator, length):
            edges = [0, 1, m - 1, max(0, m - 2), (1 << (length - 1)) - 1, generator.randrange(m)]
            for x in edges:
                y = generator.choice(edges)
                assert bench.accelerator.modmul(x % m, y % m, m).value == x * y % m


@pytest.mark.matrix(quick=2)
@pytest.mark.covering(2)
@SOME_LENGTHS
def test_modexp(bench, lengths):
    for length in fitting(bench, lengths):
        generator = random.Random(length)
        for m in moduli(bench, generator, length):
            for e in (0, 1, 2, 3, 65537, 1 << (length - 1), generator.getrandbits(length)):
                if e.bit_length() <= bench.design.capabilities.max_length:
                    x = generator.randrange(m)
                    assert bench.accelerator.modexp(x, e, m).value == pow(x, e, m)
            assert bench.accelerator.modexp(0, 0, m).value == 1 % m
            assert bench.accelerator.modexp(m - 1, 5, m).value == pow(m - 1, 5, m)


@pytest.mark.matrix
def test_modexp_long(bench):
    for length in fitting(bench, LONG_LENGTHS):
        generator = random.Random(length)
        m = next(moduli(bench, generator, length)) - 2 * generator.getrandbits(length - 2)
        x = generator.randrange(m)
        assert bench.accelerator.modexp(x, 65537, m).value == pow(x, 65537, m)


@pytest.mark.matrix(quick=2)
def test_leading_zeros_of_the_exponent(bench):
    m, x = (1 << 100) - 15, 3
    for e in (0, 1, 65537):
        for length in (17, 18, 32, 33, 35, 64, 100, 129):
            run = bench.accelerator.modexp(x, e, m, exponent_length=max(length, e.bit_length()))
            assert run.value == pow(x, e, m)


KEY_LENGTHS = [64, 65, 71, 100, 128, 255, 256, 257]


@pytest.mark.covering(2)
@pytest.mark.parametrize(
    ("e", "messages", "lengths"),
    [
        (3, 7, KEY_LENGTHS[:4]),
        (65537, 1, KEY_LENGTHS),
        *(
            pytest.param(*one, marks=pytest.mark.matrix)
            for one in ((3, 7, KEY_LENGTHS[4:]), (65537, 7, KEY_LENGTHS))
        ),
    ],
)
def test_rsa_private(bench, e, messages, lengths):
    for length in fitting(bench, lengths):
        key = generate(length, e, seed=length)
        generator = random.Random(length)
        bench.accelerator.load_private(key)
        edges = (0, 1, key.n - 1, key.p, key.q, key.n - key.p)
        for x in (generator.randrange(key.n), *edges)[:messages]:
            assert bench.accelerator.private(x).value == pow(x, key.d, key.n)


@pytest.mark.matrix
def test_rsa_long(bench):
    for length in fitting(bench, [1023, 1024]):
        key = generate(length, seed=length)
        x = random.Random(length).randrange(key.n)
        bench.accelerator.load_private(key)
        assert bench.accelerator.private(x).value == pow(x, key.d, key.n)
        bench.accelerator.load_public(key.n, key.e)
        assert bench.accelerator.public(x).value == pow(x, key.e, key.n)


@pytest.mark.matrix
def test_rsa_longest(bench):
    length = bench.design.capabilities.max_length
    key = generate(length, seed=length)
    x = random.Random(length).randrange(key.n)
    bench.accelerator.load_private(key)
    assert bench.accelerator.private(x).value == pow(x, key.d, key.n)
    assert bench.accelerator.modexp(x, key.d, key.n).value == pow(x, key.d, key.n)


@pytest.mark.matrix(quick=2)
def test_unequal_primes(bench):
    longest = bench.design.capabilities.max_prime_length
    for length in fitting(bench, [64, 100, 128, 200, 512]):
        for p_length in (20, length * 5 // 8):
            if max(p_length, length - p_length) > longest:
                continue
            key = generate(length, 17, p_bits=p_length, seed=p_length)
            bench.accelerator.load_private(key)
            for x in (random.Random(1).randrange(key.n), key.n - 1):
                assert bench.accelerator.private(x).value == pow(x, key.d, key.n)


def test_worst_case(bench):
    key = WorstCaseNumbers.of_key(generate(128, seed=1))
    bench.accelerator.load_private(key)
    if bench.design.capabilities.checked:
        assert refused(bench.accelerator.private, key.n - 2) is Error.FAULT
    else:
        assert bench.accelerator.private(key.n - 2).value == private_power(
            key.n - 2, **key_numbers(key)
        )


# --- Cycles -------------------------------------------------------------------------------------


def test_cycles_depend_on_the_exponent_alone(bench):
    """Left to right, the number of ones shows; on two and by fixed windows, only the length."""
    capabilities = bench.design.capabilities
    m = (1 << 120) - 1
    few = {bench.accelerator.modexp(x, 1 << 63, m).cycles for x in (0, 1, m - 1, 12345)}
    many = {bench.accelerator.modexp(x, (1 << 64) - 1, m).cycles for x in (0, 1, m - 1, 12345)}
    assert len(few) == len(many) == 1
    if capabilities.multipliers == 2 or capabilities.constant_time:
        assert few == many
    else:
        assert min(many) > max(few)


# --- Errors -------------------------------------------------------------------------------------


def refused(call, *arguments):
    with pytest.raises(EngineError) as caught:
        call(*arguments)
    return caught.value.code


def test_modmul_errors(bench):
    capabilities = bench.design.capabilities
    call = bench.accelerator.modmul
    for x, y, m, code in (
        (0, 0, 0, Error.MODULUS_ZERO),
        (5, 1, 5, Error.OPERAND_RANGE),
        (1, 5, 5, Error.OPERAND_RANGE),
        (1 << 90, 1, (1 << 80) + 1, Error.OPERAND_RANGE),
        (1, (1 << 80) + 2, (1 << 80) + 1, Error.OPERAND_RANGE),
        (1, 1, (1 << capabilities.max_length) + 1, Error.LENGTH_OVER),
    ):
        assert refused(call, x, y, m) is code
        assert call(3, 4, 5).value == 2
    for m in (2, 1 << 80):
        if capabilities.montgomery:
            assert refused(call, 1, 1, m) is Error.MODULUS_EVEN
        else:
            assert call(1, 1, m).value == 1


def test_exponent_too_long(bench):
    longest = bench.design.capabilities.max_length
    assert refused(bench.accelerator.modexp, 2, 1 << longest, 101) is Error.LENGTH_OVER
    assert bench.accelerator.modexp(2, 10, 101).value == 14


def test_modulus_shorter_than_its_length(bench):
    """Only aligned engines mind; the others take leading zeros."""
    accelerator = bench.accelerator
    length = max(50, bench.design.capabilities.min_length)
    job = accelerator.modexp_job(1 << length - 1, 3, 101)  # as long as this x
    if bench.design.capabilities.aligned:
        with pytest.raises(EngineError) as caught:
            accelerator._run(job, 100)
        assert caught.value.code is Error.MODULUS_SHORT
    else:
        assert accelerator._run(job, 100).value == pow(100, 3, 101)
    assert accelerator.modexp(2, 10, 101).value == 14


def started(device):
    """The error of RSA_PRIVATE with what is loaded."""
    device.write32(registers.COMMAND.address, Command.RSA_PRIVATE)
    device.wait_interrupt()
    device.write32(registers.INTERRUPT_STATUS.address, 1)
    return registers.ERROR["CODE"].of(device.read32(registers.ERROR.address))


def test_bad_private_keys(bench):
    capabilities = bench.design.capabilities
    key = generate(128, seed=3)

    def changed(**numbers):
        class Numbers:
            n, d, p, q, dp, dq, e = key.n, key.d, key.p, key.q, key.dp, key.dq, key.e

        for name, value in numbers.items():
            setattr(Numbers, name, value)
        return Numbers

    def run(numbers, x=2):
        bench.accelerator.load_private(numbers)
        return bench.accelerator.private(x)

    assert refused(run, changed(p=0)) is Error.MODULUS_ZERO
    if capabilities.montgomery:
        assert refused(run, changed(q=key.q + 1)) is Error.MODULUS_EVEN
        assert refused(run, changed(n=key.n + 1)) is Error.MODULUS_EVEN
    assert refused(run, changed(p=1 << capabilities.max_prime_length | 1)) is Error.LENGTH_OVER
    assert refused(run, key, key.n) is Error.OPERAND_RANGE
    if capabilities.checked:
        for numbers in ({"dp": key.dp ^ 2}, {"dq": key.dq ^ 4}, {"e": key.e + 2}, {"e": 0}):
            assert refused(run, changed(**numbers)) is Error.FAULT
            assert started(bench.device) == Error.OPERAND_MISSING  # all is wiped
        assert refused(run, changed(n=key.n - 2)) is Error.FAULT
        fits = capabilities.max_prime_length < capabilities.max_length
        too_long = Error.EXPONENT_LENGTH if fits else Error.LENGTH_OVER
        assert refused(run, changed(e=1 << capabilities.max_prime_length)) is too_long
    assert run(key).value == pow(2, key.d, key.n)


def test_inconsistent_key_ends(bench):
    """Numbers that belong to no key give a wrong number or FAULT, and never a hanging engine."""
    generator = random.Random(8)
    for _ in range(20):
        lengths = [generator.randrange(16, 65) for _ in range(3)]
        n, p, q = (generator.getrandbits(k) | 1 << (k - 1) | 1 for k in lengths)

        class Numbers:
            d = 5
            e = 65537

        Numbers.n, Numbers.p, Numbers.q = n, p, q
        Numbers.dp, Numbers.dq = generator.randrange(p), generator.randrange(q)
        super_run = super(type(bench.accelerator), bench.accelerator)
        bench.accelerator.load_private(Numbers)
        job, x = bench.accelerator._private_job, generator.randrange(n)
        if bench.design.capabilities.checked:
            assert refused(super_run._run, job, x) is Error.FAULT
        else:
            super_run._run(job, x)


@pytest.mark.parametrize(
    "pause", [1, 777, *(pytest.param(one, marks=pytest.mark.matrix) for one in (50, 2_000))]
)
def test_reset_in_the_middle(bench, pause):
    key = generate(min(512, bench.design.capabilities.max_length), seed=4)
    accelerator, device = bench.accelerator, bench.device
    accelerator.load_private(key)
    assert accelerator.private(7).value == pow(7, key.d, key.n)
    device.write32(registers.COMMAND.address, Command.RSA_PRIVATE)  # of the same input
    device.run(2_000 + pause)  # the input goes into the engine first
    assert device.read32(registers.STATUS.address) == registers.STATUS["BUSY"].mask
    device.reset()
    assert device.read32(registers.STATUS.address) == 0
    assert device.read32(registers.OUTPUT_LENGTH.address) == 0
    accelerator.load_private(key)
    assert accelerator.private(9).value == pow(9, key.d, key.n)


def test_wipe(bench):
    key = generate(128, seed=4)
    accelerator = bench.accelerator
    accelerator.load_private(key)
    assert accelerator.private(7).value == pow(7, key.d, key.n)
    accelerator.wipe()
    with pytest.raises(ValueError, match="no private key is loaded"):
        accelerator.private(7)
    accelerator.load_private(key)
    assert accelerator.private(7).value == pow(7, key.d, key.n)
