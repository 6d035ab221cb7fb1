"""What is decrypted is blinded: the engine, and the check of its result, see random numbers."""

from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from coprime.rsa.keys import generate
from coprime.token import build
from tests.token import cryptoki
from tests.token.cryptoki import running

pytestmark = pytest.mark.xdist_group("token")

MESSAGE = b"a message"


@pytest.fixture
def traced(token, faulty, tmp_path, monkeypatch):
    """A session with an engine that writes down what it is given, and where it does."""
    path = tmp_path / "trace"
    for name, value in (
        ("FAULTY_ENGINE", str(token.module.with_name(build.SIMULATION))),
        ("FAULTY_TRACE", str(path)),
    ):
        monkeypatch.setenv(name, value)
    with running(replace(token, settings={"COPRIME_TOKEN_DEVICE": f"sim:{faulty}"})) as session:
        session.login()
        yield session, path


@pytest.mark.parametrize("bits", [512, pytest.param(1024, marks=pytest.mark.clients)])
def test_an_engine_decrypts_random_numbers(traced, bits):
    """Of one ciphertext another one each time; a signature's operand is always the same."""
    session, path = traced
    own = generate(bits)
    public = rsa.RSAPublicNumbers(own.e, own.n)
    key = rsa.RSAPrivateNumbers(own.p, own.q, own.d, own.dp, own.dq, own.qinv, public)
    size = bits // 8
    _, handle = session.import_pair(key)
    padded = b"\0\2" + bytes([7]) * (size - len(MESSAGE) - 3) + b"\0" + MESSAGE
    ciphertext = pow(int.from_bytes(padded), own.e, own.n).to_bytes(size)
    for _ in range(4):  # the key is written before the first one
        session.sign(handle, cryptoki.SHA256_RSA_PKCS, MESSAGE)
    for _ in range(4):
        assert session.decrypt(handle, cryptoki.RSA_PKCS, ciphertext) == MESSAGE
    lines = path.read_text().splitlines()
    assert len(lines) == 8
    assert len(set(lines[1:4])) == 1
    assert len(set(lines[4:])) == 4
    assert not set(lines[1:4]) & set(lines[4:])


@pytest.mark.parametrize(
    "bits", [512, 1031, *(pytest.param(one, marks=pytest.mark.clients) for one in (1000, 1024))]
)
def test_every_number_is_decrypted(session, bits):
    """Small and large ones, for moduli that end within a word or a byte."""
    public, private = session.generate_pair(bits=bits)
    n = int.from_bytes(session.get(public, cryptoki.MODULUS))
    size = (bits + 7) // 8
    for value in (0, 1, 2, 1 << 64, n // 2, n - 2, n - 1):
        ciphertext = pow(value, 65537, n).to_bytes(size)
        assert session.decrypt(private, cryptoki.RSA_X_509, ciphertext) == value.to_bytes(size)
