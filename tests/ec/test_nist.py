"""NIST's files of ECDSA and ECDH that come with `cryptography`, through a simulated accelerator.

ECDSA: SigGen and SigVer of FIPS 186-3; ECDH: the responder's file of the validity test for the
static unified scheme. P-192 is left out, as it is no curve of ours.
"""

import re
from pathlib import Path

import cryptography_vectors
import pytest

from coprime.ec import ecdsa
from coprime.ec.weierstrass import CURVES_BY_NAME, shared_secret
from coprime.engine.contract import Command
from coprime.rsa.hashes import digest
from tests.ec.test_ecdsa import operate

FOLDER = Path(cryptography_vectors.__file__).parent / "asymmetric"
OF_ECDH = FOLDER / "ECDH" / "KASValidityTest_ECCStaticUnified_NOKC_ZZOnly_resp.fax"
NAMES = ("P-224", "P-256", "P-384", "P-521")
SETS = dict(zip(("EB", "EC", "ED", "EE"), NAMES, strict=True))


def read_tests(path):
    """Each test's section and fields; a test ends with an empty line."""
    section, fields = "", {}
    for line in [*path.read_text("ascii").splitlines(), ""]:
        if line.startswith("["):
            section = line.strip("[]")
        elif " = " in line:
            name, fields[name] = line.split(" = ")[0], line.split(" = ")[1]
        elif fields:
            yield section, fields
            fields = {}


def ecdsa_tests(file, name):
    """The curve, the digest of the message, and the numbers of each test of a curve."""
    curve = CURVES_BY_NAME[name]
    for section, fields in read_tests(FOLDER / "ECDSA" / "FIPS_186-3" / file):
        of_curve, hash_name = section.split(",")
        if of_curve == name:
            message = digest(hash_name.replace("-", "").lower(), bytes.fromhex(fields["Msg"]))
            numbers = {
                key: int(value, 16)
                for key, value in fields.items()
                if re.fullmatch("[0-9a-f]+", value) and key != "Msg"
            }
            yield curve, message, numbers, fields.get("Result", "")


def check_generation(accelerator, tests):
    for curve, message, numbers, _ in tests:
        given = {"d": numbers["d"], "k": numbers["k"], "z": ecdsa.hashed(curve, message)}
        found = operate(accelerator, Command.ECDSA_SIGN_WITH, curve, **given)
        assert found == (numbers["R"], numbers["S"])


def check_verification(accelerator, tests):
    for curve, message, numbers, result in tests:
        point, signature = (
            (numbers["Qx"], numbers["Qy"]),
            ecdsa.Signature(numbers["R"], numbers["S"]),
        )
        if result.startswith("P"):
            ecdsa.verify(accelerator, curve, point, message, signature)
        else:
            with pytest.raises((ecdsa.InvalidSignatureError, ValueError)):
                ecdsa.verify(accelerator, curve, point, message, signature)


def ecdh_tests(name):
    """The curve, and the fields of each test whose result is about Z and the other's point."""
    for section, fields in read_tests(OF_ECDH):
        if SETS.get(section[:2]) == name and "Z" in fields and "IUT's" not in fields["Result"]:
            yield CURVES_BY_NAME[name], fields


def check_ecdh(accelerator, tests):
    for curve, fields in tests:
        x, y, scalar = (int(fields[one], 16) for one in ("QsCAVSx", "QsCAVSy", "dsIUT"))
        size = -(-curve.p.bit_length() // 8)
        result = fields["Result"][:4]
        if result in ("F (1", "F (2"):
            with pytest.raises(ValueError):
                shared_secret(accelerator, curve, scalar, (x, y))
        else:
            found = shared_secret(accelerator, curve, scalar, (x, y))
            assert (found == int(fields["Z"], 16).to_bytes(size)) == result.startswith("P")


CHECKS = {
    "SigGen": (check_generation, lambda name: ecdsa_tests("SigGen.txt", name), 75),
    "SigVer": (check_verification, lambda name: ecdsa_tests("SigVer.rsp", name), 75),
    "ECDH": (check_ecdh, ecdh_tests, 24),
}
"""What runs a file's tests, what reads those of a curve, and how many those are."""


@pytest.mark.covering(1)
@pytest.mark.xdist_group("weierstrass")
@pytest.mark.parametrize(("kind", "place"), [("SigGen", 7), ("SigVer", 3), ("ECDH", 5)])
def test_some_of_a_file(weierstrass, kind, place):
    check, read, _ = CHECKS[kind]
    check(weierstrass, list(read("P-224"))[place : place + 1])


@pytest.mark.covering(1)
@pytest.mark.vectors
@pytest.mark.parametrize("kind", CHECKS)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.xdist_group(f"wycheproof {name}")) for name in NAMES],
)
def test_all_of_a_file(weierstrass, kind, name):
    check, read, count = CHECKS[kind]
    tests = list(read(name))
    assert len(tests) == count
    check(weierstrass, tests)
