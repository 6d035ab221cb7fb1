"""What the token refuses unless its configuration allows it, and what it checks before it works."""

import ctypes
import secrets
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives import keywrap, serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.token import cryptoki
from tests.token.cryptoki import (
    ENCRYPT,
    EXTRACTABLE,
    UNWRAP,
    WRAP,
    open_session,
    running,
)
from tests.token.test_keys import refused
from tests.token.tokens import OFFICER_PIN

pytestmark = pytest.mark.xdist_group("token")

KWP = cryptoki.AES_KEY_WRAP_KWP
AES_32 = {cryptoki.VALUE_LEN: 32}
OF_RSA = {cryptoki.CLASS: cryptoki.PRIVATE_KEY, cryptoki.KEY_TYPE: cryptoki.RSA}
OF_AES = {cryptoki.CLASS: cryptoki.SECRET_KEY, cryptoki.KEY_TYPE: cryptoki.AES}
NO_ENGINE = {"COPRIME_TOKEN_DEVICE": "sim:/no/such/library.so"}


def allowing(token, words, **settings):
    return replace(token, settings={"COPRIME_TOKEN_ALLOW": words, **settings})


class MechanismInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulong) for name in ("shortest", "longest", "flags")]


def shortest(session):
    """The length of the shortest RSA key in bits, as the mechanism has it."""
    info = MechanismInfo()
    slot, mechanism = ctypes.c_ulong(0), ctypes.c_ulong(cryptoki.RSA_PKCS)
    session.module.call("C_GetMechanismInfo", slot, mechanism, ctypes.byref(info))
    return info.shortest


def public_key(bits, e):
    """The template of a public key: any odd number is a modulus here."""
    return {
        cryptoki.CLASS: cryptoki.PUBLIC_KEY,
        cryptoki.KEY_TYPE: cryptoki.RSA,
        cryptoki.MODULUS: cryptoki.bytes_of(1 << bits - 1 | 1),
        cryptoki.PUBLIC_EXPONENT: cryptoki.bytes_of(e),
    }


