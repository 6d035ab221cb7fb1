"""Secret keys: modes of AES and HMAC, with `cryptography` on the other side."""

import ctypes
import datetime
import hashlib
import itertools
import os
import random

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import cmac, hashes, hmac, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand

from coprime.token.module import TokenError
from tests.token import cryptoki
from tests.token.cryptoki import CLASS, KEY_TYPE, VALUE

pytestmark = pytest.mark.xdist_group("token")

AES_ECB, AES_CBC, AES_CTR, AES_GCM = 0x1081, 0x1082, 0x1086, 0x1087
GENERIC_SECRET_KEY_GEN = 0x350
DATA_LEN_RANGE, ENCRYPTED_DATA_LEN_RANGE, ENCRYPTED_DATA_INVALID = 0x21, 0x41, 0x40
SIGNATURE_LEN_RANGE = 0xC1
# Of each hash: CKM_*_HMAC, CKM_*_HMAC_GENERAL.
HMACS = {
    hashes.SHA1: (0x221, 0x222),
    hashes.SHA224: (0x256, 0x257),
    hashes.SHA256: (0x251, 0x252),
    hashes.SHA384: (0x261, 0x262),
    hashes.SHA512: (0x271, 0x272),
    hashes.SHA3_256: (0x2B1, None),
}
IV = bytes(range(16))
SHOWN = {cryptoki.SENSITIVE: False, cryptoki.EXTRACTABLE: True}


def import_secret(session, kind, value):
    return session.create({CLASS: cryptoki.SECRET_KEY, KEY_TYPE: kind, VALUE: value})


def fails(code):
    return pytest.raises(TokenError, check=lambda error: error.code == code)


@pytest.fixture(params=[16, 24, 32])
def aes(request, session):
    """A key's bytes, and its handle."""
    value = os.urandom(request.param)
    return value, import_secret(session, cryptoki.AES, value)


def transform(kind, value, mode, data):
    """What `cryptography` makes of the data."""
    done = getattr(Cipher(algorithms.AES(value), mode), kind)()
    return done.update(data) + done.finalize()


MODES = {
    AES_ECB: (modes.ECB(), b""),
    AES_CBC: (modes.CBC(IV), IV),
    AES_CTR: (modes.CTR(IV), (128).to_bytes(8, "little") + IV),
}


def in_parts(session, function, key, mechanism, parameter, parts):
    """An encryption or decryption in parts."""
    session.begin(f"C_{function}Init", key, mechanism, parameter)
    made = b"".join(session.give(f"C_{function}Update", part) for part in parts)
    return made + session.final(f"C_{function}Final")


@pytest.mark.parametrize("mechanism", MODES)
def test_modes(session, aes, mechanism):
    value, key = aes
    mode, parameter = MODES[mechanism]
    for size in (0, 16, 160) if mechanism != AES_CTR else (0, 1, 15, 16, 100):
        data = os.urandom(size)
        text = session.encrypt(key, mechanism, data, parameter)
        assert text == transform("encryptor", value, mode, data)
        assert session.decrypt(key, mechanism, text, parameter) == data
        for function, given, expected in (("Encrypt", data, text), ("Decrypt", text, data)):
            parts = (given[:5], given[5:16], given[16:])
            assert in_parts(session, function, key, mechanism, parameter, parts) == expected


TWO_BLOCKS_LEFT = (8).to_bytes(8, "little") + bytes(15) + b"\xfe"


@pytest.mark.parametrize(
    ("mechanism", "parameter", "fits", "begun"),
    [
        (AES_ECB, b"", 16, 17),
        (AES_CBC, IV, 16, 17),
        (AES_CTR, TWO_BLOCKS_LEFT, 32, 30),  # what is beyond would have another nonce's bytes
    ],
)
def test_lengths_that_a_mode_cannot_have(session, mechanism, parameter, fits, begun):
    """Of ECB and CBC whole blocks; of CTR as many as the counter has left."""
    key = import_secret(session, cryptoki.AES, bytes(16))
    for function, code in (
        (session.encrypt, DATA_LEN_RANGE),
        (session.decrypt, ENCRYPTED_DATA_LEN_RANGE),
    ):
        assert len(function(key, mechanism, bytes(fits), parameter)) == fits
        with fails(code):
            function(key, mechanism, bytes(fits + 1), parameter)
    session.begin("C_EncryptInit", key, mechanism, parameter)
    session.give("C_EncryptUpdate", bytes(begun))
    with fails(DATA_LEN_RANGE):
        session.give("C_EncryptUpdate", bytes(3))
        session.final("C_EncryptFinal")


