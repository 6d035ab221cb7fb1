"""The fdfm engine through its registers: results, cycles, errors. All against `pow`."""

import itertools
import math
import random

import pytest

from coprime.bus import registers
from coprime.device.accelerator import EngineError
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.engine.fdfm import fdfm as fdfm_design
from coprime.explore.measure import WorstCaseNumbers
from coprime.model.fdfm import crt_decryption
from coprime.papers import fdfm as paper
from coprime.rsa.keys import generate
from tests.benches import open_bench

LENGTHS = [*range(64, 70), 96, 127, 128, 129, 255, 256, 257, 384, 512, 768]
LONG_LENGTHS = [*range(1023, 1032), 1536, 2047, 2048, 2175, 2176]


def modulus(generator, length):
    return generator.getrandbits(length) | 1 << (length - 1) | 1


# --- Results ------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", range(3, 64, 2))
def test_exhaustive_small_moduli(fdfm, m):
    """Every X and Y below every odd M of up to 6 bits."""
    run = fdfm.accelerator.modmul
    for x in range(m):
        for y in range(m):
            assert run(x, y, m).value == x * y % m


def test_modulus_one(fdfm):
    assert fdfm.accelerator.modmul(0, 0, 1).value == 0
    assert fdfm.accelerator.modexp(0, 0, 1).value == 0


@pytest.mark.parametrize("length", [16, 17, 18, 32, 33, *LENGTHS, *LONG_LENGTHS])
def test_modmul(fdfm, length):
    generator = random.Random(length)
    for m in (modulus(generator, length), (1 << length) - 1, (1 << (length - 1)) + 1):
        edges = [0, 1, m - 1, m - 2, (1 << (length - 1)) - 1, generator.randrange(m)]
        for x in edges:
            y = generator.choice(edges)
            assert fdfm.accelerator.modmul(x, y, m).value == x * y % m


@pytest.mark.parametrize("length", [16, 17, 33, *LENGTHS])
def test_modexp(fdfm, length):
    generator = random.Random(length)
    m = modulus(generator, length)
    exponents = [0, 1, 2, 3, (1 << 17) - 1, 1 << 17, 1 << (length - 1), generator.getrandbits(50)]
    for e in exponents:
        for x in (generator.randrange(m), m - 1):
            assert fdfm.accelerator.modexp(x, e, m).value == pow(x, e, m)
    assert fdfm.accelerator.modexp(0, 0, m).value == 1
    assert fdfm.accelerator.modexp(0, 5, m).value == 0


@pytest.mark.parametrize("length", LONG_LENGTHS)
def test_modexp_long(fdfm, length):
    generator = random.Random(length)
    m = modulus(generator, length)
    x = generator.randrange(m)
    assert fdfm.accelerator.modexp(x, 65537, m).value == pow(x, 65537, m)


def test_leading_zeros_of_the_exponent(fdfm):
    generator = random.Random(5)
    m, x = modulus(generator, 100), 3
    for e in (0, 1, 65537):
        for length in (17, 18, 35, 100, 500):
            run = fdfm.accelerator.modexp(x, e, m, exponent_length=max(length, e.bit_length()))
            assert run.value == pow(x, e, m)


@pytest.mark.parametrize("e", [3, 17, 65537])
@pytest.mark.parametrize("length", [64, 65, 71, 100, 128, 255, 256, 257, 512])
def test_rsa_private(fdfm, length, e):
    key = generate(length, e, seed=length)
    generator = random.Random(length)
    fdfm.accelerator.load_private(key)
    for x in (0, 1, 2, key.n - 1, key.p, key.q, key.n - key.p, generator.randrange(key.n)):
        assert fdfm.accelerator.private(x).value == pow(x, key.d, key.n)


@pytest.mark.parametrize("length", LONG_LENGTHS)
def test_rsa_private_long(fdfm, length):
    key = generate(length, seed=length)
    x = random.Random(length).randrange(key.n)
    fdfm.accelerator.load_private(key)
    assert fdfm.accelerator.private(x).value == pow(x, key.d, key.n)
    fdfm.accelerator.load_public(key.n, key.e)
    assert fdfm.accelerator.public(x).value == pow(x, key.e, key.n)


@pytest.mark.parametrize(
    ("length", "p_length"),
    [(64, 24), (64, 40), (128, 20), (200, 33), (200, 167), (512, 100), (1024, 700), (1024, 800)],
)
def test_unequal_primes(fdfm, length, p_length):
    key = generate(length, 17, p_bits=p_length, seed=p_length)
    x = random.Random(1).randrange(key.n)
    fdfm.accelerator.load_private(key)
    assert fdfm.accelerator.private(x).value == pow(x, key.d, key.n)


@pytest.mark.slow
def test_longest_prime(fdfm):
    key = generate(2048, p_bits=1392, seed=9)
    fdfm.accelerator.load_private(key)
    assert fdfm.accelerator.private(5).value == pow(5, key.d, key.n)


def test_agrees_with_the_papers_four_steps(fdfm):
    for length in (64, 100, 200):
        key = generate(length, seed=length)
        x = random.Random(length).randrange(key.n)
        fdfm.accelerator.load_private(key)
        expected = crt_decryption(x, key.p, key.q, key.dp, key.dq)
        assert fdfm.accelerator.private(x).value == expected


