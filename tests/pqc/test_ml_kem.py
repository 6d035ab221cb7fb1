"""ML-KEM on accelerators, beside published vectors and the library."""

import pytest
from cryptography.hazmat.primitives.asymmetric import mlkem

from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import open_simulation
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS
from coprime.pqc import ml_kem
from coprime.pqc.key_sets import ML_KEM
from coprime.pqc.keys import KeyForm, LatticePrivateKey
from tests.pqc.references import ReferenceCalls

LIBRARY = {
    "ML-KEM-768": (mlkem.MLKEM768PrivateKey, mlkem.MLKEM768PublicKey),
    "ML-KEM-1024": (mlkem.MLKEM1024PrivateKey, mlkem.MLKEM1024PublicKey),
}


@pytest.fixture(scope="module")
def simulated():
    choice = choose_calls("lattice", {})
    with open_simulation(choice) as device:
        yield CallAccelerator(device, choice.design.interface)


def exchange(accelerator, name, form):
    """A whole exchange; its keys."""
    private, public = ml_kem.generate(accelerator, ML_KEM[name], form)
    assert (private.seed is None, private.expanded is None) == (
        form is KeyForm.EXPANDED,
        form is KeyForm.SEED,
    )
    assert private.software_public() == public == ml_kem.public_key(accelerator, private)
    sent = ml_kem.encapsulate(accelerator, public)
    assert ml_kem.decapsulate(accelerator, private, sent.ciphertext) == sent.secret
    wrong = bytes([sent.ciphertext[0] ^ 1]) + sent.ciphertext[1:]
    assert ml_kem.decapsulate(accelerator, private, wrong) != sent.secret
    assert ml_kem.encapsulate(accelerator, public).secret != sent.secret
    return private, public


def with_the_library(accelerator, name):
    of_private, of_public = LIBRARY[name]
    private, public = ml_kem.generate(accelerator, ML_KEM[name])
    library = of_private.from_seed_bytes(private.seed)
    assert library.public_key().public_bytes_raw() == public.key
    secret, ciphertext = of_public.from_public_bytes(public.key).encapsulate()
    assert ml_kem.decapsulate(accelerator, private, ciphertext) == secret
    sent = ml_kem.encapsulate(accelerator, public)
    assert library.decapsulate(sent.ciphertext) == sent.secret
    wrong = bytes([sent.ciphertext[0] ^ 1]) + sent.ciphertext[1:]
    rejected = library.decapsulate(wrong)
    assert ml_kem.decapsulate(accelerator, private, wrong) == rejected != sent.secret


@pytest.mark.parametrize("form", KeyForm)
@pytest.mark.parametrize("name", ML_KEM)
def test_an_exchange(name, form):
    exchange(ReferenceCalls(), name, form)


@pytest.mark.parametrize("name", LIBRARY)
def test_secrets_agree_with_the_library(name):
    with_the_library(ReferenceCalls(), name)


@pytest.mark.vectors
@pytest.mark.parametrize("name", ML_KEM)
def test_an_exchange_on_the_simulated_engine(simulated, name):
    for form in KeyForm:
        exchange(simulated, name, form)
        assert simulated.complete() == frozenset()
    if name in LIBRARY:
        with_the_library(simulated, name)


def test_one_message_one_ciphertext():
    accelerator, m = ReferenceCalls(), bytes(32)
    public = LatticePrivateKey(ML_KEM["ML-KEM-512"], bytes(64)).software_public()
    first, second = (ml_kem.encapsulate(accelerator, public, m) for _ in range(2))
    assert first == second
    assert repr(first) == "Encapsulation()"
    with pytest.raises(ValueError, match="m must have 32 bytes with ML-KEM-512, not 31"):
        ml_kem.encapsulate(accelerator, public, m[1:])


@pytest.mark.parametrize("form", KeyForm)
def test_a_seed_is_expanded_inside_the_engine(form):
    """An expanded key that is known is loaded; after each use of a secret nothing is left."""
    accelerator = ReferenceCalls()
    private = LatticePrivateKey(ML_KEM["ML-KEM-512"], bytes(64)).in_form(form)
    ml_kem.decapsulate(accelerator, private, bytes(768))
    assert accelerator.called == (
        [(ml_kem.KEY_PAIR, ["d", "z"]), (ml_kem.DECAPSULATE, ["c"])]
        if form is KeyForm.SEED
        else [(ml_kem.DECAPSULATE, ["c", "dk"])]
    )
    assert (accelerator.held, accelerator.wiped) == ({}, 1)


def test_a_call_that_fails_leaves_nothing():
    accelerator = ReferenceCalls()
    public = LatticePrivateKey(ML_KEM["ML-KEM-512"], bytes(64)).software_public()
    accelerator.held = {"dk": b"secret"}
    with pytest.raises(ValueError):
        ml_kem.encapsulate(accelerator, public, b"short")
    assert (accelerator.held, accelerator.wiped) == ({}, 1)


def test_another_private_key_than_the_seeds_is_refused(monkeypatch):
    accelerator = ReferenceCalls()
    call = accelerator.interface.call[ml_kem.KEY_PAIR]
    other = call.reference("ML-KEM-512", {"d": bytes(32), "z": bytes(32)})
    monkeypatch.setitem(call.__dict__, "reference", lambda parameter_set, values: other)
    with pytest.raises(ValueError, match="the expanded private key is not that of the seed"):
        ml_kem.generate(accelerator, ML_KEM["ML-KEM-512"], KeyForm.BOTH)


def test_engines_that_lack_something():
    private = LatticePrivateKey(ML_KEM["ML-KEM-512"], bytes(64))
    public = private.software_public()
    other = ReferenceCalls(ML_KEM_SETS[1:])
    message = "the engine has ML-KEM-768, ML-KEM-1024, not ML-KEM-512"
    for work in (
        lambda: ml_kem.generate(other, private.set),
        lambda: ml_kem.public_key(other, private),
        lambda: ml_kem.encapsulate(other, public),
        lambda: ml_kem.decapsulate(other, private, bytes(768)),
    ):
        with pytest.raises(ValueError) as found:
            work()
        assert str(found.value) == message
    keeping = ReferenceCalls(readable=False)
    for slot, work in (
        ("dk", lambda: ml_kem.generate(keeping, private.set, KeyForm.EXPANDED)),
        ("key", lambda: ml_kem.encapsulate(keeping, public)),
        ("key", lambda: ml_kem.decapsulate(keeping, private, bytes(768))),
    ):
        with pytest.raises(ValueError, match=f"the engine keeps {slot} inside"):
            work()
    assert ml_kem.public_key(keeping, private) == public
    assert not other.called


def test_wrong_inputs():
    accelerator = ReferenceCalls()
    private = LatticePrivateKey(ML_KEM["ML-KEM-768"], bytes(64))
    with pytest.raises(ValueError) as found:
        ml_kem.decapsulate(accelerator, private, bytes(768))
    assert str(found.value) == "a ciphertext of ML-KEM-768 has 1,088 bytes, not 768"
    assert not accelerator.called
