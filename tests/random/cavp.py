"""NIST's vectors of Hash_DRBG with SHA-256, as cases for a generator whose requests have no
additional input."""

import json
import lzma
from dataclasses import dataclass
from pathlib import Path

_FILE = Path(__file__).parent / "vectors" / "hash_drbg.json.xz"


@dataclass(frozen=True)
class Case:
    """Seed material of the instantiation and, if any, before each request; the last output."""

    material: bytes
    again: tuple[bytes | None, ...]
    output: bytes
    supported: bool = True


def _case(one):
    entropy = [bytes.fromhex(text) for text in one["entropy"]]
    inputs = [bytes.fromhex(text) for text in one["inputs"]]
    material = entropy[0] + bytes.fromhex(one["nonce"] + one["personalization"])
    resists = len(entropy) > 1
    again = (
        [first + second for first, second in zip(entropy[1:], inputs, strict=True)]
        if resists
        else [None] * 2
    )
    supported = resists or not any(inputs)
    return Case(material, tuple(again), bytes.fromhex(one["output"]), supported)


CASES = [_case(one) for one in json.loads(lzma.decompress(_FILE.read_bytes()))]

RESEEDED = [
    Case(
        bytes.fromhex(
            "b87bb4de5c148d964fc0cb612d69295671780b4270fe32bf389b6f49488efe13"
            "27eb37a0c695c4ee3c9b70b7f6b33492"
            "52321406ac8a9c266b1f8d811bb871269e5824b59a0234f01d358193523bbb7c"
        ),
        (bytes.fromhex("7638267f534c4e6ee22cc6ca6ed824fd5d3d387c00b89dd791eb5ac9766385b8"), None),
        bytes.fromhex(
            "de01c061651bab3cef2fc4ea89a56b6e86e74b2e9fd11ed671c97c813778a06a"
            "2c1f41b41e754a5257750c6bde9601da9d67d8d9564f4a8538b92516a2dacc49"
            "6dee257b85393f2a01ad59aa3257f1b6da9566e3706d2d6d4a26e511b0c64d7d"
            "c223acb24827178afa43ca8d5a66f983d6929dc61564c4c14fc32d85765a23f7"
        ),
    ),
]
"""A case of NIST's file with reseeding and without prediction resistance."""
