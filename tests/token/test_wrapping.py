"""Keys that leave the token under another key: who can decrypt does not handle sensitive keys."""

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.token import cryptoki
from tests.token.cryptoki import DECRYPT, ENCRYPT, EXTRACTABLE, SENSITIVE, UNWRAP, WRAP
from tests.token.test_keys import refused

pytestmark = pytest.mark.xdist_group("token")

IV = bytes(16)
AES_32 = {cryptoki.VALUE_LEN: 32}
OF_RSA = {cryptoki.CLASS: cryptoki.PRIVATE_KEY, cryptoki.KEY_TYPE: cryptoki.RSA}
OF_AES = {cryptoki.CLASS: cryptoki.SECRET_KEY, cryptoki.KEY_TYPE: cryptoki.AES}
AS_BYTES = {cryptoki.CLASS: cryptoki.SECRET_KEY, cryptoki.KEY_TYPE: cryptoki.GENERIC_SECRET}
OPEN = {SENSITIVE: False, EXTRACTABLE: True}
OAEP = cryptoki.Oaep(cryptoki.SHA256, 2)
BY_RSA = (
    pytest.param(cryptoki.RSA_PKCS, b"", id="RSA_PKCS"),
    pytest.param(cryptoki.RSA_PKCS_OAEP, OAEP, id="RSA_PKCS_OAEP"),
    pytest.param(cryptoki.RSA_AES_KEY_WRAP, cryptoki.RsaAes(256, OAEP), id="RSA_AES_KEY_WRAP"),
)


@pytest.fixture(scope="module")
def sensitive(session):
    """A private key that may leave the token, and is sensitive."""
    return session.import_pair(rsa.generate_private_key(65537, 1024), {EXTRACTABLE: True})[1]


def abilities(session, key):
    return [session.is_true(key, kind) for kind in (ENCRYPT, DECRYPT)]


def test_a_key_that_wraps_does_not_decrypt_unless_it_is_asked_for(session):
    for template, expected in (
        ({}, [True, True]),
        ({WRAP: True}, [True, False]),
        ({UNWRAP: True}, [False, False]),
        ({WRAP: True, UNWRAP: True}, [False, False]),
        ({WRAP: True, UNWRAP: True, ENCRYPT: True, DECRYPT: True}, [True, True]),
    ):
        assert abilities(session, session.generate_aes(AES_32 | template)) == expected
    for template, expected in (({}, True), ({UNWRAP: True}, False)):
        _, private = session.generate_pair(private=template)
        assert session.is_true(private, DECRYPT) == expected


def test_decryption_is_never_switched_on(session):
    """Nor off: a copy that does not decrypt would wrap for the original, which does."""
    _, private = session.generate_pair(private={UNWRAP: True})
    for key in (session.generate_aes(AES_32 | {WRAP: True}), private):
        with refused(cryptoki.ATTRIBUTE_READ_ONLY):
            session.set(key, DECRYPT, value=True)
        with refused(cryptoki.ATTRIBUTE_READ_ONLY):
            session.copy(key, {DECRYPT: True})
    key = session.generate_aes(AES_32)
    for name in ("set", "copy"):
        with refused(cryptoki.ATTRIBUTE_READ_ONLY):
            if name == "set":
                session.set(key, DECRYPT, value=False)
            else:
                session.copy(key, {DECRYPT: False})
    with refused(cryptoki.ATTRIBUTE_READ_ONLY):
        session.set(private, UNWRAP, value=False)


def test_what_is_wrapped_is_not_decrypted(session, sensitive):
    """With the key itself."""
    wrapping = session.generate_aes(AES_32 | {WRAP: True})
    session.wrap(cryptoki.AES_CBC_PAD, wrapping, sensitive, IV)
    with refused(cryptoki.KEY_FUNCTION_NOT_PERMITTED):
        session.begin("C_DecryptInit", wrapping, cryptoki.AES_CBC_PAD, IV)
    both = session.generate_aes(AES_32 | {WRAP: True, DECRYPT: True})
    with refused(cryptoki.KEY_NOT_WRAPPABLE):
        session.wrap(cryptoki.AES_CBC_PAD, both, sensitive, IV)


