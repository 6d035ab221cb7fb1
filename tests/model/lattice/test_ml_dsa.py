"""ML-DSA in integers against the `cryptography` package, ACVP and Wycheproof."""

import hashlib
import random

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import mldsa

from coprime.model.lattice import ml_dsa
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from tests.lattice.published import published

KINDS = (mldsa.MLDSA44PrivateKey, mldsa.MLDSA65PrivateKey, mldsa.MLDSA87PrivateKey)
KIND = dict(zip(ML_DSA_SETS, KINDS, strict=True))
BY_NAME = {one.name: one for one in ML_DSA_SETS}
SETS = pytest.mark.parametrize("p", ML_DSA_SETS, ids=BY_NAME)
FIRST_SET = pytest.mark.parametrize(
    "p",
    [
        pytest.param(one, marks=[pytest.mark.matrix] * (k > 0), id=one.name)
        for k, one in enumerate(ML_DSA_SETS)
    ],
)
"""With slow tests all of them."""


def keys(p, seed=bytes(32)):
    """Ours, and theirs."""
    return *ml_dsa.key_pair(p, seed), KIND[p].from_seed_bytes(seed)


def flipped(data, place):
    """The data with one bit changed."""
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@FIRST_SET
def test_keys_and_signatures_are_valid_for_the_package(p):
    generator = random.Random(204)
    pk, sk, theirs = keys(p, generator.randbytes(32))
    public = theirs.public_key()
    assert public.public_bytes_raw() == pk
    assert (len(pk), len(sk)) == (p.pk_bytes, p.sk_bytes)
    for context in (b"", b"c", generator.randbytes(255)):
        message = generator.randbytes(generator.randrange(300))
        mu = ml_dsa.representative(sk[64:128], ml_dsa.framed(message, context))
        assert mu == ml_dsa.representative_for(pk, ml_dsa.framed(message, context))
        signature = ml_dsa.sign(p, sk, mu, generator.randbytes(32)).signature
        assert len(signature) == p.signature_bytes
        public.verify(signature, message, context)
        public.verify_mu(signature, mu)


@pytest.mark.matrix(quick=1)
@SETS
def test_verification_decides_as_the_package(p):
    generator = random.Random(2040)
    pk, _, theirs = keys(p)
    message, context = b"message", b"context"
    mu = ml_dsa.representative_for(pk, ml_dsa.framed(message, context))
    good = theirs.sign(message, context)
    assert ml_dsa.verify(p, pk, mu, good)
    assert ml_dsa.verify(p, pk, mu, theirs.sign_mu(mu))
    hints = len(good) - p.omega - p.k
    for place in (0, hints - 1, hints, len(good) - 1, generator.randrange(hints)):
        wrong = flipped(good, place)
        with pytest.raises(InvalidSignature):
            theirs.public_key().verify(wrong, message, context)
        assert not ml_dsa.verify(p, pk, mu, wrong), place
    assert not ml_dsa.verify(p, flipped(pk, 40), mu, good)
    assert not ml_dsa.verify(p, pk, mu, good[:-1])
    assert not ml_dsa.verify(p, pk[:-1], mu, good)


@pytest.mark.matrix  # three more signatures
def test_deterministic_signatures_repeat_and_hedged_ones_do_not():
    p = ML_DSA_SETS[0]
    _, sk, _ = keys(p)
    mu = bytes(64)
    first = ml_dsa.sign(p, sk, mu)
    assert ml_dsa.sign(p, sk, mu) == first
    assert ml_dsa.sign(p, sk, mu, b"h" * 32).signature != first.signature


