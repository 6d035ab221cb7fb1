"""Export to Verilog: the same text for the same component, on every machine and every day."""

import re
import tempfile
from itertools import count, groupby
from pathlib import Path

from amaranth.back import rtlil
from amaranth.lib import wiring

from .tools import run_yosys

__all__ = ["to_verilog"]

_PREFIX = "coprime_"
_KEPT_ATTRIBUTES = frozenset({"keep", "no_rw_check", "ram_style"})

_MODULE = re.compile(r"^module \\(\S+)$", re.MULTILINE)
_CELL = re.compile(r"^(\s*cell) \\(\S+) ", re.MULTILINE)
_PORT = re.compile(r"^(\s*wire .*\b(?:input|output|inout)) (\d+) ", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^\s*attribute \\(\S+) .*\n", re.MULTILINE)
_MEMORY_WORD = re.compile(r"^    (\S+ ?)\[(\d+)\] = (\d+'\w+);$")
_INIT = re.compile(r"^ *\(\* init = .* \*\)\n", re.MULTILINE)
_TIME_ZERO = re.compile(r"\\\$auto\$verilog_backend\S+ ")


def to_verilog(component: wiring.Component, name: str, *, header: str = "") -> str:
    """Convert `component` to Verilog-2001 text.

    Parameters
    ----------
    component : wiring.Component
        Becomes the top module, with its signature's members as ports; clock and reset of its
        `sync` domain, if it uses one that it does not make itself, are the ports clk and rst.
    name : str
        Name of the top module: "coprime_" and lower-case letters, digits, underscores. A submodule
        `x` is called `name`_x, and so on downwards.
    header : str
        Text that stands on top as a comment.

    Raises ValueError for another name, ToolError if Yosys fails.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {name!r}")
    if not re.fullmatch(_PREFIX + "[a-z0-9_]+", name):
        raise ValueError(
            f"name must be '{_PREFIX}' and lower-case letters, digits or underscores, not {name!r}"
        )
    netlist = _tidy(rtlil.convert(component, name=name, emit_src=False))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "design.il").write_text(netlist, encoding="utf-8")
        run_yosys(
            [
                "read_rtlil design.il",
                f"hierarchy -top {name}",
                # Processes stay what they are: users read `if` and `case`, and Verilator runs them
                # almost twice as fast as multiplexers.
                "proc -nomux -norom",
                "opt_clean -purge",
                "memory_collect",
                "attrmap -remove top",
                "attrmap -modattr -remove top",
                "write_verilog design.v",
            ],
            folder,
        )
        body = (folder / "design.v").read_text(encoding="utf-8")
    body = body.partition("\n")[2].lstrip()  # without the banner, which names a compiler
    # What is left of init attributes stands on other names of registers that have their value.
    body = _INIT.sub("", body)
    # Each module with an `always @*` holds a register whose setting to 0 starts them at time 0.
    body = _TIME_ZERO.sub("time_zero ", body)
    comment = "".join(f"// {line}".rstrip() + "\n" for line in header.splitlines())
    return f"{comment}\n{_fold_memory_words(body)}" if comment else _fold_memory_words(body)


def _tidy(netlist: str) -> str:
    """Rename modules, count ports from 1, keep those attributes that tools act on."""
    names: dict[str, str] = {}
    for old in _MODULE.findall(netlist):
        base = new = re.sub(r"\W", "_", old)
        count = 1
        while new in names.values():
            count += 1
            new = f"{base}_{count}"
        names[old] = new
    netlist = _MODULE.sub(lambda found: f"module \\{names[found[1]]}", netlist)
    netlist = _CELL.sub(lambda found: f"{found[1]} \\{names.get(found[2], found[2])} ", netlist)
    # Yosys takes port 0 for "no place given" and would put it last.
    netlist = _PORT.sub(lambda found: f"{found[1]} {int(found[2]) + 1} ", netlist)
    return _ATTRIBUTE.sub(
        lambda found: found[0] if found[1] in _KEPT_ATTRIBUTES | {"init"} else "", netlist
    )


def _fold_memory_words(verilog: str) -> str:
    """Write runs of equal initial words of a memory as loops."""
    lines: list[str] = []

    def key(line: str) -> tuple[str, str] | None:
        word = _MEMORY_WORD.match(line)
        return (word[1], word[3]) if word else None

    for word, run in groupby(verilog.splitlines(), key):
        run_lines = list(run)
        if word is None or len(run_lines) < 4:
            lines += run_lines
            continue
        first, last = (int(re.findall(r"\[(\d+)\] = ", run_lines[i])[0]) for i in (0, -1))
        lines += [
            f"    for (word = {first}; word <= {last}; word = word + 1)",
            f"      {word[0]}[word] = {word[1]};",
        ]
    text = "\n".join(lines) + "\n"
    # The loops' variable belongs to the `initial` block that they stand in; block names differ.
    blocks = count(1)
    return re.sub(
        r"^  initial begin\n((?:    .*\n)*?    for \(word)",
        lambda found: f"  initial begin : words_{next(blocks)}\n    integer word;\n{found[1]}",
        text,
        flags=re.MULTILINE,
    )
