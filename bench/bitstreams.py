"""Make each board's bitstream twice, without a cache, and compare: `make bitstreams`.

    python -m bench.bitstreams [BOARD...]

The bitstreams are in build/boards/run1/BOARD and run2/BOARD, where those that are there already are
taken as they are; docs/boards.md gets the table of all that are there.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coprime.catalog import family_named
from coprime.flow.board import Board
from coprime.flow.boards import BOARDS, board_named

from .page import replace_part, table, thousands

FOLDER = Path("build/boards")
RUNS = ("run1", "run2")
_DEFAULT = (
    *("ulx3s", "orangecrab", "tang-nano-9k", "tang-nano-20k", "icebreaker", "crosslink-nx-evn"),
    "gatemate-olimex",
)
# An ALU of Gowin takes a LUT's place. A LUT tree of GateMate is CPE_LT; adders are not counted.
_LOGIC = ("TRELLIS_COMB", "LUT4", "ALU", "ICESTORM_LC", "OXIDE_COMB", "CPE_LT")
_MEMORY = ("DP16KD", "BSRAM", "ICESTORM_RAM", "OXIDE_EBR", "RAM_HALF")


def build(board: Board, run: str) -> None:
    """Make a bitstream in a process of its own, with an empty cache."""
    folder = FOLDER / run / board.name
    if (folder / "report.json").exists():
        return
    command = family_named(board.family).choose(board.values).command("synth").split()
    with tempfile.TemporaryDirectory() as cache:
        subprocess.run(
            [sys.executable, "-m", *command, "--board", board.name, "-o", str(folder)],
            env={**os.environ, "COPRIME_CACHE": cache},
            stdout=subprocess.DEVNULL,
            check=False,
        )


def rows() -> Iterator[tuple[object, ...]]:
    """What there is, board by board."""
    for board in BOARDS.values():
        reports = [FOLDER / run / board.name / "report.json" for run in RUNS]
        found: list[dict[str, Any]] = [
            json.loads(report.read_text("utf-8")) for report in reports if report.exists()
        ]
        if not found:
            continue
        sums = {report["sha256"] for report in found}
        used = found[0]["utilisation"]
        logic = sum(used.get(cell, 0) for cell in _LOGIC)
        memory = sum(used.get(cell, 0) for cell in _MEMORY)
        same = "not repeated" if len(found) < len(RUNS) else "yes" if len(sums) == 1 else "NO"
        yield (
            f"[`{board.name}`](boards/{board.name}.md)",
            board.target.value,
            thousands(found[0]["size"]),
            f"{found[0]['clock_mhz']:g}",
            f"{found[0]['fmax_mhz']:.1f}",
            f"{thousands(logic)} ({100 * logic // board.device.luts}%)",
            f"{memory} of {board.device.block_rams}",
            f"`{found[0]['sha256'][:16]}`",
            same,
        )


def main() -> None:
    for name in sys.argv[1:] or _DEFAULT:
        for run in RUNS:
            print(f"{name}: {run}", flush=True)
            build(board_named(name), run)
    head = ["board", "target", "bytes", "clock, MHz", "maximum, MHz", "logic cells", "block RAM"]
    replace_part("boards.md", "bitstreams", table([*head, "SHA-256, begins", "same twice"], rows()))


if __name__ == "__main__":
    main()
