"""docs/examples/lms.c: RFC 8554's vectors; signatures of pyhsslms, also on an accelerator."""

import ctypes
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from coprime.bus.kinds import Bus
from coprime.catalog import choose_calls
from coprime.device.simulated import open_simulation
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import run_tool
from coprime.package.call_header import call_header
from coprime.soc import decryption, firmware, riscv
from coprime.soc.simulated_system import DIVISOR
from tests.drivers.bindings import driver_of
from tests.drivers.harness import CALLS, DRIVER, DRIVERS, ROOT, compile_c

FOLDER = Path(__file__).parent
EXAMPLES, BUS = ROOT / "docs" / "examples", ROOT / "coprime" / "bus"
CASES = json.loads((FOLDER / "rfc8554.json").read_text())
INVALID = -1
DIGEST = ctypes.CFUNCTYPE(
    *(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p),
    *(ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint8)),
)
SIGN = """
import pyhsslms
tree, chains = pyhsslms.lms_shake_m{n}_h5, pyhsslms.lmots_shake_n{n}_w{w}
key = pyhsslms.HssPrivateKey(levels={levels}, lms_type=tree, lmots_type=chains)
message = b"firmware, version 7"
public = key.publicKey().serialize()
print(public.hex(), message.hex(), key.sign(message).hex())
"""


class Hash(ctypes.Structure):
    """`struct lms_hash`."""

    _fields_ = [("context", ctypes.c_void_p), ("digest", DIGEST), ("is_shake", ctypes.c_bool)]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lms")
    interface = choose_calls("shake", {}).design.interface
    (folder / "coprime_shake.h").write_text(call_header("coprime_shake", interface))
    source = EXAMPLES / "lms.c"
    arguments = ("-shared", "-fPIC", "-O1", f"-I{folder}", source, DRIVER, CALLS)
    return ctypes.CDLL(str(compile_c(folder, "lms.so", *arguments)))


def hashed_by(new, *, is_shake=False, error=0):
    """A hash of Python's, and how often it has been asked."""
    count = [0]

    def digest(_, first, first_size, second, second_size, output):
        count[0] += 1
        parts = ((first, first_size), (second, second_size))
        data = b"".join(ctypes.string_at(place, size) for place, size in parts if size)
        ctypes.memmove(output, new(data), 32)
        return error

    return Hash(None, DIGEST(digest), is_shake), count


def sha256(data):
    return hashlib.sha256(data).digest()


def shake256(data):
    return hashlib.shake_256(data).digest(32)


def verify(library, how, key, message, signature):
    parts = (
        value for data in (key, message, signature) for value in (data, ctypes.c_uint32(len(data)))
    )
    return library.hss_verify(ctypes.byref(how), *parts)


