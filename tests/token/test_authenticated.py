"""Encryption with a tag: CCM and ChaCha20-Poly1305, and messages one after the other.

Vectors of RFC 8439 and SP 800-38C; for all else `cryptography` is on the other side.
"""

import ctypes
import os
import random

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM, ChaCha20Poly1305

from coprime.token.module import TokenError
from tests.token import cryptoki
from tests.token.cryptoki import CLASS, KEY_TYPE, VALUE, VALUE_LEN

pytestmark = pytest.mark.xdist_group("token")

AES_GCM, AES_CCM, CHACHA20_POLY1305, CHACHA20_KEY_GEN = 0x1087, 0x1088, 0x4021, 0x1225
CHACHA20 = 0x33
DATA_LEN_RANGE, ENCRYPTED_DATA_LEN_RANGE = 0x21, 0x41
END_OF_MESSAGE = 1


def fails(code):
    return pytest.raises(TokenError, check=lambda error: error.code == code)


def import_key(session, kind, value, others=()):
    template = {CLASS: cryptoki.SECRET_KEY, KEY_TYPE: kind, VALUE: value}
    return session.create(template | dict(others))


def in_parts(session, function, key, mechanism, parameter, parts):
    session.begin(f"C_{function}Init", key, mechanism, parameter)
    made = b"".join(session.give(f"C_{function}Update", part) for part in parts)
    return made + session.final(f"C_{function}Final")


def cut(data, count):
    """Parts of random lengths, of which some are empty."""
    cuts = sorted(random.Random(len(data)).choices(range(len(data) + 1), k=count))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


RANGE = bytes(range(256))
OF_SP_800_38C = [  # nonce, data, text, what is made of it with the key 40 ... 4f
    (RANGE[16:23], RANGE[:8], RANGE[32:36], "7162015b4dac255d"),
    (RANGE[16:24], RANGE[:16], RANGE[32:48], "d2a1f0e051ea5f62081a7792073d593d1fc64fbfaccd"),
    (
        *(RANGE[16:28], RANGE[:20], RANGE[32:56]),
        "e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5484392fbc1b09951",
    ),
    (
        *(RANGE[16:29], 256 * RANGE, RANGE[32:64]),
        "69915dad1e84c6376a68c2967e4dab615ae0fd1faec44cc484828529463ccf72"
        "b4ac6bec93e8598e7f0dadbcea5b",
    ),
]


@pytest.mark.parametrize(("nonce", "data", "text", "expected"), OF_SP_800_38C)
def test_ccm_of_sp_800_38c(session, nonce, data, text, expected):
    key = import_key(session, cryptoki.AES, RANGE[0x40:0x50])
    sealed = bytes.fromhex(expected)
    given = cryptoki.Ccm(nonce, data, len(sealed) - len(text), len(text))
    assert session.encrypt(key, AES_CCM, text, given) == sealed
    assert session.decrypt(key, AES_CCM, sealed, given) == text


SUNSCREEN = (
    b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future,"
    b" sunscreen would be it."
)


def test_chacha20_poly1305_of_rfc_8439(session):
    """Its section 2.8.2."""
    key = import_key(session, CHACHA20, RANGE[0x80:0xA0])
    given = cryptoki.Chacha(
        bytes.fromhex("070000004041424344454647"), bytes.fromhex("50515253c0c1c2c3c4c5c6c7")
    )
    sealed = bytes.fromhex(
        "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6"
        "3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36"
        "92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
        "3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691"
    )
    assert session.encrypt(key, CHACHA20_POLY1305, SUNSCREEN, given) == sealed
    assert session.decrypt(key, CHACHA20_POLY1305, sealed, given) == SUNSCREEN


KINDS = [  # mechanism, type of its keys, their bytes, bytes of a nonce and of a tag
    (AES_CCM, cryptoki.AES, 16, 7, 4),
    (AES_CCM, cryptoki.AES, 24, 13, 16),
    (AES_CCM, cryptoki.AES, 32, 12, 10),
    (CHACHA20_POLY1305, CHACHA20, 32, 12, 16),
]


def parameters(mechanism, nonce, data, tag, size):
    if mechanism == AES_CCM:
        return cryptoki.Ccm(nonce, data, tag, size)
    if mechanism == AES_GCM:
        return cryptoki.Gcm(nonce, data, 8 * tag)
    return cryptoki.Chacha(nonce, data)


def peer(mechanism, value, tag):
    if mechanism == AES_CCM:
        return AESCCM(value, tag)
    return AESGCM(value) if mechanism == AES_GCM else ChaCha20Poly1305(value)


