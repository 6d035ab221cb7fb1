"""Keys on curves, with `cryptography` on the other side; the engine uses the private key."""

import hashlib

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa, x448, x25519
from cryptography.hazmat.primitives.asymmetric.utils import (
    Prehashed,
    decode_dss_signature,
    encode_dss_signature,
)
from cryptography.hazmat.primitives.kdf.concatkdf import ConcatKDFHash
from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF

from coprime.ec import eddsa
from coprime.ec.weierstrass import curve_named
from coprime.token.module import TokenError
from tests.token import cryptoki
from tests.token.cryptoki import (
    CLASS,
    EC_PARAMS,
    EC_POINT,
    KEY_TYPE,
    PUBLIC_KEY_INFO,
    VALUE,
    Session,
    bytes_of,
)

pytestmark = pytest.mark.xdist_group("token")

DATA = b"some data"
SIGNATURE_LEN_RANGE = 0xC1
# The object identifiers of RFC 5480, SEC 2 and RFC 5639, and those of RFC 8410.
WEIERSTRASS = {
    ec.SECP256R1: "06082a8648ce3d030107",
    ec.SECP384R1: "06052b81040022",
    ec.SECP521R1: "06052b81040023",
    ec.SECP224R1: "06052b81040021",
    ec.SECP256K1: "06052b8104000a",
    ec.BrainpoolP256R1: "06092b2403030208010107",
    ec.BrainpoolP384R1: "06092b240303020801010b",
    ec.BrainpoolP512R1: "06092b240303020801010d",
}
QUICK = (ec.SECP256R1, ec.SECP521R1)
EACH_WEIERSTRASS = [
    pytest.param(curve, marks=[] if curve in QUICK else [pytest.mark.clients], id=curve.name)
    for curve in WEIERSTRASS
]
ED25519, ED448 = "06032b6570", "06032b6571"
X25519, X448 = "06032b656e", "06032b656f"
EDWARDS = {ED25519: ed25519.Ed25519PrivateKey, ED448: ed448.Ed448PrivateKey}
MONTGOMERY = {X25519: x25519.X25519PrivateKey, X448: x448.X448PrivateKey}
RAW = (serialization.Encoding.Raw, serialization.PublicFormat.Raw)
RAW_PRIVATE = (
    *(serialization.Encoding.Raw, serialization.PrivateFormat.Raw),
    serialization.NoEncryption(),
)
POINT = (serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
COMPRESSED = (serialization.Encoding.X962, serialization.PublicFormat.CompressedPoint)


def octets(data):
    """An OCTET STRING."""
    head = b"\x04" if len(data) < 0x80 else b"\x04\x81"
    return head + bytes([len(data)]) + data


def fails(code):
    """What a block ends with an error of this code."""

    def is_it(error):
        return error.code == code

    return pytest.raises(TokenError, check=is_it)


def import_pair(session, kind, parameters, private, point, *, derives=True):
    common = {KEY_TYPE: kind, EC_PARAMS: bytes.fromhex(parameters)}
    derives = {cryptoki.DERIVE: derives and kind != cryptoki.EC_EDWARDS}
    return (
        session.create({CLASS: cryptoki.PUBLIC_KEY, **common, EC_POINT: point}),
        session.create({CLASS: cryptoki.PRIVATE_KEY, **common, VALUE: private, **derives}),
    )


def import_weierstrass(session, key, **others):
    return import_pair(
        *(session, cryptoki.EC, WEIERSTRASS[type(key.curve)]),
        bytes_of(key.private_numbers().private_value),
        octets(key.public_key().public_bytes(*POINT)),
        **others,
    )


def import_raw(session, kind, parameters, key):
    public = key.public_key().public_bytes(*RAW)
    return import_pair(session, kind, parameters, key.private_bytes(*RAW_PRIVATE), octets(public))


def check_verification(session, public, mechanism, signature, parameter=b""):
    """The token takes this signature, and none of another text, or with another bit."""
    session.verify(public, mechanism, DATA, signature, parameter)
    wrong = signature[:-1] + bytes([signature[-1] ^ 1])
    for data, given in ((DATA + b".", signature), (DATA, wrong)):
        with fails(cryptoki.SIGNATURE_INVALID):
            session.verify(public, mechanism, data, given, parameter)


# --- ECDSA ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("curve", EACH_WEIERSTRASS)
def test_ecdsa(session, curve):
    key = ec.generate_private_key(curve())
    public, private = import_weierstrass(session, key)
    size = (curve.key_size + 7) // 8
    signature = session.sign(private, cryptoki.ECDSA_SHA256, DATA)
    assert len(signature) == 2 * size
    r, s = (int.from_bytes(half) for half in (signature[:size], signature[size:]))
    key.public_key().verify(encode_dss_signature(r, s), DATA, ec.ECDSA(hashes.SHA256()))
    check_verification(session, public, cryptoki.ECDSA_SHA256, signature)
    theirs = decode_dss_signature(key.sign(DATA, ec.ECDSA(hashes.SHA256())))
    both = b"".join(number.to_bytes(size) for number in theirs)
    check_verification(session, public, cryptoki.ECDSA_SHA256, both)


HASHES = {
    hashes.SHA1: 0x1042,
    hashes.SHA224: 0x1043,
    hashes.SHA384: 0x1045,
    hashes.SHA512: 0x1046,
}


@pytest.mark.matrix
def test_ecdsa_of_each_digest(session):
    key = ec.generate_private_key(ec.SECP256R1())
    _, private = import_weierstrass(session, key)
    for algorithm, mechanism in HASHES.items():
        signature = session.sign(private, mechanism, DATA)
        r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:])
        key.public_key().verify(encode_dss_signature(r, s), DATA, ec.ECDSA(algorithm()))
        hasher = hashes.Hash(algorithm())
        hasher.update(DATA)
        signature = session.sign(private, cryptoki.ECDSA, hasher.finalize())
        r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:])
        key.public_key().verify(encode_dss_signature(r, s), DATA, ec.ECDSA(algorithm()))


