"""Keys under a temporary key that both sides agree on: CKM_ECDH_AES_KEY_WRAP.

On the device `software`, and on the simulated engine as slow tests.
"""

import ctypes
import os

import pytest
from cryptography.hazmat.primitives import hashes, keywrap, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa, x448, x25519
from cryptography.hazmat.primitives.kdf.concatkdf import ConcatKDFHash
from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF

from tests.token import cryptoki
from tests.token.conftest import opened_session
from tests.token.cryptoki import EXTRACTABLE, UNWRAP, WRAP
from tests.token.test_keys import refused
from tests.token.test_wrapping import AES_32, AS_BYTES, OF_RSA, OPEN

pytestmark = pytest.mark.xdist_group("token")


@pytest.fixture(scope="module", params=["software", pytest.param("sim", marks=pytest.mark.clients)])
def session(request, module, ready, tmp_path_factory):
    folder = tmp_path_factory.mktemp("session") / "token"
    with opened_session(module, ready, folder, request.param) as opened:
        yield opened


@pytest.fixture(scope="module")
def sensitive(session):
    """A private key that may leave the token, and is sensitive."""
    return session.import_pair(rsa.generate_private_key(65537, 1024), {EXTRACTABLE: True})[1]


ECDH_AES_KEY_WRAP, SHA256_KDF, NO_KDF, KWP = 0x1053, 6, 1, cryptoki.AES_KEY_WRAP_KWP
RAW = (serialization.Encoding.Raw, serialization.PublicFormat.Raw)
POINT = (serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
AGREEMENTS = {  # CKA_EC_PARAMS, and whose keys `cryptography` makes
    "P-256": ("06082a8648ce3d030107", ec.SECP256R1()),
    "P-521": ("06052b81040023", ec.SECP521R1()),
    "brainpoolP384r1": ("06092b240303020801010b", ec.BrainpoolP384R1()),
    "X25519": ("06032b656e", (x25519.X25519PrivateKey, x25519.X25519PublicKey)),
    "X448": ("06032b656f", (x448.X448PrivateKey, x448.X448PublicKey)),
}


def agreement(session, curve, public=(), private=()):
    """A pair of the token that wraps and unwraps."""
    is_x = curve.startswith("X")
    kind = cryptoki.EC_MONTGOMERY_KEY_PAIR_GEN if is_x else cryptoki.EC_KEY_PAIR_GEN
    template = {cryptoki.EC_PARAMS: bytes.fromhex(AGREEMENTS[curve][0]), WRAP: True}
    return session.generate(kind, template | dict(public), {UNWRAP: True} | dict(private))


class Side:
    """A key of `cryptography` on a curve: its point, and what it has in common with another."""

    def __init__(self, curve):
        self.kind, self.is_x = AGREEMENTS[curve][1], curve.startswith("X")
        self.key = self.kind[0].generate() if self.is_x else ec.generate_private_key(self.kind)
        self.point = self.key.public_key().public_bytes(*(RAW if self.is_x else POINT))

    def share(self, point):
        if self.is_x:
            return self.key.exchange(self.kind[1].from_public_bytes(point))
        other = ec.EllipticCurvePublicKey.from_encoded_point(self.kind, point)
        return self.key.exchange(ec.ECDH(), other)


CASES = [
    pytest.param(name, *sizes, marks=pytest.mark.clients)
    for name, *sizes in zip(AGREEMENTS, (128, 192, 256, 128, 256), (1, 16, 33, 8, 20), strict=True)
]


@pytest.mark.parametrize(("curve", "bits", "size"), CASES)
def test_a_key_that_another_library_wraps(session, curve, bits, size):
    """The point of the sender, and the key by RFC 5649, of any length."""
    public, private = agreement(session, curve)
    encoded, side = session.get(public, cryptoki.EC_POINT), Side(curve)
    secret = side.share(encoded[3:] if encoded[1] == 0x81 else encoded[2:])
    derived = X963KDF(hashes.SHA256(), bits // 8, b"of both").derive(secret)
    parameter = cryptoki.EcdhAes(bits, SHA256_KDF, b"of both")
    value = os.urandom(size)
    wrapped = side.point + keywrap.aes_key_wrap_with_padding(derived, value)
    made = session.unwrap(ECDH_AES_KEY_WRAP, private, wrapped, AS_BYTES, parameter)
    assert session.get(made, cryptoki.VALUE_LEN) == bytes(ctypes.c_ulong(size))
    imported = session.create(AS_BYTES | {cryptoki.VALUE: value})
    session.verify(imported, 0x251, b"data", session.sign(made, 0x251, b"data"))
    no_point = bytes(len(side.point)) + wrapped[len(side.point) :]
    for wrong in (wrapped[:-1] + bytes([wrapped[-1] ^ 1]), no_point):
        with refused(cryptoki.WRAPPED_KEY_INVALID):
            session.unwrap(ECDH_AES_KEY_WRAP, private, wrong, AS_BYTES, parameter)
    with refused(0x112):  # CKR_WRAPPED_KEY_LEN_RANGE
        session.unwrap(ECDH_AES_KEY_WRAP, private, side.point, AS_BYTES, parameter)


def test_a_temporary_key_by_another_function(session):
    """The one-step function of SP 800-56C, in both directions."""
    public, private = agreement(session, "P-256", private={cryptoki.DERIVE: True})
    side, parameter = Side("P-256"), cryptoki.EcdhAes(256, 0x10, b"of both")
    secret = side.share(session.get(public, cryptoki.EC_POINT)[2:])
    derived = ConcatKDFHash(hashes.SHA256(), 32, b"of both").derive(secret)
    wrapped = side.point + keywrap.aes_key_wrap_with_padding(derived, b"a value")
    key = session.unwrap(ECDH_AES_KEY_WRAP, private, wrapped, AS_BYTES | OPEN, parameter)
    assert session.get(key, cryptoki.VALUE) == b"a value"
    wrapped = session.wrap(ECDH_AES_KEY_WRAP, public, key, parameter)
    back = session.unwrap(ECDH_AES_KEY_WRAP, private, wrapped, AS_BYTES | OPEN, parameter)
    assert session.get(back, cryptoki.VALUE) == b"a value"
    with refused(cryptoki.WRAPPED_KEY_INVALID):
        of_x963 = cryptoki.EcdhAes(256, SHA256_KDF, b"of both")
        session.unwrap(ECDH_AES_KEY_WRAP, private, wrapped, AS_BYTES | OPEN, of_x963)


@pytest.mark.parametrize("curve", AGREEMENTS)
def test_a_key_that_another_library_unwraps(session, curve):
    """For a public key of its own; each time with another point."""
    side = Side(curve)
    size = len(side.point)
    head = bytes([4, size]) if size < 128 else bytes([4, 0x81, size])
    public = session.create(
        {
            cryptoki.CLASS: cryptoki.PUBLIC_KEY,
            cryptoki.KEY_TYPE: cryptoki.EC_MONTGOMERY if side.is_x else cryptoki.EC,
            cryptoki.EC_PARAMS: bytes.fromhex(AGREEMENTS[curve][0]),
            cryptoki.EC_POINT: head + side.point,
            WRAP: True,
        }
    )
    value = os.urandom(21)
    key = session.create(AS_BYTES | OPEN | {cryptoki.VALUE: value})
    seen = set()
    for _ in range(2):
        parameter = cryptoki.EcdhAes(256, SHA256_KDF, b"of both")
        wrapped = session.wrap(ECDH_AES_KEY_WRAP, public, key, parameter)
        sent, rest = wrapped[:size], wrapped[size:]
        derived = X963KDF(hashes.SHA256(), 32, b"of both").derive(side.share(sent))
        assert keywrap.aes_key_unwrap_with_padding(derived, rest) == value
        seen.add(sent)
    assert len(seen) == 2


def test_a_private_key_under_an_agreed_key(session):
    """Without a key derivation function the secret has the temporary key's length."""
    public, private = agreement(session, "P-256")
    key = session.import_pair(rsa.generate_private_key(65537, 1024), {EXTRACTABLE: True})[1]
    wrapped = session.wrap(ECDH_AES_KEY_WRAP, public, key, cryptoki.EcdhAes(256))
    session.unwrap(ECDH_AES_KEY_WRAP, private, wrapped, OF_RSA, cryptoki.EcdhAes(256))
    for parameter in (
        cryptoki.EcdhAes(128),
        cryptoki.EcdhAes(100, SHA256_KDF),
        cryptoki.EcdhAes(512, SHA256_KDF),
        cryptoki.EcdhAes(256, 99),
        cryptoki.EcdhAes(256, NO_KDF, b"shared"),
        b"",
    ):
        with refused(cryptoki.MECHANISM_PARAM_INVALID):
            session.wrap(ECDH_AES_KEY_WRAP, public, key, parameter)


@pytest.mark.parametrize("curve", ["P-256", "X25519"])
def test_an_agreed_key_is_not_derived_otherwise(session, sensitive, curve):
    """Whoever may derive with the private key finds the temporary key: such a pair wraps no
    sensitive key, and no other pair becomes one that derives."""
    parameter = cryptoki.EcdhAes(256, SHA256_KDF)
    public, private = agreement(session, curve)
    assert not session.is_true(private, cryptoki.DERIVE)
    wrapped = session.wrap(ECDH_AES_KEY_WRAP, public, sensitive, parameter)
    session.unwrap(ECDH_AES_KEY_WRAP, private, wrapped, OF_RSA, parameter)
    with refused(cryptoki.TEMPLATE_INCONSISTENT):
        session.unwrap(ECDH_AES_KEY_WRAP, private, wrapped, OF_RSA | OPEN, parameter)
    with refused(cryptoki.ATTRIBUTE_READ_ONLY):
        session.set(private, cryptoki.DERIVE, value=True)
    with refused(cryptoki.ATTRIBUTE_READ_ONLY):
        session.copy(private, {cryptoki.DERIVE: True})
    with refused(cryptoki.KEY_FUNCTION_NOT_PERMITTED):
        session.derive(private, bytes(32))
    for others in ({cryptoki.DERIVE: True}, OPEN):
        public, private = agreement(session, curve, private=others)
        with refused(cryptoki.KEY_NOT_WRAPPABLE):
            session.wrap(ECDH_AES_KEY_WRAP, public, sensitive, parameter)
        shown = session.generate_aes(AES_32 | OPEN)
        session.wrap(ECDH_AES_KEY_WRAP, public, shown, parameter)


def test_a_key_that_unwraps_by_agreement_does_not_leave(session):
    """Unwrapped again it could derive; one that derives already may leave."""
    outer = session.generate_aes(AES_32 | {WRAP: True})
    for others, leaves in (({}, False), ({cryptoki.DERIVE: True}, True)):
        _, private = agreement(session, "P-256", private={EXTRACTABLE: True} | others)
        if leaves:
            session.wrap(KWP, outer, private)
        else:
            with refused(cryptoki.KEY_NOT_WRAPPABLE):
                session.wrap(KWP, outer, private)
