"""ML-DSA in tokens whose engine signs, has no such call, or errs."""

import pytest
from cryptography.hazmat.primitives.serialization import load_der_public_key

from coprime.catalog import choose_calls
from coprime.model.lattice import ml_dsa as model
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from coprime.token.build import build_device
from tests.token import cryptoki as c
from tests.token.conftest import opened_session
from tests.token.test_keys import refused
from tests.token.test_ml_dsa import NUMBERS, SHOWN, generated

pytestmark = pytest.mark.xdist_group("token")

BY_NAME = {one.name: one for one in ML_DSA_SETS}


@pytest.fixture(scope="module")
def engine():
    """A simulated engine with all sets."""
    return build_device(choose_calls("lattice", {"schemes": "ml-dsa"}))


@pytest.mark.vectors
def test_an_engine_signs(module, ready, engine, tmp_path):
    """Without software nobody else does; keys stay loaded, and take turns."""
    with opened_session(module, ready, tmp_path / "token", f"sim:{engine}") as session:
        for name in (*NUMBERS, "ML-DSA-44"):
            public, private = generated(session, name, private=SHOWN)
            theirs = load_der_public_key(session.get(public, c.PUBLIC_KEY_INFO))
            for context in (b"", b"context"):
                given = c.SignContext(c.HEDGE_REQUIRED, context)
                signature = session.sign(private, c.ML_DSA_MECHANISM, b"text", given)
                theirs.verify(signature, b"text", context or None)
                session.verify(public, c.ML_DSA_MECHANISM, b"text", signature, given)
            given = c.SignContext(c.DETERMINISTIC_REQUIRED)
            signature = session.sign(private, c.ML_DSA_MECHANISM, b"text", given)
            pk, sk = session.get(public, c.VALUE), session.get(private, c.VALUE)
            mu = model.representative_for(pk, model.framed(b"text"))
            assert signature == model.sign(BY_NAME[name], sk, mu).signature


def test_a_device_without_such_an_engine(module, ready, tmp_path):
    """An engine of ML-KEM alone: software signs where it is one of the device's names."""
    with opened_session(module, ready, tmp_path / "one", "sim-lattice") as session:
        _, private = generated(session, "ML-DSA-44")
        with refused(c.MECHANISM_INVALID):
            session.sign(private, c.ML_DSA_MECHANISM, b"text")
    with opened_session(module, ready, tmp_path / "two", "sim-lattice,software") as session:
        public, private = generated(session, "ML-DSA-44")
        signature = session.sign(private, c.ML_DSA_MECHANISM, b"text")
        session.verify(public, c.ML_DSA_MECHANISM, b"text", signature)


@pytest.mark.fuzz
def test_an_engine_that_errs_gives_no_wrong_signature(check, token, engine, faulty):
    """A right signature, which check.c verifies, or CKR_DEVICE_ERROR and none."""
    settings = {
        "COPRIME_TOKEN_DEVICE": f"sim:{faulty}",
        "FAULTY_ENGINE": str(engine),
        "FAULTY_SEED": "1",
        "FAULTY_RATE": "2000",  # accesses; a signature has some 700, a key 1,000
    }
    count = 40  # docs/token.md has 5,000
    said = token.run(check, token.module, "faults", count, "ml-dsa", environment=settings)
    right, wrong = map(int, said.split())
    assert right + wrong == count
    assert min(right, wrong) > count // 20
