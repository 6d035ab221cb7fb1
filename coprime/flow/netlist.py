"""Verilog for tools that measure: a netlist in the form that Yosys gives it.

Logic synthesis answers small changes of the text with a few percent of area. Measured designs are
therefore exported in a form of their own, which stays as it is when the text for people changes.
"""

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from amaranth.back import rtlil
from amaranth.lib import wiring

from .tools import run_yosys

__all__ = ["to_netlist"]

_KEPT_ATTRIBUTES = frozenset({"init", "keep", "no_rw_check", "ram_style"})

_MODULE = re.compile(r"^module \\(\S+)$", re.MULTILINE)
_CELL = re.compile(r"^(\s*cell) \\(\S+) ", re.MULTILINE)
_PORT = re.compile(r"^(\s*wire .*\b(?:input|output|inout)) (\d+) ", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^\s*attribute \\(\S+) .*\n", re.MULTILINE)
_INIT = re.compile(r"^ *\(\* init = .* \*\)\n", re.MULTILINE)
_TIME_ZERO = re.compile(r"\\\$auto\$verilog_backend\S+ ")


def to_netlist(
    component: wiring.Component,
    name: str,
    *,
    header: str = "",
    ports: Mapping[str, str] | None = None,
) -> str:
    """Convert `component` to Verilog for mapping; parameters are those of `to_verilog`.

    Comments are left out, since no person reads the text. Raises ToolError if Yosys fails.
    """
    netlist = _tidy(rtlil.convert(component, name=name, emit_src=False))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "design.il").write_text(netlist, encoding="utf-8")
        run_yosys(
            [
                "read_rtlil design.il",
                f"hierarchy -top {name}",
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
    # What is left of init attributes is on other names of registers that have their value.
    return _TIME_ZERO.sub("time_zero ", _INIT.sub("", body))


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
    return _ATTRIBUTE.sub(lambda found: found[0] if found[1] in _KEPT_ATTRIBUTES else "", netlist)
