"""Area and delay in unit gates: a measure of the logic itself, whatever it is built in.

The model is the one that the literature on adders and residue arithmetic compares circuits by
(A. Tyagi, "A Reduced-Area Scheme for Carry-Select Adders", IEEE Transactions on Computers 42(10),
1993; R. Zimmermann, "Efficient VLSI Implementation of Modulo (2^n +- 1) Addition and
Multiplication", ARITH-14, 1999):

====================================== ==== =====
cell                                   area delay
====================================== ==== =====
two-input AND, OR, NAND, NOR              1     1
two-input XOR, XNOR                       2     2
inverter, buffer, constant                0     0
====================================== ==== =====

So a half adder has area 3 and delay 2, a full adder 7 and 4, a multiplexer 3 and 2. Fan-out and
wires cost nothing. What the model has no cells for is counted apart or turned into gates:

* A flip-flop is counted, and is neither area nor delay. Its enable and its synchronous reset are
  gates before it.
* A memory that is written is counted in bits. Its inputs end a path and its outputs start one, so
  the time in it is not in the delay. A memory that is only read is the gates of its contents.
* A multiplication is an array of AND gates, a carry-save tree and a prefix adder, as Yosys makes
  them. A DSP slice has no unit-gate count: estimate the generic Verilog, where its multiplier
  is written as a multiplication.

Yosys turns the design into gates, and abc chooses among equivalent ones for the least delay and
then the least area. abc is a heuristic: a figure rates the circuit that it found, and there may be
a better one. One tool's figures compare with each other; with hand counts only roughly.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from .cache import cached
from .mapping import mapping_tools, verilog_of
from .tool_errors import ToolError
from .tools import run_yosys, tool_version

ADDERS: Mapping[str, str] = {
    "brent-kung": "",
    "han-carlson": "-map +/choices/han-carlson.v",
    "kogge-stone": "-map +/choices/kogge-stone.v",
    "sklansky": "-map +/choices/sklansky.v",
}
"""The prefix adders that `+` can become, each with what techmap needs for it."""

# In abc's words a pin is: phase, load, greatest load, delay and its growth with the load, twice.
_FREE = "PIN * UNKNOWN 1 999 0 0 0 0"
_ONE = "PIN * UNKNOWN 1 999 1 0 1 0"
_TWO = "PIN * UNKNOWN 1 999 2 0 2 0"
_LIBRARY = f"""
GATE zero 0 Y=CONST0;
GATE one 0 Y=CONST1;
GATE buffer 0 Y=A; {_FREE}
GATE inverter 0 Y=!A; {_FREE}
GATE and2 1 Y=A*B; {_ONE}
GATE or2 1 Y=A+B; {_ONE}
GATE nand2 1 Y=!(A*B); {_ONE}
GATE nor2 1 Y=!(A+B); {_ONE}
GATE xor2 2 Y=A*!B+!A*B; {_TWO}
GATE xnor2 2 Y=A*B+!A*!B; {_TWO}
"""
_GATES = frozenset(re.findall(r"^GATE (\w+)", _LIBRARY, re.MULTILINE))
_ABC = "strash; dch; map; topo; print_stats"
_FOUND = re.compile(r"ABC: .*area = *([\d.]+) +delay = *([\d.]+)")
_FLIP_FLOP = re.compile(r"\$_A?L?DFF(SR)?_\w+_$")

_RECIPE = Path(__file__).read_text("utf-8")


@dataclass(frozen=True, kw_only=True)
class UnitGate:
    """A design in unit gates."""

    area: int  # unit gates
    delay: int
    """Of the longest path between ports, flip-flops and memories, in delays of one unit gate."""
    flip_flops: int
    memory_bits: int  # of memories that are written
    tools: Mapping[str, str]  # version of each tool


def estimate(design: wiring.Component | str, top: str, *, adder: str = "brent-kung") -> UnitGate:
    """Count a component, or Verilog text with top module `top`, in unit gates.

    Parameters
    ----------
    design (wiring.Component or str): generic: with no cell that is placed by name
    adder (str): prefix adder that additions become: one of `ADDERS`. abc may still restructure it.

    Raises ValueError for an unknown adder or a design with latches, ToolError if a tool fails (it
    does where a module is missing). Results are cached by content.
    """
    if adder not in ADDERS:
        raise ValueError(f"adder must be one of {', '.join(ADDERS)}, not {adder!r}")
    verilog = verilog_of(design, top)

    def build(folder: Path) -> None:
        (folder / "design.v").write_text(verilog, encoding="utf-8")
        (folder / "unit.genlib").write_text(_LIBRARY, encoding="utf-8")
        (folder / "unit.abc").write_text(_ABC, encoding="utf-8")
        log = run_yosys(
            [
                "read_verilog design.v",
                f"hierarchy -check -top {top}",
                "synth -flatten -run coarse:fine",
                "chformal -remove",
                "memory_map -rom-only",
                "opt -fast -full",
                f"techmap -map +/techmap.v {ADDERS[adder]}",
                "opt -fast",
                "dffunmap",
                *("opt_expr", "opt_merge", "opt_clean"),  # opt would undo dffunmap
                "abc -genlib unit.genlib -script unit.abc",
                "opt_clean",
                "delete */t:$scopeinfo",  # where a flattened module was: no cell
                "write_json netlist.json",
            ],
            folder,
        )
        netlist = json.loads((folder / "netlist.json").read_text("utf-8"))
        (folder / "netlist.json").unlink()
        cells = netlist["modules"][top]["cells"].values()
        (folder / "count.json").write_text(json.dumps(_count(cells, log)), encoding="utf-8")

    key = (tool_version("pyosys"), _RECIPE, top, adder, verilog)
    count = json.loads((cached("unit_gate", key, build) / "count.json").read_text("utf-8"))
    return UnitGate(tools=mapping_tools(), **count)


def _count(cells: Collection[Mapping[str, Any]], log: str) -> dict[str, int]:
    """Find abc's result in the log, and what it left out among the cells."""
    types = Counter(str(cell["type"]) for cell in cells)
    memories = [cell["parameters"] for cell in cells if cell["type"] == "$mem_v2"]
    flip_flops = {name for name in types if _FLIP_FLOP.fullmatch(name)}
    other = sorted(types.keys() - _GATES - flip_flops - {"$mem_v2"})
    if other:
        raise ValueError(f"the unit-gate model knows no {', '.join(other)}")
    found = _FOUND.search(log)
    if found is None and types.keys() & _GATES:
        raise ToolError("abc reported no area")
    area, delay = (round(float(text)) for text in found.groups()) if found else (0, 0)
    return {
        "area": area,
        "delay": delay,
        "flip_flops": sum(types[name] for name in flip_flops),
        "memory_bits": sum(int(own["WIDTH"], 2) * int(own["SIZE"], 2) for own in memories),
    }
