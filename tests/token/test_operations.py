"""Operations from their beginning to their end: in one call, in parts, cancelled."""

import ctypes
from dataclasses import dataclass

import pytest
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.token import cryptoki
from tests.token.test_keys import refused

pytestmark = pytest.mark.xdist_group("token")

DATA = b"some data in parts"
FIND_OBJECTS = 0x40


@dataclass(frozen=True)
class Operation:
    """The functions of a kind of operation, its key and mechanism, and input that it takes."""

    kind: str
    mechanism: int
    key: int | None = None
    data: bytes = DATA
    parameter: bytes = b""

    @property
    def one(self):
        return f"C_{self.kind}"

    @property
    def final(self):
        return f"C_{self.kind}Final"

    def begin(self, session):
        if self.key is None:
            session.call("C_DigestInit", ctypes.byref(cryptoki.mechanism(self.mechanism)))
        else:
            session.begin(f"C_{self.kind}Init", self.key, self.mechanism, self.parameter)

    def cancel(self, session):
        session.cancel(f"C_{self.kind}Init", self.key)

    def update(self, session, data):
        """Give a part; what comes back at once."""
        name = f"C_{self.kind}Update"
        if self.kind not in ("Encrypt", "Decrypt"):
            session.update(name, data)
            return b""
        made, size = (ctypes.c_ubyte * 1024)(), ctypes.c_ulong(1024)
        session.call(name, data, len(data), made, ctypes.byref(size))
        return bytes(made[: size.value])


OPERATIONS = (
    *("signature", "bare signature", "RSA encryption", "RSA decryption"),
    *("AES encryption", "AES decryption", "digest"),
)


@pytest.fixture(scope="module", params=OPERATIONS)
def operation(request, session):
    key = rsa.generate_private_key(65537, 1024)
    public, private = session.import_pair(key)
    secret = session.generate_aes({cryptoki.VALUE_LEN: 16})
    by_aes = {"mechanism": cryptoki.AES_CBC_PAD, "key": secret, "parameter": bytes(16)}
    ciphertext = session.encrypt(secret, cryptoki.AES_CBC_PAD, DATA, bytes(16))
    encrypted = key.public_key().encrypt(DATA, padding.PKCS1v15())
    return {
        "signature": Operation("Sign", cryptoki.SHA256_RSA_PKCS, private),
        "bare signature": Operation("Sign", cryptoki.RSA_PKCS, private),
        "RSA encryption": Operation("Encrypt", cryptoki.RSA_X_509, public),
        "RSA decryption": Operation("Decrypt", cryptoki.RSA_PKCS, private, encrypted),
        "AES encryption": Operation("Encrypt", **by_aes),
        "AES decryption": Operation("Decrypt", data=ciphertext, **by_aes),
        "digest": Operation("Digest", cryptoki.SHA256),
    }[request.param]


def test_a_question_for_the_length_of_one_call(session, operation):
    """It decides that there are no parts: nothing is made of an empty message."""
    for follow in (
        lambda: session.final(operation.final),
        lambda: session.ask_final(operation.final),
        lambda: operation.update(session, operation.data[:4]),
    ):
        operation.begin(session)
        assert session.ask(operation.one, operation.data) > 0
        with refused(cryptoki.OPERATION_NOT_INITIALIZED):
            follow()
        with refused(cryptoki.OPERATION_NOT_INITIALIZED):  # it has ended
            session.finish(operation.one, operation.data)


def test_questions_for_the_length_after_parts(session, operation):
    """They change nothing: the result is that of one call."""
    operation.begin(session)
    expected = session.finish(operation.one, operation.data)
    operation.begin(session)
    made = operation.update(session, operation.data[:3])
    made += operation.update(session, operation.data[3:9])
    assert session.ask_final(operation.final) > 0
    made += operation.update(session, operation.data[9:])
    for _ in range(2):
        assert session.ask_final(operation.final) >= len(expected) - len(made)
    made += session.final(operation.final)
    assert made == expected
    with refused(cryptoki.OPERATION_NOT_INITIALIZED):
        session.final(operation.final)


def test_parts_are_not_followed_by_the_whole(session, operation):
    operation.begin(session)
    operation.update(session, operation.data[:3])
    with refused(cryptoki.OPERATION_ACTIVE):
        session.finish(operation.one, operation.data)


def test_an_operation_is_cancelled_without_a_mechanism(session, operation):
    """Also if there is none: the standard has no error for that."""
    for _ in range(2):
        operation.begin(session)
        operation.cancel(session)
        with refused(cryptoki.OPERATION_NOT_INITIALIZED):
            session.finish(operation.one, operation.data)
        operation.cancel(session)


def test_a_search_is_cancelled(session):
    found, count = ctypes.c_ulong(), ctypes.c_ulong()
    for _ in range(2):
        session.call("C_FindObjectsInit", None, 0)
        session.call("C_SessionCancel", FIND_OBJECTS)
        with refused(cryptoki.OPERATION_NOT_INITIALIZED):
            session.call("C_FindObjects", ctypes.byref(found), 1, ctypes.byref(count))


def test_one_login_serves_one_operation(session):
    """The one that was begun last; the other one needs its own."""
    _, key = session.generate_pair(private={cryptoki.ALWAYS_AUTHENTICATE: True})
    ciphertext = bytes(127) + b"\2"
    for kinds in (("Sign", "Decrypt"), ("Decrypt", "Sign")):
        for kind in kinds:
            session.begin(f"C_{kind}Init", key, cryptoki.RSA_X_509)
        session.login_again()
        with refused(cryptoki.USER_NOT_LOGGED_IN):
            session.finish(f"C_{kinds[0]}", ciphertext)
        assert len(session.finish(f"C_{kinds[1]}", ciphertext)) == 128
    for kind in ("Sign", "Decrypt"):
        session.begin(f"C_{kind}Init", key, cryptoki.RSA_X_509)
    for kind in ("Decrypt", "Sign"):
        session.login_again()
        assert len(session.finish(f"C_{kind}", ciphertext)) == 128


def test_each_object_has_a_name_of_its_own(session):
    """CKA_UNIQUE_ID: also a copy, and nobody can choose it."""
    public, private = session.generate_pair()
    made = [public, private, session.copy(public), session.generate_aes({cryptoki.VALUE_LEN: 16})]
    names = [session.get(one, cryptoki.UNIQUE_ID) for one in made]
    assert len(set(names)) == len(names)
    assert {len(name) for name in names} == {32}
    assert session.find({cryptoki.UNIQUE_ID: names[0]}) == [public]
    for change in (session.set, lambda key, kind, value: session.copy(key, {kind: value})):
        with refused(cryptoki.ATTRIBUTE_READ_ONLY):
            change(public, cryptoki.UNIQUE_ID, b"x")
