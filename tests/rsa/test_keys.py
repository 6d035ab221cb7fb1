import base64
import gzip
import itertools
import math
from dataclasses import astuple, replace
from pathlib import Path

import cryptography_vectors
import pytest
from cryptography.hazmat.primitives import serialization as s
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from coprime.rsa.keys import (
    KeyFileError,
    PassphraseMissingError,
    RsaPrivateKey,
    RsaPublicKey,
    generate,
    load_private,
    load_public,
    parse_private,
    parse_public,
    private_pem,
    public_pem,
)
from tests.certificates import certificate
from tests.openssl import openssl

VECTORS = Path(cryptography_vectors.__file__).parent / "asymmetric"
KEY = generate(1024, seed=1)


def library_key(key):
    public = rsa.RSAPublicNumbers(key.e, key.n)
    numbers = rsa.RSAPrivateNumbers(key.p, key.q, key.d, key.dp, key.dq, key.qinv, public)
    return numbers.private_key(unsafe_skip_rsa_key_validation=True)


def passes_fermat(n):
    """Fermat's test, after which no composite of the chance kind is left."""
    return all(pow(base, n - 1, n) == 1 for base in (2, 3, 5, 7, 11, 13))


@pytest.mark.matrix(quick=6)
@pytest.mark.parametrize(
    ("bits", "e"),
    [
        *((bits, e) for bits in (64, 65, 100, 127, 511, 512) for e in (3, 17, 65537)),
        *zip((1000, *range(1023, 1032)), itertools.cycle((3, 17, 65537))),
        *(
            pytest.param(bits, e, marks=pytest.mark.matrix)
            for i, bits in enumerate((1000, *range(1023, 1032)))
            for j, e in enumerate((3, 17, 65537))
            if i % 3 != j
        ),
    ],
)
def test_generate(bits, e):
    key = generate(bits, e, seed=bits)
    assert key == generate(bits, e, seed=bits)
    assert key != generate(bits, e, seed=bits + 1)
    assert key.bits == bits
    assert key.e == e
    assert key.p.bit_length() == (bits + 1) // 2
    assert passes_fermat(key.p)
    assert passes_fermat(key.q)
    assert key.e * key.d % math.lcm(key.p - 1, key.q - 1) == 1
    assert parse_private(private_pem(key)) == key


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize(("bits", "p_bits"), [(64, 25), (512, 200), (1024, 600), (1031, 433)])
def test_unequal_primes(bits, p_bits, seed):
    key = generate(bits, p_bits=p_bits, seed=seed)
    assert key.bits == bits
    assert key.p.bit_length() == p_bits
    assert key.q.bit_length() == bits - p_bits
    assert parse_private(private_pem(key)) == key


@pytest.mark.parametrize(("bits", "e"), [(64, 3), (512, 17), (1024, 65537), (1029, 3)])
def test_without_a_seed_every_key_is_another(bits, e):
    one, other = generate(bits, e), generate(bits, e)
    assert one.bits == other.bits == bits
    assert one.e == e
    assert len({one.p, one.q, other.p, other.q}) == 4


@pytest.mark.parametrize(
    ("parameters", "error", "text"),
    [
        ({"bits": 63}, ValueError, "bits must be in 64..65535, not 63"),
        ({"bits": 64.0}, TypeError, "bits must be an int, not float"),
        ({"bits": 512, "e": 4}, ValueError, "odd and 3 or more, not 4"),
        ({"bits": 512, "e": 1}, ValueError, "odd and 3 or more, not 1"),
        ({"bits": 512, "p_bits": 20}, ValueError, "p_bits must be in 25..487, not 20"),
        ({"bits": 512, "p_bits": 500, "e": 3}, ValueError, "p_bits must be in 16..496, not 500"),
        ({"bits": 64, "e": (1 << 30) + 1}, ValueError, "a modulus needs at least 78 bits, not 64"),
        ({"bits": 512, "p_bits": "256"}, TypeError, "p_bits must be an int, not str"),
        ({"bits": 512, "seed": "x"}, TypeError, "seed must be an int, not str"),
    ],
)
def test_generate_refuses(parameters, error, text):
    with pytest.raises(error, match=text):
        generate(**parameters)


