"""Key pairs that the engine generates; a disturbed one gives a right key, or none."""

from dataclasses import replace

import pytest

from coprime.token import build
from coprime.token.module import TokenError
from tests.openssl import openssl
from tests.token.cryptoki import (
    ATTRIBUTE_READ_ONLY,
    ATTRIBUTE_VALUE_INVALID,
    DEVICE_ERROR,
    KEY_SIZE_RANGE,
    PRIVATE,
    PUBLIC_EXPONENT,
    SESSION_READ_ONLY,
    TEMPLATE_INCONSISTENT,
    TOKEN,
    TRUSTED,
    USER_NOT_LOGGED_IN,
    VALUE_LEN,
    open_session,
    running,
)
from tests.token.tokens import PIN

pytestmark = pytest.mark.xdist_group("token")

ON_DEVICE = {"COPRIME_TOKEN_KEYGEN": "device"}
GENERATE = ("--login", "--pin", PIN, "--keypairgen", "--id", "01", "--label", "made")


def check_signature(token, folder):
    """OpenSSL verifies what the key signs."""
    data, signature, public = (folder / name for name in ("data", "signature", "public"))
    data.write_bytes(b"data")
    token.tool("--read-object", "--type", "pubkey", "--id", "01", "-o", public)
    sign = ("--login", "--pin", PIN, "--sign", "--id", "01", "-m", "SHA256-RSA-PKCS")
    token.tool(*sign, "-i", data, "-o", signature)
    options = ("-keyform", "DER", "-verify", public, "-signature", signature, data)
    assert openssl("dgst", "-sha256", *options, check=False)


@pytest.mark.parametrize(
    "bits", [512, *(pytest.param(bits, marks=pytest.mark.fuzz) for bits in (1024, 2048))]
)
def test_the_engine_generates_a_key(token, tmp_path, bits):
    said = token.tool(*GENERATE, "--key-type", f"rsa:{bits}", environment=ON_DEVICE)
    assert f"RSA {bits} bits" in said
    assert "sensitive, always sensitive, never extractable, local" in said
    check_signature(token, tmp_path)


def test_where_keys_are_generated_by_default(token):
    """In software, if all engines are simulated; otherwise on the device."""
    make = (*GENERATE, "--key-type", "rsa:1024")
    simulated = "sim:/no/such/library.so"
    for device in ("uio:/no/such/device", f"{simulated},uio:/no/such/device", "serial:/none"):
        absent = {"COPRIME_TOKEN_DEVICE": device}
        said = token.tool(*make, check=False, environment=absent)
        assert "CKR_DEVICE_ERROR" in said
    for device in (simulated, f"{simulated},sim:/none"):
        token.tool(*make, environment={"COPRIME_TOKEN_DEVICE": device})


def fails_with(code, call, *arguments, **options):
    with pytest.raises(TokenError) as caught:
        call(*arguments, **options)
    assert caught.value.code == code


def test_what_is_refused_costs_no_work(token):
    """Nothing asks the device, which is not there, before everything else was checked."""
    device = ON_DEVICE | {"COPRIME_TOKEN_DEVICE": "sim:/no/such/library.so"}
    with running(replace(token, settings=device)) as session:
        make = session.generate_pair
        with open_session(session.module, writes=False) as reader:
            for kind in (PRIVATE, TOKEN):
                fails_with(USER_NOT_LOGGED_IN, make, private={kind: True})
                fails_with(USER_NOT_LOGGED_IN, session.generate_aes, {VALUE_LEN: 32, kind: True})
            fails_with(DEVICE_ERROR, make)
            open_pair = {"public": {PRIVATE: False}, "private": {PRIVATE: False}}
            fails_with(DEVICE_ERROR, make, **open_pair)  # of the session, and not private
            session.login()
            for which in ("public", "private"):
                fails_with(SESSION_READ_ONLY, reader.generate_pair, **{which: {TOKEN: True}})
            fails_with(SESSION_READ_ONLY, reader.generate_aes, {VALUE_LEN: 32, TOKEN: True})
            fails_with(ATTRIBUTE_READ_ONLY, make, public={TRUSTED: True})
            fails_with(TEMPLATE_INCONSISTENT, make, private={PRIVATE: False, TOKEN: True})
            fails_with(DEVICE_ERROR, make)


def test_weak_keys_are_generated_only_where_that_is_allowed(token):
    strict = {"COPRIME_TOKEN_ALLOW": ""}
    with running(replace(token, settings=strict)) as session:
        session.login()
        for bits in (512, 1008, 1023):
            fails_with(KEY_SIZE_RANGE, session.generate_pair, bits=bits)
        for e in (b"\3", b"\0\3", b"\x11", b"\xff\xff"):
            fails_with(ATTRIBUTE_VALUE_INVALID, session.generate_pair, {PUBLIC_EXPONENT: e})
        session.generate_pair({PUBLIC_EXPONENT: b"\0\1\0\1"})
    with running(token) as session:
        session.login()
        session.generate_pair({PUBLIC_EXPONENT: b"\3"}, bits=512)
        fails_with(KEY_SIZE_RANGE, session.generate_pair, bits=511)
        fails_with(ATTRIBUTE_VALUE_INVALID, session.generate_pair, {PUBLIC_EXPONENT: b"\1"})


def test_where_keys_are_generated(token, tmp_path):
    """Without an engine no key is generated on it; software needs none."""
    absent = {"COPRIME_TOKEN_DEVICE": "sim:/no/such/library.so"}
    make = (*GENERATE, "--key-type", "rsa:1024")
    said = token.tool(*make, check=False, environment=ON_DEVICE | absent)
    assert "CKR_DEVICE_ERROR" in said
    assert "made" not in token.tool("-O")
    token.tool(*make, environment=absent)
    configuration = tmp_path / "token.conf"
    configuration.write_text(f"slot {token.folder} sim:/no/such/library.so software\n")
    named = {"COPRIME_TOKEN_DIR": "", "COPRIME_TOKEN_CONF": str(configuration)}
    token.tool(*make, environment=named)
    configuration.write_text(f"slot {token.folder} sim elsewhere\n")
    assert "CKR_FUNCTION_FAILED" in token.tool("-L", check=False, environment=named)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(4))
def test_a_device_that_errs_generates_a_right_key_or_none(token, faulty, tmp_path, seed):
    engine = ON_DEVICE | {
        "COPRIME_TOKEN_DEVICE": f"sim:{faulty}",
        "FAULTY_ENGINE": str(token.module.with_name(build.SIMULATION)),
        "FAULTY_SEED": str(seed),
        "FAULTY_RATE": "20000",
    }
    make = (*GENERATE, "--key-type", "rsa:1024")
    said = token.tool(*make, check=False, environment=engine)
    if "made" in token.tool("-O"):
        check_signature(token, tmp_path)
    else:
        assert "CKR_DEVICE_ERROR" in said