@pytest.mark.parametrize(
    ("iv_size", "tag", "beside"), [(12, 16, b""), (12, 12, b"x"), (60, 16, b"")]
)
def test_gcm(session, aes, iv_size, tag, beside):
    value, key = aes
    iv = os.urandom(iv_size)
    given = cryptoki.Gcm(iv, beside, 8 * tag)
    for size in (0, 1, 16, 100):
        data = os.urandom(size)
        expected = AESGCM(value).encrypt(iv, data, beside or None)
        expected = expected[: size + tag]
        assert session.encrypt(key, AES_GCM, data, given) == expected
        assert session.decrypt(key, AES_GCM, expected, given) == data
        parts = (data[:7], data[7:])
        assert in_parts(session, "Encrypt", key, AES_GCM, given, parts) == expected
        parts = (expected[:7], expected[7:])
        assert in_parts(session, "Decrypt", key, AES_GCM, given, parts) == data
        wrong = expected[:-1] + bytes([expected[-1] ^ 1])
        with fails(ENCRYPTED_DATA_INVALID):
            session.decrypt(key, AES_GCM, wrong, given)
        session.begin("C_DecryptInit", key, AES_GCM, given)
        assert session.give("C_DecryptUpdate", wrong) == b""
        with fails(ENCRYPTED_DATA_INVALID):
            session.final("C_DecryptFinal")
    with fails(ENCRYPTED_DATA_LEN_RANGE):
        session.decrypt(key, AES_GCM, bytes(tag - 1), given)


def test_refused_parameters(session):
    key = import_secret(session, cryptoki.AES, bytes(16))
    for mechanism, parameter in (
        (AES_ECB, IV),
        (AES_CBC, IV[1:]),
        (AES_CTR, (129).to_bytes(8, "little") + IV),
        (AES_CTR, bytes(24)),
        (AES_GCM, IV),
        (AES_GCM, cryptoki.Gcm(b"", b"", 128)),
        (AES_GCM, cryptoki.Gcm(IV, b"", 24)),
        (AES_GCM, cryptoki.Gcm(IV, b"", 129)),
    ):
        with fails(cryptoki.MECHANISM_PARAM_INVALID):
            session.encrypt(key, mechanism, b"", parameter)


@pytest.mark.parametrize("algorithm", HMACS)
def test_hmac(session, algorithm):
    value, data = os.urandom(40), b"some data"
    key = import_secret(session, cryptoki.GENERIC_SECRET, value)
    mechanism, general = HMACS[algorithm]
    made = hmac.HMAC(value, algorithm())
    made.update(data)
    expected = made.finalize()
    assert session.sign(key, mechanism, data) == expected
    session.verify(key, mechanism, data, expected)
    session.begin("C_SignInit", key, mechanism)
    for part in (data[:3], b"", data[3:]):
        session.update("C_SignUpdate", part)
    assert session.final("C_SignFinal") == expected
    with fails(cryptoki.SIGNATURE_INVALID):
        session.verify(key, mechanism, data + b".", expected)
    if general:
        short = (10).to_bytes(8, "little")
        assert session.sign(key, general, data, short) == expected[:10]
        session.verify(key, general, data, expected[:10], short)
        with fails(cryptoki.MECHANISM_PARAM_INVALID):
            session.sign(key, general, data, (65).to_bytes(8, "little"))


AES_CMAC, AES_CMAC_GENERAL = 0x108A, 0x108B