@pytest.mark.parametrize("key", [KEY, generate(64, 3, seed=1), generate(512, p_bits=300, seed=1)])
@pytest.mark.parametrize("encoding", [s.Encoding.PEM, s.Encoding.DER])
@pytest.mark.parametrize("passphrase", [None, "secret", b"secret"])
def test_reads_every_format(tmp_path, key, encoding, passphrase):
    encryption = s.BestAvailableEncryption(b"secret") if passphrase else s.NoEncryption()
    formats = [s.PrivateFormat.PKCS8, s.PrivateFormat.TraditionalOpenSSL]
    if passphrase and encoding is s.Encoding.DER:
        formats.pop()  # there is none
    for kind in formats:
        path = tmp_path / "key"
        path.write_bytes(library_key(key).private_bytes(encoding, kind, encryption))
        assert load_private(path, passphrase) == key
        assert load_public(str(path), passphrase) == key.public
        if passphrase:
            with pytest.raises(KeyFileError, match="is encrypted, and there is no passphrase"):
                load_private(path)
            for wrong in ("wrong", b"\xff"):
                with pytest.raises(KeyFileError, match="the passphrase is wrong"):
                    load_private(path, wrong)
        else:
            assert load_private(path, "not needed") == key
    public = library_key(key).public_key()
    for public_kind in (s.PublicFormat.SubjectPublicKeyInfo, s.PublicFormat.PKCS1):
        data = public.public_bytes(encoding, public_kind)
        assert parse_public(data) == key.public
        with pytest.raises(KeyFileError, match="only a public key, and a private key is needed"):
            parse_private(data)


def test_writes_what_the_library_reads():
    theirs = s.load_pem_private_key(private_pem(KEY), None)
    assert theirs.private_numbers() == library_key(KEY).private_numbers()
    encrypted = private_pem(KEY, "secret")
    assert b"BEGIN ENCRYPTED PRIVATE KEY" in encrypted
    theirs = s.load_pem_private_key(encrypted, b"secret")
    assert theirs.private_numbers() == library_key(KEY).private_numbers()
    public = s.load_pem_public_key(public_pem(KEY.public))
    assert public.public_numbers() == rsa.RSAPublicNumbers(KEY.e, KEY.n)
    with pytest.raises(ValueError, match="passphrase must not be empty"):
        private_pem(KEY, "")


@pytest.mark.parametrize("make", [ed25519.Ed25519PrivateKey.generate, None])
def test_not_rsa(make):
    key = make() if make else ec.generate_private_key(ec.SECP256R1())
    private = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
    public = key.public_key().public_bytes(s.Encoding.DER, s.PublicFormat.SubjectPublicKeyInfo)
    for parse in (parse_private, parse_public):
        with pytest.raises(KeyFileError, match="private key that is not an RSA key"):
            parse(private)
        with pytest.raises(KeyFileError, match="public key that is not an RSA key"):
            parse(public)


