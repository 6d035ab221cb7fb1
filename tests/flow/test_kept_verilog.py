"""Verilog that simulations share: kept under all that it depends on."""

import dataclasses
import os

import pytest

from coprime.bus.kinds import Bus
from coprime.catalog import choose
from coprime.cells.target import Target
from coprime.flow import kept_verilog, parts
from coprime.flow.kept_verilog import kept_accelerator, kept_cluster
from coprime.flow.sources import sources, sources_changed
from coprime.padding.scheme import Padding

SMALL = choose("montgomery-1csa", {"max_bits": 64})


@pytest.fixture
def written(monkeypatch, tmp_path):
    """The designs that are written, in an empty cache."""
    monkeypatch.setenv("COPRIME_CACHE", str(tmp_path / "cache"))
    made = []

    def record(*arguments, **options):
        made.append((arguments, options))
        return f"text {len(made)}"

    monkeypatch.setattr(kept_verilog, "accelerator_verilog", record)
    monkeypatch.setattr(kept_verilog, "cluster_verilog", record)
    return made


def test_the_text_is_that_of_a_build(monkeypatch, tmp_path):
    monkeypatch.setenv("COPRIME_CACHE", str(tmp_path / "cache"))
    texts = [kept_accelerator(SMALL) for _ in range(2)]
    monkeypatch.setattr(kept_verilog, "accelerator_verilog", None)
    assert texts == [parts.accelerator_verilog(SMALL)] * 2
    assert kept_accelerator(SMALL) == texts[0]


def test_every_input_has_a_text_of_its_own(written, monkeypatch):
    compact = choose("compact", {})
    designs = [
        *((kept_accelerator, choose("fdfm", {"max_bits": bits})) for bits in (64, 65)),
        *((kept_accelerator, choose("compact", {"blinding": kind})) for kind in ("none", "all")),
        (kept_accelerator, SMALL, Target.XC7),
        (kept_accelerator, compact, Target.GENERIC, (Padding.OAEP,)),
        (kept_accelerator, compact, Target.GENERIC, (Padding.OAEP, Padding.PSS)),
        *((kept_cluster, choose("cluster", {"cores": cores})) for cores in (1, 2)),
        (kept_cluster, choose("cluster", {"cores": 2, "link_registers": 1})),
        (kept_cluster, choose("cluster", {"cores": 2}), Bus.AXI4),
        (kept_cluster, choose("cluster", {"cores": 2, "engine": "compact"})),
    ]
    texts = [function(*arguments) for function, *arguments in designs]
    assert texts == [f"text {k}" for k in range(1, len(designs) + 1)]
    assert [function(*arguments) for function, *arguments in designs] == texts
    for name, changed in (
        ("sources", lambda: "changed"),
        ("tool_version", lambda package: "changed"),
        ("sys", dataclasses.make_dataclass("System", [("version", str, "changed")])()),
    ):
        monkeypatch.setattr(kept_verilog, name, changed)
        assert kept_accelerator(SMALL, Target.XC7) == f"text {len(written)}" not in texts


def test_another_family_of_the_same_name_is_not_kept(written):
    own = dataclasses.replace(SMALL, family=dataclasses.replace(SMALL.family, summary="own"))
    assert [kept_accelerator(own) for _ in range(2)] == ["text 1", "text 2"]


def test_changed_sources_keep_nothing(written, monkeypatch, tmp_path):
    """What this process has loaded is no longer what the files say."""
    monkeypatch.setattr("coprime.flow.sources._ROOT", tmp_path)
    (tmp_path / "a.py").write_text("")
    sources_changed.cache_clear()
    try:
        assert [kept_accelerator(SMALL) for _ in range(2)] == ["text 1", "text 2"]
        os.utime(tmp_path / "a.py", (0, 0))
        sources_changed.cache_clear()
        assert [kept_accelerator(SMALL) for _ in range(2)] == ["text 3", "text 3"]
    finally:
        sources_changed.cache_clear()


def test_sources_are_all_files(monkeypatch, tmp_path):
    """Their names, their contents, and nothing that Python has compiled."""
    seen = set()

    def changed():
        sources.cache_clear()
        seen.add(sources())
        return len(seen)

    monkeypatch.setattr("coprime.flow.sources._ROOT", tmp_path)
    try:
        (tmp_path / "a.py").write_text("1")
        assert changed() == 1
        (tmp_path / "a.py").write_text("2")
        assert changed() == 2
        (tmp_path / "a.py").rename(tmp_path / "b.py")
        assert changed() == 3
        (tmp_path / "data.toml").write_text("")
        assert changed() == 4
        (tmp_path / "__pycache__").mkdir()
        (tmp_path / "__pycache__" / "a.pyc").write_text("")
        assert changed() == 4
    finally:
        sources.cache_clear()
