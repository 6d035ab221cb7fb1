"""Proofs by Yosys that a changed module does the same as before.

Both texts become combinational: the registers of a module, with all that is inside it, are inputs
and outputs (`expose -evert-dff`); a memory is registers, too. Two kinds of proof are tried, of the
changed module alone, in which the ports of what is inside it are inputs and outputs as well, then
of the module with all that is inside it, and of those around it:

* Induction over a set of registers that are equal in both, after van Eijk, "Sequential equivalence
  checking based on structural similarities" (2000). At first these are all registers. If, with
  these equal and all else arbitrary, an output can differ, there is no proof; registers that can
  differ in the next cycle are taken out of the set, and the solver is asked again, until nothing
  differs. Both begin with the same values, as no initial value has changed.
* For a register whose reset has changed: in each cycle after a reset outputs are equal whatever is
  in this register; CYCLES cycles after the reset all registers are equal again.

Both are tried with all registers, and without those that Yosys finds to keep their first values.
The solver's bound is SECONDS for each question. What is not answered by then is not proved.
"""

import itertools
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import run_yosys

CYCLES = 3  # after a reset, in which a difference must have ended
SECONDS = 30  # for a question to the solver
_ROUNDS = 12  # of registers that are taken out of the set
_MOST_REGISTERS = 250  # of a module that is tried; with more, questions take minutes
_RESETS = {"rst": 1, "s_axi_aresetn": 0}
"""Inputs that reset a module, with their value then."""


_MEMORY = ("opt_clean", "memory_dff", "memory_collect", "memory_map")
_ALONE = (*_MEMORY, "expose -evert c:*")
_WHOLE = ("flatten", *_MEMORY)
_REDUCED = (*_WHOLE, *("opt_expr", "opt_dff", "dffunmap", "opt_clean") * 2)
"""How a module's logic is made: without what is inside it, with that, and without the registers
that never change."""


@dataclass(frozen=True)
class Logic:
    """The ports of a combinational module: widths by name."""

    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    registers: Mapping[str, int]


def is_equivalent(gold: str, gate: str, module: str) -> bool:
    """Whether it is proved that `gate`, with a change in `module`, does the same as `gold`."""
    tops = dict.fromkeys((module, *around(gold, module)))
    ways = [(module, _ALONE), *itertools.product(tops, (_WHOLE, _REDUCED))]
    for top, way in ways:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            try:
                logic = _logic(folder, gold, top, "gold", way)
                if len(logic.registers) > _MOST_REGISTERS:
                    if way is _ALONE:
                        continue
                    return False
                if _logic(folder, gate, top, "gate", way) == logic and (
                    _by_induction(folder, logic) or _after_reset(folder, logic)
                ):
                    return True
            except ToolError:
                continue
    return False


def around(text: str, module: str) -> Iterator[str]:
    """The modules around a module, inner ones first."""
    name = ""
    for line in text.splitlines():
        found = re.match(r"module (\w+)", line)
        name = found[1] if found else name
        if re.match(rf"  {module} \w+ \(", line):
            yield name
            yield from around(text, name)
            return


def _logic(folder: Path, text: str, top: str, name: str, way: tuple[str, ...]) -> Logic:
    """Write a module's logic, made in one of the ways above."""
    (folder / f"{name}.v").write_text(text)
    run_yosys(
        [
            f"read_verilog {name}.v",
            f"hierarchy -top {top}",
            *("proc", *way, "opt_clean", "expose -evert-dff -dff", "opt_clean"),
            "attrmap -remove init",
            f"rename {top} {name}",
            f"hierarchy -top {name}",
            f"write_json {name}.json",
            f"write_rtlil {name}.il",
        ],
        folder,
    )
    ports = json.loads((folder / f"{name}.json").read_text())["modules"][name]["ports"]
    of = {
        way: {port: len(one["bits"]) for port, one in ports.items() if one["direction"] == way}
        for way in ("input", "output")
    }
    registers = {port[:-2]: width for port, width in of["input"].items() if port.endswith(".q")}
    return Logic(
        {port: width for port, width in of["input"].items() if not port.endswith(".q")},
        {port: width for port, width in of["output"].items() if not port.endswith((".d", ".c"))},
        registers,
    )


# --- Questions to the solver ---------------------------------------------------------------------