def test_what_is_wrapped_is_not_decrypted_elsewhere(session, sensitive):
    """With the value of a key that is shown; one that is hidden in either way may wrap."""
    for template, shown in (
        (OPEN, True),
        ({SENSITIVE: False}, False),  # it cannot be extracted
        ({EXTRACTABLE: True}, False),
    ):
        wrapping = session.generate_aes(AES_32 | {WRAP: True} | template)
        if shown:
            with refused(cryptoki.KEY_NOT_WRAPPABLE):
                session.wrap(cryptoki.AES_KEY_WRAP_KWP, wrapping, sensitive)
        else:
            session.wrap(cryptoki.AES_KEY_WRAP_KWP, wrapping, sensitive)


def test_what_is_wrapped_is_not_decrypted_with_an_equal_key(session, sensitive):
    """With another object that has the same value."""
    value = OF_AES | {cryptoki.VALUE: bytes(range(32))}
    wrapping = session.create(value | {WRAP: True})
    session.wrap(cryptoki.AES_KEY_WRAP_KWP, wrapping, sensitive)
    session.create(value)
    with refused(cryptoki.KEY_NOT_WRAPPABLE):
        session.wrap(cryptoki.AES_KEY_WRAP_KWP, wrapping, sensitive)


@pytest.mark.parametrize(("mechanism", "parameter"), BY_RSA)
def test_what_is_wrapped_is_not_decrypted_with_the_private_key(session, mechanism, parameter):
    """A pair wraps sensitive keys if its private half only unwraps."""
    secret = session.generate_aes(AES_32 | {EXTRACTABLE: True})
    for private, allowed in (
        ({UNWRAP: True}, True),
        ({UNWRAP: True, DECRYPT: True}, False),
        ({}, False),
        ({UNWRAP: True, **OPEN}, False),  # it is shown
        ({DECRYPT: False}, False),  # it still signs without padding
    ):
        wrapping, unwrapping = session.generate_pair({WRAP: True}, private)
        if not allowed:
            with refused(cryptoki.KEY_NOT_WRAPPABLE):
                session.wrap(mechanism, wrapping, secret, parameter)
            continue
        wrapped = session.wrap(mechanism, wrapping, secret, parameter)
        session.unwrap(mechanism, unwrapping, wrapped, OF_AES, parameter)
        for function in ("C_DecryptInit", "C_SignInit"):
            with refused(cryptoki.KEY_FUNCTION_NOT_PERMITTED):
                session.begin(function, unwrapping, cryptoki.RSA_X_509)
        session.sign(unwrapping, cryptoki.SHA256_RSA_PKCS, b"with a padding")


def test_what_is_wrapped_stays_sensitive_when_it_is_unwrapped(session, sensitive):
    wrapping = session.generate_aes(AES_32 | {WRAP: True, UNWRAP: True})
    mechanism = cryptoki.AES_KEY_WRAP_KWP
    wrapped = session.wrap(mechanism, wrapping, sensitive)
    for template in (AS_BYTES | OPEN, AS_BYTES | {SENSITIVE: False}, OF_RSA | OPEN):
        with refused(cryptoki.TEMPLATE_INCONSISTENT):
            session.unwrap(mechanism, wrapping, wrapped, template)
    hidden = session.unwrap(mechanism, wrapping, wrapped, AS_BYTES | {EXTRACTABLE: True})
    with refused(cryptoki.ATTRIBUTE_SENSITIVE):
        session.get(hidden, cryptoki.VALUE)
    with refused(cryptoki.ATTRIBUTE_READ_ONLY):
        session.copy(hidden, {SENSITIVE: False})
    both = session.generate_aes(AES_32 | {WRAP: True, DECRYPT: True})
    with refused(cryptoki.KEY_NOT_WRAPPABLE):
        session.wrap(mechanism, both, hidden)


def test_a_key_that_decrypts_handles_what_is_not_sensitive(session):
    both = session.generate_aes(
        AES_32 | {WRAP: True, UNWRAP: True, ENCRYPT: True, DECRYPT: True},
    )
    key = session.generate_aes(AES_32 | OPEN)
    wrapped = session.wrap(cryptoki.AES_KEY_WRAP_KWP, both, key)
    made = session.unwrap(cryptoki.AES_KEY_WRAP_KWP, both, wrapped, OF_AES | OPEN)
    assert session.get(made, cryptoki.VALUE) == session.get(key, cryptoki.VALUE)


