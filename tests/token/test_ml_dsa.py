"""Keys of ML-DSA, in software."""

import ctypes
import hashlib

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import mldsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_public_key,
)

from coprime.encodings.key_info import PrivateKeyInfo, read_private
from coprime.flow.tools import run_tool
from coprime.token import build
from coprime.token.module import TokenError
from tests.lattice.published import published
from tests.token import cryptoki as c
from tests.token.conftest import opened_session
from tests.token.test_keys import refused

pytestmark = pytest.mark.xdist_group("token")

NUMBERS = {"ML-DSA-44": 1, "ML-DSA-65": 2, "ML-DSA-87": 3}
SIZES = {
    "ML-DSA-44": (1312, 2560, 2420),
    "ML-DSA-65": (1952, 4032, 3309),
    "ML-DSA-87": (2592, 4896, 4627),
}
KEYS = {
    "ML-DSA-44": mldsa.MLDSA44PrivateKey,
    "ML-DSA-65": mldsa.MLDSA65PrivateKey,
    "ML-DSA-87": mldsa.MLDSA87PrivateKey,
}
SHOWN = {c.SENSITIVE: False, c.EXTRACTABLE: True}
HASH_ML_DSA = 0x1F
HASHES = {
    0x23: (hashlib.sha224, 0x255, 4),
    0x24: (hashlib.sha256, 0x250, 1),
    0x25: (hashlib.sha384, 0x260, 2),
    0x26: (hashlib.sha512, 0x270, 3),
    0x27: (hashlib.sha3_224, 0x2B5, 7),
    0x28: (hashlib.sha3_256, 0x2B0, 8),
    0x29: (hashlib.sha3_384, 0x2C0, 9),
    0x2A: (hashlib.sha3_512, 0x2D0, 10),
    0x2B: (hashlib.shake_128, None, 11),
    0x2C: (hashlib.shake_256, None, 12),
}


