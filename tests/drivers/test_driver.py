"""The C driver on simulated accelerators, against Python's pow."""

import random
from types import SimpleNamespace

import pytest

from coprime.bus import registers
from coprime.bus.kinds import Bus
from coprime.engine.contract import Command, Error, Operand
from coprime.rsa import keys
from tests.benches import grouped
from tests.drivers.harness import (
    DRIVER,
    HARNESS,
    SANITIZERS,
    Harness,
    can_compile,
    compile_c,
    octets,
    simulation_of,
)

IDENTIFICATION, TIMEOUT = 256, 257
UNSET = int.from_bytes(b"\x5a" * 16, "big")  # what the harness puts into a result of 128 bits

# A family with its settings: some of those of tests/engine/test_families.py, which runs in the same
# worker, so that each is built once.
FAST = {
    "compact": ("compact", {"max_bits": 257}),
    "ring": ("ring", {"max_bits": 257, "tile": "one17"}),
}
SLOW = {
    "interleaved-csa, 2 multipliers": ("interleaved-csa", {"max_bits": 129}),
    "montgomery-1csa, 2 multipliers": ("montgomery-1csa", {"max_bits": 129, "word": 8}),
    "fdfm, two multipliers": ("fdfm", {"multipliers": 2}),
    "ring, 2 multipliers": ("ring", {"max_bits": 257, "multipliers": 2}),
    "montgomery-2csa": ("montgomery-2csa", {"max_bits": 1100, "word": 64}),
    "karatsuba, scaled": ("karatsuba", {"word": 128, "scaled": 1}),
}


@pytest.fixture(
    scope="module",
    params=grouped(FAST, SLOW),
)
def harness(request, tmp_path_factory):
    family, settings = request.param
    running = start(tmp_path_factory.mktemp("driver"), family, settings)
    yield running
    running.close()


def start(folder, family, settings, paddings=(), more=()):
    """The harness on a simulation; `more` are sources, and options that they need."""
    flags = SANITIZERS if can_compile(folder, *SANITIZERS) else ()
    simulation = simulation_of(family, paddings, **settings)
    return Harness(
        compile_c(folder, "harness", "-DSIMULATION", *flags, *more, HARNESS, DRIVER, simulation)
    )


@pytest.fixture
def opened(harness):
    """The harness on an accelerator that is reset; with what it is, by the registers' names."""
    harness("limit", 100_000_000)
    harness("reset")
    return open_driver(harness)


def open_driver(harness):
    names = (
        *("version", "family", "commands", "max_bits", "max_prime_bits", "min_bits"),
        *("digit_width", "headroom", "radix_bits"),
        *("constant_time", "fixed_modulus", "equal_primes", "held", "paddings", "checked"),
    )
    code, *values = harness("open")
    assert code == 0
    harness.own = SimpleNamespace(**dict(zip(names, values, strict=True)))
    return harness


def load_modulus(harness, m):
    harness.set_modulus(m)
    assert harness("modulus_constants", 0)[0] == 0
    assert harness("load_modulus") == (0,)


def load_private(harness, key, e=None):
    harness.set_private(key, e or (65537 if harness.own.checked else None))
    assert harness("private_constants", 0)[0] == 0
    assert harness("load_private") == (0,)


def lengths(own):
    """Moduli's lengths: the shortest, the longest, around words and digits."""
    longest = min(own.max_bits, 200)
    return sorted({own.min_bits, own.min_bits + 1, 31, 32, 33, 64, 65, longest} - {1})


def moduli(own, bits):
    """The least and the greatest of a length, and one between."""
    least, greatest = 1 << bits - 1, (1 << bits) - 1
    if own.radix_bits:
        least, greatest = least | 1, greatest | 1
    between = random.Random(bits).randrange(least, greatest + 1) | bool(own.radix_bits)
    return sorted({least, between, greatest} - {1})


