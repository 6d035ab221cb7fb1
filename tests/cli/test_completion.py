"""`coprime completion`: the scripts, asked as a shell asks them."""

import shutil
import subprocess

import pytest

from coprime.catalog import CALL_FAMILIES, CLUSTER, FAMILIES, SUITE
from coprime.cells.target import Target
from coprime.cli.commands import entries
from tests.cli.command import run

ASK = """
source {script}
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
compopt() {{ :; }}
_shtab_coprime
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
SYNTAX = {"bash": ["-n"], "zsh": ["-n"], "fish": ["--no-execute"]}


@pytest.fixture
def complete(tmp_path, capsys):
    """What bash offers for the last word of a command line."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    script = tmp_path / "script"
    script.write_text(run(capsys, "completion", "bash")[1])
    folder = tmp_path / "work"
    folder.mkdir()
    for name in ("key.pem", "own.toml"):
        (folder / name).touch()
    (folder / "made").mkdir()

    def ask(words):
        quoted = " ".join(f"'{word}'" for word in words.split(" "))
        done = subprocess.run(
            [bash, "--norc", "-c", ASK.format(script=script, words=quoted)],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return set(done.stdout.split())

    return ask


def test_commands_and_families(complete):
    assert complete("coprime ") == set(entries())
    assert complete("coprime s") == {name for name in entries() if name.startswith("s")}
    assert complete("coprime build ") == {*FAMILIES, *CALL_FAMILIES, CLUSTER, SUITE}
    assert complete("coprime run mont") == {name for name in FAMILIES if name.startswith("mont")}
    assert complete("coprime run compact RSA") == {"RSA_PUBLIC", "RSA_PRIVATE"}
    assert complete("coprime rsa ") >= {"keygen", "encrypt", "decrypt", "sign", "verify"}


def test_options_and_their_values(complete):
    assert {"--target", "-p", "-o"} <= complete("coprime build fdfm -")
    assert complete("coprime build fdfm --target ") == {target.value for target in Target}
    assert complete("coprime build fdfm --target e") == {"ecp5"}
    assert complete("coprime build fdfm -p ") == {
        f"{parameter.name}=" for parameter in FAMILIES["fdfm"].settings
    }
    assert complete("coprime synth compact --target xc7 -p bl") == {"blinding="}
    assert "engine=" in complete("coprime build cluster -p ")
    assert complete("coprime rsa sign --device sim:comp") == {"sim:compact", "sim:compression"}
    assert complete("coprime cache clear ma") == {"mapping"}


def test_files_and_folders(complete):
    assert complete("coprime rsa sign --key k") == {"key.pem"}
    assert complete("coprime rsa sign --key key.pem --in o") == {"own.toml"}
    assert complete("coprime build fdfm -o ") == {"made"}
    assert complete("coprime sweep ") == {
        *(
            "shipped",
            "calls",
            "papers",
            "all",
            "full",
            "compression",
            "curves",
            "combinations",
            "targets",
            "key.pem",
            "own.toml",
            "made",
        ),
    }


@pytest.mark.parametrize("shell", SYNTAX)
def test_the_shell_takes_the_script(capsys, tmp_path, shell):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    status, out, err = run(capsys, "completion", shell)
    assert (status, err) == (0, "")
    (tmp_path / "script").write_text(out)
    subprocess.run([program, *SYNTAX[shell], tmp_path / "script"], check=True)


@pytest.mark.parametrize("shell", SYNTAX)
def test_every_script_knows_what_bash_does(capsys, shell):
    """Without the shell: each has all commands, families and parameters."""
    script = run(capsys, "completion", shell)[1]
    parameters = {f"{one.name}=" for family in FAMILIES.values() for one in family.parameters}
    for word in {*entries(), *FAMILIES, *parameters, "sim:compact", "RSA_PRIVATE"}:
        assert word in script
