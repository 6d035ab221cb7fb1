"""What may be done with a key: what its attributes say, and who is logged in."""

from contextlib import contextmanager

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from coprime.token.module import TokenError
from tests.token import cryptoki
from tests.token.cryptoki import open_session

pytestmark = pytest.mark.xdist_group("token")

SHA256_RSA_PKCS = 0x40
SECRETS = (
    *(cryptoki.PRIVATE_EXPONENT, cryptoki.PRIME_1, cryptoki.PRIME_2),
    *(cryptoki.EXPONENT_1, cryptoki.EXPONENT_2, cryptoki.COEFFICIENT),
)
LIFE = (cryptoki.LOCAL, cryptoki.ALWAYS_SENSITIVE, cryptoki.NEVER_EXTRACTABLE)
DATA = b"some data"


@contextmanager
def refused(code):
    """The call in it must end with this error."""
    with pytest.raises(TokenError) as error:
        yield
    assert hex(error.value.code) == hex(code)


@pytest.fixture(scope="module")
def key():
    return rsa.generate_private_key(65537, 1024)


def check_signature(session, handle, public_key):
    signature = session.sign(handle, SHA256_RSA_PKCS, DATA)
    public_key.verify(signature, DATA, padding.PKCS1v15(), hashes.SHA256())


def test_a_key_is_hidden_unless_it_is_asked_for(session):
    """As generated: sensitive, not extractable. One that is open shows all its numbers."""
    public, hidden = session.generate_pair()
    for kind in SECRETS:
        with refused(cryptoki.ATTRIBUTE_SENSITIVE):
            session.get(hidden, kind)
    assert session.get(hidden, cryptoki.MODULUS) == session.get(public, cryptoki.MODULUS)
    assert [session.is_true(hidden, kind) for kind in LIFE] == [True, True, True]
    choice = {cryptoki.SENSITIVE: False, cryptoki.EXTRACTABLE: True}
    _, shown = session.generate_pair(private=choice)
    d, p, q, *_ = (int.from_bytes(session.get(shown, kind)) for kind in SECRETS)
    n = int.from_bytes(session.get(shown, cryptoki.MODULUS))
    assert p * q == n
    assert pow(pow(2, 65537, n), d, n) == 2
    assert [session.is_true(shown, kind) for kind in LIFE] == [True, False, False]


def test_hidden_once_is_hidden_always(session):
    """CKA_SENSITIVE is only switched on, CKA_EXTRACTABLE only off."""
    choice = {cryptoki.SENSITIVE: False, cryptoki.EXTRACTABLE: True}
    _, key = session.generate_pair(private=choice)
    session.set(key, cryptoki.SENSITIVE, value=True)
    with refused(cryptoki.ATTRIBUTE_SENSITIVE):
        session.get(key, cryptoki.PRIVATE_EXPONENT)
    with refused(cryptoki.ATTRIBUTE_READ_ONLY):
        session.set(key, cryptoki.SENSITIVE, value=False)
    session.set(key, cryptoki.EXTRACTABLE, value=False)
    with refused(cryptoki.ATTRIBUTE_READ_ONLY):
        session.set(key, cryptoki.EXTRACTABLE, value=True)
    assert [session.is_true(key, kind) for kind in LIFE] == [True, False, False]


def test_an_imported_key_was_seen_outside(session, key):
    _, handle = session.import_pair(key)
    check_signature(session, handle, key.public_key())
    assert [session.is_true(handle, kind) for kind in LIFE] == [False, False, False]
    with refused(cryptoki.ATTRIBUTE_SENSITIVE):
        session.get(handle, cryptoki.PRIME_1)


@pytest.mark.parametrize("how", ["AES", "RSA and AES"])
def test_a_key_is_wrapped_and_unwrapped(session, key, how):
    """With AES, or with RSA and AES; only if it may leave the token."""
    parameter = b""
    if how == "AES":
        mechanism = cryptoki.AES_KEY_WRAP_KWP
        template = {cryptoki.VALUE_LEN: 32, cryptoki.WRAP: True, cryptoki.UNWRAP: True}
        wrapping = unwrapping = session.generate_aes(template)
    else:
        mechanism = cryptoki.RSA_AES_KEY_WRAP
        parameter = cryptoki.RsaAes(256, cryptoki.Oaep(0x250, 2))
        wrapping, unwrapping = session.generate_pair({cryptoki.WRAP: True}, {cryptoki.UNWRAP: True})
    _, handle = session.import_pair(key, {cryptoki.EXTRACTABLE: True})
    wrapped = session.wrap(mechanism, wrapping, handle, parameter)
    of_rsa = {cryptoki.CLASS: cryptoki.PRIVATE_KEY, cryptoki.KEY_TYPE: cryptoki.RSA}
    made = session.unwrap(mechanism, unwrapping, wrapped, of_rsa, parameter)
    check_signature(session, made, key.public_key())
    assert [session.is_true(made, kind) for kind in LIFE] == [False, False, False]
    changed = wrapped[:-1] + bytes([wrapped[-1] ^ 1])
    with refused(cryptoki.WRAPPED_KEY_INVALID):
        session.unwrap(mechanism, unwrapping, changed, of_rsa, parameter)
    _, kept = session.import_pair(key)
    with refused(cryptoki.KEY_UNEXTRACTABLE):
        session.wrap(mechanism, wrapping, kept, parameter)


