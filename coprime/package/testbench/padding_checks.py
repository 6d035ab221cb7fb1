"""What the testbench of an accelerator with paddings does beside: a message is padded in hardware.

The random bytes are those of the generator in `random.v`, so that the result is known. It is
computed here, and `cryptography` must accept it before it is written down.
"""

import hashlib
from collections.abc import Callable

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding as reference
from cryptography.hazmat.primitives.asymmetric.padding import AsymmetricPadding

from coprime.bus import registers
from coprime.engine.contract import Error, Length, Operand
from coprime.engine.precomputation import private_operation
from coprime.model.padding_formats import bytes_of
from coprime.padding.scheme import Padding, Scheme
from coprime.rsa import keys
from coprime.rsa.padding import EncryptionPadding, Oaep, Pkcs1Encryption, Pkcs1Signature, Pss

from ..description import Description
from .accelerator_checks import LENGTH_REGISTERS, SampleNumbers
from .script import Script

__all__ = ["SEED", "PaddingChecks", "random_bytes"]

SEED = 2463534242
"""Of the random bytes."""
_BITS, _PSS_BITS = 544, 288
"""Bits of the modulus that OAEP and signatures have room in, and of one for PSS alone."""
_SHORT_BITS = 72
"""Bits of a modulus in which no padding has room, and which is not too short to be padded."""
_SALT = 2
_MOST_CYCLES = 100_000
"""Of a private operation with padding: half a minute in Icarus. A slower one is left out."""
_MESSAGE = b"Hi"
_DIGEST = hashlib.sha256(_MESSAGE).digest()
_DIGEST_WORD = registers.PADDING_WINDOW.address + 96
"""Where the digest of a message whose signature is verified goes."""


def random_bytes(seed: int = SEED) -> Callable[[int], bytes]:
    """The bytes of the testbench's generator, from its seed on."""
    state = seed

    def draw(count: int) -> bytes:
        nonlocal state
        found = bytearray()
        for _ in range(count):
            found.append(state & 0xFF)
            state ^= state << 13 & 0xFFFFFFFF
            state ^= state >> 17
            state ^= state << 5 & 0xFFFFFFFF
        return bytes(found)

    return draw


