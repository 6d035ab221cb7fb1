"""ML-DSA on an accelerator: key pairs, signatures, verification.

Source: FIPS 204, sections 5 and 6.2. Random bytes are the operating system's. Messages are hashed
here, in pieces, so that they may be of any size; the accelerator gets mu (algorithm 7, line 6), and
computes all else. It is wiped after every call that had a secret.

    private, public = generate(accelerator, ML_DSA["ML-DSA-65"])
    signature = sign(accelerator, private, b"message")
    verify(accelerator, public, b"message", signature)
"""

import hashlib
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from coprime.calls.interface import EngineInterface
from coprime.device.jobs import EngineError
from coprime.engine.error_codes import Error
from coprime.model.lattice.ml_dsa import framed, framed_digest, hashed
from coprime.model.lattice.ml_dsa_sets import HASH_BYTES
from coprime.rsa.hashes import pieces
from coprime.rsa.operations import InvalidSignatureError

from . import accelerators
from .accelerators import Calls, check_set, wiping
from .key_pairs import KeyPairCall
from .key_sets import SEED_BYTES, KeySet
from .keys import KeyForm, LatticePrivateKey, LatticePublicKey
from .ml_dsa_key_sets import ML_DSA

__all__ = [
    "HASHES",
    "ML_DSA",
    "PURE",
    "Framing",
    "InvalidSignatureError",
    "generate",
    "public_key",
    "representative",
    "sign",
    "sign_representative",
    "verify",
    "verify_representative",
]

KEY_PAIR, SIGN, VERIFY, CHECK_KEY = (
    *("ML_DSA_KEY_PAIR", "ML_DSA_SIGN", "ML_DSA_VERIFY", "ML_DSA_CHECK_KEY"),
)
HASHES: Mapping[str, str] = {
    "sha224": "SHA2-224",
    "sha256": "SHA2-256",
    "sha384": "SHA2-384",
    "sha512": "SHA2-512",
    "sha512_224": "SHA2-512/224",
    "sha512_256": "SHA2-512/256",
    "sha3_224": "SHA3-224",
    "sha3_256": "SHA3-256",
    "sha3_384": "SHA3-384",
    "sha3_512": "SHA3-512",
    "shake_128": "SHAKE-128",
    "shake_256": "SHAKE-256",
}
"""The hashes of HashML-DSA as hashlib calls them, with the names of FIPS 204."""
_XOFS = {"shake_128": (hashlib.shake_128, 32), "shake_256": (hashlib.shake_256, 64)}
"""With the bytes of a digest, which FIPS 204 fixes."""
Message = bytes | BinaryIO
"""A message, or a file that is read until its end."""
_KEY_PAIR = KeyPairCall(KEY_PAIR, public="pk", private="sk", seeds=("xi",), sets=ML_DSA)


@dataclass(frozen=True)
class Framing:
    """What is put before a message that is signed. ValueError for a context of more than 255 bytes,
    and for a hash that HashML-DSA does not have.

    Parameters
    ----------
    context : which signer and verifier agree on, 0 to 255 bytes
    prehash : of HashML-DSA: a name in HASHES; None: ML-DSA
    """

    context: bytes = b""
    prehash: str | None = None

    def __post_init__(self) -> None:
        framed(b"", self.context)
        if self.prehash is not None and self.prehash not in HASHES:
            raise ValueError(f"the hash must be one of {', '.join(HASHES)}, not {self.prehash!r}")

    def parts(self, message: Message) -> Iterable[bytes]:
        """M' of algorithms 2 and 4, in pieces."""
        read = [message] if isinstance(message, bytes) else pieces(message)
        if self.prehash is None:
            yield framed(b"", self.context)
            yield from read
            return
        yield framed_digest(HASHES[self.prehash], _digest(self.prehash, read), self.context)


PURE = Framing()
"""ML-DSA without a context."""


def generate(
    accelerator: Calls, key_set: KeySet, form: KeyForm = KeyForm.SEED
) -> tuple[LatticePrivateKey, LatticePublicKey]:
    """A new key pair, whose private key consists of what the form has. ValueError as
    `KeyPairCall.generate`."""
    return _KEY_PAIR.generate(accelerator, key_set, form)


def public_key(accelerator: Calls, private: LatticePrivateKey) -> LatticePublicKey:
    """The public key of a private one, which the accelerator computes. ValueError as
    `check_engine`."""
    with wiping(accelerator):
        if private.expanded is None:
            found = _KEY_PAIR.expand(accelerator, private, ["pk"])
        else:
            check_engine(accelerator.interface, private.set, [])
            values = {"sk": private.expanded}
            name = private.set.name
            found = accelerator.call(CHECK_KEY, values, parameter_set=name, read=["pk"]).outputs
    return LatticePublicKey(private.set, found["pk"])


