"""Fuzzing of the module's parsers with libFuzzer, and the sanitizers of addresses and behaviour."""

import os
import shutil
from pathlib import Path

import pytest

from coprime.flow.tools import run_tool
from coprime.token import build

pytestmark = [pytest.mark.xdist_group("token"), pytest.mark.slow]

SECONDS = int(os.environ.get("COPRIME_FUZZ_SECONDS", "60"))


@pytest.fixture(scope="module")
def fuzzer(module, tmp_path_factory):
    """fuzz.c with the module's sources."""
    if shutil.which("clang") is None:
        pytest.skip("there is no clang (on Debian: apt-get install clang)")
    folder = tmp_path_factory.mktemp("fuzz")
    program = folder / "fuzz"
    root = Path(build.__file__).parents[1]
    sources = [*(root / "token/src").glob("*.c"), *(root / "drivers/src").glob("*.c")]
    flags = ("-std=c11", "-g", "-O1", "-fsanitize=fuzzer,address,undefined")
    includes = [*build._headers(), *(f"-I{path}" for path in build._INCLUDES)]
    source = Path(__file__).with_name("fuzz.c")
    command = ["clang", *flags, "-fno-sanitize-recover=all", *includes, source, *sources]
    run_tool("clang", [*map(str, command), "-o", str(program), "-lcrypto", "-lpthread", "-ldl"])
    return program


def test_no_input_does_harm(token, fuzzer, tmp_path):
    (tmp_path / "corpus").mkdir()
    limits = (f"-max_total_time={SECONDS}", "-max_len=1024", "-timeout=60", "-print_final_stats=1")
    none = {"COPRIME_TOKEN_DEVICE": "sim:/no/such/library.so"}
    said = token.run(
        fuzzer, *limits, tmp_path / "corpus", environment=none, cwd=tmp_path, timeout=SECONDS + 300
    )
    print(said[-600:])
    assert "number_of_executed_units" in said
