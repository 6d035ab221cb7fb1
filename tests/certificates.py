"""Certificates for tests."""

from datetime import UTC, datetime
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ed448, ed25519


def certificate(private: Any) -> x509.Certificate:
    """A certificate that a private key of the library has signed for itself."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    edwards = isinstance(private, ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2026, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2027, 1, 1, tzinfo=UTC))
        .sign(private, None if edwards else hashes.SHA256())
    )
