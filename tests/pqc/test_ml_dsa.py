"""ML-DSA on accelerators, beside the library."""

import hashlib
import io

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import mldsa

from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import open_simulation
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from coprime.pqc import ml_dsa
from coprime.pqc.key_sets import ML_KEM
from coprime.pqc.keys import KeyForm, LatticePrivateKey
from coprime.pqc.ml_dsa import Framing, InvalidSignatureError
from coprime.pqc.ml_dsa_key_sets import ML_DSA
from tests.pqc.references import ReferenceSignatures

LIBRARY = {
    "ML-DSA-44": (mldsa.MLDSA44PrivateKey, mldsa.MLDSA44PublicKey),
    "ML-DSA-65": (mldsa.MLDSA65PrivateKey, mldsa.MLDSA65PublicKey),
    "ML-DSA-87": (mldsa.MLDSA87PrivateKey, mldsa.MLDSA87PublicKey),
}
SMALLEST = "ML-DSA-44"
MESSAGE, CONTEXT = b"a message", b"a context"


@pytest.fixture(scope="module")
def simulated():
    choice = choose_calls("lattice", {"schemes": "ml-dsa"})
    with open_simulation(choice) as device:
        yield CallAccelerator(device, choice.design.interface)


def key_of(name=SMALLEST, form=KeyForm.SEED):
    return LatticePrivateKey(ML_DSA[name], bytes(range(32))).in_form(form)


def refuses(accelerator, public, message, signature, framing=ml_dsa.PURE):
    with pytest.raises(InvalidSignatureError):
        ml_dsa.verify(accelerator, public, message, signature, framing)


def with_the_library(accelerator, name, form=KeyForm.SEED):
    """Keys and signatures go both ways."""
    of_private, of_public = LIBRARY[name]
    private, public = ml_dsa.generate(accelerator, ML_DSA[name], form)
    assert private.software_public() == public == ml_dsa.public_key(accelerator, private)
    theirs = of_public.from_public_bytes(public.key)
    signature = ml_dsa.sign(accelerator, private, MESSAGE, Framing(CONTEXT))
    theirs.verify(signature, MESSAGE, CONTEXT)
    with pytest.raises(InvalidSignature):
        theirs.verify(signature, MESSAGE)
    ml_dsa.verify(accelerator, public, MESSAGE, signature, Framing(CONTEXT))
    refuses(accelerator, public, MESSAGE, signature)
    refuses(accelerator, public, MESSAGE[1:], signature, Framing(CONTEXT))
    mu = ml_dsa.representative(public, MESSAGE)
    theirs.verify(ml_dsa.sign_representative(accelerator, private, mu), MESSAGE)
    if private.seed is not None:
        signature = of_private.from_seed_bytes(private.seed).sign(MESSAGE, CONTEXT)
        ml_dsa.verify(accelerator, public, MESSAGE, signature, Framing(CONTEXT))
        wrong = bytes([signature[0] ^ 1]) + signature[1:]
        refuses(accelerator, public, MESSAGE, wrong, Framing(CONTEXT))


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("name", ML_DSA)
@pytest.mark.parametrize("form", [KeyForm.SEED, KeyForm.EXPANDED])
def test_signatures_agree_with_the_library(name, form):
    with_the_library(ReferenceSignatures(), name, form)


@pytest.mark.vectors
@pytest.mark.parametrize("name", ML_DSA)
def test_signatures_of_the_simulated_engine_agree_with_the_library(simulated, name):
    for form in KeyForm:
        with_the_library(simulated, name, form)
        assert simulated.complete() <= {"pk", "signature"}


def test_hashes_are_framed_as_the_standard_has_it():
    """FIPS 204, algorithm 4, lines 10 to 24, typed in from there."""
    data = MESSAGE * 1000
    for name, last, digest in (
        ("sha256", 1, hashlib.sha256(data).digest()),
        ("sha512", 3, hashlib.sha512(data).digest()),
        ("shake_128", 11, hashlib.shake_128(data).digest(32)),
        ("shake_256", 12, hashlib.shake_256(data).digest(64)),
    ):
        oid = bytes.fromhex("0609608648016503040200")[:-1] + bytes([last])
        whole = b"\1" + bytes([len(CONTEXT)]) + CONTEXT + oid + digest
        framing = Framing(CONTEXT, name)
        assert b"".join(framing.parts(data)) == whole
        assert b"".join(framing.parts(io.BytesIO(data))) == whole
    for name in ml_dsa.HASHES:
        assert b"".join(Framing(b"", name).parts(data))


