"""What a wrong PKCS #1 v1.5 padding decrypts to, after section 7 of the implementation guidance."""

import hmac


def synthetic(secret, ciphertext):
    """The message that stands for a wrong padding.

    `secret` is SHA-256 of the private exponent; the ciphertext is as long as the modulus.
    """
    size = len(ciphertext)
    kdk = hmac.digest(secret, ciphertext, "sha256")

    def derive(label, length):
        count = -(-length // 32)
        bits = (8 * length).to_bytes(2)
        data = b"".join(
            hmac.digest(kdk, k.to_bytes(2) + label + bits, "sha256") for k in range(count)
        )
        return data[:length]

    lengths, alternative = derive(b"length", 256), 0
    mask = (1 << (size - 10).bit_length()) - 1
    for k in range(0, 256, 2):
        candidate = int.from_bytes(lengths[k : k + 2]) & mask
        if candidate < size - 10:
            alternative = candidate
    return derive(b"message", size)[size - alternative :]