def test_a_key_that_asks_for_the_pin_each_time(session):
    """CKA_ALWAYS_AUTHENTICATE: once for each signature, and with the right PIN."""
    public, key = session.generate_pair(private={cryptoki.ALWAYS_AUTHENTICATE: True})
    for _ in range(2):
        session.begin("C_SignInit", key, SHA256_RSA_PKCS)
        with refused(cryptoki.USER_NOT_LOGGED_IN):
            session.finish("C_Sign", DATA)
        session.begin("C_SignInit", key, SHA256_RSA_PKCS)
        with refused(cryptoki.PIN_INCORRECT):
            session.login_again("0000")
        session.login_again()
        session.verify(public, SHA256_RSA_PKCS, DATA, session.finish("C_Sign", DATA))
    with refused(cryptoki.OPERATION_NOT_INITIALIZED):
        session.login_again()


def test_a_key_asks_for_the_pin_also_after_it_was_copied(session):
    """CKA_ALWAYS_AUTHENTICATE is only switched on."""
    _, key = session.generate_pair(private={cryptoki.ALWAYS_AUTHENTICATE: True})
    with refused(cryptoki.ATTRIBUTE_READ_ONLY):
        session.copy(key, {cryptoki.ALWAYS_AUTHENTICATE: False})
    assert session.is_true(session.copy(key), cryptoki.ALWAYS_AUTHENTICATE)
    _, other = session.generate_pair()
    asking = session.copy(other, {cryptoki.ALWAYS_AUTHENTICATE: True})
    session.begin("C_SignInit", asking, SHA256_RSA_PKCS)
    with refused(cryptoki.USER_NOT_LOGGED_IN):
        session.finish("C_Sign", DATA)


def test_a_key_is_used_for_what_it_is_for(session):
    _, key = session.generate_pair(private={cryptoki.SIGN: False, cryptoki.DECRYPT: False})
    for function in ("C_SignInit", "C_DecryptInit"):
        with refused(cryptoki.KEY_FUNCTION_NOT_PERMITTED):
            session.begin(function, key, cryptoki.RSA_PKCS)


P256 = {cryptoki.EC_PARAMS: bytes.fromhex("06082a8648ce3d030107")}
AES_32 = {cryptoki.VALUE_LEN: 32}
OF_AES = {cryptoki.CLASS: cryptoki.SECRET_KEY, cryptoki.KEY_TYPE: cryptoki.AES}
KWP, SHA256_HMAC, GENERIC_SECRET_KEY_GEN = cryptoki.AES_KEY_WRAP_KWP, 0x251, 0x350


def private_of(session, template):
    return session.generate_pair(private=template)[1]


def public_of(session, template):
    return session.generate_pair(template)[0]


def aes_of(session, template):
    return session.generate_aes(AES_32 | template)


def hmac_of(session, template):
    return session.generate_secret(GENERIC_SECRET_KEY_GEN, AES_32 | template)


def curve_of(session, template):
    return session.generate(cryptoki.EC_KEY_PAIR_GEN, P256, template)[1]


def derive(session, key, _):
    public, _ = session.generate(cryptoki.EC_KEY_PAIR_GEN, P256, {})
    session.derive(key, session.get(public, cryptoki.EC_POINT))


def begins(function, parameter=b""):
    def begin(session, key, mechanism):
        session.begin(function, key, mechanism, parameter)
        session.cancel(function, key)

    return begin


def wrap(session, key, mechanism):
    session.wrap(mechanism, key, session.generate_aes(AES_32 | {cryptoki.EXTRACTABLE: True}))


def unwrap(session, key, mechanism):
    try:
        session.unwrap(mechanism, key, bytes(40), OF_AES)
    except TokenError as error:
        if error.code != cryptoki.WRAPPED_KEY_INVALID:
            raise  # the key may not unwrap; otherwise only what it unwraps is wrong


