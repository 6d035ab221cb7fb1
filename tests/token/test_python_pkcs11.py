"""python-pkcs11's own tests, of its source distribution, with our module."""

import re
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from tests.token.tokens import OFFICER_PIN, PIN

pytestmark = [pytest.mark.xdist_group("token"), pytest.mark.clients]

VERSION = "0.10.1"
DESELECTED = (
    "tests/test_ecc.py::ECCTests::test_derive_key",
    "tests/test_sessions.py::SessionTests::test_destroy_object",
    "tests/test_ml_kem.py::MLKEMTests::test_encapsulate_decapsulate_1_AES_128",
)
"""On a curve of 192 bits, which the token does not have; one that expects a token without keys to
show no object, where this one shows its profiles; and one with half of a secret of ML-KEM."""
SKIPPED = {
    "AES_MAC": 2,
    "DES": 4,
    "Diffie-Hellman": 2,
    "DSA": 4,
    "only for SoftHSM": 8,
    "another module": 1,
}
"""Numbers of tests that skip themselves, as docs/token/python-pkcs11.md explains."""

# The first mechanism, of those that a test asks for, that the token lacks.
MECHANISMS = {
    "AES_MAC": {0x1083},
    "DES": {0x130, 0x131, 0x136},
    "Diffie-Hellman": {0x20, 0x21, 0x2001},
    "DSA": {0x10, 0x12, 0x2000},
}


def reason_of(line):
    """The name in SKIPPED of what pytest says."""
    if "SoftHSMv2 only" in line:
        return "only for SoftHSM"
    if "additional PKCS#11 module" in line:
        return "another module"
    numbers = {int(number) for number in re.findall(r"\d+", line.partition("Requires ")[2])}
    (name,) = (name for name, known in MECHANISMS.items() if numbers and numbers <= known)
    return name


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """A folder with the tests, and a Python that has what they import."""
    folder = tmp_path_factory.mktemp("python-pkcs11")
    python = folder / "environment" / "bin" / "python"
    packages = (f"python-pkcs11=={VERSION}", "pytest", "parameterized", "cryptography")
    pip = (python, "-m", "pip", "-q", "--disable-pip-version-check")
    source = ("--no-deps", "--no-binary", "python-pkcs11", "-d", folder, packages[0])
    for command in (
        (sys.executable, "-m", "venv", folder / "environment"),
        (*pip, "install", *packages),
        (*pip, "download", *source),
    ):
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"pip cannot install python-pkcs11 {VERSION}: {done.stderr[-200:]}")
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    (tests,) = folder.glob("*/tests")
    (folder / "run").mkdir()
    tests.rename(folder / "run" / "tests")  # without the package's source beside them
    return folder / "run", python


def test_no_failure(token, suite):
    folder, python = suite
    settings = {
        "COPRIME_TOKEN_DEVICE": "software",
        # All keys of AES have CKA_WRAP there, also derived ones.
        "COPRIME_TOKEN_ALLOW": "weak-rsa,reveal-wrapped",
        "PKCS11_MODULE": str(token.module),
        "PKCS11_TOKEN_LABEL": "t1",
        "PKCS11_TOKEN_PIN": PIN,
        "PKCS11_TOKEN_SO_PIN": OFFICER_PIN,
    }
    others = [*Path("/usr/lib").glob("*/pkcs11/p11-kit-trust.so")]
    if others:
        settings["PKCS11_MODULE2"] = str(others[0])
    command = ("-m", "pytest", "-q", "-rs", "tests", *(f"--deselect={name}" for name in DESELECTED))
    said = token.run(python, *command, environment=settings, cwd=folder)
    skipped = Counter()
    for count, line in re.findall(r"^SKIPPED \[(\d+)\] (.*)$", said, re.MULTILINE):
        skipped[reason_of(line)] += int(count)
    expected = dict(SKIPPED)
    if others:
        del expected["another module"]
    assert skipped == expected, said
    passed = re.search(r"(\d+) passed", said)
    assert passed
    assert int(passed[1]) + skipped.total() == 160
