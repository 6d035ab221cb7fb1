"""The examples that COMPRESSION works out, step by step, by our algorithms and our hardware."""

import re

import pytest
from amaranth.sim import Simulator
from coprime_evidence.papers.published import read_publication

from coprime.bus import registers as register_map
from coprime.bus.register_classes import Register
from coprime.exponentiators.names import Exponentiator
from coprime.fixed_modulus.arithmetic import FixedModulus, Method
from coprime.fixed_modulus.exponentiators import register_exponentiator
from coprime.fixed_modulus.register_exponentiation import RegisterExponentiation
from coprime.model.compression import Recoding, residue_digits
from coprime.model.montgomery_r2 import HEADROOM, multiply
from coprime.padding.tasks import Task, overhead
from tests.benches import open_bench

# Section 2.3.2: 3^23 mod 29.
X, E, M = 3, 23, 29
LENGTH = E.bit_length()
BITS = [E >> i & 1 for i in range(LENGTH)]
LINES = list(read_publication("compression").cells("Table 1"))
SQUARING = [int(square.rstrip("*")) for _, square, _ in LINES]
MULTIPLYING = [None if product == "-" else int(product) for _, _, product in LINES]

# Section 2.1: a key with a message, its encryption and decryption.
P, Q, PUBLIC, PRIVATE = 62639, 53987, 5, 2028945041
KEY, MESSAGE, CIPHER = 3381691693, 17111998, 407188056

# Section 2.3.5: an exponent that is cut into windows.
WINDOWED = "001110100011001010"


def registers(which, multipliers=1, window=1, method=Method.COMPRESSION):
    """C and X after each cycle with a product that is needed, and how many make the table."""
    exponentiation = RegisterExponentiation(which, FixedModulus(M, method), multipliers, window)
    hardware = register_exponentiator(exponentiation, 1, LENGTH)
    seen = []

    async def process(ctx):
        ctx.set(hardware.exponent, E)
        ctx.set(hardware.length, LENGTH)
        ctx.set(hardware.digit, X)
        ctx.set(hardware.write, 1)
        await ctx.tick()
        ctx.set(hardware.write, 0)
        ctx.set(hardware.start, 1)
        await ctx.tick()
        ctx.set(hardware.start, 0)
        done = False
        while not done:
            done, multiplies = ctx.get(hardware.done), ctx.get(hardware.multiplying)
            await ctx.tick()
            if multiplies:
                seen.append((ctx.get(hardware.c), ctx.get(hardware.x)))
        assert ctx.get(hardware.c) == pow(X, E, M)

    simulator = Simulator(hardware)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()
    return seen, len(exponentiation.precomputed)


# --- Table 1 and equations 15 to 17 -------------------------------------------------------------


def test_table_1_is_the_exponentiation():
    """Equation 15, 23 = 2^0 + 2^1 + 2^2 + 2^4, is the asterisks; the others are the columns."""
    assert [int(i) for i, _, _ in LINES] == list(range(LENGTH))
    assert [square.endswith("*") for _, square, _ in LINES] == [bool(bit) for bit in BITS]
    assert [pow(X, 1 << i, M) for i in range(LENGTH)] == SQUARING
    c = 1
    for bit, square, product in zip(BITS, SQUARING, MULTIPLYING, strict=True):
        assert (product is not None) is bool(bit)
        if bit:
            c = c * square % M
            assert c == product
    assert c == MULTIPLYING[-1] == pow(X, E, M) == 8


@pytest.mark.parametrize("method", Method)
def test_table_1_is_in_the_registers_of_two_multipliers(method):
    """Figure 16: in the cycle of a bit, C takes the product and X the next square."""
    seen, _ = registers(Exponentiator.RIGHT_TO_LEFT, 2, method=method)
    assert [c for c, _ in seen] == [3, 27, 12, 12, 8]
    assert [x for _, x in seen] == [*SQUARING[1:], SQUARING[-1] ** 2 % M]


def test_table_1_is_in_the_registers_of_one_multiplier():
    """Figure 37: the product of a 1, then the square; none after the last product."""
    expected, c = [], 1
    for i, product in enumerate(MULTIPLYING):
        if product is not None:
            c = product
            expected.append((c, SQUARING[i]))
        if i + 1 < LENGTH:
            expected.append((c, SQUARING[i + 1]))
    seen, _ = registers(Exponentiator.RIGHT_TO_LEFT)
    assert seen == expected


def test_table_1_in_montgomery_form():
    """Algorithm 6 with the multiplication of Algorithm 2: the same columns, times R."""
    rounds = M.bit_length() + HEADROOM
    r = 1 << rounds

    def mont_mult(a, b):
        return multiply(a, b, M, rounds, rounds)

    c, s = mont_mult(1, r * r % M), mont_mult(X, r * r % M)
    for bit, square, product in zip(BITS, SQUARING, MULTIPLYING, strict=True):
        assert s % M == square * r % M
        if bit:
            c = mont_mult(c, s)
            assert c % M == product * r % M
        s = mont_mult(s, s)
    assert mont_mult(c, 1) % M == 8


# --- Algorithms 3, 4, 7 and 8 on the same numbers -----------------------------------------------


