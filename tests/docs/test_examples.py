"""Examples on pages run as they are there; a new one fails here until it is run, too."""

import ctypes
import hashlib
import importlib
import random
import re
import shutil
import subprocess
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils, x25519

from coprime import catalog
from coprime.catalog import choose, choose_calls
from coprime.cells.target import Target
from coprime.cli import main
from coprime.device.accelerator import Accelerator
from coprime.device.calls import CallAccelerator
from coprime.device.cores import Cores
from coprime.device.simulated import open_simulation
from coprime.engine.contract import Error
from coprime.explore.points import write_points
from coprime.explore.shipped import shipped_points
from coprime.package.describe import describe
from coprime.padding.scheme import Padding
from tests.benches import open_bench
from tests.cli.test_serial import simulated_board
from tests.device.test_padding import BITS, DIGEST, KEY, SHA256, SIZE, THEIRS, oaep, pss
from tests.drivers.bindings import Memory, driver_of, private_key, words
from tests.drivers.harness import CALLS, CURVES, DRIVER, DRIVERS, compile_c
from tests.package.test_testbench import assert_passes

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SCALAR = 1234567
PUBLIC = ec.derive_private_key(SCALAR, ec.SECP256R1()).public_key()
PREHASHED = ec.ECDSA(utils.Prehashed(SHA256))
LITEX_PLATFORM = """\
from litex.build.generic_platform import Pins, Subsignal
from litex.build.sim import SimPlatform

serial = (Subsignal("tx", Pins(1)), Subsignal("rx", Pins(1)))
platform = SimPlatform("SIM", [("sys_clk", 0, Pins(1)), ("serial", 0, *serial)])
clk_freq = 100_000_000
"""
SERIAL_PORT = "/dev/ttyUSB0"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's pseudo-terminals")
SERIAL_BOARD = pytest.mark.xdist_group("serial board")  # with tests/cli/test_serial.py

RUN = {
    ("README.md", "python"): 1,  # the first one of python.md
    ("adding.md", "python"): 2,
    ("adding-byte-strings.md", "python"): 5,
    ("byte-strings.md", "c"): 1,
    ("byte-strings.md", "python"): 2,
    ("cluster.md", "python"): 2,
    ("curves.md", "python"): 3,
    ("drivers.md", "c"): 5,  # besides here in tests/drivers/test_model.py and test_build.py
    ("key-exchange.md", "python"): 1,
    ("ml-dsa.md", "python"): 1,
    ("ml-kem.md", "python"): 1,
    ("padding.md", "python"): 1,
    ("python.md", "python"): 5,  # likewise
    ("random.md", "c"): 1,  # compiled; tests/device/test_source.py runs them
    ("serial.md", "c"): 1,
    ("serial.md", "python"): 1,
    ("soc.md", "python"): 1,
    ("suite.md", "c"): 1,
    ("suite.md", "python"): 1,
    ("sweeps.md", "python"): 2,  # of which one needs a batch system: it is compiled
    ("token/ml-dsa.md", "python"): 1,  # with the page, in tests/token/test_certificates.py
    ("tutorials/p256.md", "c"): 1,  # with the page, in test_site.py, as the next ones
    ("tutorials/p256.md", "python"): 1,
    ("tutorials/programmer.md", "python"): 1,
}
"""Examples of each page by their language."""


