"""Encrypted keys: OpenSSL's and ssh-keygen's are read, ours are read by both."""

import shutil
import subprocess

import pytest
from cryptography.hazmat.primitives import serialization

from coprime.ec import keys as curve_keys
from coprime.ec.weierstrass import curve_named
from coprime.encodings import encryption, key_files, pem
from coprime.encodings.errors import KeyFileError, PassphraseMissingError, WrongPassphraseError
from coprime.rsa import keys
from tests.encodings import by_hand
from tests.openssl import openssl

KEY = keys.generate(1024, seed=1)
PLAIN = keys.private_pem(KEY)
PKCS8 = [
    "-v2 aes-128-cbc",
    "-v2 aes-192-cbc -v2prf hmacWithSHA512",
    "-v2 aes-256-cbc -v2prf hmacWithSHA1",
    "-v2 aes-256-cbc -v2prf hmacWithSHA224",
    "-v2 aes-256-cbc -v2prf hmacWithSHA384",
    "-v2 des3",
    "-scrypt",
    "-scrypt -scrypt_N 1024 -scrypt_r 4 -scrypt_p 2",
    "-v1 PBE-SHA1-3DES",
    "-v1 PBE-SHA1-2DES -provider legacy -provider default",
    "-v1 PBE-MD5-DES -provider legacy -provider default",
    "-v1 PBE-SHA1-DES -provider legacy -provider default",
]


@pytest.mark.matrix(quick=12)
@pytest.mark.parametrize("options", PKCS8)
@pytest.mark.parametrize("form", ["PEM", "DER"])
@pytest.mark.parametrize("phrase", ["hush", "schön – 密"])
def test_pkcs8_of_openssl(options, form, phrase):
    command = ["pkcs8", "-topk8", *options.split(), "-outform", form, "-passout", f"pass:{phrase}"]
    data = openssl(*command, data=PLAIN)
    assert keys.parse_private(data, phrase) == KEY
    with pytest.raises(PassphraseMissingError):
        keys.parse_private(data)
    for wrong in ("other", b"\xff", phrase[:-1]):
        with pytest.raises(WrongPassphraseError):
            keys.parse_private(data, wrong)


@pytest.mark.parametrize("cipher", ["aes128", "aes192", "aes256", "des3"])
@pytest.mark.parametrize("kind", ["rsa", "ec"])
def test_files_with_headers_of_openssl(cipher, kind):
    if kind == "rsa":
        own, parse = KEY, keys.parse_private
    else:
        own, parse = curve_keys.CurvePrivateKey.generate(P_521), curve_keys.parse_private
    plain = PLAIN if kind == "rsa" else own.encode()
    traditional = ["-traditional"] if kind == "rsa" else []
    data = openssl(kind, *traditional, f"-{cipher}", "-passout", "pass:hush", data=plain)
    assert b"DEK-Info" in data
    assert parse(data, "hush") == own
    with pytest.raises(WrongPassphraseError):
        parse(data, "other")
    with pytest.raises(WrongPassphraseError):
        parse(data.replace(b"CBC,", b"CBC,0"), "hush")


P_521 = curve_named("P-521")


@pytest.mark.parametrize(
    "options",
    ["-v2 camellia256", "-v1 PBE-SHA1-RC2-40 -provider legacy -provider default"],
)
def test_algorithms_that_are_not_read(options):
    """Are named, and the passphrase is not blamed."""
    command = ["pkcs8", "-topk8", *options.split(), "-passout", "pass:hush"]
    data = openssl(*command, data=PLAIN)
    with pytest.raises(KeyFileError, match=r"an algorithm that is not read, 1\..* openssl pkcs8"):
        keys.parse_private(data, "hush")


@pytest.mark.parametrize("phrase", ["hush", "schön"])
def test_others_read_ours(phrase):
    data = keys.private_pem(KEY, phrase)
    theirs = serialization.load_pem_private_key(data, phrase.encode())
    assert theirs.private_numbers() == keys.library_key(KEY).private_numbers()
    assert keys.parse_private(openssl("pkey", "-passin", f"pass:{phrase}", data=data)) == KEY
    assert b"sha256" in openssl("asn1parse", "-i", data=data).lower().replace(b"hmacwith", b"")
    assert keys.private_pem(KEY, phrase) != data


def test_an_empty_passphrase_encrypts_nothing():
    with pytest.raises(ValueError, match="must not be empty"):
        encryption.encrypt(b"", b"")


