"""The whole way: real firmware on a simulated processor decrypts on the accelerator."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import padding

from coprime import cli
from coprime.bus.kinds import Bus
from coprime.catalog import choose
from coprime.device.base import DeviceError
from coprime.ec.samples import curve_for
from coprime.engine.contract import Command
from coprime.flow.tool_errors import ToolError
from coprime.operations.lengths import Lengths
from coprime.rsa import keys
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import numbers_on, random_numbers
from coprime.soc import decryption, firmware
from coprime.soc.decryption import MAX_BITS, SystemRun, encrypt, run_system

pytestmark = pytest.mark.xdist_group("RISC-V system with fdfm")

SEED = 22


VERILOG = {}


@pytest.fixture(autouse=True)
def verilog_made_once(monkeypatch):
    real = decryption.system_verilog

    def kept(choice, **settings):
        name = choice.command("build"), *settings.items()
        return VERILOG.get(name) or VERILOG.setdefault(name, real(choice, **settings))

    monkeypatch.setattr(decryption, "system_verilog", kept)


@pytest.fixture(autouse=True)
def soon(monkeypatch, request):
    """A firmware that hangs fails its test soon."""
    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(decryption, "_CYCLE_LIMIT", 10_000_000)


@pytest.fixture(autouse=True)
def toolchain():
    try:
        return firmware.find_toolchain()
    except ToolError as error:
        pytest.skip(str(error))


def check(run, message):
    """Both ways end with the message, and the parts of the cycles make up the whole."""
    ways = (run.accelerator is not None) + (run.software is not None)
    assert run.messages == [message] * ways
    assert run.transcript.startswith(f"RSA-{run.bits} decryption\n")
    if run.accelerator is not None:
        assert run.interrupts == 1
        assert run.engine == run.predicted
        of = run.cycles
        parts = of["ciphertext in, start"] + of["waiting"] + of["result out"]
        assert parts == run.accelerator > of["waiting"] > run.engine
    # Beside what is counted there is the printing, 40 cycles a character.
    assert sum((run.accelerator or 0, run.software or 0)) < run.total


def test_both_ways():
    key = keys.generate(256, seed=SEED)
    message = "Hi."
    run = run_system(choose("fdfm", {}), key, encrypt(key, message))
    check(run, message)
    assert run.speedup == run.software / run.accelerator > 1
    assert f"{run.speedup:.1f} times as fast as software" in run.table()
    assert f"{run.software:,}\n" in run.table()


@pytest.mark.matrix
def test_on_axi4():
    """In bursts the driver's accesses take less time; the engine works as long."""
    key = keys.generate(256, seed=SEED)
    ciphertext = encrypt(key, "bursts")
    runs = [run_system(choose("fdfm", {}), key, ciphertext, bus=bus, software=False) for bus in Bus]
    for run in runs:
        check(run, "bursts")
    lite, full = runs
    assert lite.engine == full.engine
    for part in ("loading the key", "ciphertext in, start", "result out"):
        assert full.cycles[part] < lite.cycles[part]


def test_primes_of_different_lengths_on_the_accelerator():
    key = keys.generate(251, p_bits=100, seed=SEED)
    run = run_system(choose("fdfm", {}), key, encrypt(key, "unequal"), software=False)
    check(run, "unequal")
    assert run.speedup is None


@pytest.mark.clients
def test_an_engine_that_checks_its_result():
    """It needs the public exponent, too."""
    key = keys.generate(256, seed=SEED)
    run = run_system(
        choose("compact", {"max_bits": "256"}), key, encrypt(key, "checked"), software=False
    )
    check(run, "checked")


@pytest.mark.clients
def test_an_engine_that_blinds():
    """The system has random bytes."""
    key = keys.generate(256, seed=SEED)
    choice = choose("compact", {"max_bits": "512", "blinding": "all"})
    run = run_system(choice, key, encrypt(key, "blinded"), software=False)
    check(run, "blinded")


@pytest.mark.clients
def test_curves():
    """After the decryption, the public keys of RFC 6979 and RFC 7748, in little more time than the
    engine works."""
    key = keys.generate(256, seed=SEED)
    settings = {"max_bits": "512", "curves": "montgomery+weierstrass"}
    choice = choose("compact", settings)
    run = run_system(choice, key, encrypt(key, "curves"), software=False)
    check(run, "curves")
    assert run.curves == ["P-256", "X25519"]
    for name, command in (("P-256", Command.EC_MULTIPLY), ("X25519", Command.X_MULTIPLY)):
        if command.operation.on_curve:
            operands = numbers_on(command, curve_for(command, name), 1)
        else:
            operands = random_numbers(command, 255, 1)
        predicted = predict_operation(choice.design, command, operands).cycles
        assert predicted < run.cycles[name] < 2 * predicted


def test_wrong_padding_is_not_printed():
    key = keys.generate(256, seed=SEED)
    ciphertext = pow(int.from_bytes(b"\0\2" + b"\1" * 30), key.e, key.n)
    run = run_system(choose("fdfm", {}), key, ciphertext, software=False)
    assert run.messages == []
    assert "the padding is wrong\n" in run.transcript


