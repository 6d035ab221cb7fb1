"""ECDSA on a simulated accelerator: RFC 6979, cryptography, OpenSSL, all signatures of small
curves; and what surrounds it, on integers."""

import itertools
import random
from functools import partial
from pathlib import Path

import cryptography_vectors
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed

from coprime.device.jobs import EngineError
from coprime.ec import ecdsa, keys
from coprime.ec.weierstrass import CURVES_BY_NAME, curve_named, public_key
from coprime.engine.contract import Command, Error
from coprime.model.curve_points import multiple, signature, verified
from coprime.model.roots import square_root
from coprime.rsa.hashes import digest
from tests.ec.named_curves import KEY_CURVES, marked
from tests.ec.small_curves import CURVES, TINY, points_of
from tests.integers import IntegerCurves, IntegerResult
from tests.openssl import openssl

pytestmark = [pytest.mark.xdist_group("weierstrass"), pytest.mark.covering(1)]

P_256 = curve_named("P-256")
RFC = Path(cryptography_vectors.__file__).parent.joinpath(
    *("asymmetric", "ECDSA", "RFC6979", "evppkey_ecdsa_rfc6979.txt")
)
MESSAGE = b"a message"


# --- RFC 6979 ------------------------------------------------------------------------------------


def rfc_vectors():
    """Curve, private key, hash, message, r and s: appendices A.2.4 to A.2.7."""
    private, tests = {}, []
    blocks = [block.splitlines() for block in RFC.read_text().split("\n\n")]
    for lines in blocks:
        name, _, pem = "\n".join(lines).partition("\n")
        if name.startswith("PrivateKey="):
            private[name.removeprefix("PrivateKey=")] = pem.encode()
        fields = dict(line.split(" = ") for line in lines if " = " in line)
        curve = fields.get("Key", "").removesuffix("_PRIV")
        if "DigestSign" in fields and curve in CURVES_BY_NAME:
            key = keys.parse_private(private[fields["Key"]])
            found = ecdsa.Signature.from_der(bytes.fromhex(fields["Output"]))
            message = fields["Input"].strip('"').encode()
            tests.append((key, fields["DigestSign"].lower(), message, found))
    return tests


def test_every_nonce_of_the_rfc():
    """The nonce follows from the signature and the key: k = (z + r d) / s."""
    tests = rfc_vectors()
    assert len(tests) == 4 * 5 * 2
    assert {key.curve.name for key, *_ in tests} == {"P-224", "P-256", "P-384", "P-521"}
    for key, hash_name, message, found in tests:
        curve, d = key.curve, key.curve.decode_scalar(key.scalar)
        data = digest(hash_name, message)
        z = ecdsa.hashed(curve, data)
        k = next(ecdsa.deterministic(curve, d, data, hash=hash_name))
        assert found.s * k % curve.n == (z + found.r * d) % curve.n, (curve.name, hash_name)


def test_a_nonce_as_the_rfc_prints_it():
    """Appendix A.2.5, of SHA-256 and "sample"."""
    d = 0xC9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721
    k = 0xA6E3C57DD01ABE90086538398355DD4C3B17AA873382B0F24D6129493D8AAD60
    assert next(ecdsa.deterministic(P_256, d, digest("sha256", b"sample"))) == k


def sign_as_the_rfc(accelerator, key, hash_name, message, found):
    curve, d = key.curve, key.curve.decode_scalar(key.scalar)
    nonces = partial(ecdsa.deterministic, hash=hash_name)
    assert ecdsa.sign(accelerator, curve, d, digest(hash_name, message), nonces=nonces) == found


@pytest.mark.matrix
@pytest.mark.parametrize("place", [0, pytest.param(13, marks=pytest.mark.matrix)])
def test_some_signatures_of_the_rfc(weierstrass, place):
    sign_as_the_rfc(weierstrass, *rfc_vectors()[place])


@pytest.mark.matrix
def test_every_signature_of_the_rfc(weierstrass):
    for test in rfc_vectors():
        sign_as_the_rfc(weierstrass, *test)


def test_nonces_are_in_range_and_differ():
    """Of the smallest curve, too, whose nonces are often tried again."""
    for source in (ecdsa.deterministic, ecdsa.random):
        nonces = list(itertools.islice(source(TINY, 5, b"digest"), 300))
        assert set(nonces) == set(range(1, TINY.n))
    for curve in CURVES_BY_NAME.values():
        first, other = (next(ecdsa.random(curve, 5, b"")) for _ in range(2))
        assert first != other
        assert 0 < first < curve.n