@pytest.mark.parametrize(
    ("derivation", "sentence"),
    [
        (
            by_hand.sequence(by_hand.octets(bytes(8)), by_hand.number(1 << 40)),
            "1,099,511,627,776 r",
        ),
        (by_hand.sequence(by_hand.octets(bytes(8)), by_hand.number(0)), "asks for 0 rounds"),
    ],
)
def test_work_without_an_end_is_refused(derivation, sentence):
    pbkdf2 = by_hand.sequence(bytes.fromhex("06092a864886f70d01050c"), derivation)
    aes = by_hand.sequence(bytes.fromhex("0609608648016503040102"), by_hand.octets(bytes(16)))
    scheme = by_hand.sequence(pbkdf2, aes)
    named = by_hand.sequence(bytes.fromhex("06092a864886f70d01050d"), scheme)
    data = by_hand.sequence(named, by_hand.octets(bytes(32)))
    with pytest.raises(KeyFileError, match=sentence):
        keys.parse_private(data, "hush")


def test_memory_without_an_end_is_refused():
    costs = map(by_hand.number, (1 << 30, 8, 1))
    scrypt = by_hand.sequence(
        bytes.fromhex("06092b06010401da47040b"), by_hand.sequence(by_hand.octets(bytes(8)), *costs)
    )
    aes = by_hand.sequence(bytes.fromhex("0609608648016503040102"), by_hand.octets(bytes(16)))
    named = by_hand.sequence(bytes.fromhex("06092a864886f70d01050d"), by_hand.sequence(scrypt, aes))
    data = by_hand.sequence(named, by_hand.octets(bytes(32)))
    with pytest.raises(KeyFileError, match=r"1,099,511,627,776 bytes of memory"):
        keys.parse_private(data, "hush")


def test_what_is_encrypted_and_is_no_key():
    """Its passphrase was right."""
    for inside in (by_hand.sequence(), by_hand.sequence(by_hand.number(5))):
        with pytest.raises(KeyFileError, match="what is encrypted in the file is no private key"):
            keys.parse_private(by_hand.pbes2(inside), by_hand.SECRET)


# --- OpenSSH ------------------------------------------------------------------------------------

CIPHERS = [
    *(f"aes{bits}-{mode}" for bits in (128, 192, 256) for mode in ("ctr", "cbc")),
    *("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "3des-cbc"),
]


@pytest.fixture
def keygen(tmp_path):
    if shutil.which("ssh-keygen") is None:
        pytest.skip("there is no ssh-keygen (on Debian: apt-get install openssh-client)")

    def run(*options, phrase=""):
        path = tmp_path / "key"
        for old in (path, path.with_suffix(".pub")):
            old.unlink(missing_ok=True)
        subprocess.run(
            ["ssh-keygen", "-q", "-N", phrase, "-f", path, "-C", "a comment", *options], check=True
        )
        return path.read_bytes(), path.with_suffix(".pub").read_bytes()

    return run


@pytest.mark.matrix(quick=3)
@pytest.mark.parametrize("cipher", CIPHERS)
def test_encrypted_files_of_openssh(keygen, cipher):
    data, line = keygen("-t", "ed25519", "-Z", cipher, phrase="hush")
    own = curve_keys.parse_private(data, "hush")
    assert own.software_public() == curve_keys.parse_public(line)
    with pytest.raises(WrongPassphraseError):
        curve_keys.parse_private(data, "other")
    with pytest.raises(PassphraseMissingError):
        curve_keys.parse_private(data)


def test_a_cipher_of_openssh_that_is_not_read(keygen):
    data, _ = keygen("-t", "ed25519", "-Z", "chacha20-poly1305@openssh.com", phrase="hush")
    with pytest.raises(KeyFileError, match=r"chacha20-poly1305@openssh.com and bcrypt, which are"):
        curve_keys.parse_private(data, "hush")


@pytest.mark.parametrize("bits", ["256", "384", "521"])
def test_curves_of_openssh(keygen, bits):
    data, line = keygen("-t", "ecdsa", "-b", bits)
    own = curve_keys.parse_private(data)
    assert own.curve.name == f"P-{bits}"
    assert own.software_public() == curve_keys.parse_public(line)


def test_rsa_of_openssh(keygen):
    data, line = keygen("-t", "rsa", "-b", "1024")
    assert keys.parse_private(data).public == keys.parse_public(line)


def test_blocks():
    made = pem.write("PRIVATE KEY", bytes(200))
    text = b"Bag Attributes\n" + made.replace(b"\n", b"\r\n") + b"between\n" + made + made[:90]
    assert [one.content for one in pem.blocks(text)] == [bytes(200)] * 2
    assert key_files.read_private(text, None) is None
