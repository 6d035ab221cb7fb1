"""EdDSA on a simulated device against the library, and every point of small Edwards curves."""

import itertools
import random
import re
from pathlib import Path

import cryptography_vectors
import pytest
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from coprime.device.jobs import EngineError
from coprime.ec import eddsa
from coprime.ec.eddsa import FaultError, InvalidSignatureError
from coprime.ec.edwards import ED448, ED25519, Variant
from coprime.ec.samples import curve_for, curve_numbers
from coprime.engine.contract import Command, Error
from coprime.model import edwards_points
from tests.ec.small_edwards import CURVES, points_of

pytestmark = [pytest.mark.xdist_group("edwards"), pytest.mark.covering(1)]

LIBRARY = {ED25519: Ed25519PrivateKey, ED448: Ed448PrivateKey}
CTX = {  # RFC 8032, 7.2 and 7.3: curve, variant, context, private key, message, signature
    "Ed25519ctx": (
        ED25519,
        False,
        "666f6f",
        "0305334e381af78f141cb666f6199f57bc3495335a256a95bd2a55bf546663f6",
        "f726936d19c800494e3fdaff20b276a8",
        "55a4cc2f70a54e04288c5f4cd1e45a7bb520b36292911876cada7323198dd87a"
        "8b36950b95130022907a7fb7c4e9b2d5f6cca685a587b4b21f4b888e4e7edb0d",
    ),
    "Ed25519ph": (
        ED25519,
        True,
        "",
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "616263",
        "98a70222f0b8121aa9d30f813d683f809e462b469c7ff87639499bb94e6dae41"
        "31f85042463c2a355a2003d062adf5aaa10b8c61e636062aaad11c2a26083406",
    ),
}


def private_of(curve, seed):
    return random.Random(seed).randbytes(curve.size)


@pytest.mark.matrix
@pytest.mark.parametrize("curve", [ED25519, pytest.param(ED448, marks=pytest.mark.matrix)])
def test_as_the_library(curve, edwards):
    private = private_of(curve, 1)
    own = LIBRARY[curve].from_private_bytes(private)
    public = eddsa.public_key(edwards, curve, private)
    assert public == own.public_key().public_bytes_raw()
    signature = eddsa.sign(edwards, curve, private, b"message", public=public)
    assert signature == own.sign(b"message")
    eddsa.verify(edwards, curve, public, b"message", signature)
    for wrong in (b"another", b""):
        with pytest.raises(InvalidSignatureError):
            eddsa.verify(edwards, curve, public, wrong, signature)


@pytest.mark.vectors
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.matrix] * (one == "Ed25519ctx")) for one in CTX]
)
def test_vectors_of_the_rfc(name, edwards):
    curve, prehashed, context, private, message, expected = CTX[name]
    private, message, context, expected = map(bytes.fromhex, (private, message, context, expected))
    public = eddsa.public_key(edwards, curve, private)
    variant, other = Variant(prehashed, context), Variant(prehashed, b"bar")
    assert eddsa.sign(edwards, curve, private, message, variant, public=public) == expected
    eddsa.verify(edwards, curve, public, message, expected, variant)
    with pytest.raises(InvalidSignatureError):
        eddsa.verify(edwards, curve, public, message, expected, other)


FOLDER = Path(cryptography_vectors.__file__).parent / "asymmetric"


def vectors_of_ed448():
    """Of RFC 8032, 7.4."""
    for block in (FOLDER / "Ed448" / "rfc8032.txt").read_text().split("COUNT = ")[1:]:
        fields = dict(re.findall(r"^(\w+) =[ ]?(\w*)$", block, re.M))
        yield [
            bytes.fromhex(fields.get(name, ""))
            for name in ("SECRET", "PUBLIC", "MESSAGE", "CONTEXT", "SIGNATURE")
        ]


def vectors_of_ed25519():
    """Those of the authors of Ed25519, among them those of RFC 8032, 7.1."""
    for line in (FOLDER / "Ed25519" / "sign.input").read_text().split():
        private, public, message, signed = map(bytes.fromhex, line.split(":")[:4])
        yield private[:32], public, message, b"", signed[:64]


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("curve", "vectors"), [(ED448, vectors_of_ed448), (ED25519, vectors_of_ed25519)]
)
def test_vectors(curve, vectors, edwards):
    found = list(vectors())
    assert len(found) == {ED448: 9, ED25519: 1024}[curve]
    for private, public, message, context, expected in found[:: 1 if curve is ED448 else 16]:
        variant = Variant(context=context)
        assert eddsa.public_key(edwards, curve, private) == public
        assert eddsa.sign(edwards, curve, private, message, variant, public=public) == expected
        eddsa.verify(edwards, curve, public, message, expected, variant)


