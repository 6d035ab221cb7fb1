"""`coprime rsa`: what it writes, beside `cryptography`."""

import hashlib
import io
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

from coprime.device.jobs import EngineError
from coprime.ec import keys as curve_keys
from coprime.ec.montgomery import X25519
from coprime.engine.contract import Error
from coprime.rsa import keys
from tests.cli.command import run
from tests.integers import IntegerAccelerator, IntegerResult


@pytest.mark.usefixtures("integers")
def test_a_key_made_on_a_device(capsys, tmp_path, monkeypatch):
    """It reports how long it will take, how long it took, and writes what keygen writes."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text("hush\n")
    words = "rsa keygen --bits 1024 --device sim:ring -o key.pem --passphrase-file secret"
    status, out, err = run(capsys, *words.split())
    assert (status, out) == (0, "")
    first, second, third = err.splitlines()
    assert (
        first == "coprime: about 69 exponentiations of 512 bits, with 1 cycles each: 69 cycles ..."
    )
    assert re.fullmatch(r"coprime: 1 of 2 primes after \d+ exponentiations, \d+ cycles", second)
    assert re.fullmatch(r"coprime: 2 of 2 primes after \d+ exponentiations, \d+ cycles", third)
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600
    assert keys.load_private(tmp_path / "key.pem", "hush").p % 4 == 3


def test_a_device_that_is_wrong_makes_no_key(capsys, tmp_path, monkeypatch, on):
    monkeypatch.chdir(tmp_path)
    wrong = IntegerAccelerator()
    wrong.modexp = lambda *_, **__: IntegerResult(1)
    on(wrong)
    status, out, err = run(
        capsys, *"rsa keygen --bits 1024 --seed 7 --device sim:ring -o key.pem".split()
    )
    assert (status, out, err) == (1, "", "coprime: the accelerator has computed a wrong result\n")
    assert not (tmp_path / "key.pem").exists()


@pytest.mark.usefixtures("integers")
def test_a_seeded_key_on_a_device(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        words = f"rsa keygen --bits 1024 --seed 7 --device sim:ring -o {name}"
        assert run(capsys, *words.split())[0] == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.usefixtures("integers")
def test_rsa_round_trips(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(capsys, *"rsa keygen --bits 1024 -o key.pem --public pub.pem".split())[0] == 0
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600
    status, _, err = run(capsys, *"rsa keygen --bits 1024 -o key.pem".split())
    assert (status, err) == (2, "coprime: key.pem exists, and a key is never overwritten\n")
    (tmp_path / "message").write_bytes(b"hello")
    for pad in ("oaep", "pkcs1"):
        command = f"rsa encrypt --key pub.pem --in message -o c --padding {pad}"
        assert run(capsys, *command.split())[0] == 0
        command = f"rsa decrypt --key key.pem --in c -o m --padding {pad}"
        assert run(capsys, *command.split()) == (0, "", "")
        assert (tmp_path / "m").read_bytes() == b"hello"
    for pad in ("pss", "pkcs1"):
        command = f"rsa sign --key key.pem --in message -o s --padding {pad} --hash sha512"
        if pad == "pss":  # 64 + 64 + 2 bytes do not fit in 1024 bits
            status, _, err = run(capsys, *command.split())
            assert status == 2
            assert err.count("\n") == 1
            command = command.replace("sha512", "sha256")
        assert run(capsys, *command.split())[0] == 0
        command = command.replace("sign", "verify").replace("-o", "--signature")
        command = command.replace("key.pem", "pub.pem")
        assert run(capsys, *command.split()) == (0, "", "the signature is valid\n")
        spoiled = bytearray((tmp_path / "s").read_bytes())
        spoiled[-1] ^= 1
        (tmp_path / "s").write_bytes(spoiled)
        status, _, err = run(capsys, *command.split())
        assert status == 1
        assert err.count("\n") == 1


@pytest.mark.clients
@pytest.mark.xdist_group("compact")
def test_rsa_agrees_with_cryptography(capsys, tmp_path, monkeypatch, key_file):
    monkeypatch.chdir(tmp_path)
    other = serialization.load_pem_private_key(key_file.read_bytes(), None)
    pad = padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA256(), b"\x01\x02")
    (tmp_path / "c").write_bytes(other.public_key().encrypt(b"message", pad))
    command = "rsa decrypt --key key.pem --in c -o m --hash sha256 --mgf-hash sha1 --label 0102"
    assert run(capsys, *command.split())[0] == 0
    assert (tmp_path / "m").read_bytes() == b"message"
    assert run(capsys, *"rsa sign --key key.pem --in m -o s".split())[0] == 0
    pss = padding.PSS(padding.MGF1(hashes.SHA256()), 32)
    other.public_key().verify((tmp_path / "s").read_bytes(), b"message", pss, hashes.SHA256())


@pytest.mark.xdist_group("compact")
def test_decryption_failures_are_all_alike(capsys, tmp_path, monkeypatch, key_file):
    monkeypatch.chdir(tmp_path)
    key = keys.load_private(key_file)
    seen = set()
    for data in (bytes(128), b"\1" * 127 + b"\7", b"\1" * 127 + b"\6"):
        (tmp_path / "c").write_bytes(data)
        seen.add(run(capsys, *f"rsa decrypt --key {key_file} --in c".split()))
    assert seen == {(1, "", "coprime: decryption failed\n")}
    assert key.bits == 1024


def test_a_wrong_pkcs1_padding_is_no_failure(capsys, tmp_path, monkeypatch, integers, key_file):
    """Nothing tells it from a message: the result is OpenSSL's substitute."""
    monkeypatch.chdir(tmp_path)
    other = serialization.load_pem_private_key(key_file.read_bytes(), None)
    command = f"rsa decrypt --key {key_file} --in c -o m --padding pkcs1"
    for data in (bytes(128), b"\1" * 127 + b"\7", b"\1" * 127 + b"\6"):
        (tmp_path / "c").write_bytes(data)
        assert run(capsys, *command.split()) == (0, "", "")
        assert (tmp_path / "m").read_bytes() == other.decrypt(data, padding.PKCS1v15())


