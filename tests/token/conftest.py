"""The module, built once, and tokens for it."""

import contextlib
import os
import shutil

import pytest

from coprime.flow.tool_errors import ToolError
from coprime.token import build
from coprime.token.module import TokenModule
from tests.token.cryptoki import running
from tests.token.stored import Stored
from tests.token.tokens import LABEL, OFFICER_PIN, PIN, Token, compile_check, compile_faulty

SANITIZERS = {
    "none": (),
    "address": ("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    "thread": ("-fsanitize=thread",),
}


@pytest.fixture(scope="session")
def module(tmp_path_factory):
    """The module, with its simulated engine beside it."""
    try:
        path = build.build_token(tmp_path_factory.mktemp("module"))[0]
    except ToolError as error:
        pytest.skip(str(error))
    return path


@pytest.fixture(scope="session")
def ready(module, tmp_path_factory):
    """A folder with a token that has both PINs, and no object.

    A login derives a key from the PIN, which takes a third of a second: most of the time of many
    tests. Once the cost that the module chose has been checked, the file gets keys of a low cost.
    """
    folder = tmp_path_factory.mktemp("ready") / "token"
    before = os.environ.get("COPRIME_TOKEN_DIR")
    os.environ["COPRIME_TOKEN_DIR"] = str(folder)
    try:
        loaded = TokenModule(module)
        with loaded.running():
            loaded.initialize(0, LABEL, OFFICER_PIN.encode(), PIN.encode())
    finally:
        del os.environ["COPRIME_TOKEN_DIR"]
        if before is not None:
            os.environ["COPRIME_TOKEN_DIR"] = before
    made = Stored.read(folder / "token")
    for pin in (made.officer, made.user):
        assert (pin.log_n, pin.r, pin.p) == (17, 8, 1)
    made.derive_anew(OFFICER_PIN, PIN, log_n=10)  # the least that the module takes
    made.write(folder / "token")
    return folder


@pytest.fixture
def token(module, ready, tmp_path):
    """A token with both PINs, and no object."""
    shutil.copytree(ready, tmp_path / "token")
    return Token(module, tmp_path / "token")


@pytest.fixture(scope="session")
def keyed(module, ready, tmp_path_factory):
    """A token with the key pair rsa1, which no test changes."""
    folder = tmp_path_factory.mktemp("keyed") / "token"
    shutil.copytree(ready, folder)
    made = Token(module, folder)
    made.generate()
    return made


@pytest.fixture(scope="session")
def check(module, tmp_path_factory):
    """The program check.c."""
    return compile_check(tmp_path_factory.mktemp("check"))


@pytest.fixture(scope="session")
def faulty(tmp_path_factory):
    """An engine that errs: faulty.c."""
    return compile_faulty(tmp_path_factory.mktemp("faulty"))


@contextlib.contextmanager
def opened_session(module, ready, folder, device="sim"):
    """A session of a token on a device, with the user logged in: in this process, one at a time."""
    shutil.copytree(ready, folder)
    token = Token(module, folder, {"COPRIME_TOKEN_DEVICE": device})
    with running(token) as opened:
        opened.login()
        yield opened


@pytest.fixture(scope="module")
def session(module, ready, tmp_path_factory):
    """A session of a token on the simulated engine."""
    folder = tmp_path_factory.mktemp("session") / "token"
    with opened_session(module, ready, folder) as opened:
        yield opened


@pytest.fixture(
    scope="session",
    params=[
        "none",
        *(pytest.param(name, marks=pytest.mark.clients) for name in ("address", "thread")),
    ],
)
def sanitized(request, module, tmp_path_factory):
    """The module and check.c, with a sanitizer."""
    folder = tmp_path_factory.mktemp("sanitized")
    options = SANITIZERS[request.param]
    try:
        program = compile_check(folder, *options)
        shutil.copy(build.build_module(options), folder / build.MODULE)
    except ToolError as error:
        pytest.skip(f"the compiler has no sanitizer: {error}".splitlines()[0])
    for name in (build.SIMULATION, build.LATTICE_SIMULATION):
        shutil.copy(module.with_name(name), folder)
    return program, folder / build.MODULE
