"""Points of short Weierstrass curves on a simulated accelerator: cryptography, OpenSSL, curves of a
few points."""

import itertools
import random

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from coprime.catalog import choose
from coprime.device.cluster import Cluster
from coprime.device.jobs import EngineError
from coprime.device.keyed_cluster import KeyedCluster
from coprime.device.simulated import open_cluster
from coprime.ec import ecdsa, exchange, keys
from coprime.ec.weierstrass import (
    CURVES,
    WeierstrassCurve,
    check_on_device,
    curve_named,
    multiply,
    public_key,
    shared_secret,
)
from coprime.engine.contract import Command, Error
from coprime.model.curve_points import multiple
from tests.ec import small_curves
from tests.ec.named_curves import KEY_CURVES, marked
from tests.ec.small_curves import TINY, points_of
from tests.openssl import openssl

pytestmark = [pytest.mark.xdist_group("weierstrass"), pytest.mark.covering(1)]

P_256 = curve_named("P-256")
SHORT = WeierstrassCurve("modulo 2^17 - 1", p=131071, a=5, b=24, n=130639, base=(7, 87503))
"""-p^-1 is 1 modulo 2^17: the engine's numbers have a digit less than the length says."""


@pytest.mark.parametrize("name", marked(KEY_CURVES, quick=["brainpoolP256r1"]))
def test_both_directions_with_cryptography(weierstrass, name):
    """Their secret with our public key is our secret with theirs."""
    own, theirs = (keys.CurvePrivateKey.generate(keys.CURVES[name]) for _ in range(2))
    public = exchange.public_key(weierstrass, own)
    assert public == own.software_public()
    secret = exchange.shared_secret(weierstrass, own, theirs.software_public())
    library = ec.derive_private_key(int.from_bytes(theirs.scalar), keys._LIBRARY[keys.CURVES[name]])
    ours = ec.EllipticCurvePublicKey.from_encoded_point(library.curve, public.point)
    assert secret == library.exchange(ec.ECDH(), ours)


@pytest.mark.parametrize("name", marked(["P-256", "brainpoolP224r1", "brainpoolP320r1"], quick=[]))
def test_secrets_agree_with_openssl(weierstrass, tmp_path, name):
    """Of curves that `cryptography` does not have, too; our public key goes to OpenSSL."""
    curve, d = curve_named(name), random.Random(name).getrandbits(200)
    a, b, shared = (tmp_path / one for one in ("a.pem", "b.der", "a.der"))
    known = "prime256v1" if name == "P-256" else name
    for path, form in ((a, "PEM"), (b, "DER")):
        options = ["-pkeyopt", f"ec_paramgen_curve:{known}", "-outform", form, "-out", path]
        openssl("genpkey", "-algorithm", "EC", *options)
    openssl("pkey", "-in", a, "-pubout", "-outform", "DER", "-out", shared)
    encoded = shared.read_bytes()
    size = 1 + 2 * curve.size
    theirs = curve.decode_point(encoded[-size:])
    ours = encoded[:-size] + curve.encode_point(public_key(weierstrass, curve, d))
    (tmp_path / "ours.der").write_bytes(ours)
    peer = ["-peerkey", tmp_path / "ours.der", "-peerform", "DER"]
    expected = openssl("pkeyutl", "-derive", "-inkey", a, *peer)
    assert shared_secret(weierstrass, curve, d, theirs) == expected


@pytest.mark.parametrize("k", [1, 2, 777, SHORT.n - 1])
def test_the_shortest_field_whose_numbers_have_a_digit_less(weierstrass, k):
    expected = multiple(*SHORT.base, k, **SHORT.numbers)
    assert multiply(weierstrass, SHORT, k, SHORT.base) == expected


def test_the_curves_are_those_of_cryptography():
    """Prime and order, by the base point: OpenSSL knows both."""
    for name in KEY_CURVES:
        curve = curve_named(name)
        named = keys._LIBRARY[curve]
        base = ec.derive_private_key(1, named).public_key().public_numbers()
        assert (base.x, base.y) == curve.base
        assert curve.has(curve.base)
        assert named.key_size == curve.p.bit_length()
        last = ec.derive_private_key(curve.n - 1, named).public_key().public_numbers()
        assert (last.x, last.y) == (curve.base[0], curve.p - curve.base[1])
    for curve in CURVES:
        x, y = curve.base
        assert multiple(x, y, curve.n - 1, **curve.numbers) == (x, curve.p - y)


# --- Every point and every scalar of small curves ------------------------------------------------


def check_multiples(accelerator, curve, points, scalars):
    for point in points:
        for k in scalars:
            assert multiply(accelerator, curve, k, point) == multiple(*point, k, **curve.numbers)
        with pytest.raises(EngineError) as found:
            operate(accelerator, curve, k=0, point=point)
        assert found.value.code is Error.OPERAND_RANGE


def test_every_point_of_the_plane_is_checked(weierstrass):
    """EC_CHECK gives x of a point on the curve; of any other an error, before anything is lost."""
    found = set()
    for point in itertools.product(range(TINY.p + 1), repeat=2):
        try:
            assert check_on_device(weierstrass, TINY, point) == point
            found.add(point)
        except EngineError as error:
            expected = Error.OPERAND_RANGE if TINY.p in point else Error.POINT
            assert error.code is expected
    assert found == set(points_of(TINY))


