"""Keys of ML-DSA in a token: made there, and signing there.

Source: PKCS #11 3.2, section 6.67.
"""

import ctypes
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ctypes import byref, c_ulong

from coprime.encodings.certificates import Signer
from coprime.encodings.key_info import read_public

from .module import Attribute, Template, TokenModule, template

SETS: Mapping[str, int] = {"ML-DSA-44": 1, "ML-DSA-65": 2, "ML-DSA-87": 3}
"""Numbers of the parameter sets: CKP_ML_DSA_44 and so on."""
_PRIVATE_KEY, _ML_DSA = 3, 0x4A  # CKO_PRIVATE_KEY, CKK_ML_DSA
_KEY_PAIR_GEN, _SIGN = 0x1C, 0x1D  # CKM_ML_DSA_KEY_PAIR_GEN, CKM_ML_DSA
_CLASS, _TOKEN, _LABEL, _KEY_TYPE, _ID = 0, 1, 3, 0x100, 0x102
_PUBLIC_KEY_INFO, _PARAMETER_SET = 0x129, 0x61D
_ID_BYTES, _LONGEST_SIGNATURE = 8, 4627


def generate(module: TokenModule, slot: int, pin: bytes, label: str, parameter_set: str) -> None:
    """Make a key pair with this label in a token.

    ValueError for another parameter set than of SETS, and for a label of a key that is there;
    raises TokenError.
    """
    if parameter_set not in SETS:
        raise ValueError(f"the parameter set is one of {', '.join(SETS)}, not {parameter_set!r}")
    identifier = secrets.token_bytes(_ID_BYTES)
    common: Template = {_TOKEN: True, _LABEL: label.encode(), _ID: identifier}
    with module.session(slot, pin) as session:
        if module.find(session, _private(label)):
            raise ValueError(f"the token has a key of ML-DSA with the label {label!r}")
        public = template({**common, _PARAMETER_SET: SETS[parameter_set]})
        handles = byref(c_ulong()), byref(c_ulong())
        how = byref(Attribute(_KEY_PAIR_GEN, None, 0))
        module.call("C_GenerateKeyPair", session, how, *public, *template(common), *handles)


@contextmanager
def signer(module: TokenModule, slot: int, pin: bytes, label: str) -> Iterator[Signer]:
    """The key with this label, which signs as long as the context lasts.

    ValueError unless the token has one private key of ML-DSA with it; raises TokenError.
    """
    with module.session(slot, pin) as session:
        found = module.find(session, _private(label))
        if len(found) != 1:
            raise ValueError(
                f"the token has {len(found) or 'no'} private key{'s' * (len(found) > 1)} of ML-DSA"
                f" with the label {label!r}"
            )
        key = c_ulong(found[0])
        public = read_public(module.attribute(session, key.value, _PUBLIC_KEY_INFO))
        assert public is not None

        def sign(message: bytes) -> bytes:
            room = ctypes.create_string_buffer(_LONGEST_SIGNATURE)
            size = c_ulong(len(room))
            module.call("C_SignInit", session, byref(Attribute(_SIGN, None, 0)), key)
            length = c_ulong(len(message))
            module.call("C_Sign", session, message, length, room, byref(size))
            return room.raw[: size.value]

        yield Signer(public, sign)


def _private(label: str) -> Template:
    return {_CLASS: _PRIVATE_KEY, _KEY_TYPE: _ML_DSA, _LABEL: label.encode()}
