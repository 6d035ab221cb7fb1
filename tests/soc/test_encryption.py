"""The thesis's system: firmware encrypts and decrypts in the sequence of its Figure 23."""

import json
from types import SimpleNamespace

import pytest

from coprime import cli
from coprime.bus import registers
from coprime.catalog import choose
from coprime.device.base import DeviceError
from coprime.device.jobs import words_of
from coprime.device.simulated import open_simulation
from coprime.engine.contract import Error, Operand
from coprime.flow.tool_errors import ToolError
from coprime.model.moduli import vassoler_pair
from coprime.padding.scheme import Padding
from coprime.rsa import keys
from coprime.rsa.fixed_keys import key_of
from coprime.soc import encryption, firmware
from coprime.soc.encryption import run_system

# One worker simulates what this file has built; two cores build at once what is slow.
pytestmark = pytest.mark.xdist_group("RISC-V system of the thesis")


@pytest.fixture(autouse=True)
def toolchain():
    try:
        return firmware.find_toolchain()
    except ToolError as error:
        pytest.skip(str(error))


def accelerator(family, key, **settings):
    """The circuit for a key: its modulus is built in, or it is as long as the key."""
    if family in ("compression", "direct"):
        own = {"modulus": f"{key.n:#x}"}
    else:
        own = {"max_bits": str(max(64, key.bits))}
    return choose(family, {**own, **settings})


def key_for(name):
    """A test key of so many bits, or the exponents of a modulus of the thesis."""
    return key_of(vassoler_pair(-name)[0]) if name < 0 else encryption.test_key(name)


# CM, DM and MM. A name below 0 is n of the modulus vassoler-n.
SYSTEMS = [
    ("compression", -30),
    ("montgomery-r2", 32),
    *(
        pytest.param(family, name, marks=pytest.mark.clients)
        for family, name in (
            ("compression", 32),
            ("compression", 64),
            ("compression", -62),
            ("compression", -126),
            ("direct", 32),
            ("direct", 64),
            ("direct", 128),
            ("montgomery-r2", 64),
            ("montgomery-r2", 128),
            ("fdfm", 128),
        )
    ),
]


@pytest.mark.matrix
@pytest.mark.parametrize(("family", "name"), SYSTEMS)
def test_figure_23(family, name):
    """Both operations; with PKCS #1 v1.5 from 65 bits on, as in the thesis."""
    key = key_for(name)
    choice = accelerator(family, key)
    padding = encryption.default_padding(key.bits)
    assert padding is (Padding.PKCS1 if key.bits > 64 else None)
    message = "Hello"[: encryption.longest_message(padding, key.bits)]
    for decrypts in (False, True):
        run = run_system(choice, key, message, decrypts=decrypts, padding=padding)
        assert run.right, run.transcript
        assert run.result == message
        assert (run.ciphertext is None) == decrypts
        assert run.interrupts == 1
        of = run.cycles
        assert of["engine"] == run.predicted < of["waiting"]
        assert of["operation"] == of["input in, start"] + of["waiting"] + of["result out"]
        once = of["constants of the key"] + of["loading the key"]
        assert once + of["operation"] < run.total
        assert f"{of['operation']:,}\n" in run.table()


@pytest.mark.clients
@pytest.mark.parametrize("family", ["direct", "montgomery-r2"])
def test_oaep(family):
    """The thesis's future work, where the length allows it: from 528 bits on."""
    key = encryption.test_key(544)
    for decrypts in (False, True):
        run = run_system(
            accelerator(family, key), key, "OA", decrypts=decrypts, padding=Padding.OAEP
        )
        assert run.right, run.transcript


@pytest.mark.clients
def test_exponentiators_of_the_thesis():
    """Figure 37: one multiplier, a cycle for a bit of 0 and two for a 1."""
    key = key_for(-30)
    two = run_system(accelerator("compression", key), key, "Hi", decrypts=True, padding=None)
    one = run_system(
        accelerator("compression", key, multipliers="1"),
        key,
        "Hi",
        decrypts=True,
        padding=None,
    )
    assert one.right
    assert two.right
    # The highest bits of d are 0: all ones cost a cycle.
    assert one.cycles["engine"] - two.cycles["engine"] == key.d.bit_count()