PEM, PUBLIC_PEM = private_pem(KEY), public_pem(KEY.public)
DER = library_key(KEY).private_bytes(s.Encoding.DER, s.PrivateFormat.PKCS8, s.NoEncryption())


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (b"\x31" + DER[1:], "DER"),
        (DER[:10] + b"\x31" + DER[11:], "DER"),
        (PEM.replace(b"M", b"A", 1), "PEM"),
    ],
)
def test_corrupt_files(data, form):
    for kind, parse in (("private", parse_private), ("public", parse_public)):
        with pytest.raises(KeyFileError, match=f"corrupt or holds no {kind} key .{form} was"):
            parse(data)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the file is empty"),
        (b"something else", "the file is text without a KIND key: it is neither PEM nor"),
        (b"ssh-rsa AAAA x", "the file is text without a KIND key"),
        (b"-----BEGIN NEW CERTIFICATE REQUEST-----\n", "a request for a certificate: .* openssl"),
        (b"-----BEGIN PKCS7-----\n", "certificates in PKCS #7: .* openssl pkcs7"),
        (b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n", "a key of OpenPGP"),
        (b"---- BEGIN SSH2 PUBLIC KEY ----\n", "RFC 4716: convert it with ssh-keygen -i"),
        (PEM.decode().encode("utf-16"), "text in UTF-16 or UTF-32: write it again in"),
        (PEM.decode().encode("utf-16-le"), "text in UTF-16"),
        (PEM.decode().encode("utf-16-be"), "text in UTF-16"),
        (PEM.decode().encode("utf-32"), "text in UTF-16 or UTF-32"),
        (b"\r\n\n", "the file is empty"),
        (b"\xfe\xed\xfe\xed\0\0\0\2", "a key store of Java: .* keytool -importkeystore"),
        (gzip.compress(PEM, mtime=0), "compressed: unpack it with gunzip"),
        (b'{"kty": "RSA", "n": "AQAB"}', "a key in JSON"),
        (base64.encodebytes(DER), "Base64 without the lines of PEM: .* openssl base64 -d"),
        (DER[:-3], "cut off: 3 bytes are missing at its end"),
        (
            DER + b"\0",
            f"more bytes than its key: take the first {len(DER)} with head -c {len(DER)} F",
        ),
        (PEM[:100], "cut off, or its last line is wrong: after -----BEGIN PRIVATE KEY-----"),
        (PEM.replace(b"M", b"!", 1), "in the block PRIVATE KEY of the file is no Base64"),
        (PEM.replace(b"PRIVATE", b"PRIVILEGED"), "PRIVILEGED KEY .* holds a private key: call it"),
        (PEM.replace(b"PRIVATE KEY", b"CERTIFICATE"), "CERTIFICATE .* call it PRIVATE KEY in its"),
        (
            PUBLIC_PEM.replace(b"PUBLIC", b"PRIVATE"),
            "holds a public key: call it PUBLIC KEY in its",
        ),
        (b"-----BEGIN DH PARAMETERS-----\nMAA=\n-----END DH PARAMETERS-----\n", "without a key"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n", "no -----END CERTIFICATE-----"),
    ],
)
def test_what_is_no_key(data, sentence):
    for kind, parse in (("private", parse_private), ("public", parse_public)):
        with pytest.raises(KeyFileError, match=sentence.replace("KIND", kind)):
            parse(data)


def test_the_key_of_a_certificate():
    made = certificate(library_key(KEY))
    own = PEM + made.public_bytes(s.Encoding.PEM)
    for data in (made.public_bytes(s.Encoding.PEM), made.public_bytes(s.Encoding.DER), own):
        assert parse_public(data) == KEY.public
    assert parse_private(own) == KEY
    with pytest.raises(KeyFileError, match="only a public key, and a private key is needed"):
        parse_private(made.public_bytes(s.Encoding.PEM))


def test_the_key_of_a_certificate_of_openssh():
    line = (
        s.SSHCertificateBuilder()
        .public_key(library_key(KEY).public_key())
        .type(s.SSHCertificateType.USER)
        .valid_for_all_principals()
        .valid_after(0)
        .valid_before(1)
        .sign(library_key(KEY))
        .public_bytes()
    )
    assert line.startswith(b"ssh-rsa-cert-v01@openssh.com ")
    assert parse_public(line) == KEY.public


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(KeyFileError, match="no-key cannot be read: No such file"):
        load_private(tmp_path / "no-key")
    with pytest.raises(KeyFileError, match="cannot be read: Is a directory"):
        load_public(tmp_path)


def test_a_file_without_an_end_is_no_key():
    with pytest.raises(KeyFileError, match="/dev/zero has more than 1048576 bytes: it is no key"):
        load_private("/dev/zero")