def test_what_is_no_signature(edwards):
    private = private_of(ED25519, 2)
    own = Ed25519PrivateKey.from_private_bytes(private)
    public, signature = own.public_key().public_bytes_raw(), own.sign(b"")
    s = int.from_bytes(signature[32:], "little") + ED25519.n
    for wrong in (signature[:-1], signature[:32] + s.to_bytes(32, "little"), b"\xff" * 64):
        with pytest.raises(InvalidSignatureError):
            eddsa.verify(edwards, ED25519, public, b"", wrong)
    with pytest.raises(ValueError, match="the bytes are no point of Ed25519"):
        eddsa.verify(edwards, ED25519, b"\xff" * 32, b"", signature)
    with pytest.raises(ValueError, match="a private key of Ed25519 has 32 bytes, not 31"):
        eddsa.public_key(edwards, ED25519, private[1:])
    with pytest.raises(ValueError, match="a context has 255 bytes at most, not 256"):
        Variant(context=bytes(256))


def test_another_public_key_is_refused(edwards):
    """Two signatures of one message with two public keys would reveal the private key."""
    other = Ed25519PrivateKey.from_private_bytes(private_of(ED25519, 4)).public_key()
    with pytest.raises(FaultError):
        eddsa.sign(edwards, ED25519, private_of(ED25519, 3), b"", public=other.public_bytes_raw())


@pytest.mark.parametrize("name", ["x", "y", "gx", "d"])
def test_points_that_are_on_no_curve(name, edwards):
    command = Command.ED_BASE_MULTIPLY if name in ("gx", "d") else Command.ED_VERIFY
    numbers = curve_numbers(command, curve_for(command, "Ed25519"), random.Random(5))
    with pytest.raises(EngineError) as found:
        edwards.operate(command, numbers | {name: numbers[name] ^ 2})
    of_result = Error.FAULT if edwards.checked else Error.POINT
    assert found.value.code is (Error.POINT if name in ("x", "y") else of_result)


@pytest.mark.parametrize(
    "curve",
    [pytest.param(one, marks=[pytest.mark.matrix] * (k % 2)) for k, one in enumerate(CURVES)],
    ids=lambda one: one.name,
)
def test_every_multiple_of_a_small_curve(curve, edwards):
    gx, gy = curve.base
    for k in range(curve.n):
        numbers = {"k": k, "gx": gx, "gy": gy, **curve.numbers}
        found = edwards.operate(Command.ED_BASE_MULTIPLY, numbers).outputs
        expected = edwards_points.multiple(curve.base, k, curve.a, curve.d, curve.p)
        assert (found["x"], found["y"]) == expected


def verifies(device, curve, point, r, s, h):
    (x, y), (xr, yr), (gx, gy) = point, r, curve.base
    numbers = {"x": x, "y": y, "xr": xr, "yr": yr, "s": s, "h": h, "gx": gx, "gy": gy}
    try:
        device.operate(Command.ED_VERIFY, numbers | curve.numbers)
    except EngineError as error:
        assert error.code is Error.SIGNATURE
        return False
    return True


@pytest.mark.parametrize("curve", CURVES[:1], ids=lambda one: one.name)
@pytest.mark.matrix
def test_every_public_key_of_a_small_curve(curve, edwards):
    """Those of low order are among them."""
    given = (curve.a, curve.d, curve.p)
    for point in points_of(curve):
        for s, h in ((0, 0), (1, 0), (0, 1), (1, 1), (curve.n - 1, 2), (3, curve.n - 1)):
            r = edwards_points.joint_multiple(s, h, point, curve.base, given)
            assert verifies(edwards, curve, point, r, s, h)
            wrong = edwards_points.add(r, curve.base, *given)
            assert not verifies(edwards, curve, point, wrong, s, h)


@pytest.mark.matrix
@pytest.mark.parametrize("curve", CURVES[:4], ids=lambda one: one.name)
def test_every_verification_of_a_small_curve(curve, edwards):
    points, numbers = points_of(curve), range(curve.n)
    for point, s, h in itertools.product(points, numbers, numbers):
        r = edwards_points.joint_multiple(s, h, point, curve.base, (curve.a, curve.d, curve.p))
        assert verifies(edwards, curve, point, r, s, h)
