"""Keys derived by the functions of SP 800-108 and by encryption, and data by HKDF.

The vectors of NIST's validation programme, of counter mode from `cryptography_vectors`;
`cryptography` and OpenSSL's command are on the other side.
"""

import ctypes
import hashlib
import hmac
import os
import re
import subprocess
from pathlib import Path

import cryptography_vectors
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.kbkdf import KBKDFCMAC, KBKDFHMAC, CounterLocation, Mode

from coprime.token.module import TokenError
from tests.token import cryptoki
from tests.token.cryptoki import BYTES, CLASS, COUNTER, ITERATION, KEY_TYPE, LENGTH, VALUE, field
from tests.token.tokens import skip_without

pytestmark = pytest.mark.xdist_group("token")

COUNTER_KDF, FEEDBACK_KDF, DOUBLE_PIPELINE_KDF = 0x3AC, 0x3AD, 0x3AE
AES_CMAC, HKDF_DATA = 0x108A, 0x402B
HMACS = {"SHA1": 0x221, "SHA224": 0x256, "SHA256": 0x251, "SHA384": 0x261, "SHA512": 0x271}
SHOWN = {cryptoki.SENSITIVE: False, cryptoki.EXTRACTABLE: True}
OF_KEY, OF_BLOCKS = 1, 2


def fails(code):
    return pytest.raises(TokenError, check=lambda error: error.code == code)


def import_key(session, value, kind=cryptoki.GENERIC_SECRET, others=()):
    template = {CLASS: cryptoki.SECRET_KEY, KEY_TYPE: kind, VALUE: value, cryptoki.DERIVE: True}
    return session.create(template | dict(others))


def derive(session, mode, parameter, key, size):
    template = SHOWN | {cryptoki.VALUE_LEN: size}
    return session.get(session.derive_with(mode, parameter, key, template), VALUE)


def number(bits, little_endian=False, method=None):
    return (bits, little_endian) if method is None else (bits, little_endian, method)


def sections(path):
    """NIST's vectors: the values in brackets, and those of each case below them."""
    settings, case = {}, {}
    for line in path.read_text().splitlines():
        if found := re.fullmatch(r"\[(\w+)=(\w+)\]", line.strip()):
            settings[found[1]] = found[2]
        elif " = " in line or "=" in line.strip("\t "):
            name, _, value = (text.strip() for text in line.strip().partition("="))
            if name == "COUNT":
                case = {}
            case[name] = value
            if name == "KO":
                yield dict(settings), case


VECTORS = Path(cryptography_vectors.__file__).parent / "KDF" / "nist-800-108-KBKDF-CTR.txt"


def prf_of(name):
    """The pseudorandom function of a vector, None if the token has none; the type of its keys."""
    if name.startswith("CMAC_AES"):
        return AES_CMAC, cryptoki.AES
    return (HMACS.get(name.removeprefix("HMAC_")), cryptoki.GENERIC_SECRET)


