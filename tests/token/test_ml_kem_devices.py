"""ML-KEM in tokens whose device changes, has no such engine, or has one that errs."""

import pytest

from coprime.token import build
from tests.token import cryptoki as c
from tests.token.conftest import opened_session
from tests.token.cryptoki import running
from tests.token.test_keys import refused
from tests.token.test_ml_kem import SECRET, generated
from tests.token.tokens import Token

pytestmark = pytest.mark.xdist_group("token")


def test_a_key_of_the_token_is_there_again(module, ready, tmp_path):
    folder = tmp_path / "token"
    with opened_session(module, ready, folder, "software") as session:
        kept = {c.TOKEN: True, c.LABEL: b"kept"}
        public, private = generated(session, "ML-KEM-768", kept, kept)
        ciphertext, secret = session.encapsulate(public, SECRET)
        value = session.get(secret, c.VALUE)
    with running(Token(module, folder, {"COPRIME_TOKEN_DEVICE": "sim-lattice"})) as session:
        session.login()
        (private,) = session.find({c.CLASS: c.PRIVATE_KEY, c.LABEL: b"kept"})
        assert session.get(session.decapsulate(private, ciphertext, SECRET), c.VALUE) == value


def test_a_device_without_such_an_engine(module, ready, tmp_path):
    library = module.with_name(build.SIMULATION)
    with opened_session(module, ready, tmp_path / "one", f"sim:{library}") as session:
        public, private = generated(session, "ML-KEM-512")
        ciphertext, _ = session.encapsulate(public)
        with refused(c.MECHANISM_INVALID):
            session.decapsulate(private, ciphertext)
    with opened_session(module, ready, tmp_path / "two", f"sim:{library},software") as session:
        public, private = generated(session, "ML-KEM-512")
        ciphertext, secret = session.encapsulate(public, SECRET)
        got = session.decapsulate(private, ciphertext, SECRET)
        assert session.get(got, c.VALUE) == session.get(secret, c.VALUE)
