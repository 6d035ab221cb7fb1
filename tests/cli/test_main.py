"""What all commands share: the version, one sentence where input is bad, pipes."""

import json
import os
import subprocess
import sys

import pytest

from coprime import __version__
from coprime.device import simulated
from coprime.flow.cache import cache_folder
from tests.cli.command import run


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"coprime {__version__}\n", "")


# Those that docs/errors.md shows are in wrong_inputs.py.
BAD = [
    (["build", "fdfm", "-p", "size=1", "-o", "x"], "fdfm has no parameter 'size'"),
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
    (["run", "fdfm", "MODMUL", "--x", "9", "--y", "1", "--m", "7"], "needs --x below --m"),
    (["run", "fdfm", "MODMUL", "--bits", "64", "--x", "1"], "--bits makes all operands"),
    (["run", "montgomery-r2", "MODMUL", "--bits", "4097"], "(not 4097); these take them: fdfm,"),
    (["run", "fdfm", "MODMUL", "--bits", "65535"], "(not 65535); no family takes more"),
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
    (
        ["run", "fdfm", "RSA_PRIVATE", "-p", "max_bits=512", "--bits", "600"],
        "fdfm with max_bits=512 takes moduli of up to 512 bits (not 600); set -p max_bits=2176, or",
    ),
    (
        [
            "run",
            "cluster",
            "MODEXP",
            "-p",
            "max_bits=64",
            "--x",
            "2",
            "--e",
            f"{1 << 64:x}",
            "--m",
            "7",
        ],
        "takes exponents of up to 64 bits (not 65); set -p max_bits=2176, or leave it out",
    ),
    (["run", "cluster", "MODMUL", "--x", "2", "--y", "2", "--m", "8"], "is even"),
    (
        ["run", "compression", "MODMUL", "--x", "16", "--y", "1", "--m", "15"],
        "MODMUL needs --x below --m",
    ),
    (["soc", "karatsuba", "--bits", "5000"], "the firmware takes keys of up to 4096 bits"),
    (["soc", "karatsuba", "-p", "max_bits=64", "--bits", "128"], "(not 128); set -p max_bits=2048"),
    (["soc", "karatsuba", "--bits", "65535"], "no family takes more"),
    (["soc", "direct", "--bits", "64"], "direct has no RSA_PRIVATE for any key"),
    (["soc", "fdfm", "--bits", "32"], "bits must be in 64..65535, not 32"),
    (["demo", "--bits", "65535"], "no family takes more"),
    (["rsa", "keygen", "--bits", "99999999999", "-o", "k"], "--bits must be in 64..8192"),
    (["rsa", "keygen", "--bits", "64", "--exponent", "1125899906842625", "-o", "k"], "118 bits"),
    (["rsa", "keygen", "-o", "k", "--public", "k"], "--public and -o must name two files"),
    (["rsa", "encrypt", "--key", "k", "--padding", "pkcs1", "--label", "00"], "takes no --label"),
    (["rsa", "sign", "--key", "k", "--padding", "pkcs1", "--mgf-hash", "sha1"], "no --mgf-hash"),
    (
        [*"rsa verify --key k --signature s --padding pkcs1 --salt-length max".split()],
        "--padding pkcs1 takes no --salt-length",
    ),
    (
        ["rsa", "sign", "--key", "k", "--salt-length", "-1"],
        "argument --salt-length: 0 or more bytes, digest, max or auto, not '-1'",
    ),
    (["rsa", "sign", "--key", "k", "--hash", "md5"], "argument --hash: there is no 'md5'"),
    (["rsa", "encrypt", "--key", "k", "--label", "zz"], "argument --label: not hexadecimal bytes"),
    (["rsa", "decrypt", "--key", "none.pem"], "none.pem"),
    (["build", "clustr", "-o", "x"], "no family is called 'clustr'; did you mean cluster?"),
    (["build", "cluster", "-p", "engine=cluster", "-o", "x"], "no family is called 'cluster'"),
    (["build", "cluster", "-p", "word=8", "-o", "x"], "fdfm has no parameter 'word'"),
    (["build", "fdfm", "--bus", "ahb", "-o", "x"], "argument --bus: there is no 'ahb'"),
    (["run", "fdfm", "MODMUL", "--bits", "64", "--requests", "2"], "--requests is for a cluster"),
    (["synth", "cluster", "--target", "ecp5", "--board", "ulx3s"], "is for one engine"),
    (["run", "compression", "MODMUL", "--m", "d01", "--x", "1"], "--y is missing"),
    (["run", "compression", "MODMUL", "--m", "d01", "--e", "1", "--explain"], "--x is missing"),
    (["run", "compression", "MODMUL", "--explain"], "--explain needs the modulus: --m HEX"),
    (["run", "compression", "MODMUL", "--m", "2", "--explain"], "must be 3 or more"),
    (["run", "compression", "MODMUL", "-p", "modulus=kybr", "--explain"], "did you mean kyber?"),
    (["run", "direct", "MODMUL", "--m", "d01", "--explain"], "leaves its product to synthesis"),
    (["run", "fdfm", "MODMUL", "--m", "d01", "--explain"], "--explain is for compression"),
]


@pytest.mark.parametrize(("arguments", "sentence"), BAD)
def test_bad_input(capsys, tmp_path, monkeypatch, arguments, sentence):
    """Nothing is written, and nothing is built first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(simulated, "build_simulation", None)
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.matrix
def test_relative_cache_folder_without_a_terminal(tmp_path):
    """The first run compiles, and says so if that takes long; the second one does not."""
    built = cache_folder() / "verilated"  # Verilator's own sources, the same for every design
    built.mkdir(parents=True, exist_ok=True)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "verilated").symlink_to(built)
    program = "from coprime.cli import main; raise SystemExit(main())"
    first, second = (
        subprocess.run(
            [sys.executable, "-c", program, "run", "fdfm", "MODMUL", "--bits", "64", "--json"],
            env=os.environ | {"COPRIME_CACHE": "cache"},
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        )
        for _ in range(2)
    )
    assert (tmp_path / "cache" / "simulation").is_dir()
    assert json.loads(first.stdout)["ok"]
    # On a busy machine anything may take long, but nothing is compiled twice.
    allowed = {
        "coprime: generating the Verilog ...",
        "coprime: simulating MODMUL on fdfm ...",
    }
    compiling = {
        "coprime: compiling Verilator's own sources ...",
        "coprime: compiling the simulation with Verilator ...",
    }
    assert set(first.stderr.splitlines()) <= allowed | compiling
    assert set(second.stderr.splitlines()) <= allowed