class _Question:
    """A module with instances of both, in which `right` is to be 1 always."""

    def __init__(self, logic: Logic):
        self.logic = logic
        self.lines: list[str] = []
        self.inputs: list[str] = []
        self.count = 0

    def free(self, width: int) -> str:
        """A number that may be anything."""
        self.inputs.append(f"free_{self.count}")
        self.lines.append(f"input [{width - 1}:0] free_{self.count};")
        self.count += 1
        return self.inputs[-1]

    def instance(
        self, kind: str, inputs: Mapping[str, str], registers: Mapping[str, str]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """The outputs of an instance, and the next values of its registers."""
        self.count += 1
        prefix, logic = f"w{self.count}_", self.logic
        ports = {**inputs, **{f"{one}.q": value for one, value in registers.items()}}
        found: list[dict[str, str]] = []
        for suffix, each in (("", logic.outputs), (".d", logic.registers)):
            wires = {one: f"{prefix}{k}{suffix[1:]}" for k, one in enumerate(each)}
            self.lines += [f"wire [{each[one] - 1}:0] {wire};" for one, wire in wires.items()]
            ports |= {one + suffix: wire for one, wire in wires.items()}
            found.append(wires)
        connected = ", ".join(f".\\{port} ({value})" for port, value in ports.items())
        self.lines.append(f"{kind} u{self.count} ({connected});")
        return found[0], found[1]

    def differing(self, folder: Path, pairs: Sequence[tuple[str, str]]) -> list[int] | None:
        """Which pairs differ in the solver's counterexample; none if it is proved that there is
        none. None if the solver has not answered in time."""
        same = ", ".join(f"{one} == {other}" for one, other in reversed(pairs))
        text = [
            f"module question ({', '.join([*self.inputs, 'same', 'right'])});",
            *self.lines,
            f"output [{len(pairs) - 1}:0] same;",
            f"assign same = {{{same}}};",
            "output right; assign right = &same;",
            "endmodule",
        ]
        (folder / "question.v").write_text("\n".join(text))
        log = run_yosys(
            [
                *("read_rtlil gold.il", "read_rtlil gate.il", "read_verilog question.v"),
                *("hierarchy -top question", "proc", "flatten", "opt -full", "opt_clean"),
                f"sat -timeout {SECONDS} -prove right 1 -show same question",
            ],
            folder,
        )
        if "SUCCESS!" in log:
            return []
        found = re.search(r"\\same +\S+ +\S+ +([01]+)", log)
        if not found or "FAIL!" not in log:
            return None
        bits = found[1].zfill(len(pairs))[::-1]
        return [k for k, bit in enumerate(bits) if bit == "0"]


def _by_induction(folder: Path, logic: Logic) -> bool:
    """Whether outputs are equal, by a set of registers that are."""
    equal = list(logic.registers)
    for _ in range(_ROUNDS):
        question = _Question(logic)
        inputs = {one: question.free(width) for one, width in logic.inputs.items()}
        gold = {one: question.free(width) for one, width in logic.registers.items()}
        gate = {
            one: gold[one] if one in equal else question.free(width)
            for one, width in logic.registers.items()
        }
        outputs, values = question.instance("gold", inputs, gold)
        other_outputs, other_values = question.instance("gate", inputs, gate)
        pairs = [(outputs[one], other_outputs[one]) for one in logic.outputs]
        pairs += [(values[one], other_values[one]) for one in equal]
        differing = question.differing(folder, pairs)
        if not differing:
            return differing is not None
        if min(differing) < len(logic.outputs):
            return False
        out = {equal[k - len(logic.outputs)] for k in differing}
        equal = [one for one in equal if one not in out]
    return False


def _after_reset(folder: Path, logic: Logic) -> bool:
    """Whether what a reset leaves different in a register is never seen."""
    reset = next((one for one in _RESETS if one in logic.inputs), None)
    if reset is None:
        return False
    changed = _changed_by_reset(folder, logic, reset)
    if not changed:
        return False
    question = _Question(logic)
    gold = {one: question.free(width) for one, width in logic.registers.items()}
    gate = gold | {one: question.free(logic.registers[one]) for one in changed}
    pairs: list[tuple[str, str]] = []
    for cycle in range(CYCLES + 1):
        inputs = {one: question.free(width) for one, width in logic.inputs.items()}
        # The outputs, whether or not there is a reset; the registers, with one in the first cycle.
        free = (
            question.instance("gold", inputs, gold)[0],
            question.instance("gate", inputs, gate)[0],
        )
        if cycle:
            pairs += [(free[0][one], free[1][one]) for one in logic.outputs]
        value = _RESETS[reset] if not cycle else 1 - _RESETS[reset]
        fixed = inputs | {reset: f"1'b{value}"}
        gold, gate = (
            question.instance("gold", fixed, gold)[1],
            question.instance("gate", fixed, gate)[1],
        )
        kept = [one for one in logic.registers if cycle == CYCLES or one not in changed]
        if cycle in (0, CYCLES):
            pairs += [(gold[one], gate[one]) for one in kept]
    return question.differing(folder, pairs) == []


def _changed_by_reset(folder: Path, logic: Logic, reset: str) -> list[str]:
    """The registers that the change makes different in a reset, a name for each hierarchy that has
    it; none if anything is different without one, or an output with it."""
    found: list[int] | None = None
    for value in (1 - _RESETS[reset], _RESETS[reset]):
        question = _Question(logic)
        inputs = {one: question.free(width) for one, width in logic.inputs.items()}
        inputs[reset] = f"1'b{value}"
        registers = {one: question.free(width) for one, width in logic.registers.items()}
        gold, gate = (question.instance(one, inputs, registers) for one in ("gold", "gate"))
        pairs = [(gold[0][one], gate[0][one]) for one in logic.outputs]
        pairs += [(gold[1][one], gate[1][one]) for one in logic.registers]
        found = question.differing(folder, pairs)
        if value != _RESETS[reset] and found != []:
            return []
    if not found or min(found) < len(logic.outputs):
        return []
    return [list(logic.registers)[k - len(logic.outputs)] for k in found]