def test_ecdsa_in_parts(session):
    key = ec.generate_private_key(ec.SECP256R1())
    _, private = import_weierstrass(session, key)
    digest = hashes.Hash(hashes.SHA256())
    digest.update(DATA)
    value = digest.finalize()
    for mechanism, parts in (
        (cryptoki.ECDSA_SHA256, (DATA[:3], DATA[3:])),
        (cryptoki.ECDSA, (value[:5], value[5:])),
    ):
        session.begin("C_SignInit", private, mechanism)
        for part in parts:
            session.update("C_SignUpdate", part)
        signature = session.final("C_SignFinal")
        r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:])
        key.public_key().verify(
            encode_dss_signature(r, s), value, ec.ECDSA(Prehashed(hashes.SHA256()))
        )


SHORT_CURVES = {ec.SECP256R1: "P-256", ec.SECP521R1: "P-521", ec.SECP224R1: "P-224"}
SIGNING_MECHANISMS = {
    None: cryptoki.ECDSA,
    hashes.SHA256: cryptoki.ECDSA_SHA256,
    hashes.SHA3_224: 0x1047,
    hashes.SHA3_256: 0x1048,
    hashes.SHA3_384: 0x1049,
    hashes.SHA3_512: 0x104A,
    **HASHES,
}


def short_signature(curve, digest):
    """A key, and r and s of a signature of the digest, both of fewer bytes than n."""
    n = curve_named(SHORT_CURVES[curve]).n
    size = (n.bit_length() + 7) // 8
    z = int.from_bytes(digest) >> max(8 * len(digest) - n.bit_length(), 0)
    for k in range(2, 1 << 16):
        r = ec.derive_private_key(k, curve()).public_key().public_numbers().x % n
        if r >> 8 * (size - 1) == 0:
            s = 0x1234567
            return ec.derive_private_key((s * k - z) * pow(r, -1, n) % n, curve()), size, (r, s)
    raise AssertionError("no x is short")


def verify_in_parts(session, public, mechanism, data, signature):
    session.begin("C_VerifyInit", public, mechanism)
    session.update("C_VerifyUpdate", data[:4])
    session.update("C_VerifyUpdate", data[4:])
    session.call("C_VerifyFinal", signature, len(signature))


def verify_message(session, public, mechanism, data, signature):
    session.begin("C_MessageVerifyInit", public, mechanism)
    try:
        session.verify_message(data, signature)
    finally:
        session.call("C_MessageVerifyFinal")


