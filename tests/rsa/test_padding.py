"""Every padding against the `cryptography` package, both ways, and every way it can be wrong."""

import hashlib
import traceback
from functools import cache

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding as theirs
from cryptography.hazmat.primitives.asymmetric import rsa

from coprime.rsa.hashes import HASHES, mgf1
from coprime.rsa.keys import generate
from coprime.rsa.padding import (
    DecryptionError,
    MessageTooLongError,
    Oaep,
    Pkcs1Encryption,
    Pkcs1Signature,
    Pss,
)

LENGTHS = (*range(1023, 1032), pytest.param(2048, marks=pytest.mark.matrix))


@cache
def key_of(bits):
    return generate(bits, seed=bits)


@cache
def library_key(bits):
    key = key_of(bits)
    public = rsa.RSAPublicNumbers(key.e, key.n)
    return rsa.RSAPrivateNumbers(
        key.p, key.q, key.d, key.dp, key.dq, key.qinv, public
    ).private_key()


def library_hash(name):
    return getattr(hashes, name.upper())()


def library_oaep(padding):
    return theirs.OAEP(
        theirs.MGF1(library_hash(padding.mgf_hash or padding.hash)),
        library_hash(padding.hash),
        padding.label,
    )


def library_pss(padding, salt_length):
    return theirs.PSS(theirs.MGF1(library_hash(padding.mgf_hash or padding.hash)), salt_length)


ENCRYPTIONS = [
    (Pkcs1Encryption(), theirs.PKCS1v15()),
    *(
        (padding, library_oaep(padding))
        for padding in (
            Oaep("sha1"),
            Oaep(),
            Oaep("sha384", "sha1", b"label"),
            Oaep("sha224", "sha512"),
        )
    ),
]


@pytest.mark.matrix(quick=12)
@pytest.mark.parametrize("bits", LENGTHS)
@pytest.mark.parametrize(("ours", "library"), ENCRYPTIONS)
def test_encryption_both_ways(bits, ours, library):
    key, oracle = key_of(bits), library_key(bits)
    size = (bits + 7) // 8
    with pytest.raises(MessageTooLongError) as caught:
        ours.encode(bytes(size), bits)
    limit = caught.value.limit
    assert str(caught.value).endswith(f"take 0..{limit}")
    for message in (b"", b"\0", b"message", bytes(limit), b"\1" * limit):
        encoded = ours.encode(message, bits)
        assert len(encoded) == size
        assert encoded[0] == 0
        ciphertext = pow(int.from_bytes(encoded), key.e, key.n).to_bytes(size)
        assert oracle.decrypt(ciphertext, library) == message
        ciphertext = oracle.public_key().encrypt(message, library)
        encoded = pow(int.from_bytes(ciphertext), key.d, key.n).to_bytes(size)
        assert ours.decode(encoded, b"a wrong padding") == message
    with pytest.raises(MessageTooLongError):
        ours.encode(bytes(limit + 1), bits)
    with pytest.raises(ValueError, match=r"Encryption"):
        oracle.public_key().encrypt(bytes(limit + 1), library)


SIGNATURES = [
    *((Pkcs1Signature(name), theirs.PKCS1v15(), name) for name in HASHES),
    *(
        (padding, library_pss(padding, theirs.PSS.AUTO), padding.hash)
        for padding in (
            Pss("sha1"),
            Pss(),
            Pss("sha384", "sha1", 0),
            Pss("sha3_256", salt_length=11),
            Pss("sha224", salt_length="max"),
            Pss("sha512_256", "sha512_224"),
            Pss("sha256", "sha512", "auto"),
        )
    ),
]


@pytest.mark.matrix(quick=40)
@pytest.mark.parametrize("bits", LENGTHS)
@pytest.mark.parametrize(("ours", "library", "name"), SIGNATURES)
def test_signatures_both_ways(bits, ours, library, name):
    key, oracle = key_of(bits), library_key(bits)
    size = (bits + 7) // 8
    encoded = ours.encode(b"message", bits)
    assert int.from_bytes(encoded) < 1 << (bits - 1)
    signature = pow(int.from_bytes(encoded), key.d, key.n).to_bytes(size)
    oracle.public_key().verify(signature, b"message", library, library_hash(name))
    with pytest.raises(InvalidSignature):
        oracle.public_key().verify(signature, b"massage", library, library_hash(name))
    if isinstance(ours, Pss):
        lengths = {"digest": theirs.PSS.DIGEST_LENGTH, "max": theirs.PSS.MAX_LENGTH, "auto": 17}
        library = library_pss(ours, lengths.get(ours.salt_length, ours.salt_length))
    signature = oracle.sign(b"message", library, library_hash(name))
    encoded = pow(int.from_bytes(signature), key.e, key.n).to_bytes(size)
    assert ours.matches(b"message", encoded, bits)
    assert not ours.matches(b"massage", encoded, bits)
    for bit in range(0, 8 * size, 7):
        changed = int.from_bytes(encoded) ^ 1 << bit
        assert not ours.matches(b"message", changed.to_bytes(size), bits)


def failure(padding, encoded):
    """Where and with what text decoding fails."""
    with pytest.raises(DecryptionError) as caught:
        padding.decode(bytes(encoded), b"")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return str(caught.value), traceback.extract_tb(caught.value.__traceback__)[-1].lineno


def changed(encoded, index, value):
    return encoded[:index] + bytes([value]) + encoded[index + 1 :]


