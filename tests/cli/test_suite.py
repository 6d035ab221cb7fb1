"""`sim:suite`: one device for keys of every kind."""

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest

from coprime.bus.kinds import Bus
from coprime.cli import hybrid, open_devices
from coprime.cli.devices import parse_device
from coprime.device.simulated import SimulatedDevice
from coprime.ec.keys import CURVES
from coprime.flow.parts import suite_verilog
from coprime.operations.commands import Command
from coprime.operations.lengths import Lengths
from coprime.pqc import ml_kem
from coprime.pqc.key_sets import ML_KEM
from tests.calls.mock import INTERFACE
from tests.cli.command import run, run_json
from tests.device.test_cores import CHOICE

DEVICE = "sim:suite,compact.max_bits=512,compact.curves=all,lattice.sets=ml-kem-768"
X25519 = CURVES["X25519"]


def refusal(function, *arguments):
    with pytest.raises(ValueError) as raised:
        function(*arguments)
    return str(raised.value)


def anything(interface):
    pass


def test_an_engine_is_found_by_its_command_and_follows_the_key():
    named = parse_device("sim:suite,engines=lattice+compact+compact,compact2.curves=montgomery")
    choice, core = open_devices._suite_for(named, X25519, X25519.command)
    assert (choice.names[core], core) == ("compact2", 2)
    core, interface = open_devices._calls_of(named, choice, "ML_KEM_DECAPSULATE", anything)
    assert core == 0 and "ML_KEM_DECAPSULATE" in interface.call


def test_what_a_suite_lacks_is_named():
    named = parse_device(DEVICE)
    choice, _ = open_devices._suite_for(named, X25519, X25519.command)
    assert f"{named.name} has no ML_DSA_SIGN" in refusal(
        open_devices._calls_of, named, choice, "ML_DSA_SIGN", anything
    )
    only = parse_device("sim:suite,engines=shake+lattice")
    assert "has no engine of numbers" in refusal(
        open_devices._suite_for, only, X25519, X25519.command
    )
    plain = parse_device("sim:suite")
    assert "has no X_MULTIPLY" in refusal(open_devices._suite_for, plain, X25519, X25519.command)
    short = parse_device("sim:suite,compact.max_bits=64,compact.curves=montgomery")
    assert "sim:suite,compact.max_bits=" in refusal(
        open_devices._suite_for, short, X25519, X25519.command
    )

    def wants_another_set(interface):
        ml_kem.check_engine(interface, ML_KEM["ML-KEM-1024"], [])

    assert "engine lattice: " in refusal(
        open_devices._calls_of, named, choice, "ML_KEM_DECAPSULATE", wants_another_set
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sim:suite,engines=compact", "a suite has 2..32 engines, not 1"),
        ("sim:suite,max_bits=512", "name the engine that it is for, such as compact.max_bits"),
        ("sim:suite,engines=compact+shake,random=seeded", "draws no random bytes"),
    ],
)
def test_a_device_that_is_none_is_refused_at_once(capsys, text, message):
    for words in (
        ["rsa", "keygen", "-o", "key", "--device", text],
        ["ml-kem", "keygen", "-o", "k"],
    ):
        device = words if "--device" in words else [*words, "--public", "p", "--device", text]
        status, out, error = run(capsys, *device)
        assert (status, out) == (2, "")
        assert message in error


def test_one_engine_is_asked_for(capsys):
    for words in (["run", "suite", "MODMUL"], ["assess", "faults", "suite"]):
        status, _, error = run(capsys, *words)
        assert status == 2
        assert "suite has several engines, and this takes one: name its family" in error


def test_it_is_listed(capsys):
    [record] = run_json(capsys, "list", "suite")
    assert {"RSA_PRIVATE", "ML_KEM_KEY_PAIR"} <= set(record["operations"])
    [engines] = record["parameters"]
    assert (engines["name"], engines["default"]) == ("engines", "compact+lattice")
    assert "direct" not in engines["choices"]
    assert "compact+lattice" in run(capsys, "list", "suite")[1]


@pytest.mark.matrix
def test_hardware_is_asked_for_its_cores(monkeypatch):
    verilog = suite_verilog(CHOICE, bus=Bus.AXI4)
    with SimulatedDevice(verilog, CHOICE.module_name) as device:
        monkeypatch.setattr(open_devices, "_connection", lambda named: nullcontext(device))
        named = parse_device("uio:/dev/uio0")
        key = SimpleNamespace(n=None, lengths=Lengths(modulus=64))
        with open_devices.open_device(named, key, Command.MODEXP) as accelerator:
            assert accelerator.modexp(3, 5, 1009).value == 3**5 % 1009
        with (
            pytest.raises(ValueError, match="no engine of numbers that has the command"),
            open_devices.open_device(named, X25519, X25519.command),
        ):
            pass
        core = open_devices._calls_core(device, INTERFACE, "COPY")
        assert core.number == 1
        other = replace(INTERFACE, family_number=1)
        assert "no engine of byte strings" in refusal(
            open_devices._calls_core, device, other, "COPY"
        )


@pytest.mark.vectors
def test_rsa_curves_ml_kem_and_tls_on_one_simulated_accelerator(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_bytes(b"a text")

    def go(words):
        status, out, error = run(capsys, *words.format(device=f"--device {DEVICE}").split())
        assert status == 0, error
        return out

    go("rsa keygen --bits 512 -o rsa.pem --public rsa.pub")
    go("rsa sign --key rsa.pem --in text -o rsa.sig --hash sha1 {device}")
    go("rsa verify --key rsa.pub --in text --signature rsa.sig --hash sha1 {device}")
    go("ec keygen --curve P-256 -o ec.pem --public ec.pub {device}")
    go("ec sign --key ec.pem --in text -o ec.sig {device}")
    go("ec verify --key ec.pub --in text --signature ec.sig {device}")
    go("ml-kem keygen --set ML-KEM-768 -o kem.pem --public kem.pub {device}")
    go("ml-kem encapsulate --key kem.pub -o kem.ct --secret kem.1 {device}")
    go("ml-kem decapsulate --key kem.pem --in kem.ct -o kem.2 {device}")
    assert (tmp_path / "kem.1").read_bytes() == (tmp_path / "kem.2").read_bytes()
    opened = []
    real = hybrid.open_both
    monkeypatch.setattr(hybrid, "open_both", lambda *all: opened.append(all) or real(*all))
    go("x25519-mlkem768 offer -o share --private private {device}")
    go("x25519-mlkem768 answer --peer share -o answer --secret secret {device}")
    go("x25519-mlkem768 finish --private private --peer answer -o again {device}")
    assert (tmp_path / "secret").read_bytes() == (tmp_path / "again").read_bytes()
    assert len(opened) == 3
