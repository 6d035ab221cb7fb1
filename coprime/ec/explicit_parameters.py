"""Curves whose parameters are in a key file in place of a name (SEC 1, C.2: ECParameters)."""

from collections.abc import Iterable

from coprime.encodings import der

from .weierstrass import WeierstrassCurve

_PRIME_FIELD = "1.2.840.10045.1.1"
_COFACTOR = 1  # of all curves that are known here


def match(parameters: der.Element, curves: Iterable[WeierstrassCurve]) -> WeierstrassCurve | None:
    """The curve that has exactly these parameters, base point and cofactor included; None if none.

    A key with any other parameters, such as a base point that an attacker has chosen, is of none.
    Raises ValueError for what are no parameters.
    """
    version, field, coefficients, base, order, *others = parameters.parts()
    if not 1 <= version.number() <= 3:
        raise ValueError("the version of ECParameters is 1, 2 or 3")
    kind, prime = field.parts()
    if kind.name() != _PRIME_FIELD:
        return None
    a, b = (int.from_bytes(part.octets()) for part in coefficients.parts()[:2])
    numbers = {"a": a, "b": b, "p": prime.number(), "n": order.number()}
    if [part.encoded for part in others] != [der.integer(_COFACTOR)]:
        return None
    for curve in curves:
        if curve.numbers == numbers:
            return curve if curve.decode_any_point(base.octets()) == curve.base else None
    return None