@pytest.mark.parametrize("substitute", [b"", b"another", bytes(range(117))])
def test_every_wrong_pkcs1_encryption_gives_the_substitute(substitute):
    padding = Pkcs1Encryption(random=lambda count: b"\xaa" * count)
    good = padding.encode(b"message", 1024)
    for wrong in (
        changed(good, 0, 1),
        changed(good, 0, 0x80),
        changed(good, 1, 1),
        changed(good, 1, 0),
        good.replace(b"\0message", b"\1message"),
        bytes(128),
        b"\xff" * 128,
        *(changed(good, index, 0) for index in range(2, 10)),
    ):
        assert padding.decode(wrong, substitute) == substitute
    assert padding.decode(good, substitute) == b"message"
    assert padding.decode(changed(good, 10, 0), substitute) == good[11:]
    assert padding.decode(changed(good, 127, 0), substitute) == b"messag\0"


def test_every_wrong_oaep_fails_alike():
    padding = Oaep("sha256", label=b"label", random=lambda count: b"\x55" * count)
    good = padding.encode(b"message", 1024)
    mask = mgf1("sha256", b"\x55" * 32, 95)

    def encoded(block, first=0):
        masked = bytes(a ^ b for a, b in zip(block, mask, strict=True))
        seed = bytes(a ^ 0x55 for a in mgf1("sha256", masked, 32))
        return bytes([first]) + seed + masked

    block = bytes(a ^ b for a, b in zip(good[33:], mask, strict=True))
    assert encoded(block) == good
    failures = {
        failure(padding, encoded(block, first=1)),
        failure(Oaep("sha256"), good),
        failure(Oaep("sha256", "sha1", b"label"), good),
        failure(padding, encoded(block[:32] + bytes(63))),
        failure(padding, encoded(block[:32] + b"\2" + block[33:])),
        failure(padding, encoded(block[:40] + b"\x80" + block[41:])),
        failure(padding, encoded(bytes(32) + block[32:])),
        failure(padding, bytes(128)),
        failure(padding, b"\xff" * 128),
    }
    assert len(failures) == 1
    assert failures.pop()[0] == "decryption failed"


def test_a_random_zero_is_drawn_again():
    draws = [bytes(8), b"\0\1\2\0\3\4\5\6", b"\7\0", b"\x08"]
    padding = Pkcs1Encryption(random=lambda count: draws.pop(0)[:count])
    assert padding.encode(b"", 88) == b"\0\2\1\2\3\4\5\6\7\x08\0"
    assert not draws


def test_encodings_are_random():
    for padding in (Pkcs1Encryption(), Oaep(), Pss()):
        assert padding.encode(b"message", 1024) != padding.encode(b"message", 1024)


@pytest.mark.parametrize(
    ("padding", "bits", "needed"),
    [
        (Pkcs1Encryption(), 80, 11),
        (Oaep("sha512"), 1024, 130),
        (Pkcs1Signature("sha1"), 8 * 45, 46),
        (Pss("sha256"), 8 * 65, 66),
        (Pss("sha256", salt_length=40), 8 * 73 + 1, 74),
        (Pss("sha256", salt_length="max"), 8 * 33, 34),
    ],
)
def test_too_short_a_modulus(padding, bits, needed):
    with pytest.raises(ValueError, match=f"needs a modulus of at least {needed} bytes"):
        padding.encode(b"", bits)
    encoded = bytes((bits + 7) // 8)
    if isinstance(padding, Pkcs1Encryption | Oaep):
        failure(padding, encoded)
    else:
        assert not padding.matches(b"", encoded, bits)
    padding.encode(b"", 8 * needed + 1)


def test_salt_lengths_are_checked():
    for made in (0, 20, 32):
        encoded = Pss(salt_length=made).encode(b"message", 1024)
        for length in (0, 20, 32, "digest", "max", "auto"):
            accepted = length in (made, "auto") or (length == "digest" and made == 32)
            assert Pss(salt_length=length).matches(b"message", encoded, 1024) is accepted
    longest = Pss(salt_length="max").encode(b"message", 1024)
    assert Pss(salt_length=94).matches(b"message", longest, 1024)


@pytest.mark.parametrize("name", HASHES)
def test_a_digest_in_place_of_the_message(name):
    value = hashlib.new(name, b"message").digest()
    for whole, of_digest in (
        (Pkcs1Signature(name), Pkcs1Signature(name, prehashed=True)),
        (Pss(name), Pss(name, prehashed=True)),
    ):
        assert of_digest.matches(value, whole.encode(b"message", 1049), 1049)
        assert whole.matches(b"message", of_digest.encode(value, 1049), 1049)
        for wrong in (b"", value[1:], value + b"\0", value.hex().encode()):
            text = f"^the digest has {len(wrong)} bytes, and a digest of {name} has {len(value)}$"
            with pytest.raises(ValueError, match=text):
                of_digest.encode(wrong, 1049)
            with pytest.raises(ValueError, match=text):
                of_digest.matches(wrong, bytes(132), 1049)


def test_bad_parameters():
    for make in (Oaep, Pkcs1Signature, Pss, lambda name: Oaep(mgf_hash=name)):
        with pytest.raises(ValueError, match=r"must be one of sha1, .*, not 'md4'"):
            make("md4")
    with pytest.raises(TypeError, match="label must be bytes, not str"):
        Oaep(label="label")
    with pytest.raises(TypeError, match="message must be bytes, not str"):
        Oaep().encode("message", 1024)
    with pytest.raises(ValueError, match=r"salt_length must be 0 or more bytes.* not -1"):
        Pss(salt_length=-1)
    with pytest.raises(ValueError, match="not 'all'"):
        Pss(salt_length="all")
    for wrong in (1.5, True, None):
        with pytest.raises(TypeError, match="salt_length must be an int or a str"):
            Pss(salt_length=wrong)