def test_cmac(session, aes):
    """Also of messages in parts, one after the other, and shortened."""
    value, key = aes
    session.begin("C_MessageSignInit", key, AES_CMAC)
    messages = {size: os.urandom(size) for size in (0, 1, 15, 16, 17, 100)}
    for data in messages.values():
        made = cmac.CMAC(algorithms.AES(value))
        made.update(data)
        expected = made.finalize()
        assert session.sign_message(data) == expected
        assert session.sign(key, AES_CMAC, data) == expected
        session.verify(key, AES_CMAC, data, expected)
        session.begin("C_SignInit", key, AES_CMAC)
        for part in (data[:5], b"", data[5:]):
            session.update("C_SignUpdate", part)
        assert session.final("C_SignFinal") == expected
        with fails(cryptoki.SIGNATURE_INVALID):
            session.verify(key, AES_CMAC, data + b".", expected)
        with fails(SIGNATURE_LEN_RANGE):
            session.verify(key, AES_CMAC, data, expected[:8])
        short = (8).to_bytes(8, "little")
        assert session.sign(key, AES_CMAC_GENERAL, data, short) == expected[:8]
        session.verify(key, AES_CMAC_GENERAL, data, expected[:8], short)
    session.call("C_MessageSignFinal")
    for wrong in (0, 17):
        with fails(cryptoki.MECHANISM_PARAM_INVALID):
            session.sign(key, AES_CMAC_GENERAL, b"", wrong.to_bytes(8, "little"))
    with fails(cryptoki.KEY_TYPE_INCONSISTENT):
        session.sign(import_secret(session, cryptoki.GENERIC_SECRET, value), AES_CMAC, b"")
    for template in ({cryptoki.WRAP: True}, {cryptoki.UNWRAP: True}):
        wrapping = session.generate_aes({cryptoki.VALUE_LEN: 32} | template)
        with fails(cryptoki.KEY_FUNCTION_NOT_PERMITTED):
            session.sign(wrapping, AES_CMAC, b"")


def test_generated_secret(session):
    key = session.generate_secret(GENERIC_SECRET_KEY_GEN, {cryptoki.VALUE_LEN: 48})
    assert session.is_true(key, cryptoki.LOCAL)
    assert len(session.sign(key, 0x251, b"data")) == 32
    shown = {cryptoki.SENSITIVE: False, cryptoki.EXTRACTABLE: True, cryptoki.VALUE_LEN: 48}
    made = {
        session.get(session.generate_secret(GENERIC_SECRET_KEY_GEN, shown), VALUE) for _ in range(3)
    }
    assert len(made) == 3
    with fails(cryptoki.KEY_SIZE_RANGE):
        session.generate_secret(GENERIC_SECRET_KEY_GEN, {cryptoki.VALUE_LEN: 1025})
    with fails(cryptoki.KEY_TYPE_INCONSISTENT):
        session.encrypt(key, AES_ECB, bytes(16))


# Of each hash: CKM_*_KEY_GEN, CKK_*_HMAC, CKM_*_HMAC.
KEYS_OF_HMAC = {
    hashes.SHA1: (0x4003, 0x28, 0x221),
    hashes.SHA224: (0x4004, 0x2E, 0x256),
    hashes.SHA256: (0x4005, 0x2B, 0x251),
    hashes.SHA384: (0x4006, 0x2C, 0x261),
    hashes.SHA512: (0x4007, 0x2D, 0x271),
    hashes.SHA3_224: (0x2B8, 0x36, 0x2B6),
    hashes.SHA3_256: (0x2B3, 0x37, 0x2B1),
    hashes.SHA3_384: (0x2C3, 0x38, 0x2C1),
    hashes.SHA3_512: (0x2D3, 0x39, 0x2D1),
}


@pytest.mark.parametrize("algorithm", KEYS_OF_HMAC)
def test_keys_of_one_hash(session, algorithm):
    """For the HMAC of their hash, and for that of no other."""
    generation, kind, mechanism = KEYS_OF_HMAC[algorithm]
    key = session.generate_secret(generation, {cryptoki.VALUE_LEN: 48} | SHOWN)
    assert session.get(key, KEY_TYPE) == bytes(ctypes.c_ulong(kind))
    assert session.is_true(key, cryptoki.LOCAL)
    expected = hmac.HMAC(session.get(key, VALUE), algorithm())
    expected.update(b"data")
    signature = session.sign(key, mechanism, b"data")
    assert signature == expected.finalize()
    session.verify(key, mechanism, b"data", signature)
    for _, _, other in KEYS_OF_HMAC.values():
        if other != mechanism:
            with fails(cryptoki.KEY_TYPE_INCONSISTENT):
                session.sign(key, other, b"data")
    with fails(cryptoki.TEMPLATE_INCOMPLETE):
        session.generate_secret(generation, {})
    with fails(cryptoki.KEY_SIZE_RANGE):
        session.generate_secret(generation, {cryptoki.VALUE_LEN: 1025})
    with fails(cryptoki.TEMPLATE_INCONSISTENT):
        generic = {KEY_TYPE: cryptoki.GENERIC_SECRET, cryptoki.VALUE_LEN: 48}
        session.generate_secret(generation, generic)


# HKDF.

