"""Keys of ML-KEM: in software, and on the simulated engine `lattice`."""

import ctypes

import pytest
from cryptography.hazmat.primitives.asymmetric import mlkem
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_public_key,
)

from coprime.encodings.key_info import PrivateKeyInfo, read_private
from coprime.flow.tools import run_tool
from coprime.model.lattice import ml_kem_standard
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS
from coprime.token import build
from coprime.token.module import TokenError
from tests.lattice.published import published
from tests.token import cryptoki as c
from tests.token.conftest import opened_session
from tests.token.test_keys import refused

pytestmark = pytest.mark.xdist_group("token")

SETS = {one.name: one for one in ML_KEM_SETS}
NUMBERS = {"ML-KEM-512": 1, "ML-KEM-768": 2, "ML-KEM-1024": 3}
SHOWN = {c.SENSITIVE: False, c.EXTRACTABLE: True}
SECRET = {c.KEY_TYPE: c.GENERIC_SECRET, **SHOWN}


@pytest.fixture(scope="module", params=["software", "sim-lattice"])
def session(request, module, ready, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ml_kem") / "token"
    with opened_session(module, ready, folder, request.param) as opened:
        yield opened


in_software = pytest.mark.parametrize("session", ["software"], indirect=True)


def generated(session, name, public=(), private=()):
    """The handles of a pair."""
    wanted = {c.PARAMETER_SET: NUMBERS[name], **dict(public)}
    return session.generate(c.ML_KEM_KEY_PAIR_GEN, wanted, dict(private))


def imported(session, name, **numbers):
    """The handle of a private key, of its seed, its value, or both."""
    names = {"seed": c.SEED, "value": c.VALUE}
    return session.create(
        {c.CLASS: c.PRIVATE_KEY, c.KEY_TYPE: c.ML_KEM, c.PARAMETER_SET: NUMBERS[name], **SHOWN}
        | {names[name]: number for name, number in numbers.items()}
    )


def imported_public(session, name, value):
    return session.create(
        {c.CLASS: c.PUBLIC_KEY, c.KEY_TYPE: c.ML_KEM, c.PARAMETER_SET: NUMBERS[name]}
        | {c.VALUE: value}
    )


@pytest.mark.parametrize("name", SETS)
def test_both_sides_have_the_same_key(session, name):
    public, private = generated(session, name)
    ciphertext, ours = session.encapsulate(public, SECRET)
    theirs = session.decapsulate(private, ciphertext, SECRET)
    assert len(ciphertext) == SETS[name].ciphertext_bytes
    assert session.get(ours, c.VALUE) == session.get(theirs, c.VALUE)
    assert len(session.get(ours, c.VALUE)) == 32
    other = bytes([ciphertext[0] ^ 1]) + ciphertext[1:]
    refused_key = session.decapsulate(private, other, SECRET)
    assert session.get(refused_key, c.VALUE) != session.get(ours, c.VALUE)


@pytest.mark.parametrize("name", SETS)
def test_generated_keys_are_those_of_their_seed(session, name):
    public, private = generated(session, name, private=SHOWN)
    seed = session.get(private, c.SEED)
    ek, dk = ml_kem_standard.key_pair(SETS[name], seed[:32], seed[32:])
    assert session.get(public, c.VALUE) == ek
    assert session.get(private, c.VALUE) == dk
    assert session.get(private, c.PARAMETER_SET) == session.get(public, c.PARAMETER_SET)
    assert session.is_true(public, c.ENCAPSULATE)
    assert session.is_true(private, c.DECAPSULATE)
    assert session.is_true(private, c.LOCAL)
    for right in (c.SIGN, c.DECRYPT, c.DERIVE, c.UNWRAP):
        assert not session.is_true(private, right)


@pytest.mark.parametrize("name", ["ML-KEM-768", "ML-KEM-1024"])
def test_the_cryptography_package_agrees(session, name):
    kind = {"ML-KEM-768": mlkem.MLKEM768PrivateKey, "ML-KEM-1024": mlkem.MLKEM1024PrivateKey}[name]
    public, private = generated(session, name, private=SHOWN)
    theirs = load_der_public_key(session.get(public, c.PUBLIC_KEY_INFO))
    assert session.get(private, c.PUBLIC_KEY_INFO) == session.get(public, c.PUBLIC_KEY_INFO)
    key, ciphertext = theirs.encapsulate()
    assert session.get(session.decapsulate(private, ciphertext, SECRET), c.VALUE) == key
    own = kind.generate()
    ek = own.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    ciphertext, secret = session.encapsulate(imported_public(session, name, ek), SECRET)
    assert own.decapsulate(ciphertext) == session.get(secret, c.VALUE)
    back = imported(session, name, seed=own.private_bytes_raw())
    ciphertext, secret = session.encapsulate(imported_public(session, name, ek), SECRET)
    assert session.get(session.decapsulate(back, ciphertext, SECRET), c.VALUE) == session.get(
        secret, c.VALUE
    )


def test_a_hidden_key_shows_neither_seed_nor_value(session):
    _, private = generated(session, "ML-KEM-512")
    for kind in (c.SEED, c.VALUE):
        with refused(c.ATTRIBUTE_SENSITIVE):
            session.get(private, kind)


@in_software
def test_templates_that_are_refused(session):
    ek, dk = ml_kem_standard.key_pair(SETS["ML-KEM-768"], bytes(32), bytes(32))
    with refused(c.TEMPLATE_INCOMPLETE):
        session.generate(c.ML_KEM_KEY_PAIR_GEN, {}, {})
    with refused(c.PARAMETER_SET_NOT_SUPPORTED):
        session.generate(c.ML_KEM_KEY_PAIR_GEN, {c.PARAMETER_SET: 4}, {})
    with refused(c.TEMPLATE_INCONSISTENT):
        generated(session, "ML-KEM-512", private={c.PARAMETER_SET: 2})
    with refused(c.TEMPLATE_INCONSISTENT):
        generated(session, "ML-KEM-512", public={c.VALUE: ek})
    with refused(c.TEMPLATE_INCONSISTENT):
        generated(session, "ML-KEM-512", private={c.SEED: bytes(64)})
    with refused(c.TEMPLATE_INCOMPLETE):
        imported(session, "ML-KEM-768")
    for wrong in (dk[:-1], dk + b"\0", b"", ek):
        with refused(c.ATTRIBUTE_VALUE_INVALID):
            imported(session, "ML-KEM-768", value=wrong)
    for name in ("ML-KEM-512", "ML-KEM-1024"):
        with refused(c.ATTRIBUTE_VALUE_INVALID):
            imported(session, name, value=dk)
        with refused(c.ATTRIBUTE_VALUE_INVALID):
            imported_public(session, name, ek)
    for seed in (bytes(63), bytes(65), b""):
        with refused(c.ATTRIBUTE_VALUE_INVALID):
            imported(session, "ML-KEM-768", seed=seed)
    with refused(c.ATTRIBUTE_VALUE_INVALID):  # another key's seed
        imported(session, "ML-KEM-768", seed=bytes(63) + b"\1", value=dk)
    with refused(c.ATTRIBUTE_VALUE_INVALID):  # the hash is not that of ek
        imported(session, "ML-KEM-768", value=bytes([*dk[:1152], dk[1152] ^ 1, *dk[1153:]]))
    with refused(c.ATTRIBUTE_VALUE_INVALID):  # a coefficient is not below q
        imported_public(session, "ML-KEM-768", b"\xff\xff" + ek[2:])
    with refused(c.TEMPLATE_INCONSISTENT):  # of another kind of keys
        session.create(
            {c.CLASS: c.PUBLIC_KEY, c.KEY_TYPE: c.ML_KEM, c.PARAMETER_SET: 2, c.VALUE: ek}
            | {c.MODULUS: b"\1"}
        )
    with refused(c.TEMPLATE_INCONSISTENT):
        session.create({c.CLASS: c.PUBLIC_KEY, c.KEY_TYPE: c.RSA, c.MODULUS: b"\1", c.VALUE: ek})
    imported(session, "ML-KEM-768", seed=bytes(64), value=dk)


@in_software
def test_new_keys_that_are_refused(session):
    public, private = generated(session, "ML-KEM-512")
    ciphertext, _ = session.encapsulate(public)
    with refused(c.BUFFER_TOO_SMALL):
        session.encapsulate(public, room=767)
    for wrong in (ciphertext[:-1], ciphertext + b"\0", b"\0" * 1088):
        with refused(c.WRAPPED_KEY_LEN_RANGE):
            session.decapsulate(private, wrong)
    for template in ({c.VALUE_LEN: 16}, {c.CLASS: c.PRIVATE_KEY}, {c.VALUE: bytes(32)}):
        with refused(c.TEMPLATE_INCONSISTENT):
            session.encapsulate(public, template)
        with refused(c.TEMPLATE_INCONSISTENT):
            session.decapsulate(private, ciphertext, template)
    with refused(c.TEMPLATE_INCONSISTENT):  # whoever decapsulates again can have it shown
        session.decapsulate(private, ciphertext, {c.WRAP: True})
    with refused(c.MECHANISM_INVALID):
        session.encapsulate(public, kind=c.RSA_PKCS)
    with refused(c.MECHANISM_PARAM_INVALID):
        session.encapsulate(public, parameter=b"x")
    with refused(c.KEY_TYPE_INCONSISTENT):
        session.encapsulate(private)
    with refused(c.UNWRAPPING_KEY_TYPE_INCONSISTENT):
        session.decapsulate(public, ciphertext)
    with refused(c.UNWRAPPING_KEY_HANDLE_INVALID):
        session.decapsulate(999999, ciphertext)
    with refused(c.KEY_HANDLE_INVALID):
        session.encapsulate(999999)
    with refused(c.KEY_TYPE_INCONSISTENT):
        session.begin("C_SignInit", private, c.RSA_PKCS)
    public, private = generated(
        session, "ML-KEM-512", {c.ENCAPSULATE: False}, {c.DECAPSULATE: False}
    )
    with refused(c.KEY_FUNCTION_NOT_PERMITTED):
        session.encapsulate(public)
    with refused(c.KEY_FUNCTION_NOT_PERMITTED):
        session.decapsulate(private, ciphertext)


@in_software
def test_a_new_key_is_one_of_aes(session):
    public, private = generated(session, "ML-KEM-768")
    ciphertext, ours = session.encapsulate(public, {c.KEY_TYPE: c.AES})
    theirs = session.decapsulate(private, ciphertext, {c.KEY_TYPE: c.AES, c.VALUE_LEN: 32})
    ecb = 0x1081
    text = session.encrypt(ours, ecb, bytes(16))
    assert session.decrypt(theirs, ecb, text) == bytes(16)
    for key in (ours, theirs):
        assert not session.is_true(key, c.LOCAL)
        assert not session.is_true(key, c.ALWAYS_SENSITIVE)
        assert not session.is_true(key, c.NEVER_EXTRACTABLE)
        assert session.is_true(key, c.SENSITIVE)


@in_software
def test_templates_of_keys_that_encapsulate(session):
    only = {c.KEY_TYPE: c.AES, c.EXTRACTABLE: False}
    public, private = generated(
        session, "ML-KEM-512", {c.ENCAPSULATE_TEMPLATE: only}, {c.DECAPSULATE_TEMPLATE: only}
    )
    ciphertext, ours = session.encapsulate(public)
    theirs = session.decapsulate(private, ciphertext, {c.KEY_TYPE: c.AES})
    for key in (ours, theirs):
        assert int.from_bytes(session.get(key, c.KEY_TYPE), "little") == c.AES
        assert not session.is_true(key, c.EXTRACTABLE)
    with refused(c.KEY_HANDLE_INVALID):
        session.encapsulate(public, {c.EXTRACTABLE: True})
    with refused(c.TEMPLATE_INCONSISTENT):
        session.decapsulate(private, ciphertext, {c.EXTRACTABLE: True})
    shown = session.get_template(private, c.DECAPSULATE_TEMPLATE)
    assert shown[c.EXTRACTABLE] == b"\0"


@in_software
def test_keys_are_wrapped_as_pkcs_8(session):
    """By their seed, or without one by their value; unwrapped by either, or both."""
    name = "ML-KEM-768"
    bare = session.generate_aes(
        {c.VALUE_LEN: 32, c.WRAP: True, c.UNWRAP: True, c.DECRYPT: True, c.ENCRYPT: True}
    )
    own = mlkem.MLKEM768PrivateKey.generate()
    encoded = own.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    seed = own.private_bytes_raw()
    _, dk = ml_kem_standard.key_pair(SETS[name], seed[:32], seed[32:])
    ek = own.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    public = imported_public(session, name, ek)
    template = {c.CLASS: c.PRIVATE_KEY, c.KEY_TYPE: c.ML_KEM}
    content = {
        "seed": b"\x80\x40" + seed,
        "expanded": b"\x04\x82" + len(dk).to_bytes(2) + dk,
        "both": b"\x30\x82"
        + (66 + 4 + len(dk)).to_bytes(2)
        + b"\x04\x40"
        + seed
        + b"\x04\x82"
        + len(dk).to_bytes(2)
        + dk,
    }
    assert read_private(encoded).key == content["seed"]
    for form, inner in content.items():
        plain = PrivateKeyInfo(read_private(encoded).algorithm, None, inner).encoded
        wrapped = encrypt_wrapped(session, bare, plain)
        key = session.unwrap(c.AES_CBC_PAD, bare, wrapped, template | SHOWN, bytes(16))
        ciphertext, secret = session.encapsulate(public, SECRET)
        got = session.decapsulate(key, ciphertext, SECRET)
        assert session.get(got, c.VALUE) == session.get(secret, c.VALUE)
        assert session.get(key, c.VALUE) == dk
        again = session.wrap(c.AES_CBC_PAD, bare, key, bytes(16))
        found = read_private(session.decrypt(bare, c.AES_CBC_PAD, again, bytes(16)))
        assert found.key == content["expanded" if form == "expanded" else "seed"]
    for wrong in (
        content["both"][:-1],
        content["seed"] + b"\0",
        b"\x80\x3f" + seed[:-1],
        content["expanded"][:4] + dk[:-1],
        b"\xa0\x42\x04\x40" + seed,
        b"",
    ):
        plain = PrivateKeyInfo(read_private(encoded).algorithm, None, wrong).encoded
        wrapped = encrypt_wrapped(session, bare, plain)
        with refused(c.WRAPPED_KEY_INVALID):
            session.unwrap(c.AES_CBC_PAD, bare, wrapped, template | SHOWN, bytes(16))
    wrapped = encrypt_wrapped(session, bare, encoded)
    for other in ({c.KEY_TYPE: c.RSA}, {c.KEY_TYPE: c.EC}, {c.PARAMETER_SET: 1}):
        with refused(c.WRAPPED_KEY_INVALID):
            session.unwrap(c.AES_CBC_PAD, bare, wrapped, template | SHOWN | other, bytes(16))


def encrypt_wrapped(session, key, plain):
    """What a key that encrypts makes of an encoded key."""
    return session.encrypt(key, c.AES_CBC_PAD, plain, bytes(16))


def is_whole(case):
    """Whether callers can make all of a case. They cannot choose the message of an encapsulation:
    of such a case the interface checks the key, and test_published_messages_in_c the rest.
    """
    return case.operation != "encapsulate" or not case.valid


def passes(session, case):
    """Whether a published case is as it must be, through the interface of the token."""
    try:
        return case_result(session, case)
    except TokenError as error:
        if case.valid:
            raise
        return error.code in (c.ATTRIBUTE_VALUE_INVALID, c.WRAPPED_KEY_LEN_RANGE)


def case_result(session, case):
    given = case.inputs
    if case.operation == "check_key":
        if "ek" in given:
            return bool(imported_public(session, case.set, given["ek"]))
        return bool(imported(session, case.set, value=given["dk"]))
    if case.operation == "key_pair":
        key = imported(session, case.set, seed=given.get("seed") or given["d"] + given["z"])
        info = session.get(key, c.PUBLIC_KEY_INFO)
        found = case.agrees("dk", session.get(key, c.VALUE))
        found = found and case.agrees("ek", info[-SETS[case.set].ek_bytes :])
    elif case.operation == "encapsulate":
        # The message is the token's: see test_published_messages_in_c.
        key = imported_public(session, case.set, given["ek"])
        ciphertext, secret = session.encapsulate(key, SECRET)
        session.call("C_DestroyObject", secret)
        found = case.valid and len(ciphertext) == SETS[case.set].ciphertext_bytes
    else:
        numbers = {"seed": given["seed"]} if "seed" in given else {"value": given["dk"]}
        key = imported(session, case.set, **numbers)
        secret = session.decapsulate(key, given["c"], SECRET)
        found = case.valid and case.agrees("k", session.get(secret, c.VALUE))
        session.call("C_DestroyObject", secret)
    session.call("C_DestroyObject", key)
    return found


def published_cases():
    return [case for file in published("ML-KEM") for case in file.cases]


@in_software
def test_some_published_vectors(session):
    """Every 16th; the marker `vectors` has all of them."""
    cases = published_cases()[::16]
    assert [case.name for case in cases if not passes(session, case)] == []


@pytest.mark.vectors
@in_software
def test_all_published_vectors(session):
    cases = published_cases()
    assert [case.name for case in cases if not passes(session, case)] == []
    assert len(cases) == 1965


@pytest.mark.vectors
@pytest.mark.parametrize("session", ["sim-lattice"], indirect=True)
def test_all_published_decapsulations_on_the_engine(session):
    cases = [case for case in published_cases() if case.operation.startswith("decapsulate")]
    assert [case.name for case in cases if not passes(session, case)] == []
    assert len(cases) == 660


def test_published_messages_in_c(tmp_path):
    """Callers cannot choose the message that is encapsulated: here the module's C functions are
    called, with all of those that are published."""
    functions = compiled(tmp_path)
    sets = (ctypes.c_char * 0).in_dll(functions, "ml_kem_sets")
    size = 4 * 4 + 3 * 8  # of a struct ml_kem_set
    cases = [case for case in published_cases() if case.operation == "encapsulate" and case.valid]
    for case in cases:
        one = SETS[case.set]
        own = ctypes.c_void_p(ctypes.addressof(sets) + size * (NUMBERS[case.set] - 1))
        ciphertext = ctypes.create_string_buffer(one.ciphertext_bytes)
        secret = ctypes.create_string_buffer(32)
        functions.ml_kem_encapsulate(own, case.inputs["ek"], case.inputs["m"], ciphertext, secret)
        assert case.agrees("c", ciphertext.raw), case.name
        assert case.agrees("k", secret.raw), case.name
    assert len(cases) == 474


def compiled(folder):
    """ml_kem.c as a library."""
    library = folder / "ml_kem.so"
    sources = [build._SOURCES / name for name in ("ml_kem.c", "keccak.c")]
    flags = ("-std=c11", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror")
    run_tool("the C compiler", [build._compiler(), *flags, *sources, "-lcrypto", "-o", library])
    return ctypes.CDLL(str(library))
