"""The numbers that a testbench works on where messages are padded in hardware.

The random bytes are those of the generator in `random.v.j2`, so that the result is known. It is
computed here, and `cryptography` must accept it before it is written down.
"""

import hashlib
from functools import cached_property

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding as reference
from cryptography.hazmat.primitives.asymmetric.padding import AsymmetricPadding

from coprime.bus import registers
from coprime.engine.contract import Capabilities, Error
from coprime.padding.scheme import Scheme
from coprime.rsa import keys
from coprime.rsa.padding import (
    EncryptionPadding,
    Oaep,
    Pkcs1Encryption,
    Pkcs1Signature,
    Pss,
    SignaturePadding,
)

from ..description import Description
from .random_bytes import random_bytes
from .vectors import SampleNumbers

_BITS, _PSS_BITS = 544, 288
"""Bits of the modulus that OAEP and signatures have room in, and of one for PSS alone."""
_SHORT_BITS = 72
"""Bits of a modulus in which no padding has room, and which is not too short to be padded."""
_SALT = 2
_MOST_CYCLES = 100_000
"""Of a private operation with padding: half a minute in Icarus. A slower one is left out."""
_MESSAGE = b"Hi"
_DIGEST = hashlib.sha256(_MESSAGE).digest()


class PaddedNumbers:
    """Keys, messages and signatures for the checks of the padding unit.

    Parameters
    ----------
    own : the design; its `paddings` are those that are checked
    engine : what its engine can do
    """

    message, digest = int.from_bytes(_MESSAGE), int.from_bytes(_DIGEST)
    other_digest = int.from_bytes(_DIGEST[::-1])
    salt_length = _SALT
    digest_address = registers.PADDING_WINDOW.address + 96
    """Where the digest of a message whose signature is verified goes."""

    def __init__(self, description: Description, engine: Capabilities):
        self.own, self.engine = description, engine
        self.are_checked = bool(description.paddings) and engine.fixed_modulus is None
        self.key_fits = engine.max_length >= _BITS
        self.schemes = [scheme for padding in description.paddings for scheme in padding.schemes]
        self.oaep_alone = self.schemes == [Scheme.OAEP]

    @cached_property
    def key(self) -> keys.RsaPrivateKey:
        """For encryption, and for signatures that are verified."""
        return keys.generate(_BITS, e=3, seed=2)

    @cached_property
    def short_key(self) -> keys.RsaPrivateKey:
        """Too short for every padding."""
        return keys.generate(min(_SHORT_BITS, self.engine.max_length), e=3, seed=2)

    @cached_property
    def pss_key(self) -> keys.RsaPrivateKey:
        """For signatures with PSS."""
        return keys.generate(_PSS_BITS, e=3, seed=2)

    def of(self, key: keys.RsaPrivateKey) -> SampleNumbers:
        """The numbers of a key."""
        return SampleNumbers(self.engine, key.n, key)

    def ciphertext(self, scheme: Scheme) -> int:
        """The message, encrypted with random bytes.

        Raises AssertionError if `cryptography` does not decrypt it.
        """
        encoder: EncryptionPadding = Oaep(random=random_bytes(self.own.source))
        theirs: AsymmetricPadding = _OAEP
        if scheme is Scheme.PKCS1:
            encoder, theirs = Pkcs1Encryption(random_bytes(self.own.source)), reference.PKCS1v15()
        key = self.key
        ciphertext = pow(int.from_bytes(encoder.encode(_MESSAGE, key.bits)), key.e, key.n)
        if keys.library_key(key).decrypt(ciphertext.to_bytes(key.size), theirs) != _MESSAGE:
            raise AssertionError(f"cryptography does not decrypt the ciphertext of {scheme.name}")
        return ciphertext

    def signature(self, scheme: Scheme, key: keys.RsaPrivateKey) -> int:
        """Of the message; with PSS, its salt is random bytes."""
        encoder: SignaturePadding = Pss(salt_length=_SALT, random=random_bytes(self.own.source))
        theirs: AsymmetricPadding = _PSS
        if scheme is Scheme.PKCS1_SIGNATURE:
            encoder, theirs = Pkcs1Signature(), reference.PKCS1v15()
        signature = pow(int.from_bytes(encoder.encode(_MESSAGE, key.bits)), key.d, key.n)
        keys.library_key(key).public_key().verify(
            signature.to_bytes(key.size), _MESSAGE, theirs, hashes.SHA256()
        )
        return signature

    def is_quick(self, key: keys.RsaPrivateKey) -> bool:
        """Whether the engine holds the key, and its private operation takes few cycles."""
        if not self.engine.private:
            return False
        done = self.of(key).private_vector(2).predicted(self.own.core.design)
        return done.error is Error.NONE and done.cycles <= _MOST_CYCLES

    def setting(self, scheme: int, salt_length: int) -> int:
        """PADDING for a scheme."""
        values = {"SCHEME": scheme, "DIGEST_INFO": 1, "SALT_LENGTH": salt_length}
        return sum(value << registers.PADDING[name].offset for name, value in values.items())

    def start(self, private: bool) -> int:
        """STATUS, which starts an operation."""
        status = registers.STATUS
        return status["START"].mask | (status["DECRYPT"].mask if private else 0)


_MGF1 = reference.MGF1(hashes.SHA256())
_OAEP = reference.OAEP(_MGF1, hashes.SHA256(), None)
_PSS = reference.PSS(_MGF1, _SALT)