HKDF_DERIVE, CKK_HKDF = 0x402A, 0x42
HKDF_HASHES = {hashes.SHA1: 0x220, hashes.SHA256: cryptoki.SHA256, hashes.SHA3_512: 0x2D0}


def expected_of_hkdf(algorithm, value, size, salt, info, *, extract, expand):
    if not expand:
        made = hmac.HMAC(salt or bytes(algorithm.digest_size), algorithm)
        made.update(value)
        return made.finalize()[:size]
    if not extract:
        return HKDFExpand(algorithm, size, info).derive(value)
    return HKDF(algorithm, size, salt, info).derive(value)


@pytest.mark.parametrize("algorithm", HKDF_HASHES)
@pytest.mark.parametrize("ways", [(True, True), (True, False), (False, True)])
def test_hkdf(session, algorithm, ways):
    """Keys of the right bytes, with a salt that is bytes, a key, or nothing."""
    value, salt = os.urandom(40), os.urandom(13)
    may = {cryptoki.DERIVE: True}
    secret = {CLASS: cryptoki.SECRET_KEY, KEY_TYPE: cryptoki.GENERIC_SECRET} | may
    key = session.create(secret | {VALUE: value})
    salt_key = session.create(secret | {VALUE: salt, KEY_TYPE: CKK_HKDF})
    how = {"extract": ways[0], "expand": ways[1]}
    for given, used in ((None, None), (b"", None), (salt, salt), (salt_key, salt)):
        for info in (b"", b"info"):
            for size in (1, 16, algorithm.digest_size, *((255,) if how["expand"] else ())):
                parameter = cryptoki.Hkdf(HKDF_HASHES[algorithm], given, info, **how)
                template = SHOWN | {cryptoki.VALUE_LEN: size}
                made = session.derive_with(HKDF_DERIVE, parameter, key, template)
                expected = expected_of_hkdf(algorithm(), value, size, used, info, **how)
                assert session.get(made, VALUE) == expected
    if not how["expand"]:
        made = session.derive_with(HKDF_DERIVE, parameter, key, SHOWN)
        assert len(session.get(made, VALUE)) == algorithm.digest_size
    template = {KEY_TYPE: cryptoki.AES, cryptoki.VALUE_LEN: 16}
    aes = session.derive_with(HKDF_DERIVE, parameter, key, template)
    session.encrypt(aes, AES_ECB, bytes(16))
    assert session.is_true(aes, cryptoki.SENSITIVE)


def test_refused_hkdf(session):
    secret = {CLASS: cryptoki.SECRET_KEY, KEY_TYPE: cryptoki.GENERIC_SECRET, VALUE: bytes(32)}
    key = session.create(secret | {cryptoki.DERIVE: True})
    no_key = session.create(secret)
    size = {cryptoki.VALUE_LEN: 32}
    right = cryptoki.Hkdf(cryptoki.SHA256)
    for parameter, base, template, code in (
        (right, no_key, size, cryptoki.KEY_FUNCTION_NOT_PERMITTED),
        (right, session.generate_aes(size), size, cryptoki.KEY_TYPE_INCONSISTENT),
        (right, 0, size, cryptoki.KEY_HANDLE_INVALID),
        (right, key, {}, cryptoki.TEMPLATE_INCOMPLETE),
        (right, key, {cryptoki.VALUE_LEN: 1025}, cryptoki.KEY_SIZE_RANGE),
        (right, key, size | {cryptoki.WRAP: True}, cryptoki.TEMPLATE_INCONSISTENT),
        (cryptoki.Hkdf(cryptoki.SHA256, no_key), key, size, cryptoki.KEY_FUNCTION_NOT_PERMITTED),
        (cryptoki.Hkdf(cryptoki.SHA256, 0), key, size, cryptoki.KEY_HANDLE_INVALID),
        (cryptoki.Hkdf(1), key, size, cryptoki.MECHANISM_PARAM_INVALID),
        (bytes(8), key, size, cryptoki.MECHANISM_PARAM_INVALID),
        (
            *(cryptoki.Hkdf(cryptoki.SHA256, extract=False, expand=False), key, size),
            cryptoki.MECHANISM_PARAM_INVALID,
        ),
        (
            *(cryptoki.Hkdf(cryptoki.SHA256, expand=False), key, {cryptoki.VALUE_LEN: 33}),
            cryptoki.KEY_SIZE_RANGE,
        ),
    ):
        with fails(code):
            session.derive_with(HKDF_DERIVE, parameter, base, template)