@pytest.mark.parametrize("curve", SHORT_CURVES)
@pytest.mark.parametrize("algorithm", SIGNING_MECHANISMS)
def test_ecdsa_signatures_without_zeros_in_front(session, curve, algorithm):
    """r and s in fewer bytes than n has, as many in both: who does not know n gives no more."""
    digest = data = hashlib.sha256(DATA).digest()
    if algorithm is not None:
        hasher = hashes.Hash(algorithm())
        hasher.update(data)
        digest = hasher.finalize()
    key, size, numbers = short_signature(curve, digest)
    public, _ = import_weierstrass(session, key)
    mechanism = SIGNING_MECHANISMS[algorithm]
    for verify in (Session.verify, verify_in_parts, verify_message):
        for half in (size - 1, size):
            r, s = (number.to_bytes(half) for number in numbers)
            verify(session, public, mechanism, data, r + s)
            with fails(cryptoki.SIGNATURE_INVALID):
                verify(session, public, mechanism, data, s + r)
        for wrong in (b"", r + s[1:], b"\0" + r + b"\0" + s):
            with fails(SIGNATURE_LEN_RANGE):
                verify(session, public, mechanism, data, wrong)
        for wrong in (bytes(2), r[:4] + s[-4:]):
            with fails(cryptoki.SIGNATURE_INVALID):
                verify(session, public, mechanism, data, wrong)


# --- EdDSA ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", EDWARDS)
def test_eddsa(session, parameters):
    key = EDWARDS[parameters].generate()
    public, private = import_raw(session, cryptoki.EC_EDWARDS, parameters, key)
    signature = session.sign(private, cryptoki.EDDSA, DATA)
    assert signature == key.sign(DATA)
    check_verification(session, public, cryptoki.EDDSA, signature)
    session.begin("C_SignInit", private, cryptoki.EDDSA)
    long = bytes(100_000)
    for part in (long, DATA, b"", long):
        session.update("C_SignUpdate", part)
    assert session.final("C_SignFinal") == key.sign(long + DATA + long)


class SoftwareAccelerator:
    """What `eddsa.sign` needs, in software."""

    def operate(self, command, numbers):
        self.outputs = command.operation.results(numbers)
        return self


@pytest.mark.parametrize("parameters", [ED25519, pytest.param(ED448, marks=pytest.mark.clients)])
@pytest.mark.parametrize(
    ("prehashed", "context"),
    [
        *(pytest.param(False, b"context", marks=pytest.mark.clients), (True, b"c")),
        pytest.param(True, b"", marks=pytest.mark.clients),
    ],
)
def test_variants_of_eddsa(session, parameters, prehashed, context):
    key = EDWARDS[parameters].generate()
    public, private = import_raw(session, cryptoki.EC_EDWARDS, parameters, key)
    given = cryptoki.Eddsa(prehashed, context)
    signature = session.sign(private, cryptoki.EDDSA, DATA, given)
    curve = {ED25519: eddsa.ED25519, ED448: eddsa.ED448}[parameters]
    expected = eddsa.sign(
        *(SoftwareAccelerator(), curve, key.private_bytes(*RAW_PRIVATE), DATA),
        eddsa.Variant(prehashed=prehashed, context=context),
    )
    assert signature == expected
    check_verification(session, public, cryptoki.EDDSA, signature, given)
    with fails(cryptoki.SIGNATURE_INVALID):
        session.verify(public, cryptoki.EDDSA, DATA, signature)


# --- Secrets in common ---------------------------------------------------------------------------

SHOWN = {cryptoki.SENSITIVE: False, cryptoki.EXTRACTABLE: True}


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("curve", EACH_WEIERSTRASS)
def test_ecdh(session, curve):
    key, other = ec.generate_private_key(curve()), ec.generate_private_key(curve())
    _, private = import_weierstrass(session, key)
    expected = key.exchange(ec.ECDH(), other.public_key())
    for form in (POINT, COMPRESSED):
        point = other.public_key().public_bytes(*form)
        assert session.get(session.derive(private, point, SHOWN), VALUE) == expected
    point = octets(other.public_key().public_bytes(*POINT))
    made = session.derive(private, point, SHOWN, kind=cryptoki.ECDH1_COFACTOR_DERIVE)
    assert session.get(made, VALUE) == expected


@pytest.mark.parametrize("parameters", MONTGOMERY)
def test_functions_of_rfc_7748(session, parameters):
    key, other = (MONTGOMERY[parameters].generate() for _ in range(2))
    _, private = import_raw(session, cryptoki.EC_MONTGOMERY, parameters, key)
    point = other.public_key().public_bytes(*RAW)
    for given in (point, octets(point)):
        made = session.derive(private, given, SHOWN)
        assert session.get(made, VALUE) == key.exchange(other.public_key())
    with fails(cryptoki.MECHANISM_PARAM_INVALID):  # a point of low order
        session.derive(private, bytes(len(point)), SHOWN)


