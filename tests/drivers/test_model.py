"""The C driver on a model of the registers: what no accelerator of ours is or does.

Longer moduli than the windows hold, engines that lack commands, refusals of every kind.
"""

import ctypes
import random

import pytest

from coprime.bus import registers as r
from coprime.engine.contract import Command, Error, Operand
from coprime.rsa import keys
from tests.device.test_accelerator import EVERY_CLASS
from tests.drivers.bindings import (
    READ,
    WAIT,
    WRITE,
    Memory,
    modulus,
    move_blocks,
    opened,
    private_key,
    words,
)
from tests.drivers.harness import CURVES, DECRYPT, DRIVER, ROOT, compile_c

pytestmark = pytest.mark.xdist_group("drivers, model")

TIMEOUT = 257
DEVICE = 263
NO_ANSWER = 0xFFFFFFFF


class Octets(ctypes.Structure):
    """`struct octets` of the documentation's example."""

    _fields_ = [("bytes", ctypes.c_char_p), ("size", ctypes.c_size_t)]


@pytest.fixture
def memory():
    """Words for constants, which live as long as the test."""
    return Memory((ctypes.c_uint32 * 4096)(), 4096)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    examples = [DECRYPT]
    for number, text in enumerate(examples_of("drivers")[:3]):
        examples.append(folder / f"example_{number}.c")
        examples[-1].write_text(text)
    return ctypes.CDLL(
        str(compile_c(folder, "coprime.so", "-shared", "-fPIC", "-O1", DRIVER, *CURVES, *examples))
    )


def examples_of(page):
    """The C programs of a page of the documentation."""
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    return [part.split("```")[0] for part in text.split("```c\n")[1:]]


def test_what_an_engine_holds(library):
    held = EVERY_CLASS.keys() - {Operand.M_INVERSE, Operand.CRT_P, Operand.TABLE_6}
    _, driver = opened(library, held=held, width=31, headroom=3, radix=1, least=7)
    assert driver.held == sum(1 << operand for operand in held)
    assert (driver.digit_width, driver.residue_width) == (31, 31)
    assert (driver.headroom, driver.radix_bits) == (3, 1)
    assert (driver.max_bits, driver.max_prime_bits, driver.min_bits) == (2176, 1088, 7)
    assert (driver.family, driver.version) == (7, 0x0001_0203)
    assert driver.constant_time
    assert not driver.fixed_modulus


@pytest.mark.parametrize("bursts", [False, True])
@pytest.mark.parametrize("bits", [8192, 8193, 8224, 9000])
def test_longer_than_a_window(library, memory, bits, bursts):
    """256 words of an input or a result go through a window, the others one by one; in bursts, too,
    but an operand's all go in bursts."""
    device, driver = opened(library, greatest=9001, greatest_prime=4501, width=32)
    blocks = move_blocks(driver, device) if bursts else []
    source = random.Random(bits)
    m = source.getrandbits(bits) | 1 << bits - 1 | 1
    own = modulus(m)
    assert library.coprime_modulus_constants(*map(ctypes.byref, (driver, own, memory))) == 0
    assert library.coprime_load_modulus(ctypes.byref(driver), ctypes.byref(own)) == 0
    for x, y in ((m - 1, m - 1), (source.randrange(m), source.randrange(m))):
        result = words(0, bits)
        assert (
            library.coprime_modmul(ctypes.byref(driver), words(x, bits), words(y, bits), result)
            == 0
        )
        assert list(result) == list(words(x * y % m, bits))
    count = (bits + 31) // 32
    if bursts:
        rest = [(r.KEY_WINDOW.address, count - 256)] if count > 256 else []
        ends = [(r.INPUT_WINDOW.address, 256), (r.OUTPUT_WINDOW.address, 256)]
        assert blocks[-len(rest) - 3 :] == [(r.KEY_WINDOW.address, 256), *rest, *ends]


