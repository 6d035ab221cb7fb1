"""Key files of any kind: which key they hold, whatever form it has.

    info = read_private(Path("key.pem").read_bytes(), b"passphrase")  # PrivateKeyInfo

The structure is read here, and not by a library: programs write keys that libraries refuse, such as
numbers with a zero left out, and what is wrong with a key is said as it is, even after decryption.
"""

from . import der, key_info, openssh, other_files, pem
from .encryption import decrypt, decrypt_with_header, encrypt
from .errors import KeyFileError, PassphraseMissingError, WrongPassphraseError
from .key_info import EncryptedKeyInfo, PrivateKeyInfo, PublicKeyInfo

_PRIVATE = (
    *("PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"),
    *("DSA PRIVATE KEY", openssh.PEM_LABEL),
)
_PUBLIC = ("PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE", "X509 CERTIFICATE")
_CURVE = "EC PARAMETERS"


def read_private(data: bytes, secret: bytes | None) -> PrivateKeyInfo | None:
    """The first private key in PEM, or that in DER; None if there is none, or it is corrupt.

    Raises KeyFileError: passphrase wrong or missing, an unknown encryption.
    """
    if not pem.is_pem(data):
        return _read_der(data, secret)
    curve = None
    for block in pem.blocks(data):
        if block.label == _CURVE:
            curve = block.content
        if block.label not in _PRIVATE:
            continue
        if block.label == openssh.PEM_LABEL:
            return openssh.read_private(block.content, secret)
        if "DEK-Info" in block.headers:
            if not secret:
                raise PassphraseMissingError
            plain = decrypt_with_header(block.headers["DEK-Info"], block.content, secret)
            info = _whole(plain, secret)
        else:
            info = _read_der(block.content, secret)
        return _on_curve(info, curve)
    return None


def read_public(data: bytes) -> PublicKeyInfo | None:
    """The first public key in PEM, or that in DER or in a line of OpenSSH; None if there is none.

    A certificate's key is read; who has signed it is not checked.
    """
    if openssh.is_line(data):
        return openssh.read_line(data)
    if not pem.is_pem(data):
        return key_info.read_public(data)
    block = next((candidate for candidate in pem.blocks(data) if candidate.label in _PUBLIC), None)
    return None if block is None else key_info.read_public(block.content)


def is_private(data: bytes) -> bool:
    """Whether a file holds a private key, encrypted or not, or says that it does."""
    if b"PRIVATE KEY-----" in data:
        return True
    return not pem.is_pem(data) and key_info.read_private(data) is not None


def write_private(info: PrivateKeyInfo, secret: bytes | None, *, is_pem: bool) -> bytes:
    """A private key as PKCS #8, in PEM or DER, encrypted if there is a passphrase.

    Raises ValueError if the passphrase is empty.
    """
    label, data = "PRIVATE KEY", info.encoded
    if secret is not None:
        label, data = "ENCRYPTED PRIVATE KEY", encrypt(data, secret)
    return pem.write(label, data) if is_pem else data


def write_public(info: PublicKeyInfo, *, is_pem: bool) -> bytes:
    """A public key as SubjectPublicKeyInfo, in PEM or DER."""
    return pem.write("PUBLIC KEY", info.encoded) if is_pem else info.encoded


def no_key(data: bytes, kind: str) -> KeyFileError:
    """The error about data in which there is no key of this kind: private or public."""
    return KeyFileError(other_files.reason(data, kind))


def _read_der(data: bytes, secret: bytes | None) -> PrivateKeyInfo | None:
    found = key_info.read_private(data)
    if not isinstance(found, EncryptedKeyInfo):
        return found
    if not secret:
        raise PassphraseMissingError
    try:
        plain = decrypt(found.algorithm, found.data, secret)
    except ValueError:
        return None
    return _whole(plain, secret)


def _whole(plain: bytes, secret: bytes) -> PrivateKeyInfo | None:
    """The key in what was decrypted, whose passphrase is right if it is a whole SEQUENCE."""
    try:
        der.read(plain).parts()
    except ValueError:
        raise WrongPassphraseError from None
    info = key_info.read_private(plain)
    if isinstance(info, PrivateKeyInfo):
        return info
    raise KeyFileError("what is encrypted in the file is no private key")


def _on_curve(info: PrivateKeyInfo | None, curve: bytes | None) -> PrivateKeyInfo | None:
    """A key whose curve is in a block of its own, if nothing in the key names one."""
    if info is None or info.algorithm != key_info.EC or info.parameters or not curve:
        return info
    try:
        return PrivateKeyInfo(info.algorithm, der.read(curve), info.key, info.public)
    except ValueError:
        return info