# --- Cycles -------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", sorted(paper.CRT_CYCLES))
def test_worst_case_is_no_slower_than_table_2(fdfm, length):
    key = WorstCaseNumbers.of_length(length)
    x = key.n - 2
    fdfm.accelerator.load_private(key)
    result = fdfm.accelerator.private(x)
    assert result.value == key.private(x)
    assert result.cycles <= paper.CRT_CYCLES[length]


def test_cycles_depend_on_the_exponent_alone(fdfm):
    """Not constant time, and only the exponent shows."""
    assert not fdfm.design.capabilities.constant_time
    m = modulus(random.Random(1), 200)
    few = {fdfm.accelerator.modexp(x, 1 << 63, m).cycles for x in (0, 1, m - 1, 12345)}
    many = {fdfm.accelerator.modexp(x, (1 << 64) - 1, m).cycles for x in (0, 1, m - 1, 12345)}
    assert len(few) == len(many) == 1
    assert min(many) > max(few)


# --- Errors -------------------------------------------------------------------------------------


def refused(call, *arguments):
    with pytest.raises(EngineError) as caught:
        call(*arguments)
    return caught.value.code


@pytest.mark.parametrize(
    ("x", "y", "m", "code"),
    [
        (0, 0, 0, Error.MODULUS_ZERO),
        (1, 1, 2, Error.MODULUS_EVEN),
        (1, 1, 1 << 80, Error.MODULUS_EVEN),
        (5, 1, 5, Error.OPERAND_RANGE),
        (1, 5, 5, Error.OPERAND_RANGE),
        (1 << 90, 1, (1 << 80) + 1, Error.OPERAND_RANGE),
        (1, (1 << 80) + 2, (1 << 80) + 1, Error.OPERAND_RANGE),
        (1, 1, (1 << 2176) + 1, Error.LENGTH_OVER),
    ],
)
def test_modmul_errors(fdfm, x, y, m, code):
    assert refused(fdfm.accelerator.modmul, x, y, m) is code
    assert fdfm.accelerator.modmul(3, 4, 5).value == 2


def test_exponent_too_long(fdfm):
    call = fdfm.accelerator.modexp
    assert refused(call, 2, 1 << 2176, 101) is Error.LENGTH_OVER
    assert call(2, 10, 101).value == 14


def test_bad_private_keys(fdfm):
    key = generate(128, seed=3)

    def changed(**numbers):
        class Numbers:
            n, d, p, q, dp, dq = key.n, key.d, key.p, key.q, key.dp, key.dq

        for name, value in numbers.items():
            setattr(Numbers, name, value)
        return Numbers

    def run(numbers, x=2):
        fdfm.accelerator.load_private(numbers)
        return fdfm.accelerator.private(x)

    assert refused(run, changed(p=0)) is Error.MODULUS_ZERO
    assert refused(run, changed(q=key.q + 1)) is Error.MODULUS_EVEN
    assert refused(run, changed(n=key.n + 1)) is Error.MODULUS_EVEN
    assert refused(run, changed(p=1 << 1392 | 1)) is Error.LENGTH_OVER
    assert refused(run, key, key.n) is Error.OPERAND_RANGE
    assert run(key).value == pow(2, key.d, key.n)


def test_inconsistent_key_ends(fdfm):
    """Numbers that belong to no key give a wrong number, and never a hanging engine."""
    generator = random.Random(8)
    for _ in range(20):
        n, p, q = (modulus(generator, generator.randrange(16, 90)) for _ in range(3))

        class Numbers:
            d = 5

        Numbers.n, Numbers.p, Numbers.q = n, p, q
        Numbers.dp, Numbers.dq = generator.randrange(p), generator.randrange(q)
        super_run = super(type(fdfm.accelerator), fdfm.accelerator)
        fdfm.accelerator.load_private(Numbers)
        super_run._run(fdfm.accelerator._private_job, generator.randrange(n))


def test_any_memory_contents_end(fdfm):
    """The engine ends with any constants at all in its memory."""
    generator = random.Random(9)
    accelerator = fdfm.accelerator
    for length in (20, 64, 100):
        job = accelerator._power_job(
            Command.MODEXP, generator.getrandbits(30) | 1, modulus(generator, length), length, 30
        )
        junk = {
            operand: value
            if operand in (Operand.M, Operand.E)
            else generator.getrandbits(17 if operand.length is Length.DIGIT else length)
            for operand, value in job.operands.items()
        }
        super(type(accelerator), accelerator)._run(type(job)(job.command, job.lengths, junk), 1)


@pytest.mark.parametrize("pause", [1, 50, 777, 5_000, 100_000])
def test_reset_in_the_middle(fdfm, pause):
    key = generate(512, seed=4)
    accelerator, device = fdfm.accelerator, fdfm.device
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