def algorithm_3():
    """C of line 3."""
    return [pow(X, k, M) for k in range(1, E + 1)]


def from_the_left(windows):
    """R of each line, for windows from the highest bit; those of zeros are only squared.

    Of Algorithm 4 a window is a bit, of 7 it is w bits, of 8 it begins and ends with a 1. (The
    thesis prints all three with i = 0 first, and in 8 the branches of line 4 the other way round.)
    """
    r, found = 1, []
    for window in windows:
        for _ in window:
            r = r * r % M
            found.append(r)
        if int(window, 2):
            r = r * pow(X, int(window, 2), M) % M
            found.append(r)
    return found


def sliding(bits, width):
    """Section 2.3.5's first way: from the left, a window begins at a 1, and ends with the last 1
    of as many bits; a 0 between them stands alone."""
    return re.findall(rf"1(?:[01]{{0,{width - 2}}}1)?|0" if width > 1 else "[01]", bits)


@pytest.mark.parametrize(
    ("which", "window", "lines"),
    [
        (Exponentiator.REPEATED, 1, algorithm_3()),
        (Exponentiator.LEFT_TO_RIGHT, 1, from_the_left(f"{E:b}")),
        (Exponentiator.M_ARY, 2, from_the_left(["01", "01", "11"])),
        (Exponentiator.M_ARY, 3, from_the_left(["010", "111"])),
        (Exponentiator.SLIDING_WINDOW, 2, from_the_left(["1", "0", "11", "1"])),
        (Exponentiator.SLIDING_WINDOW, 3, from_the_left(["101", "11"])),
    ],
)
def test_algorithms_from_the_left_line_by_line(which, window, lines):
    seen, precomputed = registers(which, window=window)
    assert [c for c, _ in seen[precomputed:]] == lines
    assert lines[-1] == 8


@pytest.mark.parametrize(
    ("width", "windows"),
    [
        (1, ["1"] * 8),
        (2, ["11", "1", "1", "11", "1", "1"]),
        (3, ["111", "1", "11", "101"]),
        (4, ["111", "1", "11", "101"]),
    ],
)
def test_the_exponent_of_section_2_3_5_in_windows(width, windows):
    """The thesis underlines them, which the scan has lost. A leading zero is a square too."""
    own = sliding(WINDOWED, width)
    assert [one for one in own if one != "0"] == windows
    exponentiation = RegisterExponentiation(
        Exponentiator.SLIDING_WINDOW, FixedModulus(M, Method.DIRECT), window=width
    )
    rounds = exponentiation.rounds(int(WINDOWED, 2), len(WINDOWED))
    assert list(rounds) == [(len(one), one != "0") for one in own]


# --- The other examples -------------------------------------------------------------------------


def test_the_key_of_section_2_1():
    totient = (P - 1) * (Q - 1)
    assert (P * Q, totient) == (KEY, 3381575068)
    assert pow(PUBLIC, -1, totient) == PRIVATE
    assert (pow(MESSAGE, PUBLIC, KEY), pow(CIPHER, PRIVATE, KEY)) == (CIPHER, MESSAGE)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("family", "settings"),
    [
        pytest.param("compression", {"modulus": KEY}, marks=pytest.mark.matrix),
        ("compression", {"modulus": KEY, "multipliers": 1}),
        ("direct", {"modulus": KEY}),
        ("montgomery-r2", {"max_bits": 32, "multipliers": 2}),
    ],
)
def test_the_message_of_section_2_1(family, settings):
    """Equations 3 and 4, through the registers of CM and DM made for this key, and of MM."""
    bench = open_bench(family, **settings)
    try:
        assert bench.accelerator.modexp(MESSAGE, PUBLIC, KEY).value == CIPHER
        assert bench.accelerator.modexp(CIPHER, PRIVATE, KEY).value == MESSAGE
    finally:
        bench.device.close()


def test_the_weights_of_section_2_2_1_4():
    """Modulo 43: 2^6 is 21, not -22, of as many ones; 2^7 to 2^10 are -1, -2, -4 and -8."""
    digits = residue_digits(6, 43, recoding=Recoding.THESIS)
    assert digits == ((0, 1), (2, 1), (4, 1))
    assert sum(sign << column for column, sign in digits) == 21 == 43 - 22
    assert (21).bit_count() == (22).bit_count() == 3
    for weight in range(7, 11):
        assert residue_digits(weight, 43, recoding=Recoding.THESIS) == ((weight - 7, -1),)


def test_table_6_is_the_first_part_of_our_map():
    """The same names, addresses and accesses; nothing else is below 0x40."""
    printed = {
        name: (int(address, 16), access.replace("/", ""))
        for name, address, access in read_publication("compression").cells("Table 6")
    }
    ours = [one for one in vars(register_map).values() if isinstance(one, Register)]
    below = {one.name: (one.address, one.access) for one in ours if one.address < 0x40}
    assert below == printed and len(printed) == 7


def test_the_longest_message_of_section_4_5():
    """Equation 27: 117 bytes for a key of 1,024 bits, in 30 words of the FIFO."""
    longest = 1024 // 8 - overhead(Task.PKCS1_ENCRYPT)
    assert (longest, -(-longest // 4)) == (117, 30)