@pytest.mark.parametrize(("mechanism", "kind", "size", "nonce_size", "tag"), KINDS)
def test_texts_with_a_tag(session, mechanism, kind, size, nonce_size, tag):
    """In one call and in parts, with data beside it or none; nothing is shown of a wrong one."""
    value, nonce = os.urandom(size), os.urandom(nonce_size)
    key = import_key(session, kind, value)
    for length in (0, 1, 15, 16, 17, 1000):
        for data in (b"", b"beside"):
            text = os.urandom(length)
            given = parameters(mechanism, nonce, data, tag, length)
            sealed = peer(mechanism, value, tag).encrypt(nonce, text, data)
            assert session.encrypt(key, mechanism, text, given) == sealed
            assert session.decrypt(key, mechanism, sealed, given) == text
            for count in (0, 3):
                parts = cut(text, count)
                assert in_parts(session, "Encrypt", key, mechanism, given, parts) == sealed
                parts = cut(sealed, count)
                assert in_parts(session, "Decrypt", key, mechanism, given, parts) == text
            for at in {0, length, len(sealed) - 1}:
                wrong = bytearray(sealed)
                wrong[at] ^= 1
                with fails(cryptoki.ENCRYPTED_DATA_INVALID):
                    session.decrypt(key, mechanism, bytes(wrong), given)
            other = parameters(mechanism, nonce, data + b".", tag, length)
            with fails(cryptoki.ENCRYPTED_DATA_INVALID):
                session.decrypt(key, mechanism, sealed, other)
    with fails(ENCRYPTED_DATA_LEN_RANGE):
        session.decrypt(key, mechanism, bytes(tag - 1), parameters(mechanism, nonce, b"", tag, 0))


def test_a_text_of_ccm_has_the_length_that_was_said(session):
    key = import_key(session, cryptoki.AES, bytes(16))
    given = cryptoki.Ccm(bytes(12), b"", 8, 5)
    for length in (4, 6):
        with fails(DATA_LEN_RANGE):
            session.encrypt(key, AES_CCM, bytes(length), given)
        with fails(ENCRYPTED_DATA_LEN_RANGE):
            session.decrypt(key, AES_CCM, bytes(length + 8), given)
        session.begin("C_EncryptInit", key, AES_CCM, given)
        session.give("C_EncryptUpdate", bytes(length))
        with fails(DATA_LEN_RANGE):
            session.final("C_EncryptFinal")


def test_refused_parameters(session):
    aes = import_key(session, cryptoki.AES, bytes(16))
    chacha = import_key(session, CHACHA20, RANGE[:32])
    for key, mechanism, parameter in (
        (aes, AES_CCM, b""),
        (aes, AES_CCM, cryptoki.Ccm(bytes(6), b"", 16, 0)),
        (aes, AES_CCM, cryptoki.Ccm(bytes(14), b"", 16, 0)),
        (aes, AES_CCM, cryptoki.Ccm(bytes(12), b"", 2, 0)),
        (aes, AES_CCM, cryptoki.Ccm(bytes(12), b"", 5, 0)),
        (aes, AES_CCM, cryptoki.Ccm(bytes(12), b"", 18, 0)),
        (aes, AES_CCM, cryptoki.Ccm(bytes(13), b"", 16, 1 << 16)),  # two bytes are left for it
        (chacha, CHACHA20_POLY1305, b""),
        (chacha, CHACHA20_POLY1305, cryptoki.Chacha(bytes(8), b"")),
        (chacha, CHACHA20_POLY1305, cryptoki.Chacha(bytes(13), b"")),
    ):
        with fails(cryptoki.MECHANISM_PARAM_INVALID):
            session.encrypt(key, mechanism, b"", parameter)
    given = cryptoki.Chacha(bytes(12), b"")
    with fails(cryptoki.KEY_TYPE_INCONSISTENT):
        session.encrypt(aes, CHACHA20_POLY1305, b"", given)
    with fails(cryptoki.KEY_SIZE_RANGE):
        session.encrypt(import_key(session, CHACHA20, bytes(16)), CHACHA20_POLY1305, b"", given)


def test_a_key_of_chacha20_is_generated(session):
    """With 32 bytes, also if the template does not say so."""
    for template in ({}, {VALUE_LEN: 32}):
        key = session.generate_secret(CHACHA20_KEY_GEN, template)
        assert session.get(key, VALUE_LEN) == bytes(ctypes.c_ulong(32))
        given = cryptoki.Chacha(bytes(12), b"")
        sealed = session.encrypt(key, CHACHA20_POLY1305, b"text", given)
        assert session.decrypt(key, CHACHA20_POLY1305, sealed, given) == b"text"
    with fails(cryptoki.KEY_SIZE_RANGE):
        session.generate_secret(CHACHA20_KEY_GEN, {VALUE_LEN: 16})


