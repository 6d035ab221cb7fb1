"""`coprime run`: results, and keys from files."""

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from coprime.cli import parser
from coprime.cli.arguments import ec as keys_cli
from coprime.cli.run import predicted
from coprime.device.accelerator import Result
from coprime.device.jobs import Job
from coprime.ec.montgomery import X25519
from coprime.ec.samples import curve_for
from coprime.engine.contract import Command, Operand
from coprime.operations.operation import Encoded
from coprime.rsa import keys
from coprime.runs.numbers import numbers_on
from tests.cli.command import RUN_FIELDS, run, run_json


@pytest.mark.parametrize(
    ("operation", "names"),
    [
        ("X_MULTIPLY", ["X25519", "x25519", "curve25519"]),
        ("X_MULTIPLY", ["X448", "Curve448"]),
        ("ECDSA_VERIFY", ["P-256", "p256", "prime256v1", "secp256r1", "nistp256"]),
        ("ECDSA_VERIFY", ["brainpoolP320r1", "brainpoolp320R1"]),
        ("ED_VERIFY", ["Ed25519", "ed25519", "edwards25519"]),
    ],
)
def test_curves_have_their_names_everywhere(operation, names):
    """Of Montgomery curves, too; and those that OpenSSL and OpenSSH have."""
    (curve,) = {curve_for(Command[operation], name) for name in names}
    assert curve.name == names[0]
    assert keys_cli._curve_name(names[-1]) == names[0]


def test_an_operation_on_a_montgomery_curve():
    words = "run ring X_MULTIPLY --curve X25519".split()
    assert predicted(parser(["run"]).parse_args(words))[0] == 250_624


def test_numbers_of_a_montgomery_curve():
    numbers = numbers_on(Command.X_MULTIPLY, X25519, 1)
    theirs = X25519PrivateKey.from_private_bytes(numbers["e"].to_bytes(32, "little"))
    point = X25519PublicKey.from_public_bytes(X25519.encode_point(numbers["x"]))
    expected = Command.X_MULTIPLY.operation.expected(numbers, 0)
    assert X25519.encode_point(expected) == theirs.exchange(point)


def test_run_raw_integers(capsys):
    record = run_json(capsys, "run", "fdfm", "MODMUL", "--x", "5", "--y", "0x6", "--m", "d")
    assert set(record) >= RUN_FIELDS
    assert (record["result"], record["ok"], record["bits"]) == ("4", True, 4)
    assert record["cycles"] == record["predicted_cycles"] > 0
    record = run_json(capsys, "run", "fdfm", "MODEXP", "--x", "2", "--e", "a", "--m", "65")
    assert int(record["result"], 16) == 2**10 % 101


@pytest.mark.parametrize("operation", ["MODMUL", "MODEXP", "RSA_PUBLIC", "RSA_PRIVATE"])
def test_run_random(capsys, operation):
    arguments = ("run", "fdfm", operation, "--bits", "128", "--seed", "3")
    first, second = run_json(capsys, *arguments), run_json(capsys, *arguments)
    assert first["ok"]
    assert first["bits"] == 128
    assert first["result"] == second["result"]
    other = run_json(capsys, "run", "fdfm", operation, "--bits", "128", "--seed", "4")
    assert other["result"] != first["result"]


@pytest.mark.parametrize(
    ("operation", "design", "cycles"),
    [
        ("MULTIPLICATION", ("fdfm", "-p", "max_bits=64", "--bits", "64"), 63),
        ("REDUCTION", ("direct", "-p", "modulus=vassoler-2", "--bits", "3"), 1),
        ("WORD_MULTIPLICATION", ("direct", "-p", "modulus=vassoler-2", "--bits", "3"), 1),
    ],
)
def test_run_what_a_part_does_alone(capsys, operation, design, cycles):
    family, *others = design
    record = run_json(capsys, "run", family, operation, *others, "--seed", "5")
    assert record["ok"] and record["cycles"] == record["predicted_cycles"] == cycles
    assert (record["operation"], record["seed"]) == (operation, 5)
    assert 0 < record["utilization"] <= 1


def test_all_ones_exponents(capsys):
    arguments = ("run", "fdfm", "RSA_PRIVATE", "--bits", "64", "--exponents", "worst")
    record = run_json(capsys, *arguments)
    assert (record["ok"], record["cycles"]) == (True, 4_255)
    assert run_json(capsys, *arguments[:-1], "random")["cycles"] < record["cycles"]


def test_predictions_are_what_is_run(capsys):
    arguments = ("run", "fdfm", "MODEXP", "--bits", "64", "--exponents", "worst")
    record = run_json(capsys, *arguments)
    cycles, utilization = predicted(parser(("run",)).parse_args(arguments))
    assert (cycles, utilization) == (record["cycles"], record["utilization"])
    with pytest.raises(ValueError, match="a prediction is of one engine"):
        predicted(parser(("run",)).parse_args(["run", "cluster", *arguments[2:]]))