def test_the_leftmost_bits_of_a_digest():
    assert ecdsa.hashed(P_256, b"\xff" * 48) == (1 << 256) - 1 - P_256.n
    assert ecdsa.hashed(P_256, b"\1\2") == 0x102
    assert ecdsa.hashed(curve_named("P-521"), b"\xff" * 64) == (1 << 512) - 1
    assert ecdsa.hashed(TINY, b"\xa7") == 0b1010


# --- The other implementations -------------------------------------------------------------------


@pytest.mark.parametrize("name", marked(KEY_CURVES, quick=["secp256k1"]))
def test_both_directions_with_cryptography(weierstrass, name):
    curve = curve_named(name)
    key = keys.CurvePrivateKey.generate(curve)
    d, point = int.from_bytes(key.scalar), curve.decode_point(key.software_public().point)
    theirs, data = ec.derive_private_key(d, keys._LIBRARY[curve]), digest("sha384", MESSAGE)
    known = ec.ECDSA(Prehashed(hashes.SHA384()))
    ours = ecdsa.sign(weierstrass, curve, d, data)
    theirs.public_key().verify(ours.der(), data, known)
    made = ecdsa.Signature.from_der(theirs.sign(data, known))
    ecdsa.verify(weierstrass, curve, point, data, made)


@pytest.mark.matrix
@pytest.mark.parametrize("name", KEY_CURVES)
def test_wrong_signatures_of_every_curve(weierstrass, name):
    curve = curve_named(name)
    key = keys.CurvePrivateKey.generate(curve)
    d, point = int.from_bytes(key.scalar), curve.decode_point(key.software_public().point)
    made = ecdsa.sign(weierstrass, curve, d, digest("sha256", MESSAGE), nonces=ecdsa.random)
    with pytest.raises(ecdsa.InvalidSignatureError):
        ecdsa.verify(weierstrass, curve, point, digest("sha256", b"another"), made)
    with pytest.raises(InvalidSignature):
        ec.derive_private_key(d, keys._LIBRARY[curve]).public_key().verify(
            made.der(), b"another", ec.ECDSA(hashes.SHA256())
        )


@pytest.mark.parametrize(
    "name",
    marked(
        ["P-256", "P-521", "secp256k1", "brainpoolP224r1", "brainpoolP320r1"],
        quick=[],
    ),
)
def test_both_directions_with_openssl(weierstrass, tmp_path, name):
    """Of curves that `cryptography` does not have, too."""
    curve = curve_named(name)
    known = {"P-256": "prime256v1", "P-521": "secp521r1"}.get(name, name)
    options = ["-pkeyopt", f"ec_paramgen_curve:{known}", "-out", tmp_path / "key"]
    openssl("genpkey", "-algorithm", "EC", *options)
    openssl("pkey", "-in", tmp_path / "key", "-pubout", "-out", tmp_path / "public")
    text = openssl("pkey", "-in", tmp_path / "key", "-noout", "-text").decode()
    lines = text.replace(" ", "").splitlines()
    first, last = lines.index("priv:"), lines.index("pub:")
    d = int("".join(lines[first + 1 : last]).replace(":", ""), 16)
    (tmp_path / "message").write_bytes(MESSAGE)
    made = ecdsa.sign(weierstrass, curve, d, digest("sha256", MESSAGE))
    (tmp_path / "signature").write_bytes(made.der())
    openssl(
        *("dgst", "-sha256", "-verify", tmp_path / "public"),
        *("-signature", tmp_path / "signature", tmp_path / "message"),
    )
    theirs = openssl("dgst", "-sha256", "-sign", tmp_path / "key", tmp_path / "message")
    point = multiple(*curve.base, d, **curve.numbers)
    found = ecdsa.Signature.from_der(theirs)
    ecdsa.verify(weierstrass, curve, point, digest("sha256", MESSAGE), found)


# --- Every signature of small curves -------------------------------------------------------------


def operate(accelerator, command, curve, **numbers):
    """The numbers of the result, or the error's code."""
    gx, gy = curve.base
    given = {"gx": gx, "gy": gy, **curve.numbers, **numbers}
    try:
        result = accelerator.operate(command, given)
    except EngineError as error:
        return error.code
    return tuple(result.outputs.values())


def check_signing(accelerator, curve, d, k, z):
    """Whether there is a signature."""
    found = operate(accelerator, Command.ECDSA_SIGN_WITH, curve, d=d, k=k, z=z)
    try:
        expected = signature(z, d, k, *curve.base, **curve.numbers)
    except ValueError:
        expected = Error.OPERAND_RANGE
    assert found == expected, (curve, d, k, z)
    return found is not Error.OPERAND_RANGE


