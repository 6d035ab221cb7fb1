import threading
import time

import pytest

from coprime.flow.cache import cache_folder, cached
from coprime.flow.tools import ToolError


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("COPRIME_CACHE", str(tmp_path))
    return tmp_path


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
