import os
import stat
from pathlib import Path

import pytest

from coprime.flow.files import check_writable, create_file, replacing, write_file


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_and_its_folders(tmp_path):
    path = tmp_path / "new" / "folder" / "file"
    check_writable(path)
    assert list(tmp_path.iterdir()) == []
    write_file(path, "Größe")
    assert path.read_bytes() == "Größe".encode()
    assert [one.name for one in path.parent.iterdir()] == ["file"]


def test_an_interruption_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as fresh:
        fresh.write_text("half")
        assert path.read_text() == "old"
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions(tmp_path):
    """A secret is its owner's only, also where anybody could read the file before."""
    path = tmp_path / "file"
    before = os.umask(0o022)
    try:
        write_file(path, b"open")
        assert mode(path) == 0o644
        path.chmod(0o640)
        write_file(path, b"open still")
        assert mode(path) == 0o640
        write_file(path, b"secret", secret=True)
        assert mode(path) == 0o600
        create_file(tmp_path / "key", b"secret", secret=True)
        assert mode(tmp_path / "key") == 0o600
    finally:
        os.umask(before)


def test_a_link_stays(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_file(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_device_stays_one():
    null = Path(os.devnull)
    check_writable(null)
    write_file(null, b"gone")
    assert null.is_char_device()


def test_what_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    for path, error in (
        (tmp_path, IsADirectoryError),
        (tmp_path / "file" / "below", NotADirectoryError),
        (tmp_path / "file" / "below" / "that", NotADirectoryError),
        (tmp_path / ("x" * 300), OSError),
    ):
        with pytest.raises(error):
            check_writable(path)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_a_new_file_replaces_none(tmp_path):
    path = tmp_path / "new" / "key"
    create_file(path, b"first")
    with pytest.raises(FileExistsError):
        create_file(path, b"second")
    assert path.read_bytes() == b"first"


def test_an_output_that_is_full():
    """Its name is in the error."""
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_file(Path("/dev/full"), b"some bytes")