def test_some_signatures_of_the_smallest_curve(weierstrass):
    cases = list(itertools.product(range(1, TINY.n), range(1, TINY.n), range(TINY.n)))
    found = [check_signing(weierstrass, TINY, *case) for case in cases[::37]]
    assert {True, False} == set(found)


@pytest.mark.matrix
def test_every_signature_of_the_smallest_curve(weierstrass):
    """Every d, k and z; r is 0 for the four k whose point has the x of 0 or n."""
    n = TINY.n
    cases = itertools.product(range(1, n), range(1, n), range(n))
    found = [check_signing(weierstrass, TINY, *case) for case in cases]
    assert found.count(False) == 4 * (n - 1) * n + (n - 1) * (n - 1 - 4)


@pytest.mark.matrix
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_random_signatures_of_small_curves(weierstrass, curve):
    source, n = random.Random(7), curve.n
    for _ in range(300):
        d, k, z = source.randrange(1, n), source.randrange(1, n), source.randrange(n)
        check_signing(weierstrass, curve, d, k, z)


def check_verification(accelerator, curve, point, z, r, s):
    x, y = point
    found = operate(accelerator, Command.ECDSA_VERIFY, curve, r=r, s=s, z=z, x=x, y=y)
    try:
        expected = verified(r, s, z, x, y, *curve.base, **curve.numbers)
    except ValueError:
        in_range = 0 < r < curve.n and 0 < s < curve.n
        assert found in ((Error.SIGNATURE, Error.POINT) if in_range else (Error.OPERAND_RANGE,))
        return False
    assert found == (expected,), (curve, point, z, r, s)
    return True


def test_some_verifications_of_the_smallest_curve(weierstrass):
    """Some of them with the valid s of an r, and with r and s at the ends of the range."""
    n, point = TINY.n, points_of(TINY)[4]
    cases = [(z, r, s) for z in (0, 7) for r in (0, 1, 8, n - 1, n) for s in (1, 5, n - 1, n)]
    for case in cases:
        check_verification(weierstrass, TINY, point, *case)
    for d, z in ((3, 0), (12, 12), (1, 7)):
        made = ecdsa.sign(IntegerCurves(), TINY, d, bytes([z << 4]))
        point = multiple(*TINY.base, d, **TINY.numbers)
        assert check_verification(weierstrass, TINY, point, z, made.r, made.s)
        ecdsa.verify(weierstrass, TINY, point, bytes([z << 4]), made)


@pytest.mark.matrix
@pytest.mark.parametrize("z", [0, 1, 6, 12])
def test_every_r_and_s_of_the_smallest_curve(weierstrass, z):
    """Of keys whose points have every x, among them G, -G and points with x = 0."""
    for point in (*points_of(TINY)[::2], TINY.base, multiple(*TINY.base, 12, **TINY.numbers)):
        for r, s in itertools.product(range(TINY.n + 1), repeat=2):
            check_verification(weierstrass, TINY, point, z, r, s)


# --- Errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"z": P_256.n}, Error.OPERAND_RANGE),
        ({"d": P_256.n}, Error.OPERAND_RANGE),
        ({"d": 0}, Error.OPERAND_RANGE),
        ({"k": 0}, Error.OPERAND_RANGE),
    ],
    ids=str,
)
def test_inputs_that_signing_refuses(weierstrass, changes, code):
    given = {"z": 1, "d": 2, "k": 3, **changes}
    assert operate(weierstrass, Command.ECDSA_SIGN_WITH, P_256, **given) is code


def test_a_base_point_that_is_on_no_curve(weierstrass):
    """Sums of a comb's points end on no curve; where n has no comb, the point is looked at."""
    given = {"z": 1, "d": 2, "k": 3, "gy": P_256.base[1] ^ 1}
    found = operate(weierstrass, Command.ECDSA_SIGN_WITH, P_256, **given)
    assert found in (Error.FAULT, Error.POINT)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"r": P_256.n}, Error.OPERAND_RANGE),
        ({"r": 0}, Error.OPERAND_RANGE),
        ({"s": P_256.n}, Error.OPERAND_RANGE),
        ({"s": 0}, Error.OPERAND_RANGE),
        ({"x": P_256.p}, Error.OPERAND_RANGE),
        ({"x": 1, "y": 1}, Error.POINT),
    ],
    ids=str,
)
def test_inputs_that_verification_refuses(weierstrass, changes, code):
    x, y = P_256.base
    given = {"r": 1, "s": 2, "z": 3, "x": x, "y": y, **changes}
    assert operate(weierstrass, Command.ECDSA_VERIFY, P_256, **given) is code


