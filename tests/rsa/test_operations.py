"""Encrypt, decrypt, sign and verify, with the `cryptography` package on the other side."""

import dataclasses
import random
from functools import cache

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding as theirs
from cryptography.hazmat.primitives.asymmetric import rsa

from coprime.rsa.keys import generate
from coprime.rsa.operations import (
    FaultError,
    InvalidSignatureError,
    decrypt,
    encrypt,
    sign,
    verify,
)
from coprime.rsa.padding import (
    DecryptionError,
    MessageTooLongError,
    Oaep,
    Pkcs1Encryption,
    Pkcs1Signature,
    Pss,
)

SHA256 = hashes.SHA256()
OAEP = theirs.OAEP(theirs.MGF1(SHA256), SHA256, None)
PSS = theirs.PSS(theirs.MGF1(SHA256), 32)
EXPONENTS = (3, 17, 65537)
SIZES = [
    *(
        pytest.param((bits, e, None), marks=[pytest.mark.matrix] if bits % 3 != j else [])
        for bits in range(1023, 1032)
        for j, e in enumerate(EXPONENTS)
    ),
    (1536, 65537, None),
    pytest.param((2047, 17, None), marks=pytest.mark.matrix),
    (1024, 65537, 400),
    (1029, 3, 600),
]
MESSAGE = b"attack at dawn"


@cache
def library_key(key):
    """The package checks the primes anew with each key that it makes."""
    public = rsa.RSAPublicNumbers(key.e, key.n)
    return rsa.RSAPrivateNumbers(
        key.p, key.q, key.d, key.dp, key.dq, key.qinv, public
    ).private_key()


@pytest.fixture(scope="module", params=SIZES, ids=str)
def key(request):
    bits, e, p_bits = request.param
    return generate(bits, e, p_bits=p_bits, seed=bits)


@pytest.mark.matrix(quick=12)
@pytest.mark.covering(2)
@pytest.mark.parametrize("blinding", [False, True])
@pytest.mark.parametrize(
    ("padding", "library"), [(Oaep(), OAEP), (Pkcs1Encryption(), theirs.PKCS1v15())]
)
def test_encryption(accelerator, key, padding, library, blinding):
    oracle = library_key(key)
    ciphertext = encrypt(accelerator, key.public, MESSAGE, padding)
    assert oracle.decrypt(ciphertext, library) == MESSAGE
    ciphertext = oracle.public_key().encrypt(MESSAGE, library)
    assert decrypt(accelerator, key, ciphertext, padding, blinding=blinding) == MESSAGE


@pytest.mark.matrix(quick=12)
@pytest.mark.covering(2)
@pytest.mark.parametrize("blinding", [False, True])
@pytest.mark.parametrize(
    ("padding", "library"), [(Pss(), PSS), (Pkcs1Signature(), theirs.PKCS1v15())]
)
def test_signatures(accelerator, key, padding, library, blinding):
    oracle = library_key(key)
    signature = sign(accelerator, key, MESSAGE, padding, blinding=blinding)
    oracle.public_key().verify(signature, MESSAGE, library, SHA256)
    signature = oracle.sign(MESSAGE, library, SHA256)
    verify(accelerator, key.public, MESSAGE, signature, padding)
    with pytest.raises(InvalidSignatureError, match=r"^the signature is not valid$"):
        verify(accelerator, key.public, MESSAGE + b"!", signature, padding)


KEY = generate(1025, seed=9)


@pytest.mark.parametrize("blinding", [False, True])
def test_oaep_and_pss_with_sha256_are_the_defaults(accelerator, blinding):
    oracle = library_key(KEY)
    assert oracle.decrypt(encrypt(accelerator, KEY.public, MESSAGE), OAEP) == MESSAGE
    ciphertext = oracle.public_key().encrypt(MESSAGE, OAEP)
    assert decrypt(accelerator, KEY, ciphertext, blinding=blinding) == MESSAGE
    oracle.public_key().verify(
        sign(accelerator, KEY, MESSAGE, blinding=blinding), MESSAGE, PSS, SHA256
    )
    signature = oracle.sign(MESSAGE, PSS, SHA256)
    verify(accelerator, KEY.public, MESSAGE, signature)
    with pytest.raises(InvalidSignatureError, match=r"^the signature is not valid$"):
        verify(accelerator, KEY.public, MESSAGE + b"!", signature)


@pytest.mark.parametrize(
    "ciphertext",
    [
        b"",
        bytes(128),
        bytes(130),
        bytes(129),
        b"\xff" * 129,
        KEY.n.to_bytes(129),
        (KEY.n - 1).to_bytes(129),
        (KEY.n + 5).to_bytes(129),
    ],
)
def test_bad_ciphertexts_fail_alike(accelerator, ciphertext):
    with pytest.raises(DecryptionError, match=r"^decryption failed$"):
        decrypt(accelerator, KEY, ciphertext, Oaep())


@pytest.mark.parametrize("bits", [512, 515, 1023, 1024, 1025, 2048])
def test_a_wrong_pkcs1_padding_gives_the_library_s_substitute(accelerator, bits):
    """OpenSSL's in the `cryptography` package, byte for byte: every length from the key alone."""
    key = generate(bits, seed=bits)
    oracle, size = library_key(key), (bits + 7) // 8
    generator, lengths = random.Random(bits), set()
    for _ in range(12):
        ciphertext = generator.randrange(key.n).to_bytes(size)
        message = decrypt(accelerator, key, ciphertext, Pkcs1Encryption(), blinding=True)
        assert message == oracle.decrypt(ciphertext, theirs.PKCS1v15())
        lengths.add(len(message))
    assert len(lengths) > 6


