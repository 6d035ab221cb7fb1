"""Certificates, requests for them and CMS by a key that a command has opened, as a Signer."""

import argparse
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509

from coprime.encodings import certificates, key_info, pem
from coprime.encodings.certificates import Signer

from .options import STANDARD, read_input
from .output import check_file, write_output

_MOST_DAYS = 36_524  # a hundred years
OpenSigner = AbstractContextManager[Signer]
"""Opens the key."""


def write_certificate(options: argparse.Namespace, opened: OpenSigner) -> None:
    """Write a certificate that a key signs for itself. ValueError for a subject that is no name,
    and for days out of range."""
    if options.days not in range(1, _MOST_DAYS + 1):
        raise ValueError(f"--days must be in 1..{_MOST_DAYS}, not {options.days}")
    subject, now = _subject(options), datetime.now(UTC)
    end = now + timedelta(days=options.days)
    with opened as signer:
        made = certificates.self_signed(signer, subject, now, end, is_ca=options.ca)
    _write(options, certificates.CERTIFICATE, made)


def write_request(options: argparse.Namespace, opened: OpenSigner) -> None:
    """Write a request for a certificate. ValueError for a subject that is no name."""
    subject = _subject(options)
    with opened as signer:
        made = certificates.request(signer, subject)
    _write(options, certificates.REQUEST, made)


def write_cms(options: argparse.Namespace, opened: OpenSigner, key: str) -> None:
    """Sign a file as CMS. ValueError if the certificate is of another key than `key`, or none."""
    certificate = _certificate(options.certificate)
    message, now = read_input(options), datetime.now(UTC)
    with opened as signer:
        if key_info.read_public(certificate) != signer.public:
            raise ValueError(f"--certificate {options.certificate} is of another key than {key}")
        made = certificates.signed_data(
            signer, certificate, message, now, detached=options.detached
        )
    _write(options, certificates.CMS, made)


def _subject(options: argparse.Namespace) -> x509.Name:
    """The name in --subject. ValueError if it is none, or -o cannot be written."""
    if options.output != STANDARD:
        check_file("-o", Path(options.output))
    try:
        return x509.Name.from_rfc4514_string(options.subject)
    except ValueError:
        raise ValueError(
            f"--subject {options.subject!r} is no name such as CN=device,O=company"
        ) from None


def _certificate(path: Path) -> bytes:
    """The certificate in a file, in DER. ValueError if it holds none."""
    data = path.read_bytes()
    found = [block.content for block in pem.blocks(data) if block.label == certificates.CERTIFICATE]
    der = found[0] if found else data
    try:
        x509.load_der_x509_certificate(der)
    except ValueError:
        raise ValueError(f"--certificate {path}: the file holds no certificate") from None
    return der


def _write(options: argparse.Namespace, label: str, der: bytes) -> None:
    write_output(options.output, der if options.der else pem.write(label, der))