@pytest.mark.parametrize("location", ["BEFORE_FIXED", "AFTER_FIXED", "MIDDLE_FIXED"])
def test_nist_vectors_of_counter_mode(session, location):
    """The first two cases of each function and width of the counter."""
    seen, count = set(), 0
    for settings, case in sections(VECTORS):
        prf, kind = prf_of(settings["PRF"])
        name = (settings["PRF"], settings["RLEN"], settings["CTRLOCATION"])
        if prf is None or settings["CTRLOCATION"] != location or case["COUNT"] not in "01":
            continue
        counter = field(ITERATION, number(int(settings["RLEN"].removesuffix("_BITS"))))
        if location == "MIDDLE_FIXED":
            parts = (case["DataBeforeCtrData"], case["DataAfterCtrData"])
        elif location == "BEFORE_FIXED":
            parts = ("", case["FixedInputData"])
        else:
            parts = (case["FixedInputData"], "")
        before, after = (field(BYTES, bytes.fromhex(part)) for part in parts)
        parameter = cryptoki.Kbkdf(prf, [before, counter, after])
        key = import_key(session, bytes.fromhex(case["KI"]), kind)
        expected = bytes.fromhex(case["KO"])
        assert derive(session, COUNTER_KDF, parameter, key, len(expected)) == expected, name
        seen.add(name)
        count += 1
    assert len(seen) >= 30 and count >= len(seen)


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("location", [CounterLocation.BeforeFixed, CounterLocation.AfterFixed])
def test_counter_mode_of_another_library(session, width, location):
    """With a label, a context, and the length in bits."""
    label, context = b"label", b"some context"
    for size in (1, 32, 100):
        for value, prf, kind in (
            (os.urandom(40), 0x251, cryptoki.GENERIC_SECRET),
            (os.urandom(24), AES_CMAC, cryptoki.AES),
        ):
            fixed = [field(BYTES, label), field(BYTES, b"\0"), field(BYTES, context)]
            fixed.append(field(LENGTH, number(32, method=OF_KEY)))
            counter = field(ITERATION, number(8 * width))
            first = location == CounterLocation.BeforeFixed
            fields = [counter, *fixed] if first else [*fixed, counter]
            common = (Mode.CounterMode, size, width, 4, location, label, context, None)
            peer = (
                KBKDFCMAC(algorithms.AES, *common)
                if prf == AES_CMAC
                else KBKDFHMAC(hashes.SHA256(), *common)
            )
            key = import_key(session, value, kind)
            made = derive(session, COUNTER_KDF, cryptoki.Kbkdf(prf, fields), key, size)
            assert made == peer.derive(value)


@pytest.mark.parametrize("start", [b"", bytes(range(32))])
def test_feedback_mode_of_openssl(session, start):
    skip_without("openssl")
    value, label, context = os.urandom(32), b"label", b"some context"
    for size in (16, 32, 70):
        command = [
            *("openssl", "kdf", "-keylen", str(size), "-kdfopt", "mac:HMAC", "-binary"),
            *("-kdfopt", "digest:SHA256", "-kdfopt", "mode:FEEDBACK"),
            *("-kdfopt", f"hexkey:{value.hex()}", "-kdfopt", f"hexsalt:{label.hex()}"),
            *("-kdfopt", f"hexinfo:{context.hex()}"),
            *(("-kdfopt", f"hexseed:{start.hex()}") if start else ()),
            "KBKDF",
        ]
        expected = subprocess.run(command, capture_output=True, check=True).stdout
        fields = [field(ITERATION), field(COUNTER, number(32)), field(BYTES, label)]
        fields += [field(BYTES, b"\0"), field(BYTES, context)]
        fields.append(field(LENGTH, number(32, method=OF_KEY)))
        parameter = cryptoki.KbkdfFeedback(0x251, fields, start)
        made = derive(session, FEEDBACK_KDF, parameter, import_key(session, value), size)
        assert made == expected


# CMAC with AES-128 and the counter after the iteration variable, of NIST's validation programme.
OF_PIPELINE = [
    (
        "34f0c2542bfe13c7149b68c8a1ef636b",
        "daefcc52d6e32e1614109268933087fce3d64a5a6f111ba1a8d343a1e388a1752aaea93853be5286"
        "4997a81c84b04c4f3ff3bd",
        "fc0eae673e7db3c4660668e187bcd81d5ca9b89213d8d741e71c9bab89bb4fb3"
        "c4df541d89a8117f0f56b0f15111ae28abf81fb7d7349fbbcaf01137e4d73527",
    ),
    (
        "2303ba6761332aa885b25e371b4d1015",
        "eb933ae1ce644e79078a78354b46f1b26ab99b68bc7526e8d583251ab4e0332ad6b10eeedabbb731"
        "706abcfabcfb40c00449ef",
        "b61b5033c09a120bea322b37779776503e6d0140b4842c0d16cc7712f6931fb162b0cd0cf577b026"
        "a8c5de53fdf54fc381e804503f8e69963e86b6ce1e6a72c972c6e32e6cd8",
    ),
]


@pytest.mark.parametrize(("secret", "fixed", "expected"), OF_PIPELINE)
def test_vectors_of_the_double_pipeline(session, secret, fixed, expected):
    fields = [field(ITERATION), field(COUNTER, number(32)), field(BYTES, bytes.fromhex(fixed))]
    parameter = cryptoki.Kbkdf(AES_CMAC, fields)
    key = import_key(session, bytes.fromhex(secret), cryptoki.AES)
    size = len(expected) // 2
    assert derive(session, DOUBLE_PIPELINE_KDF, parameter, key, size).hex() == expected