@pytest.fixture(scope="module")
def session(module, ready, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ml_dsa") / "token"
    with opened_session(module, ready, folder, "software") as opened:
        yield opened


@pytest.fixture(scope="module")
def pairs(session):
    """A pair of each set, whose private key is shown."""
    return {name: generated(session, name, private=SHOWN) for name in NUMBERS}


def generated(session, name, public=(), private=()):
    wanted = {c.PARAMETER_SET: NUMBERS[name], **dict(public)}
    return session.generate(c.ML_DSA_KEY_PAIR_GEN, wanted, dict(private))


def imported(session, name, **numbers):
    """The handle of a private key, of its seed, its value, or both."""
    names = {"seed": c.SEED, "value": c.VALUE}
    return session.create(
        {c.CLASS: c.PRIVATE_KEY, c.KEY_TYPE: c.ML_DSA, c.PARAMETER_SET: NUMBERS[name], **SHOWN}
        | {names[name]: number for name, number in numbers.items()}
    )


def imported_public(session, name, value):
    return session.create(
        {c.CLASS: c.PUBLIC_KEY, c.KEY_TYPE: c.ML_DSA, c.PARAMETER_SET: NUMBERS[name]}
        | {c.VALUE: value}
    )


@pytest.mark.parametrize("name", NUMBERS)
def test_the_cryptography_package_agrees(session, pairs, name):
    public, private = pairs[name]
    theirs = load_der_public_key(session.get(public, c.PUBLIC_KEY_INFO))
    assert session.get(private, c.PUBLIC_KEY_INFO) == session.get(public, c.PUBLIC_KEY_INFO)
    for context in (b"", b"context", bytes(255)):
        for hedge in (c.HEDGE_PREFERRED, c.HEDGE_REQUIRED, c.DETERMINISTIC_REQUIRED):
            given = c.SignContext(hedge, context)
            signature = session.sign(private, c.ML_DSA_MECHANISM, b"text", given)
            assert len(signature) == SIZES[name][2]
            theirs.verify(signature, b"text", context or None)
    theirs.verify(session.sign(private, c.ML_DSA_MECHANISM, b""), b"")
    own = KEYS[name].generate()
    raw = own.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    key = imported_public(session, name, raw)
    signature = own.sign(b"text", b"context")
    session.verify(key, c.ML_DSA_MECHANISM, b"text", signature, c.SignContext(2, b"context"))
    back = imported(session, name, seed=own.private_bytes_raw())
    signature = session.sign(back, c.ML_DSA_MECHANISM, b"text")
    own.public_key().verify(signature, b"text")
    with pytest.raises(InvalidSignature):
        own.public_key().verify(signature, b"another text")


def test_hedged_signatures_differ_and_deterministic_ones_do_not(session, pairs):
    _, private = pairs["ML-DSA-44"]

    def sign(hedge):
        return session.sign(private, c.ML_DSA_MECHANISM, b"text", c.SignContext(hedge))

    assert sign(c.DETERMINISTIC_REQUIRED) == sign(c.DETERMINISTIC_REQUIRED)
    for hedge in (c.HEDGE_PREFERRED, c.HEDGE_REQUIRED):
        assert sign(hedge) != sign(hedge)


def test_what_is_not_signed_is_refused(session, pairs):
    public, private = pairs["ML-DSA-65"]
    signature = session.sign(private, c.ML_DSA_MECHANISM, b"text", c.SignContext(0, b"a"))
    session.verify(public, c.ML_DSA_MECHANISM, b"text", signature, c.SignContext(0, b"a"))
    for text, context in ((b"texts", b"a"), (b"text", b"b"), (b"text", b""), (b"", b"a")):
        with refused(c.SIGNATURE_INVALID):
            given = c.SignContext(0, context)
            session.verify(public, c.ML_DSA_MECHANISM, text, signature, given)
    for place in (0, 47, 48, 2000, 3247, 3248, 3308):
        wrong = bytearray(signature)
        wrong[place] ^= 1
        with refused(c.SIGNATURE_INVALID):
            given = c.SignContext(0, b"a")
            session.verify(public, c.ML_DSA_MECHANISM, b"text", bytes(wrong), given)
    for wrong in (signature[:-1], signature + b"\0", b""):
        with refused(0xC1):  # CKR_SIGNATURE_LEN_RANGE
            session.verify(public, c.ML_DSA_MECHANISM, b"text", wrong)


@pytest.mark.parametrize("kind", HASHES)
def test_messages_that_are_hashed_before(session, pairs, kind, tmp_path):
    """By the token, or by the caller; the representative is made here, too, from the standard."""
    public, private = pairs["ML-DSA-44"]
    function, number, arc = HASHES[kind]
    hashed = function(b"text")
    digest = hashed.digest(*{0x2B: (32,), 0x2C: (64,)}.get(kind, ()))
    given = c.SignContext(c.HEDGE_REQUIRED, b"context")
    signature = session.sign(private, kind, b"text", given)
    session.verify(public, kind, b"text", signature, given)
    session.verify_given(public, kind, [b"te", b"", b"xt"], signature, given)
    with refused(c.SIGNATURE_INVALID):
        session.verify(public, c.ML_DSA_MECHANISM, b"text", signature, given)
    framed = bytes([1, 7]) + b"context" + bytes.fromhex("06096086480165030402")
    tr = hashlib.shake_256(session.get(public, c.VALUE)).digest(64)
    mu = hashlib.shake_256(tr + framed + bytes([arc]) + digest).digest(64)
    assert verified(tmp_path, "ML-DSA-44", session.get(public, c.VALUE), mu, signature)
    if number:
        given = c.HashSignContext(number, c.DETERMINISTIC_REQUIRED, b"context")
        session.verify(public, HASH_ML_DSA, digest, signature, given)
        again = session.sign(private, HASH_ML_DSA, digest, given)
        session.verify(public, kind, b"text", again, c.SignContext(0, b"context"))
        with refused(0x21):  # CKR_DATA_LEN_RANGE
            session.sign(private, HASH_ML_DSA, digest[:-1], given)


def test_messages_in_parts(session, pairs):
    public, private = pairs["ML-DSA-87"]
    text = bytes(range(256)) * 40
    session.begin("C_SignInit", private, c.ML_DSA_MECHANISM)
    for part in (text[:1], b"", text[1:5000], text[5000:]):
        session.update("C_SignUpdate", part)
    signature = session.final("C_SignFinal")
    session.verify(public, c.ML_DSA_MECHANISM, text, signature)
    session.verify_given(public, c.ML_DSA_MECHANISM, [text], signature)
    session.verify_given(public, c.ML_DSA_MECHANISM, [text[:77], text[77:]], signature)
    with refused(c.SIGNATURE_INVALID):
        session.verify_given(public, c.ML_DSA_MECHANISM, [text[:77], text[78:]], signature)
    with refused(c.OPERATION_NOT_INITIALIZED):
        session.call("C_VerifySignatureFinal")
    session.begin("C_MessageSignInit", private, c.ML_DSA_MECHANISM, c.SignContext(0, b"x"))
    signatures = [session.sign_message(one) for one in (b"one", b"two")]
    session.call("C_MessageSignFinal")
    for one, made in zip((b"one", b"two"), signatures, strict=True):
        session.verify(public, c.ML_DSA_MECHANISM, one, made, c.SignContext(0, b"x"))


def test_a_hash_comes_in_one_call(session, pairs):
    public, private = pairs["ML-DSA-44"]
    given, digest = c.HashSignContext(0x250), hashlib.sha256(b"text").digest()
    signature = session.sign(private, HASH_ML_DSA, digest, given)
    session.verify_given(public, HASH_ML_DSA, [digest], signature, given)
    session.begin("C_SignInit", private, HASH_ML_DSA, given)
    with refused(c.OPERATION_NOT_INITIALIZED):
        session.update("C_SignUpdate", digest)
    with refused(c.OPERATION_NOT_INITIALIZED):
        session.verify_given(public, HASH_ML_DSA, [digest[:7], digest[7:]], signature, given)


def test_parameters_that_are_refused(session, pairs):
    _, private = pairs["ML-DSA-44"]
    for given in (c.SignContext(3), c.SignContext(0, bytes(256)), b"x", c.HashSignContext(0x250)):
        with refused(c.MECHANISM_PARAM_INVALID):
            session.sign(private, c.ML_DSA_MECHANISM, b"text", given)
    for given in (b"", c.SignContext(), c.HashSignContext(0x220), c.HashSignContext(0x2C)):
        with refused(c.MECHANISM_PARAM_INVALID):  # no hash function, SHA-1, a number of ours
            session.sign(private, HASH_ML_DSA, bytes(32), given)
    null = c.SignContext(0, b"x")
    null.context = None
    with refused(c.MECHANISM_PARAM_INVALID):
        session.sign(private, c.ML_DSA_MECHANISM, b"text", null)
    with refused(c.KEY_TYPE_INCONSISTENT):
        session.begin("C_SignInit", private, c.ECDSA)


def test_keys_that_are_refused(session, pairs):
    public, private = pairs["ML-DSA-65"]
    pk, sk, seed = (
        session.get(key, kind)
        for key, kind in ((public, c.VALUE), (private, c.VALUE), (private, c.SEED))
    )
    with refused(c.TEMPLATE_INCOMPLETE):
        session.generate(c.ML_DSA_KEY_PAIR_GEN, {}, {})
    with refused(c.PARAMETER_SET_NOT_SUPPORTED):
        session.generate(c.ML_DSA_KEY_PAIR_GEN, {c.PARAMETER_SET: 9}, {})
    for name in ("ML-DSA-44", "ML-DSA-87"):
        with refused(c.ATTRIBUTE_VALUE_INVALID):
            imported(session, name, value=sk)
        with refused(c.ATTRIBUTE_VALUE_INVALID):
            imported_public(session, name, pk)
    altered = {
        "rho": 0,
        "the hash of the public key": 64,
        "s1": 128,  # the first two coefficients are 4 - 15 and 4 - 15
        "t0": 4031,
    }
    for what, place in altered.items():
        wrong = bytearray(sk)
        wrong[place] = 0xFF if what == "s1" else wrong[place] ^ 1
        with refused(c.ATTRIBUTE_VALUE_INVALID):
            imported(session, "ML-DSA-65", value=bytes(wrong))
    with refused(c.ATTRIBUTE_VALUE_INVALID):
        imported(session, "ML-DSA-65", seed=bytes(32), value=sk)
    key = imported(session, "ML-DSA-65", seed=seed, value=sk)
    assert session.get(key, c.PUBLIC_KEY_INFO) == session.get(public, c.PUBLIC_KEY_INFO)
    assert session.is_true(key, c.SIGN)
    assert not session.is_true(key, c.DECAPSULATE)


def test_keys_are_wrapped_as_pkcs_8(session):
    name = "ML-DSA-44"
    how = {c.VALUE_LEN: 32, c.WRAP: True, c.UNWRAP: True, c.DECRYPT: True, c.ENCRYPT: True}
    wrapping = session.generate_aes(how)
    own = KEYS[name].generate()
    encoded = own.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    seed = own.private_bytes_raw()
    sk = session.get(imported(session, name, seed=seed), c.VALUE)
    value = b"\x04\x82" + len(sk).to_bytes(2) + sk
    both = b"\x04\x20" + seed + value
    content = {
        "seed": b"\x80\x20" + seed,
        "expanded": value,
        "both": b"\x30\x82" + len(both).to_bytes(2) + both,
    }
    template = {c.CLASS: c.PRIVATE_KEY, c.KEY_TYPE: c.ML_DSA}
    for form, inner in content.items():
        plain = PrivateKeyInfo(read_private(encoded).algorithm, None, inner).encoded
        wrapped = session.encrypt(wrapping, c.AES_CBC_PAD, plain, bytes(16))
        key = session.unwrap(c.AES_CBC_PAD, wrapping, wrapped, template | SHOWN, bytes(16))
        own.public_key().verify(session.sign(key, c.ML_DSA_MECHANISM, b"text"), b"text")
        again = session.wrap(c.AES_CBC_PAD, wrapping, key, bytes(16))
        found = read_private(session.decrypt(wrapping, c.AES_CBC_PAD, again, bytes(16)))
        assert found.key == content["expanded" if form == "expanded" else "seed"]


# Published vectors.


def cases():
    return [case for file in published("ML-DSA") for case in file.cases]


def is_whole(case):
    """Whether a caller can make a case: not with random numbers, a representative or M'."""
    given = case.inputs
    if case.operation == "sign" and ("mu" in given or any(given["rnd"])):
        return False
    return case.operation == "key_pair" or "context" in given


def passes(session, case):
    """Whether a case is as it must be through the interface; None if callers cannot make it."""
    if not is_whole(case):
        return None
    try:
        return case_result(session, case)
    except TokenError as error:
        if case.valid:
            raise
        return error.code in (
            *(c.ATTRIBUTE_VALUE_INVALID, c.MECHANISM_PARAM_INVALID, c.SIGNATURE_INVALID, 0xC1),
        )


def case_result(session, case):
    given = case.inputs
    if case.operation == "verify":
        key = imported_public(session, case.set, given["pk"])
    else:
        numbers = {"seed": given["seed"]} if "seed" in given else {"value": given["sk"]}
        key = imported(session, case.set, **numbers)
    context = c.SignContext(c.DETERMINISTIC_REQUIRED, given.get("context", b""))
    try:
        if case.operation == "key_pair":
            info = session.get(key, c.PUBLIC_KEY_INFO)
            found = case.agrees("sk", session.get(key, c.VALUE))
            return found and case.agrees("pk", info[-SIZES[case.set][0] :])
        if case.operation == "verify":
            session.verify(key, c.ML_DSA_MECHANISM, given["message"], given["signature"], context)
            return case.valid
        signature = session.sign(key, c.ML_DSA_MECHANISM, given["message"], context)
        return case.valid and case.agrees("signature", signature)
    finally:
        session.call("C_DestroyObject", key)


def test_some_published_vectors(session):
    """Every 16th; the marker `vectors` has all of them."""
    assert [case.name for case in cases()[::16] if passes(session, case) is False] == []


@pytest.mark.vectors
def test_all_published_vectors(session):
    found = {case.name: passes(session, case) for case in cases()}
    assert [name for name, passed in found.items() if passed is False] == []
    print(sum(passed is not None for passed in found.values()), "of", len(found))
    assert len(found) == 1318


@pytest.mark.vectors
def test_all_published_vectors_in_c(tmp_path):
    """Those with a random number or a representative of the caller's, too."""
    assert [case.name for case in cases() if not passes_in_c(tmp_path, case)] == []


def test_some_published_vectors_in_c(tmp_path):
    given = [one for one in cases() if one.operation == "sign" and any(one.inputs["rnd"])]
    chosen = [case for case in cases() if "mu" in case.inputs or "framed" in case.inputs] + given
    assert [case.name for case in chosen[::16] if not passes_in_c(tmp_path, case)] == []


def representative(given, tr):
    """mu of a case; None if its context is too long."""
    if "mu" in given:
        return given["mu"]
    context = given.get("context", b"")
    if len(context) > 255:
        return None
    framed = given.get("framed") or bytes([0, len(context)]) + context + given.get("message", b"")
    return hashlib.shake_256(tr + framed).digest(64)


def passes_in_c(folder, case):
    functions, one = compiled(folder, case.set)
    given = case.inputs
    pk_size, sk_size, size = SIZES[case.set]
    pk, sk = (ctypes.create_string_buffer(count) for count in (pk_size, sk_size))
    if case.operation == "verify":
        if len(given["pk"]) != pk_size or len(given["signature"]) != size:
            return not case.valid
        mu = representative(given, hashlib.shake_256(given["pk"]).digest(64))
        right = mu is not None and verified(folder, case.set, given["pk"], mu, given["signature"])
        return right == case.valid
    if "seed" in given:
        if len(given["seed"]) != 32:
            return not case.valid
        assert functions.ml_dsa_key_pair(one, given["seed"], pk, sk)
    elif len(given["sk"]) != sk_size:
        return not case.valid
    else:
        sk.raw = given["sk"]
        if not functions.ml_dsa_public_of(one, sk, pk):
            return not case.valid
    if case.operation == "key_pair":
        return case.agrees("pk", pk.raw) and case.agrees("sk", sk.raw)
    mu = representative(given, sk.raw[64:128])
    if mu is None:
        return not case.valid
    signature = ctypes.create_string_buffer(size)
    assert functions.ml_dsa_sign(one, sk, mu, given["rnd"], signature)
    return case.valid and case.agrees("signature", signature.raw)


def verified(folder, name, pk, mu, signature):
    functions, one = compiled(folder, name)
    valid = ctypes.c_bool()
    assert functions.ml_dsa_verify(one, pk, mu, signature, ctypes.byref(valid))
    return valid.value


_compiled = {}


def compiled(folder, name):
    """ml_dsa.c as a library, and its record of a parameter set."""
    if not _compiled:
        library = folder / "ml_dsa.so"
        stems = ("ml_dsa", "keccak", "secret", "debug")
        sources = [build._SOURCES / f"{stem}.c" for stem in stems]
        flags = ("-std=c11", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror")
        run_tool("the C compiler", [build._compiler(), *flags, *sources, "-lcrypto", "-o", library])
        _compiled["library"] = ctypes.CDLL(str(library))
        for function in ("key_pair", "public_of", "sign", "verify"):
            getattr(_compiled["library"], f"ml_dsa_{function}").restype = ctypes.c_bool
    functions = _compiled["library"]
    start = ctypes.addressof((ctypes.c_char * 0).in_dll(functions, "ml_dsa_sets"))
    size = 32 + 4 * 8  # of a struct ml_dsa_set: seven numbers of 4 bytes, four of 8
    return functions, ctypes.c_void_p(start + size * (NUMBERS[name] - 1))


@pytest.mark.parametrize("scheme", ["KEM", "DSA"])
def test_arithmetic_of_every_number(tmp_path, scheme):
    program = tmp_path / "numbers"
    source = build._SOURCES.parents[2] / "tests/token/lattice_numbers.c"
    others = [build._SOURCES / f"{stem}.c" for stem in ("keccak", "secret", "debug")]
    flags = (
        "-std=c11",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-DCHECK_{scheme}",
        "-Wno-unused-function",
    )
    run_tool(
        "the C compiler",
        [
            build._compiler(),
            *flags,
            f"-I{build._SOURCES}",
            source,
            *others,
            "-lcrypto",
            "-o",
            program,
        ],
    )
    assert run_tool("the program", [str(program)]) == "0 wrong\n"
