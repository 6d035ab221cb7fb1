"""RSA_PUBLIC: MODEXP with the exponent of a public key."""

from dataclasses import replace

from .modexp import MODEXP
from .operation import Key, Operation

RSA_PUBLIC: Operation = replace(
    MODEXP,
    name="RSA_PUBLIC",
    code=3,
    doc="X ** E mod M, with the public exponent.",
    formula="x^e mod n: encrypt, verify",
    key=Key.PUBLIC,
    inputs=tuple(replace(input_, public=input_.is_exponent) for input_ in MODEXP.inputs),
)
