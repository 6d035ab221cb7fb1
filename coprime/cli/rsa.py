"""`coprime rsa`: keys, encryption and signatures on any device."""

import argparse
import secrets
import sys
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from coprime.catalog import most_bits
from coprime.flow.files import create_file
from coprime.operations.lengths import Lengths
from coprime.rsa import keys, operations
from coprime.rsa.generation import Generation
from coprime.rsa.padding import (
    EncryptionPadding,
    Oaep,
    Pkcs1Encryption,
    Pkcs1Signature,
    Pss,
    SignaturePadding,
)

from .digests import read_digest
from .key_files import (
    check_new_files,
    check_output,
    load_private,
    load_public,
    new_passphrase,
)
from .open_devices import open_device
from .options import read_input
from .output import deliver, print_json, report_work
from .validity import report_validity

SHORT = 1024
"""Keys of fewer bits are warned of: one of 829 bits has been factored (RSA-250, 2020)."""


# --- Options ------------------------------------------------------------------------------------


def _encryption_padding(options: argparse.Namespace) -> EncryptionPadding:
    if options.padding == "pkcs1":
        _refuse(options, "hash", "mgf_hash", "label")
        return Pkcs1Encryption()
    return Oaep(
        hash=options.hash or "sha256", mgf_hash=options.mgf_hash, label=options.label or b""
    )


def _signature_padding(options: argparse.Namespace) -> SignaturePadding:
    """A padding of digests: messages are hashed as they are read."""
    if options.padding == "pkcs1":
        _refuse(options, "mgf_hash", "salt_length")
        return Pkcs1Signature(hash=_hash(options), prehashed=True)
    return Pss(
        hash=_hash(options),
        mgf_hash=options.mgf_hash,
        salt_length="auto" if options.salt_length is None else options.salt_length,
        prehashed=True,
    )


def _hash(options: argparse.Namespace) -> str:
    return options.hash or "sha256"


def _digest(options: argparse.Namespace) -> bytes:
    return read_digest(options, _hash(options), given=options.digest)


def _refuse(options: argparse.Namespace, *names: str) -> None:
    """Refuse options that PKCS #1 v1.5 has no use for."""
    for name in names:
        if getattr(options, name) is not None:
            raise ValueError(f"--padding pkcs1 takes no --{name.replace('_', '-')}")


# --- Verbs --------------------------------------------------------------------------------------


def run_keygen(options: argparse.Namespace) -> None:
    """Make a key pair.

    Raises ValueError for lengths and exponents out of range.
    """
    check_new_files(options.output, options.public)
    least, most = keys.MIN_BITS, most_bits()
    if not least <= options.bits <= most:
        raise ValueError(
            f"--bits must be in {least}..{most}, as no family takes more, not {options.bits}"
        )
    if options.device is not None:
        if options.p_bits is not None:
            raise ValueError("--p-bits is for keys that are made without --device")
        Generation.check(options.bits, options.exponent)
    secret = new_passphrase(options)
    key = _generate(options)
    if key.bits < SHORT:
        print(
            f"coprime: a modulus of {key.bits} bits is too short to be safe: use this key for tests"
            " only",
            file=sys.stderr,
        )
    if options.public is not None:
        create_file(options.public, keys.public_pem(key.public))
    create_file(options.output, keys.private_pem(key, secret), secret=True)
    if options.json:
        print_json(
            {
                "bits": key.bits,
                "exponent": key.e,
                "modulus": f"{key.n:x}",
                "encrypted": secret is not None,
                "output": str(options.output),
                "public": None if options.public is None else str(options.public),
            }
        )


@dataclass(frozen=True)
class _NewPrime:
    """What a device is to take: numbers as long as one of a new key's primes."""

    bits: int  # of the prime
    n: None = None

    @property
    def lengths(self) -> Lengths:
        """Of the exponentiations."""
        return Lengths(self.bits, exponent=self.bits)


def _generate(options: argparse.Namespace) -> keys.RsaPrivateKey:
    """Make the key: its primes are tested by the device, if there is one."""
    bits, e, seed = options.bits, options.exponent, options.seed
    if options.device is None:
        return keys.generate(bits, e, p_bits=options.p_bits, seed=seed)
    bits_of = secrets.randbits if seed is None else Random(seed).getrandbits
    with open_device(options.device, _NewPrime(bits // 2)) as accelerator:
        generation = Generation(accelerator, bits, e, bits_of=bits_of)
        cycles = generation.measure()
        report_work(
            f"about {generation.expected:.0f} exponentiations of {bits // 2} bits, with {cycles:,}"
            f" cycles each: {generation.expected * cycles:,.0f} cycles"
        )
        key = generation.key(lambda: _report_primes(1, generation))
    _report_primes(2, generation)
    return key


def _report_primes(count: int, generation: Generation) -> None:
    print(
        f"coprime: {count} of 2 primes after {generation.exponentiations} exponentiations,"
        f" {generation.cycles:,} cycles",
        file=sys.stderr,
    )


def _transform(verb: str, options: argparse.Namespace) -> None:
    """Check the options, then do an operation on the input and write what it returns.

    What is decrypted is readable by its owner only, as keys are.
    """
    decodes = verb == "decrypt"
    check_output(options.output, key=options.key)
    padding: Any = _signature_padding(options) if verb == "sign" else _encryption_padding(options)
    key: Any = load_public(options) if verb == "encrypt" else load_private(options)
    data = _digest(options) if verb == "sign" else read_input(options)
    # An input that does not fit is refused before a device is built.
    if decodes:
        operations.check_ciphertext(data, key)
    else:
        padding.encode(data, key.bits)
    with open_device(options.device, key) as accelerator:
        result = getattr(operations, verb)(accelerator, key, data, padding)
    record = _record(options, verb, key)
    deliver(options, _RESULTS[verb], result, record, secret=decodes)


run_encrypt = partial(_transform, "encrypt")
run_decrypt = partial(_transform, "decrypt")
run_sign = partial(_transform, "sign")
_RESULTS = {"encrypt": "ciphertext", "decrypt": "message", "sign": "signature"}
"""What each verb makes."""


def _record(options: argparse.Namespace, verb: str, key: keys.RsaPublicKey) -> dict[str, object]:
    """What --json says of an operation."""
    named = None if (options.padding, verb) in _WITHOUT_HASH else _hash(options)
    return {"operation": verb, "bits": key.bits, "padding": options.padding, "hash": named}


_WITHOUT_HASH = [("pkcs1", "encrypt"), ("pkcs1", "decrypt")]


def run_verify(options: argparse.Namespace) -> int:
    """Say whether a signature is valid; 1 if it is not."""
    padding = _signature_padding(options)
    key, signature = load_public(options), options.signature.read_bytes()
    value = _digest(options)

    def check() -> None:
        operations.check_signature(signature, key)
        with open_device(options.device, key) as accelerator:
            operations.verify(accelerator, key, value, signature, padding)

    return report_validity(options, _record(options, "verify", key), check)
