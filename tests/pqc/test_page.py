"""The commands and the example of docs/ml-kem.md, as they are there."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.command import run

PAGE = (Path(__file__).parents[2] / "docs" / "ml-kem.md").read_text("utf-8")


@pytest.mark.vectors
def test_commands_run_in_the_order_of_the_page(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    coprime (.+)$", PAGE, re.M)
    assert len(commands) == 8
    for command in commands:
        assert run(capsys, *shlex.split(command)) == (0, "", ""), command
    for one, other, size in (
        ("secret", "same_secret", 32),
        ("server_secret", "client_secret", 64),
    ):
        secret = (tmp_path / one).read_bytes()
        assert secret == (tmp_path / other).read_bytes()
        assert len(secret) == size