@pytest.mark.vectors
def test_iterations_are_counted_with_the_reason_of_each_rejection():
    """The published cases say how many iterations they take."""
    tried = 0
    for file in published("ML-DSA"):
        for case in file.cases:
            said = case.name.partition("signature that takes ")[2].partition(" iteration")[0]
            if case.operation == "sign" and said and int(said) < 4:
                inputs, p = case.inputs, BY_NAME[case.set]
                sk = inputs["sk"] if "sk" in inputs else ml_dsa.key_pair(p, inputs["seed"])[1]
                message = ml_dsa.framed(inputs["message"], inputs["context"])
                done = ml_dsa.sign(p, sk, ml_dsa.representative(sk[64:128], message))
                assert done.iterations == int(said), case.name
                assert set(done.rejections) <= {"r0", "z", "hint"}
                tried += 1
    assert tried > 9


def test_a_message_that_is_hashed_before_is_framed_with_the_name_of_its_hash():
    digest = hashlib.sha512(b"message").digest()
    frame = ml_dsa.framed_digest("SHA2-512", digest, b"context")
    identifier = bytes.fromhex("0609608648016503040203")
    assert frame == b"\x01\x07context" + identifier + digest
    for name, (_, length) in ml_dsa.PREHASHES.items():
        plain = name.replace("SHA2-", "sha").replace("-", "_").replace("/", "_").lower()
        assert hashlib.new(plain).digest_size in (length, 0), name
        with pytest.raises(ValueError, match=f"{length} bytes, not 1"):
            ml_dsa.framed_digest(name, b"1")


def test_long_contexts_are_refused():
    with pytest.raises(ValueError, match="at most 255 bytes, not 256"):
        ml_dsa.framed(b"", bytes(256))


def test_seeds_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match="32 bytes, not 31"):
        ml_dsa.key_pair(ML_DSA_SETS[0], bytes(31))


@SETS
def test_keys_are_checked(p):
    pk, sk, _ = keys(p)
    other, _, _ = keys(p, b"other" + bytes(27))
    ml_dsa.check_key(p, pk, None)
    ml_dsa.check_key(p, None, sk)
    ml_dsa.check_key(p, pk, sk)
    cases = (
        (pk[:-1], None, "a public key has"),
        (None, sk + b"1", "a private key has"),
        (other, sk, "is not that of the private key"),
        (None, flipped(sk, 0), "do not belong together"),
        (None, flipped(sk, 64), "do not belong together"),
        (None, flipped(sk, 130), "do not belong together|not in"),
        (None, flipped(sk, len(sk) - 1), "do not belong together"),
        (None, sk[:128] + b"\xff" + sk[129:], "is not in"),
    )
    for public, private, error in cases:
        with pytest.raises(ValueError, match=error):
            ml_dsa.check_key(p, public, private)


def accepted(case):
    """Whether a case has its published result; False if it is refused, or the signature wrong."""
    p, inputs = BY_NAME[case.set], case.inputs
    if case.operation == "key_pair":
        pk, sk = ml_dsa.key_pair(p, inputs["seed"])
        return case.agrees("pk", pk) and case.agrees("sk", sk)
    try:
        message = inputs.get("framed", b"")
        if "message" in inputs:
            message = ml_dsa.framed(inputs["message"], inputs["context"])
        if case.operation == "verify":
            mu = ml_dsa.representative_for(inputs["pk"], message)
            return ml_dsa.verify(p, inputs["pk"], mu, inputs["signature"])
        sk = inputs["sk"] if "sk" in inputs else ml_dsa.key_pair(p, inputs["seed"])[1]
        mu = inputs.get("mu") or ml_dsa.representative(sk[64:128], message)
        done = ml_dsa.sign(p, sk, mu, inputs["rnd"])
    except ValueError:
        return False
    return case.agrees("signature", done.signature) if case.valid else True


FILES = pytest.mark.parametrize(
    "file", published("ML-DSA"), ids=lambda file: f"{file.name}-{file.set}"
)


@pytest.mark.vectors(quick=6)
@FILES
def test_the_first_case_of_each_published_file(file):
    case = file.cases[0]
    assert accepted(case) == case.valid, case.name


@pytest.mark.vectors
@pytest.mark.timeout(1800)
@FILES
def test_all_of_each_published_file(file):
    for case in file.cases:
        assert accepted(case) == case.valid, case.name
