"""ECDSA_SIGN_WITH: ECDSA_SIGN with a nonce of the host's, for test vectors and derived nonces."""

from dataclasses import replace

from coprime.model.curve_points import signature
from coprime.program.operands import Operand

from .ecdsa_sign import ECDSA_SIGN, with_given_nonce
from .operation import Input
from .weierstrass import BASE_AND_CURVE

ECDSA_SIGN_WITH = replace(
    ECDSA_SIGN,
    name="ECDSA_SIGN_WITH",
    code=12,
    doc="As ECDSA_SIGN, with the nonce E: for test vectors, and nonces that are derived.",
    formula="r = x of k · (gx, gy), s = (z + r·d) / k modulo n",
    inputs=(
        *ECDSA_SIGN.inputs[:2],
        Input(name="k", operand=Operand.E, meaning="nonce k", is_nonce=True),
        *BASE_AND_CURVE,
    ),
    result=signature,
    is_right=None,
    settings=(("ecdsa", "host"),),
    banked=with_given_nonce,
)