def numbers(case):
    return [bytes.fromhex(case[name]) for name in ("public_key", "message", "signature")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_vectors_of_rfc_8554(library, case):
    """Both have two levels: w = 8, and w = 4 below w = 8 or above it."""
    key, message, signature = numbers(case)
    how, count = hashed_by(sha256)
    assert verify(library, how, key, message, signature) == 0
    assert count[0] > 1000
    assert verify(library, how, key, message + b" ", signature) == INVALID
    step = len(signature) // 20
    for place in [*range(0, len(signature), step), len(signature) - 1]:
        changed = bytearray(signature)
        changed[place] ^= 1
        assert verify(library, how, key, message, bytes(changed)) == INVALID, place
    for place in range(0, len(key), 3):
        changed = bytearray(key)
        changed[place] ^= 1
        assert verify(library, how, bytes(changed), message, signature) == INVALID, place


def test_lengths_that_are_wrong(library):
    """Keys and signatures that are cut off, or go on."""
    key, message, signature = numbers(CASES[0])
    how, _ = hashed_by(sha256)
    for size in [*range(0, len(signature), 97), len(signature) - 1]:
        assert verify(library, how, key, message, signature[:size]) == INVALID
    assert verify(library, how, key, message, signature + b"\0") == INVALID
    for size in range(len(key)):
        assert verify(library, how, key[:size], message, signature) == INVALID
    assert verify(library, how, key + b"\0", message, signature) == INVALID


def test_another_hash_or_one_that_fails(library):
    key, message, signature = numbers(CASES[0])
    assert (
        verify(library, hashed_by(shake256, is_shake=True)[0], key, message, signature) == INVALID
    )
    assert verify(library, hashed_by(shake256)[0], key, message, signature) == INVALID
    how, count = hashed_by(sha256, error=7)
    assert verify(library, how, key, message, signature) == 7
    assert count[0] == 1


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """Gives a key, a message and a signature of pyhsslms."""
    folder = tmp_path_factory.mktemp("pyhsslms")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--target", str(folder), "-r", str(FOLDER / "requirements.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "No matching distribution" in done.stderr:
        pytest.skip("pip does not reach its registry")
    assert done.returncode == 0, done.stderr

    def sign(**given):
        text = SIGN.format(**given)
        done = subprocess.run(
            [sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, check=True
        )
        return [bytes.fromhex(word) for word in done.stdout.split()]

    return sign


@pytest.mark.clients
@pytest.mark.parametrize(("n", "w", "levels"), [(32, 8, 1), (32, 4, 2), (24, 8, 1), (24, 4, 1)])
def test_signatures_of_pyhsslms(library, signed, n, w, levels):
    key, message, signature = signed(n=n, w=w, levels=levels)
    how, _ = hashed_by(shake256, is_shake=True)
    assert verify(library, how, key, message, signature) == 0
    assert verify(library, how, key, message + b" ", signature) == INVALID


@pytest.mark.clients
def test_a_signature_on_the_accelerator(library, signed):
    """Each of some 4,000 hashes is a call of the simulated engine."""
    key, message, signature = signed(n=32, w=8, levels=1)
    how, count = hashed_by(shake256, is_shake=True)
    assert verify(library, how, key, message, signature) == 0
    with open_simulation(choose_calls("shake", {})) as device:
        driver = driver_of(device)
        assert library.coprime_open(ctypes.byref(driver)) == 0
        place = ctypes.cast(ctypes.byref(driver), ctypes.c_void_p)
        digest = ctypes.cast(library.lms_shake256, DIGEST)
        of_engine = Hash(place, digest, True)
        assert verify(library, of_engine, key, message, signature) == 0
        assert verify(library, of_engine, key, message + b" ", signature) == INVALID
    assert 3000 < count[0] < 6000


@pytest.mark.clients
@pytest.mark.timeout(1800)
def test_a_signature_in_firmware(signed, tmp_path):
    """The same program on the RISC-V processor, which leaves each hash to the accelerator."""
    choice = choose_calls("shake", {})
    (tmp_path / "coprime_shake.h").write_text(call_header("coprime_shake", choice.design.interface))
    try:
        toolchain = firmware.find_toolchain()
        riscv.find_processor()
    except ToolError as error:
        pytest.skip(str(error))
    sources = Path(firmware.__file__).with_name("firmware")
    own = [sources / name for name in ("start.S", "string.c", "system.c")]
    includes = (tmp_path, EXAMPLES, sources / "include", sources, DRIVERS / "include", BUS)
    definitions = decryption.simulated_definitions()
    command = [
        *(*toolchain.command, *firmware._FLAGS, "-O2"),
        *(f"-D{name}={value:#x}" for name, value in definitions.items()),
        *(f"-I{folder}" for folder in includes),
        *("-T", sources / "link.ld", *own, DRIVER, CALLS, FOLDER / "firmware.c"),
        *("-o", tmp_path / "lms.elf"),
    ]
    run_tool("the RISC-V compiler", list(map(str, command)), environment=toolchain.environment)
    program = firmware.elf_image((tmp_path / "lms.elf").read_bytes())
    verilog = riscv.system_verilog(choice, bus=Bus.AXI4_LITE, divisor=DIVISOR)
    key, message, signature = signed(n=32, w=8, levels=1)
    for given, expected in ((message, "right"), (message[:-1] + b"8", "refused")):
        parts = (key, given, signature)
        data = b"".join((*(len(one).to_bytes(4, "little") for one in parts), *parts))
        job = [int.from_bytes(data[k : k + 4], "little") for k in range(0, len(data), 4)]
        transcript, _ = decryption.run_program(verilog, program, job)
        assert transcript.splitlines()[-2:] == [expected, "end"]
        print(decryption.cycles_in(transcript))