def by_the_book(mode, value, size, *, start, counter, label):
    """SP 800-108r1, 4.2 and 4.3, with SHA-512; the counter is little-endian, the length that of all
    blocks in 64 bits."""

    def prf(text):
        return hmac.digest(value, text, hashlib.sha512)

    count = -(-size // 64)
    fixed = label + (512 * count).to_bytes(8, "little")
    made, before, pipeline = b"", start, fixed
    for i in range(1, count + 1):
        if mode == DOUBLE_PIPELINE_KDF:
            before = pipeline = prf(pipeline)
        block = prf(before + (i.to_bytes(counter, "little") if counter else b"") + fixed)
        made += block
        if mode == FEEDBACK_KDF:
            before = block
    return made[:size]


@pytest.mark.parametrize("counter", [0, 1, 3])
@pytest.mark.parametrize("mode", [FEEDBACK_KDF, DOUBLE_PIPELINE_KDF])
def test_formats_of_numbers(session, mode, counter):
    """Little-endian, with or without a counter, and the length of all blocks."""
    value, label, start = os.urandom(20), b"label", b"start" if mode == FEEDBACK_KDF else b""
    fields = [field(ITERATION), field(BYTES, label)]
    fields.append(field(LENGTH, number(64, little_endian=True, method=OF_BLOCKS)))
    if counter:
        fields.insert(1, field(COUNTER, number(8 * counter, little_endian=True)))
    given = (HMACS["SHA512"], fields)
    parameter = (
        cryptoki.KbkdfFeedback(*given, start) if mode == FEEDBACK_KDF else cryptoki.Kbkdf(*given)
    )
    key = import_key(session, value)
    for size in (1, 64, 65, 300):
        expected = by_the_book(mode, value, size, start=start, counter=counter, label=label)
        assert derive(session, mode, parameter, key, size) == expected


def test_refused_parameters(session):
    key = import_key(session, bytes(32))
    counter, text = field(ITERATION, number(8)), field(BYTES, b"text")
    length = field(LENGTH, number(32, method=OF_KEY))
    prf = HMACS["SHA256"]
    for mode, parameter in (
        (COUNTER_KDF, b""),
        (COUNTER_KDF, cryptoki.Kbkdf(prf, [])),
        (COUNTER_KDF, cryptoki.Kbkdf(prf, [text])),
        (COUNTER_KDF, cryptoki.Kbkdf(prf, [counter, counter])),
        (COUNTER_KDF, cryptoki.Kbkdf(prf, [counter, length, length])),
        (COUNTER_KDF, cryptoki.Kbkdf(prf, [field(ITERATION)])),
        (COUNTER_KDF, cryptoki.Kbkdf(prf, [counter, field(COUNTER, number(8))])),
        (COUNTER_KDF, cryptoki.Kbkdf(prf, [field(ITERATION, number(12))])),
        (COUNTER_KDF, cryptoki.Kbkdf(prf, [field(ITERATION, number(40))])),
        (COUNTER_KDF, cryptoki.Kbkdf(prf, [counter, field(LENGTH, number(32, method=3))])),
        (COUNTER_KDF, cryptoki.Kbkdf(prf, [counter, field(5, b"text")])),
        (COUNTER_KDF, cryptoki.Kbkdf(prf, [counter, *16 * [text]])),
        (COUNTER_KDF, cryptoki.Kbkdf(prf, [counter], keys=1)),
        (COUNTER_KDF, cryptoki.Kbkdf(cryptoki.SHA256, [counter])),
        (COUNTER_KDF, cryptoki.Kbkdf(0x252, [counter])),  # of another length
        (COUNTER_KDF, cryptoki.KbkdfFeedback(prf, [counter])),
        (FEEDBACK_KDF, cryptoki.Kbkdf(prf, [field(ITERATION)])),
        (FEEDBACK_KDF, cryptoki.KbkdfFeedback(prf, [counter])),
        (DOUBLE_PIPELINE_KDF, cryptoki.Kbkdf(prf, [counter])),
    ):
        with fails(cryptoki.MECHANISM_PARAM_INVALID):
            derive(session, mode, parameter, key, 16)


def test_what_does_not_fit(session):
    """A length of 256 bits has no room in a byte; a key is one of the function's."""
    key = import_key(session, bytes(32))
    aes = import_key(session, bytes(32), cryptoki.AES)
    short = cryptoki.Kbkdf(HMACS["SHA256"], [field(ITERATION, number(8))])
    with_length = [field(ITERATION, number(8)), field(LENGTH, number(8, method=OF_KEY))]
    by_cmac = cryptoki.Kbkdf(AES_CMAC, [field(ITERATION, number(8))])
    assert len(derive(session, COUNTER_KDF, short, key, 1024)) == 1024
    derive(session, COUNTER_KDF, cryptoki.Kbkdf(HMACS["SHA256"], with_length), key, 31)
    derive(session, COUNTER_KDF, by_cmac, aes, 16)
    for parameter, base, size, code in (
        (cryptoki.Kbkdf(HMACS["SHA256"], with_length), key, 32, cryptoki.KEY_SIZE_RANGE),
        (short, key, 1025, cryptoki.KEY_SIZE_RANGE),
        (short, aes, 16, cryptoki.KEY_TYPE_INCONSISTENT),
        (by_cmac, key, 16, cryptoki.KEY_TYPE_INCONSISTENT),
    ):
        with fails(code):
            derive(session, COUNTER_KDF, parameter, base, size)
    forbidden = import_key(session, bytes(32), others={cryptoki.DERIVE: False})
    with fails(cryptoki.KEY_FUNCTION_NOT_PERMITTED):
        derive(session, COUNTER_KDF, short, forbidden, 16)
    allowed = {cryptoki.ALLOWED_MECHANISMS: bytes(ctypes.c_ulong(FEEDBACK_KDF))}
    with fails(cryptoki.MECHANISM_INVALID):
        derive(session, COUNTER_KDF, short, import_key(session, bytes(32), others=allowed), 16)


# Data.

DATA = 0


def test_data_by_hkdf(session):
    """Of RFC 5869, A.1: an object that shows what a key would be."""
    value = bytes([0x0B] * 22)
    salt, info = bytes(range(13)), bytes(range(0xF0, 0xFA))
    okm = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    assert HKDF(hashes.SHA256(), 42, salt, info).derive(value).hex() == okm
    parameter = cryptoki.Hkdf(cryptoki.SHA256, salt, info)
    key = import_key(session, value)
    made = session.derive_with(HKDF_DATA, parameter, key, {cryptoki.VALUE_LEN: 42})
    assert session.get(made, VALUE).hex() == okm
    assert session.get(made, CLASS) == bytes(ctypes.c_ulong(DATA))
    template = {CLASS: DATA, cryptoki.LABEL: b"made", cryptoki.VALUE_LEN: 16}
    assert (
        session.get(session.derive_with(HKDF_DATA, parameter, key, template), VALUE).hex()
        == okm[:32]
    )
    for wrong in (
        {VALUE: b"another"},
        {CLASS: cryptoki.SECRET_KEY},
    ):
        with fails(cryptoki.TEMPLATE_INCONSISTENT):
            session.derive_with(HKDF_DATA, parameter, key, template | wrong)
    with fails(cryptoki.TEMPLATE_INCOMPLETE):
        session.derive_with(HKDF_DATA, parameter, key, {})


# By encryption.

ECB_DATA, CBC_DATA, AES_ECB, AES_CBC = 0x1104, 0x1105, 0x1081, 0x1082
IV = bytes(range(16))


def given(mode, data):
    return cryptoki.EncryptedData(data) if mode == ECB_DATA else cryptoki.ChainedData(IV, data)


@pytest.mark.parametrize("mode", [ECB_DATA, CBC_DATA])
@pytest.mark.parametrize("key_size", [16, 24, 32])
def test_keys_by_encryption(session, mode, key_size):
    """The beginning of the ciphertext; without a length all of it."""
    value, data = os.urandom(key_size), os.urandom(2048)
    key = import_key(session, value, cryptoki.AES)
    cipher = modes.ECB() if mode == ECB_DATA else modes.CBC(IV)
    text = Cipher(algorithms.AES(value), cipher).encryptor().update(data)
    for size, of_data in ((1, 16), (16, 16), (32, 32), (20, 64), (33, 2048), (1024, 2048)):
        assert derive(session, mode, given(mode, data[:of_data]), key, size) == text[:size]
    for of_data in (16, 48, 1024):
        made = session.derive_with(mode, given(mode, data[:of_data]), key, SHOWN)
        assert session.get(made, VALUE) == text[:of_data]
    template = {KEY_TYPE: cryptoki.AES, cryptoki.VALUE_LEN: 32}
    aes = session.derive_with(mode, given(mode, data[:32]), key, template)
    assert session.is_true(aes, cryptoki.SENSITIVE)
    expected = Cipher(algorithms.AES(text[:32]), modes.ECB()).encryptor().update(bytes(16))
    assert session.encrypt(aes, AES_ECB, bytes(16)) == expected


@pytest.mark.parametrize("mode", [ECB_DATA, CBC_DATA])
def test_refused_keys_by_encryption(session, mode):
    key = import_key(session, bytes(32), cryptoki.AES)
    right, size = given(mode, bytes(32)), {cryptoki.VALUE_LEN: 32}
    other = CBC_DATA if mode == ECB_DATA else ECB_DATA
    for parameter, template, code in (
        (given(mode, b""), size, cryptoki.MECHANISM_PARAM_INVALID),
        (given(mode, bytes(31)), size, cryptoki.MECHANISM_PARAM_INVALID),
        (given(mode, bytes(4112)), size, cryptoki.MECHANISM_PARAM_INVALID),
        (given(mode, bytes(16)), size, cryptoki.MECHANISM_PARAM_INVALID),
        (given(other, bytes(32)), size, cryptoki.MECHANISM_PARAM_INVALID),
        (b"", size, cryptoki.MECHANISM_PARAM_INVALID),
        (right, {KEY_TYPE: cryptoki.AES}, cryptoki.TEMPLATE_INCOMPLETE),
        (right, {KEY_TYPE: cryptoki.AES, cryptoki.VALUE_LEN: 20}, cryptoki.KEY_SIZE_RANGE),
        (right, {cryptoki.VALUE_LEN: 1025}, cryptoki.KEY_SIZE_RANGE),
        (right, size | {cryptoki.WRAP: True}, cryptoki.TEMPLATE_INCONSISTENT),
    ):
        with fails(code):
            session.derive_with(mode, parameter, key, template)
    with fails(cryptoki.KEY_TYPE_INCONSISTENT):
        session.derive_with(mode, right, import_key(session, bytes(32)), size)


@pytest.mark.parametrize("mode", [ECB_DATA, CBC_DATA])
@pytest.mark.parametrize("forbids", [{cryptoki.DERIVE: False}, {cryptoki.ENCRYPT: False}])
def test_only_a_key_that_encrypts_derives_by_encryption(session, mode, forbids):
    """Whoever derives chooses the plaintext and is shown the ciphertext: with a key that unwraps
    and does not encrypt he would wrap any key, and with one that makes MACs forge them."""
    key = import_key(session, bytes(16), cryptoki.AES, forbids)
    with fails(cryptoki.KEY_FUNCTION_NOT_PERMITTED):
        derive(session, mode, given(mode, bytes(16)), key, 16)
    unwraps = import_key(session, bytes(16), cryptoki.AES, {cryptoki.UNWRAP: True})
    with fails(cryptoki.KEY_FUNCTION_NOT_PERMITTED):
        derive(session, mode, given(mode, bytes(16)), unwraps, 16)
    only = {cryptoki.ALLOWED_MECHANISMS: bytes(ctypes.c_ulong(AES_CBC))}
    with fails(cryptoki.MECHANISM_INVALID):
        limited = import_key(session, bytes(16), cryptoki.AES, only)
        derive(session, mode, given(mode, bytes(16)), limited, 16)
