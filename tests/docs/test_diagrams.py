"""The pictures in docs/images show today's hardware."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
SAMPLE = (
    *("coprime", "families", "operations", "package", "system", "token-use", "boards", "evidence"),
    *("fdfm", "cluster", "token", "compact-schedule", "fdfm-schedule", "karatsuba-schedule"),
)


def run_tool(*arguments, root=ROOT):
    return subprocess.run(
        [sys.executable, root / "tools" / "diagrams", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.matrix
def test_a_sample_is_up_to_date():
    done = run_tool("--check", *SAMPLE)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.clients
def test_all_are_up_to_date():
    done = run_tool("--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_another_schedule_is_noticed(tmp_path):
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    path = tmp_path / "docs" / "images" / "ring-schedule.svg"
    path.parent.mkdir(parents=True)
    text = (IMAGES / path.name).read_text("utf-8")
    path.write_text(text, "utf-8")
    assert run_tool("--check", "ring-schedule", root=tmp_path).returncode == 0
    path.write_text(text.replace(">3,8<", ">3,7<", 1), "utf-8")
    done = run_tool("--check", "ring-schedule", root=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "docs/images/ring-schedule.svg is not up to date: run python tools/diagrams\n"
    )


def test_products_in_the_pictures_are_those_of_the_multiplications():
    """Solid boxes: D^2 + D pairs and squares of `compact`, D^2 + D - 1 on a ring, 2 D^2 else."""
    solid = {
        name: len(
            re.findall(r'<rect class="(?:xy|qm)"', (IMAGES / f"{name}-schedule.svg").read_text())
        )
        for name in ("compact", "fdfm", "karatsuba")
    }
    legend = 2
    assert solid == {
        "compact": 5 * 5 + 5 + legend,
        "fdfm": 2 * 3 * 3 + legend,
        "karatsuba": 2 * 7 * 7 + legend,
    }
    ring = re.findall(
        r'<rect class="(?:xy|qm)(?: old)?"', (IMAGES / "ring-schedule.svg").read_text()
    )
    assert len(ring) == 10 * 10 + 10 - 1 + legend + 1


class Part(wiring.Component):
    """Adds 1.  Not this."""

    a: In(8)
    enable: In(1)
    b: Out(8)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.b.eq(self.a + self.enable)
        return m


class Chain(wiring.Component):
    """Parts in a row."""

    a: In(8)
    select: In(1)
    b: Out(8)

    def elaborate(self, platform):
        """first -> register and multiplexer -> second -> a sum -> third; third enables first."""
        m = Module()
        first, second, third = (Part() for _ in range(3))
        m.submodules.first, m.submodules.second, m.submodules.third = first, second, third
        later = Signal(8)
        m.d.comb += [first.a.eq(self.a), third.a.eq(second.b + 1), self.b.eq(third.b)]
        with m.If(self.select):
            m.d.sync += later.eq(first.b)
        m.d.comb += [second.a.eq(later), first.enable.eq(third.b[0])]
        return m


def test_arrows_are_wires_multiplexers_and_registers(monkeypatch):
    """But no sums; parts of one class are one box unless they are kept apart."""
    monkeypatch.syspath_prepend(ROOT / "tools" / "diagrams")
    import blocks

    monkeypatch.setattr(blocks, "_alike", lambda one, other: False)
    block = blocks.block_of(Chain(), "chain")
    assert [part.names for part in block.parts] == [["first"], ["second"], ["third"]]
    assert block.arrows == {(0, 1): 8, (2, 0): 1}
    assert (block.kind, block.parts[0].summary) == ("Chain", "Adds 1")
    monkeypatch.undo()
    monkeypatch.syspath_prepend(ROOT / "tools" / "diagrams")
    together = blocks.block_of(Chain(), "chain")
    assert [part.title for part in together.parts] == ["first … third"]
    assert together.arrows == {}


def test_every_picture_is_on_a_page_and_fits_a_telephone():
    pages = "".join(path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md"))
    pages += (ROOT / "README.md").read_text("utf-8")
    pictures = sorted(IMAGES.glob("*.svg"))
    assert len(pictures) == 26
    for path in pictures:
        assert re.search(rf"!\[[^\]]{{40,}}\]\((?:docs/)?images/{path.name}\)", pages), path
        root = ElementTree.parse(path).getroot()
        assert root.get("width") == "480", path
