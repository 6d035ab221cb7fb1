import errno
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import coprime_evidence
import pytest

import coprime
from coprime.flow import cache as cache_module
from coprime.flow.cache import (
    cache_folder,
    cache_limit,
    cached,
    clear_cache,
    find_cached,
    kept_in_cache,
)
from coprime.flow.cache_kinds import KINDS
from coprime.flow.long_work import reporting
from coprime.flow.tool_errors import ToolError


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("COPRIME_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture(autouse=True)
def _nothing_outside(monkeypatch):
    monkeypatch.setattr(cache_module, "_uncached", {})


def test_cache_folder(monkeypatch, cache):
    assert cache_folder() == cache
    monkeypatch.delenv("COPRIME_CACHE")
    assert cache_folder().name == "coprime"


def test_cached_builds_once(cache):
    built = []

    def build(folder):
        built.append(folder)
        (folder / "made").write_text("content")

    first = cached("kind", ("a", "bc"), build)
    assert (first / "made").read_text() == "content"
    assert cached("kind", ("a", "bc"), build) == first
    assert len(built) == 1
    # The key's parts do not run into each other, and the kind is a part of the place.
    assert (
        len({first, cached("kind", ("ab", "c"), build), cached("other", ("a", "bc"), build)}) == 3
    )


def test_cached_leaves_nothing_after_a_failure(cache):
    def fail(folder):
        (folder / "half").write_text("")
        raise ToolError("broken")

    with pytest.raises(ToolError, match="broken"):
        cached("kind", ("key",), fail)
    assert list((cache / "kind").iterdir()) == []


@pytest.fixture
def reported():
    """What was reported to the user."""
    said = []
    with reporting(said.append):
        yield said


@pytest.fixture
def on_a_full_disk(cache):
    """Builds an entry, but not below the cache."""

    def build(folder):
        (folder / "half").write_text("half of it")
        if cache in folder.parents:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as a write without a name
        (folder / "made").write_text("content")

    return build


def test_a_full_disk_is_not_in_the_way(cache, reported, on_a_full_disk):
    """The run goes on, and what is built is not built again in it."""
    first = cached("kind", ("full",), on_a_full_disk)
    assert (first / "made").read_text() == "content"
    assert cache not in first.parents
    assert list((cache / "kind").iterdir()) == []
    assert cached("kind", ("full",), None) == first == find_cached("kind", ("full",))
    (said,) = reported
    assert said.startswith(
        f"the cache folder {cache} cannot be written (No space left on device): make room there,"
        " for which `coprime cache clear`"
    )
    assert said.endswith("in COPRIME_CACHE; this run goes on without it")
    assert cached("kind", ("other",), on_a_full_disk) != first
    assert len(reported) == 1  # once


def test_a_tool_that_fails_on_a_full_disk(cache, monkeypatch):
    """It says so in its own words; where the disk is not full, they are all that there is."""

    def build(folder):
        if cache in folder.parents:
            raise ToolError("c++: cannot write")
        (folder / "made").touch()

    with pytest.raises(ToolError, match="cannot write"):
        cached("kind", ("tool",), build)
    monkeypatch.setattr(cache_module, "_is_full", lambda folder: True)
    assert (cached("kind", ("tool",), build) / "made").exists()


def test_another_disk_is_not_taken_for_the_cache(cache):
    def build(folder):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/elsewhere/file")

    with pytest.raises(OSError, match="No space left on device: '/elsewhere/file'"):
        cached("kind", ("elsewhere",), build)


def test_no_room_anywhere(cache, monkeypatch, tmp_path_factory):
    place = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(place))

    def build(folder):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(ToolError, match=rf"cache folder {cache} .*; .* {place}, cannot .*: TMPDIR"):
        cached("kind", ("nowhere",), build)


def test_a_cache_that_cannot_be_made(monkeypatch, tmp_path, reported):
    (tmp_path / "file").touch()
    monkeypatch.setenv("COPRIME_CACHE", str(tmp_path / "file"))
    found = cached("kind", ("unmade",), lambda folder: (folder / "made").touch())
    assert (found / "made").exists()
    assert "cannot be written (Not a directory)" in reported[0]


def test_what_is_outside_the_cache_goes_with_the_process(tmp_path):
    program = (
        "from coprime.flow.cache import cached\n"
        "print(cached('kind', ('gone',), lambda folder: (folder / 'made').touch()))"
    )
    (tmp_path / "file").touch()
    environment = os.environ | {"COPRIME_CACHE": str(tmp_path / "file")}
    folder = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()
    assert Path(folder).name.startswith("coprime-")
    assert not Path(folder).exists()


def test_cached_when_two_build_at_once(cache):
    """The second one waits, and has what the first one has built."""
    both = threading.Barrier(2)
    folders, built = [], []

    def build(folder):
        time.sleep(0.2)  # the other one wants it, too, before this has finished
        built.append(folder)
        (folder / "made").write_text("content")

    def use():
        both.wait(10)
        folders.append(cached("kind", ("key",), build))

    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1
    assert folders[0] == folders[1]
    assert [path.name for path in folders[0].parent.iterdir()] == [folders[0].name]
    assert (folders[0] / "made").read_text() == "content"


# --- The bound -----------------------------------------------------------------------------------

KIB = 1 << 10


def fill(key, kib=100, age=0.0):
    """An entry of some KiB whose last use was some hours ago."""

    def build(fresh):
        (fresh / "data").write_bytes(bytes(kib * KIB))

    folder = cached("kind", (key,), build)
    os.utime(folder, (time.time() - age * 3600,) * 2)
    return folder


