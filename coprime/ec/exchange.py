"""Public keys and shared secrets on an accelerator, of every curve that key files have."""

from . import eddsa, montgomery, weierstrass
from .edwards import EdwardsCurve
from .keys import CurvePrivateKey, CurvePublicKey, check_agreement
from .montgomery import MontgomeryCurve


def public_key(accelerator: weierstrass.CurveAccelerator, key: CurvePrivateKey) -> CurvePublicKey:
    """The public key of a private one."""
    curve = key.curve
    if isinstance(curve, MontgomeryCurve):
        return CurvePublicKey(curve, montgomery.public_key(accelerator, curve, key.scalar))
    if isinstance(curve, EdwardsCurve):
        return CurvePublicKey(curve, eddsa.public_key(accelerator, curve, key.scalar))
    point = weierstrass.public_key(accelerator, curve, curve.decode_scalar(key.scalar))
    return CurvePublicKey(curve, curve.encode_point(point))


def shared_secret(
    accelerator: weierstrass.CurveAccelerator, key: CurvePrivateKey, peer: CurvePublicKey
) -> bytes:
    """The shared secret of a private and a public key: a coordinate of their product.

    Raises ValueError for keys of two curves, those of a curve that is for signatures only, and
    where nothing of the private key is in the secret.
    """
    check_agreement(key, peer)
    curve = key.curve
    assert not isinstance(curve, EdwardsCurve)
    if isinstance(curve, MontgomeryCurve):
        return montgomery.shared_secret(accelerator, curve, key.scalar, peer.point)
    scalar, point = curve.decode_scalar(key.scalar), curve.decode_point(peer.point)
    return weierstrass.shared_secret(accelerator, curve, scalar, point)
