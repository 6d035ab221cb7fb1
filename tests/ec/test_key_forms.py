"""Forms of key files that programs write and libraries refuse, beside what OpenSSL reads.

Each file is made by hand (`tests/encodings/by_hand.py`).
"""

import pytest

from coprime.ec import keys
from coprime.ec.edwards import ED25519
from coprime.ec.montgomery import X448, X25519
from coprime.ec.weierstrass import CURVES, WeierstrassCurve, curve_named
from coprime.encodings.errors import WrongPassphraseError
from coprime.rsa.keys import KeyFileError
from tests.encodings import by_hand
from tests.encodings.by_hand import element, number, octets, pem, pkcs8, sequence
from tests.openssl import openssl

OPENSSL = {"P-224": "secp224r1", "P-256": "prime256v1", "P-384": "secp384r1", "P-521": "secp521r1"}
NAMES = [curve.name for curve in CURVES]
BYTES = {
    "X25519": "06032b656e",
    "X448": "06032b656f",
    "Ed25519": "06032b6570",
    "Ed448": "06032b6571",
}
P_256 = curve_named("P-256")
KEYS = {}


def short_key(name):
    """A key whose number is so short that a byte can be left out; it is made once."""
    if name not in KEYS:
        curve = curve_named(name)
        scalar = curve.encode_scalar(0xA5 << 8 * (curve.scalar_size - 3) | 7)
        assert scalar[:2] == b"\0\0"
        KEYS[name] = keys.CurvePrivateKey(curve, scalar)
    return KEYS[name]


def named(name):
    """The OBJECT IDENTIFIER of a curve, by OpenSSL."""
    return openssl("ecparam", "-name", OPENSSL.get(name, name), "-outform", "DER")


def sec1(key, content, *, curve=True, public=True):
    parts = [element(0xA0, named(key.curve.name))] * curve
    if public:
        parts.append(element(0xA1, element(3, b"\0" + key.software_public().point)))
    return sequence(number(1), octets(content), *parts)


def files(key, content):
    """SEC 1 and PKCS #8, PEM and DER, encrypted and not, of a private number."""
    whole, bare = sec1(key, content), sec1(key, content, curve=False)
    info = pkcs8(by_hand.EC + named(key.curve.name).hex(), bare)
    least = pkcs8(
        by_hand.EC + named(key.curve.name).hex(), sec1(key, content, curve=False, public=False)
    )
    return {
        "SEC 1": pem("EC PRIVATE KEY", whole),
        "SEC 1 in DER": whole,
        "SEC 1 with a header": by_hand.with_header("EC PRIVATE KEY", whole),
        "SEC 1 after its curve": pem("EC PARAMETERS", named(key.curve.name))
        + pem("EC PRIVATE KEY", bare),
        "PKCS #8": pem("PRIVATE KEY", info),
        "PKCS #8 in DER": info,
        "PKCS #8 without the public key": least,
        "PKCS #8, encrypted": pem("ENCRYPTED PRIVATE KEY", by_hand.pbes2(info)),
        "PKCS #8, encrypted, in DER": by_hand.pbes2(info),
    }


@pytest.mark.matrix(quick=12)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", ["two zeros left out", "one left out", "none", "one added"])
def test_zeros_in_front_of_a_number(name, change):
    key = short_key(name)
    content = {
        "two zeros left out": key.scalar[2:],
        "one left out": key.scalar[1:],
        "none": key.scalar,
        "one added": b"\0" + key.scalar,
    }[change]
    for data in files(key, content).values():
        assert keys.parse_private(data, by_hand.SECRET) == key


@pytest.mark.parametrize("name", ["P-256", "P-521", "brainpoolP320r1"])
@pytest.mark.parametrize("zeros", [-1, 0, 1])
def test_openssl_reads_the_same(tmp_path, name, zeros):
    key = short_key(name)
    content = key.scalar[1:] if zeros < 0 else bytes(zeros) + key.scalar
    for what, data in files(key, content).items():
        if what == "SEC 1 after its curve":
            continue  # OpenSSL takes the curve's block for all that there is
        path = tmp_path / "key"
        path.write_bytes(data)
        public = openssl("pkey", "-in", path, "-passin", "pass:test", "-pubout")
        assert keys.parse_public(public) == key.software_public(), what


