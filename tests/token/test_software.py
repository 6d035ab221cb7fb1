"""The device `software`, for tests of clients: what an engine does, libcrypto does."""

import pytest

from tests.token import cryptoki
from tests.token.conftest import opened_session
from tests.token.test_curves import (  # noqa: F401
    test_ecdh,
    test_ecdsa,
    test_ecdsa_in_parts,
    test_ecdsa_of_each_digest,
    test_eddsa,
    test_functions_of_rfc_7748,
    test_generated_keys,
    test_two_generated_keys_agree,
    test_variants_of_eddsa,
)
from tests.token.test_keys import refused
from tests.token.tokens import Token

pytestmark = pytest.mark.xdist_group("token")


@pytest.fixture(scope="module")
def session(module, ready, tmp_path_factory):
    folder = tmp_path_factory.mktemp("session") / "token"
    with opened_session(module, ready, folder, "software") as opened:
        yield opened


@pytest.mark.parametrize("bits", [1024, 2048, 4096])
def test_rsa(session, bits):
    public, private = session.generate_pair(bits=bits)
    for mechanism in (cryptoki.RSA_PKCS, cryptoki.SHA256_RSA_PKCS):
        session.verify(public, mechanism, b"text", session.sign(private, mechanism, b"text"))
    text = session.encrypt(public, cryptoki.RSA_PKCS, b"text")
    assert session.decrypt(private, cryptoki.RSA_PKCS, text) == b"text"


def test_logging_out_ends_it(session):
    _, private = session.generate_pair()
    session.begin("C_SignInit", private, cryptoki.RSA_PKCS)
    session.call("C_Logout")
    with refused(cryptoki.OPERATION_NOT_INITIALIZED):
        session.finish("C_Sign", b"text")
    session.login()


def test_it_is_labelled(token):
    """And no engine generates keys."""
    for device, model in (("software", "Coprime software"), ("sim", "Coprime")):
        made = Token(token.module, token.folder, {"COPRIME_TOKEN_DEVICE": device})
        found = [
            line.partition(":")[2].strip()
            for line in made.tool("-L").splitlines()
            if "token model" in line
        ]
        assert found == [model]
    for device in ("software,", "software:x", "softwar", "sim,softwar"):
        made = Token(token.module, token.folder, {"COPRIME_TOKEN_DEVICE": device})
        assert "C_Initialize" in made.tool("-L", check=False)
    made = Token(
        token.module,
        token.folder,
        {"COPRIME_TOKEN_DEVICE": "software", "COPRIME_TOKEN_KEYGEN": "device"},
    )
    made.generate(bits=1024)