def test_a_hash_that_is_not_below_the_order(weierstrass):
    x, y = P_256.base
    given = {"r": 1, "s": 2, "z": P_256.n, "x": x, "y": y}
    with pytest.raises(ValueError, match="z must be below n"):
        operate(weierstrass, Command.ECDSA_VERIFY, P_256, **given)


# --- What surrounds the accelerator --------------------------------------------------------------


def test_another_nonce_where_r_or_s_is_0():
    """The first nonce that has a signature is taken."""
    accelerator, tried = IntegerCurves(), []

    def every(curve, d, data):
        for k in range(1, curve.n):
            tried.append(k)
            yield k

    for d, z in itertools.product(range(1, TINY.n), range(TINY.n)):
        tried.clear()
        found = ecdsa.sign(accelerator, TINY, d, bytes([z << 4]), nonces=every)
        expected = {}
        for k in range(1, TINY.n):
            try:
                expected[k] = signature(z, d, k, *TINY.base, **TINY.numbers)
            except ValueError:
                continue
        first = min(expected)
        assert (found.r, found.s) == expected[first]
        assert tried == list(range(1, first + 1))


def test_nonces_that_never_have_a_signature():
    def unlucky(curve, d, data):
        k = next(k for k in range(1, TINY.n) if multiple(*TINY.base, k, **TINY.numbers)[0] == 0)
        yield from itertools.repeat(k)

    with pytest.raises(ecdsa.FaultError):
        ecdsa.sign(IntegerCurves(), TINY, 5, b"", nonces=unlucky)


@pytest.mark.parametrize("wrong", [lambda r, s: (r ^ 1, s), lambda r, s: (r, s ^ 1)])
def test_a_wrong_result_is_not_returned(wrong):
    class Faulty(IntegerCurves):
        def operate(self, command, numbers):
            outputs = super().operate(command, numbers).outputs
            r, s = wrong(outputs["r"], outputs.get("s", 0))
            changed = {**outputs, "r": r, "s": s} if "s" in outputs else {"r": r | s << 1024}
            return IntegerResult(0, outputs=changed)

    with pytest.raises(ecdsa.FaultError):
        ecdsa.sign(Faulty(), P_256, 5, b"digest")
    point, made = public_key(IntegerCurves(), P_256, 5), ecdsa.sign(IntegerCurves(), P_256, 5, b"")
    with pytest.raises(ecdsa.FaultError):
        ecdsa.verify(Faulty(), P_256, point, b"", made)


def test_a_signature_of_another_number_is_not_returned():
    """One that is consistent in itself, with an r that is not that of k G."""
    curve, d, z = P_256, 5, ecdsa.hashed(P_256, b"digest")

    class Faulty(IntegerCurves):
        def operate(self, command, numbers):
            r = super().operate(command, numbers).outputs["r"] ^ 1
            s = (z + r * d) * pow(numbers["k"], -1, curve.n) % curve.n
            return IntegerResult(0, outputs={"r": r, "s": s})

    public = public_key(IntegerCurves(), curve, d)
    assert ecdsa.sign(Faulty(), curve, d, b"digest")  # nobody has looked
    with pytest.raises(ecdsa.FaultError):
        ecdsa.sign(Faulty(), curve, d, b"digest", public=public)
    assert ecdsa.sign(IntegerCurves(), curve, d, b"digest", public=public)


def test_low_s():
    accelerator, found = IntegerCurves(), set()
    curve = curve_named("secp256k1")
    point = public_key(accelerator, curve, 5)
    for message in range(8):
        data = digest("sha256", bytes([message]))
        plain = ecdsa.sign(accelerator, curve, 5, data)
        low = ecdsa.sign(accelerator, curve, 5, data, low_s=True)
        high = ecdsa.Signature(low.r, curve.n - low.s)
        assert plain in (low, high)
        assert low.s <= curve.n // 2
        ecdsa.verify(accelerator, curve, point, data, low, low_s=True)
        ecdsa.verify(accelerator, curve, point, data, high)
        with pytest.raises(ecdsa.InvalidSignatureError):
            ecdsa.verify(accelerator, curve, point, data, high, low_s=True)
        found.add(plain == low)
    assert found == {True, False}