@pytest.mark.parametrize("commands", [[*Command], [Command.MODMUL, Command.MODEXP]])
def test_without_the_remainder_theorem(library, memory, commands):
    """A private key is n and d there, and both exponents have one place."""
    _, driver = opened(library, commands=set(commands) - {Command.WIPE})
    key = keys.generate(300, seed=1)
    own = private_key(key)
    assert library.coprime_private_constants(*map(ctypes.byref, (driver, own, memory))) == 0
    assert library.coprime_load_private(ctypes.byref(driver), ctypes.byref(own)) == 0
    x, result = words(pow(5, 65537, key.n), 300), words(0, 300)
    assert library.coprime_private(ctypes.byref(driver), x, result) == 0
    assert list(result) == list(words(5, 300))
    both = Command.RSA_PRIVATE in commands
    missing = int(Error.OPERAND_MISSING)
    assert library.coprime_public(ctypes.byref(driver), x, result) == (0 if both else missing)
    exponent = words(3, 2)
    assert library.coprime_modexp(ctypes.byref(driver), x, exponent, 2, result) == 0
    assert library.coprime_private(ctypes.byref(driver), x, result) == (0 if both else missing)
    assert library.coprime_load_public(ctypes.byref(driver), ctypes.byref(own.public_key)) == 0
    assert library.coprime_public(ctypes.byref(driver), words(5, 300), result) == 0
    assert list(result) == list(x)
    own.d = None
    own.dp = None
    assert library.coprime_load_private(ctypes.byref(driver), ctypes.byref(own)) == missing


def test_a_command_that_the_engine_lacks(library, memory):
    _, driver = opened(library, commands=[Command.MODMUL])
    own = modulus((1 << 89) - 1)
    assert library.coprime_modulus_constants(*map(ctypes.byref, (driver, own, memory))) == 0
    assert library.coprime_load_modulus(ctypes.byref(driver), ctypes.byref(own)) == 0
    one = words(1, 89)
    exponent = (ctypes.byref(driver), one, one, 1, one)
    assert library.coprime_modexp(*exponent) == Error.UNSUPPORTED


@pytest.mark.parametrize("place", [0, 8])
def test_every_code_of_the_hardware(library, memory, place):
    """Of a command, and of an access that was refused."""
    device, driver = opened(library)
    own = modulus((1 << 89) - 1)
    assert library.coprime_modulus_constants(*map(ctypes.byref, (driver, own, memory))) == 0
    assert library.coprime_load_modulus(ctypes.byref(driver), ctypes.byref(own)) == 0
    end = device.end
    # After a FAULT nothing is loaded any more.
    for error in sorted(Error, key=lambda one: one is Error.FAULT):

        def end_with(command, error=error):
            end(command)
            device.values[r.ERROR] = error << place

        device.end = end_with
        one, result = words(1, 89), words(7, 89)
        assert library.coprime_modmul(ctypes.byref(driver), one, one, result) == error
        assert list(result) == list(words(7 if error else 1, 89))


def test_a_command_that_never_ends(library):
    device, driver = opened(library)
    device.hang = True
    assert library.coprime_wipe(ctypes.byref(driver)) == TIMEOUT
    assert library.coprime_wipe(ctypes.byref(driver)) == Error.BUSY


def test_a_device_that_goes_away_at_any_access(library, memory):
    """From some access on, reads return all ones and writes are lost."""
    m = (1 << 89) - 1
    outcomes = []
    while not outcomes or outcomes[-1]:
        device, driver = opened(library)
        left = [len(outcomes)]

        def is_there(left=left):
            left[0] -= 1
            return left[0] >= 0

        def read(_, address, device=device, is_there=is_there):
            return device.read32(address) if is_there() else NO_ANSWER

        def write(_, address, value, device=device, is_there=is_there):
            if is_there():
                device.write32(address, value)

        own, result = modulus(m), words(7, 89)
        memory = Memory((ctypes.c_uint32 * 4096)(), 4096)
        driver.read, driver.write = READ(read), WRITE(write)
        error = library.coprime_modulus_constants(*map(ctypes.byref, (driver, own, memory)))
        error = error or library.coprime_load_modulus(ctypes.byref(driver), ctypes.byref(own))
        error = error or library.coprime_modmul(
            ctypes.byref(driver), words(5, 89), words(3, 89), result
        )
        outcomes.append(error)
        assert error == DEVICE or list(result) == list(words(15, 89))
    assert len(outcomes) > 100
    assert library.coprime_open(ctypes.byref(driver)) == DEVICE