ONE_STEP = {
    hashes.SHA1: 0xE,
    hashes.SHA224: 0xF,
    hashes.SHA256: 0x10,
    hashes.SHA384: 0x11,
    hashes.SHA512: 0x12,
    hashes.SHA3_224: 0x13,
    hashes.SHA3_256: 0x14,
    hashes.SHA3_384: 0x15,
    hashes.SHA3_512: 0x16,
}
"""CKD_*_KDF_SP800."""


@pytest.mark.clients
def test_derived_keys(session):
    key, other = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    _, private = import_weierstrass(session, key)
    point = other.public_key().public_bytes(*POINT)
    secret = key.exchange(ec.ECDH(), other.public_key())
    aes = {KEY_TYPE: cryptoki.AES, cryptoki.VALUE_LEN: 16}
    assert session.get(session.derive(private, point, {**SHOWN, **aes}), VALUE) == secret[16:]
    kdf = {hashes.SHA1: 2, hashes.SHA256: 6, hashes.SHA512: 8, hashes.SHA3_256: 11}
    for algorithm, number in kdf.items():
        made = session.derive(
            *(private, point, {**SHOWN, cryptoki.VALUE_LEN: 100}), kdf=number, shared=b"shared"
        )
        assert session.get(made, VALUE) == X963KDF(algorithm(), 100, b"shared").derive(secret)
    for algorithm, number in ONE_STEP.items():
        for shared in (b"", b"shared"):
            made = session.derive(
                *(private, point, {**SHOWN, cryptoki.VALUE_LEN: 100}), kdf=number, shared=shared
            )
            expected = ConcatKDFHash(algorithm(), 100, shared).derive(secret)
            assert session.get(made, VALUE) == expected
    assert not session.is_true(session.derive(private, point), cryptoki.EXTRACTABLE)
    hidden = session.derive(private, point)
    with fails(cryptoki.ATTRIBUTE_SENSITIVE):
        session.get(hidden, VALUE)


def test_refused_derivations(session):
    key = ec.generate_private_key(ec.SECP256R1())
    _, private = import_weierstrass(session, key)
    point = key.public_key().public_bytes(*POINT)
    other = ec.generate_private_key(ec.SECP384R1()).public_key().public_bytes(*POINT)
    off = point[:-1] + bytes([point[-1] ^ 1])
    for given in (other, off, b"\0", bytes(65)):
        with fails(cryptoki.MECHANISM_PARAM_INVALID):
            session.derive(private, given)
    with fails(cryptoki.KEY_SIZE_RANGE):
        session.derive(private, point, {cryptoki.VALUE_LEN: 33})
    with fails(cryptoki.TEMPLATE_INCOMPLETE):
        session.derive(private, point, {KEY_TYPE: cryptoki.AES})
    with fails(cryptoki.TEMPLATE_INCONSISTENT):  # it could be derived again, and shown
        session.derive(private, point, {cryptoki.WRAP: True})
    with fails(cryptoki.ATTRIBUTE_READ_ONLY):
        session.set(private, cryptoki.DERIVE, False)
    _, private = import_weierstrass(session, key, derives=False)
    with fails(cryptoki.KEY_FUNCTION_NOT_PERMITTED):
        session.derive(private, point)


# --- Keys ----------------------------------------------------------------------------------------


GENERATED = [
    (cryptoki.EC_KEY_PAIR_GEN, WEIERSTRASS[ec.SECP256R1], cryptoki.ECDSA_SHA256),
    (cryptoki.EC_EDWARDS_KEY_PAIR_GEN, ED25519, cryptoki.EDDSA),
    (cryptoki.EC_EDWARDS_KEY_PAIR_GEN, "130c" + b"edwards25519".hex(), cryptoki.EDDSA),
    (cryptoki.EC_EDWARDS_KEY_PAIR_GEN, ED448, cryptoki.EDDSA),
]


