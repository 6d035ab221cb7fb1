"""Keys with numbers that a file leaves out, as zeros."""

import shutil
import subprocess
from dataclasses import astuple

import pytest

from coprime.rsa.keys import KeyFileError, RsaPrivateKey, generate, parse_private, parse_public
from coprime.rsa.missing_numbers import complete
from tests.encodings import by_hand
from tests.encodings.by_hand import element, number, pem, pkcs8, sequence
from tests.openssl import openssl

KEY = generate(1024, seed=1)
NAMES = ("n", "e", "d", "p", "q", "dp", "dq", "qinv")
ALL = dict(zip(NAMES, astuple(KEY), strict=True))
JAVA = """
import java.math.*; import java.nio.file.*; import java.security.*; import java.security.spec.*;
public class Key {
  public static void main(String[] a) throws Exception {
    var spec = new RSAPrivateKeySpec(new BigInteger(a[0]), new BigInteger(a[1]));
    Files.write(Path.of(a[2]), KeyFactory.getInstance("RSA").generatePrivate(spec).getEncoded());
  }
}
"""


def same(found, key=KEY):
    """The primes may have changed places, and d may be one modulo (p - 1)(q - 1)."""
    if {found.p, found.q} != {key.p, key.q} or (found.n, found.e) != (key.n, key.e):
        return False
    x = 0x1234567
    return pow(pow(x, found.e, found.n), found.d, found.n) == x


def written(names, key=KEY):
    """PKCS #1 with the numbers of these names, and zeros in place of the others."""
    values = dict(zip(NAMES, astuple(key), strict=True))
    return sequence(number(0), *(number(values[one] * (one in names)) for one in NAMES))


@pytest.mark.matrix(quick=3)
@pytest.mark.parametrize(
    "names",
    [
        "n d",
        "n e d",
        "n e d p",
        "n e d q",
        "n d p q",
        "n e p q",
        "n e p",
        "n d q",
        "n e d p q",
        "n e d p q qinv",
        "n e d p q dp dq",
    ],
)
def test_the_rest_is_computed(names):
    plain = written(names.split())
    info = pkcs8(by_hand.RSA, plain)
    for data in (
        *(plain, pem("RSA PRIVATE KEY", plain), by_hand.with_header("RSA PRIVATE KEY", plain)),
        *(info, pem("PRIVATE KEY", info), by_hand.pbes2(info)),
    ):
        found = parse_private(data, by_hand.SECRET)
        assert same(found)
        assert parse_public(data, by_hand.SECRET) == KEY.public
    assert same(RsaPrivateKey(*complete(**{name: ALL[name] for name in names.split()})))


@pytest.mark.parametrize("e", [3, 5, 17, 257, 65537, 65539, 131071])
def test_public_exponents_that_are_found(e):
    key = generate(512, e, seed=e)
    assert same(parse_private(written(("n", "d"), key)), key)


@pytest.mark.parametrize("bits", [64, 65, 127, 500, 1031, 2048])
def test_lengths(bits):
    for seed in range(3 if bits < 1024 else 1):
        key = generate(bits, 3, seed=seed)
        assert same(parse_private(written(("n", "e", "d"), key)), key)


def test_primes_of_two_lengths():
    key = generate(1024, p_bits=300, seed=1)
    assert same(parse_private(written(("n", "d"), key)), key)


def test_a_public_exponent_that_is_not_found():
    key = generate(512, (1 << 31) - 1, seed=1)
    with pytest.raises(KeyFileError, match="exponent is missing, and it is none below 131,072"):
        parse_private(written(("n", "d"), key))
    assert same(parse_private(written(("n", "e", "d"), key)), key)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ("n", "the private exponent and both primes are missing"),
        ("n e", "the private exponent and both primes are missing"),
        ("n p q", "both exponents are missing"),
        ("p q", "d is below the modulus"),
        ("e d p q", "d is below the modulus|e is below the modulus"),
    ],
)
def test_too_few_numbers(names, sentence):
    with pytest.raises(KeyFileError, match=f"private key are inconsistent: .*({sentence})"):
        parse_private(written(names.split()))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"d": KEY.d + 2}, "d is the inverse of e"),
        ({"e": 17}, "d is the inverse of e"),
        ({"e": 65536}, "d is the inverse of e"),
        ({"d": KEY.n}, "d is below the modulus"),
        ({"n": KEY.n + 2}, "d is the inverse of e"),
        ({"p": KEY.p + 2}, "p . q is the modulus|p and q"),
        ({"p": 1}, "p and q are different odd primes"),
        ({"qinv": 5}, "qinv is the inverse"),
        ({"dp": 5}, "dp is the inverse"),
    ],
)
def test_numbers_that_contradict_each_other(change, sentence):
    values = {"n": KEY.n, "e": KEY.e, "d": KEY.d} | change
    data = sequence(number(0), *(number(values.get(one, 0)) for one in NAMES))
    with pytest.raises(KeyFileError, match=f"private key are inconsistent: .*({sentence})"):
        parse_private(data)


def test_more_primes_with_zeros():
    data = sequence(number(1), *map(number, astuple(KEY)), sequence())
    with pytest.raises(KeyFileError, match="the key has more than two primes"):
        parse_private(data)


def test_numbers_with_a_zero_missing_or_one_too_many(tmp_path):
    """A negative INTEGER, and one that is longer than it has to be: OpenSSL reads both."""

    def bare(value):
        return element(2, value.to_bytes((value.bit_length() + 7) // 8 or 1))

    def longer(value):
        return element(2, bytes(3) + value.to_bytes((value.bit_length() + 7) // 8))

    for form in (bare, longer):
        private = pem("RSA PRIVATE KEY", sequence(number(0), *map(form, astuple(KEY))))
        public = sequence(form(KEY.n), form(KEY.e))
        assert parse_private(private) == KEY
        assert parse_public(public) == KEY.public
        assert parse_public(openssl("rsa", "-pubout", data=private)) == KEY.public


def test_openssl_s_other_forms():
    """And RSA-PSS, whose restrictions are not enforced."""
    pss = openssl("genpkey", "-quiet", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:1024")
    assert parse_private(pss).public == parse_public(openssl("pkey", "-pubout", data=pss))


def test_keys_of_openssh_made_by_hand():
    def mpint(value):
        return value.to_bytes(value.bit_length() // 8 + 1)

    numbers = (KEY.n, KEY.e, KEY.d, KEY.qinv, KEY.p, KEY.q)
    for form in (
        mpint,
        lambda value: mpint(value).lstrip(b"\0"),
        lambda value: b"\0" + mpint(value),
    ):
        assert parse_private(by_hand.openssh(b"ssh-rsa", *map(form, numbers))) == KEY


@pytest.mark.matrix
def test_keys_of_java(tmp_path):
    if shutil.which("java") is None:
        pytest.skip("there is no Java (on Debian: apt-get install default-jdk-headless)")
    (tmp_path / "Key.java").write_text(JAVA)
    path = tmp_path / "key.der"
    source = tmp_path / "Key.java"
    done = subprocess.run(["java", source, str(KEY.n), str(KEY.d), path], check=False)
    if done.returncode:
        pytest.skip("this Java compiles nothing")
    assert same(parse_private(path.read_bytes()))


def test_a_modulus_that_no_family_takes():
    huge = (1 << 70_000) + 1
    data = sequence(number(0), number(huge), number(3), number(5), *[number(0)] * 5)
    with pytest.raises(KeyFileError, match="the modulus has 70,001 bits: no family takes it"):
        parse_private(data)
