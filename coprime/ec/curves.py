"""The curves that key files may be of."""

from collections.abc import Mapping

from .edwards import ED448, ED25519, EdwardsCurve
from .montgomery import X448, X25519, MontgomeryCurve
from .weierstrass import CURVES as WEIERSTRASS_CURVES
from .weierstrass import WeierstrassCurve

Curve = MontgomeryCurve | EdwardsCurve | WeierstrassCurve
_CURVES: tuple[Curve, ...] = (X25519, X448, ED25519, ED448, *WEIERSTRASS_CURVES)
CURVES: Mapping[str, Curve] = {curve.name: curve for curve in _CURVES}
"""By name."""