def there(cache):
    return {path.name for path in (cache / "kind").iterdir()}


def test_the_least_recently_used_goes_first(cache, monkeypatch):
    monkeypatch.setenv("COPRIME_CACHE_LIMIT", "350K")
    first, second, third = (fill(key, age=30 - number) for number, key in enumerate("abc"))
    assert fill("a") == first  # used now
    fourth = fill("d")
    assert there(cache) == {first.name, third.name, fourth.name}
    assert (first / "data").read_bytes() == bytes(100 * KIB)
    assert not (cache / ".locks" / f"kind-{second.name}").exists()
    fill("second again", age=2)
    assert there(cache) == {first.name, fourth.name, fill("second again").name}


def test_what_was_used_lately_stays(cache, monkeypatch):
    monkeypatch.setenv("COPRIME_CACHE_LIMIT", "0")
    names = {fill(key, age=0.5).name for key in "abc"}
    assert there(cache) == names
    old = fill("d", age=2)
    assert there(cache) == names | {old.name}
    names.add(fill("e").name)
    assert there(cache) == names


def test_no_limit(cache, monkeypatch):
    monkeypatch.setenv("COPRIME_CACHE_LIMIT", "none")
    assert cache_limit() is None
    for key in "abc":
        fill(key, age=99)
    assert len(there(cache)) == 3


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("", 4 << 30), ("0", 0), ("12345", 12345), ("1.5G", 3 << 29), ("500m", 500 << 20)),
        *(("2 GiB", 2 << 30), ("1TB", 1 << 40)),
    ],
)
def test_limits(monkeypatch, text, size):
    monkeypatch.setenv("COPRIME_CACHE_LIMIT", text)
    assert cache_limit() == size


@pytest.mark.parametrize("text", ["many", "-1", "4X", "G", "4GG"])
def test_what_is_no_limit(cache, monkeypatch, text):
    """It is refused before anything is built."""
    monkeypatch.setenv("COPRIME_CACHE_LIMIT", text)
    with pytest.raises(ValueError, match=f"a size such as 4G or 500M, or none, not '{text}'"):
        fill("a")
    assert list(cache.iterdir()) == []


def test_what_an_interrupted_process_left_behind(cache, monkeypatch):
    monkeypatch.setenv("COPRIME_CACHE_LIMIT", "150K")
    half, new = cache / "kind" / ".half", cache / "kind" / ".new"
    for folder, age in ((half, 25), (new, 1)):
        folder.mkdir(parents=True)
        (folder / "data").write_bytes(bytes(100 * KIB))
        os.utime(folder, (time.time() - age * 3600,) * 2)
    entry = fill("a")
    assert there(cache) == {entry.name, ".new"}


def test_every_kind_is_known():
    """All that the sources keep is in KINDS, and all of that is kept."""
    packages = (coprime, coprime_evidence)
    sources = [
        path.read_text()
        for package in packages
        for path in Path(package.__file__).parent.rglob("*.py")
    ]
    kept = {kind for text in sources for kind in re.findall(r'cached\(\s*"(\w+)"', text)}
    assert kept == set(KINDS)


# --- What is kept, and clearing it ---------------------------------------------------------------


def test_kept_and_cleared(cache):
    assert kept_in_cache() == []
    assert clear_cache() == (0, 0)
    assert list(cache.iterdir()) == []
    fill("a", age=3)
    fill("b", age=1)
    cached("other", ("a",), lambda fresh: None)
    large, small = kept_in_cache()
    assert (large.kind, large.entries, small.kind, small.entries) == ("kind", 2, "other", 1)
    assert 200 * KIB <= large.bytes <= 250 * KIB
    assert large.newest_use - large.oldest_use == pytest.approx(2 * 3600, abs=5)
    assert clear_cache(["kind"]) == (2, large.bytes)
    assert [one.entries for one in kept_in_cache() if one.kind == "kind"] == [0]
    assert clear_cache() == (1, small.bytes)
    assert sum(one.entries for one in kept_in_cache()) == 0


def test_clearing_leaves_what_is_being_built(cache):
    def build(fresh):
        (fresh / "made").write_text("before")
        assert clear_cache()[0] == 0
        assert (fresh / "made").read_text() == "before"

    assert (cached("kind", ("key",), build) / "made").is_file()


# --- Two processes -------------------------------------------------------------------------------

PROGRAM = """
import sys, time
from pathlib import Path
from coprime.flow import cache
cache.RECENT = 0.3

def use(key):
    def build(fresh):
        (fresh / "data").write_bytes(bytes(50_000))
        print(key)

    folder = cache.cached("kind", (key,), build)
    assert (folder / "data").read_bytes() == bytes(50_000)
"""
USER = """
while not Path(sys.argv[1]).exists():
    use("wanted all the time")
"""
FILLER = """
for number in range(80):
    use(str(number))
    time.sleep(0.02)
"""


def test_two_processes(cache, monkeypatch, tmp_path):
    """One uses an entry all the time, which the other one's new entries never push out."""
    monkeypatch.setenv("COPRIME_CACHE_LIMIT", "1M")
    stop = tmp_path / "stop"
    user, filler = (
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM + text, str(stop)], stdout=subprocess.PIPE, text=True
        )
        for text in (USER, FILLER)
    )
    assert len(filler.communicate(timeout=60)[0].split()) == 80
    stop.touch()
    assert user.communicate(timeout=60)[0] == "wanted all the time\n"
    assert (user.returncode, filler.returncode) == (0, 0)
    # 1 MiB is 20 entries; up to 15 more are recent.
    assert len(there(cache)) < 60
