"""Profiles of PKCS #11: the objects that name them, and the calls of the profiles' own test cases.

Source: PKCS #11 Profiles 3.1, the test cases BL-M-1-31, EXT-M-1-31, AUTH-M-1-31 and CERT-M-1-31.
What differs: their names, versions and sizes are examples there, and their RSA key is not
published, so that signatures here are those of another key, verified by `cryptography`.
"""

import ctypes
from contextlib import contextmanager
from ctypes import byref, c_ubyte, c_ulong

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from coprime.token.module import TokenError, TokenModule
from tests.token import cryptoki
from tests.token.cryptoki import CLASS, LABEL, TOKEN, VALUE, Session, running
from tests.token.stored import GUEST, Stored
from tests.token.tokens import LABEL as TOKEN_LABEL
from tests.token.tokens import OFFICER_PIN, PIN, Token

pytestmark = pytest.mark.xdist_group("token")

PROFILE, PROFILE_ID, CERTIFICATE, CERTIFICATE_TYPE = 9, 0x601, 1, 0x80
BASELINE, EXTENDED, AUTHENTICATION, PUBLIC_CERTIFICATES = 1, 2, 3, 4
ARGUMENTS_BAD, ACTION_PROHIBITED, ALREADY_LOGGED_IN = 0x07, 0x1B, 0x100
SERIAL, WRITES = 4, 2  # flags of sessions
MODIFIABLE, COPYABLE, DESTROYABLE = 0x170, 0x171, 0x172


def fails(code):
    return pytest.raises(TokenError, check=lambda error: error.code == code)


# --- The objects ----------------------------------------------------------------------------------


@pytest.fixture
def session(token):
    with running(token) as made:
        yield made


def session_of(slot):
    """The first arguments of C_OpenSession, for a session that only reads."""
    return c_ulong(slot), c_ulong(SERIAL), None, None


def profiles_of(session):
    """The handle of each profile's object, by the profile's number."""
    found = session.find({CLASS: PROFILE})
    return {int.from_bytes(session.get(one, PROFILE_ID), "little"): one for one in found}


def test_the_profiles_that_are_claimed(session):
    """Not that of public certificates: who writes them decides whether it holds."""
    found = profiles_of(session)
    assert [*found] == [BASELINE, EXTENDED, AUTHENTICATION]
    assert session.find({CLASS: PROFILE, PROFILE_ID: EXTENDED}) == [found[EXTENDED]]
    assert session.find({PROFILE_ID: PUBLIC_CERTIFICATES}) == []
    assert session.get(found[BASELINE], LABEL) == b"Baseline Provider"
    for one in found.values():
        assert session.is_true(one, TOKEN)
        for kind in (cryptoki.PRIVATE, MODIFIABLE, COPYABLE, DESTROYABLE):
            assert not session.is_true(one, kind)
    names = {session.get(one, cryptoki.UNIQUE_ID) for one in found.values()}
    assert len(names) == 3


def test_nobody_makes_changes_or_destroys_one(session):
    one = profiles_of(session)[BASELINE]
    with fails(cryptoki.ATTRIBUTE_VALUE_INVALID):
        session.create({CLASS: PROFILE, PROFILE_ID: PUBLIC_CERTIFICATES})
    with fails(ACTION_PROHIBITED):
        session.call("C_DestroyObject", one)
    with fails(ACTION_PROHIBITED):
        session.copy(one, {TOKEN: False})
    for kind, value in ((LABEL, b"another"), (PROFILE_ID, PUBLIC_CERTIFICATES)):
        with fails(ACTION_PROHIBITED):
            session.set(one, kind, value)
    assert [*profiles_of(session)] == [BASELINE, EXTENDED, AUTHENTICATION]


def test_they_stay_with_the_same_names(token):
    """Through logging in and out, a token that is made anew, and another C_Initialize."""

    def seen(session):
        found = profiles_of(session)
        return found, [session.get(one, cryptoki.UNIQUE_ID) for one in found.values()]

    with running(token) as session:
        before = seen(session)
        session.login()
        assert seen(session) == before
        session.call("C_Logout")
        assert seen(session) == before
        session.module.call("C_CloseSession", session.handle)
        session.module.initialize(0, TOKEN_LABEL, OFFICER_PIN.encode(), PIN.encode())
        session.module.call("C_OpenSession", *session_of(0), byref(session.handle))
        assert seen(session) == before
    with running(token) as session:
        assert seen(session) == before