def wrapped_by(key, value):
    """A key as PKCS #8, wrapped outside of the token."""
    encoded = key.private_bytes(
        serialization.Encoding.DER,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return keywrap.aes_key_wrap_with_padding(value, encoded)


def test_weak_keys_are_not_taken(token):
    """Of fewer than 1024 bits, or with an exponent below 65537: imported or unwrapped."""
    weak = rsa.generate_private_key(3, 1024)
    with running(allowing(token, "")) as session:
        session.login()
        assert shortest(session) == 1024
        for bits, e, code in (
            (512, 65537, cryptoki.KEY_SIZE_RANGE),
            (1023, 65537, cryptoki.KEY_SIZE_RANGE),
            (4097, 65537, cryptoki.KEY_SIZE_RANGE),
            (1024, 3, cryptoki.ATTRIBUTE_VALUE_INVALID),
            (1024, 65535, cryptoki.ATTRIBUTE_VALUE_INVALID),
        ):
            with refused(code):
                session.create(public_key(bits, e))
            with refused(code):
                session.create(public_key(bits, e) | OF_RSA | {cryptoki.PRIVATE_EXPONENT: b"\3"})
        session.create(public_key(1024, 65537))
        value = bytes(range(32))
        by = session.create(OF_AES | {cryptoki.VALUE: value, cryptoki.UNWRAP: True})
        with refused(cryptoki.ATTRIBUTE_VALUE_INVALID):
            session.unwrap(KWP, by, wrapped_by(weak, value), OF_RSA)
        strong = rsa.generate_private_key(65537, 1024)
        session.unwrap(KWP, by, wrapped_by(strong, value), OF_RSA)


def test_weak_keys_are_taken_if_they_are_allowed(token):
    weak = rsa.generate_private_key(3, 1024)
    with running(allowing(token, "weak-rsa")) as session:
        session.login()
        assert shortest(session) == 512
        session.create(public_key(512, 3))
        session.import_pair(weak)
        with refused(cryptoki.KEY_SIZE_RANGE):
            session.create(public_key(511, 65537))
        with refused(cryptoki.KEY_SIZE_RANGE):
            session.create(public_key(8192, 65537))


def test_what_is_wrapped_is_read_if_that_is_allowed(token):
    """A key that decrypts wraps sensitive keys, and one that does not unwraps open ones."""
    with running(allowing(token, "reveal-wrapped")) as session:
        session.login()
        template = {cryptoki.VALUE_LEN: 32, cryptoki.WRAP: True, cryptoki.UNWRAP: True}
        both = session.generate_aes(template | {cryptoki.DECRYPT: True})
        only = session.generate_aes(template)
        key = session.generate_aes({cryptoki.VALUE_LEN: 16, cryptoki.EXTRACTABLE: True})
        session.wrap(KWP, both, key)
        shown = {cryptoki.SENSITIVE: False, cryptoki.EXTRACTABLE: True}
        made = session.unwrap(KWP, only, session.wrap(KWP, only, key), OF_AES | shown)
        assert len(session.get(made, cryptoki.VALUE)) == 16


@pytest.mark.matrix
def test_who_may_not_import_is_refused_before_primes_are_sought(token):
    """Numbers from which the primes would have to be found, in vain."""
    numbers = {
        cryptoki.MODULUS: cryptoki.bytes_of(1 << 4095 | secrets.randbits(4000) << 1 | 1),
        cryptoki.PUBLIC_EXPONENT: cryptoki.bytes_of(65537),
        cryptoki.PRIVATE_EXPONENT: cryptoki.bytes_of(1 << 4000 | 1),
    }
    with running(token) as session:
        for kind in (cryptoki.TOKEN, cryptoki.PRIVATE):
            with refused(cryptoki.USER_NOT_LOGGED_IN):
                session.create(OF_RSA | numbers | {kind: True})
        session.create(public_key(1024, 65537))  # nobody need be logged in for that
        session.login()
        with (
            open_session(session.module, writes=False) as reading,
            refused(cryptoki.SESSION_READ_ONLY),
        ):
            reading.create(OF_RSA | numbers | {cryptoki.TOKEN: True})
        with refused(cryptoki.ATTRIBUTE_VALUE_INVALID):
            session.create(OF_RSA | numbers)


def test_who_may_not_unwrap_is_refused_before_the_engine_works(token):
    """There is none: asking it would be a device's error."""
    with running(allowing(token, "weak-rsa", **NO_ENGINE)) as session:
        session.login()
        _, private = session.generate_pair(private={cryptoki.UNWRAP: True}, bits=1000)
        with open_session(session.module, writes=False) as reading:
            for template, code in (
                (OF_AES | {cryptoki.TOKEN: True}, cryptoki.SESSION_READ_ONLY),
                (OF_AES | {cryptoki.TRUSTED: True}, cryptoki.ATTRIBUTE_READ_ONLY),
                (OF_AES | {cryptoki.SENSITIVE: False}, cryptoki.TEMPLATE_INCONSISTENT),
                (OF_AES, cryptoki.DEVICE_ERROR),
            ):
                with refused(code):
                    reading.unwrap(cryptoki.RSA_PKCS, private, b"\1" * 125, template)


def test_a_rule_is_the_configuration_s_to_lift(token):
    with running(allowing(token, "reveal-wrapped")) as session:
        session.login()
        outer = session.generate_aes(AES_32 | {WRAP: True, UNWRAP: True})
        inner = session.generate_aes(AES_32 | {WRAP: True, EXTRACTABLE: True})
        wrapped = session.wrap(KWP, outer, inner)
        session.unwrap(KWP, outer, wrapped, OF_AES | {WRAP: True})


def test_what_only_a_trusted_key_wraps_stays_so(token):
    """When it is unwrapped; and only the officer takes the mark of trust away."""
    only = {cryptoki.WRAP_WITH_TRUSTED: True}
    with running(token) as session:
        session.login()
        of_token = {cryptoki.TOKEN: True}
        public, private = session.generate_pair(
            of_token | {WRAP: True, ENCRYPT: False}, of_token | {UNWRAP: True}
        )
        key = session.generate_aes(AES_32 | {EXTRACTABLE: True} | only)
        with refused(cryptoki.KEY_NOT_WRAPPABLE):
            session.wrap(cryptoki.RSA_PKCS, public, key)
        session.call("C_Logout")
        session.login(OFFICER_PIN, 0)
        session.set(public, cryptoki.TRUSTED, value=True)
        session.call("C_Logout")
        session.login()
        (private,) = session.find({cryptoki.CLASS: cryptoki.PRIVATE_KEY})
        key = session.generate_aes(AES_32 | {EXTRACTABLE: True} | only)
        wrapped = session.wrap(cryptoki.RSA_PKCS, public, key)
        template = OF_AES | {EXTRACTABLE: True}
        for given in (template, template | only):
            made = session.unwrap(cryptoki.RSA_PKCS, private, wrapped, given)
            assert session.is_true(made, cryptoki.WRAP_WITH_TRUSTED)
            other, _ = session.generate_pair({WRAP: True}, {UNWRAP: True})
            with refused(cryptoki.KEY_NOT_WRAPPABLE):
                session.wrap(cryptoki.RSA_PKCS, other, made)
        with refused(cryptoki.TEMPLATE_INCONSISTENT):
            session.unwrap(
                *(cryptoki.RSA_PKCS, private, wrapped),
                template | {cryptoki.WRAP_WITH_TRUSTED: False},
            )
        for change in (session.set, lambda key, kind, value: session.copy(key, {kind: value})):
            with refused(cryptoki.ATTRIBUTE_READ_ONLY):
                change(public, cryptoki.TRUSTED, value=False)
        with refused(cryptoki.ACTION_PROHIBITED):
            session.call("C_DestroyObject", public)
        session.call("C_Logout")
        session.login(OFFICER_PIN, 0)
        session.set(public, cryptoki.TRUSTED, value=False)
        session.call("C_DestroyObject", public)


class SlotInfo(ctypes.Structure):
    _fields_ = [("description", ctypes.c_char * 64), ("manufacturer", ctypes.c_char * 32)]
    _fields_ += [("flags", ctypes.c_ulong), ("versions", ctypes.c_ubyte * 4)]


@pytest.mark.parametrize(
    ("device", "is_hardware"),
    [("sim", False), ("sim,sim", False), ("uio:/dev/uio9", True), ("sim,serial:/dev/null", True)],
)
def test_a_simulated_slot_is_no_hardware(token, device, is_hardware):
    """CKF_HW_SLOT."""
    with running(replace(token, settings={"COPRIME_TOKEN_DEVICE": device})) as session:
        info = SlotInfo()
        session.module.call("C_GetSlotInfo", ctypes.c_ulong(0), ctypes.byref(info))
    assert info.flags == 1 | (4 if is_hardware else 0)


def test_keys_of_a_session_without_a_login(token):
    """They are public, stored nowhere, and work: clients import keys before they ask for a PIN."""
    before = (token.folder / "token").read_bytes()
    imported = {cryptoki.SENSITIVE: True, cryptoki.EXTRACTABLE: False, cryptoki.TOKEN: False}
    curve = {cryptoki.EC_PARAMS: bytes.fromhex("06082a8648ce3d030107")}
    of_curve = {cryptoki.CLASS: cryptoki.PRIVATE_KEY, cryptoki.KEY_TYPE: cryptoki.EC}
    with running(token) as session:
        public, private = session.import_pair(rsa.generate_private_key(65537, 1024), imported)
        pair = session.generate(cryptoki.EC_KEY_PAIR_GEN, curve, {cryptoki.DERIVE: True})
        key = session.create(of_curve | curve | {cryptoki.VALUE: bytes(31) + b"\7"} | imported)
        aes = session.generate_aes(AES_32)
        secret = session.derive(pair[1], session.get(pair[0], cryptoki.EC_POINT))
        made = (private, pair[1], key, aes, secret)
        for handle in made:
            assert not session.is_true(handle, cryptoki.PRIVATE)
        for kind in (cryptoki.TOKEN, cryptoki.PRIVATE):
            with refused(cryptoki.USER_NOT_LOGGED_IN):
                session.generate_aes(AES_32 | {kind: True})
        data = b"signed without a login"
        signature = session.sign(private, cryptoki.SHA256_RSA_PKCS, data)
        session.verify(public, cryptoki.SHA256_RSA_PKCS, data, signature)
        session.sign(key, cryptoki.ECDSA_SHA256, data)
        session.login()
        assert session.is_true(session.generate_aes(AES_32), cryptoki.PRIVATE)
        with refused(cryptoki.TEMPLATE_INCONSISTENT):
            session.copy(aes, {cryptoki.TOKEN: True})  # it would be readable on the disk
        session.copy(aes, {cryptoki.TOKEN: True, cryptoki.PRIVATE: True})
        session.call("C_Logout")
        for handle in made:
            session.get(handle, cryptoki.CLASS)
        with open_session(session.module) as other:
            other.generate_aes(AES_32)
        assert len(session.find({cryptoki.CLASS: cryptoki.SECRET_KEY})) == 2
    with running(token) as session:
        assert session.find({cryptoki.CLASS: cryptoki.SECRET_KEY}) == []
    assert (token.folder / "token.old").read_bytes() == before


def test_attributes_that_no_template_may_have(session):
    """They are the token's to set, however an object is made: read-only, as the standard says."""
    wrapping = session.generate_aes(AES_32 | {WRAP: True, UNWRAP: True})
    key = session.generate_aes(AES_32 | {EXTRACTABLE: True, cryptoki.SENSITIVE: False})
    wrapped = session.wrap(KWP, wrapping, key)
    hashed = cryptoki.Hkdf(cryptoki.SHA256)
    generic = OF_AES | {cryptoki.KEY_TYPE: cryptoki.GENERIC_SECRET, cryptoki.VALUE: bytes(32)}
    base = session.create(generic | {cryptoki.DERIVE: True})
    for attribute in (
        {cryptoki.UNIQUE_ID: b"\1"},
        {cryptoki.LOCAL: True},
        {0x166: 0x1080},  # CKA_KEY_GEN_MECHANISM
        {cryptoki.ALWAYS_SENSITIVE: True},
        {cryptoki.NEVER_EXTRACTABLE: True},
    ):
        for make in (
            lambda a: session.create(OF_AES | {cryptoki.VALUE: bytes(16)} | a),
            lambda a: session.generate_aes(AES_32 | a),
            lambda a: session.generate_pair(private=a),
            lambda a: session.unwrap(KWP, wrapping, wrapped, OF_AES | a),
            lambda a: session.derive_with(0x402A, hashed, base, AES_32 | a),
        ):
            with refused(cryptoki.ATTRIBUTE_READ_ONLY):
                make(attribute)