@pytest.mark.parametrize(
    ("name", "passphrase"),
    [
        ("PKCS8/unenc-rsa-pkcs8.pem", None),
        ("PKCS8/enc-rsa-pkcs8.pem", "foobar"),
        ("PKCS8/enc2-rsa-pkcs8.pem", "baz"),
        ("DER_Serialization/enc-rsa-pkcs8.der", "foobar"),
        ("DER_Serialization/testrsa.der", None),
        ("PKCS8/rsa-aes-192-cbc.pem", "PolarSSLTest"),
        ("Traditional_OpenSSL_Serialization/testrsa.pem", None),
        ("Traditional_OpenSSL_Serialization/key1.pem", "123456"),
        ("Traditional_OpenSSL_Serialization/testrsa-encrypted.pem", "password"),
        ("PEM_Serialization/rsa_private_key.pem", "123456"),
    ],
)
def test_published_private_keys(name, passphrase):
    key = load_private(VECTORS / name, passphrase)
    load = s.load_der_private_key if name.endswith("der") else s.load_pem_private_key
    secret = passphrase.encode() if passphrase else None
    theirs = load((VECTORS / name).read_bytes(), secret)
    assert library_key(key).private_numbers() == theirs.private_numbers()


def test_keys_of_openssh():
    key = load_private(VECTORS / "OpenSSH" / "rsa-nopsw.key", "not needed")
    public = load_public(VECTORS / "OpenSSH" / "rsa-nopsw.key.pub")
    theirs = s.load_ssh_private_key((VECTORS / "OpenSSH" / "rsa-nopsw.key").read_bytes(), None)
    assert library_key(key).private_numbers() == theirs.private_numbers()
    assert public == key.public
    with pytest.raises(KeyFileError, match="not an RSA key"):
        load_private(VECTORS / "OpenSSH" / "dsa-nopsw.key")
    encrypted = VECTORS / "OpenSSH" / "rsa-psw.key"
    with pytest.raises(PassphraseMissingError):
        load_private(encrypted)
    assert load_private(encrypted, "password").public == load_public(f"{encrypted}.pub")


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.matrix)])
def test_no_key_file_of_any_kind_gives_another_error(step):
    """Every fourth file, or every one."""
    read = 0
    for folder in ("PKCS8", "DER_Serialization", "PEM_Serialization", "OpenSSH", "public"):
        for path in sorted((VECTORS / folder).rglob("*.*"))[::step]:
            for load in (load_private, load_public):
                for passphrase in (None, "123456", ""):
                    try:
                        load(path, passphrase)
                        read += 1
                    except KeyFileError as error:
                        assert str(error)
    assert read > 20 // step


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"p": KEY.p + 2}, "p [*] q is the modulus"),
        ({"n": KEY.n + 2}, "p [*] q is the modulus"),
        ({"p": KEY.n, "q": 1}, "different odd primes"),
        ({"dp": KEY.dp + 2}, "dp is the inverse"),
        ({"dq": KEY.dq + KEY.q - 1}, "dq is the inverse"),
        ({"d": KEY.d + 2}, "d is the inverse"),
        ({"d": KEY.d + (KEY.p - 1) * (KEY.q - 1) * 2}, "d is below the modulus"),
        ({"qinv": KEY.qinv + 1}, "qinv is the inverse"),
        ({"qinv": KEY.qinv + KEY.p}, "qinv is below p"),
        ({"e": 17}, "dp is the inverse of e"),
    ],
)
def test_inconsistent_numbers(change, text):
    with pytest.raises(ValueError, match=text):
        replace(KEY, **change)
    numbers = dict(zip(("n", "e", "d", "p", "q", "dp", "dq", "qinv"), astuple(KEY), strict=True))
    numbers |= change
    data = der_sequence(*(numbers[name] for name in ("n", "e", "d", "p", "q", "dp", "dq", "qinv")))
    with pytest.raises(KeyFileError, match=rf"numbers .* are inconsistent: .*{text}|corrupt"):
        parse_private(data)