def representative(public: LatticePublicKey, message: Message, framing: Framing = PURE) -> bytes:
    """mu, 64 bytes, which need not be computed where the private key is."""
    return _mu(hashed(public.key, HASH_BYTES), message, framing)


def sign(
    accelerator: Calls,
    private: LatticePrivateKey,
    message: Message,
    framing: Framing = PURE,
    *,
    deterministic: bool = False,
) -> bytes:
    """A signature, hedged with 32 random bytes unless it is `deterministic`.

    A seed is expanded inside the engine, so that the expanded key does not leave it. ValueError as
    `check_engine`.
    """
    return _sign(accelerator, private, lambda tr: _mu(tr, message, framing), deterministic)


def sign_representative(
    accelerator: Calls, private: LatticePrivateKey, mu: bytes, *, deterministic: bool = False
) -> bytes:
    """As `sign`, of mu. ValueError unless it has 64 bytes."""
    check_representative(mu)
    return _sign(accelerator, private, lambda _: mu, deterministic)


def verify(
    accelerator: Calls,
    public: LatticePublicKey,
    message: Message,
    signature: bytes,
    framing: Framing = PURE,
) -> None:
    """Return if the signature is valid for this message and public key.

    Raises InvalidSignatureError if it is not, ValueError as `check_engine` and `check_signature`.
    """
    check_signature(public.set, signature)
    verify_representative(accelerator, public, representative(public, message, framing), signature)


def verify_representative(
    accelerator: Calls, public: LatticePublicKey, mu: bytes, signature: bytes
) -> None:
    """As `verify`, of mu. Raises InvalidSignatureError, and ValueError unless it has 64 bytes."""
    check_representative(mu)
    check_signature(public.set, signature)
    check_engine(accelerator.interface, public.set, [])
    values = {"pk": public.key, "mu": mu, "signature": signature}
    try:
        accelerator.call(VERIFY, values, parameter_set=public.set.name, read=[])
    except EngineError as error:
        if error.code is not Error.SIGNATURE:
            raise
        raise InvalidSignatureError from None


def check_signature(key_set: KeySet, signature: bytes) -> None:
    """Raise ValueError unless a signature has the length of the parameter set."""
    check_set(key_set, ML_DSA)
    wanted = ML_DSA[key_set.name].parameters.signature_bytes
    if len(signature) != wanted:
        raise ValueError(
            f"a signature of {key_set.name} has {wanted:,} bytes, not {len(signature):,}"
        )


def check_representative(mu: bytes) -> None:
    """Raise ValueError unless mu has 64 bytes."""
    if len(mu) != HASH_BYTES:
        raise ValueError(f"mu has {HASH_BYTES} bytes, not {len(mu):,}")


def check_engine(interface: EngineInterface, key_set: KeySet, secret: Collection[str]) -> None:
    """Raise ValueError unless an engine has the parameter set, and these secret slots can be read.

    ValueError too for a parameter set that is not of ML-DSA.
    """
    check_set(key_set, ML_DSA)
    accelerators.check_engine(interface, key_set, secret)


def _digest(prehash: str, parts: Iterable[bytes]) -> bytes:
    if prehash in _XOFS:
        function, length = _XOFS[prehash]
        squeezed = function()
        for part in parts:
            squeezed.update(part)
        return squeezed.digest(length)
    state = hashlib.new(prehash)
    for part in parts:
        state.update(part)
    return state.digest()


def _mu(tr: bytes, message: Message, framing: Framing) -> bytes:
    state = hashlib.shake_256(tr)
    for part in framing.parts(message):
        state.update(part)
    return state.digest(HASH_BYTES)


def _sign(
    accelerator: Calls,
    private: LatticePrivateKey,
    representative_of: Callable[[bytes], bytes],
    deterministic: bool,
) -> bytes:
    """A signature of mu, which follows from tr, the hash of the public key."""
    check_engine(accelerator.interface, private.set, [])
    values = {"rnd": bytes(SEED_BYTES) if deterministic else secrets.token_bytes(SEED_BYTES)}
    with wiping(accelerator):
        if private.expanded is None:
            tr = hashed(_KEY_PAIR.expand(accelerator, private, ["pk"])["pk"], HASH_BYTES)
        else:
            values["sk"] = private.expanded
            tr = private.expanded[2 * SEED_BYTES :][:HASH_BYTES]
        values["mu"] = representative_of(tr)
        done = accelerator.call(SIGN, values, parameter_set=private.set.name, read=["signature"])
    return done.outputs["signature"]