# Messages.


def message_of(mechanism, nonce, tag, size, **others):
    if mechanism == AES_CCM:
        return cryptoki.CcmMessage(nonce, tag, size, **others)
    if mechanism == AES_GCM:
        return cryptoki.GcmMessage(nonce, tag, **others)
    return cryptoki.ChachaMessage(nonce, tag)


def whole(session, function, parameter, data, text, room=None):
    size = ctypes.c_ulong(len(text) if room is None else room)
    output = (ctypes.c_ubyte * (size.value + 1))()
    given = (ctypes.byref(parameter), ctypes.sizeof(parameter))
    session.call(
        *(f"C_{function}Message", *given, data, len(data), text, len(text)),
        *(output, ctypes.byref(size)),
    )
    return bytes(output[: size.value])


def parts_of_message(session, function, parameter, data, parts):
    """Each part, the last one marked, with as much room as all of them have."""
    given = (ctypes.byref(parameter), ctypes.sizeof(parameter))
    session.call(f"C_{function}MessageBegin", *given, data, len(data))
    made = b""
    for place, part in enumerate(parts):
        size = ctypes.c_ulong(sum(map(len, parts)))
        output = (ctypes.c_ubyte * (size.value + 1))()
        flags = END_OF_MESSAGE if place == len(parts) - 1 else 0
        session.call(
            *(f"C_{function}MessageNext", *given, part, len(part), output),
            *(ctypes.byref(size), flags),
        )
        made += bytes(output[: size.value])
    return made


MESSAGES = [(AES_GCM, cryptoki.AES, 16, 12, 16), (AES_GCM, cryptoki.AES, 32, 60, 13), *KINDS]


@pytest.mark.parametrize(("mechanism", "kind", "size", "nonce_size", "tag"), MESSAGES)
def test_messages(session, mechanism, kind, size, nonce_size, tag):
    """One after the other, whole and in parts; a wrong one ends no other."""
    value = os.urandom(size)
    key = import_key(session, kind, value)
    session.begin("C_MessageEncryptInit", key, mechanism)
    session.begin("C_MessageDecryptInit", key, mechanism)
    for length in (0, 1, 16, 1000):
        for data in (b"", b"beside"):
            text, nonce = os.urandom(length), os.urandom(nonce_size)
            sealed = peer(mechanism, value, tag).encrypt(nonce, text, data)[: length + tag]
            for count in (None, 0, 4):
                parameter = message_of(mechanism, nonce, bytes(tag), length)
                if count is None:
                    made = whole(session, "Encrypt", parameter, data, text)
                    back = whole(session, "Decrypt", parameter, data, made)
                else:
                    parts = cut(text, count)
                    made = parts_of_message(session, "Encrypt", parameter, data, parts)
                    parts = cut(made, count)
                    back = parts_of_message(session, "Decrypt", parameter, data, parts)
                assert made + parameter.tag_bytes.raw == sealed
                assert back == text
                wrong = parameter.tag_bytes.raw
                parameter.tag_bytes.raw = wrong[:-1] + bytes([wrong[-1] ^ 1])
                with fails(cryptoki.ENCRYPTED_DATA_INVALID):
                    whole(session, "Decrypt", parameter, data, made)
                with fails(cryptoki.ENCRYPTED_DATA_INVALID):
                    parts_of_message(session, "Decrypt", parameter, data, [made])
    session.call("C_MessageEncryptFinal")
    session.call("C_MessageDecryptFinal")
    with fails(cryptoki.OPERATION_NOT_INITIALIZED):
        whole(session, "Encrypt", parameter, b"", b"")