@pytest.mark.parametrize(
    ("signature", "reason"),
    [
        (b"", "it has 0 bytes, and one of this key has 128"),
        (bytes(127), "it has 127 bytes, and one of this key has 128"),
        (bytes(129), "it has 129 bytes, and one of this key has 128"),
        (b"\xff" * 128, "it is not below the modulus, so it is of another key"),
    ],
)
def test_what_is_no_signature_of_the_key(
    capsys, tmp_path, monkeypatch, key_file, signature, reason
):
    """No device is opened."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s").write_bytes(signature)
    command = f"rsa verify --key {key_file} --in s --signature s --device uio:none"
    assert run(capsys, *command.split()) == (
        1,
        "",
        f"coprime: the signature is not valid: {reason}\n",
    )


class Faulty(IntegerAccelerator):
    """What its private operation computes is wrong; with `checks` it notices."""

    def __init__(self, checks):
        self.checks = checks

    def private(self, x):
        if self.checks:
            raise EngineError(Error.FAULT)
        return IntegerResult(super().private(x).value ^ 1)


@pytest.mark.parametrize(
    ("checks", "sentence"),
    [(False, "the accelerator computed a wrong result, which is not returned"), (True, "fault")],
)
def test_a_fault_is_a_failure_that_reveals_nothing(
    capsys, tmp_path, monkeypatch, on, key_file, checks, sentence
):
    monkeypatch.chdir(tmp_path)
    on(Faulty(checks))
    (tmp_path / "c").write_bytes(bytes(127) + b"\7")
    for verb in ("sign", "decrypt", "decrypt --padding pkcs1"):
        status, out, err = run(capsys, *f"rsa {verb} --key {key_file} --in c -o result".split())
        assert (status, out) == (1, "")
        assert sentence in err
        assert not (tmp_path / "result").exists()


@pytest.mark.parametrize(
    ("made", "demanded", "valid"),
    [
        ("auto", "digest", True),
        ("max", "auto", True),
        ("max", "max", True),
        ("max", "94", True),
        ("max", "digest", False),
        ("0", "auto", True),
        ("0", "1", False),
    ],
)
def test_salt_lengths(capsys, tmp_path, monkeypatch, integers, key_file, made, demanded, valid):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "message").write_bytes(b"hello")
    command = f"rsa sign --key {key_file} --in message -o s --salt-length {made}"
    assert run(capsys, *command.split()) == (0, "", "")
    command = f"rsa verify --key {key_file} --in message --signature s --salt-length {demanded}"
    sentence = "the signature is valid" if valid else "coprime: the signature is not valid"
    assert run(capsys, *command.split()) == (0 if valid else 1, "", f"{sentence}\n")


def test_a_digest_is_signed_as_its_message(capsys, tmp_path, monkeypatch, integers, key_file):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "message").write_bytes(b"hello")
    (tmp_path / "digest").write_bytes(hashlib.new("sha512_256", b"hello").digest())
    for pad in ("pss", "pkcs1"):
        options = f"--key {key_file} --padding {pad} --hash SHA-512/256"
        command = f"rsa sign {options} --digest --in digest -o s"
        assert run(capsys, *command.split()) == (0, "", "")
        for source in ("--in message", "--in digest --digest"):
            command = f"rsa verify {options} {source} --signature s"
            assert run(capsys, *command.split()) == (0, "", "the signature is valid\n")
        for command in ("sign", "verify --signature s"):
            command = f"rsa {command} {options} --digest --in message --device uio:none"
            assert run(capsys, *command.split()) == (
                2,
                "",
                "coprime: a digest of sha512_256 has 32 bytes, and the input 5\n",
            )


@pytest.mark.parametrize(
    ("device", "sentence"),
    [
        ("uio:none", "'none' is no UIO device: No such file or directory; those"),
        ("uio:/dev/null", "'/dev/null' is no UIO device: No such device; those that the kernel"),
        ("serial:/dev/none", "there is no serial port /dev/none: this machine has "),
        ("serial:/dev/null", "/dev/null is no serial port, or cannot have 115200 baud"),
    ],
)
def test_no_device(capsys, key_file, device, sentence):
    words = ("rsa", "sign", "--key", key_file, "--in", key_file, "--device", device)
    status, out, err = run(capsys, *words)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"coprime: {sentence}")


def test_message_too_long(capsys, tmp_path, key_file):
    (tmp_path / "message").write_bytes(bytes(100))
    status, out, err = run(
        capsys,
        *("rsa", "encrypt", "--key", key_file, "--in", tmp_path / "message"),
        *("--device", "uio:none"),  # which is not opened
    )
    assert (status, out) == (2, "")
    assert "62" in err  # 128 - 2 * 32 - 2 bytes


@pytest.mark.parametrize(("bits", "warned"), [(64, True), (1023, True), (1024, False)])
def test_a_key_that_is_too_short(capsys, tmp_path, bits, warned):
    reason = "is too short to be safe: use this key for tests only"
    warning = f"coprime: a modulus of {bits} bits {reason}\n"
    words = f"rsa keygen --bits {bits} --seed 1 -o {tmp_path / 'key.pem'}"
    assert run(capsys, *words.split()) == (0, "", warning if warned else "")
    assert keys.load_private(tmp_path / "key.pem").bits == bits


@pytest.mark.usefixtures("integers")
def test_an_output_that_is_full(capsys, key_file):
    words = f"rsa sign --key {key_file} --in {key_file} -o /dev/full".split()
    assert run(capsys, *words) == (1, "", "coprime: /dev/full: No space left on device\n")
    coprime = [sys.executable, "-c", "import sys; from coprime.cli import main; sys.exit(main())"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*coprime, "list"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr == b"coprime: standard output: No space left on device\n"


def test_an_input_that_cannot_be_read_to_its_end(capsys, key_file):
    """The message names the input, whose reading fails only after it has been opened."""
    words = f"rsa sign --key {key_file} --in /proc/self/mem".split()
    assert run(capsys, *words) == (1, "", "coprime: /proc/self/mem: Input/output error\n")


@pytest.mark.usefixtures("integers")
def test_a_long_message_is_read_in_pieces(capsys, tmp_path, monkeypatch, key_file):
    """Of 64 MiB not more than a few are in memory; nor of standard input."""
    message = tmp_path / "message"
    with message.open("wb") as file:
        file.truncate(64 << 20)
    signed = {}
    for source in ("file", "standard input"):
        words = ["rsa", "sign", "--key", key_file, "--padding", "pkcs1", "-o", tmp_path / source]
        with message.open("rb") as file:
            monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=file))
            tracemalloc.start()
            try:
                given = ["--in", message] if source == "file" else []
                assert run(capsys, *words, *given) == (0, "", "")
                assert tracemalloc.get_traced_memory()[1] < 8 << 20
            finally:
                tracemalloc.stop()
        signed[source] = (tmp_path / source).read_bytes()
    other = serialization.load_pem_private_key(key_file.read_bytes(), None)
    assert set(signed.values()) == {
        other.sign(message.read_bytes(), padding.PKCS1v15(), hashes.SHA256())
    }


@pytest.mark.usefixtures("integers")
def test_a_key_at_standard_input(capsys, tmp_path, monkeypatch, key_file):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m").write_bytes(b"hello")

    def given(data):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))

    key = keys.load_private(key_file)
    given(keys.private_pem(key, "hush"))
    (tmp_path / "secret").write_text("hush\n")
    words = "rsa sign --key - --passphrase-file secret --in m -o s".split()
    assert run(capsys, *words) == (0, "", "")
    given(keys.public_pem(key.public))
    words = "rsa verify --key - --in m --signature s".split()
    assert run(capsys, *words) == (0, "", "the signature is valid\n")
    given(b"")
    status, _, err = run(capsys, *words)
    assert (status, err) == (2, "coprime: --key -: the file is empty\n")


@pytest.mark.parametrize("device", ["serial:none", "uio:none"])
def test_a_device_that_is_not_there(capsys, tmp_path, monkeypatch, key_file, device):
    """One exit status, and a sentence with its name, whatever the command and the device."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c").write_bytes(bytes(128))
    (tmp_path / "m").write_bytes(b"hello")
    (tmp_path / "ec.pem").write_bytes(curve_keys.CurvePrivateKey.generate(X25519).encode())
    for words in (
        f"rsa encrypt --key {key_file} --in m",
        f"rsa decrypt --key {key_file} --in c",
        f"rsa sign --key {key_file} --in c",
        f"rsa verify --key {key_file} --in c --signature c",
        "rsa keygen --bits 1024 -o new.pem",
        "ec public --key ec.pem",
    ):
        status, out, err = run(capsys, *words.split(), "--device", device)
        assert (status, out, err.count("\n")) == (1, "", 1)
        sentence = "coprime: (there is no serial port none|'none' is no UIO device: No such file)"
        assert re.match(sentence, err)
    assert not (tmp_path / "new.pem").exists()


