"""Private keys of ML-KEM and ML-DSA inside PKCS #8: a seed, the key that is expanded from it, or
both.

Source: RFC 9935, section 6 (ML-KEM) and RFC 9881, section 6 (ML-DSA), which differ only in lengths:

    PrivateKey ::= CHOICE {
      seed [0] OCTET STRING, expandedKey OCTET STRING,
      both SEQUENCE { seed OCTET STRING, expandedKey OCTET STRING } }
"""

from dataclasses import dataclass, field
from typing import Self

from . import der
from .errors import KeyFileError

_SEED = 0
"""The number of the seed's tag where it is alone."""


@dataclass(frozen=True)
class SeededKey:
    """A seed, an expanded key, or both, which are not compared here. The repr shows neither.

    Parameters
    ----------
    seed : None where the expanded key is alone
    expanded : None where the seed is alone
    """

    seed: bytes | None = field(repr=False)
    expanded: bytes | None = field(repr=False)

    @classmethod
    def read(cls, data: bytes, *, seed_bytes: int, expanded_bytes: int) -> Self:
        """From the contents of PKCS #8's OCTET STRING.

        Raises KeyFileError for none of the three forms, and for a seed or an expanded key of
        another length.
        """
        if len(data) in (seed_bytes, expanded_bytes):
            raise KeyFileError(
                f"the private key in the file is {len(data):,} bytes without a form, as drafts of"
                " the standard had it: write it again as RFC 9935 and RFC 9881 define it"
            )
        try:
            element = der.read(data)
            if element.tag == der.implicit_context(_SEED):
                key = cls(element.content, None)
            elif element.tag == der.OCTET_STRING:
                key = cls(None, element.content)
            else:
                seed, expanded = element.parts()
                key = cls(seed.octets(), expanded.octets())
        except ValueError:
            raise KeyFileError(
                "the private key in the file is neither a seed nor an expanded key nor both"
            ) from None
        for what, content, wanted in (
            ("seed", key.seed, seed_bytes),
            ("expanded key", key.expanded, expanded_bytes),
        ):
            if content is not None and len(content) != wanted:
                raise KeyFileError(
                    f"the {what} in the file has {len(content):,} bytes, and with its algorithm it"
                    f" would have {wanted:,}"
                )
        return key

    @property
    def encoded(self) -> bytes:
        """As the contents of PKCS #8's OCTET STRING."""
        if self.expanded is None:
            assert self.seed is not None
            return der.implicit(_SEED, self.seed)
        expanded = der.octet_string(self.expanded)
        return (
            expanded if self.seed is None else der.sequence(der.octet_string(self.seed), expanded)
        )
