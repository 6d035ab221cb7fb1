"""The formats of the paddings of RFC 8017 with SHA-256, and implicit rejection, in integers.

Sources: RFC 8017, "PKCS #1: RSA Cryptography Specifications Version 2.2" (2016), sections 7.1, 7.2,
9.1 and 9.2; for implicit rejection Kario, "Implementation Guidance for the PKCS #1 RSA Cryptography
Specification", section 7: a ciphertext with a wrong padding of PKCS #1 v1.5 decrypts to a message
that depends on the key and on nothing that a sender can know.
"""

import hmac

DIGEST_BYTES = 32
DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
"""The bytes before a SHA-256 digest in a PKCS #1 v1.5 signature (RFC 8017, 9.2, note 1)."""
MIN_FILLER_BYTES = 8  # minimum number of bytes between type and message in PKCS #1 v1.5
PKCS1_BYTES = MIN_FILLER_BYTES + 3
"""Bytes of an encoded message besides the message; so are the next two."""
OAEP_BYTES = 2 * DIGEST_BYTES + 2
PSS_BYTES = DIGEST_BYTES + 2
CANDIDATES = 128
"""Candidates for the length of the message that replaces a wrong padding, two bytes each."""


def bytes_of(bits: int) -> int:
    """Bytes of a number of `bits` bits."""
    return (bits + 7) // 8


def candidate_limit(size: int) -> int:
    """Candidates below it can be lengths, for a modulus of `size` bytes."""
    return size - PKCS1_BYTES + 1


def candidate_mask(limit: int) -> int:
    """Ones up to the highest 1 of a limit: the bits of a candidate that are used."""
    return (1 << limit.bit_length()) - 1


def alternative_length(candidates: bytes, size: int) -> int:
    """Length of the message that replaces a wrong padding: the last candidate that can be one."""
    limit, found = candidate_limit(size), 0
    for k in range(0, len(candidates), 2):
        candidate = int.from_bytes(candidates[k : k + 2]) & candidate_mask(limit)
        if candidate < limit:
            found = candidate
    return found


def rejection_message(secret: bytes, ciphertext: bytes) -> bytes:
    """The message that replaces a wrong padding of PKCS #1 v1.5.

    Parameters
    ----------
    secret : SHA-256 of the private exponent, encoded in as many bytes as the modulus has
    ciphertext : as long as the modulus
    """
    size = len(ciphertext)
    key = hmac.digest(secret, ciphertext, "sha256")

    def derive(label: bytes, length: int) -> bytes:
        end = label + (8 * length).to_bytes(2)
        blocks = -(-length // DIGEST_BYTES)
        return b"".join(hmac.digest(key, k.to_bytes(2) + end, "sha256") for k in range(blocks))[
            :length
        ]

    length = alternative_length(derive(b"length", 2 * CANDIDATES), size)
    return derive(b"message", size)[size - length :]