def test_keys_are_not_overwritten(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old").write_bytes(b"precious")
    for command in ("-o old", "-o new --public old"):
        status, _, err = run(capsys, *f"rsa keygen --bits 64 --seed 1 {command}".split())
        assert (status, err) == (2, "coprime: old exists, and a key is never overwritten\n")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_bytes() == b"precious"


@pytest.mark.matrix
@pytest.mark.parametrize("bits", [3072, 4096])
def test_long_keys_on_the_default_device(capsys, tmp_path, monkeypatch, bits):
    monkeypatch.chdir(tmp_path)
    assert run(capsys, *f"rsa keygen --bits {bits} -o key.pem --public pub.pem".split())[0] == 0
    other = serialization.load_pem_private_key((tmp_path / "key.pem").read_bytes(), None)
    pad = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
    (tmp_path / "c").write_bytes(other.public_key().encrypt(b"long", pad))
    assert run(capsys, *"rsa decrypt --key key.pem --in c -o m".split())[0] == 0
    assert (tmp_path / "m").read_bytes() == b"long"
    assert run(capsys, *"rsa sign --key key.pem --in m -o s".split())[0] == 0
    pss = padding.PSS(padding.MGF1(hashes.SHA256()), 32)
    other.public_key().verify((tmp_path / "s").read_bytes(), b"long", pss, hashes.SHA256())
    assert run(capsys, *"rsa verify --key pub.pem --in m --signature s".split())[0] == 0
