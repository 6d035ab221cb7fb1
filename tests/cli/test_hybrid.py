"""`coprime x25519-mlkem768` and its like: what they write, beside the library."""

from contextlib import nullcontext

import pytest

from coprime.cli import SHARED, hybrid, open_devices
from tests.cli.command import run, run_json
from tests.integers import IntegerCurves
from tests.pqc.references import ReferenceCalls
from tests.pqc.test_hybrid import Library


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def references(monkeypatch, on):
    on(IntegerCurves())
    monkeypatch.setattr(
        open_devices, "open_simulated_calls", lambda *_: nullcontext(ReferenceCalls())
    )


OFFER = "offer -o share --private private"
ANSWER = "answer --peer share -o answer --secret secret"
FINISH = "finish --private private --peer answer -o again"
SECRETS = {"X25519MLKEM768": 64, "SecP256r1MLKEM768": 64, "SecP384r1MLKEM1024": 80}
NAMES = {one.name: command for command, one in hybrid.GROUPS.items()}
every_group = pytest.mark.parametrize("name", SECRETS)


def test_commands_are_those_of_the_groups():
    assert set(hybrid.GROUPS) == set(SHARED)
    assert set(NAMES) == set(SECRETS)


def exchange(capsys, folder, name):
    for words in (OFFER, ANSWER, FINISH):
        assert run(capsys, NAMES[name], *words.split()) == (0, "", "")
    assert (folder / "again").read_bytes() == (folder / "secret").read_bytes()
    for secret in ("private", "secret", "again"):
        assert (folder / secret).stat().st_mode & 0o777 == 0o600


@pytest.mark.vectors
@every_group
def test_both_sides_on_simulated_engines(capsys, folder, name):
    exchange(capsys, folder, name)


@pytest.mark.usefixtures("references")
@every_group
def test_secrets_agree_with_the_library(capsys, folder, name):
    exchange(capsys, folder, name)
    (folder / "private").unlink()
    library = Library(name)
    (folder / "share").write_bytes(library.offer())
    assert run(capsys, NAMES[name], *ANSWER.split()) == (0, "", "")
    secret = library.finish((folder / "answer").read_bytes())
    assert secret == (folder / "secret").read_bytes()
    assert run(capsys, NAMES[name], *OFFER.split()) == (0, "", "")
    share, secret = library.answer((folder / "share").read_bytes())
    (folder / "answer").write_bytes(share)
    assert run(capsys, NAMES[name], *FINISH.split()) == (0, "", "")
    assert secret == (folder / "again").read_bytes()


@pytest.mark.usefixtures("references")
@every_group
def test_records_have_no_secrets(capsys, folder, name):
    group, command = {"group": name}, NAMES[name]
    for words, files in (
        (OFFER, {"output": "share", "private": "private"}),
        (ANSWER, {"output": "answer", "secret": "secret"}),
        (FINISH, {"output": "again"}),
    ):
        assert run_json(capsys, command, *words.split()) == group | files
    assert len((folder / "again").read_bytes()) == SECRETS[name]


@pytest.mark.usefixtures("references")
def test_a_key_of_another_group_is_refused(capsys, folder):
    assert run(capsys, NAMES["SecP256r1MLKEM768"], *OFFER.split()) == (0, "", "")
    (folder / "answer").write_bytes(bytes(1120))
    assert run(capsys, NAMES["X25519MLKEM768"], *FINISH.split()) == (
        *(2, ""),
        "coprime: --private private: the second key in the file is of P-256, not of X25519\n",
    )
