"""ML-KEM on an accelerator: key pairs, encapsulation, decapsulation.

Source: FIPS 203, section 7. Random bytes are the operating system's. The engine is wiped after
every call that had a secret.

    private, public = generate(accelerator, ML_KEM["ML-KEM-768"])
    sent = encapsulate(accelerator, public)
    assert decapsulate(accelerator, private, sent.ciphertext) == sent.secret
"""

import secrets
from collections.abc import Collection
from dataclasses import dataclass, field

from coprime.calls.interface import EngineInterface

from . import accelerators
from .accelerators import Calls, check_set, wiping
from .key_pairs import KeyPairCall
from .key_sets import ML_KEM, SEED_BYTES, KeySet, MlKemKeySet
from .keys import KeyForm, LatticePrivateKey, LatticePublicKey

KEY_PAIR, ENCAPSULATE, DECAPSULATE = "ML_KEM_KEY_PAIR", "ML_KEM_ENCAPSULATE", "ML_KEM_DECAPSULATE"
_KEY_PAIR = KeyPairCall(KEY_PAIR, public="ek", private="dk", seeds=("d", "z"), sets=ML_KEM)


@dataclass(frozen=True)
class Encapsulation:
    """A shared secret of 32 bytes, which the repr does not show, and its ciphertext."""

    ciphertext: bytes = field(repr=False)
    secret: bytes = field(repr=False)


def generate(
    accelerator: Calls, key_set: KeySet, form: KeyForm = KeyForm.SEED
) -> tuple[LatticePrivateKey, LatticePublicKey]:
    """A new key pair, whose private key consists of what the form has. ValueError as
    `KeyPairCall.generate`."""
    return _KEY_PAIR.generate(accelerator, key_set, form)


def public_key(accelerator: Calls, private: LatticePrivateKey) -> LatticePublicKey:
    """The public key of a private one: from the seed on the accelerator, or else from the expanded
    key, which contains it.
    """
    if private.seed is None:
        return private.software_public()
    with wiping(accelerator):
        return LatticePublicKey(private.set, _KEY_PAIR.expand(accelerator, private, ["ek"])["ek"])


def encapsulate(
    accelerator: Calls, public: LatticePublicKey, m: bytes | None = None
) -> Encapsulation:
    """A new shared secret, and its ciphertext for the owner of the public key.

    `m` : 32 bytes that determine both, for tests; by default random ones. ValueError as
    `check_engine`, and for another length.
    """
    check_engine(accelerator.interface, public.set, ["key"])
    values = {"ek": public.key, "m": secrets.token_bytes(SEED_BYTES) if m is None else m}
    with wiping(accelerator):
        done = accelerator.call(
            ENCAPSULATE, values, parameter_set=public.set.name, read=["c", "key"]
        )
    return Encapsulation(done.outputs["c"], done.outputs["key"])


def decapsulate(accelerator: Calls, private: LatticePrivateKey, ciphertext: bytes) -> bytes:
    """The shared secret of a ciphertext; of one that was not made for this key, 32 other bytes,
    which depend on both (implicit rejection).

    A seed is expanded inside the engine, so that the expanded key does not leave it. ValueError as
    `check_engine`, and for a ciphertext of another length.
    """
    check_engine(accelerator.interface, private.set, ["key"])
    check_ciphertext(private.set, ciphertext)
    values = {"c": ciphertext}
    with wiping(accelerator):
        if private.expanded is None:
            _KEY_PAIR.expand(accelerator, private, [])
        else:
            values["dk"] = private.expanded
        done = accelerator.call(DECAPSULATE, values, parameter_set=private.set.name, read=["key"])
    return done.outputs["key"]


def check_ciphertext(key_set: KeySet, ciphertext: bytes) -> None:
    """Raise ValueError unless the ciphertext has the length of the parameter set."""
    wanted = _ml_kem(key_set).parameters.ciphertext_bytes
    if len(ciphertext) != wanted:
        raise ValueError(
            f"a ciphertext of {key_set.name} has {wanted:,} bytes, not {len(ciphertext):,}"
        )


def check_engine(interface: EngineInterface, key_set: KeySet, secret: Collection[str]) -> None:
    """Raise ValueError unless an engine has the parameter set, and these secret slots can be read.

    ValueError too for a parameter set that is not of ML-KEM.
    """
    check_set(key_set, ML_KEM)
    accelerators.check_engine(interface, key_set, secret)


def _ml_kem(key_set: KeySet) -> MlKemKeySet:
    check_set(key_set, ML_KEM)
    return ML_KEM[key_set.name]