@pytest.mark.matrix(quick=1)
def test_open_reads_what_the_accelerator_is(opened):
    own = opened.own
    for name in ("version", "family"):
        register = getattr(registers, name.upper())
        assert opened("read", register.address) == (0, getattr(own, name))
    _, digits = opened("read", registers.DIGITS.address)
    assert digits == own.digit_width | own.headroom << 8 | own.radix_bits << 16
    _, lengths = opened("read", registers.MAX_LENGTH.address)
    assert lengths == own.max_bits | own.max_prime_bits << 16
    assert opened("read", registers.MIN_LENGTH.address) == (0, own.min_bits)
    _, word = opened("read", registers.CAPABILITIES.address)
    flags = (
        own.constant_time << 8 | own.fixed_modulus << 9 | own.equal_primes << 14 | own.checked << 18
    )
    assert word == own.commands | flags | word & registers.CAPABILITIES["MULTIPLIERS"].mask
    assert own.paddings == 0


@pytest.mark.matrix(quick=1)
def test_modmul(opened):
    for bits in lengths(opened.own):
        for m in moduli(opened.own, bits):
            load_modulus(opened, m)
            for x, y in ((0, 0), (1, 1), (m - 1, m - 1), (m // 2, m - 2), (m - 1, 0)):
                answer = opened("modmul", octets(x), octets(y))
                assert answer[:2] == (0, x * y % m), (m, x, y)
                assert answer[2] >= answer[3] > 0


def test_modexp(opened):
    for bits in lengths(opened.own):
        for m in moduli(opened.own, bits):
            load_modulus(opened, m)
            for x, e, e_bits in ((m - 1, 0, 1), (0, 0, 5), (m - 1, 3, 2), (m // 2, 0x10001, 40)):
                answer = opened("modexp", octets(x), e_bits, octets(e))
                assert answer[:2] == (0, pow(x, e, m)), (m, x, e)


LENGTHS_OF_KEYS = [(128, 64), (100, 50), (129, 65), (96, 60)]


@pytest.mark.parametrize(
    ("mode", "sizes"),
    [
        (None, LENGTHS_OF_KEYS),
        ("poll", LENGTHS_OF_KEYS[3:]),
        ("blocks", LENGTHS_OF_KEYS[2:]),
        pytest.param("poll", LENGTHS_OF_KEYS[:3], marks=pytest.mark.matrix),
    ],
)
def test_public_and_private(opened, mode, sizes):
    """Both work after one loading, and modmul and modexp with the key's modulus too.

    A private operation that is checked leaves nothing for these, nor modexp an exponent for it.
    """
    checked = opened.own.checked
    if mode == "poll":
        opened("poll")
    opened("blocks", int(mode == "blocks"))
    for bits, p_bits in sizes:
        key = keys.generate(bits, seed=bits, p_bits=p_bits)
        generator = random.Random(bits)
        load_private(opened, key, 65537)
        messages = [0, 1, key.p, key.q, key.n - 1, *(generator.randrange(key.n) for _ in range(3))]
        for x in messages:
            y = pow(x, 65537, key.n)
            assert opened("public", octets(x))[:2] == (0, y)
            assert opened("private", octets(y))[:2] == (0, x)
            assert opened("private_in_place", octets(y))[:2] == (0, x)
            if checked:
                assert opened("public", octets(x))[0] == Error.OPERAND_MISSING
                assert opened("modmul", octets(1), octets(1))[0] == Error.OPERAND_MISSING
                assert opened("private", octets(y))[:2] == (0, x)
                load_private(opened, key, 65537)
        assert opened("modmul", octets(key.p), octets(key.q))[:2] == (0, 0)
        assert opened("modexp", octets(2), 100, octets(99))[:2] == (0, pow(2, 99, key.n))
        assert opened("public", octets(1))[0] == Error.OPERAND_MISSING  # its exponent is gone
        if checked:
            assert opened("private", octets(y))[0] == Error.OPERAND_MISSING
        else:
            assert opened("private", octets(y))[:2] == (0, x)
    assert (opened("blocks", 0)[1] > 0) == (mode == "blocks")


def test_blocks_move_each_word_once(opened):
    """Of a modulus of 97 bits 4 words: M, its constant, the exponent, the base and the result. Its
    inverse, of which the engine takes a digit, is shorter than the driver's number."""
    m = (1 << 96) + 61
    opened.set_modulus(m)
    assert opened("modulus_constants", 0)[0] == 0
    opened("blocks", 1)
    assert opened("load_modulus") == (0,)
    assert opened("modexp", octets(m - 2), 33, octets(1 << 32))[:2] == (0, pow(m - 2, 1 << 32, m))
    words = -(-max(97, opened.own.min_bits) // 32)
    held = [opened.own.held >> int(operand) & 1 for operand in (Operand.M, Operand.M_POWER)]
    inverse = opened.own.held >> int(Operand.M_INVERSE) & 1
    digit = -(-opened.own.digit_width // 32)
    assert opened("blocks", 0)[1] == words * (sum(held) + 2) + inverse * digit + 2


def test_a_public_key(opened):
    n = keys.generate(128, seed=1).n
    for e in (3, 65537, (1 << 63) + 1):
        opened.set_modulus(n, e=e)
        assert opened("modulus_constants", 0)[0] == 0
        assert opened("load_public") == (0,)
        for x in (0, 1, n - 1, n // 3):
            assert opened("public", octets(x))[:2] == (0, pow(x, e, n))
    assert opened("private", octets(1))[0] == Error.OPERAND_MISSING


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("family", "bus"),
    [("karatsuba", Bus.AXI4_LITE), ("karatsuba", Bus.AXI4), ("fdfm", Bus.AXI4_LITE)],
)
def test_a_whole_rsa_key(tmp_path, family, bus):
    """On AXI4 in bursts."""
    harness = open_driver(start(tmp_path, family, {"bus": bus}))
    harness("blocks", int(bus is Bus.AXI4))
    key = keys.generate(2048, seed=5)
    load_private(harness, key)
    x = random.Random(6).randrange(key.n)
    assert harness("private", octets(pow(x, 65537, key.n)))[:2] == (0, x)
    harness.close()


@pytest.mark.parametrize("bits", [125, 100, 97])
def test_operands_out_of_range(opened, bits):
    """Also by bits beyond the last byte. The result stays, and the modulus too."""
    m = keys.generate(bits, seed=1).n
    load_modulus(opened, m)
    wrong = (Error.OPERAND_RANGE, UNSET)
    for over in (m, m + 1, 1 << bits, (1 << 126) - 1, 1 << 104, 1 << 127, (1 << 128) - 1):
        if over < m:
            continue
        assert opened("modmul", octets(over), octets(1)) == wrong
        assert opened("modmul", octets(1), octets(over)) == wrong
        assert opened("modexp", octets(over), 1, octets(1)) == wrong
    assert opened("modmul", octets(m - 1), octets(m - 1))[:2] == (0, 1)


def test_unfit_moduli(opened):
    own = opened.own

    def tell(m):
        opened.set_modulus(m)
        return opened("modulus_constants", 0)[0] or opened("load_modulus")[0]

    assert tell(0) == Error.MODULUS_ZERO
    if own.radix_bits:
        assert tell(1 << 100) == Error.MODULUS_EVEN
    elif own.min_bits > 1:
        assert tell(1) == 0
        assert opened("modmul", octets(0), octets(0))[0] == Error.MODULUS_SHORT
    assert tell(1 << own.max_bits) == Error.LENGTH_OVER
    opened("reset")
    assert opened("modmul", octets(0), octets(0))[0] == Error.OPERAND_MISSING


def test_unfit_exponents(opened):
    load_modulus(opened, (1 << 89) - 1)
    one = octets(1)
    assert opened("modexp", one, 0, octets(0))[0] == Error.EXPONENT_LENGTH
    assert opened("modexp", one, 4, octets(16))[0] == Error.KEY_EXCESS
    assert opened("modexp", one, 4, "-")[0] == Error.OPERAND_MISSING
    longest = opened.own.max_bits
    assert opened("modexp", one, longest + 1, octets(1))[0] == Error.LENGTH_OVER
    assert opened("modexp", one, longest, octets(2))[:2] == (0, 1)


def test_nothing_loaded(opened):
    one = octets(0)
    for call in (("modmul", one, one), ("modexp", one, 1, one), ("public", one), ("private", one)):
        assert opened(*call)[0] == Error.OPERAND_MISSING


def test_an_incomplete_key(opened):
    key = keys.generate(128, seed=2)
    for name in ("dp", "dq"):
        numbers = SimpleNamespace(
            **{one: getattr(key, one) for one in ("n", "d", "p", "q", "dp", "dq", "qinv")}
            | {name: None}
        )
        opened.set_private(numbers)
        assert opened("private_constants", 0)[0] == 0
        assert opened("load_private") == (Error.OPERAND_MISSING,)
        assert opened("private", octets(1))[0] == Error.OPERAND_MISSING


def test_a_wrong_result(opened):
    """A public exponent that belongs to another key: where it is checked, all is wiped."""
    checked = opened.own.checked
    load_private(opened, keys.generate(128, seed=2), 65539)
    assert opened("private", octets(2))[0] == (Error.FAULT if checked else 0)
    assert opened("private", octets(2))[0] == (Error.OPERAND_MISSING if checked else 0)
    load_private(opened, keys.generate(128, seed=2))
    assert opened("private", octets(1))[:2] == (0, 1)


@pytest.mark.parametrize("bit", [0, 16, 17, 31])
def test_a_wrong_bit_on_the_way(opened, bit):
    """Of the result's second word, as it is read: where results are checked, it is not given."""
    key, x = keys.generate(128, seed=2), (1 << 127) // 3
    load_private(opened, key)
    expected = pow(x, key.d, key.n)
    opened("wrong", registers.OUTPUT_WINDOW.address + 4, 1 << bit)
    code, found, *_ = opened("private", octets(x))
    opened("wrong", 1, 0)
    assert (code, found) == (
        (Error.FAULT, 0) if opened.own.checked else (0, expected ^ 1 << 32 + bit)
    )
    assert opened("private", octets(x))[:2] == (0, expected)


def test_a_reset_is_noticed(opened):
    key = keys.generate(128, seed=2)
    load_private(opened, key)
    opened("reset")
    assert opened("private", octets(1))[0] == Error.OPERAND_MISSING
    load_private(opened, key)
    assert opened("private", octets(1))[:2] == (0, 1)


def test_wipe(opened):
    key = keys.generate(128, seed=2)
    load_private(opened, key)
    assert opened("private", octets(1))[0] == 0
    assert opened("wipe") == (0,)
    assert opened("read", registers.INTERRUPT_STATUS.address) == (0, 0)
    assert opened("private", octets(1))[0] == Error.OPERAND_MISSING
    assert opened("read", registers.OUTPUT_WINDOW.address) == (0, 0)


@pytest.mark.matrix(quick=1)
def test_another_user_is_noticed(opened):
    """Somebody has wiped the accelerator behind the driver's back."""
    load_modulus(opened, (1 << 89) - 1)
    opened("write", registers.COMMAND.address, int(Command.WIPE))
    while opened("read", registers.STATUS.address)[1]:
        pass
    assert opened("modexp", octets(1), 1, octets(1))[0] == Error.OPERAND_MISSING


@pytest.mark.matrix(quick=1)
def test_too_late_and_busy(opened):
    key = keys.generate(128, seed=3)
    load_private(opened, key)
    x = pow(5, 65537, key.n)
    opened("limit", 1)
    assert opened("private", octets(x))[0] == TIMEOUT
    calls = [("wipe",), ("load_private",), ("private", octets(x)), ("load_modulus",)]
    calls += [("modmul", octets(1), octets(1)), ("modexp", octets(1), 1, octets(1)), ("open",)]
    for call in calls:
        assert opened(*call)[0] == Error.BUSY
    opened("limit", 100_000_000)
    while opened("read", registers.STATUS.address)[1]:
        pass
    assert opened("open")[0] == 0
    load_private(opened, key)
    assert opened("private", octets(x))[:2] == (0, 5)


def test_no_accelerator(tmp_path):
    harness = Harness(compile_c(tmp_path, "harness", HARNESS, DRIVER))  # all registers read 0
    assert harness("open") == (IDENTIFICATION,)
    harness.close()