def put(device, key, given, *, decrypts):
    """Figure 23 in Python, with the registers of Table 6 only after the key has been loaded; the
    bytes that come out, or the error."""

    def write(register, value):
        device.write32(register.address, value)

    def load(number, value, bits):
        write(registers.KEY_OPERAND, number)
        for word in words_of(value, bits):
            write(registers.KEY_DATA, word)

    exponent = key.d if decrypts else key.e
    bits = exponent.bit_length()
    write(registers.ERROR, 0)
    write(registers.MODULUS_LENGTH, key.bits)
    write(registers.EXPONENT_LENGTH, bits)
    load(Operand.M, key.n, key.bits)
    load(Operand.E, exponent, bits)
    write(registers.INTERRUPT_ENABLE, 1)
    write(registers.INTERRUPT_STATUS, 1)

    start, decrypt = registers.STATUS["START"].mask, registers.STATUS["DECRYPT"].mask
    assert device.read32(registers.STATUS.address) == 0
    for address, word in enumerate(words_of(int.from_bytes(given), 8 * len(given))):
        write(registers.INPUT_FIFO, word)
        write(registers.WRITE_ADDRESS, address)
    write(registers.INPUT_LENGTH, len(given))
    write(registers.STATUS, start | (decrypt if decrypts else 0))
    assert device.read32(registers.STATUS.address) == registers.STATUS["BUSY"].mask
    assert device.read32(registers.OUTPUT_LENGTH.address) == 0
    device.wait_interrupt()
    assert device.read32(registers.STATUS.address) == 0
    size = device.read32(registers.OUTPUT_LENGTH.address)
    value = 0
    for address in range((size + 3) // 4):
        write(registers.READ_ADDRESS, address)
        value |= device.read32(registers.OUTPUT_FIFO.address) << 32 * address
    code = registers.ERROR["CODE"].of(device.read32(registers.ERROR.address))
    return Error(code) if code else value.to_bytes(size)


@pytest.mark.matrix
def test_table_6_without_a_driver():
    """What the registers show before, while and after an operation, and numbers out of range."""
    key = key_for(-30)
    with open_simulation(accelerator("compression", key)) as device:
        for number in (2, 3, key.n - 1, key.n - 2, 0x00C0FFEE):
            given = number.to_bytes(4)
            cipher = put(device, key, given, decrypts=False)
            assert cipher == pow(number, key.e, key.n).to_bytes(4)
            assert put(device, key, cipher, decrypts=True) == given
        for decrypts in (False, True):
            given = key.n.to_bytes(4)
            refused = put(device, key, given, decrypts=decrypts)
            assert refused is Error.OPERAND_RANGE


@pytest.mark.matrix
def test_wrong_padding_is_reported(monkeypatch):
    """With OAEP the command ends with an error, which the firmware prints."""
    key = encryption.test_key(544)
    real = encryption.job

    def job(key, given, **how):
        return real(key, bytes([given[0] >> 1, *given[1:]]), **how)

    monkeypatch.setattr(encryption, "job", job)
    with pytest.raises(DeviceError, match="the accelerator failed: the padding is wrong"):
        run_system(
            accelerator("montgomery-r2", key), key, "OA", decrypts=True, padding=Padding.OAEP
        )


def test_lengths_of_messages():
    for padding, bits, limit in (
        (None, 24, 2),
        (None, 31, 3),
        (None, 64, 7),
        (Padding.PKCS1, 65, -2),
        (Padding.PKCS1, 81, 0),
        (Padding.PKCS1, 1024, 117),  # the thesis's example
        (Padding.OAEP, 520, -1),
        (Padding.OAEP, 1024, 62),
    ):
        assert encryption.longest_message(padding, bits) == limit
        if limit >= 0:
            encryption.check_message("m" * limit, padding, bits)
        with pytest.raises(ValueError, match=r"the message has|needs a modulus"):
            encryption.check_message("m" * max(1, limit + 1), padding, bits)


def test_short_keys():
    for bits in (24, 31, 32, 63, 64):
        key = encryption.test_key(bits)
        assert key.bits == bits
        assert key.e == 65537
        assert pow(pow(2, key.e, key.n), key.d, key.n) == 2
    assert encryption.test_key(32, 3).e == 3
    for bits, e, text in ((23, None, "bits must be 24 or more"), (24, 1 << 23 | 1, "e must be")):
        with pytest.raises(ValueError, match=text):
            encryption.test_key(bits, e)


def test_accelerators_are_checked():
    key = key_for(-30)
    own = {"decrypts": True, "padding": None}
    with pytest.raises(ValueError, match="for another modulus than the key's"):
        run_system(choose("compression", {}), key, "Hi", **own)
    with pytest.raises(ValueError, match="decrypts with primes, and this key has none"):
        run_system(choose("fdfm", {}), key, "Hi", **own)
    key = encryption.test_key(128)
    with pytest.raises(ValueError, match=r"moduli of up to 64 bits \(not 128\)"):
        run_system(choose("montgomery-r2", {"max_bits": "64"}), key, "Hi", **own)
    long = SimpleNamespace(n=1 << 4099, bits=4100)
    with pytest.raises(ValueError, match="keys of up to 4096 bits"):
        encryption.check_design(choose("montgomery-r2", {}), long, None)


@pytest.mark.matrix
def test_command(capsys, tmp_path):
    words = "soc compression -p modulus=vassoler-30 --operation decrypt --message Hi".split()
    assert cli.main([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["message"] == "Hi"
    assert record["right"]
    assert record["cycles"]["engine"] == record["predicted_engine"]
    assert record["exponent"] == 3
    assert record["padding"] == "none"
    assert record["interrupts"] == 1
    assert cli.main(words) == 0
    out = capsys.readouterr().out
    assert record["transcript"] in out
    assert f"all{record['cycles']['operation']:>44,}" in out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            "montgomery-r2 --bits 64 --operation encrypt --padding pkcs1",
            "up to 64 bits are not padd",
        ),
        ("montgomery-r2 --bits 72 --operation encrypt", "modulus of at least 11"),
        ("montgomery-r2 --bits 512 --operation encrypt --padding oaep", "modulus of at least 66"),
        ("montgomery-r2 --bits 32 --operation encrypt --message Hello", "has 5 bytes; a key of 32"),
        ("montgomery-r2 --bits 128 --operation decrypt --message Goodbye", "take 0..5"),
        ("montgomery-r2 --bits 16 --operation encrypt", "bits must be 24 or more, not 16"),
        ("montgomery-r2 --operation encrypt", "name a key: --bits N for a test key, --key FILE"),
        ("compression --operation encrypt", "or a modulus with -p modulus="),
        ("compression -p modulus=vassoler-30 --bits 32 --operation encrypt", "leave -p modulus="),
        ("direct -p modulus=vassoler-30 --exponent 65537 --operation encrypt", "is x for every x"),
        ("direct -p modulus=vassoler-62 --exponent 5 --operation encrypt", "no private exponent"),
        ("direct -p modulus=vassoler-16 --operation encrypt", "3.2 divides the modulus"),
        ("direct -p modulus=4096 --operation encrypt", "must be odd and 5 or more"),
        ("fdfm --bits 64 --operation encrypt --no-software", "leave --no-software out"),
        ("fdfm --bits 64 --padding none", "--padding is the padding in hardware: add --operation"),
        ("fdfm --bits 64 --exponent 3", "--exponent is the public exponent of a test key: add"),
        ("compression --bits 64", "add --operation encrypt or decrypt"),
        ("montgomery-r2 -p max_bits=64 --bits 128 --operation encrypt", "set -p max_bits=2048"),
    ],
)
def test_bad_input(capsys, words, text):
    assert cli.main(["soc", *words.split()]) == 2
    err = capsys.readouterr().err
    assert text.replace(".2", "^2") in err
    assert err.count("\n") == 1


def test_a_key_and_another_modulus(capsys, tmp_path):
    path = tmp_path / "key.pem"
    path.write_bytes(keys.private_pem(encryption.test_key(32)))
    words = ["soc", "compression", "--operation", "encrypt", "--key", str(path)]
    for more, text in (
        (["-p", "modulus=101"], "is not the key's modulus: leave one of them out"),
        (["--exponent", "3"], "--key has its public exponent: leave --exponent out"),
    ):
        assert cli.main([*words, *more]) == 2
        assert text in capsys.readouterr().err
