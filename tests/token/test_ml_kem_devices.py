"""ML-KEM in tokens whose device changes, has no such engine, or has one that errs."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from coprime.model.lattice import ml_kem_standard
from coprime.token import build
from coprime.token.module import TokenError
from tests.token import cryptoki as c
from tests.token.conftest import opened_session
from tests.token.cryptoki import open_session, running
from tests.token.stored import Stored
from tests.token.test_keys import refused
from tests.token.test_ml_kem import SECRET, SETS, SHOWN, generated
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


@pytest.mark.parametrize("seed", [1, *(pytest.param(k, marks=pytest.mark.fuzz) for k in (2, 3))])
def test_an_engine_that_errs_gives_no_other_key(module, ready, faulty, tmp_path, monkeypatch, seed):
    """A right key, or CKR_DEVICE_ERROR; and after all that, right ones again."""
    monkeypatch.setenv("FAULTY_ENGINE", str(module.with_name(build.LATTICE_SIMULATION)))
    monkeypatch.setenv("FAULTY_RATE", "600")  # accesses; a decapsulation has some 300
    monkeypatch.setenv("FAULTY_SEED", str(seed))
    outcomes = []
    with opened_session(module, ready, tmp_path / "token", f"sim:{faulty}") as session:
        public, private = generated(session, "ML-KEM-768")
        for _ in range(12):
            ciphertext, secret = session.encapsulate(public, SECRET)
            try:
                got = session.decapsulate(private, ciphertext, SECRET)
            except TokenError as error:
                outcomes.append(error.code)
            else:
                assert session.get(got, c.VALUE) == session.get(secret, c.VALUE)
                outcomes.append(c.OK)
    assert set(outcomes) == {c.OK, c.DEVICE_ERROR}


def test_threads_that_decapsulate_at_once(module, ready, tmp_path):
    """Four sessions, two engines, two keys."""
    with opened_session(module, ready, tmp_path / "token", "sim-lattice,sim-lattice") as session:
        pairs = [generated(session, name) for name in ("ML-KEM-512", "ML-KEM-1024")]
        texts = [session.encapsulate(public, SECRET) for public, _ in pairs]
        values = [session.get(secret, c.VALUE) for _, secret in texts]

        def decapsulate(number):
            with open_session(session.module) as own:
                for i in range(number, number + 6):
                    key = own.decapsulate(pairs[i % 2][1], texts[i % 2][0], SECRET)
                    assert own.get(key, c.VALUE) == values[i % 2]

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(decapsulate, range(4)))


def test_an_engine_generates_where_it_is_told_to(module, ready, faulty, tmp_path, monkeypatch):
    """Its pair is compared with that of software: one that errs makes none, or a right one."""
    monkeypatch.setenv("COPRIME_TOKEN_KEYGEN", "device")
    monkeypatch.setenv("FAULTY_ENGINE", str(module.with_name(build.LATTICE_SIMULATION)))
    monkeypatch.setenv("FAULTY_RATE", "1500")
    monkeypatch.setenv("FAULTY_SEED", "1")
    outcomes = set()
    with opened_session(module, ready, tmp_path / "token", f"sim:{faulty},software") as session:
        for _ in range(12):
            try:
                public, private = generated(session, "ML-KEM-512", private=SHOWN)
            except TokenError as error:
                outcomes.add(error.code)
                continue
            seed = session.get(private, c.SEED)
            ek, dk = ml_kem_standard.key_pair(SETS["ML-KEM-512"], seed[:32], seed[32:])
            assert session.get(public, c.VALUE) == ek
            assert session.get(private, c.VALUE) == dk
            outcomes.add(c.OK)
    assert outcomes == {c.OK, c.DEVICE_ERROR}


def test_logging_out_makes_the_engine_forget(module, ready, tmp_path):
    """A key of the session that is private is gone, and one that is public works on."""
    with opened_session(module, ready, tmp_path / "token", "sim-lattice") as session:
        public, private = generated(session, "ML-KEM-512", {c.PRIVATE: False})
        ciphertext, _ = session.encapsulate(public, SECRET)
        session.decapsulate(private, ciphertext)
        session.call("C_Logout")
        with refused(c.UNWRAPPING_KEY_HANDLE_INVALID):
            session.decapsulate(private, ciphertext)
        session.encapsulate(public, {c.PRIVATE: False})
        session.login()


def test_a_file_with_another_key_is_not_trusted(module, ready, tmp_path):
    """A public key that somebody has altered in the file is none: its numbers are checked again."""
    folder = tmp_path / "token"
    with opened_session(module, ready, folder, "software") as session:
        generated(session, "ML-KEM-512", {c.TOKEN: True, c.LABEL: b"kept"})
        ek = session.get(session.find({c.LABEL: b"kept"})[0], c.VALUE)
    stored = Stored.read(folder / "token")
    (record,) = stored.records
    record.content = record.content.replace(ek[:3], b"\xff\xff\xff")
    stored.write(folder / "token")
    with running(Token(module, folder, {"COPRIME_TOKEN_DEVICE": "software"})) as session:
        (public,) = session.find({c.CLASS: c.PUBLIC_KEY, c.LABEL: b"kept"})
        with refused(c.KEY_TYPE_INCONSISTENT):
            session.encapsulate(public, {c.PRIVATE: False})
