"""Where the time goes: the slowest paths of every family, on ecp5 and in xc7's logic.

python -m bench.slowest_paths, half an hour where nothing is in the cache yet. On ecp5 designs are
placed and routed. For xc7 Yosys adds up the delays of cells alone, by the specify blocks of its
library: no wires, which take two thirds of a path on ecp5, so that this is no clock.
"""

import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from coprime.catalog import choose_engine
from coprime.cells.target import Target
from coprime.explore.measure import PartToMap
from coprime.flow.parts import PARTS
from coprime.flow.tools import run_yosys

from .page import replace_part, table

DEVICE = "LFE5U-85F"
PATHS = 4
CURVES = {"max_bits": "512", "curves": "weierstrass", "ecdsa": "drawn"}
ONE = {"max_bits": "512", "multipliers": "1"}
DESIGNS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("fdfm", {"max_bits": "2048"}),
    ("compact", {"max_bits": "2048"}),
    ("compact", CURVES),
    ("ring", {"max_bits": "2048"}),
    ("ring", CURVES),
    ("karatsuba", {**ONE, "word": "16"}),
    ("montgomery-2csa", ONE),
    ("montgomery-1csa", ONE),
    ("interleaved-csa", ONE),
    ("montgomery-r2", {**ONE, "max_bits": "128"}),
    ("compression", {"multipliers": "1"}),
    ("direct", {"modulus": "21845", "multipliers": "1"}),
    ("shake", {}),
    ("lattice", {}),
    ("lattice", {"schemes": "ml-dsa"}),
)
_LATEST = re.compile(r"Latest arrival time in '.*' is (\d+):\n(.*?)\n\n", re.S)
_CELL = re.compile(r"^ *\d+ \S+ \((\w+)\.", re.M)
_NAMED = re.compile(r"^ +\\(?!_)(\S+)", re.M)


@dataclass(frozen=True)
class LogicPath:
    """The slowest path through cells alone, without wires and setup."""

    ns: float
    levels: int  # LUTs, carries and multiplexers on the way
    start: str  # type of the cell that it begins in
    through: str  # the last net on the way that has a name


def logic_path(source: PartToMap) -> LogicPath:
    """Of a part that is mapped for xc7, by Yosys's `sta`."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "netlist.v").write_text(source.map().netlist, encoding="utf-8")
        cells = "read_verilog -lib -specify +/xilinx/cells_sim.v"
        log = run_yosys([cells, "read_verilog netlist.v", "hierarchy -auto-top", "sta"], folder)
    found = _LATEST.search(log)
    assert found, log
    _, *between, start = _CELL.findall(found[2])
    through = _NAMED.search(found[2])
    return LogicPath(int(found[1]) / 1e3, len(between), start, through[1] if through else "")


def rows() -> Iterator[list[str]]:
    for family, settings in DESIGNS:
        name = " ".join([family, *(f"-p {key}={value}" for key, value in settings.items())])
        for part in PARTS[:2]:
            choice = choose_engine(family, settings)
            routed = PartToMap(choice, part, Target.ECP5).route(DEVICE, late_paths=PATHS)
            slowest = ", ".join(f"{path.component} {path.ns:.1f}" for path in routed.late_paths)
            logic = logic_path(PartToMap(choice, part, Target.XC7))
            in_logic = f"{logic.ns:.1f}, {logic.levels} from {logic.start}: {logic.through}"
            yield [f"`{name}`, {part}", f"{routed.fmax_mhz:.1f}", slowest, in_logic]
            print(*[name, part, routed.fmax_mhz, slowest, logic], flush=True)


def main() -> None:
    head = ["design", "MHz", "paths into, ns", "xc7: ns in cells, their number, net"]
    replace_part("synthesis.md", "slowest paths", table(head, rows()))


if __name__ == "__main__":
    main()
