"""The vectors of RSA Laboratories and NIST, from the `cryptography_vectors` package."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cryptography_vectors
import pytest

from coprime.rsa import operations
from coprime.rsa.keys import RsaPrivateKey, RsaPublicKey, parse_private
from coprime.rsa.padding import DecryptionError, Oaep, Pkcs1Encryption, Pkcs1Signature, Pss
from tests.integers import IntegerAccelerator

FOLDER = Path(cryptography_vectors.__file__).parent / "asymmetric" / "RSA"
CUSTOM_OAEP = sorted(path.stem for path in (FOLDER / "oaep-custom").iterdir())


@dataclass(frozen=True)
class Example:
    """One message with what belongs to it; `random` is the salt or the seed."""

    message: bytes
    random: bytes
    output: bytes


def labelled(path: Path) -> Iterator[tuple[str, bytes]]:
    """The values of a file of RSA Laboratories: a comment that ends with a colon, lines of hex."""
    label, digits = "", ""
    for line in [*path.read_text().splitlines(), "#"]:
        if line.startswith("#"):
            if digits:
                yield label, bytes.fromhex(digits if len(digits) % 2 == 0 else "0" + digits)
            label, digits = line.strip("# :"), ""
        elif re.fullmatch(r"[0-9a-f ]+", line.strip()):
            digits += line.replace(" ", "").strip()


def keys_and_examples(name: str) -> list[tuple[RsaPrivateKey, list[Example]]]:
    """Every key of a file with its examples."""
    result: list[tuple[RsaPrivateKey, list[Example]]] = []
    numbers: dict[str, int] = {}
    message = random = b""
    for label, value in labelled(FOLDER / name):
        if label in ("Signature", "Encryption"):
            result[-1][1].append(Example(message, random, value))
            random = b""
        elif label.startswith("Message"):
            message = value
        elif label in ("Salt", "Seed"):
            random = value
        else:
            numbers[label] = int.from_bytes(value)
            if label == "Coefficient":
                key = RsaPrivateKey(
                    n=numbers["Modulus"],
                    e=numbers["Public exponent"],
                    d=numbers["Exponent"],
                    p=numbers["Prime 1"],
                    q=numbers["Prime 2"],
                    dp=numbers["Prime exponent 1"],
                    dq=numbers["Prime exponent 2"],
                    qinv=numbers["Coefficient"],
                )
                result.append((key, []))
    return result


def check_signatures(accelerator, key, examples, padding_of) -> None:
    """Every signature verifies, is made again, and no longer verifies with one bit changed."""
    for example in examples:
        padding = padding_of(example)
        operations.verify(accelerator, key.public, example.message, example.output, padding)
        assert operations.sign(accelerator, key, example.message, padding) == example.output
    changed = bytes([*example.output[:-1], example.output[-1] ^ 1])
    with pytest.raises(operations.InvalidSignatureError):
        operations.verify(accelerator, key.public, example.message, changed, padding)


def check_encryptions(accelerator, key, examples, padding_of) -> None:
    """Every ciphertext decrypts, is made again from its seed, and does not with one bit changed."""
    for example in examples:
        padding = padding_of(example)
        assert operations.decrypt(accelerator, key, example.output, padding) == example.message
        if example.random:
            again = operations.encrypt(accelerator, key.public, example.message, padding)
            assert again == example.output
    changed = bytes([*example.output[:-1], example.output[-1] ^ 1])
    if isinstance(padding, Pkcs1Encryption):
        assert operations.decrypt(accelerator, key, changed, padding) != example.message
    else:
        with pytest.raises(DecryptionError):
            operations.decrypt(accelerator, key, changed, padding)


@pytest.mark.vectors
@pytest.mark.xdist_group("karatsuba, published vectors")
@pytest.mark.parametrize(
    ("name", "check", "padding_of"),
    [
        ("pkcs1v15sign-vectors.txt", check_signatures, lambda _: Pkcs1Signature("sha1")),
        pytest.param(
            "pkcs-1v2-1d2-vec/pss-vect.txt",
            check_signatures,
            lambda example: Pss("sha1", random=lambda _: example.random),
        ),
        pytest.param(
            "pkcs1v15crypt-vectors.txt",
            check_encryptions,
            lambda example: Pkcs1Encryption(random=lambda _: example.random),
        ),
        pytest.param(
            "pkcs-1v2-1d2-vec/oaep-vect.txt",
            check_encryptions,
            lambda example: Oaep("sha1", random=lambda _: example.random),
        ),
    ],
    ids=["pkcs1 signatures", "pss", "pkcs1 encryption", "oaep"],
)
def test_some_of_each_file_on_karatsuba(karatsuba, name, check, padding_of):
    """Messages of its shortest and of its longest key; the slow tests below run all of them."""
    keys = sorted(keys_and_examples(name), key=lambda one: one[0].bits)
    for (key, examples), count in ((keys[0], 2), (keys[-1], 1)):
        assert key.bits <= karatsuba.accelerator.max_length
        check(karatsuba.accelerator, key, examples[:count], padding_of)


@pytest.mark.parametrize("index", range(15))
def test_pkcs1_signatures(accelerator, index):
    key, examples = keys_and_examples("pkcs1v15sign-vectors.txt")[index]
    assert len(examples) == 20
    check_signatures(accelerator, key, examples, lambda _: Pkcs1Signature("sha1"))


@pytest.mark.parametrize("index", range(10))
def test_pss_signatures(accelerator, index):
    key, examples = keys_and_examples("pkcs-1v2-1d2-vec/pss-vect.txt")[index]
    assert len(examples) == 6
    check_signatures(
        accelerator, key, examples, lambda example: Pss("sha1", random=lambda _: example.random)
    )


@pytest.mark.parametrize("index", range(15))
def test_pkcs1_encryption(accelerator, index):
    key, examples = keys_and_examples("pkcs1v15crypt-vectors.txt")[index]
    assert len(examples) == 20
    check_encryptions(
        accelerator, key, examples, lambda example: Pkcs1Encryption(random=lambda _: example.random)
    )


@pytest.mark.parametrize("index", range(10))
def test_oaep_encryption(accelerator, index):
    key, examples = keys_and_examples("pkcs-1v2-1d2-vec/oaep-vect.txt")[index]
    assert len(examples) == 6
    check_encryptions(
        accelerator, key, examples, lambda example: Oaep("sha1", random=lambda _: example.random)
    )


def check_two_hashes(accelerator, name):
    """A file of ciphertexts, whose name says the hash of the mask and that of the label."""
    _, mgf_hash, label_hash = name.split("-")
    read = 0
    for key, examples in keys_and_examples(f"oaep-custom/{name}.txt")[:2]:
        read += len(examples)
        check_encryptions(accelerator, key, examples, lambda _: Oaep(label_hash, mgf_hash))
    assert read


@pytest.mark.parametrize("name", CUSTOM_OAEP[::60])
def test_oaep_with_two_hashes(accelerator, name):
    check_two_hashes(accelerator, name)


@pytest.mark.vectors
@pytest.mark.parametrize("label_hash", sorted({name.split("-")[2] for name in CUSTOM_OAEP}))
def test_oaep_with_all_pairs_of_hashes(label_hash):
    """On Python's integers, as software pads: devices would only decrypt for minutes."""
    for name in [one for one in CUSTOM_OAEP if one.split("-")[2] == label_hash]:
        check_two_hashes(IntegerAccelerator(), name)