def test_reset_clears_the_input(fdfm):
    """What another user's input was takes no part in a command after the reset."""
    accelerator, device = fdfm.accelerator, fdfm.device
    m = (1 << 256) - 1
    assert accelerator.modmul(0x5EC2E7, 1, m).value == 0x5EC2E7
    device.reset()
    job = accelerator._radix.modulus_operands(m, 256) | {Operand.Y: 1}
    device.write32(registers.MODULUS_LENGTH.address, 256)
    for operand, value in job.items():
        device.write32(registers.KEY_OPERAND.address, operand)
        for word in range(1 if operand.length is Length.DIGIT else 8):
            device.write32(registers.KEY_DATA.address, value >> (32 * word) & 0xFFFF_FFFF)
    device.write32(registers.INPUT_LENGTH.address, 32)
    device.write32(registers.INTERRUPT_ENABLE.address, 1)
    device.write32(registers.COMMAND.address, Command.MODMUL)
    device.wait_interrupt()
    assert device.read32(registers.OUTPUT_LENGTH.address) == 32
    for word in range(8):
        device.write32(registers.READ_ADDRESS.address, word)
        assert device.read32(registers.OUTPUT_FIFO.address) == 0
    accelerator.forget()
    assert accelerator.modmul(3, 4, 5).value == 2


def test_lengths_are_judged_before_what_the_memory_holds(fdfm):
    device = fdfm.device
    device.reset()
    for register, length in (("MODULUS", 128), ("P", 64), ("Q", 0)):
        device.write32(getattr(registers, f"{register}_LENGTH").address, length)
    device.write32(registers.COMMAND.address, Command.RSA_PRIVATE)
    device.run(100)
    assert registers.ERROR["CODE"].of(device.read32(registers.ERROR.address)) == Error.LENGTH_ZERO
    fdfm.accelerator.forget()


def test_command_while_busy(fdfm):
    """It is refused with its own code, and the running one is not disturbed."""
    key = generate(256, seed=4)
    accelerator, device = fdfm.accelerator, fdfm.device
    accelerator.load_private(key)
    expected = accelerator.private(7)
    done = registers.INTERRUPT_STATUS["DONE"].mask
    device.write32(registers.INTERRUPT_STATUS.address, done)
    device.write32(registers.COMMAND.address, Command.RSA_PRIVATE)
    for command in Command:
        assert device.read32(registers.STATUS.address) == registers.STATUS["BUSY"].mask
        device.write32(registers.ERROR.address, 0)
        device.write32(registers.COMMAND.address, command)
        error = device.read32(registers.ERROR.address)
        assert registers.ERROR["REFUSAL"].of(error) == Error.BUSY
        device.run(1000)
    device.wait_interrupt()
    error = device.read32(registers.ERROR.address)
    assert registers.ERROR["CODE"].of(error) == Error.NONE
    assert device.read32(registers.CYCLES.address) == expected.cycles
    device.write32(registers.READ_ADDRESS.address, 0)
    assert device.read32(registers.OUTPUT_FIFO.address) == expected.value & 0xFFFF_FFFF


def test_wipe(fdfm):
    key = generate(128, seed=4)
    accelerator = fdfm.accelerator
    accelerator.load_private(key)
    assert accelerator.private(7).value == pow(7, key.d, key.n)
    accelerator.wipe()
    with pytest.raises(ValueError, match="no private key is loaded"):
        accelerator.private(7)
    accelerator.load_private(key)
    assert accelerator.private(7).value == pow(7, key.d, key.n)


# --- Design -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [63, 2177])
def test_length_out_of_range(bits):
    with pytest.raises(ValueError, match=rf"max_bits must be in 64\.\.2176, not {bits}"):
        fdfm_design(bits)


def test_length_of_wrong_type():
    with pytest.raises(TypeError, match="max_bits must be an int, not '1024'"):
        fdfm_design("1024")


def test_operands_fit_the_memory():
    for bits in range(64, 2177):
        design = fdfm_design(bits)
        own = design.capabilities
        digits = {Length.P: own.max_prime_digits, Length.Q: own.max_prime_digits, Length.DIGIT: 1}
        spans = []
        for slot, base in design.layout.bases.items():
            kind = Operand(slot).length if slot < len(Operand) else Length.MODULUS
            spans.append((base, base + digits.get(kind, own.max_digits)))
        spans.sort()
        assert spans[0][0] == 0
        for (_, end), (start, _) in itertools.pairwise(spans):
            assert end <= start
        assert spans[-1][1] <= design.layout.depth <= 2048
        assert own.max_prime_length >= math.ceil(bits / 2)


@pytest.mark.parametrize("bits", [64, 65, 127, 128, 1024])
def test_longest_modulus_of_a_smaller_engine(bits):
    """At exactly `max_bits`, where every buffer and counter is full."""
    bench = open_bench("fdfm", max_bits=bits)
    with bench.device:
        key = generate(bits, seed=bits)
        for x in (key.n - 1, random.Random(bits).randrange(key.n)):
            assert bench.accelerator.modmul(x, x, key.n).value == x * x % key.n
            assert bench.accelerator.modexp(x, 65537, key.n).value == pow(x, 65537, key.n)
            if bits <= 128:
                bench.accelerator.load_private(key)
                assert bench.accelerator.private(x).value == pow(x, key.d, key.n)
