"""`coprime x25519-mlkem768`: what it writes, beside the library."""

from contextlib import nullcontext

import pytest

from coprime.cli import open_devices
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


OFFER = "x25519-mlkem768 offer -o share --private private"
ANSWER = "x25519-mlkem768 answer --peer share -o answer --secret secret"
FINISH = "x25519-mlkem768 finish --private private --peer answer -o again"


def exchange(capsys, folder):
    for words in (OFFER, ANSWER, FINISH):
        assert run(capsys, *words.split()) == (0, "", "")
    assert (folder / "again").read_bytes() == (folder / "secret").read_bytes()
    for secret in ("private", "secret", "again"):
        assert (folder / secret).stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("references")
def test_both_sides(capsys, folder):
    exchange(capsys, folder)


@pytest.mark.vectors
def test_both_sides_on_simulated_engines(capsys, folder):
    exchange(capsys, folder)


@pytest.mark.usefixtures("references")
def test_secrets_agree_with_the_library(capsys, folder):
    library = Library("X25519MLKEM768")
    (folder / "share").write_bytes(library.offer())
    assert run(capsys, *ANSWER.split()) == (0, "", "")
    secret = library.finish((folder / "answer").read_bytes())
    assert secret == (folder / "secret").read_bytes()
    assert run(capsys, *OFFER.split()) == (0, "", "")
    share, secret = library.answer((folder / "share").read_bytes())
    (folder / "answer").write_bytes(share)
    assert run(capsys, *FINISH.split()) == (0, "", "")
    assert secret == (folder / "again").read_bytes()


@pytest.mark.usefixtures("references")
def test_records_have_no_secrets(capsys, folder):
    group = {"group": "X25519MLKEM768"}
    assert run_json(capsys, *OFFER.split()) == {**group, "output": "share", "private": "private"}
    assert run_json(capsys, *ANSWER.split()) == {**group, "output": "answer", "secret": "secret"}
    assert run_json(capsys, *FINISH.split()) == {**group, "output": "again"}
    assert len((folder / "again").read_bytes()) == 64
