"""Keys and signatures from the random bytes of a suite's generator, on a host that has none."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256

from coprime.catalog import choose_suite, with_source
from coprime.model.hash_drbg import HashDrbg
from coprime.model.lattice import ml_dsa, ml_kem
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS
from coprime.random.kinds import RandomSource
from coprime.token.build import build_device
from coprime.token.module import TokenError
from tests.token import cryptoki as c
from tests.token import drawn
from tests.token.test_keys import refused
from tests.token.tokens import compile_library

pytestmark = pytest.mark.xdist_group("token, drawn")

SETTINGS = {
    "compact.max_bits": "512",
    "compact.curves": "weierstrass",
    "compact.ecdsa": "drawn",
    "lattice.schemes": "both",
    "lattice.sets": "ml-kem-512+ml-dsa-44",
}
MATERIAL = bytes(range(7, 55))  # of no_entropy.c
ROOT = Path(__file__).parents[2]
FUNCTION_FAILED = 6
KEM, DSA = ML_KEM_SETS[0], ML_DSA_SETS[0]


@pytest.fixture(scope="module")
def library():
    return build_device(with_source(choose_suite(SETTINGS), RandomSource.SEEDED))


@pytest.fixture(scope="module")
def no_entropy(tmp_path_factory):
    return compile_library(tmp_path_factory.mktemp("no_entropy"), "no_entropy")


def run(token, library, no_entropy, keygen, **options):
    """What drawn.py prints on a host whose random bytes end with the seed of the engine."""
    settings = {
        "COPRIME_TOKEN_DEVICE": f"sim:{library}",
        "COPRIME_TOKEN_KEYGEN": keygen,
        "COPRIME_TOKEN_DEBUG": "",
        "LD_PRELOAD": str(no_entropy),
    }
    program = ("-m", "tests.token.drawn", token.module, token.folder)
    return token.run(sys.executable, *program, environment=settings, cwd=ROOT, **options)


@pytest.mark.clients
@pytest.mark.timeout(3600)
def test_after_its_seed_an_engine_needs_nothing_of_the_host(token, library, no_entropy):
    """Keys of ML-KEM and ML-DSA, what hedges their signatures, and the nonces of ECDSA."""
    said = run(token, library, no_entropy, "drawn", timeout=3600)
    found = {name: bytes.fromhex(text) for name, text in json.loads(said).items()}
    drawn_bytes = HashDrbg(MATERIAL).generate(128)
    d, z, xi, rnd = (drawn_bytes[k : k + 32] for k in range(0, 128, 32))
    assert (found["ek"], found["dk"]) == ml_kem.key_pair(KEM, d, z)
    assert (found["pk"], found["sk"]) == ml_dsa.key_pair(DSA, xi)
    assert not [name for name in found if name.startswith("seed")]
    mu = ml_dsa.representative_for(found["pk"], ml_dsa.framed(drawn.TEXT))
    assert found["ML-DSA 0"] == ml_dsa.sign(DSA, found["sk"], mu, rnd).signature
    assert found["ML-DSA 1"] != found["ML-DSA 0"]
    assert ml_dsa.verify(DSA, found["pk"], mu, found["ML-DSA 1"])
    public = ec.derive_private_key(drawn.PRIVATE_NUMBER, ec.SECP256R1()).public_key()
    signatures = [found[f"P-256 {number}"] for number in range(2)]
    assert signatures[0][:32] != signatures[1][:32]
    for signature in signatures:
        pair = utils.encode_dss_signature(*map(int.from_bytes, (signature[:32], signature[32:])))
        public.verify(pair, drawn.DIGEST, ec.ECDSA(utils.Prehashed(SHA256())))
    assert run(token, library, no_entropy, "drawn", timeout=3600) == said


@pytest.mark.clients
@pytest.mark.timeout(3600)
def test_without_drawn_keys_the_host_is_needed(token, library, no_entropy):
    """The engine is seeded for the first pair, and the second one finds no random bytes."""
    said = run(token, library, no_entropy, "device", check=False, timeout=3600)
    assert str(TokenError("C_GenerateKeyPair", FUNCTION_FAILED)) in said
    assert "session.generate(" in said


@pytest.mark.clients
@pytest.mark.timeout(3600)
def test_an_engine_without_a_source_draws_no_key(token):
    settings = {"COPRIME_TOKEN_DEVICE": "sim-lattice", "COPRIME_TOKEN_KEYGEN": "drawn"}
    with c.running(replace(token, settings=settings)) as session:
        session.login()
        for kind in (c.ML_KEM_KEY_PAIR_GEN, c.ML_DSA_KEY_PAIR_GEN):
            with refused(c.MECHANISM_INVALID):
                session.generate(kind, {c.PARAMETER_SET: 1}, {})
