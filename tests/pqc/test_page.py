"""The commands of docs/ml-kem.md, docs/ml-dsa.md and docs/key-exchange.md, as they are there."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.command import run

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.vectors
@pytest.mark.parametrize(
    ("page", "count", "pairs"),
    [
        ("ml-kem", 5, [("secret", "same_secret", 32)]),
        ("ml-dsa", 10, []),
        (
            *("key-exchange", 6),
            [
                ("server_secret", "client_secret", 64),
                ("server_secret_384", "client_secret_384", 80),
            ],
        ),
    ],
)
def test_commands_run_in_the_order_of_the_page(capsys, tmp_path, monkeypatch, page, count, pairs):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "message").write_bytes(b"a message")
    commands = re.findall(r"^    coprime (.+)$", (DOCS / f"{page}.md").read_text("utf-8"), re.M)
    assert len(commands) == count
    for command in commands:
        said = "the signature is valid\n" if command.startswith("ml-dsa verify") else ""
        assert run(capsys, *shlex.split(command)) == (0, "", said), command
    for one, other, size in pairs:
        secret = (tmp_path / one).read_bytes()
        assert secret == (tmp_path / other).read_bytes()
        assert len(secret) == size