@pytest.mark.parametrize(("kind", "parameters", "signs"), GENERATED)
def test_generated_keys(session, kind, parameters, signs):
    public, private = session.generate(kind, {EC_PARAMS: bytes.fromhex(parameters)}, {})
    session.verify(public, signs, DATA, session.sign(private, signs, DATA))
    assert session.get(private, EC_POINT) == session.get(public, EC_POINT)
    assert session.get(private, EC_PARAMS) == bytes.fromhex(parameters)
    for key in (public, private):
        assert session.is_true(key, cryptoki.LOCAL)
    for kind in (cryptoki.ALWAYS_SENSITIVE, cryptoki.NEVER_EXTRACTABLE, cryptoki.SIGN):
        assert session.is_true(private, kind)
    for kind in (cryptoki.DECRYPT, cryptoki.DERIVE):
        assert not session.is_true(private, kind)
    with fails(cryptoki.ATTRIBUTE_SENSITIVE):
        session.get(private, VALUE)


def test_two_generated_keys_agree(session):
    parameters = {EC_PARAMS: bytes.fromhex(X25519)}
    pairs = [session.generate(cryptoki.EC_MONTGOMERY_KEY_PAIR_GEN, parameters, {}) for _ in "ab"]
    points = [session.get(public, EC_POINT) for public, _ in pairs]
    made = [session.derive(pairs[i][1], points[1 - i], SHOWN) for i in range(2)]
    assert session.get(made[0], VALUE) == session.get(made[1], VALUE)


def test_refused_keys(session):
    p256, params = ec.generate_private_key(ec.SECP256R1()), bytes.fromhex(WEIERSTRASS[ec.SECP256R1])
    point = p256.public_key().public_bytes(*POINT)
    off = point[:-1] + bytes([point[-1] ^ 1])
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    private = {CLASS: cryptoki.PRIVATE_KEY, KEY_TYPE: cryptoki.EC, EC_PARAMS: params}
    public = {CLASS: cryptoki.PUBLIC_KEY, KEY_TYPE: cryptoki.EC, EC_PARAMS: params}
    edwards = {**public, KEY_TYPE: cryptoki.EC_EDWARDS, EC_PARAMS: bytes.fromhex(ED25519)}
    generator = octets(ec.derive_private_key(1, ec.SECP256R1()).public_key().public_bytes(*POINT))
    for template, code in (
        (private, cryptoki.TEMPLATE_INCOMPLETE),
        (public, cryptoki.TEMPLATE_INCOMPLETE),
        ({**private, VALUE: b"\0"}, cryptoki.ATTRIBUTE_VALUE_INVALID),
        ({**private, VALUE: order.to_bytes(32)}, cryptoki.ATTRIBUTE_VALUE_INVALID),
        ({**private, VALUE: bytes_of(order << 8)}, cryptoki.ATTRIBUTE_VALUE_INVALID),
        ({**private, VALUE: b"\2", EC_POINT: generator}, cryptoki.ATTRIBUTE_VALUE_INVALID),
        ({**private, VALUE: b"\2", cryptoki.MODULUS: b"\5"}, cryptoki.TEMPLATE_INCONSISTENT),
        ({**public, EC_POINT: octets(off)}, cryptoki.ATTRIBUTE_VALUE_INVALID),
        ({**public, EC_POINT: b"\4\1\0"}, cryptoki.ATTRIBUTE_VALUE_INVALID),
        ({**public, EC_POINT: b"\0"}, cryptoki.ATTRIBUTE_VALUE_INVALID),
        ({**public, EC_POINT: octets(point), EC_PARAMS: b"\5\0"}, cryptoki.CURVE_NOT_SUPPORTED),
        ({**edwards, EC_POINT: b"\2" + bytes(31)}, cryptoki.ATTRIBUTE_VALUE_INVALID),
        ({**edwards, EC_POINT: b"\xff" * 32}, cryptoki.ATTRIBUTE_VALUE_INVALID),
        ({**edwards, EC_POINT: bytes(31)}, cryptoki.ATTRIBUTE_VALUE_INVALID),
    ):
        with fails(code):
            session.create(template)
    for parameters, code in (
        ({}, cryptoki.TEMPLATE_INCOMPLETE),
        ({EC_PARAMS: bytes.fromhex(ED25519)}, cryptoki.CURVE_NOT_SUPPORTED),
    ):
        with fails(code):
            session.generate(cryptoki.EC_KEY_PAIR_GEN, parameters, {})


def test_a_point_has_one_form(session):
    key = ec.generate_private_key(ec.SECP256R1()).public_key()
    common = {CLASS: cryptoki.PUBLIC_KEY, KEY_TYPE: cryptoki.EC}
    common |= {EC_PARAMS: bytes.fromhex(WEIERSTRASS[ec.SECP256R1])}
    point, compressed = key.public_bytes(*POINT), key.public_bytes(*COMPRESSED)
    for given in (point, octets(point), compressed, octets(compressed)):
        made = session.create({**common, EC_POINT: given})
        assert session.get(made, EC_POINT) == octets(point)