# Input and output in one place.

MECHANISMS = {
    AES_ECB: b"",
    AES_CBC: IV,
    cryptoki.AES_CBC_PAD: IV,
    AES_CTR: (128).to_bytes(8, "little") + IV,
    AES_GCM: cryptoki.Gcm(IV, b"beside", 128),
}
AT = 64  # in the buffer: what is before and behind is not touched


def overlapping(session, function, data, shift, room):
    """Call a function whose output begins `shift` bytes behind its input."""
    before = os.urandom(AT + len(data) + room + AT)
    buffer = (ctypes.c_ubyte * len(before))(*before)
    buffer[AT : AT + len(data)] = data
    size = ctypes.c_ulong(room)
    output = ctypes.byref(buffer, AT + shift)
    session.call(function, ctypes.byref(buffer, AT), len(data), output, ctypes.byref(size))
    made = bytes(buffer[AT + shift : AT + shift + size.value])
    expected = bytearray(before)
    expected[AT : AT + len(data)] = data
    expected[AT + shift : AT + shift + size.value] = made
    assert bytes(buffer) == expected
    return made


def overlapping_parts(session, function, key, mechanism, parameter, data, shift, cuts):
    session.begin(f"C_{function}Init", key, mechanism, parameter)
    made = b"".join(
        overlapping(session, f"C_{function}Update", data[start:end], shift, end - start + 16)
        for start, end in itertools.pairwise((0, *cuts, len(data)))
    )
    return made + session.final(f"C_{function}Final")


@pytest.mark.parametrize("shift", [0, -16, -1, 1, 16, 17])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_text_in_place(session, mechanism, shift):
    """In one call, and in parts of any length."""
    generator = random.Random(mechanism)
    key = import_secret(session, cryptoki.AES, bytes(range(32)))
    parameter = MECHANISMS[mechanism]
    data = os.urandom(160)
    text = session.encrypt(key, mechanism, data, parameter)
    for function, given, expected in (("Encrypt", data, text), ("Decrypt", text, data)):
        session.begin(f"C_{function}Init", key, mechanism, parameter)
        assert overlapping(session, f"C_{function}", given, shift, len(given) + 16) == expected
        for count in (0, 1, 2, 5, 9):
            cuts = sorted(generator.choices(range(len(given) + 1), k=count))
            made = overlapping_parts(
                session, function, key, mechanism, parameter, given, shift, cuts
            )
            assert made == expected, (function, cuts)


def test_a_digest_and_an_hmac_in_place(session):
    data = os.urandom(100)
    key = import_secret(session, cryptoki.GENERIC_SECRET, bytes(range(32)))
    expected = session.digest(cryptoki.SHA256, data), session.sign(key, 0x251, data)
    for shift in (-1, 0, 1):
        session.call("C_DigestInit", ctypes.byref(cryptoki.mechanism(cryptoki.SHA256)))
        assert overlapping(session, "C_Digest", data, shift, 32) == expected[0]
        session.begin("C_SignInit", key, 0x251)
        assert overlapping(session, "C_Sign", data, shift, 32) == expected[1]


@pytest.mark.parametrize(
    "shift", [1, *(pytest.param(shift, marks=pytest.mark.clients) for shift in (-1, 0))]
)
def test_keys_of_two_halves_in_place(session, shift):
    """Signatures, encryption and decryption, where nothing is hashed before."""
    public, private = session.generate_pair()
    for mechanism in (cryptoki.RSA_PKCS, cryptoki.RSA_X_509):
        data = b"\0" + os.urandom(127) if mechanism == cryptoki.RSA_X_509 else os.urandom(30)
        session.begin("C_SignInit", private, mechanism)
        signature = overlapping(session, "C_Sign", data, shift, 128)
        session.verify(public, mechanism, data, signature)
        session.begin("C_EncryptInit", public, mechanism)
        text = overlapping(session, "C_Encrypt", data, shift, 128)
        session.begin("C_DecryptInit", private, mechanism)
        assert overlapping(session, "C_Decrypt", text, shift, 128) == data
    for kind, parameters, mechanism, size in (
        (cryptoki.EC_KEY_PAIR_GEN, "06082a8648ce3d030107", cryptoki.ECDSA, 32),
        (cryptoki.EC_EDWARDS_KEY_PAIR_GEN, "06032b6570", cryptoki.EDDSA, 100),
    ):
        curve = {cryptoki.EC_PARAMS: bytes.fromhex(parameters)}
        public, private = session.generate(kind, curve, {})
        data = os.urandom(size)
        session.begin("C_SignInit", private, mechanism)
        signature = overlapping(session, "C_Sign", data, shift, 64)
        session.verify(public, mechanism, data, signature)