def test_polling_leaves_the_interrupt_inactive(library):
    device, driver = opened(library)
    assert device.values[r.INTERRUPT_ENABLE] == 1

    def read(_, address):
        if device.finish:
            device.finish()
        return device.read32(address)

    driver.wait, driver.read = WAIT(), READ(read)
    assert library.coprime_wipe(ctypes.byref(driver)) == 0
    assert device.values[r.INTERRUPT_ENABLE] == 0


def test_every_code_has_a_sentence(library):
    library.coprime_error_text.restype = ctypes.c_char_p
    codes = [*Error, *range(256, 266)]
    texts = [library.coprime_error_text(int(code)) for code in codes]
    assert len(set(texts)) == len(codes)
    assert library.coprime_error_text(266) == library.coprime_error_text(-1) == b"unknown error"
    assert b"unknown error" not in texts


def test_the_example_of_a_key(library):
    _, driver = opened(library)
    for bits in (1024, 1030, 2048):
        key = keys.generate(bits, seed=bits)
        numbers = (key.n, 65537, key.p, key.q, key.dp, key.dq, key.qinv)
        octets = [value.to_bytes((value.bit_length() + 7) // 8, "big") for value in numbers]
        example = (Octets * 7)(*((text, len(text)) for text in octets))
        size = len(octets[0])
        cipher = pow(5, 65537, key.n).to_bytes(size, "big")
        message = ctypes.create_string_buffer(size)
        assert library.decrypt(ctypes.byref(driver), example, cipher, message) == 0
        assert int.from_bytes(message.raw, "big") == 5
    example = (Octets * 7)(*((text, len(text)) for text in [b"\1" * 257, *octets[1:]]))
    assert library.decrypt(ctypes.byref(driver), example, bytes(257), message) != 0


def test_the_example_of_bare_metal(library):
    _, driver = opened(library)
    result = words(0, 128)
    assert library.power_of_three(ctypes.byref(driver), result) == 0
    assert list(result) == list(words(pow(3, 65537, 2**128 - 159), 128))


class Input(ctypes.Structure):
    """`struct coprime_input`."""

    _fields_ = [("words", ctypes.POINTER(ctypes.c_uint32)), ("bits", ctypes.c_uint32)]


def operate(library, driver, command, *inputs, bits=64):
    """The error and the result of an operation that is given (number, bits of an exponent)."""
    given = (Input * len(inputs))(
        *(Input(words(value, length or bits), length) for value, length in inputs)
    )
    result = words(0, bits)
    return library.coprime_operate(ctypes.byref(driver), command, given, result), list(result)


def loaded(library, memory, m, **settings):
    """A driver with a modulus."""
    device, driver = opened(library, **settings)
    own = modulus(m)
    assert library.coprime_modulus_constants(*map(ctypes.byref, (driver, own, memory))) == 0
    assert library.coprime_load_modulus(ctypes.byref(driver), ctypes.byref(own)) == 0
    return device, driver


def test_operations_by_their_records(library, memory):
    m = (1 << 64) - 59
    _, driver = loaded(library, memory, m)
    x, y, e = m - 2, m - 5, 0x1_2345
    assert operate(library, driver, Command.MODMUL, (x, 0), (y, 0)) == (0, [*words(x * y % m, 64)])
    for command in (Command.MODEXP, Command.RSA_PUBLIC):
        found = operate(library, driver, command, (x, 0), (e, 17))
        assert found == (0, [*words(pow(x, e, m), 64)])


def test_operations_that_are_refused(library, memory):
    m = (1 << 64) - 59
    _, driver = loaded(library, memory, m, commands={*Command} - {Command.RSA_PUBLIC, Command.WIPE})
    for command in (Command.RSA_PUBLIC, Command.RSA_PRIVATE, Command.WIPE, 0, 63):
        error, _ = operate(library, driver, command, (1, 0), (1, 0))
        assert error == Error.UNSUPPORTED, command
    assert operate(library, driver, Command.MODEXP, (1, 0), (1, 0))[0] == Error.EXPONENT_LENGTH
    _, empty = opened(library)
    assert operate(library, empty, Command.MODEXP, (1, 0), (1, 1))[0] == Error.OPERAND_MISSING