def test_another_hash_is_another_signature():
    accelerator, private = ReferenceSignatures(), key_of()
    public = private.software_public()
    signature = ml_dsa.sign(accelerator, private, MESSAGE, Framing(prehash="sha512"))
    ml_dsa.verify(accelerator, public, MESSAGE, signature, Framing(prehash="sha512"))
    refuses(accelerator, public, MESSAGE, signature)
    refuses(accelerator, public, MESSAGE, signature, Framing(prehash="sha3_512"))


def test_messages_are_read_in_pieces():
    class Endless(io.RawIOBase):
        left, longest = 3 << 20, 0

        def readinto(self, buffer):
            size = min(len(buffer), self.left)
            self.left, self.longest = self.left - size, max(self.longest, len(buffer))
            buffer[:size] = bytes(size)
            return size

        def readable(self):
            return True

    public = key_of().software_public()
    stream = Endless()
    assert ml_dsa.representative(public, stream) == ml_dsa.representative(public, bytes(3 << 20))
    assert stream.longest <= 1 << 20


def test_deterministic_signatures_are_the_same_ones():
    accelerator, private = ReferenceSignatures(), key_of()
    first, second = (
        ml_dsa.sign(accelerator, private, MESSAGE, deterministic=True) for _ in range(2)
    )
    hedged, again = (ml_dsa.sign(accelerator, private, MESSAGE) for _ in range(2))
    assert len({first, second, hedged, again}) == 3 and first == second


@pytest.mark.parametrize("form", KeyForm)
def test_a_seed_is_expanded_inside_the_engine(form):
    """An expanded key that is known is loaded; after each use of a secret nothing is left."""
    accelerator, private = ReferenceSignatures(), key_of(form=form)
    ml_dsa.sign(accelerator, private, MESSAGE)
    assert accelerator.called == (
        [(ml_dsa.KEY_PAIR, ["xi"]), (ml_dsa.SIGN, ["mu", "rnd"])]
        if form is KeyForm.SEED
        else [(ml_dsa.SIGN, ["mu", "rnd", "sk"])]
    )
    assert (accelerator.held, accelerator.wiped) == ({}, 1)


def test_engines_that_lack_something():
    private = key_of()
    public, signature = private.software_public(), bytes(2420)
    other = ReferenceSignatures(ML_DSA_SETS[1:])
    for work in (
        lambda: ml_dsa.generate(other, private.set),
        lambda: ml_dsa.public_key(other, private),
        lambda: ml_dsa.public_key(other, private.in_form(KeyForm.EXPANDED)),
        lambda: ml_dsa.sign(other, private, MESSAGE),
        lambda: ml_dsa.verify(other, public, MESSAGE, signature),
    ):
        with pytest.raises(ValueError) as found:
            work()
        assert str(found.value) == "the engine has ML-DSA-65, ML-DSA-87, not ML-DSA-44"
    keeping = ReferenceSignatures(readable=False)
    with pytest.raises(ValueError, match="the engine keeps sk inside"):
        ml_dsa.generate(keeping, private.set, KeyForm.EXPANDED)
    assert ml_dsa.public_key(keeping, private) == public
    assert not other.called


def test_wrong_inputs():
    accelerator, private = ReferenceSignatures(), key_of()
    public, one = private.software_public(), ML_KEM["ML-KEM-512"]
    of_kem = LatticePrivateKey(one, bytes(one.seed_bytes))
    for work, message in (
        (
            lambda: ml_dsa.verify(accelerator, public, MESSAGE, b"short"),
            "a signature of ML-DSA-44 has 2,420 bytes, not 5",
        ),
        (
            lambda: ml_dsa.sign_representative(accelerator, private, bytes(63)),
            "mu has 64 bytes, not 63",
        ),
        (
            lambda: ml_dsa.verify_representative(accelerator, public, b"", bytes(2420)),
            "mu has 64 bytes, not 0",
        ),
        (lambda: Framing(bytes(256)), "a context has at most 255 bytes, not 256"),
        (lambda: Framing(prehash="md5"), f"the hash must be one of {', '.join(ml_dsa.HASHES)},"),
        (
            lambda: ml_dsa.sign(accelerator, of_kem, MESSAGE),
            "a key of ML-KEM-512 is not one of ML-DSA",
        ),
    ):
        with pytest.raises(ValueError) as found:
            work()
        assert str(found.value).startswith(message)
    assert not accelerator.called