def examples(page, language):
    """The examples of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


def examples_of(name, language="python"):
    return examples(ROOT / "docs" / f"{name}.md", language)


def run_python(name, number=0, **given):
    """Run an example with these names; returns all that it has then."""
    program = compile(examples_of(name)[number], f"{name}.md", "exec")
    exec(program, given)
    return given


def test_every_example_is_run():
    found = {
        (page.relative_to(ROOT).as_posix().removeprefix("docs/"), language): len(
            examples(page, language)
        )
        for page in PAGES
        for language in ("python", "c")
    }
    assert {name: count for name, count in found.items() if count} == RUN


# --- Python ---------------------------------------------------------------------------------------


@pytest.mark.clients
@LINUX
@SERIAL_BOARD
def test_a_serial_port(capsys):
    (example,) = examples_of("serial")
    with simulated_board("compact", "-p", "max_bits=512", "--baud", "3000000") as device:
        port, baud = device.removeprefix("serial:").split(",")
        assert baud == "3000000"
        exec(example.replace(SERIAL_PORT, port), {})
    assert capsys.readouterr().out == f"{pow(5, 65537, 2**127 - 1)}\n"


def test_a_paper():
    (table,) = run_python("adding")["TABLES"]
    assert len(table.rows) == 2


def test_a_view():
    paper = run_python("adding")
    view = run_python("adding", 1, _PRINTED=paper["_PRINTED"])["VIEW"]
    (panel,) = view.panels
    assert panel.at("1,024 bits", "Clock cycles") == (1024, "")
    assert panel.at("1,024 bits", "Time with CRT") is None


def test_reading_the_points_of_a_sweep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    points = [one for one in shipped_points() if one.lut is not None]
    write_points(points, tmp_path / "results.parquet")
    smallest = run_python("sweeps")["smallest"].to_pylist()
    assert {(one["target"], one["family"]): one["lut_min"] for one in smallest} == {
        pair: min(one.lut for one in points if (one.target, one.family) == pair)
        for pair in {(one.target, one.family) for one in points if one.status == "ok"}
    }


def test_a_batch_system_is_python():
    compile(examples_of("sweeps")[1], "sweeps.md", "exec")


@contextmanager
def on_curves(kind, bits, **settings):
    """A bench that tests/ec have, too, so that it is built once."""
    bench = open_bench("compact", max_bits=bits, curves=kind, **settings)
    with bench.device:
        yield bench


@pytest.mark.clients
@pytest.mark.xdist_group("montgomery")
def test_a_shared_secret():
    own, peer = (x25519.X25519PrivateKey.from_private_bytes(bytes([k] * 32)) for k in (7, 8))
    with on_curves("montgomery", 512) as bench:
        given = run_python(
            "curves",
            0,
            accelerator=bench.accelerator,
            own_private_bytes=own.private_bytes_raw(),
            peer_public_bytes=peer.public_key().public_bytes_raw(),
        )
    assert given["own_public_bytes"] == own.public_key().public_bytes_raw()
    assert given["secret"] == own.exchange(peer.public_key())


@pytest.mark.clients
@pytest.mark.xdist_group("weierstrass")
def test_a_signature():
    x, y = PUBLIC.public_numbers().x, PUBLIC.public_numbers().y
    with on_curves("weierstrass", 1024) as bench:
        own = {"accelerator": bench.accelerator, "digest": DIGEST}
        given = run_python("curves", 1, **own, d=SCALAR, x=x, y=y)
    PUBLIC.verify(given["encoded"], DIGEST, PREHASHED)


@pytest.mark.clients
@pytest.mark.xdist_group("edwards")
def test_a_signature_of_an_edwards_curve():
    own = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    with on_curves("edwards", 1024) as bench:
        given = run_python(
            "curves",
            2,
            accelerator=bench.accelerator,
            private=own.private_bytes_raw(),
            message=b"message",
        )
    assert given["public"] == own.public_key().public_bytes_raw()
    assert given["signature"] == own.sign(b"message")


@pytest.mark.clients
def test_padding():
    run_python("padding")


@pytest.mark.clients
def test_a_cluster(capsys):
    key = run_python("cluster")["key"]
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    right = [pow(x, key.d, key.n) for x in range(2, 10)] + [pow(2, 65537, (1 << 127) - 1)]
    assert {int(number): int(value, 16) for number, _, value in lines} == dict(enumerate(right))


@pytest.mark.clients
def test_cores_of_byte_strings(capsys):
    run_python("cluster", 1)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    texts = (b"one", b"two", b"three")
    assert [digest for *_, digest in lines] == [hashlib.sha3_256(one).hexdigest() for one in texts]
    assert {core for _, core, _ in lines} == {"0", "1"}


def test_cores_of_byte_strings_from_c(tmp_path):
    [example] = [one for one in examples_of("drivers", "c") if "coprime_call_cores.h" in one]
    for text in (example, *examples_of("suite", "c")):
        (tmp_path / "example.c").write_text(text)
        compile_c(tmp_path, "example.o", "-c", tmp_path / "example.c")


@pytest.mark.clients
def test_a_suite():
    """And its engines take the cycles of each alone, while both work."""
    choice = run_python("suite")["choice"]
    numbers, design = (one.design for one in choice.engines)
    x, call = 9, design.interface.call["ML_KEM_DECAPSULATE"]
    values = dict(call.draw("ML-KEM-768", random.Random(1)))
    with open_simulation(choice) as device:
        compact, lattice = Cores(device).cores
        curves = Accelerator(compact, predict=numbers.predict)
        calls = CallAccelerator(lattice, design.interface, predict=design.predict)
        running = calls.start(call.name, values, parameter_set="ML-KEM-768")
        product = curves.modexp(x, 65537, 2**255 - 19)
        found = calls.finish(running)
    assert product.value == pow(x, 65537, 2**255 - 19)
    assert product.cycles == product.predicted_cycles
    assert found.outputs["key"] == call.reference("ML-KEM-768", values)["key"]
    assert found.cycles == found.predicted_cycles


@pytest.mark.clients
def test_litex(tmp_path):
    """In a process of its own, as tests/soc/litex_system.py."""
    pytest.importorskip("litex", reason="needs LiteX: pip install litex")
    (example,) = examples_of("soc")
    program = f"{LITEX_PLATFORM}\n{example}\nassert 'coprime' in soc.bus.regions\n"
    (tmp_path / "example.py").write_text(program)
    command = [sys.executable, "example.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "build" / "litex" / "coprime_karatsuba.v").is_file()


# --- C --------------------------------------------------------------------------------------------


def test_a_seed_from_c(tmp_path):
    (example,) = examples_of("random", "c")
    head = '#include "coprime.h"\nint seed_it(struct coprime driver)\n{\nint error = 0;\n'
    (tmp_path / "example.c").write_text(f"{head}{example}return error;\n}}\n")
    compile_c(tmp_path, "example.o", "-c", tmp_path / "example.c")


@pytest.mark.clients
@LINUX
@SERIAL_BOARD
def test_a_serial_port_from_c(tmp_path):
    (example,) = examples_of("serial", "c")
    with simulated_board("compact", "-p", "max_bits=512", "--baud", "3000000") as device:
        port = device.removeprefix("serial:").split(",")[0]
        (tmp_path / "main.c").write_text(example.replace(SERIAL_PORT, port))
        serial = DRIVERS / "src" / "coprime_serial.c"
        program = compile_c(tmp_path, "example", tmp_path / "main.c", serial, DRIVER)
        done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"family \d+, moduli up to 512 bits\n", done.stdout)


def driver_in_this_process(folder, number, device):
    """The library of an example, and a driver that has opened a device."""
    (folder / "example.c").write_text(examples_of("drivers", "c")[number])
    name = "coprime.so"
    compile_c(folder, name, "-shared", "-fPIC", "-O1", DRIVER, *CURVES, folder / "example.c")
    library, driver = ctypes.CDLL(str(folder / name)), driver_of(device)
    assert library.coprime_open(ctypes.byref(driver)) == 0
    return library, driver


def test_a_call_of_byte_strings(capsys):
    given = run_python("byte-strings")
    digest, *cycles = capsys.readouterr().out.split()
    assert digest == hashlib.sha3_256(b"abc").hexdigest()
    assert cycles == [str(given["result"].cycles)] * 2


@pytest.mark.clients
def test_an_exchange_with_ml_kem():
    given = run_python("ml-kem")
    assert given["kept"] == given["private"]
    assert given["public"].set.name == "ML-KEM-768"


@pytest.mark.clients
def test_a_signature_with_ml_dsa():
    given = run_python("ml-dsa")
    assert given["kept"] == given["private"]
    assert len(given["signature"]) == 2420


@pytest.mark.clients
def test_key_shares():
    given = run_python("key-exchange")
    assert len(given["made"].secret) == 64


def test_a_call_register_by_register():
    given = run_python("byte-strings", 1)
    with open_simulation(choose_calls("shake", {"slices": "8"})) as device:
        assert given["sha3_256_of_abc"](device) == hashlib.sha3_256(b"abc").digest()


def test_calls_from_c(tmp_path):
    choice = choose_calls("shake", {"slices": "8"})
    own = describe(choice, Target.GENERIC)
    (tmp_path / "coprime_shake.h").write_text(own.kind.made_headers["coprime_shake.h"])
    (tmp_path / "example.c").write_text(*examples_of("byte-strings", "c"))
    sources = (f"-I{tmp_path}", DRIVER, CALLS, tmp_path / "example.c")
    library = ctypes.CDLL(str(compile_c(tmp_path, "calls.so", "-shared", "-fPIC", "-O1", *sources)))
    with open_simulation(choice) as device:
        driver = ctypes.byref(driver_of(device))
        assert library.coprime_open(driver) == 0
        found = ctypes.create_string_buffer(32)
        assert library.sha3_256(driver, b"abc", 3, found) == 0
        assert found.raw == hashlib.sha3_256(b"abc").digest()
        found = ctypes.create_string_buffer(300)
        assert library.shake256(driver, b"abcdefg", 7, bytes(401), 401, found, 300) == 0
        assert found.raw == hashlib.shake_256(b"abcdefg" + bytes(401)).digest(300)


@LINUX
@pytest.mark.clients
def test_calls_from_c_at_a_serial_port(tmp_path):
    own = describe(choose_calls("shake", {"slices": "8"}), Target.GENERIC)
    (tmp_path / "coprime_shake.h").write_text(own.kind.made_headers["coprime_shake.h"])
    (tmp_path / "example.c").write_text(*examples_of("byte-strings", "c"))
    hashing = ROOT / "tests" / "drivers" / "hash.c"
    sources = (DRIVER, CALLS, DRIVERS / "src" / "coprime_serial.c", tmp_path / "example.c", hashing)
    program = compile_c(tmp_path, "hash", f"-I{tmp_path}", *sources)
    with simulated_board("shake", "-p", "slices=8", "--baud", "3000000") as device:
        port, baud = device.removeprefix("serial:").split(",")
        done = subprocess.run([program, port, baud, "500"], capture_output=True, text=True)
    expected = hashlib.sha3_256(bytes(k & 0xFF for k in range(500))).hexdigest()
    assert (done.returncode, done.stdout) == (0, expected)


def test_the_engine_that_is_added(tmp_path, monkeypatch, capsys):
    """Its files are written as the page has them; its script simulates, and builds a package."""
    *files, script = examples_of("adding-byte-strings")
    folder = tmp_path / "toy"
    folder.mkdir()
    for text in files:
        name = re.match(r"# toy/(\w+\.py)\n", text)[1]
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(script, {})
    shown = capsys.readouterr().out.split()
    assert shown == [f"{zlib.crc32(b'123456789'):08x}", "10", "10"]
    assert (tmp_path / "package" / "coprime_crc.v").exists()
    if shutil.which("iverilog"):
        assert_passes(tmp_path / "package")
    # With its line in the catalogue it has a command line.
    family = importlib.import_module("toy.family").CRC
    monkeypatch.setitem(catalog.CALL_FAMILIES, "crc", family)
    assert main(["run", "crc", "CRC32", "--message", "313233343536373839"]) == 0
    assert "equal to the reference" in capsys.readouterr().out


@pytest.mark.clients
def test_a_signature_from_c(tmp_path):
    with on_curves("weierstrass", 521, ecdsa="drawn") as bench:
        library, driver = driver_in_this_process(tmp_path, 1, bench.device)
        assert library.prepare_curve(ctypes.byref(driver)) == 0
        text = ctypes.create_string_buffer(64)
        assert library.sign_digest(ctypes.byref(driver), words(SCALAR, 256), DIGEST, text) == 0
    r, s = (int.from_bytes(half, "big") for half in (text.raw[:32], text.raw[32:]))
    PUBLIC.verify(utils.encode_dss_signature(r, s), DIGEST, PREHASHED)


@pytest.mark.clients
@pytest.mark.xdist_group("drivers, padding")
def test_padding_from_c(tmp_path):
    """On the accelerator of tests/device/test_padding.py."""
    choice = choose("fdfm", {"max_bits": str(BITS)})
    with open_simulation(choice, paddings=tuple(Padding)) as device:
        library, driver = driver_in_this_process(tmp_path, 0, device)
        load_public(library, driver)
        ciphertext = ctypes.create_string_buffer(SIZE)
        assert library.encrypt(ctypes.byref(driver), b"message", 7, ciphertext) == 0
        signed = THEIRS.sign(DIGEST, pss(), utils.Prehashed(SHA256))
        assert library.verify(ctypes.byref(driver), DIGEST, signed, SIZE) == 0
        assert library.verify(ctypes.byref(driver), bytes(32), signed, SIZE) == Error.PADDING
    assert THEIRS.decrypt(ciphertext.raw, oaep()) == b"message"


def load_public(library, driver):
    """The public key of tests/device/test_padding.py."""
    public_key = private_key(KEY).public_key
    memory = Memory((ctypes.c_uint32 * 4096)(), 4096)
    arguments = (driver, public_key.modulus, memory)
    assert library.coprime_modulus_constants(*map(ctypes.byref, arguments)) == 0
    assert library.coprime_load_public(ctypes.byref(driver), ctypes.byref(public_key)) == 0