class PaddingChecks:
    """Writes the checks of the padding unit into a script.

    Parameters
    ----------
    own : the design; its `paddings` are those that are checked
    numbers : of the other operations
    script : what is written to
    """

    def __init__(self, own: Description, numbers: SampleNumbers, script: Script):
        self.own = own
        self.engine = numbers.own
        self.script = script

    def write(self) -> None:
        """All checks."""
        if not self.own.paddings or self.engine.fixed_modulus is not None:
            return
        self.script.write(registers.INTERRUPT_ENABLE, 1)
        self._refusals()
        if self.engine.max_length < _BITS:
            return
        key = keys.generate(_BITS, e=3, seed=2)
        self.script.section(f"Paddings with a key of {_BITS} bits")
        self._load_public(key)
        if Padding.PKCS1 in self.own.paddings:
            self._encrypt(Scheme.PKCS1, key)
            self._verify(Scheme.PKCS1_SIGNATURE, key)
        if Padding.OAEP in self.own.paddings:
            self._encrypt(Scheme.OAEP, key)
        if Padding.PSS in self.own.paddings:
            self._verify(Scheme.PSS, key)
            self._sign(keys.generate(_PSS_BITS, e=3, seed=2))
        if self.own.paddings == (Padding.OAEP,):  # whose only PADDING it is
            self._decrypt_wrong(key)

    def _refusals(self) -> None:
        do = self.script
        do.section("Paddings that are refused")
        bits = min(_SHORT_BITS, self.engine.max_length)
        self._load_public(keys.generate(bits, e=3, seed=2))
        built_in = [scheme for padding in self.own.paddings for scheme in padding.schemes]
        do.give(1, 8)
        self._start(built_in[0])
        do.expect_error("PADDING_LENGTH: the modulus is too short", Error.PADDING_LENGTH)
        absent = next(code for code in range(1, 8) if code not in list(built_in))
        do.give(1, 8)
        self._start(absent)
        do.expect_error("UNSUPPORTED: a padding that is not built in", Error.UNSUPPORTED)
        do.write(registers.PADDING, 0)

    def _encrypt(self, scheme: Scheme, key: keys.RsaPrivateKey) -> None:
        encoder: EncryptionPadding = Oaep(random=random_bytes())
        theirs: AsymmetricPadding = _OAEP
        if scheme is Scheme.PKCS1:
            encoder, theirs = Pkcs1Encryption(random_bytes()), reference.PKCS1v15()
        encoded = int.from_bytes(encoder.encode(_MESSAGE, key.bits))
        ciphertext = pow(encoded, key.e, key.n)
        if (
            keys.library_key(key).decrypt(ciphertext.to_bytes(bytes_of(key.bits)), theirs)
            != _MESSAGE
        ):
            raise AssertionError(f"cryptography does not decrypt the ciphertext of {scheme.name}")
        do = self.script
        do.give(int.from_bytes(_MESSAGE), 8 * len(_MESSAGE))
        do.call("seed_random")
        self._start(scheme)
        do.expect_result(f"{scheme.name}: encryption with random bytes", ciphertext, key.bits)

    def _verify(self, scheme: Scheme, key: keys.RsaPrivateKey) -> None:
        """A signature that is right, then one of another message."""
        theirs = {Scheme.PKCS1_SIGNATURE: reference.PKCS1v15(), Scheme.PSS: _PSS}[scheme]
        encoder = Pkcs1Signature() if scheme is Scheme.PKCS1_SIGNATURE else _pss()
        signature = pow(int.from_bytes(encoder.encode(_MESSAGE, key.bits)), key.d, key.n)
        keys.library_key(key).public_key().verify(
            signature.to_bytes(bytes_of(key.bits)), _MESSAGE, theirs, hashes.SHA256()
        )
        do, name = self.script, scheme.name
        for digest, title, error in (
            (_DIGEST, f"{name}: a signature is verified", Error.NONE),
            (_DIGEST[::-1], f"PADDING: {name} of another message", Error.PADDING),
        ):
            value = do.number(int.from_bytes(digest), 256)
            do.call("write_window", f"12'h{_DIGEST_WORD:03x}", 8, value)
            do.give(signature, key.bits)
            self._start(scheme, SALT_LENGTH=_SALT)
            do.expect_error(title, error)
            do.expect_no_result("... and the decrypted signature cannot be read", key.bits)

    def _sign(self, key: keys.RsaPrivateKey) -> None:
        if not self._is_quick(key):
            return
        signature = pow(int.from_bytes(_pss().encode(_MESSAGE, key.bits)), key.d, key.n)
        keys.library_key(key).public_key().verify(
            signature.to_bytes(bytes_of(key.bits)), _MESSAGE, _PSS, hashes.SHA256()
        )
        do = self.script
        self._load_private(key)
        do.give(int.from_bytes(_DIGEST), 256)
        do.call("seed_random")
        self._start(Scheme.PSS, private=True, SALT_LENGTH=_SALT)
        do.expect_result("PSS: signature with a random salt", signature, key.bits)

    def _decrypt_wrong(self, key: keys.RsaPrivateKey) -> None:
        if not self._is_quick(key):
            return
        do = self.script
        self._load_private(key)
        do.give(2, key.bits)
        self._start(Scheme.OAEP, private=True)
        do.expect_error("PADDING: OAEP of something that is no ciphertext", Error.PADDING)
        do.expect_no_result("... and no message can be read", key.bits)

    # --- Loading and starting -------------------------------------------------------------------

    def _load_public(self, key: keys.RsaPrivateKey) -> None:
        do, numbers = self.script, SampleNumbers(self.engine, key.n, key)
        do.write(registers.MODULUS_LENGTH, key.bits)
        do.write(registers.EXPONENT_LENGTH, key.e.bit_length())
        do.load_all(numbers.modulus_operands())
        do.load(Operand.E, key.e.bit_length(), key.e)

    def _load_private(self, key: keys.RsaPrivateKey) -> None:
        operands, lengths = SampleNumbers(self.engine, key.n, key).private_operands()
        for length, bits in lengths.items():
            self.script.write(LENGTH_REGISTERS[length], bits)
        self.script.load_all(operands)

    def _is_quick(self, key: keys.RsaPrivateKey) -> bool:
        """Whether the engine holds the key, and its private operation takes few cycles."""
        if not self.engine.private:
            return False
        operands, lengths = private_operation(self.engine, key)
        if max(lengths[Length.P], lengths[Length.Q]) > self.engine.max_prime_length:
            return False
        design = self.own.core.design
        (private,) = self.engine.private
        done = design.predict(private, {**operands, Operand.X: 2}, lengths)
        return done.error is Error.NONE and done.cycles <= _MOST_CYCLES

    def _start(self, scheme: int, *, private: bool = False, **fields: int) -> None:
        """Start with a padding, and wait for the end."""
        do, status = self.script, registers.STATUS
        values = {"SCHEME": int(scheme), "DIGEST_INFO": 1, **fields}
        register = registers.PADDING
        do.write(register, sum(value << register[name].offset for name, value in values.items()))
        do.write(status, status["START"].mask | (status["DECRYPT"].mask if private else 0))
        do.call("await_end")


_MGF1 = reference.MGF1(hashes.SHA256())
_OAEP = reference.OAEP(_MGF1, hashes.SHA256(), None)
_PSS = reference.PSS(_MGF1, _SALT)


def _pss() -> Pss:
    return Pss(salt_length=_SALT, random=random_bytes())