def test_a_template_is_read_as_the_standard_has_it(session):
    """First the number of its attributes, then types and values, each in a place of its own."""
    template = {cryptoki.CLASS: cryptoki.SECRET_KEY, SENSITIVE: True, cryptoki.LABEL: b"a label"}
    key = session.generate_aes(AES_32 | {WRAP: True, cryptoki.WRAP_TEMPLATE: template})
    expected = {
        cryptoki.CLASS: cryptoki.SECRET_KEY.to_bytes(8, "little"),
        SENSITIVE: b"\1",
        cryptoki.LABEL: b"a label",
    }
    assert session.get_template(key, cryptoki.WRAP_TEMPLATE) == expected
    with refused(cryptoki.BUFFER_TOO_SMALL):
        session.get_template(key, cryptoki.WRAP_TEMPLATE, room=6)
    with refused(cryptoki.BUFFER_TOO_SMALL):
        session.get_template(key, cryptoki.WRAP_TEMPLATE, places=2)
    assert session.find({cryptoki.WRAP_TEMPLATE: template}) == [key]
    assert session.find({cryptoki.WRAP_TEMPLATE: template | {SENSITIVE: False}}) == []
    copied = session.copy(key)
    assert session.get_template(copied, cryptoki.WRAP_TEMPLATE) == expected
    with refused(cryptoki.ATTRIBUTE_READ_ONLY):
        session.copy(key, {cryptoki.WRAP_TEMPLATE: {}})
    with refused(cryptoki.ATTRIBUTE_READ_ONLY):
        session.set(key, cryptoki.WRAP_TEMPLATE, {})


def test_a_template_of_what_no_key_has_is_refused(session):
    for template in (
        {cryptoki.WRAP_TEMPLATE: {}},
        {0x80: 1},  # a certificate's
        {SENSITIVE: b"\1\1"},
        {cryptoki.MODULUS: bytes(3)},
        {cryptoki.LABEL: b"", **{0x80000000 + i: b"" for i in range(3)}},
        dict.fromkeys(range(40), b""),
    ):
        with refused(cryptoki.ATTRIBUTE_VALUE_INVALID):
            session.generate_aes(AES_32 | {cryptoki.UNWRAP_TEMPLATE: template})
    with refused(cryptoki.ATTRIBUTE_VALUE_INVALID):
        session.generate_aes(AES_32 | {cryptoki.WRAP_TEMPLATE: bytes(23)})


def test_a_template_says_what_is_wrapped(session):
    template = {cryptoki.LABEL: b"may leave", cryptoki.CLASS: cryptoki.SECRET_KEY}
    wrapping = session.generate_aes(AES_32 | {WRAP: True, cryptoki.WRAP_TEMPLATE: template})
    for label, fits in ((b"may leave", True), (b"may not", False)):
        key = session.generate_aes(AES_32 | {EXTRACTABLE: True, cryptoki.LABEL: label})
        if fits:
            session.wrap(cryptoki.AES_KEY_WRAP_KWP, wrapping, key)
            continue
        with refused(cryptoki.KEY_HANDLE_INVALID):
            session.wrap(cryptoki.AES_KEY_WRAP_KWP, wrapping, key)
    by_value = {cryptoki.VALUE: bytes(32)}  # what is hidden matches nothing
    wrapping = session.generate_aes(AES_32 | {WRAP: True, cryptoki.WRAP_TEMPLATE: by_value})
    key = session.create(OF_AES | by_value | {EXTRACTABLE: True})
    with refused(cryptoki.KEY_HANDLE_INVALID):
        session.wrap(cryptoki.AES_KEY_WRAP_KWP, wrapping, key)


