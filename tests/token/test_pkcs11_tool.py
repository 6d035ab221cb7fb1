"""OpenSC's pkcs11-tool with our module: what it says of itself, and its own tests."""

import os
import re

import pytest

from tests.openssl import openssl
from tests.token.tokens import OFFICER_PIN, PIN

pytestmark = pytest.mark.xdist_group("token")


@pytest.mark.clients
def test_its_own_test_finds_no_error(keyed):
    output = keyed.tool("--token-label", "t1", "--login", "--pin", PIN, "--test")
    assert "No errors\n" in output
    assert "not implemented" not in output
    checked = re.findall(r"^ +([\w-]+): (?:OK|mgf)", output, re.MULTILINE)
    assert len(checked) >= 12


def test_a_child_can_initialize_the_module(keyed):
    assert "forked child" in keyed.tool("--test-fork")


@pytest.mark.clients
def test_initialization_and_pins(module, tmp_path, token):
    fresh = type(token)(module, tmp_path / "fresh" / "token")
    assert "uninitialized" in fresh.tool("--list-slots")
    init = ("--init-token", "--slot", "0", "--label", "fresh", "--so-pin")
    assert "initialized" in fresh.tool(*init, OFFICER_PIN)
    pin = ("--init-pin", "--login", "--login-type", "so", "--new-pin", "567890", "--so-pin")
    fresh.tool(*pin, OFFICER_PIN)
    assert (fresh.folder / "token").stat().st_mode & 0o777 == 0o600
    assert "CKR_PIN_INCORRECT" in fresh.tool(*init, "00000000", check=False)
    fresh.tool("--login", "--pin", "567890", "--change-pin", "--new-pin", "abcdef")
    assert "CKR_PIN_INCORRECT" in fresh.tool("--login", "--pin", "567890", "-O", check=False)
    assert "user PIN count low" in fresh.tool("--list-slots")
    fresh.tool("--login", "--pin", "abcdef", "-O")
    assert "user PIN count low" not in fresh.tool("--list-slots")


def test_a_pin_is_locked_after_ten_failures(token):
    for _ in range(10):
        assert "CKR_PIN_INCORRECT" in token.tool("--login", "--pin", "9999", "-O", check=False)
    assert "CKR_PIN_LOCKED" in token.tool("--login", "--pin", PIN, "-O", check=False)
    token.tool(
        *("--init-pin", "--login", "--login-type", "so"),
        *("--so-pin", OFFICER_PIN, "--new-pin", "123456"),
    )
    token.tool("--login", "--pin", PIN, "-O")


SIGNATURES = {
    "SHA256-RSA-PKCS": (),
    "SHA384-RSA-PKCS": (),
    "SHA512-RSA-PKCS": (),
    "SHA256-RSA-PKCS-PSS": ("-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32"),
}


@pytest.mark.clients
@pytest.mark.parametrize("mechanism", SIGNATURES)
def test_openssl_verifies_a_signature(keyed, tmp_path, mechanism):
    data, signature, public = (tmp_path / name for name in ("data", "signature", "public"))
    data.write_bytes(os.urandom(1000))
    keyed.tool("--read-object", "--type", "pubkey", "--id", "01", "-o", public)
    sign = ("--login", "--pin", PIN, "--sign", "--id", "01", "-m", mechanism)
    keyed.tool(*sign, "-i", data, "-o", signature)
    digest = "-" + mechanism.partition("-")[0].lower()
    options = ("-keyform", "DER", "-verify", public, "-signature", signature)
    assert openssl("dgst", digest, *SIGNATURES[mechanism], *options, data, check=False)


DECRYPTIONS = {
    "RSA-PKCS": ((), ("-pkeyopt", "rsa_padding_mode:pkcs1")),
    "RSA-PKCS-OAEP": (
        ("--hash-algorithm", "SHA-1", "--mgf", "MGF1-SHA1"),
        ("-pkeyopt", "rsa_padding_mode:oaep"),
    ),
}


@pytest.mark.parametrize("mechanism", DECRYPTIONS)
def test_it_decrypts_what_openssl_encrypted(keyed, tmp_path, mechanism):
    ours, theirs = DECRYPTIONS[mechanism]
    ciphertext, public, message = (tmp_path / name for name in ("ciphertext", "public", "message"))
    keyed.tool("--read-object", "--type", "pubkey", "--id", "01", "-o", public)
    encrypt = ("pkeyutl", "-encrypt", "-pubin", "-keyform", "DER", "-inkey", public, *theirs)
    ciphertext.write_bytes(openssl(*encrypt, data=b"a message"))
    decrypt = ("--login", "--pin", PIN, "--decrypt", "--id", "01", "-m", mechanism, *ours)
    keyed.tool(*decrypt, "-i", ciphertext, "-o", message)
    assert message.read_bytes() == b"a message"


def test_an_imported_key_signs(token, tmp_path):
    key, data, signature = (tmp_path / name for name in ("key", "data", "signature"))
    openssl("genrsa", "-traditional", "-out", tmp_path / "key.pem", "1024")
    openssl("rsa", "-in", tmp_path / "key.pem", "-outform", "DER", "-out", key)
    openssl("rsa", "-in", tmp_path / "key.pem", "-pubout", "-out", tmp_path / "public")
    data.write_bytes(b"data")
    token.tool("--login", "--pin", PIN, "--write-object", key, "--type", "privkey", "--id", "02")
    sign = ("--login", "--pin", PIN, "--sign", "--id", "02", "-m", "SHA256-RSA-PKCS")
    token.tool(*sign, "-i", data, "-o", signature)
    assert openssl(
        *("dgst", "-sha256", "-verify", tmp_path / "public", "-signature", signature, data),
        check=False,
    )


def test_no_number_of_a_key_is_on_the_disk(token, tmp_path):
    key = tmp_path / "key.pem"
    openssl("genrsa", "-traditional", "-out", key, "1024")
    openssl("rsa", "-in", key, "-outform", "DER", "-out", tmp_path / "key")
    token.tool("--login", "--pin", PIN, "--write-object", tmp_path / "key", "--type", "privkey")
    text = openssl("rsa", "-in", key, "-text", "-noout").decode()
    stored = b"".join(path.read_bytes() for path in token.folder.iterdir())
    found = re.findall(r"^(\w+):\n((?: +[0-9a-f:]+\n)+)", text, re.MULTILINE)
    numbers = {name: bytes.fromhex(re.sub(r"[\s:]", "", digits)) for name, digits in found}
    secret = {"privateExponent", "prime1", "prime2", "exponent1", "exponent2", "coefficient"}
    assert secret <= {*numbers}
    for name in secret:
        number = numbers[name].lstrip(b"\0")
        assert not any(number[k : k + 8] in stored for k in range(len(number) - 8)), name
