"""Key pairs that the engine generates; a disturbed one gives a right key, or none."""

import pytest

from coprime.token import build
from tests.openssl import openssl
from tests.token.tokens import PIN

pytestmark = pytest.mark.xdist_group("token")

ON_DEVICE = {"COPRIME_TOKEN_KEYGEN": "device"}
GENERATE = ("--login", "--pin", PIN, "--keypairgen", "--id", "01", "--label", "made")


def check_signature(token, folder):
    """OpenSSL verifies what the key signs."""
    data, signature, public = (folder / name for name in ("data", "signature", "public"))
    data.write_bytes(b"data")
    token.tool("--read-object", "--type", "pubkey", "--id", "01", "-o", public)
    sign = ("--login", "--pin", PIN, "--sign", "--id", "01", "-m", "SHA256-RSA-PKCS")
    token.tool(*sign, "-i", data, "-o", signature)
    options = ("-keyform", "DER", "-verify", public, "-signature", signature, data)
    assert openssl("dgst", "-sha256", *options, check=False)


@pytest.mark.parametrize("bits", [1024, pytest.param(2048, marks=pytest.mark.slow)])
def test_the_engine_generates_a_key(token, tmp_path, bits):
    said = token.tool(*GENERATE, "--key-type", f"rsa:{bits}", environment=ON_DEVICE)
    assert f"RSA {bits} bits" in said
    assert "sensitive, always sensitive, never extractable, local" in said
    check_signature(token, tmp_path)


def test_where_keys_are_generated(token, tmp_path):
    """Without an engine no key is generated on it; software needs none."""
    absent = {"COPRIME_TOKEN_DEVICE": "sim:/no/such/library.so"}
    make = (*GENERATE, "--key-type", "rsa:1024")
    said = token.tool(*make, check=False, environment=ON_DEVICE | absent)
    assert "CKR_DEVICE_ERROR" in said
    assert "made" not in token.tool("-O")
    token.tool(*make, environment=absent)
    configuration = tmp_path / "token.conf"
    configuration.write_text(f"slot {token.folder} sim:/no/such/library.so software\n")
    named = {"COPRIME_TOKEN_DIR": "", "COPRIME_TOKEN_CONF": str(configuration)}
    token.tool(*make, environment=named)
    configuration.write_text(f"slot {token.folder} sim elsewhere\n")
    assert "CKR_FUNCTION_FAILED" in token.tool("-L", check=False, environment=named)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_device_that_errs_generates_a_right_key_or_none(token, faulty, tmp_path, seed):
    engine = ON_DEVICE | {
        "COPRIME_TOKEN_DEVICE": f"sim:{faulty}",
        "FAULTY_ENGINE": str(token.module.with_name(build.SIMULATION)),
        "FAULTY_SEED": str(seed),
        "FAULTY_RATE": "20000",
    }
    make = (*GENERATE, "--key-type", "rsa:1024")
    said = token.tool(*make, check=False, environment=engine)
    if "made" in token.tool("-O"):
        check_signature(token, tmp_path)
    else:
        assert "CKR_DEVICE_ERROR" in said
