"""Readable Verilog from Amaranth: expressions, `case` and `if` as they were written, names kept.

    from readable_verilog import convert
    print(convert(component, "counter"))

The same component gives the same text, on every machine and every day. Verilog-2005 and
SystemVerilog read it alike: what follows from conditions is a continuous assignment, or a block
that certainly starts at time 0.
"""

import gc
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from amaranth.back import rtlil
from amaranth.lib import wiring

from .module import Writer
from .names import Names
from .netlist import NetlistModule, read

__all__ = ["convert", "convert_netlist", "writers_of"]
__version__ = "0.1.0"


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Saves 40 % of the time: a netlist is many small objects, which the collector visits again
    and again and of which it frees none."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_no_garbage_collection()
def convert(
    component: wiring.Component,
    name: str,
    *,
    header: str = "",
    ports: Mapping[str, str] | None = None,
) -> str:
    """Convert `component` to text that is Verilog-2005 and SystemVerilog.

    Parameters
    ----------
    component (wiring.Component): becomes the top module, with its signature's members as ports;
        clock and reset of its `sync` domain, if it uses one that it does not make itself, are the
        ports clk and rst
    name (str): name of the top module: letters, digits and underscores, the first of them no digit.
        A submodule `x` is called `name`_x, and so on downwards.
    header (str): text that becomes a comment above the modules
    ports (mapping of str to str, optional): comments on ports of the top module, by their name

    Raises TypeError or ValueError for another name, and NotImplementedError for what cannot be
    written: transparent memory ports, asynchronous resets, signed division, assertions.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {name!r}")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(
            f"name must be letters, digits and underscores, the first no digit, not {name!r}"
        )
    netlist = rtlil.convert(component, name=name, emit_src=False)
    return convert_netlist(netlist, header=header, ports=ports)


def convert_netlist(
    netlist: str, *, header: str = "", ports: Mapping[str, str] | None = None
) -> str:
    """Convert a netlist that `amaranth.back.rtlil` has written, the top module first.

    `header` and `ports` as for `convert`, which says what raises NotImplementedError.
    """
    writers = writers_of(read(netlist))
    comments = "".join(
        f"{line}\n" for line in (f"// {one}".rstrip() for one in header.splitlines())
    )
    texts = [
        writer.text(writers, {} if number else (ports or {}))
        for number, writer in enumerate(writers.values())
    ]
    return "\n".join([*([comments] if comments else []), *texts])


def writers_of(modules: Sequence[NetlistModule]) -> dict[str, Writer]:
    """What writes each module of a netlist, by its name there; the top module is the first."""
    names = Names()
    for module in modules:
        names.add(module.name, re.sub(r"\W", "_", module.name[1:]))
    writers: dict[str, Writer] = {}
    for module in modules:  # each before the modules inside it, whose ports it may name
        hints: dict[str, str] = {}
        for outer in writers.values():
            hints |= outer.names_at(module.name)
        writers[module.name] = Writer(module, names.given[module.name], hints)
    return writers