@pytest.mark.parametrize(
    ("name", "known"), [("P-256", b"nistp256"), ("P-384", b"nistp384"), ("P-521", b"nistp521")]
)
@pytest.mark.parametrize("zeros", [-1, 0, 1, 5])
def test_zeros_in_openssh_s_files(name, known, zeros):
    key = short_key(name)
    content = key.scalar[1:] if zeros < 0 else bytes(zeros) + key.scalar
    data = by_hand.openssh(b"ecdsa-sha2-" + known, known, key.software_public().point, content)
    assert keys.parse_private(data) == key


@pytest.mark.parametrize("name", ["P-256", "brainpoolP224r1"])
def test_a_number_that_is_none(name):
    curve = curve_named(name)
    for value in (0, curve.n, curve.n + 1, 1 << 8 * curve.scalar_size):
        content = value.to_bytes(curve.scalar_size + 1)
        for data in files(short_key(name), content).values():
            with pytest.raises(KeyFileError, match=f"holds no private key: a scalar of {name} is"):
                keys.parse_private(data, by_hand.SECRET)
    with pytest.raises(KeyFileError, match="holds no private key: a scalar"):
        keys.parse_private(sec1(short_key(name), b""))


def test_a_wrong_passphrase_only_where_it_is_wrong():
    """Whatever comes after the decryption is said as it is."""
    key = short_key("P-256")
    other = keys.CurvePrivateKey(P_256, P_256.encode_scalar(5))
    wrong = sequence(
        *(number(1), octets(key.scalar), element(0xA0, named("P-256"))),
        element(0xA1, element(3, b"\0" + other.software_public().point)),
    )
    for plain, sentence in (
        (wrong, "the private and the public key in the file are not one key's"),
        (sec1(key, bytes(32)), "holds no private key: a scalar of P-256 is from 1"),
        (sequence(number(1), octets(key.scalar)), "a private key that is not of X25519"),
        (sequence(number(0)), "what is encrypted in the file is no private key"),
        (pkcs8(BYTES["X448"], octets(b"")), "a scalar of X448 has 56 bytes, not 0"),
    ):
        for data in (by_hand.with_header("EC PRIVATE KEY", plain), by_hand.pbes2(plain)):
            with pytest.raises(KeyFileError, match=sentence):
                keys.parse_private(data, by_hand.SECRET)
            with pytest.raises(WrongPassphraseError):
                keys.parse_private(data, b"other")


@pytest.mark.parametrize("name", BYTES)
@pytest.mark.parametrize("version", [0, 1])
def test_one_asymmetric_key(name, version):
    """RFC 5958: with the public key, and attributes."""
    curve = keys.CURVES[name]
    key = keys.CurvePrivateKey.generate(curve)
    public = element(0x81, b"\0" + key.software_public().point)
    attributes = element(0xA0, sequence())
    for others in ((), (public,), (attributes, public), (attributes,)):
        data = pkcs8(BYTES[name], octets(key.scalar), *others, version=version)
        for one in (data, pem("PRIVATE KEY", data), by_hand.pbes2(data)):
            assert keys.parse_private(one, by_hand.SECRET) == key
    other = keys.CurvePrivateKey.generate(curve).software_public().point
    for given, sentence in (
        (other, "are not one key's"),
        (other[:-1], "bytes, not|no point of"),
    ):
        data = pkcs8(BYTES[name], octets(key.scalar), element(0x81, b"\0" + given), version=1)
        with pytest.raises(KeyFileError, match=sentence):
            keys.parse_private(data)
    for data in (
        pkcs8(BYTES[name], octets(key.scalar), version=2),
        pkcs8(BYTES[name], octets(key.scalar), element(0x82, b"")),
        pkcs8(BYTES[name], octets(key.scalar), element(0x81, b"\1" + other)),
    ):
        with pytest.raises(KeyFileError, match="is corrupt or holds no private key"):
            keys.parse_private(data)


