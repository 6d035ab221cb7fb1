"""`coprime cache`: what is kept, and clearing it."""

import re

import pytest

from coprime.flow.cache import cached
from tests.cli.command import run, run_json


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("COPRIME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COPRIME_CACHE_LIMIT", "1G")
    for key in ("a", "b"):
        cached("mapping", (key,), lambda fresh: (fresh / "data").write_text("x"))
    cached("routing", ("a",), lambda fresh: None)
    return tmp_path / "cache"


def test_what_is_kept(cache, capsys):
    status, out, err = run(capsys, "cache")
    assert (status, err) == (0, "")
    mapping, routing, total = out.splitlines()
    assert re.fullmatch(r"mapping +2 +\S+ KiB +used \S+ +designs mapped by Yosys", mapping)
    assert re.fullmatch(r"routing +1 +\S+ .?i?B +used \S+ +designs placed and routed", routing)
    assert re.fullmatch(rf"\S+ KiB of at most 1\.0 GiB in {re.escape(str(cache))}", total)
    record = run_json(capsys, "cache")
    assert (record["folder"], record["limit"]) == (str(cache), 1 << 30)
    assert [(one["kind"], one["entries"]) for one in record["kinds"]] == [
        ("mapping", 2),
        ("routing", 1),
    ]
    assert record["bytes"] == sum(one["bytes"] for one in record["kinds"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record["kinds"][0]["newest_use"])


def test_clearing(cache, capsys):
    status, out, _ = run(capsys, "cache", "clear", "mapping")
    assert (status, out.startswith("2 entries of ")) == (0, True)
    assert [one["entries"] for one in run_json(capsys, "cache")["kinds"]] == [1, 0]
    assert run(capsys, "cache", "clear")[1].startswith("1 entry of ")
    assert run_json(capsys, "cache")["bytes"] == 0


def test_without_a_cache(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COPRIME_CACHE", str(tmp_path / "none"))
    monkeypatch.setenv("COPRIME_CACHE_LIMIT", "none")
    assert run(capsys, "cache")[1] == f"0 B without a limit in {tmp_path / 'none'}\n"
    assert run(capsys, "cache", "clear")[0] == 0
    assert not (tmp_path / "none").exists()
