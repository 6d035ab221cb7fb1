"""Stored objects that no call would make: stored.c, with the address sanitizer."""

from pathlib import Path

import pytest

from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import run_tool
from coprime.token import build
from tests.token.conftest import SANITIZERS

pytestmark = pytest.mark.xdist_group("token")

TESTS = ("modulus", "exponent", "private", "mechanisms", "lengths", "value", "accept")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """stored.c with the module's sources."""
    folder = tmp_path_factory.mktemp("stored")
    program = folder / "stored"
    root = Path(build.__file__).parents[1]
    sources = [*(root / "token/src").glob("*.c"), *(root / "drivers/src").glob("*.c")]
    flags = ("-std=c11", "-g", "-O0", "-Wall", "-Wextra", "-Werror", *SANITIZERS["address"])
    includes = build.include_options(folder)
    source = Path(__file__).with_name("stored.c")
    command = [build._compiler(), *flags, *includes, source, *sources]
    try:
        run_tool(
            "the C compiler",
            [*map(str, command), "-o", str(program), "-lcrypto", "-lpthread", "-ldl"],
        )
    except ToolError as error:
        pytest.skip(f"the compiler has no sanitizer: {error}".splitlines()[0])
    return program


@pytest.mark.fuzz
@pytest.mark.parametrize("test", TESTS)
def test_what_a_file_has_is_bounded(token, stored, test):
    none = {"COPRIME_TOKEN_DEVICE": "sim:/no/such/library.so", "COPRIME_TOKEN_KEYGEN": "software"}
    token.run(stored, test, environment=none)
