"""Files that are given for keys and are none: what each is, and how to get a key from it."""

import base64
import binascii
import re

from . import key_info, pem

_LABEL = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----")
_ARCHIVE = re.compile(rb"\x30(?:\x80|\x81.|\x82..|\x83...|\x84....)\x02\x01\x03\x30", re.DOTALL)
"""PFX of PKCS #12 (RFC 7292, section 4): a sequence that begins with version 3."""
_SEQUENCE = 0x30
_OF_PEM = {
    b"CERTIFICATE REQUEST": "a request for a certificate: take its public key with"
    " openssl req -in FILE -noout -pubkey",
    b"PKCS7": "certificates in PKCS #7: take them out with openssl pkcs7 -in FILE -print_certs",
    b"PGP PUBLIC KEY BLOCK": "a key of OpenPGP, which is not read: name one in PEM",
    b"PGP PRIVATE KEY BLOCK": "a key of OpenPGP, which is not read: name one in PEM",
    b"EC PARAMETERS": "only the parameters of a curve, without a key",
    b"DH PARAMETERS": "only the parameters of Diffie-Hellman, without a key",
    b"DSA PARAMETERS": "only the parameters of DSA, without a key",
}
_OF_BEGINNING = {
    b"---- BEGIN SSH2": "a public key in the form of RFC 4716: convert it with"
    " ssh-keygen -i -f FILE",
    b"PuTTY-User-Key-File": "a key of PuTTY: convert it with"
    " puttygen FILE -O private-openssh-new -o NEW",
    b"\xfe\xed\xfe\xed": "a key store of Java: write it as PKCS #12 with"
    " keytool -importkeystore -srckeystore FILE -destkeystore NEW -deststoretype PKCS12, and take"
    " the key out with openssl pkcs12",
    b"\x1f\x8b": "compressed: unpack it with gunzip",
    b"PK\x03\x04": "a ZIP archive: unpack it with unzip",
}
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
"""How text in UTF-16 and UTF-32 begins, if it has a mark for that."""
_TEXT_OF_KEYS = (b"-----BEGIN", b"ssh-", b"ecdsa-sha2-")


def reason(data: bytes, kind: str) -> str:
    """Say in a sentence why there is no key of this kind, private or public, in a file's bytes."""
    if not data.strip():
        return "the file is empty"
    for beginning, what in _OF_BEGINNING.items():
        if data.startswith(beginning):
            return f"the file is {what}"
    if data.startswith(_WIDE) or (b"\0" in data and _holds_text(data.replace(b"\0", b""))):
        return "the file is text in UTF-16 or UTF-32: write it again in ASCII or UTF-8"
    labels = [label.removeprefix(b"NEW ") for label in _LABEL.findall(data)]
    if labels:
        if labels[0] in _OF_PEM and len(set(labels)) == 1:
            return f"the file holds {_OF_PEM[labels[0]]}"
        return _of_blocks(data) or f"the file is corrupt or holds no {kind} key (PEM was expected)"
    if _ARCHIVE.match(data):
        return (
            "the file is an archive (PKCS #12): take the key out with"
            f" openssl pkcs12 -in FILE {'-nocerts' if kind == 'private' else '-nokeys'}"
        )
    if re.fullmatch(rb"[\t\n\r\x20-\x7e]*", data):
        return _of_text(data) or (
            f"the file is text without a {kind} key: it is neither PEM nor a whole line of OpenSSH"
        )
    return _of_der(data) or f"the file is corrupt or holds no {kind} key (DER was expected)"


def _holds_text(data: bytes) -> bool:
    return any(text in data for text in _TEXT_OF_KEYS)


def _of_blocks(data: bytes) -> str | None:
    """What is wrong with the first block of PEM, as far as that can be known."""
    blocks = pem.blocks(data)
    if not blocks:
        label = _LABEL.findall(data)[0].decode()
        return (
            f"the file is cut off, or its last line is wrong: after -----BEGIN {label}-----"
            f" there is no -----END {label}-----"
        )
    block = blocks[0]
    if not block.content:
        return (
            f"what is in the block {block.label} of the file is no Base64, or something is missing"
        )
    held = _kind_of(block.content)
    if held is None:
        return None
    return (
        f"the block {block.label} of the file holds a {held} key: call it {held.upper()} KEY in its"
        " first and last line"
    )


def _of_text(data: bytes) -> str | None:
    """What text is that is not PEM, as far as that can be known."""
    if data.lstrip().startswith(b"{") and b'"kty"' in data:
        return "the file is a key in JSON (JWK), which is not read: name one in PEM"
    try:
        content = base64.b64decode(b"".join(data.split()), validate=True)
    except binascii.Error:
        return None
    if _kind_of(content) is None:
        return None
    return "the file is Base64 without the lines of PEM: decode it with openssl base64 -d -in FILE"


def _of_der(data: bytes) -> str | None:
    """What is wrong with the length of DER: bytes are missing, or some follow a key."""
    size = _size(data)
    if size is None:
        return None
    if size > len(data):
        return f"the file is cut off: {size - len(data):,} bytes are missing at its end"
    if size < len(data) and _kind_of(data[:size]) is not None:
        return (
            f"the file has more bytes than its key: take the first {size:,} with"
            f" head -c {size} FILE"
        )
    return None


def _size(data: bytes) -> int | None:
    """The size of the SEQUENCE that data begin with, also if they are cut off; None without one."""
    if len(data) < 2 or data[0] != _SEQUENCE:
        return None
    if data[1] < 0x80:
        return 2 + data[1]
    count = data[1] & 0x7F
    if not 1 <= count <= 2 or len(data) < 2 + count:
        return None
    return 2 + count + int.from_bytes(data[2 : 2 + count])


def _kind_of(data: bytes) -> str | None:
    """The kind of the key in DER: private or public; None if it is none."""
    if key_info.read_private(data) is not None:
        return "private"
    return None if key_info.read_public(data) is None else "public"
