"""Fuzzing of the module's parsers with libFuzzer, and the sanitizers of addresses and behaviour."""

import os
import re
import shutil
from pathlib import Path

import pytest

from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import run_tool
from coprime.pqc.key_sets import ML_KEM
from coprime.pqc.keys import KeyForm, LatticePrivateKey
from coprime.pqc.ml_dsa_key_sets import ML_DSA
from coprime.token import build
from tests.token import cryptoki
from tests.token.stored import attributes

pytestmark = [pytest.mark.xdist_group("token"), pytest.mark.fuzz]

SECONDS = int(os.environ.get("COPRIME_FUZZ_SECONDS", "60"))


MAX_BYTES = {"fuzz": 1024, "fuzz_store": 4096}
"""Of an input, by program: what callers give to the module, and what its file holds."""


def seeds():
    """Records as fuzz_store.c takes them: keys and other objects, whole, that it then changes."""
    common = {cryptoki.TOKEN: True, cryptoki.PRIVATE: False}
    modulus = {cryptoki.MODULUS: b"\xc1" + bytes(126) + b"\1", cryptoki.PUBLIC_EXPONENT: b"\1\0\1"}
    key = {cryptoki.CLASS: cryptoki.PUBLIC_KEY, cryptoki.KEY_TYPE: cryptoki.RSA, **common}
    allowed = {0x40000600: bytes([3] + 7 * [0])}
    uses = {0x104: True, 0x10A: True, cryptoki.WRAP: True}
    for values in (
        key | modulus | uses,
        key | modulus | uses | allowed,
        {cryptoki.CLASS: 0, cryptoki.VALUE: b"data", **common},
        {cryptoki.CLASS: 1, 0x80: 0, cryptoki.VALUE: b"certificate", **common},
        *lattice_keys(common),
    ):
        content = attributes(values)
        yield b"\1" + len(content).to_bytes(2, "little") + b"\0" + content
        yield b"\1" + len(content).to_bytes(2, "little") + b"\2" + content


def lattice_keys(common):
    """A pair of ML-KEM-512 and one of ML-DSA-44: private keys as a seed, expanded and as both."""
    may = {
        "ML-KEM-512": (cryptoki.ML_KEM, cryptoki.ENCAPSULATE, cryptoki.DECAPSULATE),
        "ML-DSA-44": (cryptoki.ML_DSA, cryptoki.VERIFY, cryptoki.SIGN),
    }
    for name, (kind, public_use, private_use) in may.items():
        key_set = (ML_KEM | ML_DSA)[name]
        key = LatticePrivateKey(key_set, bytes(range(key_set.seed_bytes)))
        values = {cryptoki.KEY_TYPE: kind, cryptoki.PARAMETER_SET: 1, **common}
        public = {cryptoki.CLASS: cryptoki.PUBLIC_KEY, public_use: True}
        yield values | public | {cryptoki.VALUE: key.software_public().key}
        private = values | {cryptoki.CLASS: cryptoki.PRIVATE_KEY, private_use: True}
        seed = {cryptoki.SEED: key.seed}
        expanded = {cryptoki.VALUE: key.in_form(KeyForm.EXPANDED).expanded}
        for chosen in (seed, expanded, seed | expanded):
            yield private | chosen


@pytest.fixture(scope="module", params=MAX_BYTES)
def fuzzer(request, module, tmp_path_factory):
    """A program with the module's sources."""
    if shutil.which("clang") is None:
        pytest.skip("there is no clang (on Debian: apt-get install clang)")
    folder = tmp_path_factory.mktemp(request.param)
    program = folder / request.param
    root = Path(build.__file__).parents[1]
    sources = [*(root / "token/src").glob("*.c"), *(root / "drivers/src").glob("*.c")]
    flags = ("-std=c11", "-g", "-O1", "-fsanitize=fuzzer,address,undefined")
    includes = build.include_options(folder)
    source = Path(__file__).with_name(f"{request.param}.c")
    command = ["clang", *flags, "-fno-sanitize-recover=all", *includes, source, *sources]
    try:
        run_tool("clang", [*map(str, command), "-o", str(program), "-lcrypto", "-lpthread", "-ldl"])
    except ToolError as error:
        if "libclang_rt" in str(error):
            pytest.skip("clang has no libFuzzer (on Debian: apt-get install libclang-rt-14-dev)")
        raise
    return program


@pytest.mark.timeout(4 * SECONDS + 1800)
@pytest.mark.parametrize("device", ["none", "software", "sim"])
def test_no_input_does_harm(token, fuzzer, tmp_path, device):
    """What is encrypted, wrapped and derived comes back right, and many of these calls succeed."""
    (tmp_path / "corpus").mkdir()
    for number, seed in enumerate(seeds()):
        (tmp_path / "corpus" / str(number)).write_bytes(seed)
    seconds = 600 if device == "sim" else 60  # for one input: the engine is simulated
    total = 3 * SECONDS if device == "sim" else SECONDS
    limits = (
        f"-max_total_time={total}",
        f"-max_len={MAX_BYTES[fuzzer.name]}",
        f"-timeout={seconds}",
    )
    devices = {"none": "sim:/no/such/library.so", "software": "software"}
    devices["sim"] = f"sim:{token.module.with_name(build.SIMULATION)},software"
    environment = {"COPRIME_TOKEN_DEVICE": devices[device]}
    if device != "none":
        environment["FUZZ_ENGINE"] = "1"
    said = token.run(
        fuzzer,
        *(*limits, "-print_final_stats=1", tmp_path / "corpus"),
        environment=environment,
        cwd=tmp_path,
        timeout=total + 900,
    )
    print(said[-700:])
    assert "number_of_executed_units" in said
    if fuzzer.name == "fuzz":
        (counts,) = re.findall(r"succeeded: (.*)", said)
        for call, count in zip(*[iter(counts.split())] * 2, strict=True):
            assert int(count) > 0, (call, counts)
