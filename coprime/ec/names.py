"""Names of curves, as standards and other tools write them, too."""

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from coprime.errors import hint


class Named(Protocol):
    """A curve."""

    @property
    def name(self) -> str:
        """As cryptographers call it."""


AnyNamed = TypeVar("AnyNamed", bound=Named)
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "p224": ("secp224r1", "nistp224"),
    "p256": ("secp256r1", "nistp256", "prime256v1"),
    "p384": ("secp384r1", "nistp384"),
    "p521": ("secp521r1", "nistp521"),
    "x25519": ("curve25519",),
    "x448": ("curve448",),
    "ed25519": ("edwards25519",),
    "ed448": ("edwards448",),
}
"""Those of SEC 2, OpenSSL, OpenSSH, RFC 7748 and RFC 8032, as `_plain` has them."""
_CANONICAL = {alias: name for name, others in _ALIASES.items() for alias in others}


def find_curve(name: str, curves: Iterable[AnyNamed]) -> AnyNamed | None:
    """The curve that is called so, in any case, with a dash or without; None if none is."""
    return {_plain(curve.name): curve for curve in curves}.get(_plain(name))


def hint_curve(name: str, curves: Iterable[Named]) -> str:
    """What to write in place of a name that is none."""
    return hint(name, (curve.name for curve in curves))


def _plain(name: str) -> str:
    plain = name.lower().replace("-", "").replace("_", "")
    return _CANONICAL.get(plain, plain)
