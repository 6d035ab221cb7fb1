"""The command line as a user meets it: results, files, and one sentence where input is bad."""

import json
import os
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

from coprime import __version__
from coprime.cli import main
from coprime.device.accelerator import Result
from coprime.explore.measure import Operands
from coprime.rsa import keys


def run(capsys, *arguments):
    """Exit status, standard output and standard error."""
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as leave:
        status = leave.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def run_json(capsys, *arguments):
    status, out, err = run(capsys, *arguments, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "key.pem"
    path.write_bytes(keys.private_pem(keys.generate(1024, seed=1)))
    return path


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"coprime {__version__}\n", "")


def test_list(capsys):
    (fdfm,) = [one for one in run_json(capsys, "list") if one["name"] == "fdfm"]
    assert fdfm["paper"] == "FDFM"
    assert fdfm["operations"] == ["MODMUL", "MODEXP", "RSA_PUBLIC", "RSA_PRIVATE"]
    assert fdfm["parameters"][0]["name"] == "max_bits"
    (named,) = (one for one in fdfm["parameters"] if one["name"] == "exponentiator")
    assert (named["type"], named["default"]) == ("choice", "left-to-right")
    assert named["choices"][:2] == ["left-to-right", "right-to-left"]
    assert "minimum" not in named
    status, out, _ = run(capsys, "list")
    assert status == 0
    assert "max_bits" in out
    assert "repeated, default left-to-right)" in out


PROJECT_FILES = {
    name: [f"coprime_{name}.{kind}" for kind in ("svd", "xml", "core", "zynq.tcl")]
    for name in ("fdfm", "cluster")
}


