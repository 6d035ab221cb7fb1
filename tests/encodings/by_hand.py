"""Key files made by hand, byte by byte: what no library writes."""

import base64
import hashlib
import os

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

SECRET = b"test"
EC, RSA = "06072a8648ce3d0201", "06092a864886f70d0101010500"


def element(tag, *parts):
    content = b"".join(parts)
    length = len(content)
    if length < 128:
        return bytes([tag, length]) + content
    size = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(size)]) + size + content


def sequence(*parts):
    return element(0x30, *parts)


def number(value):
    return element(2, value.to_bytes(value.bit_length() // 8 + 1))


def octets(content):
    return element(4, content)


def pem(label, data, head=""):
    text = base64.b64encode(data).decode()
    lines = [text[start : start + 64] for start in range(0, len(text), 64)]
    return f"-----BEGIN {label}-----\n{head}{chr(10).join(lines)}\n-----END {label}-----\n".encode()


def pkcs8(algorithm, key, *others, version=0):
    return sequence(number(version), sequence(bytes.fromhex(algorithm)), octets(key), *others)


def padded(data):
    count = 16 - len(data) % 16
    return data + bytes([count]) * count


def aes(key, vector, data):
    encryptor = Cipher(AES(key), CBC(vector)).encryptor()
    return encryptor.update(padded(data)) + encryptor.finalize()


def with_header(label, data):
    """Encrypted as OpenSSL did before PKCS #8."""
    vector = os.urandom(16)
    key = hashlib.md5(SECRET + vector[:8]).digest()
    head = f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{vector.hex().upper()}\n\n"
    return pem(label, aes(key, vector, data), head)


def pbes2(data):
    """EncryptedPrivateKeyInfo."""
    salt, vector = os.urandom(8), os.urandom(16)
    key = hashlib.pbkdf2_hmac("sha256", SECRET, salt, 1000, 16)
    prf = sequence(bytes.fromhex("06082a864886f70d02090500"))
    derivation = sequence(octets(salt), number(1000), prf)
    pbkdf2, cipher = "06092a864886f70d01050c", "060960864801650304010" + "2"
    scheme = sequence(
        sequence(bytes.fromhex(pbkdf2), derivation),
        sequence(bytes.fromhex(cipher), octets(vector)),
    )
    named = sequence(bytes.fromhex("06092a864886f70d01050d"), scheme)
    return sequence(named, octets(aes(key, vector, data)))


def string(content):
    """A field of OpenSSH."""
    return len(content).to_bytes(4) + content


def openssh(kind, *fields, public=b""):
    """Of OpenSSH, not encrypted."""
    inner = bytes(8) + b"".join(map(string, (kind, *fields, b"a comment")))
    inner += bytes(range(1, 1 + -len(inner) % 8))
    parts = (b"none", b"none", b"")
    data = b"openssh-key-v1\0" + b"".join(map(string, parts)) + (1).to_bytes(4)
    return pem("OPENSSH PRIVATE KEY", data + string(public) + string(inner))