def test_a_file_claims_none(token):
    """A record of this class in the file is no object, whoever wrote it."""
    path = token.folder / "token"
    stored = Stored.read(path)
    planted = {CLASS: PROFILE, TOKEN: True, cryptoki.PRIVATE: False, LABEL: b"planted"}
    for flags in (0, GUEST):
        stored.add({**planted, PROFILE_ID: PUBLIC_CERTIFICATES}, flags)
    stored.tag_with(stored.master(PIN))
    stored.write(path)
    with running(token) as session:
        session.login()
        assert [*profiles_of(session)] == [BASELINE, EXTENDED, AUTHENTICATION]
        assert session.find({LABEL: b"planted"}) == []


def test_pkcs11_tool_shows_them(token):
    listed = token.tool("-O")
    for name in ("BASELINE_PROVIDER (1)", "EXTENDED_PROVIDER (2)", "AUTHENTICATION_TOKEN (3)"):
        assert f"CKP_{name}" in listed


# --- The test cases -------------------------------------------------------------------------------


class _Info(ctypes.Structure):
    """CK_INFO."""

    _fields_ = [("version", c_ubyte * 2), ("manufacturer", ctypes.c_char * 32), ("flags", c_ulong)]
    _fields_ += [("description", ctypes.c_char * 32), ("library", c_ubyte * 2)]


class _SlotInfo(ctypes.Structure):
    """CK_SLOT_INFO."""

    _fields_ = [("description", ctypes.c_char * 64), ("manufacturer", ctypes.c_char * 32)]
    _fields_ += [("flags", c_ulong), ("versions", c_ubyte * 4)]


class _TokenInfo(ctypes.Structure):
    """CK_TOKEN_INFO."""

    _fields_ = [(name, ctypes.c_char * 32) for name in ("label", "manufacturer")]
    _fields_ += [(name, ctypes.c_char * 16) for name in ("model", "serial")]
    _fields_ += [("flags", c_ulong), ("numbers", c_ulong * 10), ("versions", c_ubyte * 4)]
    _fields_ += [("time", ctypes.c_char * 16)]


class _MechanismInfo(ctypes.Structure):
    """CK_MECHANISM_INFO."""

    _fields_ = [(name, c_ulong) for name in ("least", "most", "flags")]


RNG, LOGIN_REQUIRED, USER_PIN, INITIALIZED = 1, 4, 8, 0x400
ENCRYPTS, DECRYPTS, DIGESTS, SIGNS, VERIFIES = 0x100, 0x200, 0x400, 0x800, 0x2000
GENERATES_PAIRS, WRAPS, UNWRAPS = 0x10000, 0x20000, 0x40000
SHA512 = 0x270


@contextmanager
def case(token: Token, monkeypatch):
    """What every case begins and ends with; gives the module and the first slot."""
    for name, value in token.environment.items():
        if name.startswith("COPRIME_TOKEN_"):
            monkeypatch.setenv(name, value)
    module, info, count = TokenModule(token.module), _Info(), c_ulong()
    module.call("C_Initialize", None)
    module.call("C_GetInfo", byref(info))
    assert (*info.version, info.flags) == (3, 2, 0)
    assert info.manufacturer.rstrip() == b"Coprime"
    module.call("C_GetSlotList", c_ubyte(1), None, byref(count))
    slots = (c_ulong * count.value)()
    module.call("C_GetSlotList", c_ubyte(1), slots, byref(count))
    yield module, c_ulong(slots[0])
    module.call("C_CloseAllSessions", c_ulong(slots[0]))
    module.call("C_Finalize", None)


def check_slot(module, slot):
    """What the slot and its token say of themselves."""
    info, token = _SlotInfo(), _TokenInfo()
    module.call("C_GetSlotInfo", slot, byref(info))
    assert info.flags & 1  # a token is present
    module.call("C_GetTokenInfo", slot, byref(token))
    assert token.label.rstrip() == TOKEN_LABEL.encode()
    wanted = RNG | LOGIN_REQUIRED | USER_PIN | INITIALIZED
    assert token.flags & wanted == wanted
    assert all(token.numbers[k] == 2**64 - 1 for k in range(6, 10))  # memory: not known


@contextmanager
def opened(module, slot, flags):
    handle = c_ulong()
    module.call("C_OpenSession", slot, c_ulong(flags), None, None, byref(handle))
    yield Session(module, handle)
    module.call("C_CloseSession", handle)