def test_build_is_reproducible(capsys, tmp_path):
    texts = []
    for folder in ("one", "two"):
        status, out, _ = run(capsys, "build", "fdfm", "-p", "max_bits=512", "-o", tmp_path / folder)
        assert status == 0
        assert out.splitlines() == [
            str(tmp_path / folder / name)
            for name in ("coprime_fdfm.v", "coprime_registers.h", *PROJECT_FILES["fdfm"])
        ]
        texts.append((tmp_path / folder / "coprime_fdfm.v").read_text())
    assert texts[0] == texts[1]
    # Another process, hash seed and folder: the same bytes.
    program = "from coprime.cli import main; raise SystemExit(main())"
    subprocess.run(
        [sys.executable, "-c", program, "build", "fdfm", "-p", "max_bits=512", "-o", "three"],
        env=os.environ | {"PYTHONHASHSEED": "12345"},
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    for path in (tmp_path / "three").iterdir():
        assert path.read_bytes() == (tmp_path / "one" / path.name).read_bytes()
        assert str(tmp_path) not in path.read_text()
    made_by = (
        "// Made by: coprime build fdfm -p max_bits=512 -p multipliers=1"
        " -p exponentiator=left-to-right -p window=4 --target generic"
    )
    assert made_by in texts[0]
    assert f"Coprime {__version__}" in texts[0]
    modules = [line.split()[1] for line in texts[0].splitlines() if line.startswith("module ")]
    assert modules
    assert all(name.startswith("coprime_") for name in modules)


@pytest.mark.parametrize(
    ("target", "cell"), [("xc7", "DSP48E1"), ("ecp5", "MULT18X18D"), ("generic", "module")]
)
def test_build_targets(capsys, tmp_path, target, cell):
    assert run(capsys, "build", "fdfm", "--target", target, "-o", tmp_path)[0] == 0
    assert cell in (tmp_path / "coprime_fdfm.v").read_text()


def test_build_with_bursts(capsys, tmp_path):
    """The command in the header makes the same file again."""
    chosen = ("build", "fdfm", "-p", "max_bits=64", "--bus", "axi4", "-o")
    assert run(capsys, *chosen, tmp_path / "one")[0] == 0
    verilog = (tmp_path / "one" / "coprime_fdfm.v").read_text()
    assert "input [7:0] s_axi_awlen;" in verilog
    (made_by,) = (line for line in verilog.splitlines() if line.startswith("// Made by: coprime "))
    command = made_by.removeprefix("// Made by: coprime ").replace("DIR", str(tmp_path / "two"))
    assert run(capsys, *command.split())[0] == 0
    assert (tmp_path / "two" / "coprime_fdfm.v").read_text() == verilog


RUN_FIELDS = {
    *("family", "parameters", "operation", "bits", "result", "ok", "cycles"),
    *("predicted_cycles", "utilization", "seconds", "cycles_per_second"),
}


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


def test_run_with_a_key(capsys, key_file):
    key = keys.load_private(key_file)
    record = run_json(capsys, "run", "fdfm", "RSA_PUBLIC", "--key", key_file, "--input", "2")
    assert int(record["result"], 16) == pow(2, key.e, key.n)
    ciphertext = record["result"]
    record = run_json(
        capsys, "run", "fdfm", "RSA_PRIVATE", "--key", key_file, "--input", ciphertext
    )
    assert (record["result"], record["bits"]) == ("2", 1024)


def test_run_prints_a_table(capsys):
    status, out, err = run(capsys, "run", "fdfm", "MODMUL", "--bits", "64")
    assert (status, err) == (0, "")
    for word in ("result", "cycles", "predicted", "utilization", "simulation"):
        assert word in out


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


def test_long_trees_are_announced(capsys, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr("coprime.cli.write_package", lambda choice, *_: made.append(choice) or [])
    for name, announced in (("goldilocks", False), ("curve25519", True)):
        status, out, err = run(
            capsys, "build", "compression", "-p", f"modulus={name}", "-o", tmp_path
        )
        assert (status, out) == (0, "")
        assert ("unit gates, which takes minutes" in err) == announced
    assert len(made) == 2


def test_synth(capsys):
    record = run_json(capsys, "synth", "fdfm", "--target", "xc7")
    assert (record["dsp"], record["bram"], record["fmax_mhz"]) == (1, 1, None)
    assert {"family", "parameters", "target", "device", "lut", "ff", "carry", "tools"} <= set(
        record
    )


def test_cluster(capsys, tmp_path):
    (cluster,) = [one for one in run_json(capsys, "list") if one["name"] == "cluster"]
    assert [one["name"] for one in cluster["parameters"]][:3] == ["engine", "cores", "max_bits"]
    chosen = ("cluster", "-p", "cores=2", "-p", "max_bits=64")
    record = run_json(capsys, "run", *chosen, "RSA_PUBLIC", "--bits", "64", "--requests", "3")
    assert set(record) >= RUN_FIELDS
    assert (record["family"], record["ok"], record["requests"]) == ("cluster", True, 3)
    assert record["predicted_cycles"] < record["cycles"]
    status, out, err = run(capsys, "run", *chosen, "MODMUL", "--x", "3", "--y", "4", "--m", "5")
    assert (status, err) == (0, "")
    assert "2 on 2 cores" in out
    status, out, _ = run(capsys, "build", *chosen, "--target", "xc7", "-o", tmp_path)
    assert status == 0
    names = {"coprime_cluster.v", "coprime_cluster_registers.h", "coprime_registers.h"}
    assert {path.name for path in tmp_path.iterdir()} == names | {*PROJECT_FILES["cluster"]}
    made = (
        "coprime build cluster -p engine=fdfm -p cores=2 -p max_bits=64 -p multipliers=1"
        " -p exponentiator=left-to-right -p window=4"
    )
    assert f"// Made by: {made} --target xc7" in (tmp_path / "coprime_cluster.v").read_text()


BAD = [
    (["frobnicate"], "invalid choice: 'frobnicate'"),
    (["list", "--nonsense"], "unrecognized arguments: --nonsense"),
    (["build", "fdmf", "-o", "x"], "no family is called 'fdmf'; did you mean fdfm?"),
    (["build", "fdfm"], "the following arguments are required: -o/--output"),
    (["build", "fdfm", "-p", "max_bits", "-o", "x"], "-p needs NAME=VALUE, not 'max_bits'"),
    (["build", "fdfm", "-p", "size=1", "-o", "x"], "fdfm has no parameter 'size'"),
    (
        ["build", "fdfm", "-p", "max_bits=9", "-o", "x"],
        "max_bits must be an integer in 64..2176, not '9'",
    ),
    (
        ["build", "fdfm", "-p", "exponentiator=windows", "-o", "x"],
        "exponentiator must be one of left-to-right, right-to-left, m-ary, fixed-window,"
        " sliding-window, repeated, not 'windows'",
    ),
    (
        ["build", "fdfm", "-p", "exponentiator=m-ary", "-o", "x"],
        "does not fit into one block RAM beside the operands; that of max_bits=",
    ),
    (["run", "fdfm", "MODMUL"], "MODMUL needs --x --y --m (or --bits); --x is missing"),
    (["run", "fdfm", "MODMUL", "--x", "g"], "argument --x: not a hexadecimal number"),
    (["run", "fdfm", "MODMUL", "--x", "-1"], "argument --x"),
    (
        ["run", "fdfm", "MODMUL", "--x", "1", "--y", "1", "--m", "0"],
        "the modulus or a prime is zero",
    ),
    (
        ["run", "fdfm", "MODMUL", "--x", "1", "--y", "1", "--m", "8"],
        "the modulus or a prime is even",
    ),
    (["run", "fdfm", "MODMUL", "--x", "9", "--y", "1", "--m", "7"], "an operand is not below"),
    (["run", "fdfm", "MODMUL", "--bits", "64", "--x", "1"], "--bits makes all operands"),
    (["run", "fdfm", "MODMUL", "--bits", "2177"], "a length is over the accelerator's greatest"),
    (["run", "fdfm", "MODMUL", "--bits", "1"], "bits must be in 2..65535, not 1"),
    (["run", "fdfm", "MODMUL", "--x", "1", "--y", "1", "--e", "1", "--m", "7"], "takes no --e"),
    (["run", "fdfm", "RSA_PRIVATE"], "RSA_PRIVATE takes --key and --input, or --bits"),
    (["run", "fdfm", "RSA_PRIVATE", "--bits", "20"], "bits must be in 64..65535, not 20"),
    (["run", "fdfm", "RSA_PRIVATE", "--key", "none.pem"], "takes --key and --input together"),
    (["run", "fdfm", "RSA_PRIVATE", "--key", "none.pem", "--input", "5"], "none.pem"),
    (["run", "fdfm", "MODEXP", "--key", "none.pem", "--input", "5"], "are for RSA operations"),
    (["run", "fdfm", "MODMUL", "--bits", "99999999999"], "bits must be in 2..65535"),
    (["run", "fdfm", "RSA_PRIVATE", "--bits", "99999999999"], "bits must be in 64..65535"),
    (["run", "fdfm", "MODMUL", "-p", "max_bits=64", "-p", "max_bits=65"], "-p sets max_bits twice"),
    (["run", "fdfm", "RSA_PRIVATE", "-p", "max_bits=512", "--bits", "600"], "512 bits for modulus"),
    (["rsa", "keygen", "--bits", "99999999999", "-o", "k"], "bits must be in 64..65535"),
    (["rsa", "keygen", "--bits", "64", "--exponent", "1125899906842625", "-o", "k"], "118 bits"),
    (["rsa", "keygen", "-o", "k", "--public", "k"], "--public and -o must name two files"),
    (["rsa", "encrypt", "--key", "k", "--padding", "pkcs1", "--label", "00"], "takes no --label"),
    (["rsa", "sign", "--key", "k", "--padding", "pkcs1", "--mgf-hash", "sha1"], "no --mgf-hash"),
    (["rsa", "encrypt", "--key", "k", "--label", "zz"], "argument --label: not hexadecimal bytes"),
    (["demo", "--bits", "512"], "needs a key of 952 bits or more, not 512"),
    (["synth", "fdfm", "--target", "ecp5", "-o", "x"], "name one with --board"),
    (["synth", "fdfm", "--target", "ecp5", "--board", "ulx3s"], "--board needs -o DIR"),
    (["synth", "fdfm", "--target", "xc7", "--board", "ulx3s", "-o", "x"], "has an ecp5, not xc7"),
    (["synth", "fdfm", "--target", "xc7", "--route"], "place and route knows ecp5 only, not xc7"),
    (["rsa", "decrypt", "--key", "none.pem"], "none.pem"),
    (["build", "clustr", "-o", "x"], "no family is called 'clustr'; did you mean cluster?"),
    (["build", "cluster", "-p", "cores=1024", "-o", "x"], "cores must be an integer in 1..1023"),
    (["build", "cluster", "-p", "engine=cluster", "-o", "x"], "no family is called 'cluster'"),
    (["build", "cluster", "-p", "word=8", "-o", "x"], "fdfm has no parameter 'word'"),
    (
        ["build", "cluster", "--bus", "axi4", "-o", "x"],
        "a cluster has the bus axi4-lite only, not axi4",
    ),
    (["build", "fdfm", "--bus", "ahb", "-o", "x"], "argument --bus: invalid choice: 'ahb'"),
    (["run", "cluster", "MODMUL", "--bits", "64", "--requests", "0"], "must be 1 or more, not 0"),
    (["run", "fdfm", "MODMUL", "--bits", "64", "--requests", "2"], "--requests is for a cluster"),
    (["synth", "cluster", "--target", "xc7", "--part", "engine"], "measured as a whole"),
    (["synth", "cluster", "--target", "ecp5", "--board", "ulx3s"], "is for one engine"),
    (["run", "compression", "MODMUL", "--m", "kyber"], "decimal goes to -p modulus="),
    (["run", "compression", "MODMUL", "--m", "d01", "--x", "1"], "--y is missing"),
    (["run", "compression", "MODMUL", "--m", "d01", "--e", "1", "--explain"], "--x is missing"),
    (["run", "compression", "MODMUL", "--explain"], "--explain needs the modulus: --m HEX"),
    (["run", "compression", "MODMUL", "--m", "2", "--explain"], "must be 3 or more"),
    (
        ["run", "compression", "MODMUL", "-p", "modulus=kyber", "--m", "5", "--explain"],
        "-p modulus=kyber is d01 in hexadecimal digits, and --m is 5: leave one of them out",
    ),
    (["run", "compression", "MODMUL", "-p", "modulus=kybr", "--explain"], "did you mean kyber?"),
    (
        ["build", "compression", "-p", "modulus=5", "-p", "stages=9", "-o", "x"],
        "for this modulus, not 9",
    ),
    (
        ["build", "compression", "-p", "exponentiator=m-ary", "-o", "x"],
        "two multipliers work right to left only, not m-ary: set multipliers=1",
    ),
    (["run", "direct", "MODMUL", "--m", "d01", "--explain"], "leaves its product to synthesis"),
    (["run", "fdfm", "MODMUL", "--m", "d01", "--explain"], "--explain is for compression"),
]


@pytest.mark.parametrize(("arguments", "sentence"), BAD)
def test_bad_input(capsys, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


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
        ("text", [], "the file is corrupt or holds no private key"),
        ("old", ["--passphrase-file", "right"], "the passphrase is wrong, or the encrypted key"),
        ("public", [], "the file holds only a public key, and a private key is needed"),
        ("locked", [], "the key is encrypted, and there is no passphrase"),
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


def test_decryption_failures_are_all_alike(capsys, tmp_path, monkeypatch, key_file):
    monkeypatch.chdir(tmp_path)
    key = keys.load_private(key_file)
    seen = set()
    for data in (bytes(128), b"\1" * 127 + b"\7", b"\xff" * 128, bytes(5)):
        (tmp_path / "c").write_bytes(data)
        for pad in ("oaep", "pkcs1"):
            command = f"rsa decrypt --key {key_file} --in c --padding {pad}"
            seen.add(run(capsys, *command.split()))
    assert seen == {(1, "", "coprime: decryption failed\n")}
    assert key.bits == 1024


@pytest.mark.parametrize(
    ("device", "code", "sentence"),
    [
        ("sim", 2, "a device is sim:FAMILY or uio:/dev/uioN, not 'sim'"),
        ("tape:0", 2, "a device is sim:FAMILY or uio:/dev/uioN, not 'tape:0'"),
        ("sim:fdmf", 2, "no family is called 'fdmf'; did you mean fdfm?"),
        ("uio:none", 1, "'none' is no UIO device: No such file or directory"),
        ("uio:/dev/null", 1, "'/dev/null' is no UIO device: No such device"),
    ],
)
def test_bad_devices(capsys, tmp_path, monkeypatch, key_file, device, code, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "message").write_bytes(b"hello")
    status, out, err = run(
        capsys,
        *("rsa", "sign", "--key", key_file, "--in", "message", "--device", device),
    )
    assert (status, out, err) == (code, "", f"coprime: {sentence}\n")


def test_message_too_long(capsys, tmp_path, key_file):
    (tmp_path / "message").write_bytes(bytes(100))
    status, out, err = run(
        capsys, "rsa", "encrypt", "--key", key_file, "--in", tmp_path / "message"
    )
    assert (status, out) == (2, "")
    assert "62" in err  # 128 - 2 * 32 - 2 bytes


def test_secrets_stay_out_of_reprs(key_file):
    key = keys.load_private(key_file)
    operands = Operands(key.d, key.p, key.q, key.n, key)
    text = repr(key) + str(key) + repr(operands) + repr(Result(key.d, 1, 1))
    for value in (key.d, key.p, key.q, key.dp, key.dq, key.qinv):
        assert str(value) not in text
        assert f"{value:x}" not in text


def test_a_bad_number_is_not_repeated(capsys):
    """It may be a private exponent with a typing error in it."""
    _, _, err = run(capsys, *"run fdfm MODEXP --x 2 --e 5eC2eTz --m 7".split())
    assert "5eC2eT" not in err


def test_keys_are_not_overwritten(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old").write_bytes(b"precious")
    for command in ("-o old", "-o new --public old"):
        status, _, err = run(capsys, *f"rsa keygen --bits 64 --seed 1 {command}".split())
        assert (status, err) == (2, "coprime: old exists, and a key is never overwritten\n")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_bytes() == b"precious"


def test_relative_cache_folder(tmp_path):
    program = "from coprime.cli import main; raise SystemExit(main())"
    subprocess.run(
        [sys.executable, "-c", program, "run", "fdfm", "MODMUL", "--bits", "64"],
        env=os.environ | {"COPRIME_CACHE": "cache"},
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    assert (tmp_path / "cache" / "simulation").is_dir()


def test_runs_as_a_module_without_a_terminal():
    program = "from coprime.cli import main; raise SystemExit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program, "run", "fdfm", "MODMUL", "--bits", "64"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