def test_oaep_with_a_label(accelerator):
    text = (FOLDER / "oaep-label.txt").read_text()
    groups = text.split("COUNT = ")[1:]
    assert groups
    for group in groups:
        fields = dict(re.findall(r"^(\w+) = (.+)$", group, re.MULTILINE))
        key = parse_private(bytes.fromhex(fields["KEY"]))
        padding = Oaep(fields["OAEPDigest"].lower(), label=bytes.fromhex(fields["OAEPLabel"]))
        message = operations.decrypt(accelerator, key, bytes.fromhex(fields["Input"]), padding)
        assert message == fields["Output"].strip('"').encode()


@pytest.mark.parametrize(
    ("name", "padding_of"),
    [
        ("SigVer15EMTest.txt", Pkcs1Signature),
        ("FIPS_186-2/SigVer15_186-3.rsp", Pkcs1Signature),
        ("FIPS_186-2/SigVerPSS_186-3.rsp", lambda name: Pss(name, salt_length=10)),
        ("FIPS_186-2/SigVerPSS_186-3.rsp", lambda name: Pss(name, salt_length="auto")),
    ],
)
def test_good_and_bad_signatures(accelerator, name, padding_of):
    """NIST's signatures, of which most were spoiled: message, key, format or signature."""
    fields: dict[str, str] = {}
    results = set()
    for line in (FOLDER / name).read_text().splitlines():
        field, _, value = map(str.strip, line.partition("="))
        fields[field] = value
        if field != "Result" or len(fields["n"]) > 2048 // 4:
            continue
        good = value.startswith("P")
        results.add(good)
        key = RsaPublicKey(int(fields["n"], 16), int(fields["e"], 16))
        signature = int(fields["S"], 16).to_bytes((key.bits + 7) // 8)
        arguments = (
            accelerator,
            key,
            bytes.fromhex(fields["Msg"]),
            signature,
            padding_of(fields["SHAAlg"].lower()),
        )
        if good:
            operations.verify(*arguments)
        else:
            with pytest.raises(operations.InvalidSignatureError):
                operations.verify(*arguments)
    assert results == ({False} if "EMTest" in name else {False, True})
