"""What only the fdfm engine has to show; see test_families.py for what every engine has."""

import itertools
import math
import random

import pytest
from coprime_evidence.papers import fdfm as paper

from coprime.bus import registers
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.engine.fdfm import fdfm as fdfm_design
from coprime.model.fdfm import crt_decryption
from coprime.operations.encodings.rsa_key import WorstCaseNumbers, key_numbers, private_power
from coprime.rsa.keys import generate
from tests.benches import open_bench


def modulus(generator, length):
    return generator.getrandbits(length) | 1 << (length - 1) | 1


# --- Results ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "m",
    [
        *range(3, 16, 2),
        *(31, 33),
        *(
            pytest.param(m, marks=pytest.mark.matrix)
            for m in (*range(17, 31, 2), *range(35, 64, 2))
        ),
    ],
)
def test_exhaustive_small_moduli(fdfm, m):
    """Every X and Y below some odd M of up to 6 bits; in the long sweep below all."""
    run = fdfm.accelerator.modmul
    for x in range(m):
        for y in range(m):
            assert run(x, y, m).value == x * y % m


def test_modulus_one(fdfm):
    assert fdfm.accelerator.modmul(0, 0, 1).value == 0
    assert fdfm.accelerator.modexp(0, 0, 1).value == 0


@pytest.mark.parametrize(
    ("length", "p_length"),
    [(512, 100), *(pytest.param(1024, bits, marks=pytest.mark.matrix) for bits in (700, 800))],
)
def test_unequal_primes(fdfm, length, p_length):
    key = generate(length, 17, p_bits=p_length, seed=p_length)
    x = random.Random(1).randrange(key.n)
    fdfm.accelerator.load_private(key)
    assert fdfm.accelerator.private(x).value == pow(x, key.d, key.n)


@pytest.mark.matrix
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


@pytest.mark.parametrize(
    "length",
    [
        pytest.param(length, marks=[pytest.mark.matrix] * (length >= 1024))
        for length in sorted(paper.CRT_CYCLES)
    ],
)
def test_worst_case_is_no_slower_than_table_2(fdfm, length):
    key = WorstCaseNumbers.of_key(generate(length, seed=1))
    x = key.n - 2
    fdfm.accelerator.load_private(key)
    result = fdfm.accelerator.private(x)
    assert result.value == private_power(x, **key_numbers(key))
    assert result.cycles <= paper.CRT_CYCLES[length]


# --- Errors -------------------------------------------------------------------------------------


def test_any_memory_contents_end(fdfm):
    """The engine ends with any constants at all in its memory."""
    generator = random.Random(9)
    accelerator = fdfm.accelerator
    for length in (20, 64, 100):
        e, m = generator.getrandbits(30) | 1, modulus(generator, length)
        job = accelerator.modexp_job(1, e, m, exponent_length=30)
        junk = {
            operand: value
            if operand in (Operand.M, Operand.E)
            else generator.getrandbits(17 if operand.length is Length.DIGIT else length)
            for operand, value in job.operands.items()
        }
        super(type(accelerator), accelerator)._run(type(job)(job.command, job.lengths, junk), 1)


def test_reset_clears_the_input(fdfm):
    """What another user's input was takes no part in a command after the reset."""
    accelerator, device = fdfm.accelerator, fdfm.device
    m = (1 << 256) - 1
    assert accelerator.modmul(0x5EC2E7, 1, m).value == 0x5EC2E7
    device.reset()
    job = accelerator.modmul_job(1, 1, m).operands
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


# --- Design -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [63, 8193])
def test_length_out_of_range(bits):
    with pytest.raises(ValueError, match=rf"max_bits must be in 64\.\.8192, not {bits}"):
        fdfm_design(bits)


def test_length_of_wrong_type():
    with pytest.raises(TypeError, match="max_bits must be an int, not '1024'"):
        fdfm_design("1024")


@pytest.mark.parametrize("multipliers", [0, 3])
def test_multipliers_out_of_range(multipliers):
    with pytest.raises(ValueError, match=rf"multipliers must be in 1\.\.2, not {multipliers}"):
        fdfm_design(multipliers=multipliers)


@pytest.mark.parametrize("step", [16, pytest.param(1, marks=pytest.mark.matrix)])
def test_operands_fit_the_memory(step):
    for bits in range(64, 2177, step):
        design = fdfm_design(bits)
        capabilities = design.capabilities
        digits = {
            Length.P: capabilities.max_prime_digits,
            Length.Q: capabilities.max_prime_digits,
            Length.DIGIT: 1,
        }
        spans = []
        for slot, base in design.layout.bases.items():
            kind = slot.length if isinstance(slot, Operand) else Length.MODULUS
            spans.append((base, base + digits.get(kind, capabilities.max_digits)))
        spans.sort()
        assert spans[0][0] == 0
        for (_, end), (start, _) in itertools.pairwise(spans):
            assert end <= start
        assert spans[-1][1] <= design.layout.depth <= 2048
        assert capabilities.max_prime_length >= math.ceil(bits / 2)


@pytest.mark.matrix
@pytest.mark.parametrize(
    "bits", [65, *(pytest.param(bits, marks=pytest.mark.matrix) for bits in (64, 127, 128, 1024))]
)
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