def test_run_with_a_key(capsys, key_file):
    key = keys.load_private(key_file)
    record = run_json(capsys, "run", "fdfm", "RSA_PUBLIC", "--key", key_file, "--input", "2")
    assert int(record["result"], 16) == pow(2, key.e, key.n)
    ciphertext = record["result"]
    record = run_json(
        capsys, "run", "fdfm", "RSA_PRIVATE", "--key", key_file, "--input", ciphertext
    )
    assert (record["result"], record["bits"]) == ("2", 1024)


@pytest.mark.matrix
@pytest.mark.xdist_group("compact")
def test_max_bits_follows_the_operands(capsys):
    """To the size of which most tests of compact share a simulator."""
    record = run_json(capsys, "run", "compact", "RSA_PRIVATE", "--bits", "1100")
    assert (record["ok"], record["bits"], record["parameters"]["max_bits"]) == (True, 1100, 2048)


def test_run_prints_a_table(capsys):
    status, out, err = run(capsys, "run", "fdfm", "MODMUL", "--bits", "64")
    assert (status, err) == (0, "")
    for word in ("result", "cycles", "predicted", "utilization", "simulation"):
        assert word in out


@pytest.mark.matrix
def test_a_fixed_modulus_is_that_of_the_operands(capsys):
    words = ["run", "compression", "MODEXP", "--x", "3", "--e", "c"]
    record = run_json(capsys, *words, "--m", "15")
    assert record["result"] == f"{pow(3, 12, 0x15):x}"
    assert record["parameters"]["modulus"] == "0x15"
    named = run_json(capsys, *words, "-p", "modulus=vassoler-4")
    assert (named["result"], named["cycles"]) == (record["result"], record["cycles"])


def test_explain(capsys):
    words = ["run", "compression", "MODMUL", "--m", "55", "--explain"]
    status, out, err = run(capsys, *words)
    assert (status, err) == (0, "")
    assert "Work modulo 3 * m = 2^8 - 1: about " in out
    record = run_json(capsys, *words)
    assert (record["factor"], record["multiple"]) == (3, "ff")
    # With operands it is done as well.
    status, out, err = run(capsys, *words, "--x", "5", "--y", "44")
    assert (status, err) == (0, "")
    assert "Work modulo 3 * m" in out
    assert f"result       {5 * 0x44 % 0x55:x}\n" in out


def write_keys(tmp_path):
    key = keys.generate(512, seed=2)
    files = {
        "corrupt": b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        "public": keys.public_pem(key.public),
        "locked": keys.private_pem(key, "secret"),
        "text": b"not a key",
        # An initial vector that was cut: the library below panics at it.
        "old": b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
        b"DEK-Info: AES-128-CBC,0011\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "wrong").write_text("guess\n")
    (tmp_path / "right").write_text("secret\n")


@pytest.mark.parametrize(
    ("name", "extra", "sentence"),
    [
        ("corrupt", [], "the file is corrupt or holds no private key"),
        ("text", [], "the file is text without a private key"),
        ("old", ["--passphrase-file", "right"], "the passphrase is wrong, or the encrypted key"),
        ("public", [], "the file holds only a public key, and a private key is needed"),
        ("locked", ["--passphrase-file", "wrong"], "the passphrase is wrong"),
    ],
)
def test_bad_key_files(capsys, tmp_path, monkeypatch, name, extra, sentence):
    write_keys(tmp_path)
    monkeypatch.chdir(tmp_path)
    status, out, err = run(
        capsys, "run", "fdfm", "RSA_PRIVATE", "--key", name, "--input", "5", *extra
    )
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_locked_key_with_its_passphrase(capsys, tmp_path):
    write_keys(tmp_path)
    record = run_json(
        capsys,
        *("run", "fdfm", "RSA_PRIVATE", "--key", tmp_path / "locked", "--input", "5"),
        *("--passphrase-file", tmp_path / "right"),
    )
    assert record["ok"]


def test_secrets_stay_out_of_reprs(key_file):
    key = keys.load_private(key_file)
    result = Result(key.d, 1, 1, outputs={"power": key.d})
    job = Job(Command.RSA_PRIVATE, {}, {Operand.P: key.p, Operand.Q: key.q}, key.d)
    encoded = Encoded({}, job.operands, job.x)
    text = repr(key) + str(key) + repr(job) + repr(encoded) + repr(result)
    for value in (key.d, key.p, key.q, key.dp, key.dq, key.qinv):
        assert str(value) not in text
        assert f"{value:x}" not in text


def test_a_bad_number_is_not_repeated(capsys):
    """It may be a private exponent with a typing error in it."""
    _, _, err = run(capsys, *"run fdfm MODEXP --x 2 --e 5eC2eTz --m 7".split())
    assert "5eC2eT" not in err
