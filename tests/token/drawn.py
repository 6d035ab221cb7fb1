"""What a token makes where only its engine has random bytes: a program that test_drawn.py runs,
with no_entropy.c preloaded. It prints JSON, with bytes in hexadecimal.
"""

import json
import os
import sys
from pathlib import Path

from coprime.token.module import TokenError
from tests.token import cryptoki as c
from tests.token.tokens import Token

SET = 1  # CKP_ML_KEM_512, CKP_ML_DSA_44
SHOWN = {c.SENSITIVE: False, c.EXTRACTABLE: True}
P_256 = bytes.fromhex("06082a8648ce3d030107")
PRIVATE_NUMBER = 0xC9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721
"""Of RFC 6979, appendix A.2.5."""
DIGEST = bytes(range(32))
TEXT = b"text"


def made(session):
    """A pair of each scheme, a shared secret's two halves, and two signatures of each key."""
    nonce_key = session.create(
        {
            c.CLASS: c.PRIVATE_KEY,
            c.KEY_TYPE: c.EC,
            c.EC_PARAMS: P_256,
            c.VALUE: c.bytes_of(PRIVATE_NUMBER),
            **SHOWN,
        }
    )
    found = {}
    for names, kind in (
        (("ek", "dk"), c.ML_KEM_KEY_PAIR_GEN),
        (("pk", "sk"), c.ML_DSA_KEY_PAIR_GEN),
    ):
        handles = session.generate(kind, {c.PARAMETER_SET: SET}, SHOWN)
        for name, handle in zip(names, handles, strict=True):
            found[name] = session.get(handle, c.VALUE)
        try:
            found[f"seed of {names[1]}"] = session.get(handles[1], c.SEED)
        except TokenError:
            continue
    private = handles[1]
    for number in range(2):
        found[f"ML-DSA {number}"] = session.sign(private, c.ML_DSA_MECHANISM, TEXT)
        found[f"P-256 {number}"] = session.sign(nonce_key, c.ECDSA, DIGEST)
    return found


def main():
    """Use the token whose folder and module are given."""
    settings = {name: text for name, text in os.environ.items() if name.startswith("COPRIME_T")}
    with c.running(Token(*map(Path, sys.argv[1:3]), settings)) as session:
        session.login()
        found = made(session)
    print(json.dumps({name: value.hex() for name, value in found.items()}))


if __name__ == "__main__":
    main()
