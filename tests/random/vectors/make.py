"""Makes hash_drbg.json.xz from NIST's vectors of Hash_DRBG with SHA-256.

    python tests/random/vectors/make.py EVPRAND

EVPRAND is test/recipes/30-test_evp_data/evprand.txt of OpenSSL's sources (3.0), which has the files
Hash_DRBG.rsp of NIST's CAVP (CAVS 14.3) without reseeding and with prediction resistance. Each case
is instantiated, and makes two requests of 128 bytes, of which the second one is `output`. `inputs`
are the additional inputs, and `entropy` that of instantiation and, with prediction resistance, of
both requests.
"""

import json
import lzma
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def groups(text):
    """The groups of SHA-256: field by field."""
    found = []
    for line in text.splitlines():
        name, _, value = line.partition(" = ")
        if name == "RAND":
            found.append({})
        if found:
            found[-1][name] = value
            if name == "RAND":
                found[-1]["kind"] = value
    return [one for one in found if one["kind"] == "HASH-DRBG" and one.get("Digest") == "SHA-256"]


def cases(group):
    """The cases of a group."""
    for k in range(15):
        resists = group["PredictionResistance"] == "1"
        more = [f"EntropyPredictionResistance{one}" for one in "AB"] if resists else []
        yield {
            "entropy": [group[f"{name}.{k}"] for name in ("Entropy", *more)],
            "nonce": group[f"Nonce.{k}"],
            "personalization": group.get(f"PersonalisationString.{k}", ""),
            "inputs": [group.get(f"AdditionalInput{one}.{k}", "") for one in "AB"],
            "output": group[f"Output.{k}"],
        }


if __name__ == "__main__":
    text = Path(sys.argv[1]).read_text("utf-8")
    found = [case for group in groups(text) for case in cases(group)]
    data = json.dumps(found, indent=0).encode()
    (FOLDER / "hash_drbg.json.xz").write_bytes(lzma.compress(data))
    print(len(found), "cases")
