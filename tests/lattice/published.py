"""Published vectors of ML-KEM and ML-DSA: NIST's ACVP and C2SP's Wycheproof.

    for file in published("ML-KEM"):
        for case in file.cases:
            if case.operation == "decapsulate" and case.valid: ...

`vectors/make.py` makes the files that are read here from those of the publishers.
"""

import hashlib
import json
import lzma
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "vectors"
FILES = {"ML-KEM": "ml_kem.json.xz", "ML-DSA": "ml_dsa.json.xz"}
_DIGEST = "sha256:"


@dataclass(frozen=True)
class Case:
    """A case.

    Attributes
    ----------
    name : file, parameter set, number and comment
    set : ML-KEM-512 and so on
    operation : key_pair, encapsulate, decapsulate (of dk and c), decapsulate_seed (of seed and c),
        check_key (of ek, or dk), sign (of sk, or seed), verify
    valid : False: the operation must refuse its inputs, or the signature is wrong
    inputs : d, z, seed (d and z in one for ML-KEM), ek, dk, m, c; sk, pk, rnd, signature, and a
        message with its context, mu, or `framed`, the message M' of the internal interface
    results : ek, dk, k, c; pk, sk, signature; to be compared by `agrees`
    """

    name: str
    set: str
    operation: str
    valid: bool
    inputs: dict[str, bytes]
    results: dict[str, str]

    def agrees(self, result: str, data: bytes) -> bool:
        """Whether a result is the published one, of which long ones are known by a digest only."""
        expected = self.results[result]
        if expected.startswith(_DIGEST):
            return hashlib.sha256(data).hexdigest() == expected.removeprefix(_DIGEST)
        return data.hex() == expected.lower()


@dataclass(frozen=True)
class File:
    """A publisher's file, or what it has of one parameter set."""

    name: str
    set: str
    cases: tuple[Case, ...]


@cache
def published(scheme: str) -> tuple[File, ...]:
    """All files of a scheme, ML-KEM or ML-DSA."""
    files = json.loads(lzma.decompress((FOLDER / FILES[scheme]).read_bytes()))
    return tuple(
        File(one["name"], one["set"], tuple(_case(one, case) for case in one["cases"]))
        for one in files
    )


def _case(file, case):
    comment = case.get("comment", "")
    return Case(
        f"{file['name']} {file['set']} {case['id']} {comment}".strip(),
        file["set"],
        case["operation"],
        case["valid"],
        {name: bytes.fromhex(value) for name, value in case["in"].items()},
        case.get("out", {}),
    )