def find_first(session, template, room=1):
    """C_FindObjectsInit, one C_FindObjects for so many objects, and C_FindObjectsFinal."""
    session.call("C_FindObjectsInit", *session._template(template))
    found, count = (c_ulong * room)(), c_ulong()
    session.call("C_FindObjects", found, room, byref(count))
    session.call("C_FindObjectsFinal")
    return found[: count.value]


def test_bl_m_1(token, monkeypatch):
    """Baseline Provider: what the provider, a slot and its token are, and an object."""
    with case(token, monkeypatch) as (module, slot):
        check_slot(module, slot)
        with opened(module, slot, SERIAL) as session:
            assert len(find_first(session, {TOKEN: True})) == 1


def test_ext_m_1(token, monkeypatch):
    """Extended Provider: also mechanisms, and a login."""
    with case(token, monkeypatch) as (module, slot):
        check_slot(module, slot)
        count, info = c_ulong(), _MechanismInfo()
        module.call("C_GetMechanismList", slot, None, byref(count))
        types = (c_ulong * count.value)()
        module.call("C_GetMechanismList", slot, types, byref(count))
        for kind, least, most, flags in (
            (SHA512, 0, 0, DIGESTS),
            (cryptoki.RSA_PKCS_KEY_PAIR_GEN, 512, 4096, GENERATES_PAIRS),
            (
                *(cryptoki.RSA_PKCS, 512, 4096),
                ENCRYPTS | DECRYPTS | SIGNS | VERIFIES | WRAPS | UNWRAPS,
            ),
        ):
            assert kind in types
            module.call("C_GetMechanismInfo", slot, c_ulong(kind), byref(info))
            assert (info.least, info.most) == (least, most)
            assert info.flags & flags == flags
        with opened(module, slot, SERIAL | WRITES) as session:
            session.login()
            assert len(find_first(session, {TOKEN: True})) == 1
            session.call("C_Logout")


def test_users_have_no_names(session):
    """C_LoginUser, which Extended Provider demands: it takes an empty name."""
    user, pin = 1, PIN.encode()
    with fails(ARGUMENTS_BAD):
        session.call("C_LoginUser", user, pin, len(pin), b"somebody", 8)
    session.call("C_LoginUser", user, pin, len(pin), None, 0)
    with fails(ALREADY_LOGGED_IN):
        session.login()


def test_auth_m_1(token, monkeypatch):
    """Authentication Token: the user logs in, and signs with a key that is found by its label."""
    key, data = rsa.generate_private_key(65537, 1024), b"a request for a certificate"
    with running(token) as session:
        session.login()
        public, private = session.import_pair(key)
        for one, name in ((public, b"testrsa-pub"), (private, b"testrsa-pri")):
            session.copy(one, {TOKEN: True, LABEL: name})
    with (
        case(token, monkeypatch) as (module, slot),
        opened(module, slot, SERIAL | WRITES) as session,
    ):
        session.login()
        named = {TOKEN: True, LABEL: b"testrsa-pub", CLASS: cryptoki.PUBLIC_KEY}
        (public,) = find_first(session, named)
        numbers = key.public_key().public_numbers()
        assert session.get(public, cryptoki.MODULUS) == cryptoki.bytes_of(numbers.n)
        assert session.get(public, cryptoki.PUBLIC_EXPONENT) == b"\1\0\1"
        named = {TOKEN: True, LABEL: b"testrsa-pri", CLASS: cryptoki.PRIVATE_KEY}
        (private,) = find_first(session, named)
        signature = session.sign(private, cryptoki.SHA256_RSA_PKCS, data)
        key.public_key().verify(signature, data, padding.PKCS1v15(), hashes.SHA256())
        session.call("C_Logout")


def test_cert_m_1(token, monkeypatch):
    """Public Certificates Token: found and read without a login. Here whoever wrote it kept to that
    profile; the token does not insist on it."""
    value = bytes(range(256)) * 4
    template = {CLASS: CERTIFICATE, CERTIFICATE_TYPE: 0, TOKEN: True, VALUE: value}
    with running(token) as session:
        session.login()
        session.create({**template, LABEL: b"root"})
    with case(token, monkeypatch) as (module, slot), opened(module, slot, SERIAL) as session:
        found = find_first(session, {TOKEN: True}, 5)
        assert len(found) == 4  # and the profiles
        (root,) = find_first(session, {CLASS: CERTIFICATE})
        assert root in found
        for kind, expected in ((LABEL, b"root"), (VALUE, value)):
            wanted = cryptoki._Buffer(kind, None, 0)
            session.call("C_GetAttributeValue", root, byref(wanted), 1)
            assert wanted.size == len(expected)
            assert session.get(root, kind) == expected