@pytest.mark.parametrize("mechanism", [AES_GCM, AES_CCM, CHACHA20_POLY1305])
def test_a_message_without_room(session, mechanism):
    """The call says how much there is to be, and can be repeated."""
    kind, value = (CHACHA20 if mechanism == CHACHA20_POLY1305 else cryptoki.AES), bytes(32)
    session.begin("C_MessageEncryptInit", import_key(session, kind, value), mechanism)
    session.begin("C_MessageDecryptInit", import_key(session, kind, value), mechanism)
    parameter = message_of(mechanism, bytes(12), bytes(16), 40)
    with fails(cryptoki.BUFFER_TOO_SMALL):
        whole(session, "Encrypt", parameter, b"", bytes(40), 39)
    sealed = whole(session, "Encrypt", parameter, b"", bytes(40))
    given = (ctypes.byref(parameter), ctypes.sizeof(parameter))
    session.call("C_DecryptMessageBegin", *given, b"", 0)
    size = ctypes.c_ulong(40)
    output = (ctypes.c_ubyte * 40)()
    following = (output, ctypes.byref(size))
    session.call("C_DecryptMessageNext", *given, sealed[:30], 30, *following, 0)
    assert size.value == 0
    size.value = 39
    with fails(cryptoki.BUFFER_TOO_SMALL):
        session.call("C_DecryptMessageNext", *given, sealed[30:], 10, *following, END_OF_MESSAGE)
    assert size.value == 40
    session.call("C_DecryptMessageNext", *given, sealed[30:], 10, None, ctypes.byref(size), 1)
    session.call("C_DecryptMessageNext", *given, sealed[30:], 10, *following, END_OF_MESSAGE)
    assert bytes(output) == bytes(40)
    with fails(cryptoki.OPERATION_NOT_INITIALIZED):
        session.call("C_DecryptMessageNext", *given, b"", 0, *following, END_OF_MESSAGE)
    session.call("C_MessageEncryptFinal")
    session.call("C_MessageDecryptFinal")


def test_drawn_nonces(session):
    """96 bits or more are drawn, and the fixed ones stay; a counter would begin anew each time."""
    session.begin("C_MessageEncryptInit", import_key(session, cryptoki.AES, bytes(16)), AES_GCM)
    for source in (cryptoki.GENERATE, cryptoki.GENERATE_RANDOM):
        seen = set()
        for _ in range(4):
            parameter = cryptoki.GcmMessage(b"\xff" * 16, bytes(16), fixed=32, source=source)
            sealed = whole(session, "Encrypt", parameter, b"", b"text")
            nonce = parameter.nonce_bytes.raw
            seen.add(nonce)
            assert nonce[:4] == b"\xff" * 4
            assert (
                AESGCM(bytes(16)).decrypt(nonce, sealed + parameter.tag_bytes.raw, b"") == b"text"
            )
        assert len(seen) == 4
    for parameter in (
        cryptoki.GcmMessage(bytes(12), bytes(16), fixed=8, source=cryptoki.GENERATE),
        cryptoki.GcmMessage(bytes(16), bytes(16), fixed=4, source=cryptoki.GENERATE),
        cryptoki.GcmMessage(bytes(16), bytes(16), fixed=1 << 63, source=cryptoki.GENERATE),
        cryptoki.GcmMessage(bytes(16), bytes(16), source=cryptoki.GENERATE_COUNTER),
        cryptoki.GcmMessage(bytes(12), bytes(3)),
        cryptoki.ChachaMessage(bytes(12), bytes(16)),
    ):
        with fails(cryptoki.MECHANISM_PARAM_INVALID):
            whole(session, "Encrypt", parameter, b"", b"text")
    session.call("C_MessageEncryptFinal")


def test_a_message_is_under_way(session):
    key = import_key(session, cryptoki.AES, bytes(16))
    session.begin("C_MessageEncryptInit", key, AES_GCM)
    parameter = cryptoki.GcmMessage(bytes(12), bytes(16))
    given = (ctypes.byref(parameter), ctypes.sizeof(parameter))
    session.call("C_EncryptMessageBegin", *given, b"", 0)
    with fails(cryptoki.OPERATION_ACTIVE):
        whole(session, "Encrypt", parameter, b"", b"text")
    with fails(cryptoki.OPERATION_ACTIVE):
        session.call("C_EncryptMessageBegin", *given, b"", 0)
    with fails(cryptoki.OPERATION_ACTIVE):
        session.begin("C_MessageEncryptInit", key, AES_GCM)
    session.call("C_MessageEncryptFinal")
    with fails(cryptoki.MECHANISM_INVALID):
        session.begin("C_MessageEncryptInit", key, 0x1082)


def test_a_key_enciphers_messages_as_it_may(session):
    forbidden = {cryptoki.ENCRYPT: False}
    allowed = {cryptoki.ALLOWED_MECHANISMS: bytes(ctypes.c_ulong(AES_CCM))}
    no_encrypt = import_key(session, cryptoki.AES, bytes(16), forbidden | allowed)
    with fails(cryptoki.KEY_FUNCTION_NOT_PERMITTED):
        session.begin("C_MessageEncryptInit", no_encrypt, AES_CCM)
    with fails(cryptoki.MECHANISM_INVALID):
        session.begin("C_MessageDecryptInit", no_encrypt, AES_GCM)
    session.begin("C_MessageDecryptInit", no_encrypt, AES_CCM)
    session.call("C_MessageDecryptFinal")
