"""`--device`: what its text means, and that keys are compared with it before anything is built."""

import argparse

import pytest

from coprime.bus import registers
from coprime.bus.shared_registers import identity
from coprime.catalog import choose
from coprime.cli import devices, open_devices
from coprime.cli.devices import add_device, parse_device
from coprime.device import simulated
from coprime.device.accelerator import Accelerator
from coprime.device.base import Closing
from coprime.device.keyed_cluster import KeyedCluster
from coprime.rsa import keys
from tests.cli.command import run


@pytest.fixture
def nothing_is_built(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a simulator was built")

    monkeypatch.setattr(simulated, "build_simulation", refuse)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "sim",
            "a device is sim:FAMILY[,NAME=VALUE...], serial:PATH[,BAUD] or uio:PATH, not 'sim'",
        ),
        (
            "tape:0",
            "a device is sim:FAMILY[,NAME=VALUE...], serial:PATH[,BAUD] or uio:PATH, not 'tape:0'",
        ),
        ("serial:", "serial: needs the path of a port, such as serial:/dev/ttyUSB0"),
        ("serial:,9600", "serial: needs the path of a port, such as serial:/dev/ttyUSB0"),
        ("serial:/dev/ttyUSB0,fast", "serial:/dev/ttyUSB0 needs bits per second, such as 115200,"),
        ("serial:/dev/ttyUSB0,0", "serial:/dev/ttyUSB0 needs bits per second, such as 115200,"),
        ("uio:", "uio: needs the path of a device, such as uio:/dev/uio0"),
        ("sim:fdmf", "no family is called 'fdmf'; did you mean fdfm?"),
        ("sim:compact,maxbits=1024", "compact has no parameter 'maxbits'; did you mean max_bits?"),
        ("sim:compact,max_bits=9", "max_bits must be an integer in 64.."),
        ("sim:compact,max_bits", "sim:compact needs NAME=VALUE, not 'max_bits'"),
        ("sim:compact,", "sim:compact needs NAME=VALUE, not ''"),
        ("sim:compact,max_bits=64,max_bits=65", "sim:compact sets max_bits twice"),
        ("sim:cluster,engine=fdmf", "no family is called 'fdmf'; did you mean fdfm?"),
        ("sim:cluster,cores=0", "cores must be an integer in 1..1023, not '0'"),
    ],
)
def test_a_bad_text_is_refused_before_the_key_is_read(capsys, text, sentence):
    with pytest.raises(ValueError) as caught:
        parse_device(text)
    assert str(caught.value).startswith(sentence)
    status, out, err = run(capsys, "rsa", "sign", "--key", "none.pem", "--device", text)
    assert (status, out) == (2, "")
    assert err.startswith(f"coprime rsa sign: argument --device: {sentence}")
    assert err.count("\n") == 1


def test_the_default_is_checked_and_constant_time():
    parser = argparse.ArgumentParser()
    add_device(parser)
    default = parser.parse_args([]).device
    capabilities = choose(default.family, default.settings).design.capabilities
    assert capabilities.checked
    assert capabilities.constant_time
    assert devices.DEFAULT in " ".join(parser.format_help().split())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "sim:compact,max_bits=900",
            "compact with max_bits=900 takes moduli of up to 900 bits (not 1024) and primes of"
            " up to 508 bits (not 512); set sim:compact,max_bits=1024, or leave it out",
        ),
        (
            "sim:cluster,engine=compact,max_bits=900",
            "compact with max_bits=900 takes moduli of up to 900 bits (not 1024) and primes of"
            " up to 508 bits (not 512); set sim:cluster,max_bits=1024, or leave it out",
        ),
        (
            "sim:compression",
            "compression is built for one modulus of 64 bits, and the key's is another: set"
            " modulus= to the key's, or take another family",
        ),
    ],
)
def test_a_key_that_does_not_fit(capsys, key_file, nothing_is_built, text, sentence):
    words = ("rsa", "sign", "--key", key_file, "--in", key_file, "--device", text)
    assert run(capsys, *words) == (2, "", f"coprime: {sentence}\n")


def test_an_unbalanced_key_has_a_longer_design(monkeypatch):
    """Of 1800 bits, with a prime that has no place in the design for 2048."""
    asked = []

    def refuse(choice):
        asked.append(choice)
        raise InterruptedError

    monkeypatch.setattr(open_devices, "_simulation", refuse)
    key = keys.RsaPrivateKey.from_primes((1 << 1279) - 1, (1 << 521) - 1, 65537)
    assert choose("compact", {"max_bits": "2048"}).design.capabilities.max_prime_length < 1279
    with (
        pytest.raises(InterruptedError),
        open_devices.open_device(parse_device("sim:compact,blinding=all"), key),
    ):
        pass
    (choice,) = asked
    assert choice.values["blinding"] == "all"
    assert choice.design.capabilities.max_prime_length >= 1279


class Answering(Closing):
    """Hardware that identifies itself as a design, and whose path is anything."""

    def __init__(self, path):
        capabilities = choose("compact", {"max_bits": "900"}).design.capabilities
        self.words = {
            getattr(registers, name).address: word
            for name, word in identity(capabilities, registers.IDENTIFICATION).items()
        }

    def read32(self, address):
        return self.words.get(address, 0)

    def write32(self, address, value):
        assert address in (registers.ERROR.address, registers.KEY_OPERAND.address)

    def close(self):
        pass


def test_hardware_is_asked_for_its_lengths(capsys, key_file, monkeypatch):
    monkeypatch.setattr(open_devices, "UioDevice", Answering)
    words = ("rsa", "sign", "--key", key_file, "--in", key_file, "--device", "uio:/dev/uio0")
    sentence = "the accelerator at uio:/dev/uio0 takes moduli of up to 900 bits (not 1024) and "
    status, out, err = run(capsys, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"coprime: {sentence}")
    with open_devices.open_device(
        parse_device("uio:/dev/uio0"), keys.generate(512, seed=1)
    ) as accelerator:
        assert isinstance(accelerator, Accelerator)


@pytest.mark.matrix
def test_a_cluster_in_an_accelerators_place():
    key = keys.generate(64, seed=5)
    with open_devices.open_device(parse_device("sim:cluster,cores=2,max_bits=64"), key) as cluster:
        assert isinstance(cluster, KeyedCluster)
        for load in (cluster.public, cluster.private):
            with pytest.raises(ValueError, match=f"no {load.__name__} key is loaded"):
                load(1)
        assert cluster.modexp(5, 12345, key.n, exponent_length=20).value == pow(5, 12345, key.n)
        cluster.load_public(key.n, key.e)
        cluster.load_private(key)
        for x in (0, 1, 12345, key.n - 1):
            assert cluster.public(x).value == pow(x, key.e, key.n)
            assert cluster.private(x).value == pow(x, key.d, key.n)