# Each call that uses a key: what makes the key, what allows the call, and the mechanism.
USES = {
    "sign": (begins("C_SignInit"), private_of, cryptoki.SIGN, SHA256_RSA_PKCS),
    "verify": (begins("C_VerifyInit"), public_of, cryptoki.VERIFY, SHA256_RSA_PKCS),
    "encrypt": (begins("C_EncryptInit"), public_of, cryptoki.ENCRYPT, cryptoki.RSA_PKCS),
    "decrypt": (begins("C_DecryptInit"), private_of, cryptoki.DECRYPT, cryptoki.RSA_PKCS),
    "messages": (begins("C_MessageSignInit"), curve_of, cryptoki.SIGN, cryptoki.ECDSA_SHA256),
    "messages to verify": (
        *(begins("C_MessageVerifyInit"), public_of, cryptoki.VERIFY, SHA256_RSA_PKCS),
    ),
    "encrypt with AES": (
        *(begins("C_EncryptInit", bytes(16)), aes_of, cryptoki.ENCRYPT, cryptoki.AES_CBC_PAD),
    ),
    "decrypt with AES": (
        *(begins("C_DecryptInit", bytes(16)), aes_of, cryptoki.DECRYPT, cryptoki.AES_CBC_PAD),
    ),
    "HMAC": (begins("C_SignInit"), hmac_of, cryptoki.SIGN, SHA256_HMAC),
    "verify an HMAC": (begins("C_VerifyInit"), hmac_of, cryptoki.VERIFY, SHA256_HMAC),
    "wrap": (wrap, aes_of, cryptoki.WRAP, KWP),
    "unwrap": (unwrap, aes_of, cryptoki.UNWRAP, KWP),
    "derive": (derive, curve_of, cryptoki.DERIVE, cryptoki.ECDH1_DERIVE),
}


def numbers(*mechanisms):
    """CKA_ALLOWED_MECHANISMS."""
    return {cryptoki.ALLOWED_MECHANISMS: b"".join(n.to_bytes(8, "little") for n in mechanisms)}


@pytest.mark.parametrize("use", USES)
def test_each_use_is_allowed(session, use):
    """By the key's attribute, and by its list of mechanisms, if it has one."""
    do, make, attribute, mechanism = USES[use]
    do(session, make(session, {attribute: True}), mechanism)
    do(session, make(session, {attribute: True} | numbers(1, mechanism)), mechanism)
    with refused(cryptoki.KEY_FUNCTION_NOT_PERMITTED):
        do(session, make(session, {attribute: False}), mechanism)
    for others in ((), (0x80000000,)):
        with refused(cryptoki.MECHANISM_INVALID):
            do(session, make(session, {attribute: True} | numbers(*others)), mechanism)


def test_keys_that_are_not_ours(session, key):
    """Handles of nothing, of other keys and of closed sessions; keys of other kinds, or broken."""
    public, private = session.generate_pair()
    secret = session.generate_aes({cryptoki.VALUE_LEN: 16, cryptoki.SIGN: True})
    with open_session(session.module) as other:
        _, closed = other.generate_pair()
    for handle in (0, closed, private + 1000, 2**64 - 1):
        with refused(cryptoki.KEY_HANDLE_INVALID):
            session.begin("C_SignInit", handle, cryptoki.RSA_PKCS)
    for handle in (public, secret):
        with refused(cryptoki.KEY_TYPE_INCONSISTENT):
            session.begin("C_SignInit", handle, cryptoki.RSA_PKCS)
    of_dsa = {cryptoki.CLASS: cryptoki.PRIVATE_KEY, cryptoki.KEY_TYPE: cryptoki.DSA}
    with refused(cryptoki.ATTRIBUTE_VALUE_INVALID):
        session.create(of_dsa | {cryptoki.VALUE: bytes(32)})
    strange = rsa.generate_private_key(65537, 1024).private_numbers().p
    with refused(cryptoki.ATTRIBUTE_VALUE_INVALID):
        session.import_pair(key, {cryptoki.PRIME_1: cryptoki.bytes_of(strange)})


def test_nothing_runs_beside_its_call(session):
    """A caller that asks for the end of what has ended already is told so."""
    _, key = session.generate_pair()
    session.sign(key, SHA256_RSA_PKCS, DATA)
    for function in ("C_GetFunctionStatus", "C_CancelFunction"):
        with refused(cryptoki.FUNCTION_NOT_PARALLEL):
            session.call(function)
    with refused(cryptoki.OPERATION_NOT_INITIALIZED):
        session.finish("C_Sign", DATA)


def test_a_private_key_is_gone_after_logging_out(session):
    """Also for who has its handle; a key of the token comes back with another one."""
    identifier = {0x102: b"kept"}
    of_token = {cryptoki.TOKEN: True, **identifier}
    public, private = session.generate_pair(of_token, of_token)
    _, of_session = session.generate_pair()
    session.begin("C_SignInit", private, SHA256_RSA_PKCS)
    session.call("C_Logout")
    try:
        assert session.find(identifier) == [public]
        with refused(cryptoki.OPERATION_NOT_INITIALIZED):
            session.finish("C_Sign", DATA)
        for handle in (private, of_session):
            with refused(cryptoki.KEY_HANDLE_INVALID):
                session.begin("C_SignInit", handle, SHA256_RSA_PKCS)
    finally:
        session.login()
    assert len(session.find(identifier)) == 2