def test_what_the_accelerator_refuses_is_told(monkeypatch):
    key = keys.generate(256, seed=SEED)
    real = decryption.job

    def job(key, ciphertext, **ways):
        return real(key, key.n, **ways)  # not below the modulus

    monkeypatch.setattr(decryption, "job", job)
    with pytest.raises(
        DeviceError, match="before its end; its last output: the accelerator failed: "
    ):
        run_system(choose("fdfm", {}), key, 1)


@pytest.mark.parametrize(
    ("family", "settings", "bits", "text"),
    [
        ("fdfm", {}, MAX_BITS + 1, "keys of up to 4096 bits"),
        ("fdfm", {"max_bits": "128"}, 256, r"takes moduli of up to 128 bits \(not 256\)"),
    ],
)
def test_keys_are_checked(family, settings, bits, text):
    prime = (1 << bits // 2) - 1
    lengths = Lengths(bits, bits // 2)
    key = SimpleNamespace(n=prime, p=prime, q=prime, bits=bits, lengths=lengths)
    with pytest.raises(ValueError, match=text):
        run_system(choose(family, settings), key, 1)


def test_ciphertext_is_checked():
    key = keys.generate(256, seed=SEED)
    for ciphertext in (-1, key.n):
        with pytest.raises(ValueError, match="below the modulus"):
            run_system(choose("fdfm", {}), key, ciphertext)
    with pytest.raises(ValueError, match="one line"):
        encrypt(key, "two\nlines")


def test_command(capsys, monkeypatch):
    words = ["soc", "fdfm", "--bits", "256", "--message", "Hi.", "--no-software"]
    assert cli.main([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["messages"] == ["Hi."]
    assert record["family"] == "fdfm"
    assert record["bits"] == 256
    assert record["cycles"]["engine"] == record["predicted_engine"]
    assert record["speedup"] is None
    total = record["cycles"]["decryption on the accelerator"]

    # The same without JSON; and a wrong message, or other cycles than predicted, are failures.
    run = SystemRun(
        *(choose("fdfm", {}), record["bits"], record["compiler"], record["transcript"]),
        *(record["total"], record["predicted_engine"]),
    )
    for given, asked, status in (
        (run, "Hi.", 0),
        (run, "Ho.", 1),
        (replace(run, predicted=run.predicted + 1), "Hi.", 1),
        (replace(run, transcript=run.transcript.replace("message: ", "")), "Hi.", 1),
    ):
        monkeypatch.setattr(decryption, "run_system", lambda *_, given=given, **__: given)
        assert cli.main([*words[:-2], asked, "--no-software"]) == status
        out = capsys.readouterr().out
        assert given.transcript in out
        assert f"with the accelerator{total:>27,}" in out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("cluster --bits 256", "for one engine"),
        ("fdfm --bits 128", "the message has 27 bytes"),
        ("fdfm --bits 63", "bits must be in 64.."),
        ("fdfm", "name a key: --bits N for a test key, or --key FILE"),
    ],
)
def test_bad_input(capsys, words, text):
    try:
        status = cli.main(["soc", *words.split()])
    except SystemExit as error:
        status = error.code
    assert status == 2
    assert text in capsys.readouterr().err


def by_cryptography(key, message):
    """The ciphertext as `cryptography` makes it."""
    public = serialization.load_pem_public_key(keys.public_pem(key.public))
    return int.from_bytes(public.encrypt(message.encode(), padding.PKCS1v15()))


@pytest.mark.clients
@pytest.mark.parametrize(
    ("family", "settings", "bits", "software"),
    [
        ("fdfm", {}, 1024, True),
        ("karatsuba", {}, 1024, False),
        ("karatsuba", {"word": "64"}, 2048, False),
        ("compact", {"max_bits": "512"}, 512, False),
        ("ring", {"max_bits": "512"}, 512, False),
        ("ring", {"max_bits": "512", "multipliers": "2"}, 512, False),
        ("montgomery-1csa", {"max_bits": "512"}, 512, False),
        ("interleaved-csa", {"max_bits": "512"}, 512, False),
    ],
)
def test_families(family, settings, bits, software):
    key = keys.generate(bits, seed=SEED)
    message = f"{family} at {bits} bits"
    run = run_system(
        choose(family, settings), key, by_cryptography(key, message), software=software
    )
    check(run, message)


@pytest.mark.clients
@pytest.mark.parametrize("compiler", ["gcc", "zig"])
def test_compilers(monkeypatch, compiler):
    monkeypatch.delenv("RISCV_CC", raising=False)
    if compiler == "zig":
        pytest.importorskip("ziglang", reason="needs ziglang: make compiler")
        monkeypatch.setattr(firmware, "_GCC", ())
    elif not any(map(shutil.which, firmware._GCC)):
        pytest.skip(
            "there is no GCC for RISC-V (on Debian: apt-get install gcc-riscv64-unknown-elf)"
        )
    key = keys.generate(512, seed=SEED)
    run = run_system(choose("fdfm", {}), key, encrypt(key, "both"))
    check(run, "both")
    assert ("clang" in run.compiler) == (compiler == "zig")


@pytest.mark.clients
def test_set_up_takes_a_tenth_of_a_decryption():
    """What a key file holds becomes what the engine needs, by its own multiplications."""
    key = keys.generate(2048, seed=1)
    run = run_system(
        choose("compact", {"max_bits": "2048"}), key, encrypt(key, "once"), software=False
    )
    check(run, "once")
    set_up = run.cycles["constants of the key"] + run.cycles["loading the key"]
    assert 10 * set_up <= run.engine
