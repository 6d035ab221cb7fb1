"""Messages that are signed and verified one after the other with one key (version 3.0)."""

import pytest

from coprime.token.module import TokenError
from tests.token import cryptoki

pytestmark = pytest.mark.xdist_group("token")

P256 = {cryptoki.EC_PARAMS: bytes.fromhex("06082a8648ce3d030107")}
MESSAGES = (b"", b"one", b"two")


def fails(code):
    return pytest.raises(TokenError, check=lambda error: error.code == code)


def pair_of(session, kind, private=()):
    if kind == "rsa":
        return session.generate_pair(private=private), cryptoki.SHA256_RSA_PKCS
    pair = session.generate(cryptoki.EC_KEY_PAIR_GEN, P256, dict(private))
    return pair, cryptoki.ECDSA_SHA256


@pytest.mark.parametrize("kind", ["rsa", "p256"])
def test_messages(session, kind):
    (public, private), mechanism = pair_of(session, kind)
    session.begin("C_MessageSignInit", private, mechanism)
    signatures = [session.sign_message(data) for data in MESSAGES]
    session.call("C_MessageSignFinal")
    session.begin("C_MessageVerifyInit", public, mechanism)
    for data, signature in zip(MESSAGES, signatures, strict=True):
        session.verify_message(data, signature)
        with fails(cryptoki.SIGNATURE_INVALID):
            session.verify_message(data + b".", signature)
        session.verify_message(data, signature)
        session.verify(public, mechanism, data, signature)
    session.call("C_MessageVerifyFinal")


def test_an_hmac(session):
    key = session.generate_secret(0x350, {cryptoki.VALUE_LEN: 32})
    session.begin("C_MessageSignInit", key, 0x251)
    made = [session.sign_message(data) for data in MESSAGES]
    session.call("C_MessageSignFinal")
    assert made == [session.sign(key, 0x251, data) for data in MESSAGES]


def test_beginning_and_end(session):
    (_, private), mechanism = pair_of(session, "rsa")
    for name in ("C_MessageSignFinal", "C_MessageVerifyFinal"):
        with fails(cryptoki.OPERATION_NOT_INITIALIZED):
            session.call(name)
    with fails(cryptoki.OPERATION_NOT_INITIALIZED):
        session.sign_message(b"")
    session.begin("C_MessageSignInit", private, mechanism)
    with fails(cryptoki.OPERATION_ACTIVE):
        session.begin("C_MessageSignInit", private, mechanism)
    session.sign(private, mechanism, b"beside it")
    session.call("C_MessageSignFinal")
    with fails(cryptoki.OPERATION_NOT_INITIALIZED):
        session.sign_message(b"")


def test_each_message_needs_the_pin(session):
    """Of a key that asks for it each time."""
    (_, private), mechanism = pair_of(session, "rsa", {cryptoki.ALWAYS_AUTHENTICATE: True})
    session.begin("C_MessageSignInit", private, mechanism)
    for _ in range(2):
        with fails(cryptoki.USER_NOT_LOGGED_IN):
            session.sign_message(b"data")
        session.login_again()
        session.sign_message(b"data")
    session.call("C_MessageSignFinal")