def der_sequence(*integers):
    """PKCS #1's RSAPrivateKey, which no library writes with wrong numbers."""

    def element(tag, content):
        length = len(content)
        if length < 128:
            return bytes([tag, length]) + content
        size = length.to_bytes((length.bit_length() + 7) // 8)
        return bytes([tag, 0x80 | len(size)]) + size + content

    content = b"".join(
        element(2, value.to_bytes(value.bit_length() // 8 + 1)) for value in (0, *integers)
    )
    return element(0x30, content)


def test_der_sequence_is_the_library_s():
    plain = s.NoEncryption()
    expected = library_key(KEY).private_bytes(
        s.Encoding.DER, s.PrivateFormat.TraditionalOpenSSL, plain
    )
    assert der_sequence(*astuple(KEY)) == expected


MULTI_PRIME = "has more than two primes; keys of two primes are supported$"


def test_more_than_two_primes(tmp_path):
    path, secret = tmp_path / "key", ("-passout", "pass:secret")
    options = ("-pkeyopt", "rsa_keygen_primes:3", "-out", path)
    openssl("genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024", *options)
    other = tmp_path / "other"
    for command in (
        "pkey",
        "rsa -traditional",
        "pkey -outform DER",
        "rsa -traditional -outform DER",
    ):
        openssl(*command.split(), "-in", path, "-out", other)
        with pytest.raises(KeyFileError, match=f"^the key {MULTI_PRIME}"):
            load_private(other)
    for command in ("pkey -aes128", "rsa -traditional -aes128"):
        openssl(*command.split(), "-in", path, "-out", other, *secret)
        with pytest.raises(KeyFileError, match=f"^the key {MULTI_PRIME}"):
            load_private(other, "secret")
        with pytest.raises(KeyFileError, match=r"^the passphrase is wrong, or the encrypted key"):
            load_private(other, "guess")
    openssl("pkey", "-in", path, "-pubout", "-out", other)
    assert load_public(other).bits == 1024


def test_a_composite_in_place_of_a_prime():
    one, two = generate(512, seed=2), generate(512, seed=3)
    p, q, e = one.p * two.p, two.q, 65537
    key = RsaPrivateKey.from_primes(p, q, e)
    with pytest.raises(KeyFileError, match="inconsistent: it does not hold that p is prime"):
        parse_private(der_sequence(*astuple(key)))


def test_from_primes_refuses():
    with pytest.raises(ValueError, match="different odd primes"):
        RsaPrivateKey.from_primes(7, 7, 5)
    with pytest.raises(ValueError, match="no common factor with q - 1"):
        RsaPrivateKey.from_primes(5, 7, 3)
    with pytest.raises(ValueError, match="p and q have no common factor"):
        RsaPrivateKey.from_primes(15, 25, 5 * 5 * 5 + 2)
    with pytest.raises(TypeError, match="p must be an int, not float"):
        RsaPrivateKey.from_primes(5.0, 7, 3)


@pytest.mark.parametrize(
    ("n", "e", "error", "text"),
    [
        (35, 4, ValueError, "public exponent must be odd and 3 or more, not 4"),
        (35, 1, ValueError, "public exponent must be odd and 3 or more, not 1"),
        (36, 5, ValueError, "modulus must be odd and greater"),
        (3, 5, ValueError, "modulus must be odd and greater"),
        ("35", 5, TypeError, "n must be an int, not str"),
        (35, True, TypeError, "e must be an int, not bool"),
    ],
)
def test_public_keys_that_are_none(n, e, error, text):
    with pytest.raises(error, match=text):
        RsaPublicKey(n, e)


def test_no_secret_in_a_repr():
    text = repr(KEY)
    assert str(KEY.n) in text
    for name in ("d", "p", "q", "dp", "dq", "qinv"):
        assert str(getattr(KEY, name)) not in text
    try:
        replace(KEY, dp=KEY.dp + 2)
    except ValueError as error:
        assert str(KEY.dp) not in str(error)
        assert str(KEY.dp + 2) not in str(error)