def test_a_template_says_what_an_unwrapped_key_is(session):
    template = {cryptoki.ID: b"from far", EXTRACTABLE: False, **OF_AES}
    unwrapping = session.generate_aes(
        AES_32 | {WRAP: True, UNWRAP: True, cryptoki.UNWRAP_TEMPLATE: template},
    )
    key = session.generate_aes(AES_32 | {EXTRACTABLE: True})
    wrapped = session.wrap(cryptoki.AES_KEY_WRAP_KWP, unwrapping, key)
    for given in ({cryptoki.LABEL: b"mine"}, OF_AES | {cryptoki.ID: b"from far"}):
        made = session.unwrap(cryptoki.AES_KEY_WRAP_KWP, unwrapping, wrapped, given)
        assert session.get(made, cryptoki.ID) == b"from far"
        assert not session.is_true(made, EXTRACTABLE)
    for given in ({EXTRACTABLE: True}, {cryptoki.ID: b"another"}, OF_RSA):
        with refused(cryptoki.TEMPLATE_INCONSISTENT):
            session.unwrap(cryptoki.AES_KEY_WRAP_KWP, unwrapping, wrapped, given)


@pytest.mark.parametrize(
    ("template", "code"),
    [
        (OF_AES | {SENSITIVE: False}, cryptoki.TEMPLATE_INCONSISTENT),
        (OF_AES | {cryptoki.TRUSTED: True}, cryptoki.ATTRIBUTE_READ_ONLY),
    ],
    ids=["not sensitive", "trusted"],
)
def test_a_template_loosens_nothing(session, template, code):
    """What the caller may not ask for, the unwrapping key's template does not give."""
    unwrapping = session.generate_aes(
        AES_32 | {WRAP: True, UNWRAP: True, cryptoki.UNWRAP_TEMPLATE: template},
    )
    key = session.generate_aes(AES_32 | {EXTRACTABLE: True})
    wrapped = session.wrap(cryptoki.AES_KEY_WRAP_KWP, unwrapping, key)
    with refused(code):
        session.unwrap(cryptoki.AES_KEY_WRAP_KWP, unwrapping, wrapped, {})


def test_a_template_is_kept_with_its_key(session):
    """In the token's file, and of a public and of a private key, too."""
    template = {cryptoki.LABEL: b"may leave"}
    name = {cryptoki.ID: b"with a template", cryptoki.TOKEN: True}
    session.generate_pair(
        {WRAP: True, cryptoki.WRAP_TEMPLATE: template, **name},
        {UNWRAP: True, cryptoki.UNWRAP_TEMPLATE: template, **name},
    )
    session.call("C_Logout")
    session.login()
    public, private = session.find(name)
    expected = {cryptoki.LABEL: b"may leave"}
    assert session.get_template(public, cryptoki.WRAP_TEMPLATE) == expected
    assert session.get_template(private, cryptoki.UNWRAP_TEMPLATE) == expected


# What binds a key, binds it also after it has left the token and come back.

KWP = cryptoki.AES_KEY_WRAP_KWP
P256 = {cryptoki.EC_PARAMS: bytes.fromhex("06082a8648ce3d030107")}


def test_a_key_that_wraps_does_not_leave(session):
    """Else it could come back as one that decrypts, and decrypt what it has wrapped."""
    sensitive = session.generate_aes(AES_32 | {EXTRACTABLE: True})
    outer = session.generate_aes(AES_32 | {WRAP: True, UNWRAP: True})
    for template in ({WRAP: True}, {UNWRAP: True}, {DECRYPT: False}):
        wrapping = session.generate_aes(AES_32 | {EXTRACTABLE: True} | template)
        if WRAP in template:
            session.wrap(KWP, wrapping, sensitive)
        with refused(cryptoki.KEY_NOT_WRAPPABLE):
            session.wrap(KWP, outer, wrapping)
    _, unwrapping = session.generate_pair({WRAP: True}, {UNWRAP: True, EXTRACTABLE: True})
    with refused(cryptoki.KEY_NOT_WRAPPABLE):
        session.wrap(KWP, outer, unwrapping)
    shown = session.generate_aes(AES_32 | {WRAP: True} | OPEN)  # it wraps nothing sensitive
    session.wrap(KWP, outer, shown)


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param({cryptoki.ALWAYS_AUTHENTICATE: True}, id="the PIN each time"),
        pytest.param({cryptoki.ALLOWED_MECHANISMS: bytes([13, *bytes(7)])}, id="mechanisms"),
        pytest.param({cryptoki.UNWRAP_TEMPLATE: {SENSITIVE: True}}, id="a template"),
    ],
)
def test_a_key_with_a_rule_does_not_leave(session, rule):
    """The standard's form of a wrapped key has no place for it."""
    outer = session.generate_aes(AES_32 | {WRAP: True})
    _, bound = session.generate_pair(private={EXTRACTABLE: True, **rule})
    with refused(cryptoki.KEY_NOT_WRAPPABLE):
        session.wrap(KWP, outer, bound)
    _, shown = session.generate_pair(private=OPEN | rule)
    session.wrap(KWP, outer, shown)


