"""Proofs by ABC that a changed design does the same in every state that it reaches from reset.

The changed module is put next to the original one, in the original design: both take the same
inputs, and where an output differs, a signal is 1. If that signal is always 0, the changed module
can replace the original one, since by induction over cycles the design around it sees no
difference. ABC proves it by signal correspondence, after van Eijk, "Sequential equivalence checking
based on structural similarities" (2000), and by property-directed reachability, after Bradley,
"SAT-based model checking without unrolling" (2011). Both begin at the initial state of the Verilog,
and let every input of the design, reset included, be anything in any cycle. If an output can
differ, the module around is taken, up to the whole design.

Memories and products are taken out. Around the compared module what they return is anything.
Inside it both get the same in each cycle in which they ask for the same, a word by its address or a
product by its factors, and else anything: an address may differ while nothing depends on what is
read. That the same is written is proved as of an output.

What is so proved need not hold in a state that only a fault in the hardware leads to: two counters
that are always equal, for example, are only compared to detect faults.
"""

import json
import re
import shlex
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import package_folder, run_tool, run_yosys

from .equivalence import around

SECONDS = 40  # of processor time of ABC, for one module
_DIFFERS = "differs_from_the_original"
_CUT = "t:$mem_v2 t:$mul"
_ASKS = (".RD_ADDR", ".A", ".B")
"""Ports of what is taken out that select what it returns."""
_LOGIC = ("opt_expr", "opt_merge", "opt_clean")
_PROVED = re.compile(r"Property proved|^Status = 1 ", re.M)
"""What ABC prints once a property is proved."""


@dataclass(frozen=True)
class _Part:
    """A module without the memories and products in it.

    Parameters
    ----------
    inputs, outputs : widths of its ports by name
    taken : the parameters of what was taken out, by name
    """

    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    taken: Mapping[str, Mapping[str, str]]


def is_never_seen(gold: str, gate: str, module: str) -> bool:
    """Whether it is proved that no state reached from reset shows the change of `module`.

    `gold` and `gate` are the texts of a design, and `module` is in it.
    """
    outer = [module, *around(gold, module)]
    top = outer[-1]
    for compared in dict.fromkeys(outer):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            try:
                part = _part(folder, gold, compared, "gold")
                if _part(folder, gate, compared, "gate") == part:
                    _write_question(folder, gold, compared, top, part)
                    if _is_proved(folder):
                        return True
            except ToolError:
                continue
    return False


def _part(folder: Path, text: str, module: str, name: str) -> _Part:
    """Write a module of a text, with all that is inside it but memories and products."""
    (folder / "text.v").write_text(text)
    run_yosys(
        [
            "read_verilog text.v",
            f"hierarchy -top {module}",
            *("proc", "flatten", "opt_clean", "memory_collect", "opt_clean"),
            "rename -enumerate -pattern product_% t:$mul",
            f"write_json {name}_taken.json",
            f"expose -evert {_CUT}",
            "opt_clean",
            f"rename {module} {name}",
            f"hierarchy -top {name}",
            f"write_json {name}.json",
            f"write_rtlil {name}.il",
        ],
        folder,
    )
    taken = json.loads((folder / f"{name}_taken.json").read_text())["modules"][module]["cells"]
    ports = json.loads((folder / f"{name}.json").read_text())["modules"][name]["ports"]
    inputs, outputs = (
        {port: len(one["bits"]) for port, one in ports.items() if one["direction"] == way}
        for way in ("input", "output")
    )
    kept = {
        cell: one["parameters"] for cell, one in taken.items() if one["type"] in ("$mem_v2", "$mul")
    }
    if any("1" in each.get("RD_CLK_ENABLE", "") for each in kept.values()):
        raise ToolError("a memory is read by its clock")
    unused = tuple(f".RD_{one}" for one in ("EN", "CLK", "ARST", "SRST"))
    outputs = {one: width for one, width in outputs.items() if not one.endswith(unused)}
    return _Part(inputs, outputs, kept)


