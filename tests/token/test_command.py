"""`coprime token`, and what it says where something is missing."""

import pytest

from coprime.flow.tool_errors import ToolError
from coprime.token import build
from tests.cli.command import run, run_json
from tests.token import cryptoki
from tests.token.cryptoki import running
from tests.token.stored import Stored
from tests.token.tokens import PIN

pytestmark = pytest.mark.xdist_group("token")


def test_init_and_info(capsys, module, tmp_path, monkeypatch):
    monkeypatch.setenv("COPRIME_TOKEN_DIR", str(tmp_path / "token"))
    officer, user = tmp_path / "officer", tmp_path / "user"
    officer.write_text("12345678\n")
    user.write_text("12345678\n")
    common = ("--module", module)
    (empty,) = run_json(capsys, "token", "info", *common)["slots"]
    mechanisms = empty.pop("mechanisms")
    assert mechanisms["ECDH1_DERIVE"] == ["derive"]
    assert not [name for name in mechanisms if name.startswith("0x")], "mechanism_names.py"
    assert [empty] == [
        {
            "slot": 0,
            "label": "",
            "serial": "",
            "initialized": False,
            "user_pin": False,
            "writable": True,
            "user_pin_locked": False,
            "officer_pin_locked": False,
            "keys": [],
        }
    ]
    init = ("token", "init", "--label", "t1", "--so-pin-file", officer, "--pin-file", user)
    assert run(capsys, *init, *common) == (0, "", "")
    (slot,) = run_json(capsys, "token", "info", *common)["slots"]
    assert (slot["label"], slot["initialized"], slot["user_pin"]) == ("t1", True, True)
    assert len(slot["serial"]) == 16
    officer.write_text("87654321\n")
    assert run(capsys, *init, *common) == (2, "", "coprime: the PIN is wrong\n")


def test_a_simulated_device_is_written(capsys, module, tmp_path):
    """Of a design that the module has, too, it is the same library."""
    library = tmp_path / "lattice.so"
    assert run(capsys, "token", "simulation", "lattice", "-o", library) == (0, "", "")
    assert library.read_bytes() == module.with_name(build.LATTICE_SIMULATION).read_bytes()
    wrong = ("token", "simulation", "suite", "-p", "curves=all", "-o", library)
    assert run(capsys, *wrong) == (
        2,
        "",
        "coprime: suite has no parameter 'curves': name the engine that it is for, such as"
        " compact.curves\n",
    )


def test_keys_are_shown_with_what_they_may_do(capsys, token, monkeypatch, tmp_path):
    with running(token) as session:
        session.login()
        of_token = {cryptoki.TOKEN: True, cryptoki.LABEL: b"p256"}
        curve = {cryptoki.EC_PARAMS: bytes.fromhex("06082a8648ce3d030107")}
        session.generate(cryptoki.EC_KEY_PAIR_GEN, of_token | curve, of_token)
    for name, value in token.environment.items():
        if name.startswith("COPRIME_TOKEN_"):
            monkeypatch.setenv(name, value)
    (tmp_path / "pin").write_text(PIN)
    with_pin = ("--pin-file", tmp_path / "pin")
    for more, private in (((), False), (with_pin, True)):
        status, out, error = run(capsys, "token", "info", "--module", token.module, *more)
        assert (status, error) == (0, "")
        assert "  key p256, public, EC: verify\n" in out
        assert ("  key p256, private, EC: sign\n" in out) == private
        assert "\n  sign, verify: " in out
        assert "0x" not in out  # each mechanism has its name


def test_a_locked_pin_is_shown(capsys, token, monkeypatch):
    """Not as ready; the officer's, too."""
    monkeypatch.setenv("COPRIME_TOKEN_DIR", str(token.folder))
    stored = Stored.read(token.folder / "token")
    said = []
    for user, officer in ((9, 10), (10, 0)):
        stored.user.failures, stored.officer.failures = user, officer
        stored.write(token.folder / "token")
        said.append(run(capsys, "token", "info", "--module", token.module)[1].splitlines())
        (slot,) = run_json(capsys, "token", "info", "--module", token.module)["slots"]
        assert slot["user_pin_locked"] == (user == 10)
        assert slot["officer_pin_locked"] == (officer == 10)
    assert said[0][1].startswith("slot 0: ready t1 ")
    assert said[0][2] == "  the PIN of the security officer is locked"
    assert said[1][1].startswith("slot 0: PIN locked (the security officer can set another one")


def test_a_module_that_is_not_there(capsys, tmp_path):
    status, out, error = run(capsys, "token", "info", "--module", tmp_path / "none.so")
    assert (status, out) == (2, "")
    assert error.endswith("none.so: build it with `coprime token build`\n")


def test_missing_headers_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("COPRIME_CACHE", str(tmp_path))
    monkeypatch.setattr(build, "_headers", list)
    with pytest.raises(ToolError, match="apt-get install libnss3-dev libssl-dev"):
        build.build_module()


def test_a_missing_compiler_is_named(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(ToolError, match="apt-get install gcc"):
        build.build_module()


def test_building_says_how_long_it_takes(capsys, tmp_path, monkeypatch):
    """Before it begins: the simulated engine takes most of the time."""
    said = []

    def build(folder):
        said.append(capsys.readouterr().err)
        return []

    monkeypatch.setattr("coprime.cli.token.build_token", build)
    assert run(capsys, "token", "build", "-o", tmp_path) == (0, "", "")
    assert said == [
        "coprime: building the module and its simulated engine: half a minute or more, the first"
        " time ...\n"
    ]