def test_a_derived_key_never_wraps(session):
    """Neither by its template, nor later: whoever derives it again can have it shown."""
    _, private = session.generate(cryptoki.EC_KEY_PAIR_GEN, P256, {cryptoki.DERIVE: True})
    public, _ = session.generate(cryptoki.EC_KEY_PAIR_GEN, P256, {})
    point = session.get(public, cryptoki.EC_POINT)
    with refused(cryptoki.TEMPLATE_INCONSISTENT):
        session.derive(private, point, OF_AES | AES_32 | {WRAP: True})
    check_never_wraps(session, session.derive(private, point, OF_AES | AES_32))


def check_never_wraps(session, key):
    with refused(cryptoki.ATTRIBUTE_READ_ONLY):
        session.set(key, WRAP, value=True)
    with refused(cryptoki.ATTRIBUTE_READ_ONLY):
        session.copy(key, {WRAP: True})


def test_an_unwrapped_key_does_not_wrap(session):
    """Whoever unwraps it again can have it decrypt, unless a template forbids that."""
    key = session.generate_aes(AES_32 | {EXTRACTABLE: True})
    unwrapping = session.generate_aes(AES_32 | {WRAP: True, UNWRAP: True})
    wrapped = session.wrap(KWP, unwrapping, key)
    with refused(cryptoki.TEMPLATE_INCONSISTENT):
        session.unwrap(KWP, unwrapping, wrapped, OF_AES | {WRAP: True})
    check_never_wraps(session, session.unwrap(KWP, unwrapping, wrapped, OF_AES))
    both = session.unwrap(KWP, unwrapping, wrapped, OF_AES | {WRAP: True, DECRYPT: True})
    with refused(cryptoki.KEY_NOT_WRAPPABLE):  # as any key that decrypts
        session.wrap(KWP, both, key)
    for template, allowed in (({DECRYPT: False}, True), ({}, False)):
        both = {WRAP: True, UNWRAP: True, cryptoki.UNWRAP_TEMPLATE: template}
        unwrapping = session.generate_aes(AES_32 | both)
        wrapped = session.wrap(KWP, unwrapping, key)
        if allowed:
            session.unwrap(KWP, unwrapping, wrapped, OF_AES | {WRAP: True})
            with refused(cryptoki.TEMPLATE_INCONSISTENT):
                session.unwrap(KWP, unwrapping, wrapped, OF_AES | {DECRYPT: True})
        else:
            with refused(cryptoki.TEMPLATE_INCONSISTENT):
                session.unwrap(KWP, unwrapping, wrapped, OF_AES | {WRAP: True})


AES_KEY_WRAP_PAD = 0x210A

# Of RFC 5649, section 6.
OF_RFC_5649 = [
    (
        "c37b7e6492584340bed12207808941155068f738",
        "138bdeaa9b8fa7fc61f97742e72248ee5ae6ae5360d1ae6a5f54f373fa543b6a",
    ),
    ("466f7250617369", "afbeb0f07dfbf5419200f2ccb50bb24f"),
]


@pytest.mark.parametrize(("value", "expected"), OF_RFC_5649)
@pytest.mark.parametrize("mechanism", [AES_KEY_WRAP_PAD, cryptoki.AES_KEY_WRAP_KWP])
def test_keys_that_are_padded(session, mechanism, value, expected):
    secret = bytes.fromhex("5840df6e29b02af1ab493b705bf16ea1ae8338f4dcc176a8")
    both = {WRAP: True, UNWRAP: True, DECRYPT: True}
    wrapping = session.create(OF_AES | {cryptoki.VALUE: secret} | both)
    key = session.create(AS_BYTES | OPEN | {cryptoki.VALUE: bytes.fromhex(value)})
    assert session.wrap(mechanism, wrapping, key).hex() == expected
    back = session.unwrap(mechanism, wrapping, bytes.fromhex(expected), AS_BYTES | OPEN)
    assert session.get(back, cryptoki.VALUE).hex() == value
