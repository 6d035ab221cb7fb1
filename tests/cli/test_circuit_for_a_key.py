"""COMPRESSION's Figure 36: from a key file to its circuit, and to a bitstream, in one command."""

import json

import pytest

from coprime import cli
from coprime.catalog import family_named
from coprime.device.accelerator import Accelerator
from coprime.device.simulated import open_simulation
from coprime.flow.tool_errors import ToolError
from coprime.rsa import keys
from coprime.soc.encryption import test_key as short_key


@pytest.fixture
def key(request, tmp_path):
    """A test key of 128 bits, or of the primes that a test asks for, in two files."""
    primes = getattr(request, "param", None)
    key = keys.RsaPrivateKey.from_primes(*primes, 17) if primes else short_key(128)
    (tmp_path / "key.pem").write_bytes(keys.private_pem(key))
    (tmp_path / "public.pem").write_bytes(keys.public_pem(key.public))
    return key


def written(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def holds(files, number):
    """Files with a number in decimal or hexadecimal digits; Verilog has it in hexadecimal ones."""
    texts = [str(number).encode(), f"{number:x}".encode()]
    return [name for name, data in files.items() if any(text in data.lower() for text in texts)]


def test_build(tmp_path, key, capsys):
    """Private and public key give the same files, in which the modulus is the key's only number."""
    for name in ("key", "public"):
        words = ["build", "direct", "-p", "multipliers=1", "-o", str(tmp_path / f"{name}-out")]
        assert cli.main([*words, "--key", str(tmp_path / f"{name}.pem")]) == 0
    capsys.readouterr()
    files = written(tmp_path / "key-out")
    assert files == written(tmp_path / "public-out")
    assert "coprime_direct.v" in "".join(holds(files, key.n))
    for secret in (key.p, key.q, key.d, key.dp, key.dq, key.qinv):
        assert not holds(files, secret)


def test_an_encrypted_key(tmp_path, key, capsys):
    secret = tmp_path / "passphrase"
    secret.write_text("secret\n")
    encrypted = tmp_path / "encrypted.pem"
    encrypted.write_bytes(keys.private_pem(key, b"secret"))
    words = ["build", "direct", "-p", "multipliers=1", "-o", str(tmp_path / "out")]
    given = ["--key", str(encrypted), "--passphrase-file", str(secret)]
    assert cli.main([*words, *given]) == 0
    assert f"modulus={key.n:#x}" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize("command", ["build", "synth"])
def test_wrong_inputs(tmp_path, key, capsys, command):
    path = str(tmp_path / "key.pem")
    for words, text in (
        (["fdfm", "--key", path], "--key makes compression or direct for the key's modulus"),
        (["cluster", "--key", path], "cluster takes any key: leave --key out"),
        (["direct", "-p", "modulus=5", "--key", path], "both name the modulus"),
        (["direct", "--key", str(tmp_path / "none.pem")], "cannot be read"),
        (["direct", "--key", __file__], "--key"),
    ):
        assert cli.main([command, *words, "-o", str(tmp_path / "out")]) == 2
        err = capsys.readouterr().err
        assert text in err
        assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.route
@pytest.mark.parametrize("key", [(61, 53)], indirect=True)  # short, so that it takes minutes
def test_bitstream(tmp_path, key, capsys):
    """For a ULX3S, from the public key; and the engine decrypts with the private one."""
    folder = tmp_path / "out"
    words = ["synth", "compression", "-p", "multipliers=1", "--board", "ulx3s", "--clock", "25"]
    try:
        status = cli.main(
            [*words, "--key", str(tmp_path / "public.pem"), "-o", str(folder), "--json"]
        )
    except ToolError as error:
        pytest.skip(str(error))
    assert status == 0
    report = json.loads(capsys.readouterr().out)
    assert report["fmax_mhz"] >= report["clock_mhz"] == 25
    assert (folder / "coprime_compression_on_ulx3s.bit").stat().st_size == report["size"]
    readme = (folder / "README.md").read_text()
    assert f"modulus={key.n:#x}" in readme
    assert "keygen" not in readme
    settings = {"modulus": f"{key.n:#x}", "multipliers": "1"}
    with open_simulation(family_named("compression").choose(settings)) as device:
        accelerator = Accelerator(device)
        accelerator.load_private(key)
        assert accelerator.private(pow(1234, key.e, key.n)).value == 1234
