import ctypes
import random
import struct
import subprocess

import pytest

from coprime.flow.tool_errors import ToolError
from coprime.rsa import keys
from coprime.rsa.padding import Pkcs1Encryption
from coprime.soc import firmware
from coprime.soc.firmware import elf_image, find_toolchain
from tests.drivers.harness import find_c_compiler

pytestmark = pytest.mark.xdist_group("firmware")

SEED = 21


def elf(*segments):
    """An ELF file whose program header table names (kind, address, bytes)."""
    header = bytearray(52)
    header[:6] = b"\x7fELF\x01\x01"
    struct.pack_into("<I", header, 28, 52)
    struct.pack_into("<HH", header, 42, 32, len(segments))
    table, body = b"", b""
    for kind, address, content in segments:
        offset = 52 + 32 * len(segments) + len(body)
        table += struct.pack(
            *("<8I", kind, offset, 0xBAD0, address, len(content), len(content) + 99, 7, 4)
        )
        body += content
    return bytes(header) + table + body


def test_elf_image():
    file = elf((1, 8, b"abcdef"), (0x6474E551, 0, b"stack"), (1, 0, b"0123"), (1, 100, b""))
    assert elf_image(file) == list(struct.unpack("<4I", b"0123\0\0\0\0abcdef\0\0"))
    assert elf_image(elf()) == []
    for wrong in (b"", b"\x7fELF\x02\x01" + bytes(60), b"#!/bin/sh"):
        with pytest.raises(ValueError, match="not an ELF file of 32 bits"):
            elf_image(wrong)


def test_no_compiler(monkeypatch):
    monkeypatch.delenv("RISCV_CC", raising=False)
    monkeypatch.setattr(firmware.shutil, "which", lambda name: None)
    monkeypatch.setattr(firmware.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ToolError, match="gcc-riscv64-unknown-elf; or: make compiler"):
        find_toolchain()
    monkeypatch.setenv("RISCV_CC", "no-such-compiler -x")
    with pytest.raises(ToolError, match="RISCV_CC names does not exist: no-such-compiler -x"):
        find_toolchain()


# The software that the accelerator is compared with, on the machine that runs the tests.

WORDS = 64
Number = ctypes.c_uint32 * WORDS


class Modulus(ctypes.Structure):
    _fields_ = [
        *(("words", ctypes.c_uint32), ("inverse", ctypes.c_uint32)),
        *(("value", Number), ("power", Number)),
    ]


class Key(ctypes.Structure):
    _fields_ = [
        *(("p", Modulus), ("q", Modulus)),
        *(("dp", Number), ("dq", Number), ("coefficient", Number)),
    ]


@pytest.fixture(scope="module")
def software(tmp_path_factory):
    library = tmp_path_factory.mktemp("software") / "software.so"
    command = [find_c_compiler(), "-std=c11", "-O2", "-Wall", "-Wextra"]
    command += ["-Wpedantic", "-Wconversion", "-Werror", "-fsanitize=undefined"]
    command += ["-fsanitize-undefined-trap-on-error", "-shared", "-fPIC", "-o", str(library)]
    sources = [str(firmware._SOURCES / name) for name in ("software_rsa.c", "unpad.c")]
    subprocess.run([*command, *sources], check=True, capture_output=True)
    return ctypes.CDLL(str(library))


def fill(array, value):
    for place in range(len(array)):
        array[place] = value >> 32 * place & 0xFFFF_FFFF
    assert value >> 32 * len(array) == 0


def private(software, key, x):
    """x^d mod n in C."""
    words = -(-max(key.p, key.q).bit_length() // 32)
    own = Key()
    for modulus, value in ((own.p, key.p), (own.q, key.q)):
        modulus.words = words
        fill(modulus.value, value)
        software.software_prepare(ctypes.byref(modulus))
        radix = 1 << 32 * words
        power = sum(word << 32 * place for place, word in enumerate(modulus.power))
        assert power == radix * radix % value
        assert modulus.inverse * value % (1 << 32) == (1 << 32) - 1
    for array, value in ((own.dp, key.dp), (own.dq, key.dq), (own.coefficient, key.qinv)):
        fill(array, value)
    source, result = (ctypes.c_uint32 * (2 * words))(), (ctypes.c_uint32 * (2 * words))()
    fill(source, x)
    software.software_private(ctypes.byref(own), source, result)
    return sum(word << 32 * place for place, word in enumerate(result))


@pytest.mark.parametrize(
    ("bits", "p_bits"), [(64, None), (96, 32), (97, 40), (512, None), (512, 200), (1027, None)]
)
def test_software(software, bits, p_bits):
    key = keys.generate(bits, p_bits=p_bits, e=257 if bits < 100 else 65537, seed=SEED)
    rng = random.Random(SEED)
    multiples = [key.p, key.q, key.n - key.p, key.n - key.q]
    for x in (0, 1, 2, key.n - 1, *multiples, *(rng.randrange(key.n) for _ in range(8))):
        assert private(software, key, x) == pow(x, key.d, key.n)


@pytest.mark.parametrize("bits", [64, 128])
def test_software_at_the_longest_carries(software, bits):
    """Primes as near to the power of two as they come: sums pass over it."""
    half = bits // 2
    p, q = (
        next(n for n in range(start, 0, -2) if pow(2, n - 1, n) == 1 and (n - 1) % 3)
        for start in ((1 << half) - 1, (1 << half) - (1 << half // 2) - 1)
    )
    key = keys.RsaPrivateKey.from_primes(p, q, 3)
    for x in (key.n - 1, key.n - 2, p * (q - 1), q * (p - 1), (1 << (bits - 1)) - 1):
        assert private(software, key, x) == pow(x, key.d, key.n)


@pytest.mark.parametrize("bits", [2, 31, 32, 33, 64, 97, 500])
def test_modexp_in_software(software, bits):
    """Moduli of nothing but ones, and one more than a power of two, where they are odd."""
    rng = random.Random(bits)
    for m in {(1 << bits) - 1, (1 << bits - 1) + 1, rng.getrandbits(bits) | 1 << bits - 1 | 1}:
        modulus = Modulus(words=-(-bits // 32))
        fill(modulus.value, m)
        software.software_prepare(ctypes.byref(modulus))
        for x in {0, 1, m - 1, m - 2, rng.randrange(m)}:
            for e in (1, m >> 1, m):
                base, exponent, result = Number(), Number(), Number()
                fill(base, x)
                fill(exponent, e)
                software.software_modexp(ctypes.byref(modulus), base, exponent, result)
                found = sum(word << 32 * place for place, word in enumerate(result))
                assert found == pow(x, e, m), (m, x, e)


def test_unpad(software):
    """Every place of the first zero, and every first two bytes, beside the driver in Python."""
    size = 24
    blocks = [b"\0\2" + b"\7" * n + b"\0" + b"\0\7" * size for n in range(size)]
    blocks += [
        bytes([first, second]) + b"\1" * 9 + b"\0" * size
        for first in range(4)
        for second in range(256)
    ]
    blocks += [b"\0\2" + b"\1" * size]
    for block in (block[:size] for block in blocks):
        # With a wrong padding no byte is left out.
        place = size - len(Pkcs1Encryption().decode(block, bytes(size)))
        assert software.unpad(block, size) == place
    for size in range(2, 11):
        assert software.unpad(b"\0\2" + b"\0" * 8, size) == 0