def test_public_key_info(session):
    """SubjectPublicKeyInfo, also of private keys; another one is refused."""
    keys = [
        (import_weierstrass, ec.generate_private_key(ec.SECP256R1())),
        (import_weierstrass, ec.generate_private_key(ec.SECP521R1())),
        (Session.import_pair, rsa.generate_private_key(65537, 1024)),
    ]
    made = [(key, enter(session, key)) for enter, key in keys]
    made += [
        (key, import_raw(session, kind, parameters, key))
        for kind, parameters, key in (
            (cryptoki.EC_EDWARDS, ED25519, ed25519.Ed25519PrivateKey.generate()),
            (cryptoki.EC_EDWARDS, ED448, ed448.Ed448PrivateKey.generate()),
            (cryptoki.EC_MONTGOMERY, X25519, x25519.X25519PrivateKey.generate()),
        )
    ]
    for key, pair in made:
        expected = key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        assert [session.get(half, PUBLIC_KEY_INFO) for half in pair] == [expected, expected]
    common = {CLASS: cryptoki.PRIVATE_KEY, KEY_TYPE: cryptoki.EC_MONTGOMERY, VALUE: bytes(32)}
    with fails(cryptoki.ATTRIBUTE_VALUE_INVALID):
        session.create({**common, EC_PARAMS: bytes.fromhex(X25519), PUBLIC_KEY_INFO: expected})
    public, private = session.generate_pair()
    assert session.get(public, PUBLIC_KEY_INFO) == session.get(private, PUBLIC_KEY_INFO) != b""


def test_wrapped_keys(session):
    """As PKCS #8: what leaves the token is what comes back."""
    shown = {cryptoki.SENSITIVE: False, cryptoki.EXTRACTABLE: True}
    wraps = {cryptoki.WRAP: True, cryptoki.UNWRAP: True, cryptoki.DECRYPT: True}
    wrapping = session.generate_aes({cryptoki.VALUE_LEN: 32, **wraps})
    for kind, generated, parameters in (
        (cryptoki.EC, cryptoki.EC_KEY_PAIR_GEN, WEIERSTRASS[ec.SECP521R1]),
        (cryptoki.EC_EDWARDS, cryptoki.EC_EDWARDS_KEY_PAIR_GEN, ED448),
        (cryptoki.EC_MONTGOMERY, cryptoki.EC_MONTGOMERY_KEY_PAIR_GEN, X25519),
    ):
        _, private = session.generate(generated, {EC_PARAMS: bytes.fromhex(parameters)}, shown)
        wrapped = session.wrap(cryptoki.AES_KEY_WRAP_KWP, wrapping, private)
        template = {CLASS: cryptoki.PRIVATE_KEY, KEY_TYPE: kind, **shown}
        back = session.unwrap(cryptoki.AES_KEY_WRAP_KWP, wrapping, wrapped, template)
        for attribute in (EC_PARAMS, EC_POINT, VALUE):
            assert session.get(back, attribute) == session.get(private, attribute)
        with fails(cryptoki.WRAPPED_KEY_INVALID):
            template[KEY_TYPE] = cryptoki.RSA
            session.unwrap(cryptoki.AES_KEY_WRAP_KWP, wrapping, wrapped, template)


def test_a_foreign_key_is_refused(session):
    """Each mechanism takes the keys that it is for."""
    _, edwards = session.generate(
        cryptoki.EC_EDWARDS_KEY_PAIR_GEN, {EC_PARAMS: bytes.fromhex(ED25519)}, {}
    )
    _, rsa = session.generate_pair()
    for key, mechanism in (
        (edwards, cryptoki.ECDSA),
        (edwards, cryptoki.RSA_PKCS),
        (rsa, cryptoki.EDDSA),
    ):
        with fails(cryptoki.KEY_TYPE_INCONSISTENT):
            session.sign(key, mechanism, DATA)


def test_the_nonce_is_another_one_each_time(session):
    key = ec.generate_private_key(ec.SECP256R1())
    _, private = import_weierstrass(session, key)
    made = {session.sign(private, cryptoki.ECDSA_SHA256, DATA)[:32] for _ in range(3)}
    assert len(made) == 3