@pytest.mark.parametrize("ciphertext", [b"", bytes(128), bytes(130), KEY.n.to_bytes(129)])
def test_what_everybody_sees_is_an_error_with_pkcs1_too(accelerator, ciphertext):
    """Another length than the modulus's, or a number that is not below it."""
    with pytest.raises(DecryptionError, match=r"^decryption failed$"):
        decrypt(accelerator, KEY, ciphertext, Pkcs1Encryption())
    with pytest.raises(ValueError, match=r"Decryption failed|length must be equal"):
        library_key(KEY).decrypt(ciphertext, theirs.PKCS1v15())


@pytest.mark.parametrize("padding", [Pss(), Pkcs1Signature()])
def test_bad_signatures(accelerator, padding):
    good = sign(accelerator, KEY, MESSAGE, padding)
    value = int.from_bytes(good)
    for bad in (
        b"",
        good[1:],
        good + b"\0",
        b"\0" + good,
        bytes(129),
        KEY.n.to_bytes(129),
        (KEY.n - 1).to_bytes(129),
        (value ^ 1).to_bytes(129),
        (value + KEY.n).to_bytes(130)[-129:],
    ):
        with pytest.raises(InvalidSignatureError):
            verify(accelerator, KEY.public, MESSAGE, bad, padding)
    verify(accelerator, KEY.public, MESSAGE, good, padding)


def test_too_long_a_message(accelerator):
    with pytest.raises(MessageTooLongError, match=r"has 64 bytes; this key and padding take 0..63"):
        encrypt(accelerator, KEY.public, bytes(64))
    assert len(encrypt(accelerator, KEY.public, bytes(63))) == 129


def test_too_short_a_key(accelerator):
    short = generate(256, seed=1)
    with pytest.raises(ValueError, match="OAEP with sha256 needs a modulus of at least 66 bytes"):
        encrypt(accelerator, short.public, b"")
    with pytest.raises(ValueError, match="PSS with sha256"):
        sign(accelerator, short, MESSAGE)
    with pytest.raises(InvalidSignatureError):
        verify(accelerator, short.public, MESSAGE, bytes(32))
    with pytest.raises(DecryptionError):
        decrypt(accelerator, short, bytes(32))


def test_text_is_refused(accelerator):
    for call in (decrypt, lambda a, k, x: verify(a, k.public, b"", x)):
        with pytest.raises(TypeError, match="input must be bytes, not str"):
            call(accelerator, KEY, "text")


class FaultyAccelerator:
    """One bit is wrong in the half modulo p."""

    def __init__(self, good):
        self.good = good
        self.fault = True

    def load_private(self, key):
        self.key = key
        self.good.load_private(key)

    def private(self, x):
        result = self.good.private(x)
        if not self.fault:
            return result
        value = (result.value + self.key.q * self.key.qinv) % self.key.n
        return dataclasses.replace(result, value=value)


@pytest.mark.parametrize("blinding", [False, True])
@pytest.mark.parametrize("padding", [Pss(), Pkcs1Signature()])
def test_a_wrong_signature_is_not_given_out(accelerator, padding, blinding):
    faulty = FaultyAccelerator(accelerator)
    with pytest.raises(FaultError, match="wrong result, which is not returned"):
        sign(faulty, KEY, MESSAGE, padding, blinding=blinding)
    faulty.fault = False
    sign(faulty, KEY, MESSAGE, padding, blinding=blinding)


@pytest.mark.parametrize("blinding", [False, True])
@pytest.mark.parametrize("padding", [Oaep(), Pkcs1Encryption()])
def test_a_wrong_decryption_is_not_given_out(accelerator, padding, blinding):
    faulty = FaultyAccelerator(accelerator)
    ciphertext = encrypt(accelerator, KEY.public, MESSAGE, padding)
    with pytest.raises(FaultError, match="wrong result, which is not returned"):
        decrypt(faulty, KEY, ciphertext, padding, blinding=blinding)
    faulty.fault = False
    assert decrypt(faulty, KEY, ciphertext, padding, blinding=blinding) == MESSAGE


@pytest.mark.parametrize("salt_length", ["digest", "max", 0, 20])
def test_any_salt_length_is_valid_unless_one_is_demanded(accelerator, salt_length):
    signature = sign(accelerator, KEY, MESSAGE, Pss(salt_length=salt_length))
    verify(accelerator, KEY.public, MESSAGE, signature)
    verify(accelerator, KEY.public, MESSAGE, signature, Pss(salt_length=salt_length))
    with pytest.raises(InvalidSignatureError):
        verify(accelerator, KEY.public, MESSAGE, signature, Pss(salt_length=21))


class WatchingAccelerator:
    def __init__(self, good):
        self.good = good
        self.seen = []

    def load_private(self, key):
        self.good.load_private(key)

    def private(self, x):
        self.seen.append(x)
        return self.good.private(x)


def test_blinding_hides_the_input(accelerator):
    watching = WatchingAccelerator(accelerator)
    padding = Pkcs1Signature()
    for blinding in (False, False, True, True):
        sign(watching, KEY, MESSAGE, padding, blinding=blinding)
    assert watching.seen[0] == watching.seen[1]
    assert len(set(watching.seen)) == 3