@pytest.mark.parametrize("name", marked([one.name for one in CURVES], quick=["P-256"]))
def test_base_points_are_checked(weierstrass, name):
    curve = curve_named(name)
    x, y = curve.base
    assert check_on_device(weierstrass, curve, curve.base) == curve.base
    with pytest.raises(EngineError) as found:
        check_on_device(weierstrass, curve, (x, y ^ 1))
    assert found.value.code is Error.POINT


def operate(accelerator, curve, k, point, **changes):
    numbers = {"x": point[0], "y": point[1], "k": k, **curve.numbers, **changes}
    return accelerator.operate(Command.EC_MULTIPLY, numbers)


def test_every_multiple_of_every_point(weierstrass):
    check_multiples(weierstrass, TINY, points_of(TINY), range(1, TINY.n))


@pytest.mark.matrix
@pytest.mark.parametrize("curve", small_curves.CURVES, ids=lambda curve: curve.name)
def test_every_multiple_of_every_point_of_more_curves(weierstrass, curve):
    check_multiples(weierstrass, curve, points_of(curve), range(1, curve.n))


@pytest.mark.parametrize("curve", small_curves.CURVES, ids=lambda curve: curve.name)
def test_some_multiples_of_points_of_more_curves(weierstrass, curve):
    points, n = points_of(curve), curve.n
    check_multiples(weierstrass, curve, points[:: n // 2], [1, 2, 3, n // 2, n - 2, n - 1])


# --- Errors, cycles, clusters --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"x": P_256.p}, Error.OPERAND_RANGE),
        ({"y": P_256.p}, Error.OPERAND_RANGE),
        ({"a": P_256.p}, Error.OPERAND_RANGE),
        ({"b": P_256.p}, Error.OPERAND_RANGE),
        ({"y": P_256.base[1] ^ 1}, Error.POINT),
        ({"x": 0, "y": 0}, Error.POINT),
        ({"b": P_256.b ^ 1}, Error.POINT),
    ],
    ids=str,
)
def test_inputs_that_the_hardware_refuses(weierstrass, changes, code):
    with pytest.raises(EngineError) as found:
        operate(weierstrass, P_256, 5, P_256.base, **changes)
    assert found.value.code is code


def test_inputs_that_the_drivers_refuse(weierstrass):
    x, y = P_256.base
    for k in (0, P_256.n):
        with pytest.raises(ValueError, match="from 1 to the order of its points less 1"):
            multiply(weierstrass, P_256, k, P_256.base)
    for point in ((x, y ^ 1), (x + P_256.p, y), (0, 0)):
        with pytest.raises(ValueError, match="the point is not on P-256"):
            multiply(weierstrass, P_256, 5, point)
    with pytest.raises(ValueError, match="k must be below n, the order of the points"):
        operate(weierstrass, P_256, P_256.n, P_256.base)
    for change in ({"p": P_256.p + 1}, {"n": P_256.n + 1}, {"p": 3}):
        with pytest.raises(ValueError, match="p and n of a curve are primes of 5 or more"):
            operate(weierstrass, P_256, 5, P_256.base, **change)
    with pytest.raises(ValueError, match="a scalar of P-256 has 32 bytes, not 31"):
        P_256.decode_scalar(bytes(31))
    for data in (b"", P_256.encode_point(P_256.base)[:-1], b"\2" + bytes(64)):
        with pytest.raises(ValueError, match="a point of P-256 has 65 bytes, of which the first"):
            P_256.decode_point(data)


def test_the_cycles_do_not_depend_on_the_scalar(weierstrass):
    """Nor on the point, but for x = 0, which is public; the bench compares with the prediction."""
    cycles = {True: set(), False: set()}
    for point in points_of(TINY)[::3]:
        for k in (1, 2, TINY.n // 2, TINY.n - 1):
            cycles[point[0] == 0].add(operate(weierstrass, TINY, k, point).cycles)
    assert [len(found) for found in cycles.values()] == [1, 1]


@pytest.mark.matrix
def test_on_a_cluster():
    """Also numbers that are refused and signatures that are wrong, for which no core is blamed."""
    settings = {"engine": "compact", "curves": "weierstrass", "cores": "2", "max_bits": "128"}
    digest = bytes(range(32))
    with open_cluster(choose("cluster", settings)) as device:
        cluster = KeyedCluster(Cluster(device))
        point = public_key(cluster, TINY, 5)
        assert point == multiple(*TINY.base, 5, **TINY.numbers)
        for _ in range(3):
            with pytest.raises(EngineError) as found:
                operate(cluster, TINY, 5, (1, 1))
            assert found.value.code is Error.POINT
            with pytest.raises(ecdsa.InvalidSignatureError):
                ecdsa.verify(cluster, TINY, point, digest, ecdsa.Signature(1, 2))
        signature = ecdsa.sign(cluster, TINY, 5, digest)
        ecdsa.verify(cluster, TINY, point, digest, signature)