def test_one_asymmetric_key_of_p_256():
    key = short_key("P-256")
    algorithm = by_hand.EC + named("P-256").hex()
    inner = sec1(key, key.scalar, curve=False, public=False)
    public = element(0x81, b"\0" + key.software_public().point)
    assert keys.parse_private(pkcs8(algorithm, inner, public, version=1)) == key


@pytest.mark.parametrize("name", BYTES)
def test_keys_of_wrong_length(name):
    size = keys.CURVES[name].size
    for count in (0, 1, size - 1, size + 1, 2 * size):
        data = pkcs8(BYTES[name], octets(bytes(count)))
        for one in (data, pem("PRIVATE KEY", data)):
            with pytest.raises(KeyFileError, match=f"of {name} has {size} bytes, not {count}$"):
                keys.parse_private(one)
        assert not openssl("pkey", "-noout", check=False, data=pem("PRIVATE KEY", data))
        public = sequence(sequence(bytes.fromhex(BYTES[name])), element(3, bytes(1 + count)))
        with pytest.raises(KeyFileError, match="holds no public key: "):
            keys.parse_public(public)
    for inner in (b"", b"\4", number(5), octets(bytes(size)) + b"\0"):
        with pytest.raises(KeyFileError, match="the file holds no private key: "):
            keys.parse_private(pkcs8(BYTES[name], inner))


@pytest.mark.parametrize("size", [31, 32, 33, 63, 65])
def test_ed25519_of_openssh_with_wrong_halves(size):
    """And where the public key in the private one is another's."""
    key = keys.CurvePrivateKey.generate(ED25519)
    point = key.software_public().point
    data = by_hand.openssh(b"ssh-ed25519", point, key.scalar + point)
    assert keys.parse_private(data) == key
    for both in ((key.scalar + point + b"\0")[:size], key.scalar + point[::-1]):
        data = by_hand.openssh(b"ssh-ed25519", point, both)
        with pytest.raises(KeyFileError, match="are not one key's"):
            keys.parse_private(data)


@pytest.mark.matrix(quick=3)
@pytest.mark.parametrize("name", NAMES)
def test_openssl_writes_and_reads_every_curve(name):
    own = keys.parse_private(openssl("ecparam", "-name", OPENSSL.get(name, name), "-genkey"))
    assert own.curve.name == name
    for data, secret in ((own.encode(), "none"), (own.encode(b"hush"), "hush")):
        pem_of_public = openssl("pkey", "-passin", f"pass:{secret}", "-pubout", data=data)
        assert keys.parse_public(pem_of_public) == own.software_public()
        assert own.software_public().encode() == pem_of_public


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["compressed", "uncompressed", "hybrid"])
def test_forms_of_points(name, form):
    for own in (short_key(name), keys.CurvePrivateKey.generate(curve_named(name))):
        data = openssl("pkey", "-pubout", "-ec_conv_form", form, data=own.encode())
        assert keys.parse_public(data) == own.software_public()


def test_points_that_are_none():
    curve = P_256
    x, y = curve.base
    good = bytes([6 | y & 1]) + curve.encode_point(curve.base)[1:]
    assert curve.decode_any_point(good) == curve.base
    off = next(one for one in range(1, 99) if not residue(curve, one))
    for wrong in (
        bytes([good[0] ^ 1]) + good[1:],
        b"\2" + off.to_bytes(32),
        b"\3" + curve.p.to_bytes(32),
        b"\2" + x.to_bytes(32)[:-1],
        b"\5" + good[1:],
        b"",
    ):
        with pytest.raises(ValueError, match="P-256"):
            curve.decode_any_point(wrong)