def test_encodings():
    made = ecdsa.Signature(1, P_256.n - 1)
    assert ecdsa.Signature.from_der(made.der()) == made
    assert made.raw(P_256) == bytes(31) + b"\1" + P_256.encode_scalar(P_256.n - 1)
    assert ecdsa.Signature.from_raw(P_256, made.raw(P_256)) == made
    assert len(made.raw(curve_named("P-521"))) == 132
    for data in (b"", made.der() + b"\0", made.der()[:-1], made.raw(P_256)):
        with pytest.raises(ecdsa.InvalidSignatureError):
            ecdsa.Signature.from_der(data)
    for data in (b"", made.raw(P_256) + b"\0", made.raw(P_256)[1:]):
        with pytest.raises(ecdsa.InvalidSignatureError):
            ecdsa.Signature.from_raw(P_256, data)


@pytest.mark.matrix(quick=4)
@pytest.mark.parametrize(
    "curve",
    [
        *(
            pytest.param(curve, marks=[pytest.mark.matrix] * (curve.p.bit_length() > 256))
            for curve in CURVES_BY_NAME.values()
        ),
        *CURVES,
    ],
    ids=lambda one: one.name,
)
def test_the_public_key_is_recovered(curve):
    """Of both signs of y; on small curves also of x over n, and of z = 0."""
    recoveries, generator = set(), random.Random(1)
    for _ in range(4 if curve.n > 1000 else 200):
        d, k = generator.randrange(1, curve.n), generator.randrange(1, curve.n)
        digest = generator.randbytes(32)
        x, _ = multiple(*curve.base, k, **curve.numbers)
        r = x % curve.n
        s = pow(k, -1, curve.n) * (ecdsa.hashed(curve, digest) + r * d) % curve.n
        if not r or not s:
            continue
        public = multiple(*curve.base, d, **curve.numbers)
        made = ecdsa.Signature(r, s)
        encoded = made.recoverable(curve, public, digest)
        found, recovery = ecdsa.Signature.from_recoverable(curve, encoded)
        assert found == made
        assert ecdsa.recovered(curve, digest, made, recovery) == public
        recoveries.add(recovery)
        other = ecdsa.Signature(r, s % (curve.n - 1) + 1)
        if curve.n > 1000:
            with pytest.raises(ecdsa.InvalidSignatureError):
                other.recoverable(curve, public, digest)
    assert {0, 1} <= recoveries
    if curve.p > curve.n + 4 and curve.n < 1000:
        assert recoveries & {2, 3}


def test_no_key_is_recovered():
    made, digest = ecdsa.Signature(5, 7), bytes(32)
    for data in (b"", made.raw(P_256), made.raw(P_256) + b"\4", made.raw(P_256)[1:] + b"\0"):
        with pytest.raises(ecdsa.InvalidSignatureError):
            ecdsa.Signature.from_recoverable(P_256, data)
    for wrong in (ecdsa.Signature(0, 7), ecdsa.Signature(5, P_256.n)):
        with pytest.raises(ecdsa.InvalidSignatureError):
            ecdsa.recovered(P_256, digest, wrong, 0)
    on_no_curve = next(r for r in range(1, 99) if not _has_x(r))
    with pytest.raises(ecdsa.InvalidSignatureError):
        ecdsa.recovered(P_256, digest, ecdsa.Signature(on_no_curve, 7), 0)
    with pytest.raises(ecdsa.InvalidSignatureError):  # r + n is over p
        ecdsa.recovered(P_256, digest, ecdsa.Signature(P_256.n - 1, 7), 2)


def _has_x(x):
    return square_root((x**3 + P_256.a * x + P_256.b) % P_256.p, P_256.p) is not None


def test_inputs_that_the_driver_refuses():
    accelerator, made = IntegerCurves(), ecdsa.Signature(1, 1)
    for d in (0, P_256.n):
        with pytest.raises(ValueError, match="a scalar of P-256 is from 1"):
            ecdsa.sign(accelerator, P_256, d, b"")
    with pytest.raises(ValueError, match="a scalar of P-256 is from 1"):
        ecdsa.sign(accelerator, P_256, 5, b"", nonces=lambda *_: iter([0]))
    with pytest.raises(ValueError, match="the hash must be one of"):
        ecdsa.sign(accelerator, P_256, 5, b"", nonces=partial(ecdsa.deterministic, hash="md5"))
    with pytest.raises(ValueError, match="the point is not on P-256"):
        ecdsa.verify(accelerator, P_256, (1, 1), b"", made)
    for r, s in ((0, 1), (1, 0), (P_256.n, 1), (1, P_256.n)):
        with pytest.raises(ecdsa.InvalidSignatureError):
            ecdsa.verify(accelerator, P_256, P_256.base, b"", ecdsa.Signature(r, s))
