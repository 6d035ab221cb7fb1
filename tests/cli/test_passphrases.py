"""Passphrases of key files: on a terminal, in a file, or a sentence that names the option."""

import getpass
import os
import pty
import select
import subprocess
import sys

import pytest

from coprime.rsa import keys
from tests.cli.command import run

WITHOUT = "import sys; from coprime.cli import main; sys.exit(main())"
# The command's terminal is the one whose name comes first, not its standard input.
ON_TERMINAL = """
import os, sys
os.open(sys.argv[1], os.O_RDWR)
from coprime.cli import main
sys.exit(main(sys.argv[2:]))
"""


def on_a_terminal(folder, arguments, answers):
    """Run a command that asks on a terminal; its exit status, and what the terminal showed."""
    here, there = pty.openpty()
    command = [sys.executable, "-c", ON_TERMINAL, os.ttyname(there), *arguments]
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=there,
        stderr=there,
        start_new_session=True,
    ) as process:
        os.close(there)
        shown = b""
        for answer in (*answers, None):
            shown += until_it_asks(here)
            if answer is not None:
                os.write(here, answer.encode() + b"\n")
    os.close(here)
    return process.returncode, shown.decode().replace("\r\n", "\n")


def until_it_asks(terminal):
    """What is shown up to the end of a prompt, or of the command."""
    shown = b""
    while not shown.endswith(b": "):
        assert select.select([terminal], [], [], 60)[0], shown
        try:
            shown += os.read(terminal, 1000)
        except OSError:  # the command has ended
            break
    return shown


def test_a_terminal_is_asked_and_shows_nothing(tmp_path):
    keygen = "rsa keygen --bits 1024 --encrypt -o key.pem".split()
    status, shown = on_a_terminal(tmp_path, keygen, ["hush now", "hush now"])
    assert (status, shown) == (0, "new passphrase: \nthe same again: \n")
    with pytest.raises(keys.PassphraseMissingError):
        keys.load_private(tmp_path / "key.pem")
    assert keys.load_private(tmp_path / "key.pem", "hush now").bits == 1024

    (tmp_path / "message").write_bytes(b"hello")
    sign = "rsa sign --key key.pem --in message --device uio:none".split()
    for answer, code, sentence in (
        ("hush now", 1, "'none' is no UIO device: No such file or directory; "),
        ("guess", 2, "--key key.pem: the passphrase is wrong, or the encrypted key is corrupt"),
    ):
        status, shown = on_a_terminal(tmp_path, sign, [answer])
        assert status == code
        assert shown.startswith(f"passphrase of key.pem: \ncoprime: {sentence}")
        assert shown.count("\n") == 2


def test_without_a_terminal_the_option_is_named(tmp_path):
    """Not even standard input is taken for one."""
    (tmp_path / "key.pem").write_bytes(keys.private_pem(keys.generate(512, seed=1), "secret"))
    for command in ("sign --key key.pem", "keygen --bits 512 --encrypt -o new.pem"):
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT, "rsa", *command.split()],
            cwd=tmp_path,
            input=b"secret\nsecret\n",
            capture_output=True,
            check=False,
            start_new_session=True,
        )
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.decode() == (
            "coprime: the key needs a passphrase, and there is no terminal to ask for it: name a"
            " file that holds it with --passphrase-file\n"
        )
    assert not (tmp_path / "new.pem").exists()


@pytest.fixture
def answers(monkeypatch):
    """What is typed at the prompts of this process."""
    typed = []
    monkeypatch.setattr(getpass, "getpass", lambda prompt: typed.pop(0))
    return typed


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (["one", "two"], "the two passphrases differ"),
        (["", ""], "the passphrase must not be empty"),
    ],
)
def test_a_new_passphrase_that_cannot_be(capsys, tmp_path, answers, typed, sentence):
    answers += typed
    path = tmp_path / "key.pem"
    status, out, err = run(capsys, *"rsa keygen --bits 512 --encrypt -o".split(), path)
    assert (status, out, err) == (2, "", f"coprime: {sentence}\n")
    assert not path.exists()


def test_a_passphrase_in_a_file_is_not_asked_for(capsys, tmp_path, monkeypatch, answers):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text("in a file\n")
    command = "rsa keygen --bits 1024 -o key.pem --passphrase-file secret"
    for encrypt in ("", " --encrypt"):
        (tmp_path / "key.pem").unlink(missing_ok=True)
        assert run(capsys, *(command + encrypt).split()) == (0, "", "")
        assert keys.load_private("key.pem", "in a file").bits == 1024
