"""The driver of an accelerator that adds and removes paddings in hardware."""

import hashlib

from coprime.bus import registers
from coprime.device.accelerator import Accelerator
from coprime.device.base import Device, write_block
from coprime.device.jobs import EngineError, Job, Predict, words_of
from coprime.engine.contract import Error
from coprime.model.padding_formats import DIGEST_BYTES
from coprime.padding.scheme import Padding, Scheme

_SECRET, _LABEL, _SALT, _MESSAGE = range(0, 4 * DIGEST_BYTES, DIGEST_BYTES)


class PaddedAccelerator(Accelerator):
    """The driver of one accelerator with paddings.

    Messages are bytes; a ciphertext or a signature is as long as the modulus. Besides the errors of
    `Accelerator`, EngineError is raised with INPUT_CLIPPED for a message that is too long for the
    padding, with PADDING_LENGTH for a modulus that is too short, with UNSUPPORTED for a scheme that
    is not built in, and with PADDING for a wrong padding (unless that is secret), and for a
    ciphertext or a signature that is not as long as the modulus.

    Parameters
    ----------
    device, timeout, predict : as `Accelerator`

    Attributes
    ----------
    paddings (frozenset[Padding]): those that are built in
    """

    def __init__(
        self, device: Device, *, timeout: float | None = None, predict: Predict | None = None
    ):
        super().__init__(device, timeout=timeout, predict=predict)
        found = registers.CAPABILITIES["PADDINGS"].of(self._read(registers.CAPABILITIES))
        self.paddings = frozenset(padding for k, padding in enumerate(Padding) if found >> k & 1)

    def encrypt(
        self, message: bytes, scheme: Scheme = Scheme.OAEP, *, label: bytes | None = None
    ) -> bytes:
        """Pad, with random bytes from the hardware, and encrypt with the last loaded public key."""
        return self._pad(self._public_key(), message, scheme, private=False, label=label)

    def decrypt(
        self, ciphertext: bytes, scheme: Scheme = Scheme.OAEP, *, label: bytes | None = None
    ) -> bytes:
        """Decrypt with the last loaded private key, and remove the padding.

        A wrong PKCS #1 v1.5 padding yields a substitute message and no error.

        Raises ValueError if no private key is loaded.
        """
        job, key = self._private_job, self._private
        if job is None or key is None:
            raise ValueError("no private key is loaded")
        if scheme is Scheme.PKCS1:
            size = (key.n.bit_length() + 7) // 8
            self._put_slot(_SECRET, hashlib.sha256(key.d.to_bytes(size)).digest())
        return self._pad(job, ciphertext, scheme, private=True, label=label)

    def sign(
        self,
        data: bytes,
        scheme: Scheme = Scheme.PSS,
        *,
        hashes: bool = False,
        identifier: bool = True,
        salt: bytes | int = 32,
    ) -> bytes:
        """Pad and sign with the last loaded private key. The signature is not checked.

        Raises ValueError if no private key is loaded.

        Parameters
        ----------
        data : a SHA-256 digest, or, if the hardware `hashes`, a message up to the modulus's length
        scheme : PSS or PKCS1_SIGNATURE
        identifier : whether a PKCS #1 v1.5 signature contains the identifier of SHA-256; otherwise
            the data may be anything that fits
        salt : PSS's salt, up to 32 bytes, or its number of random bytes
        """
        job = self._private_job
        if job is None:
            raise ValueError("no private key is loaded")
        given = isinstance(salt, bytes)
        if not hashes and (scheme == Scheme.PSS or identifier):
            _check_digest(data)
        _check_salt(len(salt) if isinstance(salt, bytes) else salt)
        if isinstance(salt, bytes):
            self._put_slot(_SALT, salt.ljust(DIGEST_BYTES, b"\0"))
        return self._pad(
            job,
            data,
            scheme,
            private=True,
            HASH=hashes,
            DIGEST_INFO=identifier,
            SALT=given,
            SALT_LENGTH=len(salt) if isinstance(salt, bytes) else salt,
        )

    def verify(
        self, digest: bytes, signature: bytes, scheme: Scheme = Scheme.PSS, *, salt_length: int = 32
    ) -> None:
        """Return if the signature is valid for this SHA-256 digest, with the last public key."""
        _check_digest(digest)
        _check_salt(salt_length)
        self._put_slot(_MESSAGE, digest)
        job = self._public_key()
        self._pad(job, signature, scheme, private=False, SALT_LENGTH=salt_length)

    def _public_key(self) -> Job:
        if self._public_job is None:
            raise ValueError("no public key is loaded")
        return self._public_job

    def _pad(
        self,
        job: Job,
        data: bytes,
        scheme: Scheme,
        *,
        private: bool,
        label: bytes | None = None,
        **settings: int,
    ) -> bytes:
        """Run RSA_PRIVATE or RSA_PUBLIC with padding; `settings` are fields of PADDING."""
        size = (job.modulus_length + 7) // 8
        decodes = scheme != Scheme.NONE and private != Scheme(scheme).signs
        if decodes and len(data) != size:
            raise EngineError(Error.PADDING)
        if len(data) > size:
            raise EngineError(Error.INPUT_CLIPPED)
        self._load_now(job)
        if label is not None:
            self._put_slot(_LABEL, hashlib.sha256(label).digest())
        settings |= {"SCHEME": scheme, "LABEL": label is not None}
        fields = registers.PADDING
        self._write(fields, sum(int(v) << fields[name].offset for name, v in settings.items()))
        self._put_input(words_of(int.from_bytes(data), 8 * len(data)))
        self._write(registers.INPUT_LENGTH, len(data))
        status = registers.STATUS
        start = status["START"].mask | (status["DECRYPT"].mask if private else 0)
        self._execute(start, status)
        count = self._read(registers.OUTPUT_LENGTH)
        words = self._get_output((count + 3) // 4)
        return b"".join(word.to_bytes(4, "little") for word in words)[:count][::-1]

    def _put_slot(self, first: int, value: bytes) -> None:
        """Write 32 bytes to PADDING_WINDOW, `first` bytes from its start."""
        address = registers.PADDING_WINDOW.address + first
        write_block(self._device, address, words_of(int.from_bytes(value), 8 * DIGEST_BYTES))


def _check_digest(digest: bytes) -> None:
    if len(digest) != DIGEST_BYTES:
        raise ValueError(f"a digest must have {DIGEST_BYTES} bytes, not {len(digest)}")


def _check_salt(length: int) -> None:
    if not 0 <= length <= DIGEST_BYTES:
        raise ValueError(f"a salt must have 0 to {DIGEST_BYTES} bytes, not {length}")
