"""Files that are given for keys and are none: what each is, and how to get a key from it."""

import re

_LABEL = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----")
_ARCHIVE = re.compile(rb"\x30(?:\x80|\x81.|\x82..|\x83...|\x84....)\x02\x01\x03\x30", re.DOTALL)
"""PFX of PKCS #12 (RFC 7292, section 4): a sequence that begins with version 3."""
_OF_PEM = {
    b"CERTIFICATE REQUEST": "a request for a certificate: take its public key with"
    " openssl req -in FILE -noout -pubkey",
    b"PKCS7": "certificates in PKCS #7: take them out with openssl pkcs7 -in FILE -print_certs",
    b"PGP PUBLIC KEY BLOCK": "a key of OpenPGP, which is not read: name one in PEM",
    b"PGP PRIVATE KEY BLOCK": "a key of OpenPGP, which is not read: name one in PEM",
    b"EC PARAMETERS": "only the parameters of a curve, without a key",
}
_OF_BEGINNING = {
    b"---- BEGIN SSH2": "a public key in the form of RFC 4716: convert it with"
    " ssh-keygen -i -f FILE",
    b"PuTTY-User-Key-File": "a key of PuTTY: convert it with"
    " puttygen FILE -O private-openssh-new -o NEW",
    b"\xff\xfe": "text in UTF-16: write it again in ASCII or UTF-8",
    b"\xfe\xff": "text in UTF-16: write it again in ASCII or UTF-8",
}


def reason(data: bytes, kind: str) -> str:
    """Say in a sentence why there is no key of this kind, private or public, in a file's bytes."""
    if not data:
        return "the file is empty"
    for beginning, what in _OF_BEGINNING.items():
        if data.startswith(beginning):
            return f"the file is {what}"
    labels = [label.removeprefix(b"NEW ") for label in _LABEL.findall(data)]
    if labels:
        if labels[0] in _OF_PEM and len(set(labels)) == 1:
            return f"the file holds {_OF_PEM[labels[0]]}"
        return f"the file is corrupt or holds no {kind} key (PEM was expected)"
    if _ARCHIVE.match(data):
        return (
            "the file is an archive (PKCS #12): take the key out with"
            f" openssl pkcs12 -in FILE {'-nocerts' if kind == 'private' else '-nokeys'}"
        )
    if re.fullmatch(rb"[\t\n\r\x20-\x7e]*", data):
        return (
            f"the file is text without a {kind} key: it is neither PEM nor a whole line of OpenSSH"
        )
    return f"the file is corrupt or holds no {kind} key (DER was expected)"