def _write_question(folder: Path, text: str, compared: str, top: str, part: _Part) -> None:
    """Write the design with both modules in it, of which only the comparison is an output."""
    original = re.search(rf"^module {compared} \(.*?^endmodule", text, re.M | re.S)
    assert original
    head = original[0].partition(");")[0]
    named = re.compile(r"(\\\S+ |\w+)(?: = [^,\n]*)?,?(?: *//.*)?\n")
    own = {one.strip("\\ ") for one in named.findall(head)}
    lines = [re.sub(r"\breg\b", "wire", re.sub(r" = [\w']+", "", head)) + ");"]
    widths = {**part.inputs, **part.outputs}
    added = [one for one in widths if one not in own]
    lines += [f"wire [{widths[one] - 1}:0] \\{one} ;" for one in added]
    other = {one: f"other_{k}" for k, one in enumerate(part.outputs)}
    lines += [f"wire [{part.outputs[one] - 1}:0] {wire};" for one, wire in other.items()]
    gold = {one: f"\\{one} " for one in widths}
    gate = gold | other
    for k, one in enumerate(added):
        if one in part.inputs:
            gate[one] = f"given_{k}"
            lines.append(f"wire [{widths[one] - 1}:0] free_{k};")
            lines.append(
                f"wire [{widths[one] - 1}:0] given_{k} = {_given(one, f'free_{k}', other, part)};"
            )
    for kind, wires in (("gold", gold), ("gate", gate)):
        ports = ", ".join(f".\\{one} ({wire})" for one, wire in wires.items())
        lines.append(f"{kind} the_{kind} ({ports});")
    differences = [
        _difference(one, wire, part) for one, wire in other.items() if not one.endswith(_ASKS)
    ]
    lines += [f"(* keep *) wire {_DIFFERS} = {' | '.join(differences)};", "endmodule"]
    (folder / "question.v").write_text(text.replace(original[0], "\n".join(lines)))
    run_yosys(
        [
            "read_rtlil gold.il",
            "read_rtlil gate.il",
            "read_verilog question.v",
            f"hierarchy -top {top}",
            *("proc", "flatten", "opt_clean"),
            f"select -assert-min 1 w:*{_DIFFERS}",
            f"expose w:*{_DIFFERS}",
            f"delete -output o:* w:*{_DIFFERS} %d",
            *("opt_clean", "memory_collect", f"cutpoint {_CUT}", "opt_clean"),
            *("opt_dff", "dffunmap", *_LOGIC, "techmap", *_LOGIC),
            *("setundef -anyseq", "aigmap", "opt_clean", "write_aiger -zinit question.aig"),
        ],
        folder,
    )


def _given(port: str, free: str, other: Mapping[str, str], part: _Part) -> str:
    """What the changed module gets from a memory or a product, of which `free` is anything."""
    cell, _, _ = port.rpartition(".")

    def choice(asks: Mapping[str, str], returned: str) -> str:
        same = " & ".join(
            f"(\\{cell}.{ask} {bits} == {other[f'{cell}.{ask}']}{bits})"
            for ask, bits in asks.items()
        )
        return f"({same}) ? \\{port} {returned} : {free}{returned}"

    if port.endswith(".Y"):
        return choice({"A": "", "B": ""}, "")
    of = {name: int(str(part.taken[cell][name]), 2) for name in ("RD_PORTS", "ABITS", "WIDTH")}
    words = [
        choice({"RD_ADDR": _bits(k, of["ABITS"])}, _bits(k, of["WIDTH"]))
        for k in reversed(range(of["RD_PORTS"]))
    ]
    return f"{{{', '.join(words)}}}"


def _bits(k: int, width: int) -> str:
    return f"[{k * width + width - 1}:{k * width}]"


def _difference(output: str, other: str, part: _Part) -> str:
    """Whether an output differs: of a memory, only in cycles in which it is written."""
    memory, _, port = output.rpartition(".")
    enables = f"\\{memory}.WR_EN "
    if port == "WR_DATA":
        return f"|((\\{output} ^ {other}) & {enables})"
    if port == "WR_ADDR" and int(str(part.taken[memory]["WR_PORTS"]), 2) == 1:
        return f"((|{enables}) & (\\{output} != {other}))"
    return f"(\\{output} != {other})"


def _is_proved(folder: Path) -> bool:
    """Whether ABC proves that the only output is always 0."""
    abc = shlex.quote(str(package_folder("pyosys") / "yosys-abc"))
    script = (
        "read_aiger question.aig; orpos; strash; scleanup; scorr -C 100; write_aiger left.aig;"
        " pdr; print_status"
    )
    limited = f"ulimit -t {SECONDS}; exec {abc} -c {shlex.quote(script)}"
    try:
        log = run_tool("ABC", ["sh", "-c", limited], folder=folder)
    except ToolError:  # the time is over
        log = ""
    left = folder / "left.aig"
    return _PROVED.search(log) is not None or (left.exists() and _is_constant(left))


def _is_constant(file: Path) -> bool:
    """Whether nothing is left of an AIG but an output that is 0."""
    header, output = file.read_bytes().split(b"\n", 2)[:2]
    return header.split()[3:6] == [b"0", b"1", b"0"] and output == b"0"