def residue(curve, x):
    return pow(x**3 + curve.a * x + curve.b, (curve.p - 1) // 2, curve.p) == 1


# --- Explicit parameters ------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_explicit_parameters_of_a_named_curve(name):
    """Are read, in whatever form OpenSSL writes them."""
    made = ["ecparam", "-name", OPENSSL.get(name, name), "-genkey", "-noout"]
    pems = openssl(*made, "-param_enc", "explicit")
    own = keys.parse_private(pems)
    assert own.curve.name == name
    for form in ("compressed", "uncompressed"):
        options = ["-param_enc", "explicit", "-conv_form", form]
        assert keys.parse_private(openssl("ec", *options, data=pems)) == own
        public = openssl("ec", "-pubout", *options, data=pems)
        assert b"prime-field" in openssl("asn1parse", data=public)
        assert keys.parse_public(public) == own.software_public()


def explicit(curve: WeierstrassCurve, **changes):
    """ECParameters."""
    size = curve.size
    values = {"p": curve.p, "a": curve.a, "b": curve.b, "n": curve.n, "h": 1, "base": curve.base}
    values |= changes
    field = sequence(bytes.fromhex("06072a8648ce3d0101"), number(values["p"]))
    coefficients = sequence(*(octets(values[one].to_bytes(size)) for one in "ab"))
    base = octets(curve.encode_point(values["base"]))
    fields = (number(1), field, coefficients, base, number(values["n"]))
    return sequence(*fields, *([] if values["h"] is None else [number(values["h"])]))


def test_other_parameters_are_refused():
    """Above all another base point, with which whoever has a public key makes a private one."""
    curve, key = P_256, short_key("P-256")
    doubled = openssl_double(curve)

    def both(parameters):
        private = sequence(number(1), octets(key.scalar), element(0xA0, parameters))
        identifier = sequence(bytes.fromhex(by_hand.EC), parameters)
        point = element(3, b"\0" + key.software_public().point)
        return private, sequence(identifier, point)

    private, public = both(explicit(curve))
    assert keys.parse_private(private) == key
    assert keys.parse_public(public) == key.software_public()
    changes = (
        *({"base": doubled}, {"h": 2}, {"h": None}, {"n": curve.n + 2}, {"a": curve.a + 1}),
        *({"b": curve.b + 1}, {"p": curve.p - 2}),
    )
    for change in changes:
        private, public = both(explicit(curve, **change))
        for parse, data in ((keys.parse_private, private), (keys.parse_public, public)):
            with pytest.raises(KeyFileError, match=r"explicit parameters .* not those of a known"):
                parse(data)
    for wrong in (sequence(), sequence(number(1)), sequence(number(4), *[sequence()] * 4)):
        private, public = both(wrong)
        with pytest.raises(KeyFileError, match="the file names no curve: "):
            keys.parse_private(private)


def openssl_double(curve):
    """2 G, from the public key of the private key 2."""
    two = keys.CurvePrivateKey(curve, curve.encode_scalar(2))
    return curve.decode_point(two.software_public().point)


def test_a_key_of_two_curves():
    key = short_key("P-256")
    inner = sequence(number(1), octets(key.scalar), element(0xA0, named("secp256k1")))
    with pytest.raises(KeyFileError, match="the private key in the file is of two curves"):
        keys.parse_private(pkcs8(by_hand.EC + named("P-256").hex(), inner))


@pytest.mark.parametrize("curve", [X25519, X448, P_256, curve_named("brainpoolP224r1")])
def test_bytes_that_change_give_a_key_or_a_sentence(curve):
    """Of every byte of a file one bit, and every length."""
    key = keys.CurvePrivateKey.generate(curve)
    data = pkcs8_of(key)
    read = 0
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        for one in (bytes(changed), data[:at]):
            try:
                keys.parse_private(one)
                read += 1
            except KeyFileError as error:
                assert str(error)
    assert read > 0 or isinstance(curve, WeierstrassCurve)


def pkcs8_of(key):
    return openssl("pkey", "-outform", "DER", data=key.encode())