# Hashing a key.


def digest_of_key(session, key):
    session.call("C_DigestInit", ctypes.byref(cryptoki.mechanism(cryptoki.SHA256)))
    session.update("C_DigestUpdate", b"before ")
    session.call("C_DigestKey", key)
    return session.final("C_DigestFinal")


@pytest.mark.parametrize(
    "template", [{}, {cryptoki.SENSITIVE: False}, {cryptoki.EXTRACTABLE: True}]
)
def test_a_hidden_key_is_not_hashed(session, template):
    """The digest of a long key is the one with which HMAC computes: a MAC could be forged."""
    value = os.urandom(100)
    secret = {CLASS: cryptoki.SECRET_KEY, KEY_TYPE: cryptoki.GENERIC_SECRET, VALUE: value}
    with fails(cryptoki.KEY_INDIGESTIBLE):
        digest_of_key(session, session.create(secret | template))
    with fails(cryptoki.OPERATION_NOT_INITIALIZED):
        session.final("C_DigestFinal")
    shown = digest_of_key(session, session.create(secret | SHOWN))
    assert shown == hashlib.sha256(b"before " + value).digest()


def test_a_key_is_hashed_only_with_its_mechanisms(session):
    secret = {
        CLASS: cryptoki.SECRET_KEY,
        KEY_TYPE: cryptoki.GENERIC_SECRET,
        VALUE: b"a key",
    } | SHOWN
    allowed = {cryptoki.ALLOWED_MECHANISMS: bytes(ctypes.c_ulong(cryptoki.SHA256))}
    digest_of_key(session, session.create(secret | allowed))
    for other in (b"", bytes(ctypes.c_ulong(0x251))):
        with fails(cryptoki.KEY_INDIGESTIBLE):
            digest_of_key(session, session.create(secret | {cryptoki.ALLOWED_MECHANISMS: other}))


# What is given beside a value, and follows from it.

CERTIFICATE, CERTIFICATE_TYPE, CHECK_VALUE = 1, 0x80, 0x90


@pytest.mark.parametrize("size", [16, 24, 32])
def test_a_check_value_belongs_to_its_key(session, size):
    """Of AES the beginning of an encrypted block of zeros, of others of SHA-1; or it is empty."""
    value = os.urandom(size)
    by_type = {
        cryptoki.AES: transform("encryptor", value, modes.ECB(), bytes(16)),
        cryptoki.GENERIC_SECRET: hashlib.sha1(value).digest(),
        0x2B: hashlib.sha1(value).digest(),  # CKK_SHA256_HMAC
    }
    for kind, digest in by_type.items():
        key = {CLASS: cryptoki.SECRET_KEY, KEY_TYPE: kind, VALUE: value}
        for right in (digest[:3], b""):
            made = session.create(key | {CHECK_VALUE: right})
            assert session.get(made, CHECK_VALUE) == right
        for wrong in (bytes(3), digest[:2], digest[:4], digest[1:4]):
            with fails(cryptoki.ATTRIBUTE_VALUE_INVALID):
                session.create(key | {CHECK_VALUE: wrong})


def test_what_belongs_to_a_certificate(session):
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "x")])
    now = datetime.datetime(2026, 1, 1)
    made = x509.CertificateBuilder(name, name, private.public_key(), 1, now, now)
    value = made.sign(private, hashes.SHA256()).public_bytes(serialization.Encoding.DER)
    info = private.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    template = {CLASS: CERTIFICATE, CERTIFICATE_TYPE: 0, VALUE: value}
    digest = hashlib.sha1(value).digest()
    session.create(template | {CHECK_VALUE: digest[:3], cryptoki.PUBLIC_KEY_INFO: info})
    session.create(template | {CHECK_VALUE: b"", cryptoki.PUBLIC_KEY_INFO: b""})
    for wrong in (
        {CHECK_VALUE: digest[1:4]},
        {cryptoki.PUBLIC_KEY_INFO: info[:-1] + b"x"},
        {cryptoki.PUBLIC_KEY_INFO: info, VALUE: b"no certificate"},
    ):
        with fails(cryptoki.ATTRIBUTE_VALUE_INVALID):
            session.create(template | wrong)
