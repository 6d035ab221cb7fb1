"""Certificates, requests for them, and signatures of messages, of a key that somebody else holds.

Source: RFC 5280, section 4 (certificates), RFC 2986 (requests), RFC 5652, section 5 (CMS); for
ML-DSA RFC 9881 and RFC 9882. The signer makes each signature of the bytes that it is given.

    signer = Signer(public, sign)
    certificate = self_signed(signer, subject, now, now + timedelta(days=365))
    signature = signed_data(signer, certificate, b"message", now)
"""

import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography import x509

from . import der
from .key_info import PublicKeyInfo

CERTIFICATE, REQUEST, CMS = "CERTIFICATE", "CERTIFICATE REQUEST", "CMS"
"""Labels of PEM."""
_SHA_512 = "2.16.840.1.101.3.4.2.3"
_DATA, _SIGNED_DATA = "1.2.840.113549.1.7.1", "1.2.840.113549.1.7.2"
_CONTENT_TYPE, _MESSAGE_DIGEST, _SIGNING_TIME = (f"1.2.840.113549.1.9.{k}" for k in (3, 4, 5))
_SERIAL_BYTES = 16
_X509_VERSION_3, _REQUEST_VERSION, _CMS_VERSION = 2, 0, 1


@dataclass(frozen=True)
class Signer:
    """A key of a kind of which key and signature have one OBJECT IDENTIFIER, as ML-DSA has.

    Parameters
    ----------
    public : its public key
    sign : makes the signature of a message, of which nothing has been hashed
    """

    public: PublicKeyInfo
    sign: Callable[[bytes], bytes]

    @property
    def algorithm(self) -> bytes:
        """AlgorithmIdentifier of its signatures: without parameters (RFC 9881, section 2)."""
        return der.sequence(der.object_identifier(self.public.algorithm))

    def signed(self, content: bytes) -> bytes:
        """What X.509 signs: content, algorithm, signature."""
        return der.sequence(content, self.algorithm, der.bit_string(self.sign(content)))


def self_signed(
    signer: Signer, subject: x509.Name, begin: datetime, end: datetime, *, is_ca: bool = False
) -> bytes:
    """A certificate of a key by itself, in DER, valid from `begin` to `end`, with time zones.

    With `is_ca` it may sign certificates, else anything but certificates. ValueError if it is valid
    for no time.
    """
    if end <= begin:
        raise ValueError(f"a certificate from {begin} to {end} is never valid")
    name = subject.public_bytes()
    serial = int.from_bytes(secrets.token_bytes(_SERIAL_BYTES)) >> 1 or 1
    content = der.sequence(
        *(der.tagged(0, der.integer(_X509_VERSION_3)), der.integer(serial), signer.algorithm),
        *(name, der.sequence(_time(begin), _time(end)), name, signer.public.encoded),
        der.tagged(3, der.sequence(*_extensions(signer, is_ca=is_ca))),
    )
    return signer.signed(content)


def request(signer: Signer, subject: x509.Name) -> bytes:
    """A request for a certificate, in DER, without attributes."""
    name, public = subject.public_bytes(), signer.public.encoded
    return signer.signed(der.sequence(der.integer(_REQUEST_VERSION), name, public, der.tagged(0)))


def signed_data(
    signer: Signer, certificate: bytes, message: bytes, now: datetime, *, detached: bool = False
) -> bytes:
    """A message with its signature as CMS, in DER; with `detached` the signature alone.

    It contains the certificate, which is not checked to be the signer's. What is signed are
    attributes: the kind of content, the time, and SHA-512 of the message.
    """
    digest = der.sequence(der.object_identifier(_SHA_512))
    attributes = sorted(
        der.sequence(der.object_identifier(kind), der.set_of(value))
        for kind, value in (
            (_CONTENT_TYPE, der.object_identifier(_DATA)),
            (_MESSAGE_DIGEST, der.octet_string(hashlib.sha512(message).digest())),
            (_SIGNING_TIME, _time(now)),
        )
    )
    content = der.read(certificate).parts()[0].parts()
    serial, issuer = content[1], content[3]
    signature = der.sequence(
        *(der.integer(_CMS_VERSION), der.sequence(issuer.encoded, serial.encoded), digest),
        *(der.tagged(0, *attributes), signer.algorithm),
        der.octet_string(signer.sign(der.set_of(*attributes))),
    )
    text = () if detached else (der.tagged(0, der.octet_string(message)),)
    data = der.sequence(
        *(der.integer(_CMS_VERSION), der.set_of(digest)),
        der.sequence(der.object_identifier(_DATA), *text),
        *(der.tagged(0, certificate), der.set_of(signature)),
    )
    return der.sequence(der.object_identifier(_SIGNED_DATA), der.tagged(0, data))


def _extensions(signer: Signer, *, is_ca: bool) -> Sequence[bytes]:
    """What the key is for (RFC 9881, section 3), and its number."""
    uses = dict.fromkeys(
        (
            *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
            *("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
        ),
        False,
    )
    uses |= {"key_cert_sign": is_ca, "crl_sign": is_ca, "digital_signature": not is_ca}
    number = hashlib.sha1(signer.public.key, usedforsecurity=False).digest()
    found: list[tuple[x509.ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=is_ca, path_length=None), True),
        (x509.KeyUsage(**uses), True),
        (x509.SubjectKeyIdentifier(number), False),
    ]
    return [
        der.sequence(
            der.object_identifier(extension.oid.dotted_string),
            *((der.boolean(True),) if critical else ()),
            der.octet_string(extension.public_bytes()),
        )
        for extension, critical in found
    ]


def _time(at: datetime) -> bytes:
    """UTCTime until 2049, then GeneralizedTime, as RFC 5280 asks for."""
    text = at.astimezone(UTC).strftime("%Y%m%d%H%M%SZ").encode("ascii")
    if text < b"2050":
        return der.utc_time(text[2:])
    return der.generalized_time(text)
