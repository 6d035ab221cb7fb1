"""`coprime rsa` at a serial port, and `coprime simulate-board` behind it."""

import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from coprime.rsa import keys
from tests.cli.command import run

MESSAGE = b"to a board that is not there"
COMMAND = "from coprime.cli import main; raise SystemExit(main())"


@contextmanager
def simulated_board(*options):
    """Run the command, and give the device that it names."""
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "simulate-board", *options],
        stdout=subprocess.PIPE,
        text=True,
        # A test that itself runs in the background ignores the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        option, device = process.stdout.readline().split()
        assert option == "--device"
        yield device
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate()
    assert process.returncode == 0
    assert rest.endswith("of them with a byte on a wire\n")


def decrypts(capsys, tmp_path, bits, family, *options):
    names = ("key", "message", "secret", "again")
    key_file, message, secret, again = (tmp_path / name for name in names)
    key_file.write_bytes(keys.private_pem(keys.generate(bits, seed=5)))
    message.write_bytes(MESSAGE)
    with simulated_board(family, "-p", f"max_bits={bits}", *options) as device:
        common = ("--key", key_file, "--padding", "pkcs1", "--device", device)
        words = ("rsa", "encrypt", *common, "--in", message, "-o", secret)
        assert run(capsys, *words) == (0, "", "")
        words = ("rsa", "decrypt", *common, "--in", secret, "-o", again)
        assert run(capsys, *words) == (0, "", "")
    assert again.read_bytes() == MESSAGE


@pytest.mark.matrix
@pytest.mark.xdist_group("serial board")
def test_a_message(capsys, tmp_path):
    decrypts(capsys, tmp_path, 512, "compact", "--baud", "3000000")


@pytest.mark.clients
@pytest.mark.parametrize("baud", [115_200, 3_000_000])
@pytest.mark.parametrize("family", ["compact", "ring"])
def test_a_key_of_2048_bits(capsys, tmp_path, family, baud):
    decrypts(capsys, tmp_path, 2048, family, "--baud", f"{baud}")


@pytest.mark.clients
def test_raw_samples_of_a_noise_source(capsys, tmp_path):
    """On a board without pins, and on one with a self-test and pins."""
    file = tmp_path / "samples.bin"
    compact = ("compact", "-p", "max_bits=128", "-p", "blinding=all")
    lattice = ("lattice", "-p", "sets=ml-kem-512", "--board", "ulx3s")
    for design in (compact, lattice):
        with simulated_board(*design, "--random", "trng", "--baud", "3000000") as device:
            words = ("assess", "entropy", file, "--collect", device, "--samples", "7000")
            status, text, _ = run(capsys, *words)
        samples = file.read_bytes()
        assert status == 0 and "bits of min-entropy a sample" in text
        assert len(samples) == 7000 and set(samples) == {0, 1}
