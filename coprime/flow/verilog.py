"""Export to Verilog: the same text for the same component, on every machine and every day.

The text is written from Amaranth's netlist. Verilog-2005 and SystemVerilog read it alike: what
follows from conditions is a continuous assignment, or a block that certainly starts at time 0.
"""

import gc
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from amaranth.back import rtlil
from amaranth.lib import wiring

from .long_work import long_work
from .rtlil import NetlistModule, read
from .verilog_module import Names, Writer

_PREFIX = "coprime_"
_COMMENT = re.compile(r"\s*//.*")
_LICENSE = "// SPDX-License-Identifier: Apache-2.0"


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


@long_work("generating the Verilog")
@_no_garbage_collection()
def to_verilog(
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
    name (str): name of the top module: "coprime_" and lower-case letters, digits, underscores. A
        submodule `x` is called `name`_x, and so on downwards.
    header (str): text that becomes a comment above the modules, after the license
    ports (mapping of str to str, optional): comments on ports of the top module: meaning, unit,
        range

    Raises TypeError or ValueError for another name, and NotImplementedError for what no design of
    ours contains: transparent memory ports, asynchronous resets, signed division, assertions.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {name!r}")
    if not re.fullmatch(_PREFIX + "[a-z0-9_]+", name):
        raise ValueError(
            f"name must be '{_PREFIX}' and lower-case letters, digits or underscores, not {name!r}"
        )
    writers = writers_of(read(rtlil.convert(component, name=name, emit_src=False)))
    comments = [f"// {line}".rstrip() for line in header.splitlines()]
    texts = [
        writer.text(writers, {} if number else (ports or {}))
        for number, writer in enumerate(writers.values())
    ]
    return "\n".join(["\n".join([_LICENSE, *comments]) + "\n", *texts])


def digest_of(verilog: str) -> str:
    """16 hexadecimal digits of a hash of a text of `to_verilog`, without its comments.

    Of the same digest is the same hardware: figures of the one are figures of the other.
    """
    return hashlib.sha256(_COMMENT.sub("", verilog).encode()).hexdigest()[:16]


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
